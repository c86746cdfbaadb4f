"""How far a mechanism is from positions that cannot be closed: a number for solvers that shall keep off them (OPT-15)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.units import NO_SIZE
from kinegrad.sensitivity.sweeps import at_start

STEP = 1e-6  # of scaled variables: central differences of singular values along exact derivatives of positions
BLOCK = 1000  # positions whose rows are in memory at once
COINCIDE = 1e-9  # of their distance from the origin: markers nearer to each other are in one place
RANK = 1e-9  # of the largest singular value: those below belong to redundant rows


@dataclass(frozen=True, eq=False)
class Margin:
    """The smallest singular value of the scaled rows that close a mechanism: at the start, or along a driven motion.

    Attributes
    ----------
    value : float
    row : int
        The state of the motion that has it.
    largest : (rows,) array of int
        The states in which the rows are largest; by these sizes they are divided.
    """

    motion: object
    value: float
    row: int
    largest: np.ndarray

    def slopes(self, labels: tuple[str, ...], scale: np.ndarray) -> np.ndarray:
        """(p,) derivatives by parameters, whose usual changes are `scale`."""
        motion, system = self.motion, self.motion.system
        ds = system.directions(labels)
        states, places = np.unique([self.row, *self.largest], return_inverse=True)
        if motion.is_driven:
            from kinegrad.statics.instants import Instants

            moved = Instants(motion, ds).along(states.tolist()).q
        else:
            moved = np.array([at_start(motion, system.workspace(ds=ds, s=motion.s)).direct()[0]])
        h = STEP * np.asarray(scale, float)
        ways = np.concatenate([h[:, None], -h[:, None]]) * np.tile(np.eye(len(labels)), (2, 1))
        q, s = motion.q[states][:, None] + ways @ moved.transpose(0, 2, 1), motion.s + ways @ ds
        rows = [_rows(motion, q[k], s, np.full(len(ways), motion.t[state])) for k, state in enumerate(states)]
        sizes = np.array([_sizes(one) for one in rows])[places[1:], :, np.arange(len(self.largest))].T
        more, less = np.split(_values(rows[places[0]], _usable(sizes))[:, _rank(motion) - 1], 2)
        return (more - less) / (2.0 * h)


def margin(motion) -> Margin:
    """The margin of a motion: at its start, or where it is least when drivers prescribe it."""
    count = len(motion.t) if motion.is_driven else 1
    parts = [slice(first, min(first + BLOCK, count)) for first in range(0, count, BLOCK)]
    sizes = np.concatenate([_sizes(_along(motion, part)) for part in parts])
    scale, rank = _usable(sizes.max(axis=0)), _rank(motion)
    least = np.concatenate([_values(_along(motion, part), scale)[:, rank - 1] for part in parts])
    return Margin(motion, float(least.min()), int(least.argmin()), sizes.argmax(axis=0))


def _rank(motion) -> int:
    """Independent rows at the start."""
    rows = _along(motion, slice(0, 1))
    (values,) = _values(rows, _usable(_sizes(rows)))
    return int((values > RANK * values[0]).sum())


def _values(rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """(k, m) singular values of rows (k, m, n) divided by their sizes."""
    return np.linalg.svd(rows / sizes[..., None], compute_uv=False)


def _sizes(rows: np.ndarray) -> np.ndarray:
    """(k, m) what usual moves change rows by."""
    return np.abs(rows).sum(axis=-1)


def _usable(sizes: np.ndarray) -> np.ndarray:
    """Sizes, and 1 for rows that say nothing."""
    return np.where(sizes > NO_SIZE * sizes.max(axis=-1, keepdims=True, initial=0.0), sizes, 1.0)


def _along(motion, part: slice) -> np.ndarray:
    """The rows of some states of a motion."""
    q, t = motion.q[part], motion.t[part]
    return _rows(motion, q, np.broadcast_to(motion.s, (len(t), len(motion.s))), t)


def _rows(motion, q: np.ndarray, s: np.ndarray, t: np.ndarray) -> np.ndarray:
    """(k, m, n) rows by moves of coordinates, lengths among them by how far markers are apart or away, at k positions with as
    many slots.

    Not by the length of the model, which jumps where parameters double it: a margin is a function that solvers differentiate.
    """
    system = motion.system
    work = system.workspace(s=motion.s)
    work["flag"][FREEDOMS] = not motion.is_driven
    m = system.m + (0 if motion.is_driven else len(system.freedoms))
    found = np.zeros((len(q), m, system.n))
    for k in range(len(q)):
        work["q"][:], work["s"][:], work["par"][TIME] = q[k], s[k], t[k]
        work.call(POSITION)
        x = work["mk"]["x"].real
        apart, far = (np.abs(x - x.mean(axis=0)).max(), np.abs(x).max()) if x.size else (0.0, 0.0)
        size = apart if apart > COINCIDE * far else far or system.model_sizes.length
        found[k] = work["J"][:m].real * np.where(system.lengths, size, 1.0)
    work.give_back()
    return found
