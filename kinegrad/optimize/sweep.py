"""Designs that are looked at: on a grid, by a Sobol sequence, or as parts with tolerances come out of production (OPT-10)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from kinegrad.dataframe import import_pandas
from kinegrad.errors import KinegradError
from kinegrad.optimize.description import Tolerance
from kinegrad.optimize.jobs import Backend
from kinegrad.optimize.logged import Points, confirm_goals, typed
from kinegrad.optimize.multistart import box, starts
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem

CHUNK = 16  # designs in a job
MOST = 10**6
ENOUGH = 30  # samples that tell a deviation
ALIKE = 2.0  # deviations within this factor say the same
LONG = 40  # characters of an expression that label an axis


def grid(plan: Plan, points: int) -> np.ndarray:
    """(points**n, n) values on a grid of the scaled variables."""
    n = len(plan.variables)
    if points**n > MOST:
        raise KinegradError(
            f"A grid of {points} points for {n} variables has {points**n:.3g} designs; at most {MOST} are done."
        )
    low, high = box(plan)
    axes = [np.linspace(a, b, points) for a, b in zip(low, high, strict=True)]
    return np.array(
        [plan.variables.values(np.array(x)) for x in np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, n)]
    )


def deviations(plan: Plan, tolerances: Mapping[str, Tolerance]) -> np.ndarray:
    """(n,) standard deviations of the variables; zero for those without tolerance."""
    out = np.zeros(len(plan.variables))
    for name, tolerance in tolerances.items():
        out[[label in plan.parameters.expand(name) for label in plan.variables.labels]] = tolerance.deviation
    return out


def monte_carlo(plan: Plan, points: int, seed: int, tolerances: Mapping[str, Tolerance]) -> np.ndarray:
    """(points, n) values around the start, as the tolerances distribute them."""
    rng = np.random.default_rng(seed)
    out = np.tile(plan.variables.start, (points, 1))
    for k, label in enumerate(plan.variables.labels):
        for name, tolerance in tolerances.items():
            if label in plan.parameters.expand(name):
                normal = tolerance.sigma is not None
                draw = rng.normal(size=points) if normal else rng.uniform(-1.0, 1.0, points)
                out[:, k] += (tolerance.sigma if normal else tolerance.half_width) * draw
    return out


def unbounded(plan: Plan) -> Plan:
    """The same without bounds and logarithms: what is drawn is what is looked at."""
    v = plan.variables
    free = replace(
        v, lower=np.full(len(v), -np.inf), upper=np.full(len(v), np.inf), log=np.zeros(len(v), bool),
        scale=np.where(v.log, np.abs(v.start), v.scale),
    )  # fmt: skip
    return replace(plan, variables=free)


def some_points(study, job: dict) -> dict:
    """Goals and objectives of several designs."""
    plan = unbounded(study.plan)
    problem = StudyProblem(plan)
    problem.anchor = problem.evaluate(problem.start)
    if not problem.anchor.ok:
        raise KinegradError(f"The start of the study does not work: {problem.anchor.problem}")
    found = []
    for values in job["values"]:
        one = problem.evaluate(plan.variables.scaled(np.array(values)))
        found.append([one.goals.tolist(), one.objectives, ""] if one.ok else [None, {}, one.problem])
    return {"job": job["job"], "points": found}


@dataclass(frozen=True, eq=False, repr=False)
class SweepResult:
    """What was found of many designs.

    Attributes
    ----------
    values : (k, n) array
        Of the variables.
    goals : (k, g) array
        What is minimised, then constraints; nan where a design does not work.
    problems : list of str
        Why a design does not work; empty for the others.
    kind : str
        "grid", "sobol" or "monte-carlo".
    nominal : dict goal -> value or None
        With tolerances: at the start.
    first_order : dict goal -> standard deviation or None
        With tolerances: from the gradient at the start.
    shares : dict goal -> dict variable -> part or None
        With tolerances: what parts of the squares of these come from which variable.
    """

    plan: Plan
    values: np.ndarray
    goals: np.ndarray
    names: tuple[str, ...]
    problems: list[str]
    kind: str
    nominal: dict[str, float] | None = None
    first_order: dict[str, float] | None = None
    shares: dict[str, dict[str, float]] | None = None
    log: object = None

    @property
    def failures(self) -> int:
        """Designs that do not work."""
        return sum(bool(problem) for problem in self.problems)

    @property
    def statistics(self) -> dict[str, dict[str, float]]:
        """Of each goal: mean, standard deviation, least and largest, of the designs that work."""
        good = self.goals[[not problem for problem in self.problems]]
        if len(good) < 2:
            raise KinegradError(
                f"Only {len(good)} of {len(self.values)} designs work; move the start, or narrow the sweep."
            )
        columns = {
            "mean": good.mean(axis=0), "deviation": good.std(axis=0, ddof=1), "least": good.min(axis=0),
            "largest": good.max(axis=0),
        }  # fmt: skip
        return {name: {key: float(x[k]) for key, x in columns.items()} for k, name in enumerate(self.names)}

    @property
    def remarks(self) -> list[str]:
        """With tolerances: sentences on goals whose samples spread otherwise than first order says."""
        if self.first_order is None or len(self.values) - self.failures < ENOUGH:
            return []
        told = []
        for name, row in self.statistics.items():
            first, found = self.first_order[name], row["deviation"]
            if max(first, found) > ALIKE * min(first, found):
                told.append(
                    f"First order does not describe {name}: its samples deviate by {found:.3g}, and first order says "
                    f"{first:.3g}. It is curved there, as at an optimum, where gradients vanish; go by the samples, not by "
                    "shares."
                )
        return told

    def __repr__(self) -> str:
        return f"<SweepResult of {len(self.values)} designs, {self.failures} of which do not work>"

    def to_dataframe(self):
        """A pandas DataFrame: a row for each design, a column for each variable and each goal."""
        pandas = import_pandas()
        table = pandas.DataFrame(self.values, columns=list(self.plan.variables.labels))
        for name, column in zip(self.names, self.goals.T, strict=True):
            table[name] = column
        table["problem"] = self.problems
        return table

    def plot(self, path: str | Path | None = None):
        """A matplotlib figure; also written to `path` when one is given.

        With tolerances: histograms of the goals beside their normal distributions of first order, and what these come from.
        Else goals over one variable; as a map over two, contours of a grid; over each variable where there are more.
        """
        from kinegrad.plots.sweep import Designs, plot_sweep, plot_tolerances

        variables, count = self.plan.variables, self.plan.n_goals
        limits = [(-np.inf, np.inf)] * count + [one.limits for one in self.plan.constraints.values()]
        side = round(len(self.values) ** (1.0 / len(variables))) if self.kind == "grid" else 0
        aim = str(self.plan.goals[0]) if count == 1 and self.plan.goals else "squared residuals"
        names = (aim if len(aim) <= LONG else f"{aim[:LONG]} ...", *self.names[1:]) if count == 1 else self.names
        drawn = Designs(variables.labels, self.values, names, self.goals, np.array(limits), count, variables.log, side)
        title = f"{self.plan.title or 'Study'}: {len(self.values)} designs"
        if self.first_order is None:
            return plot_sweep(title, drawn, path)
        by_goal = (list(one.values()) for one in (self.nominal, self.first_order, self.shares))
        return plot_tolerances(title, drawn, *by_goal, path)

    def to_dict(self) -> dict:
        """What the command line prints."""
        rows = [[None if np.isnan(x) else x for x in row] for row in self.goals.tolist()]
        return {
            "status": "swept", "points": len(self.values), "failures": self.failures, "statistics": self.statistics,
            "nominal": self.nominal, "first_order": self.first_order, "shares": self.shares,
            "remarks": self.remarks,
            "variables": list(self.plan.variables.labels),
            "values": self.values.tolist(), "goals": {name: [row[k] for row in rows] for k, name in enumerate(self.names)},
            "log": None if self.log is None else str(self.log),
        }  # fmt: skip


def sweep(study, backend: Backend, log, progress: Callable[[float], None] | None) -> SweepResult:
    """The designs of a study's sweep; those that a log has finished are read."""
    plan, what, tolerances = study.plan, study.description.sweep, study.description.tolerances
    if what.type == "grid":
        values = grid(plan, what.points)
    elif what.type == "sobol":
        values = starts(plan, what.points, what.seed)
    else:
        values = monte_carlo(plan, what.points, what.seed, tolerances)
    jobs = [
        {"kind": "points", "job": k, "values": values[first : first + CHUNK].tolist()}
        for k, first in enumerate(range(0, len(values), CHUNK))
    ]
    known = {job["job"]: log.finished.get(("point", job["job"], 0)) for job in jobs}
    done = {job["job"]: _read(plan, log, known[job["job"]], job) for job in jobs if known[job["job"]] is not None}
    _confirm(plan, log, known, jobs, done)
    for job, found in backend.run(study, [job for job in jobs if job["job"] not in done]):
        done[job["job"]] = found
        log.write({"kind": "point", "job": job["job"], "found": found})
        if progress is not None:
            progress(len(done) / len(jobs))
    points = [point for job in jobs for point in done[job["job"]]["points"]]
    goals = ["minimise"] if plan.n_goals == 1 else [goal.text for goal in plan.goals]
    names = (*goals, *plan.constraints)
    goals = np.array([[np.nan] * len(names) if one is None else one for one, _, _ in points])
    more = _first_order(plan, names, deviations(plan, tolerances)) if tolerances else {}
    problems = [problem for _, _, problem in points]
    return SweepResult(plan, values, goals, names, problems, what.type, log=log.path, **more)


