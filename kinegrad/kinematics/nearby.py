"""Positions next to an assembled one: a small way along the rows, then closed without what rows hardly see (KIN-8)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.constrained import STRENGTH
from kinegrad.kernels.products import FREEDOMS, LENGTH, POSITION
from kinegrad.kernels.status import OK
from kinegrad.kinematics.constrained import row_weights, solve_constrained
from kinegrad.kinematics.freedoms import first_rows, of_positions
from kinegrad.kinematics.units import NO_SIZE, units_of

AMOUNTS = (1e-3, 1e-4, 1e-5)  # ε: the largest turn, or way in units of the mechanism's size
TRIES = 4  # with each of them
FAR = 10.0  # times ε is no longer nearby
SEEN = 3.0  # directions by which rows change less than ε^(SEEN/2) of their size are left out
TINY = 1e-7  # of a difference
STILL = 1e-6  # part of a random way: less is rounding
ROUNDS = 3
MAX_ITERATIONS = 30
ASSEMBLED, CLOSED = 1e-9, 1e-11  # residuals by what rows change by when the mechanism moves by its size


def positions_nearby(system: System, work: Workspace, count: int) -> Iterator[np.ndarray]:
    """At most `count` random positions next to q in the workspace that are assembled; fewer where none was found.

    The workspace, one of every marker, has the rows there.
    """
    rng, near, found = np.random.default_rng(0), _Near(system, work), 0
    for amount in AMOUNTS:
        for _ in range(TRIES):
            if found < count and near.go(amount, rng):
                found += 1
                yield work["q"].copy()


class _Near:
    """A position, and what is near it.

    Attributes
    ----------
    moves : (n,) array
        What coordinates are measured by: 1, and the length of the model for lengths.
    x, units : arrays
        Markers at the position, and the same of them.
    sizes : (m,) array
        What rows change by when coordinates change by so much.
    """

    def __init__(self, system: System, work: Workspace):
        self.system, self.work, self.q = system, work, work["q"].copy()
        self._at(self.q)
        points, self.x = work["mk"]["point"] != 0, work["mk"]["x"].copy()
        self.units = np.where(points, work["size"][LENGTH], 1.0)[:, None]
        self.moves, J = work["unit"].copy(), first_rows(work, "J", system.m)
        self.row_units = units_of(work, J)
        self.sizes = abs(self._rows()) @ np.ones(system.n)

    def go(self, amount: float, rng: np.random.Generator) -> bool:
        """Whether a position this far away, in a random direction, was found; the workspace is left there."""
        way = rng.uniform(-1.0, 1.0, self.system.n)
        self._at(self.q)
        way = self.moves * (way - self._least(self._rows() @ way, amount))
        self._at(self.q + TINY * way)
        speed = self._distance() / TINY
        if not speed > STILL:
            self._at(self.q)
            return True
        self._at(self.q + (amount / speed) * way)
        return self._closed(amount)

    def _at(self, q: np.ndarray) -> None:
        self.work["q"][:] = q
        self.work["flag"][FREEDOMS] = 0
        self.work.call(POSITION)

    def _rows(self):
        """Rows in units of the model."""
        return self.row_units.of(of_positions(self.system, first_rows(self.work, "J", self.system.m)))

    def _distance(self) -> float:
        """How far the position in the workspace is: the largest change of a coordinate or a marker, by its unit."""
        by_coordinates = np.abs(self.work["q"] - self.q) / self.moves
        by_markers = np.abs(self.work["mk"]["x"] - self.x) / self.units
        return max(float(by_coordinates.max(initial=0.0)), float(by_markers.max(initial=0.0)))

    def _closed(self, amount: float) -> bool:
        """Whether rows are closed from here by Newton's method, without going far."""
        m, off, sizes = self.system.m, np.inf, self.sizes
        for _ in range(MAX_ITERATIONS):
            residual, J = self.row_units.right(self.work["Phi"][:m]), self._rows()
            sizes = np.maximum(sizes, abs(J) @ np.ones(J.shape[1]))  # a row may vanish here, or where rows close
            some = sizes > NO_SIZE * sizes.max(initial=0.0)
            last, off = off, float(np.abs(residual / np.where(some, sizes, 1.0)).max(initial=0.0))
            if not np.isfinite(off) or self._distance() > FAR * amount:
                return False
            if off <= CLOSED or 0.5 * last < off <= ASSEMBLED:
                return True
            self._at(self.work["q"] - self.moves * self._least(residual, amount))
        return False

    def _least(self, residual: np.ndarray, amount: float) -> np.ndarray:
        """The least change of coordinates, in their units, that rows ask for where they see a direction."""
        if not self.system.m:
            return np.zeros(self.system.n)
        J = self._rows()
        one = np.ones(self.system.n)
        T = J.fronts.diagonal(one) if isinstance(J, Rows) else np.diag(one)
        weights = row_weights(T, J, 0.0, np.ones(len(J))) / (STRENGTH * amount**SEEN)
        right = np.zeros((self.system.n, 1)), residual[:, None]
        status, x, _ = solve_constrained(T, J, 0.0, *right, weights=weights, rounds=ROUNDS)
        return x[:, 0] if status == OK else np.full(self.system.n, np.nan)
