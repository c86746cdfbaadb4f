"""Derivatives of the start of small dense systems in compiled code, direct and adjoint, where all is as usual (KIN-4, KIN-5).

They do what `kinegrad.kinematics.start_derivatives` does, and say where something is in doubt, as `kinegrad.kernels.start`.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels import orthogonal
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.products import (
    EVALUATE,
    FREEDOMS,
    LINEARISE,
    OBJECTIVE,
    PRODUCTS,
    PULLBACK,
    STATUS,
    WEIGHT,
    full_viewers,
)
from kinegrad.kernels.start import (
    UNUSUAL,
    USUAL,
    factor_constrained,
    put_ease,
    refine,
    solve_constrained,
)
from kinegrad.kernels.start_rows import are_finite, clear_rank
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

par_, flag_, ds_, psi_s_, g_q_, g_v_, g_a_ = PRODUCTS.viewers("par", "flag", "ds", "psi_s", "g_q", "g_v", "g_a")
dv_, da_, sv_, sa_, mu_, eta_v_, eta_a_, yp_, yv_, ya_, ys_, ease_, M_values_, J_values_, r_ = PRODUCTS.viewers(
    *"dv da sv sa mu eta_v eta_a yp yv ya ys ease M J r".split()
)
R_s_, Phi_s_, Phid_s_, Phidd_s_ = PRODUCTS.viewers("R_s", "Phi_s", "Phid_s", "Phidd_s")
J_, C_, R_q_, Phi_q_, Phid_q_, Phidd_q_, Phidd_v_ = full_viewers(
    "J", "C", "R_q", "Phi_q", "Phid_q", "Phidd_q", "Phidd_v"
)


class Columns(NamedTuple):
    """Solutions for all objectives, a row each: of coordinates n, constraints m, and all rows r."""

    U: np.ndarray  # (o, n)
    B: np.ndarray  # (o, r)
    D: np.ndarray  # (o, r)
    P: np.ndarray  # (o, r)


def columns(o: int, n: int, r: int) -> Columns:
    """Room for so many objectives, coordinates and rows."""
    return Columns(*(np.zeros((o, size)) for size in (n, r, r, r)))


@kernel
def clear(x):
    """x = 0."""
    for i in range(x.shape[0]):
        x[i] = 0.0


@entry(what="the start")
def linearise(fn, ctx, m, opts, S):
    """USUAL, with the derivatives of the equations at the start, its factors, and how easily rows move; or UNUSUAL."""
    clear(dv_(ctx))
    clear(da_(ctx))
    clear(sv_(ctx))
    clear(sa_(ctx))
    flag_(ctx)[FREEDOMS] = 1
    call(fn[EVALUATE], ctx)
    if flag_(ctx)[STATUS] != OK or not (are_finite(M_values_(ctx)) and are_finite(J_values_(ctx))):
        return UNUSUAL
    if put_ease(ctx, m, ease_(ctx)) != USUAL:
        return UNUSUAL
    call(fn[LINEARISE], ctx)
    if clear_rank(ctx, Phi_q_(ctx), S.K) != S.q.shape[0]:
        return UNUSUAL
    return factor_constrained(ctx, m, opts[1], S.ease)


@entry(what="the start")
def direct(ctx, m, opts, slots, S, q, v, a):
    """USUAL, with the derivatives q, v, a (p, n) by the directions of the context (KIN-4); or UNUSUAL.

    slots: of the values and rates of the degrees of freedom, (d, 2); none where these are constants.
    """
    ds, J, Phi_q = ds_(ctx), J_(ctx), Phi_q_(ctx)
    Phi_s, Phid_s, Phidd_s, R_s = Phi_s_(ctx), Phid_s_(ctx), Phidd_s_(ctx), R_s_(ctx)
    Phid_q, Phidd_q, Phidd_v, R_q, C = Phid_q_(ctx), Phidd_q_(ctx), Phidd_v_(ctx), R_q_(ctx), C_(ctx)
    n, rows, r2, lam = S.q.shape[0], S.right.shape[0], r_(ctx), S.sizes
    for p in range(ds.shape[0]):
        for l in range(rows):
            S.right[l] = -Phi_s[l, p]
        for k in range(slots.shape[0]):
            S.right[m + k] += ds[p, slots[k, 0]]
        refine(Phi_q, S.K, S.right, S.residual, S.step, q[p])
        for l in range(rows):
            s = -Phid_s[l, p]
            for i in range(n):
                s -= Phid_q[l, i] * q[p, i]
            S.right[l] = s
        for k in range(slots.shape[0]):
            S.right[m + k] += ds[p, slots[k, 1]]
        refine(J, S.K, S.right, S.residual, S.step, v[p])
        for i in range(n):
            s = -R_s[i, p]
            for j in range(n):
                s -= R_q[i, j] * q[p, j] + C[i, j] * v[p, j]
            S.step[i] = s
        for l in range(m):
            s = -Phidd_s[l, p]
            for j in range(n):
                s -= Phidd_q[l, j] * q[p, j] + Phidd_v[l, j] * v[p, j]
            r2[l] = s
        if solve_constrained(ctx, m, opts[1], S.step, r2, a[p], lam) != USUAL:
            return UNUSUAL
    return USUAL


@kernel
def refine_transposed(J, S, f, y):
    """y with Jᵀ y = f, refined once; S.q and S.right are scratch."""
    n, rows = S.q.shape[0], y.shape[0]
    orthogonal.solve_transposed(S.K, n, f, y)
    for i in range(n):
        s = f[i]
        for l in range(rows):
            s -= J[l, i] * y[l]
        S.q[i] = s
    orthogonal.solve_transposed(S.K, n, S.q, S.right)
    for l in range(rows):
        y[l] += S.right[l]


@entry(what="the start")
def adjoint(fn, ctx, m, opts, slots, S, X, Q, V, A, from_rows, weights):
    """USUAL, with what adjoints at the start give added to psi_s (KIN-5, SRT-4); or UNUSUAL, with nothing added.

    Q, V, A (n, o) are adjoints of q, v, a, from_rows (3, r, o) those of Phi_s, Phid_s, Phidd_s.
    """
    g_q, g_v, g_a, J, Phi_q, Phid_q = g_q_(ctx), g_v_(ctx), g_a_(ctx), J_(ctx), Phi_q_(ctx), Phid_q_(ctx)
    Phidd_q, Phidd_v, R_q, C = Phidd_q_(ctx), Phidd_v_(ctx), R_q_(ctx), C_(ctx)
    n, rows, f = S.q.shape[0], S.right.shape[0], S.step
    for o in range(weights.shape[0]):
        for i in range(n):
            f[i] = A[i, o] + weights[o] * g_a[o, i]
        clear(r_(ctx))
        if solve_constrained(ctx, m, opts[1], f, r_(ctx), X.U[o], X.B[o]) != USUAL:
            return UNUSUAL
        for i in range(n):
            s, t = V[i, o] + weights[o] * g_v[o, i], Q[i, o] + weights[o] * g_q[o, i]
            for j in range(n):
                s -= C[j, i] * X.U[o, j]
                t -= R_q[j, i] * X.U[o, j]
            for l in range(m):
                s -= Phidd_v[l, i] * X.B[o, l]
                t -= Phidd_q[l, i] * X.B[o, l]
            f[i] = s
            S.guess[i] = t
        refine_transposed(J, S, f, X.D[o])
        for i in range(n):
            for l in range(rows):
                S.guess[i] -= Phid_q[l, i] * X.D[o, l]
        refine_transposed(Phi_q, S, S.guess, X.P[o])
    clear(eta_v_(ctx))
    clear(eta_a_(ctx))
    clear(ys_(ctx))
    for o in range(weights.shape[0]):
        for i in range(n):
            mu_(ctx)[i] = -X.U[o, i]
        for l in range(rows):
            yp_(ctx)[l] = from_rows[0, l, o] - X.P[o, l]
            yv_(ctx)[l] = from_rows[1, l, o] - X.D[o, l]
            ya_(ctx)[l] = from_rows[2, l, o] - (X.B[o, l] if l < m else 0.0)
        flag_(ctx)[OBJECTIVE] = o
        par_(ctx)[WEIGHT] = weights[o]
        call(fn[PULLBACK], ctx)
        for k in range(slots.shape[0]):
            psi_s_(ctx)[o, slots[k, 0]] += X.P[o, m + k]
            psi_s_(ctx)[o, slots[k, 1]] += X.D[o, m + k]
    return USUAL
