"""What a log tells of searches: read strictly, and computed once more before it is told."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from kinegrad.model.element import dotted
from kinegrad.optimize.estimates import Estimates
from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem, listed
from kinegrad.optimize.search import Outcome

SAME = 1e-6  # of the scale of a goal: values that are one

Design = tuple[list[float] | None, dict[str, float], str]  # goals, objectives, why it does not work


class Start(TypedDict):
    """What a search of many found."""

    job: int
    redrawn: int
    problem: str
    outcomes: list[Outcome]


class Points(TypedDict):
    """What a part of a sweep found."""

    job: int
    points: list[Design]


class Population(TypedDict):
    """What a population found: variables and goals of each design."""

    rows: list[tuple[list[float], list[float]]]
    evaluations: int
    limit: int


@cache
def _adapter(kind: type) -> TypeAdapter:
    return TypeAdapter(kind)


def typed(log, record: dict, kind: type, plain: Any) -> Any:
    """What a record of a log holds, as `kind`; raises where it holds something else."""
    try:
        return _adapter(kind).validate_json(json.dumps(plain, allow_nan=False), strict=True)
    except ValueError as error:  # of json, or of pydantic
        if not isinstance(error, ValidationError):
            raise log.refused(record, "has a number that is infinite or none") from None
        first = error.errors()[0]
        raise log.refused(record, f"does not hold at {dotted(first['loc'])}: {first['msg']}") from None


def outcome(log, record: dict, plain: Any, plan: Plan) -> Outcome:
    """The outcome of a search by `plan` in a record of a log."""
    found = typed(log, record, Outcome, plain)
    variables, goals = len(plan.variables), plan.n_goals + len(plan.constraints)
    of_variables, of_goals = ("start", "values", "bound_multipliers", "gradient"), ("goals", "goals_before", "scales")
    sizes = (
        dict.fromkeys(of_variables, variables) | dict.fromkeys(of_goals, goals) | {"multipliers": len(plan.constraints)}
    )
    for key, size in sizes.items():
        if len(getattr(found, key)) != size:
            raise log.refused(record, f"has {len(getattr(found, key))} numbers as {key}, and the study has {size}")
    if found.fit is not None:
        typed(log, record, Estimates, found.fit)
    within(log, record, plan, found.values)
    return found


def within(log, record: dict, plan: Plan, values: Sequence[float]) -> np.ndarray:
    """(n,) values of the variables in a record of a log; raises where bounds exclude them."""
    variables, given = plan.variables, np.array(values, float)
    if len(given) != len(variables):
        raise log.refused(record, f"has {len(given)} values of variables, and the study has {len(variables)}")
    for label, value, low, high in zip(variables.labels, given, variables.lower, variables.upper, strict=True):
        if not low <= value <= high:
            raise log.refused(record, f"says {label} = {value:.9g}, outside its bounds [{low:g}, {high:g}]")
    return given


def confirm(log, record: dict, plan: Plan, found: Outcome) -> None:
    """Raises where the model does not give what a log says of an optimum; computes that design once."""
    problem = StudyProblem(plan.started_at(np.array(found.values), found.positions))
    sizes = {runs.case.name: runs.system.n for runs, _ in problem.all_cases}
    if {name: len(q) for name, q in found.positions.items()} != sizes:
        raise log.refused(record, f"has positions of other coordinates than the model, {sizes}")
    confirm_goals(log, record, problem, problem.evaluate(problem.start), found.goals, np.array(found.scales))


def confirm_goals(
    log, record: dict, problem: StudyProblem, found: Evaluation, goals: Sequence[float], scales: np.ndarray
) -> None:
    """Raises where a design does not work, or has other goals than a log says."""
    at = listed(found.parameters)
    if not found.ok:
        raise log.refused(record, f"has a design that works with {at}, which does not: {found.problem.rstrip('.')}")
    if len(goals) != len(found.goals):
        raise log.refused(record, f"has {len(goals)} numbers as goals, and the study has {len(found.goals)}")
    away = np.abs(found.goals - goals) / scales
    if not away.max() <= SAME:
        k = int(away.argmax())
        raise log.refused(
            record, f"says {problem.goal_names[k]} = {goals[k]:.9g} with {at}, and the model gives {found.goals[k]:.9g}"
        )
