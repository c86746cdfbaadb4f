"""simulate: a system through time, with a formulation and an integrator."""

from __future__ import annotations

import contextlib
import math
import time
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kinegrad.accuracy import energy_from_nowhere
from kinegrad.again import nearly_all, run_again
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.kept_rows import AllRows, SomeRows
from kinegrad.dynamics.run import Run
from kinegrad.dynamics.schemes import formulation_of, integrator_of, made_of, scheme_for, solved
from kinegrad.errors import AccuracyWarning, IterationWarning, SimulationError
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.products import EVALUATE, OBSERVE, TIME
from kinegrad.kernels.status import (
    CALLBACK_FAILED,
    INTERRUPTED,
    LOST_RANK,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    SINGULAR,
    STEP_TOO_SMALL,
    TOO_MANY_STEPS,
    WORDS,
)
from kinegrad.kinematics.culprits import culprit, failure, left_table
from kinegrad.kinematics.singular import is_near_singular
from kinegrad.kinks import tell_of_kinks
from kinegrad.memory import require
from kinegrad.motion import Motion, Power, has_power
from kinegrad.objectives import begun_with, kinds_of, values_of
from kinegrad.quiet import without_warnings
from kinegrad.starts import AsFound, Assembled, Start, start_of
from kinegrad.times import SHORT, times_of

CHUNKS = 50  # pieces in which a long run reports its progress
SCRATCH = 512  # steps of a run whose states are not all kept that are in memory at once
OTHERS = 12  # numbers kept of each state beside its row
FEW = 64  # steps after which a run looks whether a function in an objective has failed
PIECE = 0.1  # seconds after which it looks whether it shall stop
GAINED, UNSEEN = 0.1, 1e-6  # parts of the kinetic energy, and of what there was: energy from nowhere is more than these


