"""Rows in sizes of the model: what is judged, and what is least, is the same whatever the unit of length (SIZ-1 to SIZ-4).

A row is multiplied by 1 over its unit, a coordinate is measured by its own: the length L of the model, or 1.  These are powers
of two, so nothing is rounded.  A formula whose unit is not known is brought to about 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.products import LENGTH
from kinegrad.kinematics import constrained, least_squares

NO_SIZE = 1e-13  # part of the largest entry that is rounding


class Units(NamedTuple):
    """1 over the units of rows, the units of coordinates, and the length of the model."""

    rows: np.ndarray
    columns: np.ndarray
    length: float

    def of(self, A):
        """Rows in these units."""
        return A.scaled(self.rows, self.columns) if isinstance(A, Rows) else self.rows[:, None] * A * self.columns

    def right(self, B):
        """Right-hand sides of rows in these units."""
        return self._by(self.rows, B)

    @staticmethod
    def _by(factors, B):
        return factors.reshape(-1, *[1] * (B.ndim - 1)) * B

    def sizes(self, A) -> np.ndarray:
        """How much rows change when coordinates change by their units, in units of the rows; 1 where that is rounding."""
        sizes = abs(self.of(A).real) @ np.ones(len(self.columns))
        return np.where(sizes > NO_SIZE * sizes.max(initial=0.0), sizes, 1.0)

    # --- as in `kinegrad.kinematics.least_squares` and `constrained`, in units ---

    def nearest(self, A, B):
        return self._by(self.columns, least_squares.nearest(self.of(A), self.right(B)))

    def shortest(self, A, B):
        return self._by(self.columns, least_squares.shortest(self.of(A), self.right(B)))

    def least_squares(self, A, B):
        X, rank = least_squares.least_squares(self.of(A), self.right(B))
        return self._by(self.columns, X), rank

    def refined(self, A, B):
        return self._by(self.columns, least_squares.refined(self.of(A), self.right(B)))

    def refined_transposed(self, A, B):
        return self._by(self.rows, least_squares.refined_transposed(self.of(A), self._by(self.columns, B)))

    def rank(self, A) -> int:
        return least_squares.rank(self.of(A))

    def square(self, T):
        """A matrix of coordinates by coordinates in these units."""
        if hasattr(T, "indptr"):
            row = np.repeat(np.arange(T.shape[0]), np.diff(T.indptr))
            found = T.copy()
            found.data = self.columns[row] * T.data * self.columns[T.indices]
            return found
        return self.columns[:, None] * T * self.columns

    def row_ease(self, T, J, alike=None):
        return constrained.row_ease(self.square(T), self.of(J), alike)

    def solve_constrained(self, T, J, eps, R1, R2, alike=None, **options):
        """`eps` is that of rows in metres."""
        right = self._by(self.columns, R1), self.right(R2)
        status, X, Y = constrained.solve_constrained(
            self.square(T), self.of(J), eps / self.length / self.length, *right, alike, **options
        )
        return (status, self._by(self.columns, X), self._by(self.rows, Y)) if np.ndim(X) else (status, X, Y)


def units_of(work: Workspace, A, numbers=None) -> Units:
    """The units of rows A of a workspace, by their numbers: the first ones by default."""
    columns = work["unit"].real
    rows = work["per_row"][slice(len(A)) if numbers is None else numbers].real.copy()
    untold = ~(rows > 0.0)
    if untold.any():
        sizes = (abs(A.real) @ columns)[untold]
        rows[untold] = np.where((sizes > 0.0) & (sizes < np.inf), np.ldexp(1.0, 1 - np.frexp(sizes)[1]), 1.0)
    return Units(rows, columns, float(work["size"][LENGTH].real))
