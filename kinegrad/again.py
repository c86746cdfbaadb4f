"""Runs of a small system with other values of its parameters, again and again: those of `simulate`, to the last digit.

Workspaces, times and what else no parameter moves are there from the first run on.  Where anything is unusual, such as a start
that is not found at once, or something to tell, a run is None, and whoever asked for it asks `simulate`, which decides and has
the words for it.
"""

from __future__ import annotations

import time
from typing import TypeVar

import numpy as np

from kinegrad.accuracy import energy_from_nowhere
from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.dynamics.scheme import Scheme
from kinegrad.dynamics.schemes import made_of, solved
from kinegrad.jumps import arguments
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.formulations.objectives import FINAL
from kinegrad.kernels.products import OBSERVE
from kinegrad.kernels.status import OK
from kinegrad.kinematics import compiled
from kinegrad.kinematics.start import compiled_start, place
from kinegrad.kinematics.states import check_states
from kinegrad.motion import Motion
from kinegrad.objectives import kinds_of
from kinegrad.quiet import without_warnings
from kinegrad.remembered import remembered
from kinegrad.starts import AsFound, Assembled
from kinegrad.times import SHORT, Times

NEARLY = 0.8  # of the iterations allowed: told in a warning
LARGE = 1e6  # bytes of states: the rest of a call is nothing beside such a run


def nearly_all(iterations: np.ndarray, allowed: int) -> bool:
    """Whether a step took nearly all iterations it may."""
    return allowed >= 5 and bool(iterations.max(initial=0) >= NEARLY * allowed)


class Runs:
    """Runs of one system, with one scheme and the same times; for one caller at a time.

    Parameters
    ----------
    system : System
        Which `serves` has found suitable, with any values.
    formulation, integrator : option objects
    times : Times
    """

    def __init__(self, system: System, formulation, integrator, times: Times):
        self.formulation, self.integrator, self.times = formulation, integrator, times
        self.made = made_of(system, formulation, integrator)
        self.scheme = scheme = Scheme(system, *self.made[:4])
        self.work, self.start = system.workspace(), Assembled()
        self.fn = self.work.functions(*scheme.needs, OBSERVE)
        self.kinds, count, steps = kinds_of(system, times.ts), len(system.objectives), len(times.hs)
        self.at_end = (self.kinds.kind == FINAL).astype(float)
        self.objectives = Objectives(self.kinds, np.zeros(count), np.zeros(count))
        states, counts = np.zeros((steps + 1, scheme.row_size)), (np.zeros(steps, np.int64) for _ in range(2))
        self.steps = Steps(times.ts, times.hs, 1, states, *counts)
        self.advance = None  # all steps, as a function of nothing
        counted = scheme.iterates and "max_iterations" not in scheme.unused
        self.allowed = scheme.options["max_iterations"] if counted else 0
        self.last: Motion | None = None  # whose states are in `steps`

    @staticmethod
    def serves(system: System, formulation, integrator, times: Times, solver: str) -> bool:
        """Whether runs can be repeated: the system is small, no parameter moves its times, and nothing in it is told to users
        while it runs."""
        made, tables, kinds = made_of(system, formulation, integrator), system.tables, kinds_of(system, times.ts)
        return (
            not made.pair.adaptive
            and times.stride == 1
            and len(times.hs) <= SHORT
            and not (times.follows or arguments(system))
            and solved(system, formulation, solver).solver == system.solver == DENSE
            and compiled.serves(system, Scheme(system, *made[:4]).compliance)
            and not (tables["packed"].calls or tables["owners"]["kink"])
            and not (kinds.sharpness.any() or len(kinds.times))  # neither extremes nor sums
            and made.fixed
        )

    @without_warnings
    def run(self, system: System, guess: np.ndarray | None = None, found: AsFound | None = None) -> Motion | None:
        """The motion from the assembly near `guess`, or near the model's poses, or from a start that was found; None where
        something is unusual."""
        work, steps, s, self.last = self.work, self.steps, system.checked_s, None
        work.renew(system, s)
        if found is not None:
            found.put(system, work, 0.0, None)
        elif not self._assembled(system, guess):
            return None
        scheme = self._scheme_for(system)
        scheme.begin(work, None if found is None else found.scheme)
        work.call(OBSERVE)
        scheme.keep(work, steps.traj[0])
        steps.counts[:] = 0
        steps.flags[:] = 0
        _, psi, g = self.objectives
        g[:] = work.arrays["g"]
        np.multiply(self.at_end, g, out=psi)
        clock = time.thread_time()
        status, _ = self._advanced(scheme)
        clock = time.thread_time() - clock
        told = status != OK or scheme.remark(work) or nearly_all(steps.counts, self.allowed)
        if told or not np.isfinite(psi).all():
            return None
        motion = self._motion(system, scheme, clock, self.start if found is None else found.before)
        return None if energy_from_nowhere(motion, work) else motion

    def _assembled(self, system: System, guess: np.ndarray | None) -> bool:
        """Whether the workspace is at the start."""
        work = self.work
        if guess is None:
            place(system, work)
        else:
            work.arrays["q"][:] = guess
        check_states(system, work.arrays["s"])
        usual = compiled_start(system, work, 0.0, 0.0, None)[0] == compiled.DONE
        return usual and not system.set.remark(system, work)

    def _scheme_for(self, system: System) -> Scheme:
        if self.scheme.stays_in_place:
            self.scheme.use(system)
        else:
            self.scheme, self.advance = Scheme(system, *self.made[:4]), None
        return self.scheme

    def _advanced(self, scheme: Scheme) -> tuple:
        """Status and number of steps done."""
        if not scheme.stays_in_place:
            return scheme.advance(self.work, self.fn, self.steps, self.objectives)
        if self.advance is None:
            self.advance = scheme.repeated(self.work, self.fn, self.steps, self.objectives)
        return self.advance()

    def _motion(self, system: System, scheme: Scheme, clock: float, start) -> Motion:
        """What was run, in arrays of its own."""
        times, (_, _, _, traj, counts, flags), ts = self.times, self.steps, self.times.ts.copy()
        self.last = Motion(
            system=system, formulation=self.formulation, integrator=self.integrator, scheme=scheme.as_it_is(), t=ts,
            traj=traj.copy(), ts=ts, hs=times.hs.copy(), stride=1, iterations=counts.copy(), flags=flags.copy(), cpu_s=clock,
            status=OK, objectives=dict(zip(system.objectives, self.objectives.psi.tolist(), strict=True)),
            s=system.checked_s.copy(), step=times.step, t_end=times.t_end, follows=times.follows, start=start,
        )  # fmt: skip
        return self.last


