"""Matrix R: derivatives of a simulation in independent coordinates, direct and by the discrete adjoint.

Along a trajectory of `matrix_r`, each state or stage is linearised once.  With z' and zd' given up to their parts in zdd'
(explicit schemes have none), K q', K v', K a' follow row by row and Rᵀ(M a' + C v' + R_z z') = 0 gives zdd' (MR-3); the
adjoint sweep is the exact transpose (MR-4).  Where a row of the trajectory names other independent coordinates than the
row before, the derivative goes over to them by q', v', a' of that state (MR-13).
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.blocks import (
    clear4,
    minus_copy4,
    objective_rows4,
    shift4,
)
from kinegrad.kernels.formulations.independent import (
    arranged,
    basis,
    factorise,
    is_measured,
    load_chosen,
    partitions,
    solve1,
    solve4,
    transposed4,
)
from kinegrad.kernels.formulations.newmark_family import (
    by_acceleration,
    complete4,
    complete_transposed4,
    predict4,
    predict_transposed4,
)
from kinegrad.kernels.formulations.objectives import quadrature, stage_weights
from kinegrad.kernels.formulations.runge_kutta import (
    collect4,
    combine4,
    hand_back4,
    place,
    seed4,
)
from kinegrad.kernels.four_adjoints import collect, pull4
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import axpy4, get4, lu, lu_solve4, lu_solve_transposed4, mul4, put4
from kinegrad.kernels.products import FREEDOMS, LINEARISE, PRODUCTS, full_viewers
from kinegrad.kernels.solvers.multiply import minus4, minus_transposed4, right4
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu4_, eta_v4_, eta_a4_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu4 eta_v4 eta_a4".split()
)
(lam_, sv_, sa_, yp4_, yv4_, ya4_, ys4_, M_, C_) = PRODUCTS.viewers(*"lam sv sa yp4 yv4 ya4 ys4 M C".split())
(R_q_, R_s_, Phi_q_, Phi_s_, Phid_q_, Phid_s_, Phidd_q_, Phidd_s_, Phidd_v_) = PRODUCTS.viewers(
    *"R_q R_s Phi_q Phi_s Phid_q Phid_s Phidd_q Phidd_s Phidd_v".split()
)
g_q_, g_s_, g_v_, g_a_, square_, wide_ = PRODUCTS.viewers(*"g_q g_s g_v g_a square wide".split())
J_, full_M_, full_C_, full_R_q_, full_Phid_q_, full_Phidd_q_, full_Phidd_v_ = full_viewers(
    *"J M C R_q Phid_q Phidd_q Phidd_v".split()
)
(x4_, w4_, U4_, H4_, weights_, unit_, per_row_) = PRODUCTS.viewers(*"x4 w4 U4 H4 weights unit per_row".split())


class Linear(NamedTuple):
    """R, W, Y (d, n) and the factors T, pivots of (MR-3), and scratch: x, w (n), res (m + d), r1 (n, 4), r2 (m + d, 4)."""

    R: np.ndarray
    W: np.ndarray
    Y: np.ndarray
    T: np.ndarray
    pivots: np.ndarray
    x: np.ndarray
    w: np.ndarray
    res: np.ndarray
    r1: np.ndarray
    r2: np.ndarray


class Scratch(NamedTuple):
    """Both `partitions`, a linearised state, coordinates chosen (2, d), z (3, d, 4), rows (3, m + d, 4) and the rates of
    stages (2, stages, blocks, d, 4)."""

    both: tuple
    linear: Linear
    chosen: np.ndarray
    z: np.ndarray
    rows: np.ndarray
    rates: np.ndarray


def new_scratch(m, stages, state, like, weights=None):
    """Scratch of a run of derivatives `state` (blocks, d, 4); `like` is an (n, n) array of its numbers, `weights` of rows."""
    n, number, (blocks, nd, _) = len(like), like.dtype, state.shape
    sizes = [(nd, n)] * 3 + [(nd, nd), nd, n, n, m + nd, (n, 4), (m + nd, 4)]
    linear = Linear(*(np.zeros(size, np.int32 if k == 4 else number) for k, size in enumerate(sizes)))
    chosen, z, rows = np.zeros((2, nd), np.int64), np.zeros((3, nd, 4), number), np.zeros((3, m + nd, 4), number)
    rates = np.zeros((2, stages, blocks, nd, 4), number)
    return Scratch(partitions(nd, m, like, weights), linear, chosen, z, rows, rates)


@kernel
def implicit(ctx, m, S, L, b, gh):
    """Status; R, W, Y and the factors of T = Rᵀ[M(R + 2γhW + βh²Y) + C(γhR + βh²W) + βh²R_q R] (MR-3)."""
    M, C, R_q = full_M_(ctx), full_C_(ctx), full_R_q_(ctx)
    Phid, Phidd, Phidd_v = full_Phid_q_(ctx), full_Phidd_q_(ctx), full_Phidd_v_(ctx)
    R, W, Y, T, x, w, res = L.R, L.W, L.Y, L.T, L.x, L.w, L.res
    n, nd = R.shape[1], R.shape[0]
    status = factorise(S, J_(ctx))
    if status != OK:
        return status
    basis(S, m, R, 2)
    for l in range(S.rows, m + nd):  # of z: W and Y are derivatives in which they are held
        res[l] = 0.0
    for k in range(nd):
        for i in range(n):
            W[k, i] = 0.0
            Y[k, i] = 0.0
    if b != 0.0 or gh != 0.0:
        for k in range(nd):
            for l in range(S.rows):
                s = 0.0 * M[0, 0]
                for i in range(n):
                    s -= Phid[l, i] * R[k, i]
                res[l] = s
            solve1(S, m, res, x, w, 2)
            for i in range(n):
                W[k, i] = x[i]
            for l in range(S.rows):
                s = 0.0 * M[0, 0]
                for i in range(n):
                    s -= Phidd[l, i] * R[k, i] + Phidd_v[l, i] * W[k, i]
                res[l] = s
            solve1(S, m, res, x, w, 2)
            for i in range(n):
                Y[k, i] = x[i]
    for h in range(nd):
        for i in range(n):
            s = 0.0 * M[0, 0]
            for j in range(n):
                s += M[i, j] * (R[h, j] + 2.0 * gh * W[h, j] + b * Y[h, j])
                s += C[i, j] * (gh * R[h, j] + b * W[h, j]) + b * R_q[i, j] * R[h, j]
            w[i] = s
        for k in range(nd):
            s = 0.0 * M[0, 0]
            for i in range(n):
                s += R[k, i] * w[i]
            T[k, h] = s
    for k in range(nd):
        i = S.order[S.nu + k] if S.nu < n else 0
        w[k] = unit_(ctx)[i] if S.nu < n else 1.0 / per_row_(ctx)[m + k] if per_row_(ctx)[m + k] > 0.0 else 1.0
    return lu(T, L.pivots, w)


@kernel
def given4(S, m, Z, B):
    """The rows of z in a right-hand side: B[m:] = Z, or += Z where they are rows like the others."""
    for k in range(Z.shape[0]):
        z = get4(Z, k)
        put4(B, m + k, axpy4(1.0, get4(B, m + k), z) if is_measured(S) else z)


@kernel
def tangent4(ctx, m, S, L, e, b, gh, Z, Zd, A, qk, vk, ak):
    """Four columns e of q', v', a', zdd' = A, and z' = Z, zd' = Zd, which come in without their parts in A (MR-3)."""
    square, wide = square_(ctx), wide_(ctx)
    R, W, Y, r1, r2 = L.R, L.W, L.Y, L.r1, L.r2
    n, nd = R.shape[1], R.shape[0]
    clear4(qk)
    right4(wide, Phi_q_(ctx), Phi_s_(ctx), S.rows, e, qk, 1.0, r2)
    given4(S, m, Z, r2)
    solve4(S, m, r2, qk)
    right4(wide, Phid_q_(ctx), Phid_s_(ctx), S.rows, e, qk, 1.0, r2)
    given4(S, m, Zd, r2)
    solve4(S, m, r2, vk)
    right4(wide, Phidd_q_(ctx), Phidd_s_(ctx), S.rows, e, qk, 1.0, r2)
    minus4(wide, Phidd_v_(ctx), S.rows, vk, r2)
    clear4(A)
    given4(S, m, A, r2)
    solve4(S, m, r2, ak)
    right4(square, R_q_(ctx), R_s_(ctx), n, e, qk, 1.0, r1)
    minus4(square, C_(ctx), n, vk, r1)
    minus4(square, M_(ctx), n, ak, r1)
    for k in range(nd):
        s = spread4(0.0)
        for i in range(n):
            s = axpy4(R[k, i], get4(r1, i), s)
        put4(A, k, s)
    lu_solve4(L.T, L.pivots, A)
    for k in range(nd):
        s = get4(A, k)
        put4(Z, k, axpy4(b, s, get4(Z, k)))
        put4(Zd, k, axpy4(gh, s, get4(Zd, k)))
        for i in range(n):
            put4(qk, i, axpy4(b * R[k, i], s, get4(qk, i)))
            put4(vk, i, axpy4(gh * R[k, i] + b * W[k, i], s, get4(vk, i)))
            put4(ak, i, axpy4(R[k, i] + 2.0 * gh * W[k, i] + b * Y[k, i], s, get4(ak, i)))


@kernel
def cotangent4(ctx, m, S, L, b, gh, Z, Zd, A, qo, vo, ao, U, yp, yv, ya):
    """The transpose of `tangent4`: A, Z, Zd come in as adjoints of zdd, z, zd and leave as those of the incoming Z, Zd (A
    is used up); U, yp, yv, ya are the adjoints of the residual and of Phi, Phid, Phidd (MR-4)."""
    square, wide = square_(ctx), wide_(ctx)
    R, W, Y, rows = L.R, L.W, L.Y, S.rows
    n, nd = R.shape[1], R.shape[0]
    for k in range(nd):
        s = axpy4(b, get4(Z, k), axpy4(gh, get4(Zd, k), get4(A, k)))
        for i in range(n):
            s = axpy4(b * R[k, i], get4(qo, i), s)
            s = axpy4(gh * R[k, i] + b * W[k, i], get4(vo, i), s)
            s = axpy4(R[k, i] + 2.0 * gh * W[k, i] + b * Y[k, i], get4(ao, i), s)
        put4(A, k, s)
    lu_solve_transposed4(L.T, L.pivots, A)
    clear4(U)
    for k in range(nd):
        for i in range(n):
            put4(U, i, axpy4(R[k, i], get4(A, k), get4(U, i)))
    minus_transposed4(square, M_(ctx), n, 1.0, U, ao)
    minus_transposed4(square, C_(ctx), n, 1.0, U, vo)
    minus_transposed4(square, R_q_(ctx), n, 1.0, U, qo)
    transposed4(S, m, ao, ya)
    minus_transposed4(wide, Phidd_q_(ctx), rows, 1.0, ya, qo)
    minus_transposed4(wide, Phidd_v_(ctx), rows, 1.0, ya, vo)
    transposed4(S, m, vo, yv)
    minus_transposed4(wide, Phid_q_(ctx), rows, 1.0, yv, qo)
    transposed4(S, m, qo, yp)
    for k in range(nd):
        put4(Z, k, axpy4(1.0, get4(yp, m + k), get4(Z, k)))
        put4(Zd, k, axpy4(1.0, get4(yv, m + k), get4(Zd, k)))


@kernel
def no_projection(dv, da, sv, sa):
    """dv = da = sv = sa = 0."""
    for i in range(dv.shape[0]):
        dv[i] = 0.0
        da[i] = 0.0
    for l in range(sv.shape[0]):
        sv[l] = 0.0
        sa[l] = 0.0


@kernel
def read4(chosen, X, Z):
    """Z = the rows `chosen` of X (MR-13)."""
    for k in range(chosen.shape[0]):
        put4(Z, k, get4(X, chosen[k]))


@kernel
def give4(chosen, Z, X):
    """The transpose of `read4`: the rows `chosen` of X gain Z, which is then zero."""
    for k in range(chosen.shape[0]):
        put4(X, chosen[k], axpy4(1.0, get4(Z, k), get4(X, chosen[k])))
    clear4(Z)


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, scratch, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (MR-3).

    The variation holds the derivatives of z, zd, zdd and of the auxiliary accelerations by the directions at row 0 and leaves
    with those at the end.  grad gains the objectives of rows 1 on (Newmark), or of all stages (Runge-Kutta).
    """
    explicit, family = rule.explicit, rule.family
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, kinds, traj = segment.ts, segment.hs, segment.after, segment.kinds, segment.traj
    Z, Zd, A, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    g_q, g_s, g_v, g_a = g_q_(ctx), g_s_(ctx), g_v_(ctx), g_a_(ctx)
    n, nd, p, no, s = q.shape[0], Z.shape[1], grad.shape[1], g.shape[0], rb.shape[0]
    chosen, after_step, at = scratch.chosen[0], scratch.chosen[1], s * (3 * n + m)
    load_chosen(traj[0], at, chosen)
    S, L, KV, KA = arranged(scratch.both, chosen), scratch.linear, scratch.rates[0], scratch.rates[1]
    qk, vk, ak, z, zd, zdd = x4_(ctx), w4_(ctx), U4_(ctx), scratch.z[0], scratch.z[1], scratch.z[2]
    weights = weights_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    steps = hs.shape[0]
    for step in range(steps):
        h = hs[step]
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        for k in range(nd):
            after_step[k] = chosen[k]
        changes = load_chosen(traj[step + 1], at, after_step)
        at_end = step == steps - 1 and after == 0.0
        flag[FREEDOMS] = 1 if is_measured(S) else 0
        for i in range((s + 1 if at_end or changes else s) if explicit else 1):
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            call(fn[LINEARISE], ctx)
            if explicit:
                stage_weights(i, rb, step, segment, g, weights)
                if i == s and not at_end:  # a state at which nothing but the selection changes
                    weights[:] = 0.0
            else:
                quadrature(ts, hs, step + 1, after, kinds, g, weights)
            status = implicit(ctx, m, S, L, b, gh)
            if status != OK:
                return status, step
            for e in range(Z.shape[0]):
                if explicit:
                    part = RA[i] if i < s else rb
                    combine4(h, part, i, Z[e], KV, e, nd, z)
                    combine4(h, part, i, Zd[e], KA, e, nd, zd)
                else:
                    predict4(family, h, nd, Z[e], Zd[e], A[e], X[e])
                    for k in range(nd):
                        put4(z, k, get4(Z[e], k))
                        put4(zd, k, get4(Zd[e], k))
                tangent4(ctx, m, S, L, 4 * e, b, gh, z, zd, zdd, qk, vk, ak)
                objective_rows4(no, n, 4 * e, g_q, g_s, g_v, g_a, qk, vk, ak, weights, p, grad)
                if explicit and i < s:
                    for k in range(nd):
                        put4(KV[i, e], k, get4(zd, k))
                        put4(KA[i, e], k, get4(zdd, k))
                elif changes:
                    read4(after_step, qk, Z[e])
                    read4(after_step, vk, Zd[e])
                    read4(after_step, ak, A[e])
                    read4(after_step, ak, X[e])
                elif not explicit:
                    for k in range(nd):
                        put4(Z[e], k, get4(z, k))
                        put4(Zd[e], k, get4(zd, k))
                        put4(A[e], k, get4(zdd, k))
                    complete4(family, nd, zdd, X[e])
        if explicit and not changes:
            for e in range(Z.shape[0]):
                combine4(h, rb, s, Z[e], KV, e, nd, Z[e])
                combine4(h, rb, s, Zd[e], KA, e, nd, Zd[e])
        if changes:
            for k in range(nd):
                chosen[k] = after_step[k]
            S = arranged(scratch.both, chosen)
    return OK, steps


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, rule, segment, scratch, variation):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (MR-4).

    The variation holds the adjoints of z, zd, zdd and of the auxiliary accelerations at the end of the segment, then at its
    beginning.
    """
    explicit, family = rule.explicit, rule.family
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, kinds, traj = segment.ts, segment.hs, segment.after, segment.kinds, segment.traj
    Z, Zd, A, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    g_q, g_v, g_a = g_q_(ctx), g_v_(ctx), g_a_(ctx)
    mu, yp, yv, ya = mu4_(ctx), yp4_(ctx), yv4_(ctx), ya4_(ctx)
    n, nd, no, s, steps = q.shape[0], Z.shape[1], g.shape[0], rb.shape[0], hs.shape[0]
    chosen, after_step, at = scratch.chosen[0], scratch.chosen[1], s * (3 * n + m)
    load_chosen(traj[steps], at, after_step)
    load_chosen(traj[steps], at, chosen)
    S, L, YZ, YV = arranged(scratch.both, chosen), scratch.linear, scratch.rates[0], scratch.rates[1]
    U, qo, vo, ao, weights = U4_(ctx), x4_(ctx), w4_(ctx), H4_(ctx), weights_(ctx)
    p4, v4, a4 = scratch.rows[0], scratch.rows[1], scratch.rows[2]
    z, zd, zdd = scratch.z[0], scratch.z[1], scratch.z[2]
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    clear4(eta_v4_(ctx))
    clear4(eta_a4_(ctx))
    clear4(ys4_(ctx))
    for step in range(steps - 1, -1, -1):
        h = hs[step]
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        at_end = step == steps - 1 and after == 0.0
        changes = load_chosen(traj[step], at, chosen)
        if changes:
            S = arranged(scratch.both, chosen)
        flag[FREEDOMS] = 1 if is_measured(S) else 0
        for i in range((s if at_end or changes else s - 1) if explicit else 0, -1, -1):
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            call(fn[LINEARISE], ctx)
            if explicit:
                stage_weights(i, rb, step, segment, g, weights)
                if i == s and not at_end:  # a state at which nothing but the selection changes
                    weights[:] = 0.0
            else:
                quadrature(ts, hs, step + 1, after, kinds, g, weights)
            status = implicit(ctx, m, S, L, b, gh)
            if status != OK:
                return status, step
            for e in range(Z.shape[0]):
                used = min(4, no - 4 * e)
                clear4(qo)
                clear4(vo)
                clear4(ao)
                for c in range(used):
                    o = 4 * e + c
                    for j in range(n):
                        qo[j, c] = weights[o] * g_q[o, j]
                        vo[j, c] = weights[o] * g_v[o, j]
                        ao[j, c] = weights[o] * g_a[o, j]
                clear4(z)
                clear4(zd)
                clear4(zdd)
                if explicit and i < s:
                    seed4(i, h, RA, rb, Z[e], YZ, e, nd, zd)
                    seed4(i, h, RA, rb, Zd[e], YV, e, nd, zdd)
                elif changes:
                    give4(after_step, Z[e], qo)
                    give4(after_step, Zd[e], vo)
                    give4(after_step, A[e], ao)
                    give4(after_step, X[e], ao)
                elif not explicit:
                    complete_transposed4(family, nd, A[e], X[e])
                    shift4(nd, 1.0, Z[e], z)
                    shift4(nd, 1.0, Zd[e], zd)
                    shift4(nd, 1.0, A[e], zdd)
                cotangent4(ctx, m, S, L, b, gh, z, zd, zdd, qo, vo, ao, U, p4, v4, a4)
                hand_back4(explicit, i, s, e, nd, z, YZ, Z[e])
                hand_back4(explicit, i, s, e, nd, zd, YV, Zd[e])
                if not explicit:
                    predict_transposed4(family, h, nd, Z[e], Zd[e], A[e], X[e])
                minus_copy4(U, mu)
                clear4(yp)
                clear4(yv)
                clear4(ya)
                for l in range(S.rows):
                    put4(yp, l, mul4(-1.0, get4(p4, l)))
                    put4(yv, l, mul4(-1.0, get4(v4, l)))
                    put4(ya, l, mul4(-1.0, get4(a4, l)))
                pull4(fn, ctx, e, used, weights)
        if explicit:
            for e in range(Z.shape[0]):
                collect4(s, YZ, e, nd, Z[e])
                collect4(s, YV, e, nd, Zd[e])
        for k in range(nd):
            after_step[k] = chosen[k]
    collect(ctx)
    return OK, 0