@without_warnings
def simulate(
    system: System,
    formulation=None,
    integrator=None,
    *,
    t_end: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    progress: Callable[[float], None] | None = None,
    throw: bool = True,
    solver: str | None = None,
    s: np.ndarray | None = None,
    guess: np.ndarray | None = None,
    start=None,
) -> Motion:
    """The motion of `system` from 0 to `t_end`.

    Parameters
    ----------
    formulation, integrator : objects such as ``kg.ALI3P(penalty=1e9)``, ``kg.Newmark()``, or their names, optional
        The model's simulation section says what they are when they are not given; likewise the times.
    step : float, optional
        Time step [s]; the last one is shortened to meet t_end.  With error control, the first one tried.
    output_step : float, optional
        Keep a state every so many seconds (a whole number of steps) instead of every step: memory then depends on what is
        kept, not on the number of steps.  With error control there is a step that ends at every multiple of this.
    progress : callable, optional
        Called with the fraction done.
    throw : bool
        Raise SimulationError when the run stops early (its `motion` holds what was done); or return that motion.  What a
        function in the model raised is raised as it is, with the motion as its attribute `motion`; so is the
        KeyboardInterrupt of Ctrl-C, which is heard after at most a moment.
    solver : str, optional
        "dense": full matrices; "fronts": only entries that exist, for many coordinates of which few meet; "auto": fronts where
        that pays.
    s : array, optional
        Values of all slots in place of those of the parameters.
    guess : array, optional
        Coordinates from which those of the start are found, in place of what the model says.
    start : "assembly", "equilibrium", Assembly, Equilibrium, Motion or State, optional
        Where it starts, in place of what the model says: from its degrees of freedom; at the position where all forces balance;
        from what another system has found of these; from the last state of a motion, or from any (`Motion.state`), which a
        gradient holds fixed.
    """
    defaults = system.model.simulation
    formulation = formulation_of(defaults.formulation if formulation is None else formulation)
    integrator = integrator_of(defaults.integrator if integrator is None else integrator)
    system = solved(system, formulation, defaults.solver if solver is None else solver)
    made = made_of(system, formulation, integrator)
    times = times_of(system, made.integrator, t_end, step, output_step)
    start, guess = start_of(system, start, guess)
    if type(start) is Assembled and s is None and progress is None and not made.remark:
        motion = run_again(system, formulation, integrator, times, system.solver, guess)
        if motion is not None:
            return motion
    scheme = scheme_for(system, formulation, integrator)
    t_end, step, output_step, ts, hs, stride, follows = times
    work, fn, begin, objectives, far = begun(system, scheme, s, guess, start, ts)
    done = None
    with Interrupts(listen=scheme.adaptive or len(hs) > FEW or work.calls is not None) as interrupts:
        if scheme.adaptive:
            done_work = Done(scheme, work) if stride == 0 and has_power(work) else None
            rows = AllRows(begin)
            if stride == 0:
                rows = SomeRows(begin, output_step, t_end, done_work and done_work.up_to)
            run = scheme.run_adaptive(work, fn, ts[1:], step, output_step, objectives, rows, progress, interrupts)
            done = np.array(rows.works) if done_work else None
        else:
            loop = Loop(scheme, work, fn, ts, hs, step, objectives, interrupts)
            if stride == 1:
                run = loop.every_step(begin, progress)
            else:
                run, done = loop.some_steps(begin, stride, progress)
    values = values_of(objectives.kinds, objectives.psi, float(run.ts[-1])).tolist()
    motion = Motion(
        system=system, formulation=formulation, integrator=integrator, scheme=scheme, t=run.t, traj=run.traj, ts=run.ts,
        hs=run.hs, stride=stride, iterations=run.iterations, flags=run.flags, cpu_s=run.cpu_s, status=int(run.status),
        objectives=dict(zip(system.objectives, values, strict=True)),
        s=work["s"].copy(), step=step, t_end=t_end, work=done, follows=follows, start=start,
        output_step=output_step,
    )  # fmt: skip
    if interrupts.came:
        stopped = KeyboardInterrupt()
        stopped.motion = motion
        raise stopped
    if work.calls is not None and work.calls.failure is not None:
        motion.status = CALLBACK_FAILED
        if throw:
            with contextlib.suppress(AttributeError):
                work.calls.failure[0].motion = motion
            work.check_calls()
        return motion
    if run.status != OK and throw:
        first, last = ((motion.t[k], motion.q[k], motion.qd[k]) for k in (0, -1))
        h = float(motion.hs[-1]) if len(motion.hs) else step
        why = blow_up(motion, work) or reason(work, run.status, formulation, motion.ts[-1], step, first, last, h)
        raise SimulationError(why, motion=motion)
    broken = [name for name, value in motion.objectives.items() if not np.isfinite(value)]
    if broken and throw:
        left = first_left_table(work, motion, broken[0])
        if left:
            raise SimulationError(f"The objective {broken[0]!r} cannot be computed: {left}.", motion=motion)
        what = f"The objective {broken[0]!r} is infinite or not a number"
        raise SimulationError(f"{what}; its expression is outside its domain at some time.", motion=motion)
    for remark in (far, scheme.remark(work), energy_from_nowhere(motion, work)):
        if remark:
            warnings.warn(remark, AccuracyWarning, stacklevel=4)
    tell_of_kinks(motion, stacklevel=5)
    if scheme.iterates and stride == 1 and "max_iterations" not in scheme.unused:
        _watch_iterations(motion, scheme.options["max_iterations"])
    work.give_back()
    return motion


class Beginning(NamedTuple):
    """A run before its first step: the workspace at the start, the functions that steps call, the row of the start, the
    objectives here, and a remark on the model."""

    work: Workspace
    fn: np.ndarray
    row: np.ndarray
    objectives: Objectives
    remark: str


def begun(
    system: System, scheme, s: np.ndarray | None, guess: np.ndarray | None, start: Start, ts: Sequence[float] | None
) -> Beginning:
    """A run that is ready for its first step, with its code loaded; `ts`: ends of its steps, as far as they are known."""
    work = system.workspace(s=s)
    start.put(system, work, scheme.compliance, guess)
    remark = "" if isinstance(start, AsFound) else system.set.remark(system, work)
    scheme.begin(work, getattr(start, "scheme", None))
    work.call(OBSERVE)
    kinds = kinds_of(system, ts)
    row = np.zeros(scheme.row_size, work["q"].dtype)
    g_last = work["g"].copy()
    scheme.keep(work, row)
    fn = work.functions(*scheme.needs, OBSERVE)
    objectives = Objectives(kinds, begun_with(kinds, g_last), g_last)
    loaded = system.tables.setdefault("loaded", set())
    if (scheme.pair, system.solver) not in loaded:
        scheme.load(work, fn, objectives)
        loaded.add((scheme.pair, system.solver))
    return Beginning(work, fn, row, objectives, remark)


