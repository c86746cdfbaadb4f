"""Blocks of four columns, a column a direction or an objective, and what objectives give to them."""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.lanes import lane, spread4
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4, times4
from kinegrad.kernels.solvers.multiply import columns4


@kernel
def shift4(n, f, X, out):
    """out += f X."""
    for i in range(n):
        put4(out, i, axpy4(f, get4(X, i), get4(out, i)))


@kernel
def objective_rows4(no, n, k, g_q, g_s, g_v, g_a, Q, V, A, weights, p, grad):
    """Add weight times dg/drho of four directions, from k on, to grad."""
    for o in range(no):
        s = times4(g_a, o, n, A, times4(g_v, o, n, V, times4(g_q, o, n, Q, columns4(g_s, o, k))))
        for c in range(min(4, p - k)):
            grad[o, k + c] += weights[o] * lane(s, c)


@kernel
def add_objectives4(first, used, n, g_q, g_v, g_a, weights, Q, V, A):
    """Add weight times the derivatives of objectives `first` on by q, v, a, an objective a column: the transpose of
    `objective_rows4`."""
    for c in range(used):
        o = first + c
        for i in range(n):
            Q[i, c] += weights[o] * g_q[o, i]
            V[i, c] += weights[o] * g_v[o, i]
            A[i, c] += weights[o] * g_a[o, i]


@kernel
def clear4(X):
    """X = 0."""
    for i in range(X.shape[0]):
        put4(X, i, spread4(0.0))


@kernel
def minus_copy4(X, out):
    """out = -X, as many rows as X has."""
    for i in range(X.shape[0]):
        put4(out, i, mul4(-1.0, get4(X, i)))
