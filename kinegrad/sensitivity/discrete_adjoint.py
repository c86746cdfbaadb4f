"""Discrete adjoint: the adjoint of the state is carried back from the last step to the first."""

from __future__ import annotations

import numpy as np

from kinegrad.kernels.products import LINEARISE, PULLBACK
from kinegrad.kernels.status import OK
from kinegrad.motion import Motion
from kinegrad.sensitivity.sweeps import at_start, failed, final_objectives, pieces, start_weights


def adjoint(motion: Motion, wanted: np.ndarray | None, progress) -> np.ndarray:
    """(o, slots) derivatives by the wanted slots, or by all (ALI-4, MR-4)."""
    system, scheme = motion.system, motion.scheme
    final = final_objectives(system)
    work = system.workspace(s=motion.s, wanted=wanted)
    state = scheme.empty_state(len(final))
    fn = work.functions(LINEARISE, PULLBACK)
    for first, last in reversed(pieces(len(motion.hs), progress)):
        after = float(motion.hs[last]) if last < len(motion.hs) else 0.0
        status, step = scheme.adjoint(
            work, fn, motion.ts[first : last + 1], motion.hs[first:last], after, final,
            motion.traj[first : last + 1], motion.flags[first:last], state,
        )  # fmt: skip
        work.check_calls()
        if status != OK:
            raise failed(motion, status, first + step)
        if progress:
            progress(1.0 - first / len(motion.hs))
    begin = at_start(motion, work)
    begin.adjoint(*scheme.start_adjoint(work, state, len(final)), start_weights(motion, final))
    return work["psi_s"].copy()
