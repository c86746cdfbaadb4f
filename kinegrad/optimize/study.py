"""Study: a model, what may change in it, and what is wanted of it."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np

from kinegrad.errors import AccuracyWarning, KinegradError, ModelError, Problem
from kinegrad.model.element import dotted
from kinegrad.model.model import Finding, Model
from kinegrad.model.values import show
from kinegrad.optimize.description import Description, Many
from kinegrad.optimize.front import FrontResult, front, import_pymoo
from kinegrad.optimize.jobs import backend_of
from kinegrad.optimize.log import Log, NoLog, fingerprint, without_nan
from kinegrad.optimize.logged import confirm, confirm_goals, outcome, within
from kinegrad.optimize.multistart import MultistartResult, multistart
from kinegrad.optimize.plan import Plan
from kinegrad.optimize.problem import StudyProblem
from kinegrad.optimize.reading import VERSION, describe, read_document, read_study, read_text
from kinegrad.optimize.result import StudyResult
from kinegrad.optimize.search import Outcome, after, compared, search
from kinegrad.optimize.solvers import SOLVERS
from kinegrad.optimize.sweep import SweepResult, sweep

#: keys that change how a study is done, not what it asks
HOW = ("log", "title")
#: keys of multistart and sweep that do the same
WHERE = ("workers", "backend", "scheduler", "keep")


class ManyRuns(TypedDict, total=False):
    """What many searches and many designs have in common: how they are drawn, where they run, where they are recorded."""

    seed: int | None
    workers: int | None
    backend: str | None
    scheduler: str | None
    log: str | Path | None
    fresh: bool
    progress: Callable[[float], None] | None


class Study:
    """A model and what is asked of it: parameters that vary, what shall be small, and limits.

    Parameters
    ----------
    model : Model
    **keys
        Those of a study file: ``variables={"k": {"bounds": [1, 9]}}, minimise="miss"``.  ModelError lists all problems.
    """

    def __init__(self, model: Model, **keys: Any):
        if not isinstance(model, Model):
            raise ModelError(f"model is {show(model)}; give a kg.Model, as Model.from_yaml(path) reads it.")
        self.model = model
        self.description, self.plans, findings = describe(model, keys)
        _refuse(findings)

    @classmethod
    def _made(cls, model: Model, description: Description, plans: list[Plan]) -> Study:
        study = cls.__new__(cls)
        study.model, study.description, study.plans = model, description, plans
        return study

    @classmethod
    def from_yaml(cls, path: str | Path) -> Study:
        """The study in a file; ModelError lists all its problems with their lines."""
        return cls._made(*read_study(path))

    @classmethod
    def from_yaml_text(cls, text: str, folder: str | Path = ".") -> Study:
        """The study in a text of YAML; a model file is looked for from `folder`."""
        return cls._made(*read_text(text, Path(folder)))

    @classmethod
    def from_dict(cls, document: Mapping, folder: str | Path = ".") -> Study:
        """The study in a document such as a file holds."""
        *read, findings = read_document(document, Path(folder))
        _refuse(findings)
        return cls._made(*read)

    def to_dict(self) -> dict:
        """The document that describes the study, with its model inside."""
        return {"kinegrad_study": VERSION, "model": self.model.to_dict(), **_plain(self.description)}

    def __repr__(self) -> str:
        what = self.description.minimise
        goal = ", no single aim" if what is None else f", minimise {what.value or 'the largest of several'}"
        return f"<Study of {self.model.title or 'a model'!r}: {len(self.plan.variables)} variables{goal}>"

    @property
    def plan(self) -> Plan:
        """What is searched for at last: the plan of the last stage."""
        return self.plans[-1]

    @cached_property
    def fingerprint(self) -> str:
        """The same for studies that ask the same."""
        document = self.to_dict()
        for key in HOW:
            document.pop(key, None)
        for section in ("multistart", "sweep"):
            for key in WHERE if section in document else ():
                document[section].pop(key, None)
        for one in (document, *document.get("stages", ())):
            if one.get("solver", {}).pop("max_evaluations", None) is not None and not one["solver"]:
                del one["solver"]
        return fingerprint(document)

    def problem(self) -> StudyProblem:
        """What solvers see: for any solver you have."""
        return StudyProblem(self.plan)

    def with_solver(self, **changes: Any) -> Study:
        """The same study with other values of some keys of its solver."""
        changes = {key: value for key, value in changes.items() if value is not None}
        if not changes:
            return self
        keys = {name: getattr(self.description, name) for name in self.description.model_fields_set}
        try:
            solver = self.description.solver.with_(**changes)
        except ModelError as error:
            said = [one.sentence.removeprefix("SolverChoice").lstrip(".") for one in error.problems]
            raise ModelError(*(Problem(f"solver.{text}", "solver") for text in said)) from None
        return Study(self.model, **keys | {"solver": solver})

    def optimize(
        self,
        solver: str | None = None,
        *,
        tolerance: float | None = None,
        max_evaluations: int | None = None,
        log: str | Path | None = None,
        fresh: bool = False,
        progress: Callable[[int, float, float], None] | None = None,
    ) -> StudyResult:
        """The optimum, stage by stage.

        Parameters
        ----------
        solver, tolerance, max_evaluations : optional
            In the place of those of the study.
        log : path, optional
            Records every evaluation as a line of JSON (default: the study's `log`, if it has one).  Where it has records of
            the same study already, finished stages are read, and an unfinished one, or one that ended at a smaller limit of
            evaluations, goes on from its best design.
        fresh : bool
            Begin a new log.
        progress : callable, optional
            Called with the number of evaluations, the best value so far and its violation.
        """
        if self.description.front is not None:
            raise KinegradError("The study asks for a front and not for one optimum; use Study.front().")
        study = self.with_solver(type=solver, tolerance=tolerance, max_evaluations=max_evaluations)
        study._have_solvers()
        path = log if log is not None else study.description.log
        kept = NoLog() if path is None else Log(path, study.fingerprint, study.plan.title, fresh)
        with kept, _collected_warnings():
            outcomes = list(_stages(study.plans, kept, progress))
        return StudyResult(tuple(study.plans), tuple(outcomes), kept.path)

    def multistart(self, starts: int | None = None, **how: Unpack[ManyRuns]) -> MultistartResult:
        """Optima from many starts, drawn inside the bounds.

        Parameters
        ----------
        starts, seed, workers, backend, scheduler : optional
            In the place of those of the study's `multistart`.  Backends: serial, threads, processes, dask; a scheduler is the
            address of a Dask scheduler, or "local".
        log, fresh : as of `optimize`; a search that is finished is not done again.
        progress : callable, optional
            Called with the fraction done.
        """
        return self._many("multistart", multistart, {"starts": starts}, how)

    def sweep(self, type: str | None = None, points: int | None = None, **how: Unpack[ManyRuns]) -> SweepResult:
        """Goals of many designs: on a "grid", by "sobol", or as tolerances distribute them, "monte-carlo".

        The parameters are those of `multistart`; `points` counts along each variable of a grid, and all designs else.
        """
        return self._many("sweep", sweep, {"type": type, "points": points}, how)

    def front(
        self,
        goals: Sequence[str] | None = None,
        points: int | None = None,
        *,
        method: str | None = None,
        seed: int | None = None,
        log: str | Path | None = None,
        fresh: bool = False,
        progress: Callable[[float], None] | None = None,
    ) -> FrontResult:
        """Designs of which none is better in every goal than another.

        Parameters
        ----------
        goals : list of str
            Objectives or expressions that shall be small, in the place of what the study minimises.
        points : int
            Designs that are looked for.
        method : str
            "limits": the first goal is made small with limits on the second, by the study's solver and with gradients (default
            for two goals); "nsga2": a population without gradients, by pymoo, of as many designs as `max_evaluations`.
        seed, log, fresh, progress : as of `multistart`
        """
        given = {"goals": goals, "points": points, "method": method, "seed": seed}
        study = self._with("front", given, without=("minimise", "residuals"))
        if study.description.front.how == "limits":
            study._have_solvers()
        else:
            import_pymoo()
        return study._logged(front, log, fresh, progress)

    def _with(self, section: str, given: Mapping[str, Any], without: Sequence[str] = ()) -> Study:
        """The study with other values of keys of a section, which may be absent, and without some sections."""
        given = {key: value for key, value in given.items() if value is not None}
        before = getattr(self.description, section)
        if before is not None and not given:
            return self
        keys = {
            name: getattr(self.description, name) for name in self.description.model_fields_set if name not in without
        }
        own = {} if before is None else {name: getattr(before, name) for name in before.model_fields_set}
        return Study(self.model, **keys | {section: own | given})

    def _many(self, section: str, what: Callable, given: dict, how: ManyRuns):
        """Many searches or designs, as a section says and as is given in its place."""
        for key in how:
            if key not in ManyRuns.__annotations__:
                known = ", ".join((*given, *ManyRuns.__annotations__))
                raise TypeError(f"{section}() takes no {key!r}; it takes {known}.")
        where = {key: value for key, value in how.items() if key in Many.model_fields}
        study = self._with(section, given | where)
        one = getattr(study.description, section)
        if section == "multistart":
            study._have_solvers()
        backend = backend_of(one.backend, one.workers, one.scheduler)
        return study._logged(what, how.get("log"), how.get("fresh", False), how.get("progress"), backend)

    def _have_solvers(self) -> None:
        """Raises where the library of a solver is missing; before a log is begun."""
        for plan in self.plans:
            SOLVERS[plan.solver.type].library()

    def _logged(self, what: Callable, log, fresh: bool, progress, *more):
        """What a function gives of the study, some arguments, a log and whom to tell."""
        path = log if log is not None else self.description.log
        kept = NoLog() if path is None else Log(path, self.fingerprint, self.plan.title, fresh)
        with kept, _collected_warnings():
            return what(self, *more, kept, progress)


def _refuse(findings: list[Finding]) -> None:
    """Raises where something is wrong with a study."""
    if findings:
        raise ModelError(*(Problem(text, dotted(path)) for path, text in findings))


def _stages(stages: list[Plan], log, progress):
    """The outcome of each stage, from the optimum of the one before."""
    before: Outcome | None = None
    for number, plan in enumerate(stages):
        record = log.finished.get(("result", 0, number))
        known = record and outcome(log, record, record.get("outcome"), plan)
        if known is not None and not known.goes_on(plan):
            confirm(log, record, plan, known)
            before = known
            yield before
            continue
        if before is not None:
            plan = after(plan, stages[number - 1], before)
        seen, start, scales = log.best.get((0, number)), plan.variables.start.tolist(), None
        if seen is not None:
            plan, scales = _gone_on(plan, log, seen)
        found = search(plan, record=_Recorder(log, number, plan), progress=progress, scales=scales)
        before = replace(found, start=start)
        if number == len(stages) - 1 and (number or seen is not None):
            before = compared(before, stages)
        log.write({"kind": "result", "job": 0, "stage": number, "outcome": without_nan(before.plain())})
        yield before


def _gone_on(plan: Plan, log, record: dict) -> tuple[Plan, np.ndarray]:
    """The plan from the best design of a log, on the branch of its start and with the scales there."""
    best = within(log, record, plan, record["values"])
    problem = StudyProblem(plan)
    scales = problem.scales
    found = problem.evaluate(problem.variables.scaled(best))
    try:
        if "line" in record:
            confirm_goals(log, record, problem, found, record["goals"], scales)
    except KinegradError as error:  # the search goes on from what the model gives
        warnings.warn(str(error), AccuracyWarning, stacklevel=2)
    return (plan.started_at(best, found.positions) if found.ok else plan), scales


class _Recorder:
    """Writes evaluations of a stage to a log, each with its rank."""

    def __init__(self, log, stage: int, plan: Plan):
        self.log, self.stage, self.plan = log, stage, plan

    def __call__(self, found) -> None:
        merit = None
        if found.ok:
            k = self.plan.n_goals
            limits = np.array([c.limits for c in self.plan.constraints.values()]).reshape(-1, 2)
            over = np.maximum(limits[:, 0] - found.goals[k:], found.goals[k:] - limits[:, 1]).max(initial=0.0)
            feasible = over <= 1e-6 * max(1.0, float(np.abs(found.goals[k:]).max(initial=0.0)))
            merit = [0, float(found.goals[:k].max())] if feasible else [1, float(over)]
        self.log.evaluation(found, self.stage, merit)


class _collected_warnings:
    """Warnings of thousands of runs: each sentence once, by what it begins with."""

    def __enter__(self):
        self._catch = warnings.catch_warnings(record=True)
        self._list = self._catch.__enter__()
        warnings.simplefilter("always")

    def __exit__(self, *error):
        self._catch.__exit__(*error)
        seen: dict = {}
        for one in self._list:
            seen.setdefault((one.category, str(one.message)[:40]), []).append(one)
        for (category, _), many in seen.items():
            if not issubclass(category, RuntimeWarning):
                more = f" (and in {len(many) - 1} more runs)" if len(many) > 1 else ""
                warnings.warn(f"{many[0].message}{more}", category, stacklevel=3)


def _plain(value: Any) -> Any:
    """Elements of a description as a file has them."""
    from kinegrad.model.element import Element
    from kinegrad.optimize.goals import Goal

    if isinstance(value, Element):
        found = {
            name: _plain(getattr(value, name)) for name in type(value).model_fields if name in value.model_fields_set
        }
        return {key: entry for key, entry in found.items() if entry is not None}
    if isinstance(value, Goal):
        return value.text
    if isinstance(value, Mapping):
        return {key: _plain(entry) for key, entry in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    from kinegrad.expressions.syntax import Expression

    return str(value) if isinstance(value, Expression) else value
