"""Programs: a system with a scheme and times, ready to run as often as wanted.

A Program is a plan and does not change.  What moves is a Progress, and one that a run has used serves the next run with other
values: arrays and calls of compiled code that are put down once stay, which is what makes short runs short.
"""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from kinegrad import accuracy
from kinegrad.accuracy import Balance
from kinegrad.coordinates.system import System
from kinegrad.dynamics.kept_rows import AllRows, SomeRows
from kinegrad.dynamics.run import Run
from kinegrad.dynamics.scheme import Scheme
from kinegrad.dynamics.schemes import Made, key_of, made_of
from kinegrad.errors import AccuracyWarning, IterationWarning, SimulationError
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.formulations.objectives import FINAL
from kinegrad.kernels.products import OBSERVE
from kinegrad.kernels.status import CALLBACK_FAILED, OK
from kinegrad.kinks import tell_of_kinks
from kinegrad.motion import Motion, has_power
from kinegrad.objectives import begun_with, kinds_of, values_of
from kinegrad.reasons import blow_up, first_left_table, reason
from kinegrad.recorders import FEW, Done, Progress, every_step, some_steps
from kinegrad.remembered import remembered
from kinegrad.starts import AsFound, Assembled, Start
from kinegrad.times import SHORT, Times, asked_of, times_of

#: Newton tolerance [of positions] under a gradient: accelerations, and multipliers with them, are known to this divided by
#: βh² only.  At 1e-13 the gradient of the slider-crank is off by up to 3e-7, at 1e-16 by 1e-10; steps that meet rounding
#: before the tolerance end there.
TIGHT = 1e-16
ROUNDS = 100  # iterations allowed, at least
NEARLY = 0.8  # of the iterations allowed: told in a warning
LARGE = 1e6  # bytes of states: the rest of a call is nothing beside such a run
MOST = 8  # runs on their way whose arrays are kept for others
CALLER = 5  # frames between a warning and whoever called `simulate`


@dataclass(eq=False)
class Started(Progress):
    """A run that a program has begun.

    Attributes
    ----------
    start : Start
    remark : str
        On the model, at the start.
    is_plain : bool
        Objectives are integrals, and values at the end; `at_end` tells which.
    kept : Steps or None
        Arrays that stay for other runs, and `over_kept` the function that does their steps.
    """

    start: Start = field(default_factory=Assembled)
    remark: str = ""
    is_plain: bool = False
    at_end: np.ndarray | None = None
    kept: Steps | None = None
    over_kept: Callable | None = None
    balance: Balance | None = None


