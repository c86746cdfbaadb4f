"""What sweeps over a motion share, forwards and backwards: pieces, the start, weights, failures."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.products import TIME, UNSETTLED
from kinegrad.kinematics.start import StartDerivatives
from kinegrad.motion import Motion
from kinegrad.simulate import explanation

SEGMENTS = 50
FEW = 0.05  # of the steps
CALLER = 6  # frames from a warning to what calls `gradient`
MOMENTS = 200  # times at which a history is kept


def final_objectives(system) -> np.ndarray:
    """Which objectives are taken at the end; the others are integrals."""
    return np.array([kind == "final" for kind in system.objectives.values()], np.bool_)


def start_weights(motion: Motion, final: np.ndarray) -> np.ndarray:
    """(o,) weights of the start in the objectives, as far as the sweeps do not count it."""
    return np.where(final, 0.0, motion.scheme.start_weight(motion.hs))


def at_start(motion: Motion, work) -> StartDerivatives:
    """Derivatives of the start, at which the workspace is left."""
    motion.scheme.resume(work, motion.traj[0])
    work["v"][:], work["a"][:] = work["vp"], work["ap"]
    work["par"][TIME] = motion.ts[0]
    return motion.start.derivatives(motion.system, work, motion.scheme.compliance)


def segment_of(motion: Motion, first: int, last: int, final: np.ndarray) -> Segment:
    """The steps first to last - 1 of a motion."""
    after = float(motion.hs[last]) if last < len(motion.hs) else 0.0
    states = slice(first, last + 1)
    return Segment(
        motion.ts[states], motion.hs[first:last], after, final, motion.traj[states], motion.flags[first:last]
    )


def failed(motion: Motion, status: int, step: int) -> KinegradError:
    """What to raise when a sweep ends with a status other than OK at a step."""
    return KinegradError("Gradient: " + explanation(status, motion.ts[step], motion.step, motion.formulation))


def tell_unsettled(work, steps: int) -> None:
    """Warns when linear equations of the sweep were not solved to rounding; a few may be so at a singular position."""
    count = int(work["flag"][UNSETTLED])
    if count > FEW * steps:
        warnings.warn(
            f"{count} systems of equations for derivatives were not solved to rounding, so these may be wrong; compare them by "
            "check() (--check), or take the formulation 'matrix-r'.",
            DerivativeWarning,
            stacklevel=CALLER,
        )


def pieces(steps: int, progress, course=None) -> list[tuple[int, int]]:
    """Ranges of steps in which a sweep is done: one, or many when its progress or its course is asked for."""
    size = steps if progress is None or steps <= 2000 else -(-steps // SEGMENTS)
    if course is not None:
        size = -(-steps // MOMENTS)
    return [(first, min(first + size, steps)) for first in range(0, steps, size)]
