"""Motions that are given rather than integrated: states as they stand, in the form of a Motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.given_states import GivenStates
from kinegrad.errors import KinegradError
from kinegrad.motion import Motion


class ConvertedStates(GivenStates):
    """The same for states that come from another system, without multipliers."""

    #: why there are none, in a sentence
    without_multipliers = (
        "Multipliers belong to the constraint rows of the system that was simulated and do not convert; reactions() gives the "
        "forces and moments of joints in every system, and the motion that was converted has its own `lam`."
    )


def converted(motion: Motion, target: System) -> Motion:
    """`motion` in the coordinates of another system of the same model and parameters (CNV-1 to CNV-4)."""
    from kinegrad.coordinates.convert import Conversion

    source = motion.system
    if not np.array_equal(motion.s, source.s):
        raise KinegradError(
            "A motion whose slots were given one by one does not convert; give their values as parameters."
        )
    _refuse_other_values(source, target)
    known = dict(zip(source.coordinates, motion.q[0].tolist(), strict=True)) | motion.extra.get("turns", {})
    conversion = Conversion(source, target, hints=known)
    states = [conversion(*state) for state in zip(motion.t, motion.q, motion.qd, motion.qdd, strict=True)]
    q, qd, qdd = (np.array([state[i] for state in states]) for i in range(3))
    found = given_motion(
        target, motion.t, (q, qd, qdd, np.zeros((len(q), target.m))), s=target.s, objectives=dict(motion.objectives),
        cpu_s=motion.cpu_s, work=motion.energies.work, scheme=ConvertedStates(target),
    )  # fmt: skip
    found.status = motion.status
    found.extra["turns"] = known
    return found


def _refuse_other_values(source: System, target: System) -> None:
    """Raises when two systems have other parameters, or other values of them, by the name of the first."""
    here, there = (
        dict(zip(system.parameters.independent, system.rho.tolist(), strict=True)) for system in (target, source)
    )
    for name in (*there, *here):
        if here.get(name) != there.get(name):
            values = " and ".join("missing" if x is None else f"{x:g}" for x in (there.get(name), here.get(name)))
            raise KinegradError(
                f"A motion converts to a system with the same values of parameters, and {name!r} is {values}; lower the model "
                "of the motion with the same values."
            )


def given_motion(
    system: System,
    t: np.ndarray,
    states: Sequence[np.ndarray],
    *,
    s: np.ndarray,
    objectives: dict[str, float] | None = None,
    iterations: np.ndarray | None = None,
    cpu_s: float = 0.0,
    work: np.ndarray | None = None,
    scheme: GivenStates | None = None,
) -> Motion:
    """A Motion through states (k, n) q, qd, qdd and (k, m) lam; it has no formulation and no integrator."""
    t = np.asarray(t, float)
    hs = np.diff(t)
    return Motion(
        system=system, formulation=None, integrator=None, scheme=scheme or GivenStates(system), t=t,
        traj=np.hstack(states), ts=t, hs=hs, stride=1, flags=np.zeros(len(hs), np.int64),
        iterations=np.zeros(len(hs), np.int64) if iterations is None else iterations, objectives=objectives or {},
        cpu_s=cpu_s, status=0, s=s, step=float(hs[0]) if len(hs) else 0.0, t_end=float(t[-1]), work=work,
    )  # fmt: skip
