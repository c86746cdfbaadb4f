"""Rows J of any number and rank by reflections: J x = b, Jᵀ y = f, and the direction that rows hardly see  (LIN-8).

Rows and columns are scaled by factors that stay along a motion, so that metres and radians are alike, and so that a row that
vanishes at a singular position is seen to vanish.

The factors are those of (LIN-4) for time loops: columns are kept one after the other, their remainders are brought up to date
instead of summed anew, and reflections end where their columns do, which in the rows of drivers is soon.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.jit import kernel, real, sqrt

RANK_TOLERANCE = 1e-9  # of the first column: remainders below it are none
ALIKE = 1.0 + 1e-10  # remainders that differ by less are equal, and the earlier column is taken
SHRUNK = 1e-3  # of the sum of squares when it was last formed: below it is formed anew


class Factors(NamedTuple):
    """Scratch and results of `factor`, for m rows and n columns."""

    A: np.ndarray  # (n, m) a column of J in each row: R up to the diagonal, then its reflection
    tau: np.ndarray
    order: np.ndarray  # (n,) whole numbers: columns by size of their remainders
    ends: np.ndarray  # (min(m, n),) whole numbers: where reflections end
    squares: np.ndarray  # (n, 2) of remainders, now and when they were last summed
    rows: np.ndarray  # (m,) factors of rows
    columns: np.ndarray  # (n,) factors of columns: x is in their units
    b: np.ndarray  # (m,) scratch
    y: np.ndarray  # (n,) scratch


def factors(rows, columns, number=float) -> Factors:
    """Room for the factors of rows and columns with these scales."""
    m, n = len(rows), len(columns)
    A, tau = np.zeros((n, m), number), np.zeros(min(m, n), number)
    order, ends = np.zeros(n, np.int64), np.zeros(min(m, n), np.int64)
    scales = [np.array(x, number) for x in (rows, columns)]
    return Factors(A, tau, order, ends, np.zeros((n, 2)), *scales, np.zeros(m, number), np.zeros(n, number))


@kernel
def sum_squares(A, squares, j, k):
    """The squares of column j from row k on, as `squares` has them."""
    s = 0.0
    for l in range(k, A.shape[1]):
        s += real(A[j, l]) ** 2
    squares[j, 0] = s
    squares[j, 1] = s


@kernel
def largest_remainder(squares, k):
    """The column from k on with the largest remainder, the earlier one of equals."""
    p = k
    for j in range(k + 1, squares.shape[0]):
        if squares[j, 0] > ALIKE * squares[p, 0]:
            p = j
    return p


@kernel
def exchange(A, squares, order, k, p):
    """Columns k and p in each other's place."""
    order[k], order[p] = order[p], order[k]
    for c in range(2):
        squares[k, c], squares[p, c] = squares[p, c], squares[k, c]
    for l in range(A.shape[1]):
        A[k, l], A[p, l] = A[p, l], A[k, l]


@kernel
def factor(J, F):
    """Rank; the factors of the scaled rows J[:m]."""
    A, tau, squares = F.A, F.tau, F.squares
    n, m = A.shape
    first = 0.0
    for i in range(n):
        F.order[i] = i
        for l in range(m):
            A[i, l] = F.rows[l] * J[l, i] * F.columns[i]
        sum_squares(A, squares, i, 0)
    for k in range(min(m, n)):
        p = largest_remainder(squares, k)
        if k == 0:
            first = squares[p, 0]
        if not squares[p, 0] > RANK_TOLERANCE * RANK_TOLERANCE * first:
            return k
        if p != k:
            exchange(A, squares, F.order, k, p)
        s, end = 0.0 * A[k, k], k + 1
        for l in range(k, m):
            s += A[k, l] * A[k, l]
            if A[k, l] != 0.0:
                end = l + 1
        r = sqrt(s)
        if real(A[k, k]) > 0.0:
            r = -r
        t = 1.0 / (A[k, k] - r)
        tau[k] = (r - A[k, k]) / r
        F.ends[k] = max(end, k + 1)
        A[k, k] = r
        for l in range(k + 1, end):
            A[k, l] *= t
        for j in range(k + 1, n):
            s = A[j, k]
            for l in range(k + 1, end):
                s += A[k, l] * A[j, l]
            if s != 0.0:
                s *= tau[k]
                A[j, k] -= s
                for l in range(k + 1, end):
                    A[j, l] -= A[k, l] * s
            squares[j, 0] -= real(A[j, k]) ** 2
            if squares[j, 0] < SHRUNK * squares[j, 1]:
                sum_squares(A, squares, j, k + 1)
    return min(m, n)


@kernel
def reflect(F, k, b):
    """b = H b with reflection k: all of them in turn give Qᵀ b, in reverse Q b."""
    s = b[k]
    for l in range(k + 1, F.ends[k]):
        s += F.A[k, l] * b[l]
    s *= F.tau[k]
    b[k] -= s
    for l in range(k + 1, F.ends[k]):
        b[l] -= F.A[k, l] * s


@kernel
def solve(F, rank, b, x):
    """x with J x = b: of least squares, and with zeros where the rank leaves a choice; b stays as it is."""
    n, m = F.A.shape
    for l in range(m):
        F.b[l] = F.rows[l] * b[l]
    for k in range(rank):
        reflect(F, k, F.b)
    for k in range(rank - 1, -1, -1):
        s = F.b[k] / F.A[k, k]
        F.b[k] = s
        for l in range(k):
            F.b[l] -= F.A[k, l] * s
    for k in range(n):
        i = F.order[k]
        x[i] = F.columns[i] * F.b[k] if k < rank else 0.0


@kernel
def solve_transposed(F, rank, f, y):
    """y of least norm, in scaled rows, with Jᵀ y = f; what the rows do not reach of f is left out.  f stays as it is."""
    m = F.A.shape[1]
    for k in range(rank):
        i = F.order[k]
        s = F.columns[i] * f[i]
        for l in range(k):
            s -= F.A[k, l] * F.b[l]
        F.b[k] = s / F.A[k, k]
    for l in range(rank, m):
        F.b[l] = 0.0
    for k in range(rank - 1, -1, -1):
        reflect(F, k, F.b)
    for l in range(m):
        y[l] = F.rows[l] * F.b[l]


@kernel
def weakest(F, u, w):
    """|J w| of the unit direction w (n) that rows of full rank see least, or nearly so; u (m) is J w divided by it.

    Both are in scaled units.  With A P = Q R, R y = e_n gives w = P y/|y|, and J w is Q e_n/|y|.
    """
    n, m = F.A.shape
    if n == 0:
        return 1.0
    for k in range(n):
        F.y[k] = 1.0 if k == n - 1 else 0.0
    size = 0.0
    for k in range(n - 1, -1, -1):
        s = real(F.y[k]) / real(F.A[k, k])
        F.y[k] = s
        size += s * s
        for l in range(k):
            F.y[l] -= real(F.A[k, l]) * s
    size = sqrt(size)
    for k in range(n):
        w[F.order[k]] = real(F.y[k]) / size
    for l in range(m):
        F.b[l] = 1.0 if l == n - 1 else 0.0
    for k in range(n - 1, -1, -1):
        reflect(F, k, F.b)
    for l in range(m):
        u[l] = real(F.b[l])
    return 1.0 / size


@kernel
def last_pivot(F):
    """How much rows of full rank see of the last column: at most √n times what they see of the weakest direction."""
    n = F.A.shape[0]
    return abs(real(F.A[n - 1, n - 1])) if n > 0 else 1.0
