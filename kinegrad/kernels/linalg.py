"""Dense factorisations and solves without allocation, for systems of a few to a few hundred unknowns.

Matrices are kept by rows.  Right-hand sides go four at a time, as (n, 4) arrays of which the last index is contiguous:
a row of them is one vector of the machine (`kinegrad.kernels.lanes`).  Factors overwrite the matrix.  Beyond `LARGE`
unknowns LAPACK computes them, in the same storage, so the solves need not know.  (Solves by `dtrsm` were measured too:
they gain nothing below 64 unknowns.)  The transpose is the plain one: a complex step passes through every function
when it runs uncompiled, and pivots are chosen by real parts.
"""

from math import isfinite

import numpy as np

from kinegrad.kernels.jit import JIT, inlined, kernel, real, sqrt
from kinegrad.kernels.lanes import load4, store4
from kinegrad.kernels.lapack import getrf, potrf, serves
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR

_TINY = 8.0 * 2.0**-52  # a pivot this part of what it was subtracted from has no correct digit


@kernel
def _pivot_status(pivot, scale):
    """OK, or what is wrong with a pivot that came out of numbers of size `scale`."""
    p, s = real(pivot), real(scale)
    if not (isfinite(p) and isfinite(s)):
        return NOT_FINITE
    if abs(p) <= _TINY * abs(s):
        return SINGULAR
    return OK


# --- four columns at a time --------------------------------------------------------------------------------------


@inlined
def get4(X, i):
    """Row i of X."""
    return load4(X, i, 0)


@inlined
def put4(X, i, a):
    """Row i of X = a."""
    store4(X, i, 0, a)


@inlined
def mul4(s, a):
    """s a."""
    return s * a


@inlined
def axpy4(s, a, b):
    """s a + b."""
    return s * a + b


@kernel
def times4(A, i, n, X, b):
    """A[i, :n] X + b."""
    for j in range(n):
        b = axpy4(A[i, j], get4(X, j), b)
    return b


# --- symmetric: L D Lᵀ -------------------------------------------------------------------------------------------


@kernel
def ldlt(A, d):
    """Status; A = L D Lᵀ, from the lower triangle of A  (LIN-1).

    The strict lower triangle of A becomes that of L (unit diagonal), d[:n] becomes D.  d has 2 n numbers, the second
    half and the upper triangle of A being scratch.  There is no pivoting: A is definite, or nearly so.
    """
    n = A.shape[0]
    if JIT and serves(n) and _ldlt_lapack(A, d):
        return _diagonal_status(d, n)
    for j in range(n):
        for k in range(j):
            d[n + k] = A[j, k] * d[k]
        s = A[j, j]
        for k in range(j):
            s -= A[j, k] * d[n + k]
        status = _pivot_status(s, A[j, j])
        if status != OK:
            return status
        d[j] = s
        t = 1.0 / s
        for i in range(j + 1, n - 3, 4):  # four rows at once: independent sums keep the processor busy
            s0, s1, s2, s3 = A[i, j], A[i + 1, j], A[i + 2, j], A[i + 3, j]
            for k in range(j):
                w = d[n + k]
                s0 -= A[i, k] * w
                s1 -= A[i + 1, k] * w
                s2 -= A[i + 2, k] * w
                s3 -= A[i + 3, k] * w
            A[i, j] = s0 * t
            A[i + 1, j] = s1 * t
            A[i + 2, j] = s2 * t
            A[i + 3, j] = s3 * t
        for i in range(n - (n - j - 1) % 4, n):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * d[n + k]
            A[i, j] = s * t
    return OK


@kernel
def _ldlt_lapack(A, d):
    """True when A and d[:n] hold the factors by Cholesky, with the diagonal of A left in d[n:]; else A is as it was."""
    n = A.shape[0]
    first = A[0, 0]
    part = 1.0 / first  # roots have the same digits whatever the unit of A
    for i in range(n):
        d[n + i] = A[i, i]
        A[i, i] *= part
        for j in range(i):
            A[j, i] = A[i, j]
            A[i, j] *= part
    if potrf(A, n) != 0:
        for i in range(n):
            A[i, i] = d[n + i]
            for j in range(i):
                A[i, j] = A[j, i]
        return False
    for i in range(n):
        for j in range(i):
            A[i, j] /= A[j, j]
        d[i] = A[i, i] * A[i, i] * first
    return True


