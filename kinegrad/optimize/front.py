"""Designs of which none is better in every goal than another: by limits on all goals but one, or by a population (OPT-14)."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinegrad.dataframe import import_pandas
from kinegrad.errors import KinegradError
from kinegrad.optimize.description import Constraint
from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.log import without_nan
from kinegrad.optimize.logged import Population, confirm, confirm_goals, outcome, typed, within
from kinegrad.optimize.multistart import box
from kinegrad.optimize.optimality import violation_of
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem
from kinegrad.optimize.search import OPTIMUM, Outcome, search

LIMIT = "front__limit"
FEW = 12  # individuals of a population, at least
FAR = 1e6  # what a design that does not work is said to violate
SAME = 1e-6  # of the width of a front: designs that are one


@dataclass(frozen=True, eq=False, repr=False)
class FrontResult:
    """What was found of a front, from the least of the first goal to its largest.

    Attributes
    ----------
    names : tuple of str
        The goals.
    values : (k, n) array
        Of the variables.
    goals : (k, g) array
    evaluations, gradients, dropped : int
        Simulated designs, passes of derivatives, and searches that found no optimum, one that another design is better than, or
        one that was found before.
    """

    plan: Plan
    names: tuple[str, ...]
    values: np.ndarray
    goals: np.ndarray
    evaluations: int
    gradients: int
    dropped: int
    method: str
    log: Path | None = None

    def __len__(self) -> int:
        return len(self.values)

    def __repr__(self) -> str:
        return f"<FrontResult of {', '.join(self.names)}: {len(self)} designs after {self.evaluations} evaluations>"

    def to_dataframe(self):
        """A pandas DataFrame: a row for each design, a column for each variable and each goal."""
        table = import_pandas().DataFrame(self.values, columns=list(self.plan.variables.labels))
        for name, column in zip(self.names, self.goals.T, strict=True):
            table[name] = column
        return table

    def to_dict(self) -> dict:
        """What the command line prints."""
        return {
            "status": "front", "method": self.method, "points": len(self), "goals": list(self.names),
            "values": self.goals.tolist(), "variables": [self.plan.variables.named(row) for row in self.values],
            "evaluations": self.evaluations, "gradients": self.gradients, "dropped": self.dropped,
            "log": None if self.log is None else str(self.log),
        }  # fmt: skip

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure: each goal over the first one; also written to `path` when one is given."""
        from kinegrad.plots.front import plot_front

        return plot_front(self.plan.title or "Front", self.names, self.goals, path)


def front(study, log, progress: Callable[[float], None] | None) -> FrontResult:
    """The front of a study."""
    what = study.description.front
    if what.how == "nsga2":
        return _by_population(study, what, log, progress)
    return _by_limits(study, what, log, progress)


def import_pymoo() -> None:
    """Raises where pymoo is missing, with the command that installs it."""
    try:
        importlib.import_module("pymoo")
    except ImportError:
        raise KinegradError(
            "A front by 'nsga2' needs pymoo, which is not installed; run: pip install 'kinegrad[opt]'."
        ) from None


def efficient(goals: np.ndarray) -> np.ndarray:
    """(k,) whether no other design is as good in every goal and better in one."""
    better = (goals[None, :, :] <= goals[:, None, :]).all(axis=2) & (goals[None, :, :] < goals[:, None, :]).any(axis=2)
    return ~better.any(axis=1)


def distinct(goals: np.ndarray) -> np.ndarray:
    """(k,) whether no design before has nearly the same goals."""
    width = np.ptp(goals, axis=0)
    apart = np.abs(goals[:, None, :] - goals[None, :, :]) > SAME * np.maximum(width, SAME * np.abs(goals).max(axis=0))
    return ~np.tril(~apart.any(axis=2), -1).any(axis=1)


def _by_limits(study, what, log, progress) -> FrontResult:
    """The first goal made small with growing limits on the second, each search from the optimum before.

    Where one ends without meeting its limit, as where the first goal is stationary, another comes from the optimum after.
    """
    plan = study.plan
    first, second = what.goals
    outcomes: list[Outcome] = []

    def found(job: int, own: Plan) -> Outcome:
        record = log.finished.get(("result", job, 0))
        known = record and outcome(log, record, record.get("outcome"), own)
        if known is not None and not known.goes_on(own):
            confirm(log, record, own, known)
            outcomes.append(known)
        else:
            outcomes.append(search(own))
            log.write({"kind": "result", "job": job, "stage": 0, "outcome": without_nan(outcomes[-1].plain())})
        if progress is not None:
            progress(min(1.0, len(outcomes) / what.points))
        return outcomes[-1]

    least = found(1, replace(plan, goals=(second,), scale=None))
    lowest = found(2, replace(plan, goals=(first,), scale=None))
    for one, goal in ((least, second), (lowest, first)):
        if one.status != OPTIMUM:
            raise KinegradError(f"The end of the front where {goal.text!r} is least was not found: {one.message}")
    problem = StudyProblem(replace(plan, goals=(first, second)))
    ends = [_goals(problem, one) for one in (least, lowest)]
    limits = np.linspace(ends[0][1], ends[1][1], what.points)
    scales = [float(scale) or None for scale in np.abs(ends).max(axis=0)]

    def limited(job: int, limit: float, near: Outcome) -> Outcome:
        constraint = Constraint(value=second, at_most=float(limit), scale=scales[1])
        own = replace(plan, goals=(first,), scale=scales[0], constraints={**plan.constraints, LIMIT: constraint})
        return found(job, own.started_at(np.array(near.values), near.positions))

    at, upwards = least, []
    for job, limit in enumerate(limits[1:-1], 3):
        upwards.append(limited(job, limit, at))
        at = upwards[-1] if upwards[-1].status == OPTIMUM else at
    at, best = lowest, []
    for job, (limit, one) in reversed(list(enumerate(zip(limits[1:-1], upwards, strict=True), 3))):
        if one.status != OPTIMUM or LIMIT not in one.active:  # stuck, maybe where the first goal is stationary
            other = limited(job + what.points, limit, at)
            one = min(one, other, key=lambda each: (each.status != OPTIMUM, each.goals[0]))
        if one.status == OPTIMUM:
            at = one
            best.append(one)
    rows = [(np.array(one.values), _goals(problem, one)) for one in (least, *reversed(best))]
    rows.append((np.array(lowest.values), ends[1]))
    evaluations, gradients = (sum(getattr(one, key) for one in outcomes) for key in ("evaluations", "gradients"))
    return _gathered(plan, what, rows, what.points, evaluations, gradients, log.path)


