"""Searches from many designs: drawn inside the bounds, done as jobs, their optima told by how often they were found (OPT-9)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.optimize.evaluation import Evaluation
from kinegrad.optimize.jobs import Backend
from kinegrad.optimize.log import without_nan
from kinegrad.optimize.logged import Start, confirm, outcome, typed
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem
from kinegrad.optimize.result import StudyResult
from kinegrad.optimize.search import OPTIMUM, Outcome, after, compared, search

DRAWS = 16  # of a start, until a design works
SAME = 1e-4  # relative distance of optima that are one, in scaled variables


def box(plan: Plan) -> tuple[np.ndarray, np.ndarray]:
    """Where starts are drawn, scaled: within the bounds; half of the start, or of its scale, around it where there are none."""
    variables = plan.variables
    low, high = variables.bounds
    at = variables.scaled(variables.start)
    around = np.where(variables.log, np.log(1.5), np.maximum(0.5 * np.abs(at), 0.5))
    return np.where(np.isfinite(low), low, at - around), np.where(np.isfinite(high), high, at + around)


def starts(plan: Plan, count: int, seed: int) -> np.ndarray:
    """(count, n) values of the variables by a scrambled Sobol sequence."""
    from scipy.stats import qmc

    low, high = box(plan)
    draw = qmc.Sobol(len(low), rng=np.random.default_rng(seed)).random_base2(int(np.ceil(np.log2(max(count, 1)))))[
        :count
    ]
    return np.array([plan.variables.values(low + row * (high - low)) for row in draw])


def one_start(study, job: dict) -> dict:
    """The outcomes of all stages from one start; a start that does not work is drawn again."""
    plan = study.plans[0]
    anchor = _anchor(plan)
    values, redrawn = np.array(job["values"]), 0
    rng = np.random.default_rng([job["seed"], job["job"]])
    low, high = box(plan)
    problem = StudyProblem(plan)
    problem.anchor = anchor
    while not (found := problem.evaluate(plan.variables.scaled(values))).ok:
        redrawn += 1
        if redrawn >= DRAWS:
            return {"job": job["job"], "redrawn": redrawn, "problem": found.problem, "outcomes": []}
        values = plan.variables.values(low + rng.random(len(low)) * (high - low))
    outcomes: list[Outcome] = []
    try:
        for k, stage in enumerate(study.plans):
            own = after(stage, study.plans[k - 1], outcomes[-1]) if outcomes else stage.started_at(values)
            outcomes.append(search(own, anchor=None if outcomes else anchor))
        if len(outcomes) > 1:
            outcomes[-1] = compared(outcomes[-1], [study.plans[0].started_at(values), *study.plans[1:]])
    except KinegradError as error:
        return {"job": job["job"], "redrawn": redrawn, "problem": error.problems[0].sentence, "outcomes": []}
    return {"job": job["job"], "redrawn": redrawn, "problem": "", "outcomes": [one.plain() for one in outcomes]}


def _anchor(plan: Plan) -> Evaluation:
    """The design of the study itself, on whose branch all are."""
    problem = StudyProblem(plan)
    found = problem.evaluate(problem.start)
    if not found.ok:
        raise KinegradError(f"The start of the study does not work: {found.problem}")
    return found


@dataclass(frozen=True)
class Optimum:
    """One of several optima.

    Attributes
    ----------
    count : int
        Searches that ended there.
    result : StudyResult
        The best of them.
    """

    count: int
    result: StudyResult


@dataclass(frozen=True, eq=False, repr=False)
class MultistartResult:
    """What many searches found.

    Attributes
    ----------
    optima : tuple of Optimum
        Best first; those that keep the constraints and were found to be optima.
    others : int
        Searches that ended by a limit or stalled.
    failed : int
        Starts without a design that works.
    redrawn : int
        Designs that were drawn and did not work.
    problem : str
        Why the first of the starts that failed did.
    """

    optima: tuple[Optimum, ...]
    others: int
    failed: int
    redrawn: int
    starts: int
    evaluations: int
    seconds: float
    log: object = None
    problem: str = ""

    @property
    def best(self) -> StudyResult | None:
        """The best optimum; None when no search found one."""
        return self.optima[0].result if self.optima else None

    def __repr__(self) -> str:
        best = f", the best {self.best.values['minimise']:.6g}" if self.optima else ""
        return f"<MultistartResult of {self.starts} starts: {len(self.optima)} optima{best}>"

    def to_dict(self) -> dict:
        """What the command line prints."""
        optima = [
            {"count": one.count, "minimise": one.result.values["minimise"], "variables": one.result.variables,
             "constraints": one.result.constraints, "active": one.result.active}
            for one in self.optima
        ]  # fmt: skip
        best = self.best.to_dict() if self.best else {"status": "stalled", "message": "no search found an optimum"}
        counts = {"starts": self.starts, "others": self.others, "failed": self.failed, "redrawn": self.redrawn,
                  "problem": self.problem}  # fmt: skip
        total = {
            "evaluations": self.evaluations,
            "seconds": self.seconds,
            "log": None if self.log is None else str(self.log),
        }
        return best | counts | total | {"optima": optima}


def multistart(study, backend: Backend, log, progress: Callable[[float], None] | None) -> MultistartResult:
    """Searches from the starts of a study; finished ones of a log are read, but those that ended at a smaller limit."""
    seed = study.description.multistart.seed
    drawn = starts(study.plans[0], study.description.multistart.starts, seed)
    jobs = [{"kind": "start", "job": k + 1, "seed": seed, "values": row.tolist()} for k, row in enumerate(drawn)]
    done = {}
    for job in jobs:
        known = log.finished.get(("result", job["job"], 0))
        found = known and _read(study, log, known)
        if found is not None and not _go_on(study, found):
            done[job["job"]] = found
    left = [job for job in jobs if job["job"] not in done]
    for job, found in backend.run(study, left):
        done[job["job"]] = without_nan(found)
        log.write({"kind": "result", "job": job["job"], "stage": 0, "found": done[job["job"]]})
        if progress is not None:
            progress(len(done) / len(jobs))
    known = {k: log.finished[("result", k, 0)] for k in done.keys() - {job["job"] for job in left}}
    return _gathered(study, {job["job"]: done[job["job"]] for job in jobs}, log, known)


def _read(study, log, record: dict) -> dict:
    """What a record of a log says of one search."""
    found = typed(log, record, Start, record.get("found"))
    outcomes = record["found"]["outcomes"]
    if len(found["outcomes"]) not in (0, len(study.plans)):
        raise log.refused(record, f"has {len(outcomes)} stages, and the study has {len(study.plans)}")
    for plan, one in zip(study.plans, outcomes, strict=False):
        outcome(log, record, one, plan)
    return record["found"]


def _go_on(study, found: dict) -> bool:
    """Whether a stage of a search ended at a limit that is larger now."""
    stages = zip(found["outcomes"], study.plans, strict=False)
    return any(Outcome.read(one).goes_on(plan) for one, plan in stages)


def _gathered(study, found: dict[int, dict], log, read: dict[int, dict]) -> MultistartResult:
    """Outcomes with equal optima together; those that a log tells are computed once."""
    results = {
        job: StudyResult(tuple(study.plans), tuple(map(Outcome.read, entry["outcomes"])), log.path)
        for job, entry in found.items()
        if entry["outcomes"]
    }
    good = sorted(
        (job for job, r in results.items() if r.status == OPTIMUM), key=lambda k: results[k].values["minimise"]
    )
    groups: list[list[StudyResult]] = []
    for job in good:
        result = results[job]
        x = study.plan.variables.scaled(np.array(result.outcome.values))
        for group in groups:
            other = study.plan.variables.scaled(np.array(group[0].outcome.values))
            if np.abs(x - other).max() <= SAME * max(1.0, float(np.abs(other).max())):
                group.append(result)
                break
        else:
            if job in read:
                confirm(log, read[job], study.plan, result.outcome)
            groups.append([result])
    found, results = found.values(), results.values()
    return MultistartResult(
        tuple(Optimum(len(group), group[0]) for group in groups), len(results) - len(good), len(found) - len(results),
        sum(entry["redrawn"] for entry in found), len(found), sum(r.evaluations for r in results),
        sum(r.seconds for r in results), log.path, next((entry["problem"] for entry in found if entry["problem"]), ""),
    )  # fmt: skip
