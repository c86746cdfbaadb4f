"""Stepper: a run that is advanced step by step from Python, with the digits of `simulate`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.schemes import formulation_of, integrator_of, solved
from kinegrad.errors import AccuracyWarning, KinegradError, SimulationError, UnusedOptionWarning
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Steps
from kinegrad.kernels.formulations.objectives import SUM
from kinegrad.kernels.products import BIAS, DURATION, ENERGY, EVALUATE, FREEDOMS, OBSERVE, POSITION, TIME
from kinegrad.kernels.status import CALLBACK_FAILED, OK, WORDS
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.multipliers import least_norm
from kinegrad.kinematics.start import row_sizes
from kinegrad.kinematics.units import units_of
from kinegrad.model.slots import PartOfSlots
from kinegrad.model.varying_bodies import VaryingBodies
from kinegrad.motion import MarkerMotion, replay_states
from kinegrad.objectives import values_of
from kinegrad.program import program_without_end
from kinegrad.quiet import without_warnings
from kinegrad.reasons import reason
from kinegrad.starts import start_of
from kinegrad.times import given_time

AT_ONCE = 64  # steps in one call of compiled code
BROKEN = 1e-9  # part of what a row changes by when coordinates change by 1: it no longer holds


@dataclass(frozen=True)
class StepperState:
    """All that a run knows at one instant; `Stepper.restore` goes on from it with the same digits.

    Attributes
    ----------
    t : float
    steps : int
        Steps done since the start.
    parameters : (r,) array
        Values of the independent parameters.
    """

    t: float
    steps: int
    parameters: np.ndarray
    slots: np.ndarray
    row: np.ndarray
    psi: np.ndarray
    g_last: np.ndarray
    memory: tuple[np.ndarray, ...]
    scheme: tuple

    def __repr__(self) -> str:
        return f"<StepperState at t = {self.t:g} s, after {self.steps} steps>"


class Stepper:
    """A simulation of `system` in steps of one size, advanced from Python.

    It starts as `kinegrad.simulate` does, and its states have the same digits.  Between steps they can be read, saved and
    restored, and parameters can be changed.

    Parameters
    ----------
    formulation, integrator : objects such as ``kg.ALI3P(penalty=1e9)``, ``kg.Newmark()``, or their names, optional
        The model's simulation section says what they are when they are not given.  Steps are all alike, so an integrator with
        error control is refused.
    step : float, optional
        Time step [s]; that of the model by default.
    solver : str, optional
        "auto", "dense" or "fronts", as `kinegrad.simulate` takes it; that of the model by default.
    guess : array, optional
        Coordinates from which those of the start are found, in place of what the model says.
    start : "assembly", "equilibrium", Assembly, Equilibrium, Motion or State, optional
        Where it starts, as `kinegrad.simulate` takes it.

    Attributes
    ----------
    steps : int
        Steps done.
    iterations : int
        Newton iterations of the last step, or evaluations of an explicit one.
    """

    @without_warnings
    def __init__(
        self,
        system: System,
        formulation=None,
        integrator=None,
        *,
        step: float | None = None,
        solver: str | None = None,
        guess: np.ndarray | None = None,
        start=None,
    ):
        defaults = system.model.simulation
        self.formulation = formulation_of(defaults.formulation if formulation is None else formulation)
        self.integrator = integrator_of(defaults.integrator if integrator is None else integrator)
        self.system = system = solved(system, self.formulation, defaults.solver if solver is None else solver)
        self.step = given_time(system, "step", step)
        program = program_without_end(system, self.formulation, self.integrator, self.step)
        if program.made.remark:
            warnings.warn(program.made.remark, UnusedOptionWarning, stacklevel=4)
        if program.made.pair.adaptive:
            raise KinegradError(
                f"A Stepper takes steps of one size, and {self.integrator.type!r} chooses its own; use 'rk4', or simulate."
            )
        start, guess = start_of(system, start, guess)
        self._run = run = program.begin(system, guess=guess, start=start)
        self.scheme, self._work, self._fn, self._objectives = run.scheme, run.work, run.fn, run.objectives
        self._psi, self._g_last = self._objectives.psi, self._objectives.g_last
        if run.remark:
            warnings.warn(run.remark, AccuracyWarning, stacklevel=4)
        self._rho = system.rho.copy()
        self._places = {label: k for k, label in enumerate(system.parameters.independent)}
        self._starting = {slot for f in system.freedoms for slot in (f.position, f.velocity)}
        self._fields = system.slots.field_values(self._rho)
        self._parts: dict[tuple[str, ...], PartOfSlots] = {}
        self._apart: set[tuple[str, ...]] = set()  # parameters that are in no constraint row
        self.scheme.allow_changes(self._work, self._fn, self._objectives)
        self.steps, self.iterations = 0, 0
        size = 1 if self._work.calls is not None else AT_ONCE  # a function that fails tells the step by that
        rows = np.zeros((size + 1, len(run.row)), run.row.dtype)
        rows[0] = run.row
        self._arrays = Steps(
            np.zeros(size + 1), np.full(size, self.step), 1, rows, np.zeros(size, np.int64), np.zeros(size, np.int64)
        )
        self._first = 0.0, self.q, self.qd
        self._over: Callable[[int, int], tuple] | None = None
        self._aside: tuple[Workspace, np.ndarray] | None = None
        self._markers: np.ndarray | None = None

    def __repr__(self) -> str:
        how = f"{self.formulation.type}, {self.integrator.type}"
        return f"<Stepper of {self.system.model.title or 'a model'!r} ({how}) at t = {self.t:g} s>"

    # --- the state ---

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.steps * self.step

    @property
    def q(self) -> np.ndarray:
        """(n,) coordinates, in the order of `system.coordinates`."""
        return self._part("q")

    @property
    def qd(self) -> np.ndarray:
        """(n,) velocities."""
        return self._part("qd")

    @property
    def qdd(self) -> np.ndarray:
        """(n,) accelerations."""
        return self._part("qdd")

    @property
    def lam(self) -> np.ndarray:
        """(m,) multipliers of the constraint rows; of least norm where rows are redundant."""
        states = self.scheme.motion(self._rows[:1])
        return least_norm(self.system, self._work["s"], np.array([self.t]), states["q"], states["lam"])[0].copy()

    def _part(self, name: str) -> np.ndarray:
        return self.scheme.motion(self._rows[:1])[name][0].copy()

    @property
    def objectives(self) -> dict[str, float]:
        """Objectives so far: integrals and extremes up to now, and the present values of those taken at the end; NaN for sums
        at times, which steps need not meet."""
        kinds = self._objectives.kinds
        values = np.where(kinds.kind == SUM, np.nan, values_of(kinds, self._psi, self.t))
        return dict(zip(self.system.objectives, values.tolist(), strict=True))

    @property
    def parameters(self) -> dict[str, float]:
        """Present values of the independent parameters."""
        return dict(zip(self.system.parameters.independent, self._rho.tolist(), strict=True))

    def coordinate(self, name: str) -> tuple[float, float]:
        """Value and rate of the coordinate ``joint.angle``."""
        try:
            k = self.system.number_of[name]
        except KeyError:
            known = ", ".join(self.system.coordinates)
            raise KinegradError(f"There is no coordinate {name!r}; coordinates: {known}.") from None
        states = self.scheme.motion(self._rows[:1])
        return float(states["q"][0, k]), float(states["qd"][0, k])

    def marker(self, name: str) -> MarkerMotion:
        """Position, velocity and acceleration of the marker ``body.marker``, three numbers each."""
        if name not in self.system.markers:
            raise KinegradError(f"There is no marker {name!r}; markers: {', '.join(sorted(self.system.markers))}.")
        if self._markers is None:
            work, fn = self._beside()
            states = self.scheme.motion(self._rows[:1])
            self._markers = replay_states(work, fn, np.array([self.t]), states, with_markers=True)["markers"][0]
        return MarkerMotion(*self._markers[self.system.markers[name]].copy())

    def _beside(self) -> tuple[Workspace, np.ndarray]:
        """A workspace with the present slots, beside that of the steps, and its functions."""
        if self._aside is None:
            work = self.system.workspace(every_marker=True)
            self._aside = work, work.functions(EVALUATE, ENERGY, BIAS, OBSERVE)
        self._aside[0]["s"][:] = self._work["s"]
        return self._aside

    # --- steps ---

    def advance(self, n: int = 1) -> Stepper:
        """The stepper, `n` steps later.

        A step that fails raises a SimulationError with its time; what a Python law raised is raised as it is.  The stepper is
        then at the last state before that step, and can go on from there with other inputs.  Ctrl-C leaves it at a state some
        steps before, at most, and nothing half done.
        """
        if isinstance(n, bool) or not isinstance(n, int | np.integer) or n < 0:
            raise KinegradError(f"The number of steps is {n!r}; give a whole number, 0 or more.")
        while n > 0:
            count = min(n, len(self._arrays.hs))
            self._advance(count)
            n -= count
        return self

    def _advance(self, count: int) -> None:
        """`count` steps in one call of compiled code."""
        before = self._now()
        try:
            status, done = self._steps(count)
            if status == OK:
                return
            error = self._error(status, done)
            self._back_to(before)
            if done:
                self._steps(done)
        except BaseException:  # Ctrl-C between what belongs together
            with Interrupts():
                self._back_to(before)
            raise
        raise error

    def _steps(self, count: int) -> tuple[int, int]:
        """Status and number of steps done; the state is that behind them if all `count` are."""
        ts, rows = self._arrays.ts, self._rows
        for k in range(count + 1):
            ts[k] = (self.steps + k) * self.step
        if self._over is None:
            self._over = self._run.over(self._arrays)
        status, done = self._over(0, count)
        if self._raised():
            return CALLBACK_FAILED, 0
        if status == OK:
            self.steps += count
            self.iterations = int(self._arrays.counts[count - 1])
            rows[0] = rows[count]
            self._markers = None
        return status, done

    @property
    def _rows(self) -> np.ndarray:
        """States of the steps in one call; the first row is the present one."""
        return self._arrays.traj

    def _raised(self) -> bool:
        """Whether a function of the model has raised something."""
        return self._work.calls is not None and self._work.calls.failure is not None

    def _error(self, status: int, done: int) -> BaseException:
        """What to raise after a step that failed behind `done` others."""
        if self._raised():
            error, owner = self._work.calls.failure
            self._work.calls.failure = None
            error.add_note(f"raised in {owner}, which kinegrad called at t = {self.t:.6g} s")
            return error
        states = self.scheme.motion(self._rows[done : done + 1])
        t = (self.steps + done) * self.step
        last = t, states["q"][0], states["qd"][0]
        return SimulationError(reason(self._work, status, self.formulation, t, self.step, self._first, last, self.step))

    # --- state in and out ---

    def _now(self) -> tuple:
        memory = [array.copy() for array in self.scheme.memory(self._work)]
        return self.steps, self._rows[0].copy(), self._psi.copy(), self._g_last.copy(), memory

    def _back_to(self, state: tuple) -> None:
        self.steps, row, self._psi[:], self._g_last[:], memory = state
        self._rows[0] = row
        self.scheme.restore(self._work, row, memory)
        self._work["par"][TIME] = self.t
        self._markers, self._over = None, None

    @property
    def state(self) -> StepperState:
        """All that the run knows now, for `restore`; it can be pickled."""
        steps, row, psi, g_last, memory = self._now()
        return StepperState(
            self.t, steps, self._rho.copy(), self._work["s"].copy(), row, psi, g_last, tuple(memory), self._kind
        )

    @property
    def _kind(self) -> tuple:
        """What states have in common that fit each other."""
        return self.formulation.type, self.integrator.type, self.step, *self.system.coordinates, len(self._rows[0])

    def restore(self, state: StepperState) -> None:
        """Go back to a state of this stepper, or to one of another that was made in the same way; parameters included."""
        if state.scheme != self._kind:
            raise KinegradError(
                "The state is that of another model, formulation, integrator or step; restore it in a Stepper made in the "
                "same way."
            )
        self._rho, self._fields = state.parameters.copy(), self.system.slots.field_values(state.parameters)
        self._work["s"][:] = state.slots
        self._back_to((state.steps, state.row, state.psi, state.g_last, state.memory))

    # --- inputs ---

    @without_warnings
    def set(self, values: Mapping[str, float] | None = None, /, *, settle: bool = True, **named: float) -> Stepper:
        """The stepper, with other parameters from now on: ``stepper.set(torque=3.0)``, or a mapping for names such as ``u[1]``.

        Accelerations and multipliers are those of the new values at once, as after a switch; with ``settle=False`` they stay
        until the end of the next step, as if the values had changed just after this instant.  Without parameters it does the
        same for what Python laws read.

        Positions stay.  So lengths and drivers may change as far as all constraints hold at the present position; what breaks
        one is refused by its name, and nothing is changed.  Velocities that a driver prescribes may jump: the others follow
        as after an impulse.
        """
        if values is not None and not isinstance(values, Mapping):
            raise KinegradError(f"Parameters are given by name, as in set(torque=3.0); found {values!r}.")
        values = {**(values or {}), **named}
        rho = self._with(values)
        fields, s = self._slots_with(rho, values)
        work, before = self._work, self._work["s"].copy()
        self._refuse_start(before, s, values)
        self.system.set.check(self.system, s)
        velocities = self._velocities(before, s, values)
        state, old = self._now(), (self._rho, self._fields)
        try:
            work["s"][:] = s
            if settle or velocities is not None:
                self._settle(velocities)
            self._rho, self._fields = rho, fields
            self._markers = None
        except BaseException:  # Ctrl-C too: all is changed, or nothing
            with Interrupts():
                work["s"][:] = before
                self._rho, self._fields = old
                self._back_to(state)
            raise
        return self

    def _settle(self, velocities: np.ndarray | None) -> None:
        """Accelerations and multipliers of the slots as they are, at other velocities if any are given."""
        if velocities is not None:
            self.scheme.put_velocities(self._work, velocities)
        status = self.scheme.settle(self._work, self.t)
        if status != OK or self._raised():
            raise self._error(status, 0)
        self.scheme.keep(self._work, self._rows[0])

    def _with(self, values: dict) -> np.ndarray:
        """The independent parameters with other values, after names and values are checked."""
        rho, parameters = self._rho.copy(), self.system.parameters
        for name, value in values.items():
            if name in self._places and type(value) is float and math.isfinite(value):
                rho[self._places[name]] = value
            else:
                given = parameters.values({name: value})
                changed = parameters.positions(parameters.expand(name))
                rho[changed] = given[changed]
        if not self._behind_masses.isdisjoint(values):
            self.system.refuse_bodies([name for name in values if name in self._behind_masses], rho)
        return rho

    @cached_property
    def _behind_masses(self) -> set[str]:
        """Labels of the parameters on which masses and inertias depend."""
        return set(VaryingBodies(self.system.model, self.system.parameters, self._places).behind)

    def _slots_with(self, rho: np.ndarray, names) -> tuple[np.ndarray, np.ndarray]:
        """Fields and slots with other values of these parameters."""
        slots, names = self.system.slots, tuple(names)
        if all(name in self._places for name in names):
            if names not in self._parts:
                self._parts[names] = PartOfSlots(slots, [self._places[name] for name in names])
            fields, s = self._fields.copy(), self._work["s"].copy()
            if self._parts[names].update(rho, fields, s):
                return fields, s
        return slots.field_values(rho), slots.values(rho)

    def _refuse_start(self, before: np.ndarray, s: np.ndarray, names) -> None:
        """Raises when nothing but values at the start would change."""
        changed = np.flatnonzero(before != s).tolist()
        if changed and self._starting.issuperset(changed):
            raise KinegradError(
                f"{', '.join(map(repr, names))} says how a motion begins, and changes nothing after that; make a Stepper of a "
                "system with other parameters."
            )

    def _velocities(self, before: np.ndarray, s: np.ndarray, values: dict) -> np.ndarray | None:
        """Velocities that the constraints ask for with other parameters, or None if the present ones will do.

        Raises when a constraint does not hold at the present position with them.
        """
        m, names = self.system.m, tuple(values)
        if not m or names in self._apart or np.array_equal(before, s):
            return None
        if self._no_rows_change(before, s):
            self._apart.add(names)
            return None
        states = self.scheme.motion(self._rows[:1])
        here = states["q"][0], states["qd"][0], self.t
        (Phi, Phid), (new, newd) = (self._rows_at(slots, *here) for slots in (before, s))
        work, _ = self._aside
        limit = BROKEN * row_sizes(self.system, work, m)
        worst = int((np.abs(new - Phi) / limit).argmax())
        if not abs(new[worst] - Phi[worst]) <= limit[worst]:
            one_by_one = ((name, self._slots_with(self._with({name: x}), [name])[1]) for name, x in values.items())
            who = ", ".join(repr(name) for name, slots in one_by_one if not self._no_rows_change(before, slots))
            raise KinegradError(
                f"{self.system.row_names[worst]!r} would be off by {abs(new[worst] - Phi[worst]):.3g} at t = {self.t:.6g} s: "
                f"positions stay when {who} changes. Give values with which it holds at this instant, or make a Stepper of a "
                "system with other parameters."
            )
        jump, v = newd - Phid, here[1]
        rate = np.abs(v / work["unit"]).max(initial=1.0 / work["size"][DURATION])
        if (np.abs(jump) <= limit * rate).all():
            return None
        work.call(EVALUATE)
        J, none = first_rows(work, "J", m).copy(), np.zeros((self.system.n, 1), v.dtype)
        # an impulse: M dv + Jᵀσ = 0, J dv = -jump
        solve = units_of(work, J).solve_constrained
        status, change, _ = solve(work.matrix("M"), J, 0.0, none, -jump[:, None], self.system.alike)
        if status != OK:
            raise KinegradError(
                f"The velocities cannot follow when {', '.join(map(repr, names))} changes: {WORDS[status]}; make a Stepper of "
                "a system with other parameters."
            )
        return v + change[:, 0]

    def _no_rows_change(self, before: np.ndarray, s: np.ndarray) -> bool:
        """Whether constraint rows do not depend on the slots that change: they are the same somewhere else, too."""
        rng = np.random.default_rng(0)
        n = self.system.n
        work = self._beside()[0]
        unit, time = work["unit"].real, work["size"][DURATION].real
        q, v = self.q + unit * rng.uniform(-1.0, 1.0, n), unit / time * rng.uniform(-1.0, 1.0, n)
        there = q, v, self.t + time * rng.uniform()
        old, new = (self._rows_at(slots, *there) for slots in (before, s))
        return all(np.array_equal(x, y) for x, y in zip(old, new, strict=True))

    def _rows_at(self, s: np.ndarray, q: np.ndarray, v: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """Phi and Phid of the constraint rows, from the workspace beside that of the steps."""
        work, m = self._beside()[0], self.system.m
        work["s"][:], work["flag"][FREEDOMS], work["par"][TIME] = s, 0, t
        work["q"][:] = q
        work["v"][:] = work["vp"][:] = v
        work.call(POSITION)
        return work["Phi"][:m].copy(), first_rows(work, "J", m) @ v + work["Phi_t"][:m]
