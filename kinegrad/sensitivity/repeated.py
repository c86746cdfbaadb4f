"""Gradients of runs that are repeated with other values of parameters: those of `gradient`, to the last digit.

Where anything is unusual they are None, and whoever asked for them asks `gradient`, which decides and has the words for it.
"""

from __future__ import annotations

import numpy as np

from kinegrad.again import Runs
from kinegrad.coordinates.system import System
from kinegrad.dynamics.schemes import made_of
from kinegrad.expressions.maps import Jacobian
from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.prepared import Prepared
from kinegrad.kernels.products import UNSETTLED
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity import direct, discrete_adjoint
from kinegrad.sensitivity.states import AllStates
from kinegrad.sensitivity.sweeps import FEW
from kinegrad.times import times_of

MOST_SWEEPS = 4  # kinds of gradients whose workspaces are kept


class Repeated(Runs):
    """Runs with gradients."""

    def __init__(self, system, formulation, integrator, times):
        super().__init__(system, formulation, integrator, times)
        self.sweeps: dict = {}

    @without_warnings
    def gradient(self, motion: Motion, labels: tuple[str, ...], method: str) -> np.ndarray | None:
        """(objectives, labels) derivatives of the motion that `run` found last, by "direct" or "discrete-adjoint"; None where
        something is unusual, and for the first time that `labels` are asked for."""
        system, key = motion.system, (labels, method)
        if key not in self.sweeps:  # that time all is checked
            if len(self.sweeps) >= MOST_SWEEPS:
                self.sweeps.clear()
            self.sweeps[key] = None
            return None
        if motion is not self.last or self._passes_something(motion, labels):
            return None
        if method == "direct":
            pattern = columns = system.directions(labels)
        else:
            columns = system.derivatives(labels)
            pattern = columns.moved()
        sweep = self.sweeps[key]
        if sweep is None or not sweep.suits(pattern):
            kind = Forwards if method == "direct" else Backwards
            sweep = self.sweeps[key] = kind(self, motion, pattern)
        found = sweep.over(motion, columns)
        if found is None or sweep.work.arrays["flag"][UNSETTLED] > FEW * len(motion.hs):
            return None
        return found if np.isfinite(found).all() else None

    def _passes_something(self, motion: Motion, labels) -> bool:
        """Whether there may be singular positions on the way."""
        told = self.scheme.singular_states(motion)
        return (
            bool(len(told))
            if told is not None
            else bool(AllStates(motion).passages(motion.system.derivatives(labels))[2])
        )


class Kept:
    """A sweep whose arrays stay: those of the runs, and of directions or wanted slots with one pattern."""

    def __init__(self, runs: Repeated, pattern: np.ndarray, sweep):
        self.runs, self.pattern, self.sweep, self.work = runs, pattern, sweep, sweep.work
        steps = runs.steps
        self.segment = Segment(steps.ts, steps.hs, 0.0, 0.0, runs.kinds, steps.traj, steps.flags)
        self.prepared: Prepared | None = None

    def suits(self, pattern: np.ndarray) -> bool:
        """Whether directions or wanted slots have the pattern that the arrays were made for."""
        return pattern is self.pattern or np.array_equal(pattern != 0, self.pattern != 0)

    def passed(self) -> bool:
        """Whether the sweep came through all steps."""
        if self.prepared is None or not self.runs.scheme.stays_in_place:
            self.prepared = Prepared(*self.call())
        return self.prepared()[0] == OK


class Forwards(Kept):
    """Direct differentiation."""

    def __init__(self, runs, motion, pattern):
        super().__init__(runs, pattern, direct.Sweep(motion, pattern, runs.kinds))

    def call(self):
        """The compiled entry of the sweep and its arguments."""
        return self.runs.scheme.direct_call(self.work, self.sweep.fn, self.segment, self.sweep.state, self.sweep.grad)

    def over(self, motion: Motion, ds: np.ndarray) -> np.ndarray | None:
        """(objectives, directions) derivatives of the last run."""
        self.work.renew(motion.system, motion.s, ds)
        self.sweep.begin(motion)
        return self.sweep.grad.copy() if self.passed() else None


class Backwards(Kept):
    """The discrete adjoint."""

    def __init__(self, runs, motion, pattern):
        super().__init__(runs, pattern, discrete_adjoint.Sweep(motion, pattern, runs.kinds))

    def call(self):
        """The compiled entry of the sweep and its arguments."""
        return self.runs.scheme.adjoint_call(self.work, self.sweep.fn, self.segment, self.sweep.state)

    def over(self, motion: Motion, s_rho: Jacobian) -> np.ndarray | None:
        """(objectives, columns of s_rho) derivatives of the last run."""
        self.work.renew(motion.system, motion.s)
        self.sweep.begin(motion)
        if not self.passed():
            return None
        self.sweep.at_start()
        return s_rho.pull(self.work.arrays["psi_s"][: len(self.runs.kinds.kind)])


def repeated(system: System, formulation, integrator, t_end: float, step: float, solver: str) -> Repeated | None:
    """What runs of a system are repeated with; None where each of them is to be simulated."""
    times = times_of(system, made_of(system, formulation, integrator).integrator, t_end, step, step)
    if not Repeated.serves(system, formulation, integrator, times, solver):
        return None
    return Repeated(system, formulation, integrator, times)