class Program:
    """A system with a scheme and times.

    Parameters
    ----------
    system : System
        With any values.
    formulation, integrator : option objects
    made : Made
        The scheme of these, for the values of the system.
    times : Times
    """

    def __init__(self, system: System, formulation, integrator, made: Made, times: Times):
        self.system, self.formulation, self.integrator, self.made, self.times = (
            system, formulation, integrator, made, times,
        )  # fmt: skip
        adaptive = made.pair.adaptive
        numbers = 8.0 * len(times.hs) * Scheme(system, *made[:4]).row_size
        even = not adaptive and times.stride == 1
        self.is_short = even and 0 < len(times.hs) <= SHORT and numbers <= LARGE
        self._free: dict[Hashable, list] = {}
        #: what a gradient that is asked for again need not look for: labels, and times that follow parameters
        self.differentiated: dict[tuple, tuple] = {}

    @property
    def is_tight(self) -> bool:
        """Whether Newton iterations, if there are any, go to rounding."""
        return not self.made.pair.iterates or self.made.options["tolerance"] <= TIGHT

    @cached_property
    def to_rounding(self) -> Program:
        """The same runs with Newton iterations to rounding."""
        if self.is_tight:
            return self
        formulation = tight(self.made, self.formulation)
        made = made_of(self.system, formulation, self.integrator)
        return Program(self.system, formulation, self.integrator, made, self.times)

    def lent(self, key: Hashable):
        """Something that was kept under a key and that nobody uses now; None where there is nothing."""
        try:
            return self._free[key].pop()
        except (KeyError, IndexError):
            return None

    def keep(self, key: Hashable, thing) -> None:
        """Keep arrays, and what goes with them, that nobody uses any more, for the next caller."""
        if len(self._free) > MOST:
            self._free.clear()
        free = self._free.setdefault(key, [])
        if len(free) < MOST:
            free.append(thing)

    # --- the start ---

    def begin(
        self,
        system: System,
        *,
        s: np.ndarray | None = None,
        guess: np.ndarray | None = None,
        start: Start | None = None,
    ) -> Started:
        """A run before its first step, with its code loaded."""
        start = Assembled() if start is None else start
        run = self._ready(system, s)
        work, scheme = run.work, run.scheme
        start.put(system, work, scheme.compliance, guess)
        run.start = start.before if isinstance(start, AsFound) else start
        run.remark = "" if isinstance(start, AsFound) else system.set.remark(system, work)
        scheme.begin(work, getattr(start, "scheme", None))
        work.call(OBSERVE)
        g, (kinds, psi, g_last) = work.arrays["g"], run.objectives
        psi[:] = np.where(run.at_end, g, 0.0) if run.is_plain else begun_with(kinds, g)
        g_last[:] = g
        scheme.keep(work, run.row)
        if run.over_kept is None:
            run.fn = work.functions(*scheme.needs, OBSERVE)
            loaded = system.tables.setdefault("loaded", set())
            if (scheme.pair, system.solver) not in loaded:
                scheme.load(work, run.fn, run.objectives)
                loaded.add((scheme.pair, system.solver))
        return run

    def _ready(self, system: System, s: np.ndarray | None) -> Started:
        """Arrays for a run of a system: those of a run that is over, or new ones."""
        run = None if np.iscomplexobj(system.rho) or np.iscomplexobj(s) else self.lent(Started)
        if run is None:
            return self._new(system, s)
        run.work.renew(system, system.slots_or(s))
        kinds = kinds_of(system, self.times.ts)
        if not run.scheme.stays_in_place or kinds is not run.objectives.kinds:
            run.over_kept = None
            run.scheme = Scheme(system, *self.made[:4])
            run.objectives = run.objectives._replace(kinds=kinds)
        run.scheme.use(system)
        run.cpu_s = 0.0
        return run

    def _new(self, system: System, s: np.ndarray | None) -> Started:
        work, times, scheme = system.workspace(s=s), self.times, Scheme(system, *self.made[:4])
        count, number = len(system.objectives), work.arrays["q"].dtype
        objectives = Objectives(kinds_of(system, times.ts), np.zeros(count, number), np.zeros(count, number))
        row, fn = np.zeros(scheme.row_size, number), np.zeros(0, np.int64)
        run = Started(scheme, work, fn, objectives, row, times.ts, times.hs, times.step)
        run.is_plain = not (objectives.kinds.sharpness.any() or len(objectives.kinds.times))
        run.at_end = objectives.kinds.kind == FINAL
        return run

    def _end(self, run: Started) -> None:
        """Keep the arrays of a run that is over for others."""
        if self.is_short and run.work.stays:
            self.keep(Started, run)
        else:
            run.work.give_back()

    # --- the run ---

    def run(
        self,
        system: System,
        *,
        s: np.ndarray | None = None,
        guess: np.ndarray | None = None,
        start: Start | None = None,
        progress: Callable[[float], None] | None = None,
        throw: bool = True,
        watch: bool = True,
        caller: int = CALLER,
    ) -> Motion:
        """The motion of a system that differs from that of the program in values alone.

        Parameters
        ----------
        watch : bool
            Look at what shows in the states how accurate they are; of a run that was done before, or is one of many, it need
            not be told again.
        caller : int
            Frames between a warning and whoever is to read it.
        """
        run = self.begin(system, s=s, guess=guess, start=start)
        work, calls = run.work, run.work.calls
        with Interrupts(listen=run.scheme.adaptive or len(run.hs) > FEW or calls is not None) as interrupts:
            found, done = self._record(run, progress, interrupts)
        motion = self._motion(run, found, done)
        if interrupts.came:
            stopped = KeyboardInterrupt()
            stopped.motion = motion
            raise stopped
        if calls is not None and calls.failure is not None:
            motion.status = CALLBACK_FAILED
            if throw:
                with contextlib.suppress(AttributeError):
                    calls.failure[0].motion = motion
                work.check_calls()
            return motion
        if throw:
            self._check(motion, run)
        remark = run.scheme.remark(work)
        rows, energy = self._accuracy(motion, run) if watch else ("", "")
        for said in (run.remark, remark or rows, energy):
            if said:
                warnings.warn(said, AccuracyWarning, stacklevel=caller)
        tell_of_kinks(motion, stacklevel=caller + 1)
        self._watch_iterations(motion, caller + 1)
        self._end(run)
        return motion

    def _record(self, run: Started, progress, interrupts: Interrupts) -> tuple[Run, np.ndarray | None]:
        """What the steps leave, and the work done up to each state that is kept, where not all are."""
        times, work = self.times, run.work
        if run.scheme.adaptive:
            done = Done(run) if times.stride == 0 and has_power(work) else None
            rows = AllRows(run.row)
            if times.stride == 0:
                rows = SomeRows(run.row, times.output_step, times.t_end, done and done.up_to)
            found = run.scheme.run_adaptive(
                work, run.fn, times.ts[1:], times.step, times.output_step, run.objectives, rows, progress, interrupts
            )
            return found, np.array(rows.works) if done else None
        if times.stride > 1:
            return some_steps(run, times.stride, progress, interrupts)
        if not self.is_short:
            return every_step(run, progress, interrupts), None
        if run.kept is None:
            run.kept = run.new_steps(0, len(times.hs))
        if run.over_kept is None:
            run.over_kept = run.over(run.kept)
        run.kept.traj[0], run.kept.counts[:], run.kept.flags[:] = run.row, 0, 0
        return every_step(run, progress, interrupts, run.kept, run.over_kept), None

    def _motion(self, run: Started, found: Run, done: np.ndarray | None) -> Motion:
        times, system = self.times, run.work.system
        kinds, psi, _ = run.objectives
        values = (psi if run.is_plain else values_of(kinds, psi, float(found.ts[-1]))).tolist()
        motion = Motion(
            system=system, formulation=self.formulation, integrator=self.integrator,
            scheme=run.scheme.as_it_is() if run.scheme.stays_in_place else run.scheme,
            t=found.t, traj=found.traj, ts=found.ts, hs=found.hs, stride=times.stride, iterations=found.iterations,
            flags=found.flags, cpu_s=found.cpu_s, status=int(found.status),
            objectives=dict(zip(system.objectives, values, strict=True)), s=run.work.arrays["s"].copy(), step=times.step,
            t_end=times.t_end, work=done, follows=times.follows, start=run.start, output_step=times.output_step,
        )  # fmt: skip
        motion.program = self
        return motion

    def _accuracy(self, motion: Motion, run: Started) -> tuple[str, str]:
        """Sentences on what shows in its states that a motion is not accurate: rows, and energy."""
        if np.iscomplexobj(motion.traj):
            return "", ""
        if run.kept is None or motion.status != OK:  # the kept arrays end with states of another run
            return accuracy.remarks(motion, Balance(run.scheme, run.work, motion.t, motion.traj))
        if run.balance is None:
            run.balance = Balance(run.scheme, run.work, run.kept.ts, run.kept.traj)
        return accuracy.remarks(motion, run.balance)

    def _check(self, motion: Motion, run: Started) -> None:
        """Raises when the run stopped early, or an objective has no value."""
        if motion.status != OK:
            first, last = ((motion.t[k], motion.q[k], motion.qd[k]) for k in (0, -1))
            h, step = float(motion.hs[-1]) if len(motion.hs) else motion.step, motion.step
            why = blow_up(motion, run.work)
            why = why or reason(run.work, motion.status, self.formulation, motion.ts[-1], step, first, last, h)
            raise SimulationError(why, motion=motion)
        for name, value in motion.objectives.items():
            if np.isfinite(value):
                continue
            left = first_left_table(run.work, motion, name)
            if left:
                raise SimulationError(f"The objective {name!r} cannot be computed: {left}.", motion=motion)
            what = f"The objective {name!r} is infinite or not a number"
            raise SimulationError(f"{what}; its expression is outside its domain at some time.", motion=motion)

    def _watch_iterations(self, motion: Motion, caller: int) -> None:
        """Warn of steps that took nearly all iterations they may: the next change of the model may stop the run."""
        pair, stride = self.made.pair, self.times.stride
        if not pair.iterates or stride != 1 or "max_iterations" in pair.unused:
            return
        allowed = self.made.options["max_iterations"]
        most = int(motion.iterations.max(initial=0))
        if allowed < 5 or most < NEARLY * allowed:
            return
        k = int(motion.iterations.argmax())
        warnings.warn(
            f"A step of {motion.hs[k]:.4g} s took {most} of the {allowed} iterations allowed, at t = {motion.ts[k + 1]:.6g} s; "
            "take a smaller step, or more max_iterations if it is a single one near a singular position.",
            IterationWarning,
            stacklevel=caller,
        )


