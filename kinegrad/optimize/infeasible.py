"""What to say of a search that found no design within its constraints: which is violated, and what excludes it (OPT-19)."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.problem import StudyProblem

LEFT = 1e-6  # part of a violation that is none
WEIGHT = 1e-9  # multipliers below are none
SHOWN = 4  # names of variables in a sentence


def violated(problem: StudyProblem, found: Evaluation) -> str:
    """The constraint that is violated most, scaled, in its own units, and what first derivatives say of it.

    `found` has derivatives, and is the design with the least violation that was seen.
    """
    low, high = problem.constraint_limits
    values = found.goals[problem.n_goals :]
    scaled = values / problem.scales[problem.n_goals :]
    over = np.maximum(low - scaled, scaled - high)
    k = int(over.argmax())
    name, constraint = list(problem.plan.constraints.items())[k]
    least, most = constraint.limits
    limit = (
        f"equal {least:g}"
        if least == most
        else f"be at least {least:g}"
        if scaled[k] < low[k]
        else f"be at most {most:g}"
    )
    return (
        f"constraint {name!r} is {values[k]:.6g} and should {limit}, the least violation of all designs tried; "
        f"{_reason(problem, found, name, scaled, float(over[k]))}"
    )


def _reason(problem: StudyProblem, found: Evaluation, name: str, c: np.ndarray, violation: float) -> str:
    """Whether constraints, linear from the design on, can all be kept within the bounds; if not, which exclude each other."""
    from scipy.optimize import linprog

    low, high = problem.constraint_limits
    J = problem.scaled_jacobian(found)[problem.n_goals :]
    above, below, ones = np.isfinite(high), np.isfinite(low), np.ones((len(c), 1))
    rows = np.vstack([np.hstack([J, -ones])[above], np.hstack([-J, -ones])[below]])
    right = np.concatenate([(high - c)[above], (c - low)[below]])
    ends = [*zip(problem.lower - found.x, problem.upper - found.x, strict=True), (0.0, None)]
    least = linprog(np.append(np.zeros(problem.n), 1.0), A_ub=rows, b_ub=right, bounds=ends, method="highs")
    if least.status != 0:
        return "first derivatives there say no more"
    if least.x[-1] <= LEFT * violation:
        return "to first order from there all constraints can be kept: try another start, multistart, or another solver"
    weights = np.abs(least.ineqlin.marginals) > WEIGHT
    owners = [*np.flatnonzero(above), *np.flatnonzero(below)]
    names = list(problem.plan.constraints)
    held = list(dict.fromkeys(names[owners[i]] for i in np.flatnonzero(weights)))
    at = (np.abs(least.lower.marginals) + np.abs(least.upper.marginals))[: problem.n] > WEIGHT
    bounds = [label for label, active in zip(problem.variables.labels, at, strict=True) if active]
    within = f" within the bounds of {_listed(bounds)}" if bounds else ""
    if len(held) > 1:
        several = _listed([repr(one) for one in held])
        return f"to first order from there {several} exclude each other{within}: loosen one of them"
    if not within:
        return "to first order no variable changes it"
    return f"to first order from there {(held or [name])[0]!r} cannot be kept{within}: widen them, or loosen it"


def _listed(names: list[str]) -> str:
    if len(names) > SHOWN:
        return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more"
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))