@kernel
def _diagonal_status(d, n):
    for i in range(n):
        status = _pivot_status(d[i], d[n + i])
        if status != OK:
            return status
    return OK


@kernel
def ldlt_solve(A, d, x):
    """x = A⁻¹ x with the factors of `ldlt`."""
    n = A.shape[0]
    for i in range(n):
        s = x[i]
        for k in range(i):
            s -= A[i, k] * x[k]
        x[i] = s
    for i in range(n):
        x[i] /= d[i]
    for i in range(n - 1, -1, -1):
        s = x[i]
        for k in range(i):
            x[k] -= A[i, k] * s


@kernel
def ldlt_solve4(A, d, X):
    """X = A⁻¹ X for four columns with the factors of `ldlt`."""
    n = A.shape[0]
    for i in range(n):
        s = get4(X, i)
        for k in range(i):
            s = axpy4(-A[i, k], get4(X, k), s)
        put4(X, i, s)
    for i in range(n):
        put4(X, i, mul4(1.0 / d[i], get4(X, i)))
    for i in range(n - 1, -1, -1):
        s = get4(X, i)
        for k in range(i):
            put4(X, k, axpy4(-A[i, k], s, get4(X, k)))


# --- general: A Q = L U ------------------------------------------------------------------------------------------


@kernel
def lu(A, pivots, unit):
    """Status; A Q = L U with unit U, Q swapping column k with column pivots[k] for k = 0, 1, ...  (LIN-2).

    The lower triangle of A becomes L with the reciprocals of its diagonal, the strict upper triangle that of U.  `pivots`
    is int32.
    Pivots are sought along a row, which is contiguous here, in the units of the columns, powers of two; `unit` is left as Q
    orders it.
    """
    n = A.shape[0]
    if JIT and serves(n):
        return _lu_lapack(A, pivots, unit)
    for k in range(n):
        p, most = k, abs(real(A[k, k])) * real(unit[k])
        for j in range(k + 1, n):
            size = abs(real(A[k, j])) * real(unit[j])
            if size > most:
                p, most = j, size
        pivots[k] = p
        if p != k:
            unit[k], unit[p] = unit[p], unit[k]
            for i in range(n):
                A[i, k], A[i, p] = A[i, p], A[i, k]
        status = _row_status(A, k, unit)
        if status != OK:
            return status
        t = 1.0 / A[k, k]
        A[k, k] = t
        for j in range(k + 1, n):
            A[k, j] *= t
        for i in range(k + 1, n):
            s = A[i, k]
            for j in range(k + 1, n):
                A[i, j] -= s * A[k, j]
    return OK


