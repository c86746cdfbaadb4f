"""Products of matrices of a pattern with vectors, and with blocks of four columns.

`rows` is how many rows take part.  Dense matrices have loops of their own: those of small mechanisms are short.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.lanes import load4, of4
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.pattern import COLUMNS, DENSE, OF_ROW, PLACES, ROWS, RUNS, place

# --- one vector --------------------------------------------------------------------------------------------------


@kernel
def diagonal(P, A, out):
    """out = the diagonal of A."""
    for i in range(P[ROWS]):
        out[i] = A[place(P, i, i)]


@kernel
def row_times(P, A, i, x, s):
    """s + A_i x."""
    if P[DENSE]:
        n = P[COLUMNS]
        for j in range(n):
            s += A[i * n + j] * x[j]
        return s
    p = P[P[PLACES] + i]
    for k in range(P[P[OF_ROW] + 2 * i], P[P[OF_ROW] + 2 * i + 1]):
        first = P[P[RUNS] + 3 * k]
        for j in range(first, first + P[P[RUNS] + 3 * k + 1]):
            s += A[p] * x[j]
            p += 1
    return s


@kernel
def times(P, A, rows, x, b, out):
    """out = b + A x; out may be b."""
    if P[DENSE]:
        n = P[COLUMNS]
        for i in range(rows):
            s = b[i]
            for j in range(n):
                s += A[i * n + j] * x[j]
            out[i] = s
    else:
        for i in range(rows):
            out[i] = row_times(P, A, i, x, b[i])


@kernel
def minus_times(P, A, rows, x, y):
    """y -= A x."""
    if P[DENSE]:
        n = P[COLUMNS]
        for i in range(rows):
            s = y[i]
            for j in range(n):
                s -= A[i * n + j] * x[j]
            y[i] = s
    else:
        for i in range(rows):
            y[i] -= row_times(P, A, i, x, 0.0 * y[i])


@kernel
def plus_row(P, A, i, t, y):
    """y += t A_i."""
    if P[DENSE]:
        n = P[COLUMNS]
        for j in range(n):
            y[j] += A[i * n + j] * t
        return
    p = P[P[PLACES] + i]
    for k in range(P[P[OF_ROW] + 2 * i], P[P[OF_ROW] + 2 * i + 1]):
        first = P[P[RUNS] + 3 * k]
        for j in range(first, first + P[P[RUNS] + 3 * k + 1]):
            y[j] += A[p] * t
            p += 1


@kernel
def minus_rows(P, A, rows, x, y):
    """y -= Aᵀ x."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        t = x[i]
        if dense:
            for j in range(n):
                y[j] -= A[i * n + j] * t
        else:
            plus_row(P, A, i, -t, y)


@kernel
def minus_weighed_rows(P, A, rows, D, x, y):
    """y -= Aᵀ D x."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        t = D[i] * x[i]
        if dense:
            for j in range(n):
                y[j] -= A[i * n + j] * t
        else:
            plus_row(P, A, i, -t, y)


@kernel
def minus_two_sorts_of_rows(P, A, x, B, D, z, rows, y):
    """y -= Aᵀ x + Bᵀ D z."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        t = D[i] * z[i]
        if dense:
            for j in range(n):
                y[j] -= A[i * n + j] * x[i] + B[i * n + j] * t
        else:
            plus_row(P, A, i, -x[i], y)
            plus_row(P, B, i, -t, y)


# --- four columns ------------------------------------------------------------------------------------------------


@kernel
def columns4(A, r, k):
    """Entries k to k + 3 of row r; zero beyond the last."""
    e = A.shape[1]
    if k + 4 <= e:
        return load4(A, r, k)
    z = 0.0 * A[r, 0]
    return of4(
        A[r, k] if k < e else z,
        A[r, k + 1] if k + 1 < e else z,
        A[r, k + 2] if k + 2 < e else z,
        z,
    )


@kernel
def runs_times4(P, A, i, X, b):
    """A_i X + b, by the runs of the row."""
    p = P[P[PLACES] + i]
    for k in range(P[P[OF_ROW] + 2 * i], P[P[OF_ROW] + 2 * i + 1]):
        first = P[P[RUNS] + 3 * k]
        for j in range(first, first + P[P[RUNS] + 3 * k + 1]):
            b = axpy4(A[p], get4(X, j), b)
            p += 1
    return b


@kernel
def plus_runs4(P, A, i, t, X):
    """X += A_iᵀ t, by the runs of the row."""
    p = P[P[PLACES] + i]
    for k in range(P[P[OF_ROW] + 2 * i], P[P[OF_ROW] + 2 * i + 1]):
        first = P[P[RUNS] + 3 * k]
        for j in range(first, first + P[P[RUNS] + 3 * k + 1]):
            put4(X, j, axpy4(A[p], t, get4(X, j)))
            p += 1


@inlined
def row_times4(P, dense, n, A, i, X, b):
    """A_i X + b; `dense` and n are those of the pattern."""
    if dense:
        for j in range(n):
            b = axpy4(A[i * n + j], get4(X, j), b)
    else:
        b = runs_times4(P, A, i, X, b)
    return b


@inlined
def plus_row4(P, dense, n, A, i, t, X):
    """X += A_iᵀ t, t being four numbers; `dense` and n are those of the pattern."""
    if dense:
        for j in range(n):
            put4(X, j, axpy4(A[i * n + j], t, get4(X, j)))
    else:
        plus_runs4(P, A, i, t, X)


@kernel
def right4(P, A, B, rows, k, X, f, out):
    """out = -f (A X + columns k to k + 3 of B): A by coordinates, B by directions."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        put4(out, i, mul4(-f, row_times4(P, dense, n, A, i, X, columns4(B, i, k))))


@kernel
def minus4(P, A, rows, X, out):
    """out -= A X."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        put4(out, i, mul4(-1.0, row_times4(P, dense, n, A, i, X, mul4(-1.0, get4(out, i)))))


@kernel
def minus_transposed4(P, A, rows, f, Y, X):
    """X -= f Aᵀ Y."""
    dense, n = P[DENSE], P[COLUMNS]
    for i in range(rows):
        plus_row4(P, dense, n, A, i, mul4(-f, get4(Y, i)), X)