def tight(made: Made, formulation):
    """`formulation` with Newton iterations to rounding, as far as it has any."""
    options = {
        "tolerance": min(TIGHT, made.options["tolerance"]),
        "max_iterations": max(ROUNDS, formulation.max_iterations),
    }
    return formulation.model_copy(update={name: x for name, x in options.items() if name not in made.pair.unused})


def program_of(system: System, formulation, integrator, t_end=None, step=None, output_step=None) -> Program:
    """The program of a system, which has the solver that is wanted, with options and times as they are for its values.

    Systems that differ in values alone share it.
    """
    asked = asked_of(system, t_end, step, output_step)
    known = system.tables.setdefault("programs", {})
    key = system.solver, key_of(formulation), key_of(integrator), asked, type(asked[-1])
    found = known.get(key)
    if found is None:
        made = made_of(system, formulation, integrator)
        times = times_of(system, made.integrator, t_end, step, output_step)
        if not (made.fixed and times.fixed):  # by the values of this system
            key = *key, made.key, times.key
        found = remembered(known, key, lambda: Program(system, formulation, integrator, made, times))
    return found


def program_behind(motion: Motion) -> Program:
    """The program that a motion comes from, or one like it."""
    if motion.program is None:
        motion.program = program_of(
            motion.system, motion.formulation, motion.integrator, motion.t_end, motion.step, motion.output_step
        )
    return motion.program


def program_without_end(system: System, formulation, integrator, step: float) -> Program:
    """The program of steps of one size, as many as are asked for."""
    return Program(system, formulation, integrator, made_of(system, formulation, integrator), Times.endless(step))
