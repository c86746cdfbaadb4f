"""How far a mechanism is from positions that cannot be closed: a number for solvers that shall keep off them (OPT-15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.start import row_sizes, usual_moves
from kinegrad.sensitivity.sweeps import at_start

STEP = 1e-6  # of scaled variables: central differences of singular values along exact derivatives of positions
BLOCK = 1000  # positions whose rows are in memory at once
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
        h = STEP * np.asarray(scale, float)
        ways = np.concatenate([h[:, None], -h[:, None]]) * np.tile(np.eye(len(labels)), (2, 1))
        q, s = motion.q[self.row] + ways @ moved.T, motion.s + ways @ ds
        t = np.full(len(ways), motion.t[self.row])
        more, less = np.split(_values(motion, q, s, t)[:, _rank(motion) - 1], 2)
        return (more - less) / (2.0 * h)


def margin(motion) -> Margin:
    """The margin of a motion: at its start, or where it is least when drivers prescribe it."""
    rows = slice(None) if motion.is_driven else slice(0, 1)
    q, t = motion.q[rows], motion.t[rows]
    least = _values(motion, q, np.broadcast_to(motion.s, (len(t), len(motion.s))), t)[:, _rank(motion) - 1]
    return Margin(motion, float(least.min()), int(least.argmin()))


def _rank(motion) -> int:
    """Independent rows at the start."""
    (values,) = _values(motion, motion.q[:1], motion.s[None], motion.t[:1])
    return int((values > RANK * values[0]).sum())


def _values(motion, q: np.ndarray, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(k, rows) singular values of the rows, divided by what usual moves change them by, at k positions with as many slots."""
    system, driven = motion.system, motion.is_driven
    work = system.workspace(s=motion.s)
    rows = system.m + (0 if driven else len(system.freedoms))
    found = np.zeros((len(q), min(rows, system.n)))
    for first in range(0, len(q), BLOCK):
        part = slice(first, first + BLOCK)
        scaled = np.array(
            [_scaled(system, work, rows, *at, driven) for at in zip(q[part], s[part], t[part], strict=True)]
        )
        found[part] = np.linalg.svd(scaled, compute_uv=False)
    work.give_back()
    return found


def _scaled(system, work, rows: int, q, s, t: float, driven: bool) -> np.ndarray:
    """The rows in their scales, at one position."""
    work["q"][:], work["s"][:], work["par"][TIME] = q, s, t
    work["flag"][FREEDOMS] = not driven
    work.call(POSITION)
    moves = usual_moves(system, work)
    return work["J"][:rows].real * moves / row_sizes(system, work, rows, moves)[:, None]
