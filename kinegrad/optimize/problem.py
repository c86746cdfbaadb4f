"""StudyProblem: what solvers see; one forward run and one pass of derivatives for each design (OPT-3)."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.sizes import PART, objective_sizes
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.kinematics.start import place, usual_moves
from kinegrad.model.varying_bodies import VaryingBodies
from kinegrad.optimize.analyses import ANALYSES, cheaper
from kinegrad.optimize.branch import JUMP, STEP, distance, follow
from kinegrad.optimize.continuation import Substitute, continued
from kinegrad.optimize.evaluation import Evaluation, Memory
from kinegrad.optimize.goals import GoalMap
from kinegrad.optimize.margin import margin
from kinegrad.optimize.plan import CasePlan, Plan
from kinegrad.optimize.residuals import Fits
from kinegrad.optimize.second import SecondDerivatives, symmetric

NOTHING = 1e-12  # of the unit of a goal in sizes of the model: rounding
SAME = 1e-6  # of usual moves: positions that are one


class Limit(Exception):
    """As many designs were tried as allowed."""


class CaseRuns:
    """One case of a study: its system, and what is computed of it."""

    def __init__(self, plan: Plan, case: CasePlan, objectives: list[str], systems: dict, whole: bool = True):
        self.case, self.plan, self.whole = case, plan, whole
        coordinates = case.simulation.coordinates
        key = (coordinates.type, tuple(sorted(coordinates.options().items())), tuple(objectives))
        if key not in systems:
            model = plan.model.copy()
            signals = {one.objective: {"final": one.signal} for one in plan.residuals}
            model.objectives = {name: plan.model.objectives[name] for name in objectives} | signals
            model.simulation = case.simulation
            systems[key] = lower(model)
        self.system = systems[key]
        self.fits = Fits([one for one in plan.residuals if one.case == case.name])
        self.analysis = ANALYSES[plan.analysis](case.simulation)
        assembled = plan.analysis == "kinematics" or (
            plan.analysis == "dynamics" and case.simulation.start == "assembly"
        )
        self._compute = self.analysis.run if whole else self.analysis.begin
        self.follows = assembled and self.system.m > 0
        self.moves: np.ndarray | None = None

    def at(self, values: np.ndarray):
        """The system with these values of the variables."""
        rho = self.case.rho.copy()
        rho[self.plan.variables.positions] = values
        return self.system.with_parameters(rho)

    def run(self, values: np.ndarray, near: Evaluation | None):
        """What the analysis finds, on the branch of `near`; a KinegradError where the design does not work."""
        system = self.at(values)
        before = near.positions.get(self.case.name) if near is not None else None
        if before is None or not self.follows:
            return self._compute(system, before)
        if self.moves is None:
            work = self.system.workspace()
            place(self.system, work)
            self.moves = usual_moves(self.system, work)
        try:
            found = self._compute(system, before)
            if distance(found.q, before, self.moves) <= STEP:
                return found
        except AssemblyError:
            found = None
        q = follow(self._on_line(near.values, values), before, self.moves)
        if found is not None and distance(found.q, q, self.moves) <= SAME:
            return found
        found = self._compute(system, q)
        if distance(found.q, q, self.moves) > SAME:
            raise AssemblyError(JUMP)
        return found

    def _on_line(self, start: np.ndarray, end: np.ndarray) -> Callable:
        return lambda part, guess: self.analysis.position(self.at(start + part * (end - start)), guess)


class StudyProblem:
    """A study as solvers see it: scaled numbers in, finite scaled numbers out.

    Attributes
    ----------
    n : int
        Variables.
    start, lower, upper : (n,) arrays
        Scaled; bounds may be infinite.
    constraint_lower, constraint_upper : (c,) arrays
        Scaled limits of the constraints; equal ones are an equation.
    evaluations, failures, beside : int
        Designs tried, those that did not work, and those only tried for second derivatives.

    `value`, `gradient`, `constraints` and `jacobian` take x and may be asked for in any order: a design is simulated once.
    Where it does not work they give a continuation from the nearest one that does.  `hessian_product` and `hessian` have second
    derivatives, each product at the cost of two designs with their gradients.
    """

    def __init__(
        self, plan: Plan, *, observe: Callable | None = None, limit: int | None = None, scales: np.ndarray | None = None
    ):
        self.plan, self.variables = plan, plan.variables
        self.n = len(plan.variables)
        self.start = plan.variables.scaled(plan.variables.start)
        self.lower, self.upper = plan.variables.bounds
        self.map = GoalMap([*plan.goals, *(c.value for c in plan.constraints.values())], plan.names)
        self.n_goals = plan.n_goals
        self.all_cases = self._cases_of(plan)
        self._cases = [(runs, places) for runs, places in self.all_cases if runs.whole]
        self._bodies = VaryingBodies(plan.model, plan.parameters, plan.variables.labels)
        self.memory = Memory()
        self.evaluations = self.failures = self.gradients = self.beside = 0
        self.limit, self.observe = limit, observe
        self.anchor: Evaluation | None = None
        if plan.positions:
            own, known = plan.variables.start, {name: np.array(q) for name, q in plan.positions.items()}
            self.anchor = Evaluation(0, self.start, own, plan.variables.named(own), positions=known)
        self._scales = None if scales is None else np.array(scales)
        self._substitutes: dict[bytes, Substitute] = {}
        self.second = SecondDerivatives(self)

    def _cases_of(self, plan: Plan) -> list[tuple[CaseRuns, list[int]]]:
        """All cases, with the places of their objectives among those of the goals; those that no goal uses only begin."""
        split = [name.partition("@") for name in self.map.objectives]
        used = list(dict.fromkeys(name for name, _, _ in split))
        found = []
        for case in plan.cases:
            places = [k for k, (_, _, of) in enumerate(split) if of == case.name]
            whole = bool(places) or plan.margin is not None or any(one.case == case.name for one in plan.residuals)
            found.append((CaseRuns(plan, case, used, plan.systems, whole), places))
        return found

    # --- evaluations ---

    def evaluate(self, x: np.ndarray, gradient: bool = False) -> Evaluation:
        """The evaluation at x, computed once; with its derivatives when these are asked for."""
        x = np.array(x, float)
        found = self.memory.get(x)
        if found is None:
            self._count()
            found = self._computed(x)
            self.memory.put(found)
            if found.ok and self.anchor is None:
                self.anchor = found
            if gradient and found.ok:
                self._differentiate(found)
            if self.observe is not None:
                self.observe(found)
        elif gradient and found.ok and found.jacobian is None:
            self._differentiate(found)
            if self.observe is not None:
                self.observe(found)
        return found

    def _count(self) -> None:
        """Raises where no more designs may be tried."""
        if self.limit is not None and self.evaluations + self.beside >= self.limit:
            raise Limit

    def slopes_beside(self, x: np.ndarray, near: Evaluation) -> np.ndarray:
        """(g, n) scaled derivatives at a design near another; it is not remembered.  A KinegradError where it does not work."""
        self._count()
        self.beside += 1
        values = self.variables.values(x)
        found = Evaluation(0, x, values, self.variables.named(values))
        self._refuse_bodies(values)
        self._run(found, near)
        if found.ok:
            self._differentiate(found)
        if not found.ok:
            self.failures -= 1  # of designs that solvers see
            raise KinegradError(found.problem)
        return self.scaled_jacobian(found)

    def differentiated(self, found: Evaluation) -> bool:
        """Whether an evaluation has derivatives, or gets them now."""
        if found.ok and found.jacobian is None:
            self._differentiate(found)
            if self.observe is not None:
                self.observe(found)
        return found.ok

    def recall(self, found: Evaluation) -> Evaluation:
        """An evaluation that may have been forgotten, remembered again."""
        self.memory.put(found)
        return found

    def _computed(self, x: np.ndarray) -> Evaluation:
        clock = time.perf_counter()
        self.evaluations += 1
        values = self.variables.values(x)
        found = Evaluation(self.evaluations, x, values, self.variables.named(values))
        try:
            self._refuse_bodies(values)
            self._run(found, self.nearest(x))
        except KinegradError as error:
            self._fail(found, error.problems[0].sentence, getattr(error, "reached", 0.0))
        found.seconds = time.perf_counter() - clock
        return found

    def _fail(self, found: Evaluation, why: str, reached: float = 0.0) -> None:
        found.status, found.problem, found.reached = "failed", why, reached
        found.found = None
        self.failures += 1

    def _run(self, found: Evaluation, near: Evaluation | None) -> None:
        objectives = np.zeros(len(self.map.objectives))
        found.found = {}
        for runs, places in self.all_cases:
            result = self._result(runs, found.values, near)
            found.positions[runs.case.name] = np.array(result.q)
            if runs.whole:
                found.found[runs.case.name] = result
            for k in places:
                objectives[k] = result.objectives[self.map.objectives[k].partition("@")[0]]
        found.objectives = dict(zip(self.map.objectives, objectives.tolist(), strict=True))
        found.goals = self.map.values(objectives, self._rho(found.values))
        if self.plan.residuals:
            with np.errstate(all="ignore"):
                parts = [runs.fits.values(found.found[runs.case.name]) for runs, _ in self._cases if runs.fits.size]
                found.residuals = np.concatenate(parts)
                found.goals = np.append(0.5 * found.residuals @ found.residuals, found.goals)
        if self.plan.margin is not None:
            found.margin = min((margin(one.result) for one in found.found.values()), key=lambda one: one.value)
            found.goals[self.plan.margin] = found.margin.value
        finite = np.isfinite(found.goals)
        if not finite.all():
            self._fail(
                found, f"{self.goal_names[finite.argmin()]} is infinite or not a number with {found.parameters}."
            )

    @staticmethod
    def _result(runs: CaseRuns, values: np.ndarray, near: Evaluation | None):
        """What the analysis of a case finds; what fails names the case."""
        try:
            return runs.run(values, near)
        except KinegradError as error:
            if not runs.case.name:
                raise
            named = KinegradError(f"In case {runs.case.name!r}: {error.problems[0].sentence}")
            named.reached = getattr(error, "reached", 0.0)
            raise named from error

    @property
    def goal_names(self) -> list[str]:
        """What is minimised, then the constraints, for people."""
        aims = [f"{goal.text!r}" for goal in self.plan.goals] or ["the sum of squared residuals"]
        return [*aims, *(f"constraint {c!r}" for c in self.plan.constraints)]

    def _rho(self, values: np.ndarray) -> np.ndarray:
        rho = self.plan.rho.copy()
        rho[self.variables.positions] = values
        return rho

    def _refuse_bodies(self, values: np.ndarray) -> None:
        """Raises where a body would have a mass or an inertia that no body has."""
        for case in self.plan.cases if self._bodies.names else ():
            rho = case.rho.copy()
            rho[self.variables.positions] = values
            self._bodies.refuse(rho)

    def _differentiate(self, found: Evaluation) -> None:
        """Adds the derivatives to an evaluation that worked; where there are none, it failed."""
        clock = time.perf_counter()
        self.gradients += 1
        try:
            if found.found is None:  # forgotten since
                self._run(found, found)
            objectives = np.array(list(found.objectives.values()))
            by_x = np.zeros((len(objectives), self.n))
            for runs, places in self._cases:
                if not places:
                    continue
                names = list(runs.system.objectives)
                method = self.plan.solver.gradient
                method = cheaper(self.n, len(names)) if method == "auto" else method
                matrix = found.found[runs.case.name].gradient(self.variables.labels, method)
                for k in places:
                    by_x[k] = matrix[names.index(self.map.objectives[k].partition("@")[0])]
            by_objectives, by_rho = self.map.jacobians(objectives, self._rho(found.values))
            jacobian = by_objectives @ by_x + by_rho[:, self.variables.positions]
            if self.plan.residuals:
                found.residual_jacobian = self._residual_slopes(found)
                jacobian = np.vstack([found.residuals @ found.residual_jacobian, jacobian])
            if found.margin is not None:
                scale = self.variables.slopes(found.values)
                jacobian[self.plan.margin] = found.margin.slopes(self.variables.labels, scale)
            if not np.isfinite(jacobian).all():
                raise KinegradError(f"A derivative of the study is infinite or not a number with {found.parameters}.")
            found.jacobian, found.found, found.margin = jacobian, None, None
        except KinegradError as error:
            self._fail(found, error.problems[0].sentence)
        found.seconds += time.perf_counter() - clock

    def _residual_slopes(self, found: Evaluation) -> np.ndarray:
        """(r, n) derivatives of the residuals by the variables, in their units."""
        labels = self.variables.labels
        fits = [(runs.fits, found.found[runs.case.name]) for runs, _ in self._cases if runs.fits.size]
        return np.concatenate([fit.slopes(result, labels) for fit, result in fits])

    def nearest(self, x: np.ndarray) -> Evaluation | None:
        """The design nearest to x that works, of those that are remembered."""
        good = self.memory.good() or ([self.anchor] if self.anchor is not None else [])
        if len(good) < 2:
            return good[0] if good else None
        away = np.array([one.x for one in good]) - x
        return good[int((away * away).sum(axis=1).argmin())]

    # --- what solvers ask ---

    @property
    def scales(self) -> np.ndarray:
        """(g,) what goals are divided by: sizes at the start (OPT-4)."""
        if self._scales is None:
            self._scales = self._sizes(self.evaluate(self.start, gradient=True))
        return self._scales

    def _sizes(self, first: Evaluation) -> np.ndarray:
        if not first.ok:
            raise KinegradError(
                f"The start of the study does not work: {first.problem} It is {listed(first.parameters)}; give another start."
            )
        slopes = np.abs(first.jacobian * self.variables.slopes(first.values)).max(axis=1, initial=0.0)
        sizes = np.maximum(np.abs(first.goals), slopes)
        for k, constraint in enumerate(self.plan.constraints.values(), self.n_goals):
            limits = [abs(limit) for limit in constraint.limits if np.isfinite(limit)]
            sizes[k] = constraint.scale or max(sizes[k], *limits)
        sizes[: self.n_goals] = self.plan.scale or sizes[: self.n_goals].max(initial=0.0)
        usual = self._usual(first)
        return np.where(sizes > NOTHING * usual, sizes, usual)

    def _usual(self, first: Evaluation) -> np.ndarray:
        """(g,) sizes of goals whose objectives have their units in sizes of the model, with the time of a run to its end; 1
        where they use none."""
        sizes = np.zeros(len(self.map.objectives))
        for runs, places in self._cases:
            own = runs.system.model_sizes
            own = objective_sizes(runs.system, own._replace(time=own.time / PART))
            of = dict(zip(runs.system.objectives, own, strict=True))
            for k in places:
                sizes[k] = of[self.map.objectives[k].partition("@")[0]]
        by_objectives, _ = self.map.jacobians(np.array(list(first.objectives.values())), self._rho(first.values))
        usual = np.abs(by_objectives) @ sizes
        return np.concatenate([np.ones(len(first.goals) - len(usual)), np.where(usual > 0.0, usual, 1.0)])

    @property
    def constraint_limits(self) -> tuple[np.ndarray, np.ndarray]:
        """Scaled limits of the constraints."""
        limits = np.array([c.limits for c in self.plan.constraints.values()]).reshape(-1, 2)
        return tuple(limits.T / self.scales[self.n_goals :])

    def goals(self, x: np.ndarray) -> np.ndarray:
        """(g,) scaled goals, or their continuation."""
        found = self.evaluate(x)
        if found.ok:
            return found.goals / self.scales
        return self.substitute(found).goals

    def slopes(self, x: np.ndarray) -> np.ndarray:
        """(g, n) scaled derivatives of the goals, or of their continuation."""
        found = self.evaluate(x, gradient=True)
        if found.ok:
            return self.scaled_jacobian(found)
        return self.substitute(found).jacobian

    def scaled_jacobian(self, found: Evaluation) -> np.ndarray:
        """(g, n) derivatives of the scaled goals by the scaled variables, of an evaluation that has them."""
        return found.jacobian * self.variables.slopes(found.values) / self.scales[:, None]

    def substitute(self, found: Evaluation) -> Substitute:
        """What a solver is told of a design that does not work."""
        key = found.x.tobytes()
        if key not in self._substitutes:
            if len(self._substitutes) > 64:
                self._substitutes.clear()
            self._substitutes[key] = continued(self, found)
        return self._substitutes[key]

    def value(self, x: np.ndarray) -> float:
        """What is minimised, scaled; of several the largest."""
        return float(self.goals(x)[: self.n_goals].max())

    def gradient(self, x: np.ndarray) -> np.ndarray:
        """(n,) its derivatives."""
        slopes = self.slopes(x)
        return slopes[int(self.goals(x)[: self.n_goals].argmax())]

    def constraints(self, x: np.ndarray) -> np.ndarray:
        """(c,) the constraints, scaled; to be within `constraint_limits`."""
        return self.goals(x)[self.n_goals :]

    def jacobian(self, x: np.ndarray) -> np.ndarray:
        """(c, n) their derivatives."""
        return self.slopes(x)[self.n_goals :]

    def hessian_product(self, x: np.ndarray, v: np.ndarray, multipliers: np.ndarray | None = None) -> np.ndarray:
        """(n,) second derivatives of `value`, times v; with (c,) multipliers, of `value` + multipliers · `constraints`."""
        rows = self.second.along(x, v)
        top = int(self.goals(x)[: self.n_goals].argmax())
        found = rows[top]
        return found if multipliers is None else found + np.asarray(multipliers) @ rows[self.n_goals :]

    def hessian(self, x: np.ndarray, multipliers: np.ndarray | None = None) -> np.ndarray:
        """(n, n) the same as a symmetric matrix, from n products."""
        return symmetric(lambda v: self.hessian_product(x, v, multipliers), self.n)

    def residuals(self, x: np.ndarray) -> np.ndarray:
        """(r + 1,) the residuals, scaled so that half the sum of their squares is `value`; the last is zero where the design
        works, and what its continuation adds where it does not."""
        found = self.evaluate(x)
        if found.ok:
            return np.append(found.residuals, 0.0) / np.sqrt(self.scales[0])
        return self.substitute(found).residuals

    def residual_jacobian(self, x: np.ndarray) -> np.ndarray:
        """(r + 1, n) their derivatives."""
        found = self.evaluate(x, gradient=True)
        if found.ok:
            return self.scaled_residual_jacobian(found)
        return self.substitute(found).residual_jacobian

    def scaled_residual_jacobian(self, found: Evaluation) -> np.ndarray:
        """(r + 1, n) derivatives of the scaled residuals by the scaled variables, of an evaluation that has them."""
        slopes = found.residual_jacobian * self.variables.slopes(found.values) / np.sqrt(self.scales[0])
        return np.vstack([slopes, np.zeros(self.n)])

    def motion(self, values: np.ndarray, case: str):
        """What the analysis of a case gives with these values of the variables: a motion, all its states kept."""
        case = next(one for one in self.plan.cases if one.name == case)
        objectives = list(self.plan.model.objectives)
        runs = CaseRuns(self.plan, case, objectives, self.plan.systems)
        return runs.run(values, self.nearest(self.variables.scaled(values))).result

    def physical(self, x: np.ndarray) -> dict:
        """The parameters that x stands for, by name."""
        return self.variables.named(self.variables.values(x))


def listed(parameters: dict) -> str:
    """Some parameters with their values, for a sentence."""
    shown = [f"{name} = {value:.6g}" for name, value in parameters.items() if not isinstance(value, list)]
    return ", ".join(shown[:6]) or "a list of numbers"
