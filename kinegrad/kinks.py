"""Kinks of expressions that a motion crosses, by the names of the elements (LAW-13)."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import AccuracyWarning
from kinegrad.kernels.products import EVALUATE, OBSERVE
from kinegrad.motion import Motion

ROUNDING = 1e-12  # of the largest size of what is zero at a kink: so near to it a state is on neither side


def crossings(motion: Motion) -> dict[str, float]:
    """The time of the first state after each element that has kinks crossed one; those that crossed none are left out."""
    from kinegrad.kernels.elements.kinks import first_crossings

    owners = motion.system.tables["owners"]["kink"]
    if not owners or np.iscomplexobj(motion.traj):
        return {}
    work = motion.system.workspace(s=motion.s)
    fn = work.functions(EVALUATE, OBSERVE)
    states = [np.ascontiguousarray(getattr(motion, name)) for name in ("t", "q", "qd", "qdd")]
    sizes, near = motion.system.model_sizes, np.zeros(int(work["kink"]["row"].sum()))

    def found(near):
        sides, largest, crossed = np.zeros_like(near), np.zeros_like(near), np.full(len(owners), -1, np.int64)
        of_scalars = units(motion.system, sizes.length)
        first_crossings(fn, work.pointer, *states, of_scalars, sizes.time, near, sides, largest, crossed)
        return crossed, largest

    crossed, largest = found(near)
    if (crossed >= 0).any():  # once more, with what rounding makes of zero
        crossed, _ = found(ROUNDING * largest)
    return {name: float(motion.t[k]) for name, k in zip(owners, crossed, strict=True) if k >= 0}


def units(system: System, length: float) -> np.ndarray:
    """(scalars,) the length of the model for those that are lengths, 1 for others."""
    lengths, points = system.lengths, [point for *_, point in system.tables["markers"]]
    scalars = system.tables["scalars"]
    return np.array([length if (points[marker] if marker >= 0 else lengths[k]) else 1.0 for marker, k in scalars])


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
