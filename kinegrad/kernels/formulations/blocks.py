"""Blocks of four columns, a column a direction or an objective, and what objectives give to them."""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.lanes import lane, spread4
from kinegrad.kernels.linalg import axpy4, get4, put4, times4
from kinegrad.kernels.products import OBSERVE
from kinegrad.kernels.solvers.multiply import columns4
from kinegrad.kernels.table import call


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
def observe_state(fn, ctx, g, final, psi, g_last):
    """g at the state, kept in g_last and, for final values, in psi."""
    if psi.shape[0] > 0:
        call(fn[OBSERVE], ctx)
    for o in range(psi.shape[0]):
        g_last[o] = g[o]
        if final[o]:
            psi[o] = g[o]


@kernel
def observe_step(fn, ctx, h, g, final, psi, g_last):
    """psi gains the integrals over a step of size h that ends in the state, by the trapezoidal rule, or final values."""
    if psi.shape[0] > 0:
        call(fn[OBSERVE], ctx)
    for o in range(psi.shape[0]):
        if final[o]:
            psi[o] = g[o]
        else:
            psi[o] += 0.5 * h * (g_last[o] + g[o])
        g_last[o] = g[o]


@kernel
def quadrature(hs, step, after, final, weights):
    """Weights, by the trapezoidal rule, of the state after `step` steps; `after`: the step beyond hs, 0 at the end."""
    n = hs.shape[0]
    for o in range(final.shape[0]):
        if final[o]:
            weights[o] = 1.0 if (step == n and after == 0.0) else 0.0
        else:
            weights[o] = 0.5 * ((hs[step - 1] if step > 0 else 0.0) + (hs[step] if step < n else after))
