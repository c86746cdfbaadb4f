"""Motions that are given rather than integrated: states as they stand, in the form of a Motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.integrator import trapezoidal
from kinegrad.motion import Motion


class GivenStates:
    """What a Motion asks of a scheme, for rows that are q, qd, qdd, lam."""

    def __init__(self, system: System):
        self.system = system
        self.options: dict = {}

    def motion(self, traj: np.ndarray) -> dict[str, np.ndarray]:
        n = self.system.n
        return {"q": traj[:, :n], "qd": traj[:, n : 2 * n], "qdd": traj[:, 2 * n : 3 * n], "lam": traj[:, 3 * n :]}

    def integrals(self, ts, hs, traj, integrand) -> np.ndarray:
        return trapezoidal(hs, integrand(ts, self.motion(traj)))


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
