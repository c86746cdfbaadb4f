"""Goals in fixed numbers, which no variable changes: refused before anything is run, where that makes a study pointless."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinegrad.model.model import Finding
from kinegrad.optimize.description import Constraint, Description
from kinegrad.optimize.goals import GoalMap
from kinegrad.optimize.plan import MARGIN, Plan


def in_numbers(plan: Plan, study: Description) -> Iterator[Finding]:
    """What to say of constraints in fixed numbers that are violated, and of an aim where all is in fixed numbers."""
    moving = bool(plan.residuals) or plan.with_margin
    for name, constraint in plan.constraints.items():
        value = None if plan.with_margin and name == MARGIN else _number(plan, constraint.value)
        moving |= value is None
        limit = "" if value is None or study.sweep is not None else _violated(constraint, value, plan.solver.tolerance)
        if limit:
            text = f"is {value:.6g} and should {limit}, and no variable changes it; change its numbers."
            yield ("constraints", name), f"constraints.{name} {text}"
    if not moving and all(_number(plan, goal) is not None for goal in plan.goals):
        key = "minimise" if study.front is None else "front"
        text = f"is {plan.goals[0].text!r}, which no variable changes, nor is there a constraint that one changes"
        yield (key,), f"{key} {text}; name an objective, or a variable such as {plan.variables.labels[0]!r}."


def _number(plan: Plan, goal) -> float | None:
    """The value of a goal that is neither of an objective nor of a variable; None of others."""
    found = GoalMap([goal], plan.names)
    if found.objectives or not set(plan.variables.labels).isdisjoint(found.parameters):
        return None
    return float(found.values(np.zeros(0), plan.rho)[0])


def _violated(constraint: Constraint, value: float, tolerance: float) -> str:
    """The limit that a value does not keep, by more than a search would allow; empty where there is none."""
    low, high = constraint.limits
    allowed = 10.0 * max(tolerance, 1e-9)
    allowed *= constraint.scale or max(abs(x) for x in (value, low, high) if np.isfinite(x))
    if not max(low - value, value - high) > allowed:
        return ""
    return f"equal {low:g}" if low == high else f"be at least {low:g}" if value < low else f"be at most {high:g}"
