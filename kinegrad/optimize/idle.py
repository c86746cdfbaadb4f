"""Variables that change nothing, and aims that no variable changes: told beside a result."""

from __future__ import annotations

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.problem import StudyProblem

NOTHING = 1e-14  # a scaled derivative that is rounding
MOVE = 0.1  # of scaled variables, to a design where what seems to change nothing is looked at again
SHOWN = 6  # names of variables in a sentence


def rows(problem: StudyProblem, found: Evaluation) -> np.ndarray:
    """(g, n) which goals variables change at a design with derivatives."""
    return np.abs(problem.scaled_jacobian(found)) > NOTHING


def remarks(problem: StudyProblem, found: Evaluation, changed: np.ndarray) -> list[str]:
    """Sentences about variables that change nothing, and aims that none changes.

    `changed` (g, n) tells which goals variables changed in the designs that were differentiated; another one is looked at
    before anything is said, since all derivatives may be zero at an optimum.
    """
    if changed.any(axis=0).all() and changed[: problem.n_goals].any():
        return []
    room = np.minimum(np.maximum(problem.upper - found.x, found.x - problem.lower), MOVE)
    move = np.where(problem.upper - found.x >= room, room, -room)
    if changed[: problem.n_goals].any():
        move[changed.any(axis=0)] = 0.0
    try:
        changed = changed | (np.abs(problem.slopes_beside(found.x + move, found)) > NOTHING)
    except KinegradError:
        return []
    idle = [label for label, any_ in zip(problem.variables.labels, changed.any(axis=0), strict=True) if not any_]
    if idle:
        text = "Nothing that is minimised or limited changes with"
        return [f"{text} {_listed(idle)} in the designs tried, so what is found of it is arbitrary."]
    if not changed[: problem.n_goals].any():
        aims = ", ".join(problem.goal_names[: problem.n_goals])
        return [f"What is minimised, {aims}, changes with no variable in the designs tried."]
    return []


def _listed(labels) -> str:
    shown = ", ".join(repr(label) for label in labels[:SHOWN])
    return f"{shown} and {len(labels) - SHOWN} more" if len(labels) > SHOWN else shown