@kernel
def _lu_lapack(A, pivots, unit):
    """`lu` by LAPACK, of columns in their units."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            A[i, j] *= unit[j]
    getrf(A, n, pivots)
    for k in range(n):
        unit[k], unit[pivots[k]] = unit[pivots[k]], unit[k]
    for i in range(n):
        for j in range(n):
            A[i, j] *= (1.0 if j <= i else unit[i]) / unit[j]
    for i in range(n):
        status = _row_status(A, i, unit)
        if status != OK:
            return status
    for i in range(n):
        A[i, i] = 1.0 / A[i, i]
    return OK


@kernel
def _row_status(A, i, unit):
    """Status of the pivot of row i against the row of L: what was subtracted from the pivot is no larger than that."""
    scale = 0.0
    for j in range(i + 1):
        scale = max(scale, abs(real(A[i, j])) * real(unit[j]))
    return _pivot_status(A[i, i] * unit[i], scale)


@kernel
def lu_solve4(A, pivots, X):
    """X = A⁻¹ X for four columns with the factors of `lu`."""
    n = A.shape[0]
    for i in range(n):
        s = get4(X, i)
        for k in range(i):
            s = axpy4(-A[i, k], get4(X, k), s)
        put4(X, i, mul4(A[i, i], s))
    for i in range(n - 1, -1, -1):
        s = get4(X, i)
        for k in range(i + 1, n):
            s = axpy4(-A[i, k], get4(X, k), s)
        put4(X, i, s)
    for k in range(n - 1, -1, -1):
        _swap4(X, k, pivots[k])


@kernel
def lu_solve_transposed4(A, pivots, X):
    """X = A⁻ᵀ X for four columns with the factors of `lu`."""
    n = A.shape[0]
    for k in range(n):
        _swap4(X, k, pivots[k])
    for i in range(n):
        s = get4(X, i)
        for k in range(i + 1, n):
            put4(X, k, axpy4(-A[i, k], s, get4(X, k)))
    for i in range(n - 1, -1, -1):
        s = mul4(A[i, i], get4(X, i))
        put4(X, i, s)
        for k in range(i):
            put4(X, k, axpy4(-A[i, k], s, get4(X, k)))


@kernel
def _swap4(X, i, k):
    if i != k:
        a = get4(X, i)
        put4(X, i, get4(X, k))
        put4(X, k, a)


# --- rank --------------------------------------------------------------------------------------------------------


@kernel
def qr(A, tau, order, tolerance):
    """Rank r; A[:, order] = Q R by r reflections, the column with the largest remainder first  (LIN-4).

    A (m, n) becomes R above and the reflections below the diagonal, with their factors in tau (min(m, n)).  Columns
    count while their remainder exceeds `tolerance` times the first.  Of equal columns the earlier is taken.
    """
    m, n = A.shape
    for j in range(n):
        order[j] = j
    first = 0.0
    for k in range(min(m, n)):
        p, largest = k, 0.0
        for j in range(k, n):
            s = 0.0
            for i in range(k, m):
                s += real(A[i, j]) ** 2
            if s > largest * (1.0 + 1e-10) or (s > largest * (1.0 - 1e-10) and order[j] < order[p]):
                p, largest = j, s
        if k == 0:
            first = largest
        if not largest > tolerance * tolerance * first:
            return k
        order[k], order[p] = order[p], order[k]
        s = 0.0
        for i in range(m):
            A[i, k], A[i, p] = A[i, p], A[i, k]
        for i in range(k, m):
            s += A[i, k] * A[i, k]
        r = sqrt(s)
        if real(A[k, k]) > 0.0:
            r = -r
        t = 1.0 / (A[k, k] - r)
        tau[k] = (r - A[k, k]) / r
        A[k, k] = r
        for i in range(k + 1, m):
            A[i, k] *= t
        for j in range(k + 1, n):
            s = A[k, j]
            for i in range(k + 1, m):
                s += A[i, k] * A[i, j]
            s *= tau[k]
            A[k, j] -= s
            for i in range(k + 1, m):
                A[i, j] -= A[i, k] * s
    return min(m, n)


@kernel
def reflect(A, tau, k, b):
    """b = H b with reflection k of `qr`: all of them in turn give Qᵀ b, in reverse Q b."""
    s = b[k]
    for i in range(k + 1, A.shape[0]):
        s += A[i, k] * b[i]
    s *= tau[k]
    b[k] -= s
    for i in range(k + 1, A.shape[0]):
        b[i] -= A[i, k] * s


def least_squares(A, B, tolerance):
    """The X of least norm among those that minimise |A X − B|, and the rank of A  (LIN-5).

    For complex numbers, so with the compiler switched off: `numpy.linalg.lstsq` conjugates where transposes are meant.

    Parameters
    ----------
    A, B : (m, n), (m, c) arrays
        Left as they are.
    tolerance : float
        Columns whose remainder is smaller than this part of the largest are dependent.
    """
    m, n = A.shape
    F = A.copy()
    tau, order = np.empty(min(m, n), A.dtype), np.empty(n, np.int64)
    rank = qr(F, tau, order, tolerance)
    G = np.empty((n, rank), A.dtype)  # the transpose of the rank rows of R
    for i in range(rank):
        for j in range(n):
            G[j, i] = F[i, j] if j >= i else 0.0
    tau_g, order_g = np.empty(rank, A.dtype), np.empty(rank, np.int64)
    qr(G, tau_g, order_g, 0.0)
    X = np.zeros((n, B.shape[1]), A.dtype)
    b, y = np.empty(m, A.dtype), np.empty(n, A.dtype)
    for c in range(B.shape[1]):
        for i in range(m):
            b[i] = B[i, c]
        for k in range(rank):
            reflect(F, tau, k, b)
        for i in range(n):
            y[i] = 0.0
        for i in range(rank):  # forward substitution with the triangle of G, transposed
            s = b[order_g[i]]
            for k in range(i):
                s -= G[k, i] * y[k]
            y[i] = s / G[i, i]
        for k in range(rank - 1, -1, -1):
            reflect(G, tau_g, k, y)
        for j in range(n):
            X[order[j], c] = y[j]
    return X, rank
