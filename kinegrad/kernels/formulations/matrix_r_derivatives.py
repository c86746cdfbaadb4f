"""Matrix R: derivatives of a simulation in independent coordinates, direct and by the discrete adjoint.

Along a trajectory of `matrix_r`, each state or stage is linearised once.  With z' and zd' given up to their parts in zdd'
(explicit schemes have none), K q', K v', K a' follow row by row and Rᵀ(M a' + C v' + R_z z') = 0 gives zdd' (MR-3); the
adjoint sweep is the exact transpose (MR-4).
"""

import numpy as np

from kinegrad.kernels.formulations.blocks import (
    clear4,
    minus4,
    objective_rows4,
    plus_transposed4,
    quadrature,
    right4,
    shift4,
)
from kinegrad.kernels.formulations.matrix_r import (
    BETA,
    GAMMA,
    basis,
    least_squares1,
    least_squares4,
    normal,
    transposed4,
)
from kinegrad.kernels.formulations.runge_kutta import load_stage
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import axpy4, get4, lu, lu_solve4, lu_solve_transposed4, mul4, put4
from kinegrad.kernels.products import FREEDOMS, LINEARISE, OBJECTIVE, PRODUCTS, PULLBACK, TIME, WEIGHT
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu_, eta_v_, eta_a_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu eta_v eta_a".split()
)
(lam_, sv_, sa_, yp_, yv_, ya_, M_, C_) = PRODUCTS.viewers(*"lam sv sa yp yv ya M C".split())
(R_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_) = PRODUCTS.viewers(*"R_z Phi_z Phid_z Phidd_z g_z g_v g_a".split())


@kernel
def columns(A, X, rows, n, out):
    """out (d, rows), by rows: A[:rows, :n] X for each row of X (d, n)."""
    for k in range(X.shape[0]):
        for l in range(rows):
            s = 0.0 * A[l, 0]
            for i in range(n):
                s += A[l, i] * X[k, i]
            out[k, l] = s


@kernel
def implicit(M, C, R_z, K, Phid, Phidd, m, n, b, gh, N, d, R, W, Y, P, T, piv, x, w, res):
    """Status; R, W, Y (d, n) and the factors of T = Rᵀ[M(R + 2γhW + βh²Y) + C(γhR + βh²W) + βh²R_q R] (MR-3)."""
    r = K.shape[0]
    nd = r - m
    status = normal(K, n, N, d)
    if status != OK:
        return status
    basis(K, m, n, N, d, R, x, w, res, 2)
    if b == 0.0 and gh == 0.0:
        for k in range(nd):
            for i in range(n):
                W[k, i] = 0.0
                Y[k, i] = 0.0
    else:
        columns(Phid, R, r, n, P)
        for k in range(nd):
            for l in range(r):
                res[l] = -P[k, l]
            least_squares1(K, n, N, d, res, x, w, 2)
            for i in range(n):
                W[k, i] = x[i]
        for k in range(nd):
            for l in range(r):
                s = 0.0 * M[0, 0]
                for i in range(n):
                    s -= Phidd[l, i] * R[k, i] + 2.0 * Phid[l, i] * W[k, i]
                res[l] = s
            least_squares1(K, n, N, d, res, x, w, 2)
            for i in range(n):
                Y[k, i] = x[i]
    for h in range(nd):
        for i in range(n):
            s = 0.0 * M[0, 0]
            for j in range(n):
                s += M[i, j] * (R[h, j] + 2.0 * gh * W[h, j] + b * Y[h, j])
                s += C[i, j] * (gh * R[h, j] + b * W[h, j]) + b * R_z[i, j] * R[h, j]
            w[i] = s
        for k in range(nd):
            s = 0.0 * M[0, 0]
            for i in range(n):
                s += R[k, i] * w[i]
            T[k, h] = s
    return lu(T, piv) if nd > 0 else OK