def _read(plan: Plan, log, record: dict, job: dict) -> dict:
    """What a record of a log says of the designs of a job."""
    found = typed(log, record, Points, record.get("found"))
    counts = {len(goals) for goals, _, _ in found["points"] if goals is not None}
    if len(found["points"]) != len(job["values"]) or counts - {plan.n_goals + len(plan.constraints)}:
        raise log.refused(record, "has another number of designs or of goals than the sweep")
    return found


def _confirm(plan: Plan, log, known: dict, jobs: list[dict], done: dict) -> None:
    """Raises where the model does not give the least of what is minimised that a log tells; computes that design once."""
    best = [
        (goals[0], job["job"], k)
        for job in jobs if job["job"] in done
        for k, (goals, _, _) in enumerate(done[job["job"]]["points"]) if goals is not None
    ]  # fmt: skip
    if not best:
        return
    _, job, k = min(best)
    problem = StudyProblem(unbounded(plan))
    problem.anchor = problem.evaluate(problem.start)
    values = next(one["values"][k] for one in jobs if one["job"] == job)
    goals = done[job]["points"][k][0]
    scales = np.maximum(np.abs(problem.anchor.goals), np.abs(goals)) if problem.anchor.ok else np.abs(goals)
    found = problem.evaluate(problem.variables.scaled(np.array(values)))
    confirm_goals(log, known[job], problem, found, goals, np.where(scales > 0.0, scales, 1.0))


def _first_order(plan: Plan, names, sigma: np.ndarray) -> dict[str, dict]:
    """Goals at the start, their deviations with independent parameters, by the gradient, and shares of these (OPT-10)."""
    problem = StudyProblem(unbounded(plan))
    found = problem.evaluate(problem.start, gradient=True)
    if not found.ok:
        raise KinegradError(f"The start of the study does not work: {found.problem}")
    parts = found.jacobian * sigma
    sizes = np.linalg.norm(parts, axis=1)
    shares = (parts / np.where(sizes > 0.0, sizes, 1.0)[:, None]) ** 2
    varied = [(k, label) for k, label in enumerate(plan.variables.labels) if sigma[k] > 0.0]
    return {
        "nominal": dict(zip(names, found.goals.tolist(), strict=True)),
        "first_order": dict(zip(names, sizes.tolist(), strict=True)),
        "shares": {name: {label: float(shares[g, k]) for k, label in varied} for g, name in enumerate(names)},
    }
