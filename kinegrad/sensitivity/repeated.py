"""Runs of a small system with other values of its parameters, again and again, and their gradients.

They are those of `simulate` and `gradient`, to the last digit.  Workspaces, times and what else no parameter moves are there
from the first run on; where anything is unusual, such as a start that is not found at once, the functions here say so, and
whoever called them asks `simulate` and `gradient`, which decide and have the words for it.  Whether coordinates lose digits far
from the origin is not looked at again.
"""

from __future__ import annotations

import time

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.dynamics.scheme import Scheme
from kinegrad.dynamics.schemes import made_of, solved
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.products import OBSERVE, UNSETTLED
from kinegrad.kernels.status import OK
from kinegrad.kinematics import compiled
from kinegrad.kinematics.start import compiled_start
from kinegrad.kinematics.states import check_states
from kinegrad.motion import Motion
from kinegrad.objectives import begun_with, kinds_of
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity import direct, discrete_adjoint
from kinegrad.sensitivity.states import AllStates
from kinegrad.sensitivity.sweeps import FEW
from kinegrad.simulate import nearly_all
from kinegrad.starts import Assembled
from kinegrad.times import SHORT, Times, times_of

MOST_SWEEPS = 4  # kinds of gradients whose workspaces are kept


class Repeated:
    """Runs of one system, with one scheme and the same times; for one caller.

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
        scheme = Scheme(system, *self.made[:4])
        self.work, self.start = system.workspace(), Assembled()
        self.fn = self.work.functions(*scheme.needs, OBSERVE)
        self.kinds, count, steps = kinds_of(system, times.ts), len(system.objectives), len(times.hs)
        self.objectives = Objectives(self.kinds, np.zeros(count), np.zeros(count))
        self.shape = steps + 1, scheme.row_size
        counted = scheme.iterates and "max_iterations" not in scheme.unused
        self.iterations = scheme.options["max_iterations"] if counted else 0
        self.sweeps: dict = {}

    @staticmethod
    def serves(system: System, formulation, integrator, times: Times, solver: str) -> bool:
        """Whether runs can be repeated: the system is small, its steps are even, and nothing in it is told to users while it
        runs."""
        made, tables, kinds = made_of(system, formulation, integrator), system.tables, kinds_of(system, times.ts)
        return (
            not made.pair.adaptive
            and times.stride == 1
            and len(times.hs) <= SHORT
            and not times.follows
            and solved(system, formulation, solver).solver == system.solver == DENSE
            and compiled.serves(system, Scheme(system, *made[:4]).compliance)
            and not (tables["packed"].calls or tables["owners"]["kink"])
            and not (kinds.sharpness.any() or len(kinds.times))  # neither extremes nor sums
            and made.fixed
        )

    @without_warnings
    def run(self, system: System, guess: np.ndarray) -> Motion | None:
        """The motion from the assembly near `guess`; None where something is unusual."""
        work, s, times, traj = self.work, system.checked_s, self.times, np.zeros(self.shape)
        counts, flags = np.zeros(len(traj) - 1, np.int64), np.zeros(len(traj) - 1, np.int64)
        work.renew(system, s)
        arrays = work.arrays
        arrays["q"][:] = guess
        check_states(system, s)
        if compiled_start(system, work, 0.0, 0.0, None)[0] != compiled.DONE:
            return None
        work.call(OBSERVE)
        scheme = Scheme(system, *self.made[:4])
        scheme.begin(work)
        scheme.keep(work, traj[0])
        _, psi, g_last = self.objectives
        g_last[:] = arrays["g"]
        psi[:] = begun_with(self.kinds, g_last)
        clock = time.thread_time()
        status, _ = scheme.advance(work, self.fn, Steps(times.ts, times.hs, 1, traj, counts, flags), self.objectives)
        clock = time.thread_time() - clock
        told = scheme.remark(work) or nearly_all(counts, self.iterations)
        if status != OK or told or not np.isfinite(psi).all():
            return None
        ts = times.ts.copy()
        return Motion(
            system=system, formulation=self.formulation, integrator=self.integrator, scheme=scheme, t=ts, traj=traj, ts=ts,
            hs=times.hs.copy(), stride=1, iterations=counts, flags=flags, cpu_s=clock, status=OK, s=s.copy(),
            objectives=dict(zip(system.objectives, psi.tolist(), strict=True)), step=times.step, t_end=times.t_end,
            follows=times.follows, start=self.start,
        )  # fmt: skip

    @without_warnings
    def gradient(self, motion: Motion, labels: tuple[str, ...], method: str) -> np.ndarray | None:
        """(objectives, labels) derivatives of a motion that `run` found with this formulation, by "direct" or
        "discrete-adjoint"; None where something is unusual, and for the first time that `labels` are asked for."""
        system, key = motion.system, (labels, method)
        if key not in self.sweeps:  # that time all is checked
            if len(self.sweeps) >= MOST_SWEEPS:
                self.sweeps.clear()
            self.sweeps[key] = None
            return None
        states, s_rho = AllStates(motion), system.derivatives(labels)
        if states.passages(s_rho)[2]:
            return None
        piece = states.piece(0, len(motion.hs))
        if method == "direct":
            directions = system.directions(labels)
            sweep = direct.Sweep(motion, directions, self.kinds, self._workspace(key, motion, ds=directions))
            sweep.over(piece)
            found = sweep.grad
        else:
            wanted = s_rho.moved()
            sweep = discrete_adjoint.Sweep(motion, wanted, self.kinds, self._workspace(key, motion, wanted=wanted))
            sweep.back(piece)
            sweep.at_start()
            found = s_rho.pull(sweep.work.arrays["psi_s"][: len(self.kinds.kind)])
        settled = sweep.work.arrays["flag"][UNSETTLED] <= FEW * len(motion.hs)
        return found if settled and np.isfinite(found).all() else None

    def _workspace(self, key, motion: Motion, ds=None, wanted=None):
        """The workspace of a sweep, as new; another one where the pattern of directions or of wanted slots has changed."""
        pattern, known = ds if wanted is None else wanted, self.sweeps[key]
        same = known is not None and (known[0] is pattern or np.array_equal(known[0] != 0, pattern != 0))
        if same:
            known[1].renew(motion.system, motion.s, ds)
        else:
            known = self.sweeps[key] = pattern, motion.system.workspace(s=motion.s, ds=ds, wanted=wanted)
        return known[1]


def repeated(system: System, formulation, integrator, t_end: float, step: float, solver: str) -> Repeated | None:
    """What runs of a system are repeated with; None where each of them is to be simulated."""
    made = made_of(system, formulation, integrator)
    times = times_of(system, made.pair.integrator(made.of_integrator), t_end, step, step)
    if not Repeated.serves(system, formulation, integrator, times, solver):
        return None
    return Repeated(system, formulation, integrator, times)