@kernel
def tangent4(M, C, R_z, K, Phi_z, Phid, Phidd, m, n, e, b, gh, N, d, R, W, Y, T, piv, Z, Zd, A, qk, vk, ak, r1, r2, w):
    """Four columns e of q', v', a', zdd' = A, and z' = Z, zd' = Zd, which come in without their parts in A (MR-3)."""
    r = K.shape[0]
    nd = r - m
    clear4(qk)
    right4(Phi_z, r, n, e, qk, 1.0, r2)
    for k in range(nd):
        put4(r2, m + k, axpy4(1.0, get4(Z, k), get4(r2, m + k)))
    least_squares4(K, n, N, d, r2, qk, w)
    right4(Phid, r, n, e, qk, 1.0, r2)
    for k in range(nd):
        put4(r2, m + k, axpy4(1.0, get4(Zd, k), get4(r2, m + k)))
    least_squares4(K, n, N, d, r2, vk, w)
    right4(Phidd, r, n, e, qk, 1.0, r2)
    minus4(Phid, r, n, 2.0, vk, r2)
    least_squares4(K, n, N, d, r2, ak, w)
    right4(R_z, n, n, e, qk, 1.0, r1)
    minus4(C, n, n, 1.0, vk, r1)
    minus4(M, n, n, 1.0, ak, r1)
    for k in range(nd):
        s = spread4(0.0)
        for i in range(n):
            s = axpy4(R[k, i], get4(r1, i), s)
        put4(A, k, s)
    if nd > 0:
        lu_solve4(T, piv, A)
    for k in range(nd):
        s = get4(A, k)
        put4(Z, k, axpy4(b, s, get4(Z, k)))
        put4(Zd, k, axpy4(gh, s, get4(Zd, k)))
        for i in range(n):
            put4(qk, i, axpy4(b * R[k, i], s, get4(qk, i)))
            put4(vk, i, axpy4(gh * R[k, i] + b * W[k, i], s, get4(vk, i)))
            put4(ak, i, axpy4(R[k, i] + 2.0 * gh * W[k, i] + b * Y[k, i], s, get4(ak, i)))


@kernel
def cotangent4(M, C, R_z, K, Phid, Phidd, m, n, b, gh, N, d, R, W, Y, T, piv, Z, Zd, A, qo, vo, ao, U, yp, yv, ya, w):
    """The transpose of `tangent4`: A, Z, Zd come in as adjoints of zdd, z, zd and leave as those of the incoming Z, Zd (A
    is used up); U, yp, yv, ya are the adjoints of the residual and of Phi, Phid, Phidd (MR-4)."""
    r = K.shape[0]
    nd = r - m
    for k in range(nd):
        s = axpy4(b, get4(Z, k), axpy4(gh, get4(Zd, k), get4(A, k)))
        for i in range(n):
            s = axpy4(b * R[k, i], get4(qo, i), s)
            s = axpy4(gh * R[k, i] + b * W[k, i], get4(vo, i), s)
            s = axpy4(R[k, i] + 2.0 * gh * W[k, i] + b * Y[k, i], get4(ao, i), s)
        put4(A, k, s)
    if nd > 0:
        lu_solve_transposed4(T, piv, A)
    clear4(U)
    for k in range(nd):
        for i in range(n):
            put4(U, i, axpy4(R[k, i], get4(A, k), get4(U, i)))
    plus_transposed4(M, n, n, -1.0, U, ao)
    plus_transposed4(C, n, n, -1.0, U, vo)
    plus_transposed4(R_z, n, n, -1.0, U, qo)
    transposed4(K, n, N, d, ao, ya, w)
    plus_transposed4(Phidd, r, n, -1.0, ya, qo)
    plus_transposed4(Phid, r, n, -2.0, ya, vo)
    transposed4(K, n, N, d, vo, yv, w)
    plus_transposed4(Phid, r, n, -1.0, yv, qo)
    transposed4(K, n, N, d, qo, yp, w)
    for k in range(nd):
        put4(Z, k, axpy4(1.0, get4(yp, m + k), get4(Z, k)))
        put4(Zd, k, axpy4(1.0, get4(yv, m + k), get4(Zd, k)))


@kernel
def compact(Phi_z, K, n):
    """K = Phi_q of the rows in use."""
    for l in range(K.shape[0]):
        for i in range(n):
            K[l, i] = Phi_z[l, i]


@kernel
def set_weights(final, w, weights):
    """The weight w for integrals, 0 for final values."""
    for o in range(final.shape[0]):
        weights[o] = 0.0 if final[o] else w