Kind = TypeVar("Kind", bound=Runs)


class Lent:
    """Runs that nobody uses now, of one scheme and one set of times; the first call has none, since there may be no other."""

    def __init__(self, formulation, integrator, times: Times):
        self.elements = formulation, integrator, times  # so that nothing else gets their ids
        self.calls, self.serves, self.free = 0, False, []

    def take(self, kind: type[Kind], system: System, solver: str) -> Kind | None:
        """Runs for one caller, who has to `give_back` them; None where each run is to be simulated."""
        self.calls += 1
        if self.calls == 2:
            self.serves = kind.serves(system, *self.elements, solver)
        if self.calls < 2 or not self.serves:
            return None
        try:
            return self.free.pop()
        except IndexError:
            return kind(system, *self.elements)

    def give_back(self, runs: Runs) -> None:
        """Take runs that nobody uses any more."""
        runs.last = None
        self.free.append(runs)


def lent(kind: type[Runs], system: System, formulation, integrator, times: Times, solver: str) -> Lent | None:
    """Where runs of this scheme and these times are to be had; None where the states of such a run are many."""
    if times.stride != 1 or 80.0 * len(times.hs) * system.n > LARGE or np.iscomplexobj(system.rho):
        return None
    known = system.tables.setdefault("runs_again", {})
    key = kind, solver, system.solver, id(formulation), id(integrator), id(times)
    return remembered(known, key, lambda: Lent(formulation, integrator, times))


def run_again(system: System, formulation, integrator, times: Times, solver: str, guess=None) -> Motion | None:
    """A motion from the assembly by runs that are repeated; None where it is to be simulated."""
    shelf = lent(Runs, system, formulation, integrator, times, solver)
    runs = None if shelf is None else shelf.take(Runs, system, solver)
    if runs is None:
        return None
    try:
        return runs.run(system, guess)
    finally:
        shelf.give_back(runs)
