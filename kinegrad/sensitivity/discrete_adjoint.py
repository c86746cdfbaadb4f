"""Discrete adjoint: the adjoint of the state is carried back from the last step to the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.formulations.objectives import Kinds
from kinegrad.kernels.products import LINEARISE, PULLBACK4
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.sensitivity.method import Derivatives, Method, Wanted
from kinegrad.sensitivity.states import AllStates, Piece
from kinegrad.sensitivity.sweeps import (
    at_start,
    failed,
    keep_sweep,
    lent_sweep,
    same_pattern,
    size_of_pieces,
    start_weights,
    tell_unsettled,
    usual_start_weights,
)


@dataclass(frozen=True)
class DiscreteAdjoint(Method):
    """The exact transpose of direct differentiation, backwards: its cost grows with the number of objectives.

    Parameters
    ----------
    every_slot : bool
        Also give the derivatives by every number of the model (`Gradient.by_number`).
    history : bool
        Also keep what parameters that change at a time, and not before, do to the objectives (`Gradient.history`).
    """

    name = "discrete-adjoint"
    every_slot: bool = False
    history: bool = False

    def run(self, states: AllStates, wanted: Wanted) -> Derivatives:
        course: list | None = [] if self.history else None
        by_slot = adjoint(states, wanted, self._slots(wanted), course)
        course = None if course is None else course[::-1]
        return Derivatives(wanted.s_rho.pull(by_slot), by_slot if self.every_slot else None, course)

    def load(self, motion: Motion, wanted: Wanted) -> None:
        states = AllStates(motion)
        sweep = Sweep(motion, self._slots(wanted), states.kinds)
        sweep.back(states.piece(0, 0))
        sweep.at_start()

    def _slots(self, wanted: Wanted) -> np.ndarray | None:
        return None if self.every_slot else wanted.s_rho.moved()


class Sweep:
    """The adjoint of the state along a motion, at first zero behind the end, and of the wanted slots, or of all."""

    def __init__(self, motion: Motion, wanted: np.ndarray | None, kinds: Kinds):
        self.motion, self.kinds, self.pattern = motion, kinds, wanted
        self.work = motion.system.workspace(s=motion.s, wanted=wanted)
        self.state = motion.scheme.empty_state(len(kinds.kind))
        self.weights = usual_start_weights(motion, kinds)
        self.fn = self.work.functions(LINEARISE, PULLBACK4)

    @classmethod
    def of(cls, states: AllStates, labels: Sequence[str], slots: np.ndarray | None) -> Sweep:
        """A sweep that was done before, behind the end of another motion of the same program, or a new one."""
        motion = states.motion
        kept = None if slots is None else lent_sweep(motion, (cls, tuple(labels)))
        if kept is None or kept.kinds is not states.kinds or not same_pattern(slots, kept.pattern):
            return cls(motion, slots, states.kinds)
        kept.motion = motion
        kept.work.renew(motion.system, motion.s)
        for array in kept.state:
            array[...] = 0.0
        return kept

    def back(self, piece: Piece) -> None:
        """Go back through some steps."""
        motion = self.motion
        status, step = motion.scheme.adjoint(self.work, self.fn, piece.segment, self.state)
        self.work.check_calls()
        if status != OK:
            raise failed(motion, status, piece.first + step)

    def at_start(self) -> None:
        """Hand the adjoint of the state over to what the start depends on."""
        begin = at_start(self.motion, self.work)
        state = self.motion.scheme.start_adjoint(self.work, self.state, len(self.kinds.kind))
        weights = self.weights
        if weights is None:
            weights = start_weights(self.motion, self.kinds, self.work["g"])
        begin.adjoint(*state, weights)


def adjoint(states: AllStates, wanted: Wanted, slots: np.ndarray | None, course: list | None = None) -> np.ndarray:
    """(o, slots) derivatives by some slots, or by all (ALI-4, MR-4); `course` gains those by the parameters on the way, of
    slots that change there and keep the state."""
    sweep, steps, progress = Sweep.of(states, wanted.labels, slots), states.steps, wanted.progress
    pull = wanted.s_rho.pull
    if course is not None:
        course.append((states.motion.ts[steps], 0.0 * pull(sweep.work["psi_s"])))
    for piece in states.backwards(size_of_pieces(steps, progress, course)):
        sweep.back(piece)
        if course is not None:
            course.append((states.motion.ts[piece.first], pull(sweep.work["psi_s"])))
        if progress:
            progress(1.0 - piece.first / steps)
    sweep.at_start()
    tell_unsettled(sweep.work, steps)
    by_slot = sweep.work["psi_s"].copy()
    if slots is None:
        sweep.work.give_back()
    else:
        keep_sweep(states.motion, (Sweep, tuple(wanted.labels)), sweep)
    return by_slot
