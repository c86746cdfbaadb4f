"""A study beside its model: every name looked up, every number checked, all problems found at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from kinegrad.errors import ExpressionError, ModelError
from kinegrad.expressions.graph import Graph, scalarise_number
from kinegrad.expressions.syntax import Expression
from kinegrad.model.element import closest, dotted
from kinegrad.model.model import Finding, Model
from kinegrad.model.parameters import Parameters
from kinegrad.model.simulation import Simulation
from kinegrad.model.values import identifier_problem
from kinegrad.optimize.description import Constraint, Description, SolverChoice
from kinegrad.optimize.goals import Goal, Names
from kinegrad.optimize.ordinates import Course, carried, course_of, resampled, with_ordinates
from kinegrad.optimize.residuals import ResidualPlan
from kinegrad.optimize.solvers import SOLVERS
from kinegrad.optimize.suitability import unsuited
from kinegrad.optimize.variables import Variables, collect

MARGIN = "assembly"


@dataclass(frozen=True, eq=False)
class CasePlan:
    """One simulation of the model: values of its parameters, and how it is done.  Without cases its name is empty."""

    name: str
    weight: float
    rho: np.ndarray
    simulation: Simulation


@dataclass(frozen=True, eq=False)
class Plan:
    """All that a search needs.

    Attributes
    ----------
    rho : (r,) array
        Values of the independent parameters in goals, but for the variables.
    goals : tuple of Goal
        What is minimised, one or several of which the largest counts; none where there are residuals.
    residuals : tuple of ResidualPlan
        Of which half the sum of squares is minimised.
    courses : dict name -> Course
        Of lists whose number of entries changes from stage to stage.
    """

    title: str
    model: Model
    analysis: str
    parameters: Parameters
    rho: np.ndarray
    variables: Variables
    cases: tuple[CasePlan, ...]
    names: Names
    goals: tuple[Goal, ...]
    scale: float | None
    constraints: Mapping[str, Constraint]
    solver: SolverChoice
    residuals: tuple[ResidualPlan, ...] = ()
    with_margin: bool = False
    courses: Mapping[str, Course] = field(default_factory=dict)
    systems: dict = field(default_factory=dict)  # made once, by coordinates and objectives
    positions: Mapping[str, Any] = field(
        default_factory=dict
    )  # by case: the start is assembled near these, else by poses

    @property
    def n_goals(self) -> int:
        """How many functions are minimised: half the sum of squared residuals is one."""
        return len(self.goals) or 1

    @property
    def margin(self) -> int | None:
        """The place of the margin of assembly among the goals; None where none is asked for."""
        return self.n_goals + list(self.constraints).index(MARGIN) if self.with_margin else None

    def carried(self, before: Plan, values) -> np.ndarray:
        """Values of the variables that stand for those of another stage: the same, but for lists of another length."""
        given = np.asarray(values, float)
        if not self.courses:
            return given
        found, there = np.empty(len(self.variables)), before.variables.entries
        for name, own in self.variables.entries.items():
            part = given[there[name]]
            if name in self.courses:
                found[own] = carried(before.courses[name], self.courses[name], part)
                found[own] = np.where(self.variables.log[own], np.maximum(found[own], part.min()), found[own])
            else:
                found[own] = part
        return np.clip(found, self.variables.lower, self.variables.upper)

    def started_at(self, values: np.ndarray, positions: Mapping[str, Any] | None = None) -> Plan:
        """The same with another start, on the branch of positions (of each case) that are known there."""
        values = np.clip(values, self.variables.lower, self.variables.upper)
        return replace(self, variables=replace(self.variables, start=values), positions=positions or {})

    def shares_coordinates(self, other: Plan) -> bool:
        """Whether positions of another stage are those of this one."""
        return [one.simulation.coordinates for one in self.cases] == [one.simulation.coordinates for one in other.cases]


class _Checks:
    """One pass over one study."""

    def __init__(self, model: Model, study: Description):
        self.model, self.study = model, study
        self.findings: list[Finding] = []

    def add(self, path: tuple, fragment: str) -> None:
        self.findings.append((path, f"{dotted(path)} {fragment}"))

    def with_values(self, model: Model, path: tuple, variant: str | None, values: Mapping[str, Any]) -> Model:
        """`model` with a variant and with values; what cannot be set is a finding."""
        try:
            model = model if variant is None else model.with_variant(variant)
        except ModelError as error:
            self.findings.append(((*path, "variant"), f"{dotted((*path, 'variant'))}: {error.problems[0].sentence}"))
        for name, value in values.items():
            try:
                model = model.with_values(**{name: value})
            except ModelError as error:
                where = (*path, "set", name)
                self.findings.append((where, f"{dotted(where)}: {error.problems[0].sentence}"))
        return model

    def simulation(self, base: Simulation, path: tuple, changes: Mapping[str, Any]) -> Simulation:
        """`base` with other values of some keys; what is wrong is a finding."""
        try:
            return base.with_(**changes) if changes else base
        except ModelError as error:
            for problem in error.problems:
                text = problem.sentence.removeprefix("Simulation").lstrip(".")
                self.findings.append(((*path, "simulation"), f"{dotted((*path, 'simulation'))}.{text}"))
            return base

    def times(self, path: tuple, simulation: Simulation, parameters: Parameters, variables: Variables | None) -> None:
        """A run is differentiated with its times held, so these may not follow variables; t_end has to be there."""
        if simulation.t_end is None and self.study.analysis != "equilibrium":
            self.add(path, "has no t_end, and neither has the model; add simulation: {t_end: ...}.")
        for key in ("t_end", "step", "output_step"):
            value = getattr(simulation, key)
            if variables is None or not isinstance(value, Expression):
                continue
            try:
                moved = [label for label in variables.labels if label in parameters.behind(value)]
            except ExpressionError as error:
                self.add((*path, key), f"is {str(value)!r}, which cannot be used: {error}")
                continue
            if moved:
                self.add(
                    (*path, key),
                    f"is {str(value)!r} and follows the variable {moved[0]!r}: a run is differentiated with its times held; "
                    f"give simulation: {{{key}: a number}}.",
                )

    def can_run(self, path: tuple, model: Model, simulation: Simulation) -> None:
        """A model with the values and the simulation of a study, a stage or a case is in order; what is not is a finding."""
        trial = model.copy()
        trial.simulation = simulation
        begin = f"{dotted(path)}: " if path else ""
        for problem in trial.problems():
            place = "simulation" if problem.where.startswith("simulation") else "set"
            self.findings.append(((*path, place), f"{begin}{problem.sentence}"))

    def goal(self, path: tuple, goal: Goal, names: Names) -> None:
        """Every name of a goal is an objective or a parameter."""
        graph = Graph()
        try:
            scalarise_number(goal.expression, graph, names.resolver(graph))
        except ExpressionError as error:
            self.add(path, f"is {goal.text!r}: {error.problems[0].sentence}")

    def objective_names(self) -> tuple[str, ...]:
        twice = [name for name in self.model.objectives if name in self.model.parameters]
        for name in twice:
            self.findings.append(((), f"{name!r} is an objective and a parameter of the model; rename one of them."))
        for name in ("minimise",):
            if name in self.model.objectives or name in self.study.constraints:
                self.findings.append(
                    ((), f"{name!r} names what is minimised; call the objective or constraint otherwise.")
                )
        return tuple(self.model.objectives)

    def plan(self, stage: int = 0) -> Plan | None:
        study = self.study
        model = self.with_values(self.model, (), study.variant, study.set)
        base = self.simulation(model.simulation, (), study.simulation)
        if study.stages:
            here = study.stages[stage]
            model = self.with_values(model, ("stages", stage), None, here.set)
            base = self.simulation(base, ("stages", stage), here.simulation)
        variables = self.variables(model)
        model, courses = self.with_ordinates(model, stage)
        parameters = Parameters(model.parameters)
        rho = parameters.values()
        if variables is not None and courses:
            own = {
                name: resampled(one, *courses[name], rho[parameters.positions(parameters.expand(name))])
                if name in courses else one for name, one in study.variables.items()
            }  # fmt: skip
            variables, findings = collect(own, parameters, rho)
            self.findings += findings
        self.times(("stages", stage, "simulation") if study.stages else ("simulation",), base, parameters, variables)
        if not self.findings:
            self.can_run(("stages", stage) if study.stages else (), model, base)
        cases = self.cases(model, base, parameters, variables, rho)
        varied = self.varied(parameters, rho, cases)
        names = Names(self.objective_names(), parameters, {c.name: c.weight for c in cases if c.name}, varied)
        goals = self.goals(names)
        residuals = self.residuals(model, parameters, cases, stage == len(study.stages) - 1 or not study.stages)
        solver = self.solver(stage, variables)
        self.many(variables, parameters)
        if self.findings:
            return None
        return Plan(
            study.title or model.title, model, study.analysis, parameters, rho, variables, cases, names, goals,
            study.minimise and study.minimise.scale, self.constraints(), solver, residuals, study.assembly is not None,
            {name: new for name, (_, new) in courses.items()},
        )  # fmt: skip

    def variables(self, model: Model) -> Variables | None:
        """The variables with the lists of the model; None where something is wrong with them."""
        parameters = Parameters(model.parameters)
        found, findings = collect(self.study.variables, parameters, parameters.values())
        self.findings += findings
        return found

    def with_ordinates(self, model: Model, stage: int) -> tuple[Model, dict[str, tuple[Course, Course]]]:
        """The model with as many ordinates as a stage has, and the courses of such lists in the model and in the stage."""
        found: dict[str, tuple[Course, Course]] = {}
        for name in dict.fromkeys(name for one in self.study.stages for name in one.ordinates):
            here = self.study.stages[stage].ordinates
            at = stage if name in here else next(k for k, one in enumerate(self.study.stages) if name in one.ordinates)
            path = ("stages", at, "ordinates", name)
            if name not in self.study.variables:
                self.add(path, "does not vary as a whole list; add it to variables, or leave it out.")
                continue
            for where, goal in self.every_goal():
                if any(one == name and index is not None for one, index in goal.expression.references):
                    self.add(
                        where, f"is {goal.text!r}, which names an entry of {name!r}, whose number of entries changes."
                    )
            try:
                old = course_of(model, name)
                model = model if name not in here else with_ordinates(model, name, here[name])
                found[name] = old, course_of(model, name)
            except ValueError as error:
                self.add(path, str(error))
        return model, found

    def every_goal(self):
        """Paths and goals of what is minimised and limited."""
        if self.study.minimise is not None:
            for goal in self.study.minimise.largest_of or (self.study.minimise.value,):
                yield ("minimise",), goal
        for name, constraint in self.study.constraints.items():
            yield ("constraints", name, "value"), constraint.value

    def cases(self, model, base, parameters, variables, rho) -> tuple[CasePlan, ...]:
        if not self.study.cases:
            return (CasePlan("", 1.0, rho, base),)
        found, sound = [], not self.findings
        moving = set(variables.labels) if variables else set()
        for name, case in self.study.cases.items():
            path = ("cases", name)
            wrong = identifier_problem(name)
            if wrong:
                self.add(path, wrong)
            given = {**(model.variants.get(case.variant) or {}), **case.set}
            for key in given:
                try:
                    both = moving.intersection(parameters.expand(key))
                except ModelError:
                    continue  # told by with_values
                if both:
                    where = (*path, "set", key) if key in case.set else (*path, "variant")
                    self.add(where, f"gives {key!r}, which varies; leave it to the solver, or do not vary it.")
            own = self.with_values(model, path, case.variant, case.set)
            simulation = self.simulation(base, path, case.simulation)
            self.times((*path, "simulation"), simulation, parameters, variables)
            if sound:
                self.can_run(path, own, simulation)
            found.append(CasePlan(name, case.weight, Parameters(own.parameters).values(), simulation))
        return tuple(found)

    @staticmethod
    def varied(parameters: Parameters, rho: np.ndarray, cases: tuple[CasePlan, ...]) -> dict[str, str]:
        """Labels of parameters that have another value in a case, with the name of one."""
        return {
            parameters.independent[k]: case.name for case in cases for k in np.flatnonzero(case.rho != rho).tolist()
        }

    def goals(self, names: Names) -> tuple[Goal, ...]:
        study = self.study
        several = study.minimise and study.minimise.largest_of
        where, goals = ("minimise", "largest_of"), several
        if study.front is not None:
            where, goals = ("front", "goals"), study.front.goals
        elif several is None:
            goals = () if study.minimise is None else (study.minimise.value,)
        for k, goal in enumerate(goals):
            self.goal(("minimise",) if where[0] == "minimise" and several is None else (*where, k), goal, names)
        texts = [goal.text for goal in goals]
        for k, text in enumerate(texts):
            if text in texts[:k]:
                self.add((*where, k), f"is {text!r}, which stands twice; leave one out.")
        for name, constraint in study.constraints.items():
            wrong = identifier_problem(name)
            if wrong:
                self.add(("constraints", name), wrong)
            if name in study.variables:
                self.add(("constraints", name), "has the name of a variable; rename it.")
            if study.sweep is not None and several is not None and name in texts:
                self.add(("constraints", name), "has the name of one of several goals of a sweep; rename it.")
            self.goal(("constraints", name, "value"), constraint.value, names)
        return tuple(goals)

    def residuals(self, model: Model, parameters: Parameters, cases: tuple[CasePlan, ...], last: bool):
        """Measured signals: each is a formula of the model, its times are within the run of its case.

        Stages before the last one, whose runs may be shorter, use the data within these.
        """
        found, by_name = [], {case.name: case for case in cases}
        if self.study.residuals and self.study.analysis == "equilibrium":
            self.add(
                ("residuals",), "are of signals over time, and an equilibrium has none; use objectives and minimise."
            )
            return ()
        signals: dict[str, str] = {}
        for name, residual in self.study.residuals.items():
            path, case = ("residuals", name), residual.case or ""
            wrong = identifier_problem(name)
            if wrong:
                self.add(path, wrong)
            if case not in by_name:
                known = ", ".join(self.study.cases) or "none"
                text = (
                    f"is of the case {case!r}, which is not there" if case else "names no case, and the study has cases"
                )
                self.add(path, f"{text}; give case: NAME (cases: {known}).")
                continue
            try:
                signal = model.signals.canonical(residual.signal)
            except ModelError as error:
                self.add((*path, "signal"), f"is {residual.signal!r}: {error.problems[0].sentence}")
                continue
            if model.signals[signal].use == "solved":
                text = "forces of constraints go into objectives."
                self.add((*path, "signal"), f"is {residual.signal!r}, of which no residual can be made: {text}")
                continue
            objective = signals.setdefault(signal, f"residual__{len(signals)}")
            trial = model.copy()
            trial.objectives = {objective: {"final": signal}}
            try:
                trial.check()
            except ModelError as error:
                text = error.problems[0].sentence
                self.add((*path, "signal"), f"is {residual.signal!r}, of which no residual can be made: {text}")
                continue
            t, values, sigma = np.array(residual.t), np.array(residual.values), residual.sigma
            sigma = None if sigma is None else np.full(len(t), sigma)
            end = self.end_of(by_name[case], parameters)
            inside = (t >= 0.0) & (t <= end * (1.0 + 1e-12))
            if (last and not inside.all()) or not inside.any():
                first = t[~inside][0]
                self.add(
                    (*path, "t"),
                    f"has data at t = {first:g} s, and the run is from 0 to {end:g} s; leave it out, or change t_end.",
                )
                continue
            sigma = None if sigma is None else sigma[inside]
            found.append(ResidualPlan(name, signal, objective, t[inside], values[inside], sigma, case))
        known = {one.sigma is None for one in found}
        if len(known) > 1:
            lacks = next(one.name for one in found if one.sigma is None)
            self.add(("residuals", lacks), "has no sigma, and others have; give it to all of them, or to none.")
        return tuple(found)

    @staticmethod
    def end_of(case: CasePlan, parameters: Parameters) -> float:
        """The time at which the run of a case ends; infinite where it is not known yet."""
        end = case.simulation.t_end
        if end is None:
            return float("inf")
        return float(parameters.evaluate(end, case.rho)) if isinstance(end, Expression) else float(end)

    def constraints(self) -> dict[str, Constraint]:
        """Those of the study, and the margin of assembly, whose value no expression gives."""
        found, margin = dict(self.study.constraints), self.study.assembly
        if margin is not None:
            found[MARGIN] = Constraint(value=0.0, at_least=margin.at_least)
        return found

    def many(self, variables: Variables | None, parameters: Parameters) -> None:
        """What concerns many runs: one kind of them, and tolerances of variables."""
        study = self.study
        if study.assembly is not None and study.analysis == "equilibrium":
            self.add(
                ("assembly",), "is of simulations and motions by drivers, and this is an equilibrium; leave it out."
            )
        if study.assembly is not None and MARGIN in study.constraints:
            self.add(("constraints", MARGIN), "has the name of the margin of assembly; rename it.")
        if study.multistart is not None and study.sweep is not None:
            self.add(("sweep",), "and multistart stand in one study; make two of them.")
        if study.sweep is not None and study.stages:
            self.add(("sweep",), "and stages stand in one study, and a sweep has none; make two of them.")
        for key in ("multistart", "sweep", "stages"):
            if study.front is not None and getattr(study, key):
                self.add(("front",), f"and {key} stand in one study; make two of them.")
        if study.tolerances and study.sweep is None:
            self.add(("tolerances",), "need a sweep; add sweep: {type: monte-carlo, points: 1000}.")
        if study.sweep is not None and study.sweep.type == "monte-carlo" and not study.tolerances:
            self.add(("sweep",), "is monte-carlo and needs tolerances: {parameter: {sigma: ...}} or {half_width: ...}.")
        toleranced: set[str] = set()
        for name in study.tolerances if variables is not None else ():
            try:
                own = parameters.expand(name)
            except ModelError as error:
                self.findings.append((("tolerances", name), f"tolerances.{name}: {error.problems[0].sentence}"))
                continue
            fixed = [label for label in own if label not in variables.labels]
            twice = [label for label in own if label in toleranced]
            if fixed:
                self.add(("tolerances", name), f"is of {fixed[0]!r}, which does not vary; add it to variables.")
            elif twice:
                self.add(("tolerances", name), f"is of {twice[0]!r}, which has one already; keep one of the two.")
            toleranced.update(own)

    def solver(self, stage: int, variables: Variables | None) -> SolverChoice:
        solver, path = self.study.solver, ("solver",)
        if self.study.stages and self.study.stages[stage].solver:
            path = ("stages", stage, "solver")
            try:
                solver = solver.with_(**self.study.stages[stage].solver)
            except ModelError as error:
                for problem in error.problems:
                    text = problem.sentence.removeprefix("SolverChoice").lstrip(".")
                    self.findings.append((path, f"{dotted(path)}.{text}"))
        if solver.type not in SOLVERS:
            self.add(
                (*path, "type"),
                f"is {solver.type!r}, which is no solver{closest(solver.type, SOLVERS)}; choose from {', '.join(SOLVERS)}.",
            )
        elif self.study.sweep is None and (self.study.front is None or self.study.front.how == "limits"):
            for why in unsuited(solver, self.study, variables):
                self.add((*path, "type"), f"is {solver.type!r}, which {why}")
        return solver


def plans(model: Model, study: Description) -> tuple[list[Plan], list[Finding]]:
    """A plan for each stage (one without stages), and everything that is wrong."""
    checks = _Checks(model, study)
    found = [checks.plan(k) for k in range(max(1, len(study.stages)))]
    unique = list(dict.fromkeys(checks.findings))
    return ([] if unique else found), unique
