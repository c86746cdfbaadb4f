"""Direct differentiation: the derivative of the state is carried along with the steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, INTEGRAL, Kinds
from kinegrad.kernels.prepared import Windows
from kinegrad.kernels.products import LINEARISE
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
        return Derivatives(direct(states, wanted, course), course=course)

    def load(self, motion: Motion, wanted: Wanted) -> None:
        states = AllStates(motion)
        Sweep(motion, wanted.ds, states.kinds).over(states.piece(0, 0))


class Sweep:
    """The derivative of the state along a motion by the directions ds, at first that of the start, and of the objectives up
    to there: `grad` (o, p)."""

    def __init__(self, motion: Motion, ds: np.ndarray, kinds: Kinds):
        self.kinds, self.pattern = kinds, ds
        self.work = work = motion.system.workspace(ds=ds, s=motion.s)
        self.grad, self.state = np.zeros((len(kinds.kind), len(ds)), work["q"].dtype), None
        self.weights = usual_start_weights(motion, kinds)
        self.begin(motion)
        self.fn = work.functions(LINEARISE)

    @classmethod
    def of(cls, states: AllStates, wanted: Wanted) -> Sweep:
        """A sweep that was done before, at the start of another motion of the same program, or a new one."""
        motion, ds = states.motion, wanted.ds
        kept = lent_sweep(motion, (cls, tuple(wanted.labels)))
        if kept is None or kept.kinds is not states.kinds or not same_pattern(ds, kept.pattern):
            return cls(motion, ds, states.kinds)
        kept.work.renew(motion.system, motion.s, ds)
        kept.begin(motion)
        return kept

    def begin(self, motion: Motion) -> None:
        """Be at the start of a motion, in the same arrays if there are some; the workspace is as new."""
        self.motion, work = motion, self.work
        q, v, a = self.first = at_start(motion, work).direct()
        weights = self.weights
        if weights is None:
            weights = start_weights(motion, self.kinds, work.arrays["g"])
        np.multiply(weights[:, None], self.at_start(), out=self.grad)
        state = motion.scheme.start_state(work, q, v, a)
        if self.state is None:
            self.state = state
            return
        for array, values in zip(self.state, state, strict=True):
            array[...] = values

    def over(self, piece: Piece) -> None:
        """Go on through some steps."""
        motion = self.motion
        status, step = motion.scheme.direct(self.work, self.fn, piece.segment, self.state, self.grad)
        self.work.check_calls()
        if status != OK:
            raise failed(motion, status, piece.first + step)

    def at_start(self) -> np.ndarray:
        """(o, p) derivatives of what the objectives take at the start; to be asked for before the first piece."""
        arrays, (q, v, a) = self.work.arrays, self.first
        return arrays["g_q"] @ q + arrays["g_v"] @ v + arrays["g_a"] @ a + arrays["g_s"]

    def at_ends(self, states: AllStates, rows: Sequence[int]) -> Iterator[np.ndarray]:
        """(o, p) derivatives of the objectives, as values at the end, at increasing numbers of states, one after another."""
        if max(rows, default=0) > states.steps:
            raise IndexError(f"there are {states.steps + 1} states, and number {max(rows)} is asked for")
        whole = states.piece(0, states.steps).segment._replace(kinds=self.kinds)
        pieces = Windows(*self.motion.scheme.direct_call(self.work, self.fn, whole, self.state, self.grad))
        done = 0
        for row in rows:
            if row == 0:
                yield self.at_start()
                continue
            self.grad[:] = 0.0
            status, step = pieces.over(done, row)
            self.work.check_calls()
            if status != OK:
                raise failed(self.motion, status, done + step)
            done = row
            yield self.grad.copy()

    def up_to(self, piece: Piece) -> np.ndarray:
        """Go on through some steps; the derivatives of integrals and sums up to there.  By the trapezoidal rule the sweep has
        counted the last state's part of the next step already, which is left out."""
        most, one = piece.but_the_last()
        if len(most.segment.hs):
            self.over(most)
        before, h, after = self.grad.copy(), float(one.segment.hs[0]), one.segment.after
        self.over(one)
        if after == 0.0:
            return self.grad.copy()
        summed = (self.kinds.kind == INTEGRAL) & (self.motion.scheme.start_weight(one.segment.hs) > 0.0)
        beyond = np.where(summed[:, None], (self.grad - before) * (after / (h + after)), 0.0)
        return self.where_known(self.grad - beyond)

    def where_known(self, grad: np.ndarray) -> np.ndarray:
        """NaN for objectives that only the whole motion gives."""
        return np.where(np.isin(self.kinds.kind, (FINAL, EXTREME))[:, None], np.nan, grad)


def direct(states: AllStates, wanted: Wanted, course: list | None = None) -> np.ndarray:
    """(o, p) derivatives by the parameters that are wanted (ALI-3, MR-3); what they are on the way is added to `course`."""
    motion, steps, progress = states.motion, states.steps, wanted.progress
    sweep = Sweep.of(states, wanted)
    if course is not None:
        course.append((motion.ts[0], sweep.where_known(0.0 * sweep.grad)))
    for piece in states.forwards(size_of_pieces(steps, progress, course)):
        if course is None:
            sweep.over(piece)
        else:
            course.append((motion.ts[piece.last], sweep.up_to(piece)))
        if progress:
            progress(piece.last / steps)
    tell_unsettled(sweep.work, steps)
    grad = sweep.grad.copy()
    keep_sweep(motion, (Sweep, tuple(wanted.labels)), sweep)
    return grad
