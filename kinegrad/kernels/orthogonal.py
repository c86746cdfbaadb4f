"""Rows J of any number and rank by reflections: J x = b, Jᵀ y = f, and the direction that rows hardly see  (LIN-8).

Rows and columns are scaled by factors that stay along a motion, so that metres and radians are alike, and so that a row that
vanishes at a singular position is seen to vanish.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.jit import kernel, real, sqrt
from kinegrad.kernels.linalg import qr, reflect

RANK_TOLERANCE = 1e-9  # of the first column: remainders below it are none


class Factors(NamedTuple):
    """Scratch and results of `factor`, for m rows and n columns."""

    A: np.ndarray  # (m, n) R above, reflections below the diagonal
    tau: np.ndarray
    order: np.ndarray  # (n,) whole numbers: columns by size of their remainders
    rows: np.ndarray  # (m,) factors of rows
    columns: np.ndarray  # (n,) factors of columns: x is in their units
    b: np.ndarray  # (m,) scratch
    y: np.ndarray  # (n,) scratch


def factors(rows, columns, number=float) -> Factors:
    """Room for the factors of rows and columns with these scales."""
    m, n = len(rows), len(columns)
    arrays = [np.zeros(shape, number) for shape in ((m, n), min(m, n), m, n, m, n)]
    arrays[2][:], arrays[3][:] = rows, columns
    return Factors(arrays[0], arrays[1], np.zeros(n, np.int64), *arrays[2:])


@kernel
def factor(J, F):
    """Rank; the factors of the scaled rows J[:m]."""
    m, n = F.A.shape
    for l in range(m):
        for i in range(n):
            F.A[l, i] = F.rows[l] * J[l, i] * F.columns[i]
    return qr(F.A, F.tau, F.order, RANK_TOLERANCE)


@kernel
def solve(F, rank, b, x):
    """x with J x = b: of least squares, and with zeros where the rank leaves a choice; b stays as it is."""
    m, n = F.A.shape
    for l in range(m):
        F.b[l] = F.rows[l] * b[l]
    for k in range(rank):
        reflect(F.A, F.tau, k, F.b)
    for k in range(rank - 1, -1, -1):
        s = F.b[k]
        for i in range(k + 1, rank):
            s -= F.A[k, i] * F.y[i]
        F.y[k] = s / F.A[k, k]
    for k in range(rank, n):
        F.y[k] = 0.0
    for k in range(n):
        i = F.order[k]
        x[i] = F.columns[i] * F.y[k]


@kernel
def solve_transposed(F, rank, f, y):
    """y of least norm, in scaled rows, with Jᵀ y = f; what the rows do not reach of f is left out.  f stays as it is."""
    m = F.A.shape[0]
    for k in range(rank):
        i = F.order[k]
        s = F.columns[i] * f[i]
        for j in range(k):
            s -= F.A[j, k] * F.b[j]
        F.b[k] = s / F.A[k, k]
    for l in range(rank, m):
        F.b[l] = 0.0
    for k in range(rank - 1, -1, -1):
        reflect(F.A, F.tau, k, F.b)
    for l in range(m):
        y[l] = F.rows[l] * F.b[l]


@kernel
def weakest(F, u, w):
    """|J w| of the unit direction w (n) that rows of full rank see least, or nearly so; u (m) is J w divided by it.

    Both are in scaled units.  With A P = Q R, R y = e_n gives w = P y/|y|, and J w is Q e_n/|y|.
    """
    m, n = F.A.shape
    if n == 0:
        return 1.0
    size = 0.0
    for k in range(n - 1, -1, -1):
        s = 1.0 if k == n - 1 else 0.0
        for i in range(k + 1, n):
            s -= real(F.A[k, i]) * real(F.y[i])
        s /= real(F.A[k, k])
        F.y[k] = s
        size += s * s
    size = sqrt(size)
    for k in range(n):
        w[F.order[k]] = real(F.y[k]) / size
    for l in range(m):
        F.b[l] = 1.0 if l == n - 1 else 0.0
    for k in range(n - 1, -1, -1):
        reflect(F.A, F.tau, k, F.b)
    for l in range(m):
        u[l] = real(F.b[l])
    return 1.0 / size
