"""What sweeps over a motion share, forwards and backwards: pieces, the start, weights, failures."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.kernels.formulations.objectives import Kinds
from kinegrad.kernels.products import TIME, UNSETTLED
from kinegrad.kinematics.start_derivatives import StartDerivatives
from kinegrad.motion import Motion
from kinegrad.objectives import weights_at
from kinegrad.reasons import explanation

SEGMENTS = 50
FEW = 0.05  # of the steps
CALLER = 6  # frames from a warning to what calls `gradient`
MOMENTS = 200  # times at which a history is kept


def start_weights(motion: Motion, kinds: Kinds, g: np.ndarray) -> np.ndarray:
    """(o,) weights of the start, with the integrands g, in the objectives, as far as the sweeps do not count it."""
    size = motion.scheme.start_weight(motion.hs)
    return weights_at(kinds, 0.0, size, False, g) if size > 0.0 else np.zeros(len(kinds.kind))


def usual_start_weights(motion: Motion, kinds: Kinds) -> np.ndarray | None:
    """The same where they do not depend on integrands: there are no extremes."""
    return None if kinds.sharpness.any() else start_weights(motion, kinds, np.zeros(len(kinds.kind)))


def at_start(motion: Motion, work) -> StartDerivatives:
    """Derivatives of the start, at which the workspace is left."""
    motion.scheme.resume(work, motion.traj[0])
    arrays = work.arrays
    arrays["v"][:], arrays["a"][:] = arrays["vp"], arrays["ap"]
    arrays["par"][TIME] = motion.ts[0]
    return motion.start.derivatives(motion.system, work, motion.scheme.compliance)


def lent_sweep(motion: Motion, key: tuple):
    """A sweep over another motion of the same program that is over; None where there is none."""
    return None if motion.program is None else motion.program.lent(key)


def keep_sweep(motion: Motion, key: tuple, sweep) -> None:
    """Keep a sweep that is over for other motions of its program, or at least its arrays."""
    if motion.program is not None and motion.program.is_short and sweep.work.stays:
        motion.program.keep(key, sweep)
    else:
        sweep.work.give_back()


def same_pattern(a: np.ndarray, b: np.ndarray) -> bool:
    """Whether the same numbers are not zero: of directions, or of slots that are wanted."""
    return a is b or np.array_equal(a != 0, b != 0)


def failed(motion: Motion, status: int, step: int) -> KinegradError:
    """What to raise when a sweep ends with a status other than OK at a step."""
    return KinegradError("Gradient: " + explanation(status, motion.ts[step], motion.step, motion.formulation))


def tell_unsettled(work, steps: int) -> None:
    """Warns when linear equations of the sweep were not solved to rounding; a few may be so at a singular position."""
    count = int(work["flag"][UNSETTLED])
    if count > FEW * steps:
        warnings.warn(
            f"{count} systems of equations for derivatives were not solved to rounding, so these may be wrong; compare them by "
            "check() (--check), and with another formulation.",
            DerivativeWarning,
            stacklevel=CALLER,
        )


def size_of_pieces(steps: int, progress, course=None) -> int:
    """Steps that a sweep does at once: all, or some when its progress or its course is asked for."""
    if course is not None:
        return max(1, -(-steps // MOMENTS))
    return steps if progress is None or steps <= 2000 else -(-steps // SEGMENTS)
