"""Direct differentiation: the derivative of the state is carried along with the steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.products import LINEARISE
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.sensitivity.method import Derivatives, Method, Wanted
from kinegrad.sensitivity.sweeps import (
    at_start,
    failed,
    final_objectives,
    pieces,
    segment_of,
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

    def run(self, motion: Motion, wanted: Wanted) -> Derivatives:
        course: list | None = [] if self.history else None
        return Derivatives(direct(motion, wanted.ds, wanted.progress, course), course=course)

    def load(self, motion: Motion, wanted: Wanted) -> None:
        Sweep(motion, wanted.ds).over(0, 0)


class Sweep:
    """The derivative of the state along a motion by the directions ds, at first that of the start, and of the objectives up
    to there: `grad` (o, p)."""

    def __init__(self, motion: Motion, ds: np.ndarray):
        system = motion.system
        self.motion, self.final = motion, final_objectives(system)
        self.work = work = system.workspace(ds=ds, s=motion.s)
        q, v, a = at_start(motion, work).direct()
        self.grad = np.zeros((len(self.final), len(ds)))
        for o, weight in enumerate(start_weights(motion, self.final)):
            g_q, g_s = work["g_q"][o], work["g_s"][o]
            self.grad[o] = weight * (g_q @ q + work["g_v"][o] @ v + work["g_a"][o] @ a + g_s)
        self.state = motion.scheme.start_state(work, q, v, a)
        self.fn = work.functions(LINEARISE)

    def over(self, first: int, last: int) -> None:
        """Go on through the steps first to last - 1."""
        motion = self.motion
        segment = segment_of(motion, first, last, self.final)
        status, step = motion.scheme.direct(self.work, self.fn, segment, self.state, self.grad)
        self.work.check_calls()
        if status != OK:
            raise failed(motion, status, first + step)

    def so_far(self) -> np.ndarray:
        """The derivatives of the integrals up to here; NaN for objectives taken at the end."""
        return np.where(self.final[:, None], np.nan, self.grad)


def direct(motion: Motion, ds: np.ndarray, progress, course: list | None = None) -> np.ndarray:
    """(o, p) derivatives by the directions ds (ALI-3, MR-3); what they are on the way is added to `course`."""
    sweep, steps = Sweep(motion, ds), len(motion.hs)
    if course is not None:
        course.append((motion.ts[0], 0.0 * sweep.so_far()))
    for first, last in pieces(steps, progress, course):
        sweep.over(first, last)
        if course is not None:
            course.append((motion.ts[last], sweep.grad.copy() if last == steps else sweep.so_far()))
        if progress:
            progress(last / steps)
    tell_unsettled(sweep.work, steps)
    return sweep.grad
