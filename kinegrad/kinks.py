"""Kinks of expressions that a motion crosses, by the names of the elements (LAW-13)."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.errors import AccuracyWarning
from kinegrad.kernels.products import EVALUATE, OBSERVE
from kinegrad.motion import Motion


def crossings(motion: Motion) -> dict[str, float]:
    """The time of the first state after each element that has kinks crossed one; those that crossed none are left out."""
    from kinegrad.kernels.elements.kinks import first_crossings

    owners = motion.system.tables["owners"]["kink"]
    if not owners or np.iscomplexobj(motion.traj):
        return {}
    work = motion.system.workspace(s=motion.s)
    fn = work.functions(EVALUATE, OBSERVE)
    q, qd, qdd = (np.ascontiguousarray(getattr(motion, name)) for name in ("q", "qd", "qdd"))
    crossed = np.full(len(owners), -1, np.int64)
    sides = np.zeros(int(work["kink"]["row"].sum()))
    first_crossings(fn, work.pointer, np.ascontiguousarray(motion.t), q, qd, qdd, sides, crossed)
    return {name: float(motion.t[k]) for name, k in zip(owners, crossed, strict=True) if k >= 0}


def tell_of_kinks(motion: Motion, stacklevel: int) -> None:
    """Warn once of each element of the model with a kink that a motion crosses."""
    model = motion.system.model
    told = model.__dict__.setdefault("_told", set())
    for name, t in crossings(motion).items():
        if name not in told:
            told.add(name)
            word = "objective" if name in model.objectives else "force"
            warnings.warn(
                f"The {word} {name!r} crosses a kink of its expression (abs, min, max, linear table, rotation at half a turn) "
                f"by t = {t:.6g} s: a step across it is less accurate, and derivatives are those of one side; smooth forms, "
                "such as smooth_max(a, b, w), and cubic tables have no kinks.",
                AccuracyWarning,
                stacklevel=stacklevel + 1,
            )
