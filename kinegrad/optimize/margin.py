"""How far a mechanism is from positions that cannot be closed: a number for solvers that shall keep off them (OPT-15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.start import row_sizes, usual_moves
from kinegrad.sensitivity.sweeps import at_start

STEP = 1e-6  # of scaled variables: central differences of singular values along exact derivatives of positions
RANK = 1e-9  # of the largest singular value: those below belong to redundant rows


@dataclass(frozen=True, eq=False)
class Margin:
    """The smallest singular value of the scaled rows that close a mechanism: at the start, or along a driven motion.

    Attributes
    ----------
    value : float
    row : int
        The state of the motion that has it.
    """

    motion: object
    value: float
    row: int

    def slopes(self, labels: tuple[str, ...], scale: np.ndarray) -> np.ndarray:
        """(p,) derivatives by parameters, whose usual changes are `scale`."""
        motion, system = self.motion, self.motion.system
        ds = system.directions(labels)
        if motion.is_driven:
            from kinegrad.statics.instants import Instants

            moved = Instants(motion, ds).along([self.row]).q[0]
        else:
            moved = at_start(motion, system.workspace(ds=ds, s=motion.s)).direct()[0]
        q, t, rank, found = motion.q[self.row], float(motion.t[self.row]), _rank(motion), np.zeros(len(labels))
        for k in range(len(labels)):
            h = STEP * scale[k]
            ends = [_values(system, q + e * moved[:, k], motion.s + e * ds[k], t, motion.is_driven) for e in (h, -h)]
            found[k] = (ends[0][rank - 1] - ends[1][rank - 1]) / (2.0 * h)
        return found


def margin(motion) -> Margin:
    """The margin of a motion: at its start, or where it is least when drivers prescribe it."""
    rank = _rank(motion)
    rows = range(len(motion.t)) if motion.is_driven else (0,)
    least = [
        _values(motion.system, motion.q[i], motion.s, float(motion.t[i]), motion.is_driven)[rank - 1] for i in rows
    ]
    return Margin(motion, float(min(least)), int(np.argmin(least)))


def _rank(motion) -> int:
    """Independent rows at the start."""
    values = _values(motion.system, motion.q[0], motion.s, float(motion.t[0]), motion.is_driven)
    return int((values > RANK * values[0]).sum())


def _values(system, q, s, t: float, driven: bool) -> np.ndarray:
    """Singular values of the rows, each divided by what usual moves change it by."""
    work = system.workspace(s=s)
    work["q"][:], work["par"][TIME] = q, t
    work["flag"][FREEDOMS] = not driven
    work.call(POSITION)
    rows = system.m + (0 if driven else len(system.freedoms))
    J = work["J"][:rows].real * usual_moves(system, work)
    return np.linalg.svd(J / row_sizes(system, work, rows)[:, None], compute_uv=False)
