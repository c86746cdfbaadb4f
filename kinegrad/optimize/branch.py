"""Following the assembly of a mechanism from one design to another, so that it stays on its branch (OPT-5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.errors import AssemblyError

STEP = 0.1  # what a coordinate may change by at once: radians, or this part of the mechanism's size
AIM = 0.8  # of this, what the next step shall change
HALVINGS = 8
JUMP = (
    "The mechanism jumps to another branch of its assembly on the way from a design that works: no continuous change of its "
    "parameters leads there."
)

Position = Callable[[float, np.ndarray], np.ndarray]


def distance(q: np.ndarray, before: np.ndarray, moves: np.ndarray) -> float:
    """The largest change of a coordinate, as a part of its usual moves."""
    return float(np.abs((q - before) / moves).max(initial=0.0))


def follow(position: Position, before: np.ndarray, moves: np.ndarray) -> np.ndarray:
    """The coordinates at the far end of a straight line of designs, from those at its beginning.

    Steps are halved until no coordinate changes by more than `STEP`; where that does not help, the branch ends or another
    one is met, which is an AssemblyError; its attribute `reached` is the fraction of the line up to which all is well.

    Parameters
    ----------
    position : callable
        ``position(fraction, guess)``: the coordinates of the design at this fraction of the line.
    """
    done, step, q = 0.0, 1.0, before
    while done < 1.0:
        here = min(1.0, done + step)
        problem = None
        try:
            trial = position(here, q)
            moved = distance(trial, q, moves)
            if moved > STEP:
                problem = AssemblyError(JUMP)
        except AssemblyError as error:
            problem = error
        if problem is None:
            done, q = here, trial
            step *= min(
                2.0, max(0.5, AIM * STEP / max(moved, 1e-9))
            )  # so that the next one moves nearly as far as it may
        elif step <= 0.5**HALVINGS:
            problem.reached = done
            raise problem
        else:
            step *= 0.5
    return q
