"""Motions that are given rather than integrated: states as they stand, in the form of a Motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.given_states import GivenStates
from kinegrad.motion import Motion


def given_motion(
    system: System,
    t: np.ndarray,
    states: Sequence[np.ndarray],
    *,
    s: np.ndarray,
    objectives: dict[str, float] | None = None,
    iterations: np.ndarray | None = None,
    cpu_s: float = 0.0,
) -> Motion:
    """A Motion through states (k, n) q, qd, qdd and (k, m) lam; it has no formulation and no integrator."""
    t = np.asarray(t, float)
    hs = np.diff(t)
    return Motion(
        system=system, formulation=None, integrator=None, scheme=GivenStates(system), t=t, traj=np.hstack(states), ts=t,
        hs=hs, stride=1, iterations=np.zeros(len(hs), np.int64) if iterations is None else iterations,
        flags=np.zeros(len(hs), np.int64), objectives=objectives or {}, cpu_s=cpu_s, status=0, s=s,
        step=float(hs[0]) if len(hs) else 0.0, t_end=float(t[-1]),
    )  # fmt: skip
