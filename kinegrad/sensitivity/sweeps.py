"""What sweeps over a motion share, forwards and backwards: pieces, the start, weights, failures."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.kernels.products import TIME, UNSETTLED
from kinegrad.kinematics.start_derivatives import StartDerivatives
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


def size_of_pieces(steps: int, progress, course=None) -> int:
    """Steps that a sweep does at once: all, or some when its progress or its course is asked for."""
    if course is not None:
        return max(1, -(-steps // MOMENTS))
    return steps if progress is None or steps <= 2000 else -(-steps // SEGMENTS)