def _watch_iterations(motion: Motion, allowed: int) -> None:
    """Warn of steps that took nearly all iterations they may: the next change of the model may stop the run."""
    if nearly_all(motion.iterations, allowed):
        most = int(motion.iterations.max())
        k = int(motion.iterations.argmax())
        warnings.warn(
            f"A step of {motion.hs[k]:.4g} s took {most} of the {allowed} iterations allowed, at t = {motion.ts[k + 1]:.6g} s; "
            "take a smaller step, or more max_iterations if it is a single one near a singular position.",
            IterationWarning,
            stacklevel=5,
        )


def blow_up(motion: Motion, work: Workspace) -> str:
    """One sentence on a run that stopped with energy from nowhere, whose last states are no positions of a mechanism and so no
    singular ones either; empty for any other."""
    if motion.status not in (NOT_FINITE, SINGULAR, LOST_RANK) or culprit(motion.system, work, motion.status):
        return ""
    energies = motion.energies
    kinetic, potential = energies.kinetic, energies.potential
    gained = float(kinetic[-1] + potential[-1] - kinetic[0] - potential[0] - energies.work[-1])
    usual = float(abs(potential[0]) + abs(potential[-1]) + kinetic[0])
    if not GAINED * kinetic[-1] + UNSEEN * usual < gained:
        return ""
    remedy = ", or an implicit integrator" if motion.scheme.pair.integrator.explicit else ""
    return (
        f"The simulation ({motion.formulation.type}) stopped at t = {motion.ts[-1]:.6g} s: it blew up, its energy has grown by "
        f"{gained:.1e} J more than forces have done work; try a smaller step than {motion.step:g} s{remedy}."
    )


def reason(work: Workspace, status: int, formulation, t: float, step: float, first, last, h: float) -> str:
    """One sentence on why a run with the states `first` and `last`, (t, q, qd) each, stopped at t in a step h."""
    left = left_table(work.system, work)
    if left:
        return f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: {left}."
    if status in (NOT_CONVERGED, NOT_FINITE, SINGULAR, LOST_RANK, STEP_TOO_SMALL) and is_near_singular(
        work.system, work["s"], first, last, h
    ):
        return at_singular_position(t, formulation)
    who = singular_coordinate(work) if status == SINGULAR else culprit(work.system, work, status)
    return explanation(status, t, step, formulation, who, failure(work, status) if who else None)


def first_left_table(work: Workspace, motion: Motion, objective: str) -> str:
    """The first table that an objective leaves, in words with the time; empty when it leaves none."""
    first = len(motion.t) - 1 if work.system.objectives[objective] == "final" else 0
    for t, q, qd, qdd in zip(*(x[first:] for x in (motion.t, motion.q, motion.qd, motion.qdd)), strict=True):
        work["par"][TIME] = t
        work["q"][:], work["v"][:], work["vp"][:], work["ap"][:] = q, qd, qd, qdd
        work.call(EVALUATE)
        work.call(OBSERVE)
        left = left_table(work.system, work, objective)
        if left:
            return f"at t = {t:.6g} s {left}"
    return ""


def singular_coordinate(work: Workspace) -> str:
    """The coordinate that nothing holds, where fronts have found one; otherwise empty."""
    from kinegrad.kernels.solvers.fronts import STATUS, WHERE

    job = work["front_job"]
    return work.system.coordinates[job[WHERE]] if len(job) and job[STATUS] == SINGULAR else ""