@kernel
def no_projection(dv, da, sv, sa):
    """dv = da = sv = sa = 0."""
    for i in range(dv.shape[0]):
        dv[i] = 0.0
        da[i] = 0.0
    for l in range(sv.shape[0]):
        sv[l] = 0.0
        sa[l] = 0.0


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, ts, hs, after, opts, explicit, final, traj, Z, Zd, A, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (MR-3).

    Z, Zd, A (blocks, d, 4): derivatives of z, zd, zdd by the directions at row 0; they leave with those at the end.  grad
    gains the objectives of rows 1 on (Newmark), or of all stages (Runge-Kutta).
    """
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam, M, C = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), M_(ctx), C_(ctx)
    R_z, Phi_z, g_z, g_v, g_a = R_z_(ctx), Phi_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    n, nd, p, no, dt = q.shape[0], Z.shape[1], grad.shape[1], g.shape[0], M.dtype
    r = m + nd
    Phid, Phidd = Phid_z_(ctx), Phidd_z_(ctx)
    K, N, d, T, piv = (
        np.zeros((r, n), dt),
        np.zeros((n, n), dt),
        np.zeros(2 * n, dt),
        np.zeros((nd, nd), dt),
        np.zeros(nd, np.int32),
    )
    R, W, Y, P = np.zeros((nd, n), dt), np.zeros((nd, n), dt), np.zeros((nd, n), dt), np.zeros((nd, r), dt)
    x, w, res = np.zeros(n, dt), np.zeros(n, dt), np.zeros(r, dt)
    r1, w4, r2 = np.zeros((n, 4), dt), np.zeros((n, 4), dt), np.zeros((r, 4), dt)
    qk, vk, ak = np.zeros((n, 4), dt), np.zeros((n, 4), dt), np.zeros((n, 4), dt)
    Z0, V0, SZ, SV = np.zeros_like(Z), np.zeros_like(Z), np.zeros_like(Z), np.zeros_like(Z)
    weights = np.zeros(no)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    flag[FREEDOMS] = 1
    steps = hs.shape[0]
    for step in range(steps):
        h = hs[step]
        b = 0.0 if explicit else opts[BETA] * h * h
        gh = 0.0 if explicit else opts[GAMMA] * h
        for i in range(5 if explicit else 1):
            if explicit and i == 4 and not (step == steps - 1 and after == 0.0):
                break
            # Runge-Kutta: stage 1 is the state before the step, 2 to 4 are kept with the state after it
            if explicit:
                load_stage(traj[step] if i == 0 else traj[step + 1], i % 4, q, v, a, vp, ap, lam, m)
                par[TIME] = ts[step] if i == 0 else (ts[step] + 0.5 * h if i < 3 else ts[step + 1])
                set_weights(final, h / 6.0 if i == 0 or i == 3 else h / 3.0, weights)
                if i == 4:
                    for o in range(no):
                        weights[o] = 1.0 if final[o] else 0.0
            else:
                load_stage(traj[step + 1], 0, q, v, a, vp, ap, lam, m)
                par[TIME] = ts[step + 1]
                quadrature(hs, step + 1, after, final, weights)
            call(fn[LINEARISE], ctx)
            compact(Phi_z, K, n)
            status = implicit(M, C, R_z, K, Phid, Phidd, m, n, b, gh, N, d, R, W, Y, P, T, piv, x, w, res)
            if status != OK:
                return status, step
            for e in range(Z.shape[0]):
                z, zd, zdd = Z[e], Zd[e], A[e]
                if explicit:
                    before_stage(i, h, Z0[e], V0[e], SZ[e], SV[e], z, zd, zdd, nd)
                else:
                    shift4(nd, h, zd, z)
                    shift4(nd, 0.5 * h * h - b, zdd, z)
                    shift4(nd, h - gh, zdd, zd)
                tangent4(
                    M, C, R_z, K, Phi_z, Phid, Phidd, m, n, n + 4 * e, b, gh, N, d, R, W, Y, T, piv, z, zd, zdd, qk, vk, ak,
                    r1, r2, w4,
                )  # fmt: skip
                objective_rows4(no, n, n + 4 * e, g_z, g_v, g_a, qk, vk, ak, weights, p, grad)
                if explicit and i < 4:
                    weight = 1.0 if i == 0 or i == 3 else 2.0
                    shift4(nd, weight, zd, SZ[e])
                    shift4(nd, weight, zdd, SV[e])
        if explicit:
            for e in range(Z.shape[0]):
                for k in range(nd):
                    put4(Z[e], k, axpy4(h / 6.0, get4(SZ[e], k), get4(Z0[e], k)))
                    put4(Zd[e], k, axpy4(h / 6.0, get4(SV[e], k), get4(V0[e], k)))
    return OK, steps


@kernel
def before_stage(i, h, z0, v0, sz, sv, z, zd, zdd, nd):
    """z', zd' of stage i + 1 from those of the stage before, which z, zd, zdd hold."""
    if i == 0:
        for k in range(nd):
            put4(z0, k, get4(z, k))
            put4(v0, k, get4(zd, k))
        clear4(sz)
        clear4(sv)
        return
    for k in range(nd):
        rate, acc = get4(zd, k), get4(zdd, k)
        if i < 4:
            part = 0.5 * h if i < 3 else h
            put4(z, k, axpy4(part, rate, get4(z0, k)))
            put4(zd, k, axpy4(part, acc, get4(v0, k)))
        else:
            put4(z, k, axpy4(h / 6.0, get4(sz, k), get4(z0, k)))
            put4(zd, k, axpy4(h / 6.0, get4(sv, k), get4(v0, k)))


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, ts, hs, after, opts, explicit, final, traj, Z, Zd, A):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (MR-4).

    Z, Zd, A (blocks, d, 4), a column an objective: adjoints of z, zd, zdd at the end of the segment, then at its beginning.
    """
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam, M, C = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), M_(ctx), C_(ctx)
    R_z, Phi_z, g_z, g_v, g_a = R_z_(ctx), Phi_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    mu, eta_v, eta_a, yp, yv, ya = mu_(ctx), eta_v_(ctx), eta_a_(ctx), yp_(ctx), yv_(ctx), ya_(ctx)
    n, nd, no, dt = q.shape[0], Z.shape[1], g.shape[0], M.dtype
    r = m + nd
    Phid, Phidd = Phid_z_(ctx), Phidd_z_(ctx)
    K, N, d, T, piv = (
        np.zeros((r, n), dt),
        np.zeros((n, n), dt),
        np.zeros(2 * n, dt),
        np.zeros((nd, nd), dt),
        np.zeros(nd, np.int32),
    )
    R, W, Y, P = np.zeros((nd, n), dt), np.zeros((nd, n), dt), np.zeros((nd, n), dt), np.zeros((nd, r), dt)
    x, w, res, w4, U = np.zeros(n, dt), np.zeros(n, dt), np.zeros(r, dt), np.zeros((n, 4), dt), np.zeros((n, 4), dt)
    qo, vo, ao = np.zeros((n, 4), dt), np.zeros((n, 4), dt), np.zeros((n, 4), dt)
    p4, v4, a4 = np.zeros((r, 4), dt), np.zeros((r, 4), dt), np.zeros((r, 4), dt)
    zs, vs, zz, vz = np.zeros((nd, 4), dt), np.zeros((nd, 4), dt), np.zeros_like(Z), np.zeros_like(Z)
    Zn, Vn = np.zeros_like(Z), np.zeros_like(Z)
    weights = np.zeros(no)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    for i in range(n):
        eta_v[i] = 0.0
        eta_a[i] = 0.0
    flag[FREEDOMS] = 1
    steps = hs.shape[0]
    for step in range(steps - 1, -1, -1):
        h = hs[step]
        b = 0.0 if explicit else opts[BETA] * h * h
        gh = 0.0 if explicit else opts[GAMMA] * h
        for i in range(4 if explicit else 0, -1, -1):
            if i == 4 and not (step == steps - 1 and after == 0.0):
                continue
            if explicit:
                load_stage(traj[step] if i == 0 else traj[step + 1], i % 4, q, v, a, vp, ap, lam, m)
                par[TIME] = ts[step] if i == 0 else (ts[step] + 0.5 * h if i < 3 else ts[step + 1])
                set_weights(final, h / 6.0 if i == 0 or i == 3 else h / 3.0, weights)
                if i == 4:
                    for o in range(no):
                        weights[o] = 1.0 if final[o] else 0.0
            else:
                load_stage(traj[step + 1], 0, q, v, a, vp, ap, lam, m)
                par[TIME] = ts[step + 1]
                quadrature(hs, step + 1, after, final, weights)
            call(fn[LINEARISE], ctx)
            compact(Phi_z, K, n)
            status = implicit(M, C, R_z, K, Phid, Phidd, m, n, b, gh, N, d, R, W, Y, P, T, piv, x, w, res)
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
                        qo[j, c] = weights[o] * g_z[o, j]
                        vo[j, c] = weights[o] * g_v[o, j]
                        ao[j, c] = weights[o] * g_a[o, j]
                if explicit:
                    seed_stage(i, h, Z[e], Zd[e], Zn[e], Vn[e], zz[e], vz[e], zs, vs, A[e], nd)
                else:
                    for k in range(nd):
                        put4(zs, k, get4(Z[e], k))
                        put4(vs, k, get4(Zd[e], k))
                cotangent4(
                    M,
                    C,
                    R_z,
                    K,
                    Phid,
                    Phidd,
                    m,
                    n,
                    b,
                    gh,
                    N,
                    d,
                    R,
                    W,
                    Y,
                    T,
                    piv,
                    zs,
                    vs,
                    A[e],
                    qo,
                    vo,
                    ao,
                    U,
                    p4,
                    v4,
                    a4,
                    w4,
                )
                if explicit:
                    collect_stage(i, Z[e], Zd[e], Zn[e], Vn[e], zz[e], vz[e], zs, vs, nd)
                else:
                    for k in range(nd):
                        s, t = get4(zs, k), get4(vs, k)
                        put4(A[e], k, axpy4(0.5 * h * h - b, s, mul4(h - gh, t)))
                        put4(Z[e], k, s)
                        put4(Zd[e], k, axpy4(h, s, t))
                for c in range(used):
                    for j in range(n):
                        mu[j] = -U[j, c]
                    for l in range(r):
                        yp[l], yv[l], ya[l] = -p4[l, c], -v4[l, c], -a4[l, c]
                    for l in range(r, yp.shape[0]):
                        yp[l], yv[l], ya[l] = 0.0, 0.0, 0.0
                    flag[OBJECTIVE] = 4 * e + c
                    par[WEIGHT] = weights[4 * e + c]
                    call(fn[PULLBACK], ctx)
    return OK, 0


