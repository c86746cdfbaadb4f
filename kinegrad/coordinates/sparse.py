"""Matrices of large systems outside time loops: only entries that exist, with products, factors and ranks by fronts.

`Workspace.matrix` gives them: `Rows` of coordinates, or a square `csr_array`, where a system is solved by fronts; otherwise
NumPy arrays.  Nothing of the size coordinates × coordinates is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from kinegrad.coordinates.system import System

TABLES = (
    "front", "front_columns", "front_places", "front_of_entry", "front_of_lower", "front_of_row", "front_in_row", "wide",
)  # fmt: skip


class Fronts:
    """Factors of T + JᵀDJ, and ranks of rows J, of the patterns of a system; T and J are flat arrays of their entries."""

    def __init__(self, system: System, number):
        from kinegrad.kernels.pattern import size
        from kinegrad.kernels.solvers.echelon import RANKS
        from kinegrad.kernels.solvers.fronts import N_JOB
        from kinegrad.kernels.solvers.fronts import SIZE as SIZE_OF_FRONT

        self.system, patterns = system, system.patterns
        self.square, self.wide = system.structure.csr
        rows, n = len(self.wide[1]) - 1, system.n
        held = int((patterns["front"][:, SIZE_OF_FRONT] ** 2).sum())
        shapes = {
            "front_w": n, "front_x": (1, n), "F": (1, held), "Z": (1, held), "T": size(patterns["square"]),
            "J": size(patterns["wide"]), "G": 0, "D": rows, "x": n, "X": (n, 4), "form": rows, "least": 1, "row_w": (2, n),
        }  # fmt: skip
        counts = {"front_job": N_JOB, "taken": n, "kept": rows}
        self.arrays = {name: patterns[name] for name in TABLES}
        self.arrays |= {name: np.zeros(shape, number) for name, shape in shapes.items()}
        self.arrays |= {name: np.zeros(count, np.int64) for name, count in counts.items()}
        self.arrays["G"] = self.arrays["J"]
        self.context = RANKS.context(self.arrays)

    def factor(self, T: np.ndarray, rows: Rows, D: np.ndarray, symmetric: bool = True) -> tuple[int, int]:
        """Status, and the coordinate where it went wrong."""
        from kinegrad.kernels.solvers.fronts import STATUS, SYMMETRIC, WHERE, factor_call

        self._rows(rows)
        self.arrays["T"][:], self.arrays["D"][: len(rows)] = T, D
        job = self.arrays["front_job"]
        job[SYMMETRIC] = int(symmetric)
        self._call(factor_call)
        return int(job[STATUS]), int(job[WHERE])

    def solve(self, B: np.ndarray) -> np.ndarray:
        """(n, k) the solution for the columns of B with the factors of the last call of `factor`."""
        from kinegrad.kernels.solvers.fronts import solve_call

        x, out = self.arrays["x"], np.empty_like(B)
        for k in range(B.shape[1]):
            x[:] = B[:, k]
            self._call(solve_call)
            out[:, k] = x
        return out

    def solve_general(self, B: np.ndarray, transposed: bool = False) -> np.ndarray:
        """(n, k) the solution for the columns of B, or that with the transpose, with the factors of a T that need not be
        symmetric."""
        from kinegrad.kernels.solvers.fronts import TRANSPOSED, solve4_call

        X, out = self.arrays["X"], np.empty_like(B)
        self.arrays["front_job"][TRANSPOSED] = int(transposed)
        for k in range(0, B.shape[1], 4):
            own = B[:, k : k + 4]
            X[:] = 0.0
            X[:, : own.shape[1]] = own
            self._call(solve4_call)
            out[:, k : k + 4] = X[:, : own.shape[1]]
        return out

    def forms(self, rows: Rows) -> np.ndarray:
        """J_l A⁻¹ J_lᵀ of the rows, with the factors A of the last call of `factor` (LIN-11)."""
        from kinegrad.kernels.solvers.echelon import forms_call

        self._rows(rows)
        self._call(forms_call)
        return self.arrays["form"][: len(rows)].copy()

    def independent(self, rows: Rows, least: float) -> np.ndarray:
        """(m,) which rows stand out of those before them, by an entry above `least` in their echelon form (LIN-10)."""
        from kinegrad.kernels.solvers.echelon import independent_call

        self._rows(rows)
        self.arrays["J"][: len(rows.values)] = rows.values.real
        self.arrays["least"][:] = least
        self._call(independent_call)
        return self.arrays["kept"][: len(rows)].astype(bool)

    def open_coordinates(self, rows: Rows, least: float, among: Sequence[int], most: int) -> list[int]:
        """The first coordinates of `among`, at most so many, that rows leave free, each with those before it held."""
        from kinegrad.kernels.solvers.echelon import rotated_in_entry

        self.independent(rows, least)
        t, found = self.arrays, []
        for k in among:
            if rotated_in_entry(
                t["front"], t["front_columns"], t["front_places"], t["Z"], t["taken"], k, t["row_w"], least
            ):
                found.append(k)
                if len(found) == most:
                    break
        return found

    def diagonal(self, values: np.ndarray) -> csr_array:
        """The diagonal matrix of these values, with the entries of all square matrices."""
        from scipy.sparse import csr_array

        columns, begin = self.square
        rows = np.repeat(np.arange(len(values)), np.diff(begin))
        return csr_array((np.where(rows == columns, values[rows], 0.0), columns, begin), (len(values), len(values)))

    def _rows(self, rows: Rows) -> None:
        from kinegrad.kernels.solvers.fronts import N_ROWS

        self.arrays["J"][: len(rows.values)] = rows.values
        self.arrays["front_job"][N_ROWS] = len(rows)

    def _call(self, function) -> None:
        from kinegrad.kernels.table import call_from_python

        call_from_python(function, self.context)


class Rows:
    """The first rows of a matrix of rows by coordinates, with the entries that exist.

    Attributes
    ----------
    fronts : Fronts
    values : array
        Entries, row by row.
    """

    __array_ufunc__ = None  # a product with an array is ours

    def __init__(self, fronts: Fronts, values: np.ndarray, count: int):
        indices, indptr = fronts.wide
        self.fronts, self.values, self.count = fronts, values[: indptr[count]], count
        self.shape = count, fronts.system.n

    def __len__(self) -> int:
        return self.count

    @property
    def csr(self) -> csr_array:
        """The same as a matrix of SciPy, of the same numbers."""
        return self.with_values(self.values)

    def with_values(self, values: np.ndarray) -> csr_array:
        """A matrix of the same entries with other numbers."""
        from scipy.sparse import csr_array

        indices, indptr = self.fronts.wide
        return csr_array((values, indices[: len(values)], indptr[: self.count + 1]), self.shape)

    def __matmul__(self, x: np.ndarray) -> np.ndarray:
        return self.csr @ x

    def __abs__(self) -> csr_array:
        return self.with_values(np.abs(self.values.real))

    @property
    def T(self) -> csr_array:
        return self.csr.T

    @property
    def real(self) -> Rows:
        """The real parts."""
        return Rows(self.fronts, self.values.real, self.count)

    @property
    def of_row(self) -> np.ndarray:
        """The row of each entry."""
        return np.repeat(np.arange(self.count), np.diff(self.fronts.wide[1][: self.count + 1]))

    def with_sizes(self) -> Rows:
        """The same with the sizes of the entries."""
        return Rows(self.fronts, np.abs(self.values.real), self.count)

    def sides(self) -> tuple[np.ndarray, np.ndarray]:
        """The largest of each row and of each column, where no entry is negative."""
        out = np.zeros(self.shape[0]), np.zeros(self.shape[1])
        for largest, places in zip(out, (self.of_row, self.fronts.wide[0][: len(self.values)]), strict=True):
            np.maximum.at(largest, places, self.values)
        return out

    def row_times(self, k: int, x: np.ndarray):
        """Row k times x."""
        columns, begin = self.fronts.wide
        part = slice(begin[k], begin[k + 1])
        return self.values[part] @ x[columns[part]]

    def copy(self) -> Rows:
        return Rows(self.fronts, self.values.copy(), self.count)

    def first(self, count: int) -> Rows:
        """The first rows of these."""
        return Rows(self.fronts, self.values, count)

    def without(self, rows: np.ndarray) -> Rows:
        """The same, with the rows that a mask tells being zero."""
        return Rows(self.fronts, np.where(rows[self.of_row], 0.0, self.values), self.count)

    def scaled(self, rows: np.ndarray, columns: np.ndarray) -> Rows:
        """The same with a factor of each row and of each column."""
        indices, _ = self.fronts.wide
        values = rows[self.of_row] * self.values * columns[indices[: len(self.values)]]
        return Rows(self.fronts, values, self.count)
