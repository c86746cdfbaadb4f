"""Direct differentiation: the derivative of the state is carried along with the steps."""

from __future__ import annotations

import numpy as np

from kinegrad.kernels.products import LINEARISE
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.sensitivity.sweeps import at_start, failed, final_objectives, pieces, start_weights


def direct(motion: Motion, ds: np.ndarray, progress, course: list | None = None) -> np.ndarray:
    """(o, p) derivatives by the directions ds (ALI-3, MR-3); what they are on the way is added to `course`."""
    system, scheme = motion.system, motion.scheme
    final = final_objectives(system)
    work = system.workspace(ds=ds, s=motion.s)
    begin = at_start(motion, work)
    q, v, a = begin.direct()
    n = system.n
    grad = np.zeros((len(final), len(ds)))
    for o, weight in enumerate(start_weights(motion, final)):
        g_q, g_s = work["g_z"][o, :n], work["g_z"][o, n:]
        grad[o] = weight * (g_q @ q + work["g_v"][o] @ v + work["g_a"][o] @ a + g_s)
    state = scheme.start_state(work, q, v, a)
    fn = work.functions(LINEARISE)
    if course is not None:
        course.append((motion.ts[0], np.where(final[:, None], np.nan, 0.0 * grad)))
    for first, last in pieces(len(motion.hs), progress, course):
        after = float(motion.hs[last]) if last < len(motion.hs) else 0.0
        status, step = scheme.direct(
            work, fn, motion.ts[first : last + 1], motion.hs[first:last], after, final,
            motion.traj[first : last + 1], motion.flags[first:last], state, grad,
        )  # fmt: skip
        work.check_calls()
        if status != OK:
            raise failed(motion, status, first + step)
        if course is not None:
            done = last == len(motion.hs)
            course.append((motion.ts[last], grad.copy() if done else np.where(final[:, None], np.nan, grad)))
        if progress:
            progress(last / len(motion.hs))
    return grad
