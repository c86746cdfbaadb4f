"""Direct differentiation: the derivative of the state is carried along with the steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, Kinds
from kinegrad.kernels.products import LINEARISE
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.sensitivity.method import Derivatives, Method, Wanted
from kinegrad.sensitivity.states import AllStates, Piece
from kinegrad.sensitivity.sweeps import (
    at_start,
    failed,
    size_of_pieces,
    start_weights,
    tell_unsettled,
)


@dataclass(frozen=True)
class Direct(Method):
    """Direct differentiation, forwards: its cost grows with the number of parameters.

    Parameters
    ----------
    history : bool
        Also keep how the gradient of integrals grows in time (`Gradient.history`).
    """

    name = "direct"
    history: bool = False

    def run(self, states: AllStates, wanted: Wanted) -> Derivatives:
        course: list | None = [] if self.history else None
        return Derivatives(direct(states, wanted.ds, wanted.progress, course), course=course)

    def load(self, motion: Motion, wanted: Wanted) -> None:
        states = AllStates(motion)
        Sweep(motion, wanted.ds, states.kinds).over(states.piece(0, 0))


class Sweep:
    """The derivative of the state along a motion by the directions ds, at first that of the start, and of the objectives up
    to there: `grad` (o, p)."""

    def __init__(self, motion: Motion, ds: np.ndarray, kinds: Kinds):
        system = motion.system
        self.motion, self.kinds = motion, kinds
        self.work = work = system.workspace(ds=ds, s=motion.s)
        q, v, a = at_start(motion, work).direct()
        self.grad = np.zeros((len(kinds.kind), len(ds)), work["q"].dtype)
        for o, weight in enumerate(start_weights(motion, kinds, work["g"])):
            g_q, g_s = work["g_q"][o], work["g_s"][o]
            self.grad[o] = weight * (g_q @ q + work["g_v"][o] @ v + work["g_a"][o] @ a + g_s)
        self.state = motion.scheme.start_state(work, q, v, a)
        self.fn = work.functions(LINEARISE)

    def over(self, piece: Piece) -> None:
        """Go on through some steps."""
        motion = self.motion
        status, step = motion.scheme.direct(self.work, self.fn, piece.segment, self.state, self.grad)
        self.work.check_calls()
        if status != OK:
            raise failed(motion, status, piece.first + step)

    def so_far(self) -> np.ndarray:
        """The derivatives of integrals and sums up to here; NaN for objectives that only the whole motion gives."""
        return np.where(np.isin(self.kinds.kind, (FINAL, EXTREME))[:, None], np.nan, self.grad)


def direct(states: AllStates, ds: np.ndarray, progress, course: list | None = None) -> np.ndarray:
    """(o, p) derivatives by the directions ds (ALI-3, MR-3); what they are on the way is added to `course`."""
    motion, steps = states.motion, states.steps
    sweep = Sweep(motion, ds, states.kinds)
    if course is not None:
        course.append((motion.ts[0], 0.0 * sweep.so_far()))
    for piece in states.forwards(size_of_pieces(steps, progress, course)):
        sweep.over(piece)
        if course is not None:
            course.append((motion.ts[piece.last], sweep.grad.copy() if piece.last == steps else sweep.so_far()))
        if progress:
            progress(piece.last / steps)
    tell_unsettled(sweep.work, steps)
    sweep.work.give_back()
    return sweep.grad
