"""One search: a solver from one start, the best design it saw, and a verdict that does not trust the solver (OPT-8)."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise

import numpy as np

from kinegrad.optimize import idle, infeasible
from kinegrad.optimize.estimates import estimates
from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.minimax import SHARPNESS, Epigraph, SmoothLargest
from kinegrad.optimize.optimality import ACTIVE, optimality, violation_of
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import Limit, StudyProblem
from kinegrad.optimize.solvers import SOLVERS

SMOOTHED = 1e-3  # how far apart the largest of several may be where their smooth largest was made small
OPTIMUM, LIMIT, STALLED = "optimum", "limit", "stalled"


@dataclass
class Outcome:
    """What a search found, in plain numbers and texts: it travels between processes and stands in logs."""

    status: str
    message: str
    start: list[float]
    values: list[float]
    goals_before: list[float]
    goals: list[float]
    objectives_before: dict[str, float | None]
    objectives: dict[str, float | None]
    violation: float
    residual: float
    multipliers: list[float]
    bound_multipliers: list[float]
    active: dict[str, str]
    evaluations: int
    failures: int
    gradients: int
    seconds: float
    solver: str
    scales: list[float]
    gradient: list[float]
    history: list[tuple[int, float | None, float | None, bool]] = field(default_factory=list)
    fit: dict | None = None
    positions: dict[str, list[float]] = field(default_factory=dict)
    limit: int = 0  # designs that might have been tried
    remarks: list[str] = field(default_factory=list)

    def goes_on(self, plan: Plan) -> bool:
        """Whether the search ended at a limit, and the one of `plan` is larger."""
        return self.status == LIMIT and self.limit < plan.solver.max_evaluations

    def plain(self) -> dict:
        """All of it as a dict of plain numbers and texts."""
        return asdict(self)

    @classmethod
    def read(cls, plain: dict) -> Outcome:
        """The outcome that `plain` wrote."""
        return cls(**plain | {"history": [tuple(entry) for entry in plain["history"]]})


def compared(outcome: Outcome, plans: Sequence[Plan]) -> Outcome:
    """The outcome of the last stage, beside what its simulations give with the start of the study.

    A stage before may have a shorter horizon, so its values do not compare, and a search that was stopped goes on from
    another design; where the start does not work in the last stage, the values with which this began stay.
    """
    last = plans[-1].started_at(begun(plans, plans[0].variables.start))
    problem = StudyProblem(last)
    found = problem.evaluate(problem.start)
    if not found.ok:
        return outcome
    return replace(outcome, goals_before=found.goals.tolist(), objectives_before=found.objectives)


def after(plan: Plan, before: Plan, outcome: Outcome) -> Plan:
    """The plan of a stage from the optimum of the one before, on its branch."""
    positions = outcome.positions if plan.shares_coordinates(before) else None
    return plan.started_at(plan.carried(before, outcome.values), positions)


def begun(plans: Sequence[Plan], start: np.ndarray) -> np.ndarray:
    """(n,) values of the variables where the first stage began, as ordinates of the last one."""
    found = np.array(start, float)
    for before, after in pairwise(plans):
        found = after.carried(before, found)
    return found


class Watch:
    """Follows the evaluations of a search: the best good design, its course, and whom to tell."""

    def __init__(self, problem: StudyProblem, tolerance: float, record: Callable | None, progress: Callable | None):
        self.problem, self.tolerance, self.record, self.progress = problem, tolerance, record, progress
        self.history: list[tuple[int, float, float, bool]] = []
        self.best: tuple[tuple, Evaluation] | None = None
        self.smooth: tuple[tuple, Evaluation] | None = None  # the best that has derivatives
        self.last_failure = ""
        self.unclosed = False  # some designs could not be assembled
        self.changed: np.ndarray | bool = False  # which goals variables changed
        self._seen = 0

    def __call__(self, found: Evaluation) -> None:
        if self.record is not None:
            self.record(found)
        if found.jacobian is not None and found.ok:
            self.changed = self.changed | idle.rows(self.problem, found)
            key = self.rank(found)
            if self.smooth is None or key < self.smooth[0]:
                self.smooth = key, found
        if found.number <= self._seen:
            return  # its derivatives came later
        self._seen = found.number
        if not found.ok:
            self.last_failure = found.problem
            self.unclosed |= "cannot be assembled" in found.problem
            self.history.append((found.number, float("nan"), float("nan"), False))
        else:
            self.history.append((found.number, *self.merit(found), True))
            key = self.rank(found)
            if self.best is None or key < self.best[0]:
                self.best = key, found
        if self.progress is not None:
            best = self.merit(self.best[1]) if self.best else (float("nan"), float("nan"))
            self.progress(self.problem.evaluations + self.problem.beside, *best)

    def rank(self, found: Evaluation) -> tuple[int, float]:
        """Small for good designs: those that keep the constraints first, by value, then others by violation."""
        value, violation = self.merit(found)
        return (0, value) if violation <= self.tolerance else (1, violation)

    def merit(self, found: Evaluation) -> tuple[float, float]:
        """What is minimised, in its own units, and the scaled violation of the constraints."""
        n, scales = self.problem.n_goals, self.problem.scales
        low, high = self.problem.constraint_limits
        value = float(found.goals[:n].max()) if n else 0.0
        return value, violation_of(found.goals[n:] / scales[n:], low, high)


def search(
    plan: Plan,
    *,
    record: Callable | None = None,
    progress: Callable | None = None,
    anchor: Evaluation | None = None,
    scales: np.ndarray | None = None,
) -> Outcome:
    """The outcome of the solver of `plan` from its start.

    Parameters
    ----------
    record : callable, optional
        Called with each Evaluation, and again when its derivatives are known.
    progress : callable, optional
        Called with the number of evaluations, the best value and its violation.
    anchor : Evaluation, optional
        A design that works, whose branch of assembly is kept.
    scales : (g,) array, optional
        What goals are divided by, where these are not the sizes at this start.
    """
    clock = time.perf_counter()
    choice = plan.solver
    solver = SOLVERS[choice.type](choice.hessian == "exact")
    problem = StudyProblem(plan, scales=scales)
    problem.anchor = anchor or problem.anchor
    feasible = max(choice.tolerance, 1e-9)
    watch = Watch(problem, feasible, record, progress)
    first = problem.evaluate(problem.start, gradient=True)
    _ = problem.scales
    watch(first)
    problem.observe, problem.limit = watch, choice.max_evaluations
    limited, ended, message = False, problem.start, ""
    interrupted = False
    try:
        for task in _tasks(problem, solver.takes_epigraph(), lambda: ended):  # noqa: B023
            done = solver.solve(task, choice.tolerance, choice.max_evaluations)
            ended, limited, message = np.asarray(done.x, float)[: problem.n], done.limited, done.message
    except Limit:
        interrupted, limited = True, True
        message = f"{choice.max_evaluations} evaluations are done, as many as max_evaluations allows"
    problem.limit = None
    found = _result(problem, watch, None if interrupted else ended, choice.tolerance)
    return _judged(plan, problem, watch, first, found, limited, message, clock)


def _fit(plan: Plan, found: Evaluation, held) -> dict | None:
    """How well data determine the variables, where there are data."""
    if not plan.residuals:
        return None
    known = plan.residuals[0].sigma is not None
    at_bound = held.at_lower | held.at_upper
    made = estimates(
        plan.variables.labels, found.values, at_bound, found.residuals, found.residual_jacobian, known
    )  # fmt: skip
    return made.plain()


def _tasks(problem: StudyProblem, epigraph: bool, ended: Callable):
    """What a solver is given, one after the other."""
    if problem.n_goals == 1:
        yield problem
    elif epigraph:
        yield Epigraph(problem, problem.start)
    else:
        for sharpness in SHARPNESS:
            yield SmoothLargest(problem, np.clip(ended(), problem.lower, problem.upper), sharpness)


def _result(problem: StudyProblem, watch: Watch, ended: np.ndarray | None, tolerance: float) -> Evaluation:
    """The design that is the result: where the solver ended (None: nowhere), unless a better one was seen on the way."""
    _, best = watch.best
    last = None if ended is None else problem.evaluate(np.clip(ended, problem.lower, problem.upper))
    if last is not None and last.ok:
        value, violation = watch.merit(last)
        best_value, best_violation = watch.merit(best)
        slack = 10.0 * tolerance * problem.scales[0]
        if violation <= watch.tolerance and (value <= best_value + slack or best_violation > watch.tolerance):
            best = last
    if problem.differentiated(best):
        return problem.recall(best)
    return problem.recall(watch.smooth[1])


def _judged(plan, problem, watch, first, found, limited, message, clock) -> Outcome:
    """The outcome, with a verdict by the first-order conditions."""
    smooth = problem.n_goals == 1
    exact = smooth or SOLVERS[plan.solver.type].takes_epigraph()
    task, x = problem, found.x
    if not smooth:
        task = Epigraph(problem, found.x)
        x = task.start
    allowed = max(np.sqrt(plan.solver.tolerance), ACTIVE)
    near = allowed if exact else SMOOTHED
    held = optimality(task, x, near)
    violated = infeasible.violated(problem, found) if held.violation > 10.0 * watch.tolerance else ""
    if held.residual <= allowed and not violated:
        status, message = OPTIMUM, f"the first-order conditions hold ({message})"
    else:
        status = LIMIT if limited else STALLED
        small = f"the projected gradient is {held.residual:.3g} (scaled) and should be below {allowed:.1g}"
        beside = f"; designs beyond do not work: {watch.last_failure}" if problem.failures and not limited else ""
        message = f"{violated or small}{beside} ({message})"
    if status != OPTIMUM and watch.unclosed and not plan.with_margin:
        message += (
            "; add assembly: {at_least: 0.01} and take a solver with constraints, which then sees where designs end"
        )
    k, variables = problem.n_goals, problem.variables
    multipliers = held.multipliers if smooth else held.multipliers[k:]
    sizes = problem.scales[0] / problem.scales[k:]
    slopes = variables.slopes(found.values)
    bound = held.bound_multipliers[: problem.n] * problem.scales[0] / slopes
    active = {}
    for i, label in enumerate(variables.labels):
        if held.at_lower[i] or held.at_upper[i]:
            active[label] = "lower" if held.at_lower[i] else "upper"
    low, high = problem.constraint_limits
    scaled = found.goals[k:] / problem.scales[k:]
    for i, name in enumerate(plan.constraints):
        if low[i] == high[i]:
            active[name] = "equals"
        elif scaled[i] - low[i] <= near or high[i] - scaled[i] <= near:
            active[name] = "at_least" if scaled[i] - low[i] <= near else "at_most"
    top = int(found.goals[:k].argmax())
    remarks = idle.remarks(problem, found, watch.changed)
    return Outcome(
        status=status, message=message, start=first.values.tolist(), values=found.values.tolist(),
        goals_before=first.goals.tolist(), goals=found.goals.tolist(), objectives_before=first.objectives,
        objectives=found.objectives, violation=held.violation, residual=held.residual,
        multipliers=(-multipliers * sizes).tolist(), bound_multipliers=bound.tolist(), active=active,
        evaluations=problem.evaluations + problem.beside, failures=problem.failures, gradients=problem.gradients,
        seconds=time.perf_counter() - clock, solver=plan.solver.type, scales=problem.scales.tolist(),
        gradient=found.jacobian[top].tolist(), history=watch.history, fit=_fit(plan, found, held),
        positions={name: np.asarray(q).tolist() for name, q in found.positions.items()},
        limit=plan.solver.max_evaluations, remarks=remarks,
    )  # fmt: skip