def at_singular_position(t: float, formulation) -> str:
    """One sentence on a run that ended where constraints lose rank."""
    remedy = (
        "try a slightly different step, which steps over it"
        if formulation.type == "ali3p"
        else "use the formulation 'ali3p', which passes such positions"
    )
    return (
        f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: the mechanism reaches a singular position there, where "
        f"its constraints lose rank and other motions branch off; {remedy}."
    )


def state_size(numbers: int) -> int:
    """Bytes for each state that is kept: the numbers of its row, time, step, iterations, flags, energies, violations."""
    return 8 * (numbers + OTHERS)


class Loop:
    """Steps of given sizes, done in pieces from the state that the workspace holds."""

    def __init__(self, scheme, work: Workspace, fn, ts, hs, step: float, objectives, interrupts):
        self.scheme, self.work, self.fn, self.interrupts = scheme, work, fn, interrupts
        self.ts, self.hs, self.step, self.objectives = ts, hs, step, objectives
        self.cpu_s = 0.0

    def advance(self, first: int, last: int, traj, iterations, flags) -> tuple[int, int]:
        """Status and number of the steps first to last - 1 that were done; every state is a row of traj."""
        clock = time.thread_time()
        steps = Steps(self.ts[first : last + 1], self.hs[first:last], 1, traj, iterations, flags)
        status, count = self.scheme.advance(self.work, self.fn, steps, self.objectives)
        self.cpu_s += time.thread_time() - clock
        if status == OK and self.work.calls is not None and self.work.calls.failure is not None:
            status = CALLBACK_FAILED
        if status == OK and self.interrupts.came:
            status = INTERRUPTED
        return status, count

    def piece(self, done: int) -> int:
        """Steps to do before the next look at the keyboard, after so many."""
        if self.work.calls is not None or not done:
            return FEW
        return max(FEW, int(PIECE * done / max(self.cpu_s, 1e-9)))

    def require_memory(self, states: int, numbers: int) -> None:
        """Raises when so many states are more than the memory holds; a larger output_step is the remedy."""
        size = states * state_size(numbers)

        def remedy(free: float) -> str:
            every = math.ceil(len(self.hs) / states) * 4.0 * size / max(free, 1.0)
            longer = self.step * 10.0 ** math.ceil(math.log10(every))
            return f"keep fewer, by an output_step (--output-step) such as {longer:g} s"

        require(size, f"Keeping {states} states", remedy)

    def every_step(self, begin: np.ndarray, progress) -> Run:
        """The run from row `begin`, all states kept."""
        n_steps = len(self.hs)
        self.require_memory(n_steps + 1, len(begin))
        traj = np.zeros((n_steps + 1, len(begin)), begin.dtype)
        traj[0] = begin
        iterations, flags = np.zeros(n_steps, np.int64), np.zeros(n_steps, np.int64)
        chunk = n_steps if n_steps <= SHORT or progress is None else -(-n_steps // CHUNKS)
        done, status = 0, OK
        while done < n_steps and status == OK:
            last = min(done + chunk, done + self.piece(done), n_steps)
            status, count = self.advance(done, last, traj[done : last + 1], iterations[done:last], flags[done:last])
            done += count
            if progress is not None and status == OK and (n_steps > SHORT or done == n_steps):
                progress(done / n_steps)
        ts = np.array(self.ts[: done + 1])  # those of the run, which others share
        return Run(
            status, ts, np.array(self.hs[:done]), iterations[:done], flags[:done], ts, traj[: done + 1], self.cpu_s
        )

    def some_steps(self, begin: np.ndarray, stride: int, progress) -> tuple[Run, np.ndarray | None]:
        """The run from row `begin`, with a state every `stride` steps and the last one, and the work done up to each.

        Iterations are summed, and flags joined, over the steps between two states.
        """
        n_steps = len(self.hs)
        n_states = 1 + -(-n_steps // stride)
        self.require_memory(n_states, len(begin))
        traj = np.zeros((n_states, len(begin)), begin.dtype)
        traj[0] = begin
        iterations, flags = np.zeros(n_states - 1, np.int64), np.zeros(n_states - 1, np.int64)
        rows = np.zeros((min(SCRATCH, n_steps) + 1, len(begin)), begin.dtype)
        rows[0] = begin
        counts, bits = np.zeros(len(rows), np.int64), np.zeros(len(rows), np.int64)
        done_work = Done(self.scheme, self.work) if has_power(self.work) else None
        works = np.zeros(n_states)
        done, kept, status = 0, 1, OK
        while done < n_steps and status == OK:
            last = min(done + len(rows) - 1, n_steps)
            size = last - done
            status, count = self.advance(done, last, rows[: size + 1], counts[:size], bits[:size])
            so_far = None
            if done_work:
                so_far = done_work.up_to(
                    self.ts[done : done + count + 1], self.hs[done : done + count], rows[: count + 1]
                )
            numbers = np.arange(done + 1, done + count + 1)
            np.add.at(iterations, (numbers - 1) // stride, counts[:count])
            np.bitwise_or.at(flags, (numbers - 1) // stride, bits[:count])
            for k in numbers[(numbers % stride == 0) | (numbers == n_steps)]:
                traj[kept] = rows[k - done]
                works[kept] = so_far[k - done] if done_work else 0.0
                kept += 1
            rows[0] = rows[count]
            done += count
            if progress is not None and status == OK:
                progress(done / n_steps)
        times = np.append(self.ts[:-1:stride], self.ts[-1:])[:kept]
        ts, hs = self.ts.until(done), self.hs.until(done)
        run = Run(status, ts, hs, iterations[: kept - 1], flags[: kept - 1], times, traj[:kept], self.cpu_s)
        return run, works[:kept] if done_work else None


class Done:
    """The work of what has no potential, summed over all steps as they are done."""

    def __init__(self, scheme, work: Workspace):
        self.scheme, self.power = scheme, Power(work.system, work["s"])
        self.total = 0.0

    def up_to(self, ts: np.ndarray, hs: np.ndarray, rows: np.ndarray) -> np.ndarray:
        """The work done up to each of these states at the times ts, the first of which is that before the first step hs."""
        steps = self.scheme.integrals(ts, hs, rows, self.power).real
        out = self.total + np.concatenate([[0.0], np.cumsum(steps)])
        self.total = out[-1]
        return out


def explanation(
    status: int, t: float, h: float, formulation, who: str = "", failed: tuple[str, str] | None = None
) -> str:
    """One sentence on why a run stopped: what, when and what to try; `who` names the element when it is known, `failed` says
    what happened to it and what to try, if it says so itself."""
    newton = {
        "matrix-r": "or other degrees_of_freedom, if these no longer determine the position there",
        "recursive": "or the formulation 'index1', which solves a step by Newton's method",
    }.get(formulation.type, "or more max_iterations")
    what = {
        NOT_CONVERGED: "the Newton iterations did not converge",
        NOT_FINITE: f"the value of {who} is infinite or not a number"
        if who
        else "a number became infinite or not a number (an expression outside its domain, or a run that blew up)",
        SINGULAR: f"the system of equations became singular at {who!r}"
        if who
        else "the system of equations became singular",
        STEP_TOO_SMALL: "the error of a step stays above the tolerance, however small the step",
    }.get(status, WORDS.get(status, f"status {status}"))
    tries = {
        NOT_CONVERGED: f"try a smaller step than {h:g} s, {newton}",
        NOT_FINITE: "check its expression just after that time"
        if who
        else f"check the expressions of forces near that time, or try a smaller step than {h:g} s",
        SINGULAR: "look for a singular position there, or for a body that moves without inertia",
        LOST_RANK: f"look for a singular position there, use the formulation 'ali3p', {newton}"
        if formulation.type == "matrix-r"
        else "look for a singular position there, or use the formulation 'ali3p'",
        STEP_TOO_SMALL: "look for a force without bound there, or raise the integrator's tolerance",
        TOO_MANY_STEPS: "raise the integrator's tolerance, or simulate a shorter time",
    }.get(status, f"try a smaller step than {h:g} s")
    if failed:
        happened, tries = failed
        what = f"{who}, {happened}"
    return f"The simulation ({formulation.type}) stopped at t = {t:.6g} s: {what}; {tries}."
