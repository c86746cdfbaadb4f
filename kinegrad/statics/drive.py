"""drive: a mechanism whose drivers leave no freedom, moved through time without dynamics (DRV-1 to DRV-7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.given_states import GivenStates
from kinegrad.dynamics.scheme import Scheme
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.interrupts import Interrupts
from kinegrad.kernels.formulations.arguments import Objectives
from kinegrad.kernels.prepared import Windows
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, OBSERVE, POSITION
from kinegrad.kernels.status import CALLBACK_FAILED, OK
from kinegrad.kinematics.branch import explained
from kinegrad.kinematics.distances import tell_branch
from kinegrad.kinematics.start import close_driven, place, put_driven, row_sizes, usual_moves
from kinegrad.kinematics.states import refuse_states, refuse_velocity_rows
from kinegrad.memory import require
from kinegrad.motion import Motion
from kinegrad.objectives import begun_with, kinds_of, values_of
from kinegrad.quiet import without_warnings
from kinegrad.recorders import Progress, every_step, some_steps
from kinegrad.statics.drivers import check_drivers, refuse_too_many
from kinegrad.statics.lock_up import passed, reason
from kinegrad.times import times_of

MOST = 300  # coordinates
KEPT, PASSED = 40, 4  # numbers beside the row of a state that is kept, and beside the objectives of each step
MOST_EVENTS = 200  # singular positions that are told


@without_warnings
def drive(
    system: System,
    *,
    t_end: float | None = None,
    step: float | None = None,
    output_step: float | None = None,
    progress: Callable[[float], None] | None = None,
    throw: bool = True,
    s: np.ndarray | None = None,
    guess: np.ndarray | None = None,
) -> Motion:
    """The motion that the drivers of `system` prescribe, from 0 to `t_end`.

    Position, velocity and acceleration problems are solved at each step, on the branch that the poses of the bodies choose
    at the start. `lam` are the multipliers of the equations of motion: what the motion asks for in forces. Times that are
    not given are those of the model's simulation section.

    Parameters
    ----------
    step, output_step : float, optional
        Time between instants [s]; between those that are kept.  In between, as many are found as the motion needs to stay on
        its branch.
    guess : (n,) array, optional
        Coordinates near those at the start, in the place of the poses: they choose the branch.
    throw : bool
        Raise AssemblyError when the mechanism locks up, or cannot go on for another reason (its `motion` holds what was found
        up to then); or return that motion, with a `status` that is not 0.

    Returns
    -------
    Motion
        ``extra["singular"]`` lists the singular positions on the way: time, rank, the coordinate that is free there, and
        whether the motion passed them.
    """
    refuse_states(system, "a motion by drivers")
    refuse_velocity_rows(system, "A motion by drivers", "simulate the model")
    t_end, step, output_step, ts, hs, stride, follows, *_ = times_of(system, None, t_end, step, output_step)
    if system.n > MOST:
        raise KinegradError(
            f"A motion by drivers factors full matrices, of {system.n} coordinates here; it takes up to {MOST}. Simulate the "
            "model with the formulation 'ali3p', whose solver 'fronts' takes as many as there are, or use joint coordinates, "
            "of which there are fewer."
        )
    _require_memory(system, len(hs), stride)
    work = system.with_solver(DENSE).workspace(s=s)  # its kernels take full matrices
    driven = Driven(system, work)
    row = driven.begin(guess)
    work.call(OBSERVE)
    kinds = kinds_of(system, ts)
    objectives = Objectives(kinds, begun_with(kinds, work["g"]), work["g"].copy())
    loaded = system.tables.setdefault("loaded", set())
    if "driven" not in loaded:
        driven.load(work, driven.fn, objectives)
        loaded.add("driven")
    with Interrupts() as interrupts:
        way = Progress(driven, work, driven.fn, objectives, row, ts, hs, step)
        run, done = (
            (every_step(way, progress, interrupts), None)
            if stride == 1
            else some_steps(way, stride, progress, interrupts)
        )
    values = values_of(kinds, objectives.psi, float(run.ts[-1])).tolist()
    values = dict(zip(system.objectives, values, strict=True))
    motion = Motion(
        system=system, formulation=None, integrator=None, scheme=DrivenStates(system), t=run.t, traj=run.traj, ts=run.ts,
        hs=run.hs, stride=stride, iterations=run.iterations, flags=run.flags, cpu_s=run.cpu_s, status=int(run.status),
        objectives=values, s=work["s"].copy(), step=step, t_end=t_end,
        work=done, follows=follows,
    )  # fmt: skip
    motion.extra |= {"steps": len(run.hs), "first_iterations": driven.first, "singular": passed(driven)}
    if interrupts.came:
        stopped = KeyboardInterrupt()
        stopped.motion = motion
        raise stopped
    if work.calls is not None and work.calls.failure is not None:
        motion.status = CALLBACK_FAILED
        if throw:
            work.check_calls()
        return motion
    if run.status != OK:
        sentence, place_of_it = reason(driven, run.status)
        motion.extra["singular"] += place_of_it
        if throw:
            raise AssemblyError(sentence, motion=motion)
    work.give_back()
    return motion


def _require_memory(system: System, steps: int, stride: int) -> None:
    """Raises when the memory does not hold what is kept of so many steps."""
    kept = steps / stride + 2.0
    size = 8.0 * (kept * (2 * (3 * system.n + system.m) + KEPT) + steps * (PASSED + len(system.objectives)))
    require(size, f"Moving through {steps} steps", "take larger steps, or keep fewer states by a larger output_step")


def factors_at(system: System, work: Workspace):
    """Room for factors of the rows, with the scales that these have at the position of the workspace (LIN-8)."""
    from kinegrad.kernels.orthogonal import factors

    return factors(1.0 / row_sizes(system, work, system.m), usual_moves(system, work), work["q"].dtype)


class DrivenStates(GivenStates):
    """States that drivers prescribe."""

    def gradient(self, motion: Motion, **options):
        """What `kinegrad.gradient` gives of such a motion."""
        from kinegrad.statics.kinematic_gradient import driven_gradient

        return driven_gradient(motion, **options)


class Driven(GivenStates):
    """A fully driven system on its way; `path` has the state that was found last, `factors` those of its rows."""

    def __init__(self, system: System, work: Workspace):
        from kinegrad.kernels.formulations import driven

        super().__init__(system)
        self.work, self.kernels = work, driven
        self.first = 0
        self.more = int(np.iscomplexobj(work["q"]))  # a complex step needs one round more than its real part

    def begin(self, near: np.ndarray | None = None) -> np.ndarray:
        """The row of the state at t = 0; raises when something is left free."""
        system, work, m = self.system, self.work, self.system.m
        work["par"][:] = 0.0
        if near is None:
            place(system, work)
        else:
            work["q"][:] = near
            put_driven(system, work)
        guess = work["q"].copy()
        try:
            with explained(work.way):
                self.first = close_driven(system, work, "at t = 0 s")
        except AssemblyError:
            work["q"][:] = guess
            refuse_too_many(system, work)
            raise
        if near is None:
            tell_branch(system, work, stacklevel=5)
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        number = work["q"].dtype
        self.factors = factors_at(system, work)
        self.path = self.kernels.path(system.n, m, MOST_EVENTS, number)
        check_drivers(self)
        self.fn = work.functions(POSITION, EVALUATE, BIAS, OBSERVE)
        row = np.zeros(self.row_size, number)
        status, _ = self.kernels.begin(self.fn, work.pointer, self.factors, self.path, row)
        work.check_calls()
        if status != OK:
            raise AssemblyError(reason(self, status)[0])
        return row

    load = Scheme.load

    def steps(self, work, fn, steps, objectives):
        """Status and number of steps done, as a function of the first one and of the one behind the last."""
        arguments = fn, work.pointer, self.factors, self.path, self.more, steps, objectives
        return Windows(self.kernels.drive, arguments).over