def _goals(problem: StudyProblem, outcome: Outcome) -> np.ndarray:
    """Goals of a front at an optimum: from its objectives, without another run."""
    objectives = np.array([outcome.objectives.get(name, np.nan) for name in problem.map.objectives])
    values = np.array(outcome.values)
    if np.isnan(objectives).any():
        found = problem.evaluate(problem.variables.scaled(values))
        if not found.ok:
            raise KinegradError(f"A design of the front does not work: {found.problem}")
        return found.goals[: problem.n_goals]
    return problem.map.values(objectives, problem._rho(values))[: problem.n_goals]


def _gathered(plan, what, rows, points, evaluations, gradients, path) -> FrontResult:
    """The designs that none is better than, by the first goal."""
    names = tuple(goal.text for goal in what.goals)
    goals = np.array([row[1] for row in rows]).reshape(-1, len(names))
    values = np.array([row[0] for row in rows]).reshape(-1, len(plan.variables))
    keep = efficient(goals)
    keep[keep] = distinct(goals[keep])
    order = np.argsort(goals[keep][:, 0])
    dropped = max(0, points - int(keep.sum()))
    return FrontResult(
        plan, names, values[keep][order], goals[keep][order], evaluations, gradients, dropped, what.how, path
    )


def _by_population(study, what, log, progress) -> FrontResult:
    """NSGA-II of pymoo: no gradients, any number of goals, valleys that a local search would not leave."""
    from pymoo.algorithms.moo.nsga2 import NSGA2
    from pymoo.core.problem import ElementwiseProblem
    from pymoo.optimize import minimize

    plan = study.plan
    known, most = log.finished.get(("result", 1, 0)), plan.solver.max_evaluations
    problem = StudyProblem(plan)
    if known is not None and (seen := typed(log, known, Population, known))["limit"] >= most:
        rows = [(within(log, known, plan, x), np.array(f)) for x, f in seen["rows"]]
        scales = np.abs([f for _, f in rows]).max(axis=0)
        for x, f in rows:
            confirm_goals(log, known, problem, problem.evaluate(plan.variables.scaled(x)), f, scales)
        return _gathered(plan, what, rows, len(rows), seen["evaluations"], 0, log.path)
    anchor = problem.evaluate(problem.start)
    if not anchor.ok:
        raise KinegradError(f"The start of the study does not work: {anchor.problem}")
    low, high = box(plan)
    limits = np.array([c.limits for c in plan.constraints.values()]).reshape(-1, 2)
    g = problem.n_goals

    class Designs(ElementwiseProblem):
        def __init__(self):
            super().__init__(n_var=problem.n, n_obj=g, n_ieq_constr=1, xl=low, xu=high)

        def _evaluate(self, x, out, *_, **__):
            found: Evaluation = problem.evaluate(np.asarray(x, float))
            log.evaluation(found, 0, None)
            out["F"] = found.goals[:g] if found.ok else np.abs(anchor.goals[:g]) + FAR
            over = violation_of(found.goals[g:], limits[:, 0], limits[:, 1]) if found.ok else FAR
            out["G"] = [over]
            if progress is not None:
                progress(min(1.0, problem.evaluations / most))

    done = minimize(
        Designs(), NSGA2(pop_size=max(FEW, what.points)), ("n_eval", most), seed=what.seed % 2**32, verbose=False
    )  # fmt: skip
    if done.X is None:
        raise KinegradError(
            "No design keeps the constraints of the front; give solver: {max_evaluations: ...} more of them."
        )
    X, F = np.atleast_2d(done.X), np.atleast_2d(done.F)
    rows = [(plan.variables.values(x), f) for x, f in zip(X, F, strict=True)]
    kept = [[x.tolist(), f.tolist()] for x, f in rows]
    log.write({"kind": "result", "job": 1, "stage": 0, "rows": kept, "evaluations": problem.evaluations, "limit": most})
    return _gathered(plan, what, rows, len(rows), problem.evaluations, 0, log.path)
