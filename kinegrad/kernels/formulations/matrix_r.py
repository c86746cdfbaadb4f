"""Matrix R: independent coordinates z, integrated by the Newmark family or by explicit Runge-Kutta methods.

With K = [Phi_q; B], B = z_q, and R the solution of K R = [0; I] (MR-1):

    q from Phi(q) = 0, z(q) = z        K v = [-Phi_t; zd]        a = R zdd + a_c,  K a_c = -[c; c_B]
    Rᵀ M R zdd = -Rᵀ(f + M a_c)

With Phi_qᵀlam = -(M a + f) the derivative of the last line is Rᵀ(M a' + C v' + R_z z') = 0, the R_z of the set with these
multipliers (MR-2).  z begin as the degrees of freedom of the model; where they become poor, coordinates that are better
there take over, read from the same state (MR-11).

Rows of a trajectory: q, v, a, lam of the state; with Runge-Kutta also those of the stages, but the first, of the step that
led to it; then the independent coordinates of the step that follows, and with HHT and generalized-alpha their auxiliary
accelerations.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.independent import (
    UNKNOWN,
    basis,
    choose,
    factorise,
    quality,
    solve1,
    solve_normal,
    weigh,
)
from kinegrad.kernels.formulations.newton import TIGHT, converged
from kinegrad.kernels.jit import entry, inlined, real
from kinegrad.kernels.linalg import ldlt, ldlt_solve
from kinegrad.kernels.products import (
    AT_POSITION,
    BIAS,
    EVALUATE,
    EXTENT,
    POSITION,
    PRODUCTS,
    STATUS,
    full_viewers,
)  # fmt: skip
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_) = PRODUCTS.viewers(*"par flag g q v a vp ap f".split())
(lam_, Phi_, Phi_t_, c_, per_) = PRODUCTS.viewers("lam", "Phi", "Phi_t", "c", "per")
M_, J_ = full_viewers("M", "J")

# options
TOLERANCE, RESELECT = range(2)
# numbers that a run carries on: the quality below which other coordinates are sought, how often they were changed, how
# many of these changes a flag has told, the size of the last step, and the quality that no stage of a step may be below
LIMIT, CHANGES, MARKED, LAST_STEP, LEAST = range(5)
SELECTED = 4  # flag of the first step in other coordinates
SHARPER = 1e-3  # of the tolerance: corrections of positions that are left
POOR = -1  # status: other independent coordinates may be better from here on
POOR_INSIDE = -2  # status: they may be better from the state before this step on
DROPPED = 0.75  # of the limit: a stage below this asks for other coordinates before the step


class Stage(NamedTuple):
    """R and R M (d, n), the factors D, dd of Rᵀ M R, and scratch of sizes m + d, n, n, n."""

    R: np.ndarray
    MR: np.ndarray
    D: np.ndarray
    dd: np.ndarray
    res: np.ndarray
    x: np.ndarray
    w: np.ndarray
    y: np.ndarray


def new_stage(m, nd, like):
    """The arrays of a stage; `like` is an (n, n) array of its numbers."""
    n = len(like)
    sizes = (nd, n), (nd, n), (nd, nd), 2 * nd, m + nd, n, n, n
    return Stage(*(np.zeros(size, like.dtype) for size in sizes))


@inlined
def positions(fn, ctx, m, S, z, tol, tight, size, w):
    """Status; q with Phi(q) = 0 and z(q) = z, from the q at hand, and the factors at that q.

    The first correction takes the factors of the position before, if there are any.
    """
    q, Phi, J, per = q_(ctx), Phi_(ctx), J_(ctx), per_(ctx)
    order, nu = S.order, S.nu
    for j in range(nu, q.shape[0]):
        q[order[j]] = z[j - nu]
    fresh = S.ready[0] == 0
    last = 1e300
    for it in range(30):
        call(fn[POSITION], ctx)
        if fresh:
            status = factorise(S, J)
            if status != OK:
                return status
        for i in range(nu):
            w[i] = 0.0
        for l in range(S.rows):
            s = -Phi[l]
            if l >= m:
                s += z[l - m]
            weigh(S, l, s, w)
        solve_normal(S, w)
        e = 0.0
        for i in range(nu):
            e = max(e, abs(w[i]) * per[order[i]])
        if not e < 1e300:
            return NOT_FINITE
        for i in range(nu):
            q[order[i]] += w[i]
        if converged(it, e, last, tol, tight, size):
            return OK if fresh else factorise(S, J)
        last = e
        fresh = True
    return NOT_CONVERGED


@inlined
def stage(fn, ctx, m, S, T, z, zd, tol, zdd):
    """Status; q, v = vp, a = ap, lam and zdd at independent z, zd, and R there (MR-1)."""
    flag, q, v, a, vp, ap, f, lam = flag_(ctx), q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx)
    Phi_t, c, M = Phi_t_(ctx), c_(ctx), M_(ctx)
    R, MR, D, dd, res, x, w, y = T
    n, nd, tight, size = q.shape[0], z.shape[0], tol < TIGHT, real(par_(ctx)[EXTENT])
    for i in range(n):
        size = max(size, abs(real(q[i])) * per_(ctx)[i])
    status = positions(fn, ctx, m, S, z, SHARPER * tol, tight, size, w)
    if status != OK:
        return status
    rounds = 2 if tight else 1
    basis(S, m, R, rounds)
    moving = False
    for l in range(m + nd):
        res[l] = -Phi_t[l] if l < S.rows else 0.0
        moving = moving or res[l] != 0.0
    if moving:
        solve1(S, m, res, x, w, rounds)
    for i in range(n):
        s = x[i] if moving else 0.0 * q[0]
        for k in range(nd):
            s += R[k, i] * zd[k]
        v[i] = s
        vp[i] = s
    flag[AT_POSITION] = 1
    call(fn[EVALUATE], ctx)
    flag[AT_POSITION] = 0
    if flag[STATUS] != OK:
        return flag[STATUS]
    call(fn[BIAS], ctx)
    for l in range(m + nd):
        res[l] = -c[l] if l < S.rows else 0.0
    solve1(S, m, res, a, w, rounds)
    for i in range(n):
        s = f[i]
        for j in range(n):
            s += M[i, j] * a[j]
        y[i] = s
    for k in range(nd):
        for i in range(n):
            MR[k, i] = 0.0
        for j in range(n):
            t = R[k, j]
            if t != 0.0:  # R is the identity in coordinates that are independent
                for i in range(n):
                    MR[k, i] += t * M[j, i]
    for k in range(nd):
        s = 0.0 * q[0]
        for i in range(n):
            s -= R[k, i] * y[i]
        zdd[k] = s
        for h in range(k + 1):
            t = 0.0 * q[0]
            for i in range(n):
                t += MR[k, i] * R[h, i]
            D[k, h] = t
    status = ldlt(D, dd)
    if status != OK:
        return status
    ldlt_solve(D, dd, zdd)
    for i in range(n):
        s, t = a[i], y[i]
        for k in range(nd):
            s += R[k, i] * zdd[k]
            t += MR[k, i] * zdd[k]
        a[i] = s
        ap[i] = s
        y[i] = t
        if not abs(s) < 1e300:
            return NOT_FINITE
    multipliers(S, m, y, w, lam, rounds)
    return OK


@inlined
def multipliers(S, m, y, w, lam, rounds):
    """lam, of least norm by weights, with Phi_qᵀ lam = -y, y = M a + f, from the equations of the unknowns (MR-8)."""
    order, nu, G = S.order, S.nu, S.G
    for l in range(lam.shape[0]):
        lam[l] = 0.0
    for k in range(max(rounds, S.ready[0])):
        for i in range(nu):
            w[i] = -y[order[i]]
        if k > 0:
            for l in range(S.rows):
                for a in range(S.count[l, UNKNOWN]):
                    w[S.at[l, a]] -= G[l, S.at[l, a]] * lam[l]
        solve_normal(S, w)
        for l in range(S.rows):
            s = 0.0 * lam[l]
            for a in range(S.count[l, UNKNOWN]):
                s += G[l, S.at[l, a]] * w[S.at[l, a]]
            lam[l] += S.weights[0, l] * s
    for l in range(m, lam.shape[0]):
        lam[l] = 0.0


@inlined
def set_state(ctx, state):
    """q, v, a of the context = the rows of `state`."""
    q, v, a = q_(ctx), v_(ctx), a_(ctx)
    for i in range(q.shape[0]):
        q[i], v[i], a[i] = state[0, i], state[1, i], state[2, i]


@inlined
def get_state(ctx, state):
    """The rows of `state` = q, v, a of the context."""
    q, v, a = q_(ctx), v_(ctx), a_(ctx)
    for i in range(q.shape[0]):
        state[0, i], state[1, i], state[2, i] = q[i], v[i], a[i]


@entry(what="the choice of independent coordinates")
def best(ctx, m, rows, scale, A, tau, places, chosen):
    """Status; chosen = the best independent coordinates at the position of the context (MR-11).

    rows (m) and scale (n) make rows and coordinates of any unit comparable; A (m, n), tau (min(m, n)) and places (n) are
    scratch.
    """
    return choose(J_(ctx), m, rows, scale, A, tau, places, chosen)


@entry(what="the choice of independent coordinates")
def prepare(ctx, m, S, T, scale):
    """Status and quality of the coordinates of S at the position of the context, with the factors and R there."""
    status = factorise(S, J_(ctx))
    if status == OK:
        basis(S, m, T.R, 2)
    return status, quality(S, m, J_(ctx), T.R, scale)