@kernel
def seed_stage(i, h, Z, Zd, Zn, Vn, zz, vz, zs, vs, A, nd):
    """Adjoints of zd (in vs) and zdd (in A) of stage i + 1; zs = 0.

    Z, Zd are the adjoints of the state after the step; Zn, Vn sum those of the state before it; zz, vz are the adjoints
    that z and zd of the stage beyond left.
    """
    if i == 4:
        for k in range(nd):
            put4(zs, k, spread4(0.0))
            put4(vs, k, spread4(0.0))
        clear4(A)
        return
    if i == 3:
        for k in range(nd):
            put4(Zn, k, get4(Z, k))
            put4(Vn, k, get4(Zd, k))
        clear4(zz)
        clear4(vz)
    weight = h / 6.0 if i == 0 or i == 3 else h / 3.0
    part = h if i == 2 else 0.5 * h
    for k in range(nd):
        z = get4(Z, k)
        v = get4(Zd, k)
        put4(zs, k, spread4(0.0))
        put4(vs, k, axpy4(part, get4(zz, k), mul4(weight, z)))
        put4(A, k, axpy4(part, get4(vz, k), mul4(weight, v)))


@kernel
def collect_stage(i, Z, Zd, Zn, Vn, zz, vz, zs, vs, nd):
    """What a stage gives back: to the state after the step (i = 4), or to the state before it and the stage before."""
    for k in range(nd):
        z, v = get4(zs, k), get4(vs, k)
        if i == 4:
            put4(Z, k, axpy4(1.0, z, get4(Z, k)))
            put4(Zd, k, axpy4(1.0, v, get4(Zd, k)))
            continue
        put4(zz, k, z)
        put4(vz, k, v)
        put4(Zn, k, axpy4(1.0, z, get4(Zn, k)))
        put4(Vn, k, axpy4(1.0, v, get4(Vn, k)))
        if i == 0:
            put4(Z, k, get4(Zn, k))
            put4(Zd, k, get4(Vn, k))
