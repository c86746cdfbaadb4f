"""Matrix R: independent coordinates z, integrated by Newmark's method or by Runge-Kutta of order 4.

With K = [Phi_q; B], B = z_q, and R the solution of K R = [0; I] (MR-1):

    q from Phi(q) = 0, z(q) = z        K v = [-Phi_t; zd]        a = R zdd + a_p,  K a_p = -[c; c_B]
    Rᵀ M R zdd = -Rᵀ(f + M a_p)

K may have redundant rows; it is solved by its normal equations with refinement.  With Phi_qᵀlam = -(M a + f) the
derivative of the last line is Rᵀ(M a' + C v' + R_z z') = 0, the R_z of the set with these multipliers (MR-2).

Rows of a trajectory: q, v, a, lam of the state; with Runge-Kutta also those of stages 2, 3, 4 of the step that led to it.
"""

import numpy as np

from kinegrad.kernels.formulations.blocks import (
    at_rounding,
    clear4,
    shift4,
)
from kinegrad.kernels.formulations.runge_kutta import store_stage
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.linalg import (
    axpy4,
    get4,
    ldlt,
    ldlt_solve,
    ldlt_solve4,
    put4,
)
from kinegrad.kernels.products import (
    AT_POSITION,
    BIAS,
    EVALUATE,
    FREEDOMS,
    OBSERVE,
    POSITION,
    PRODUCTS,
    STATUS,
    TIME,
    WC,
    WK,
)  # fmt: skip
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_) = PRODUCTS.viewers(*"par flag g q v a vp ap f".split())
(lam_, Phi_, Phi_t_, c_, M_, Kt_, J_) = PRODUCTS.viewers(*"lam Phi Phi_t c M K J".split())

# options
TOLERANCE, BETA, GAMMA = range(3)
TWO_PI = 2.0 * np.pi
TIGHT = 1e-12  # a tolerance below this asks for refined solves


@kernel
def normal(K, n, N, d):
    """Status; the factors of KᵀK."""
    for i in range(n):
        for j in range(i + 1):
            N[i, j] = 0.0
    for l in range(K.shape[0]):
        for i in range(n):
            t = K[l, i]
            if t != 0.0:
                for j in range(i + 1):
                    N[i, j] += t * K[l, j]
    return ldlt(N, d)


@kernel
def least_squares1(K, n, N, d, b, x, w, rounds):
    """x with K x = b, by `rounds` rounds (the second and later ones refine)."""
    for k in range(rounds):
        for i in range(n):
            w[i] = 0.0
        for l in range(K.shape[0]):
            s = b[l]
            if k > 0:
                for i in range(n):
                    s -= K[l, i] * x[i]
            for i in range(n):
                w[i] += K[l, i] * s
        ldlt_solve(N, d, w)
        for i in range(n):
            x[i] = w[i] if k == 0 else x[i] + w[i]


@kernel
def least_squares4(K, n, N, d, B, X, W):
    """X with K X = B for four columns, refined once."""
    clear4(X)
    for _ in range(2):
        clear4(W)
        for l in range(K.shape[0]):
            s = get4(B, l)
            for i in range(n):
                s = axpy4(-K[l, i], get4(X, i), s)
            for i in range(n):
                put4(W, i, axpy4(K[l, i], s, get4(W, i)))
        ldlt_solve4(N, d, W)
        shift4(n, 1.0, W, X)


@kernel
def transposed4(K, n, N, d, X, Y, W):
    """Y of least norm with KᵀY = X for four columns, refined once."""
    clear4(Y)
    for _ in range(2):
        for i in range(n):
            put4(W, i, get4(X, i))
        for l in range(K.shape[0]):
            y = get4(Y, l)
            for i in range(n):
                put4(W, i, axpy4(-K[l, i], y, get4(W, i)))
        ldlt_solve4(N, d, W)
        for l in range(K.shape[0]):
            s = get4(Y, l)
            for i in range(n):
                s = axpy4(K[l, i], get4(W, i), s)
            put4(Y, l, s)


@kernel
def basis(K, m, n, N, d, R, x, w, b, rounds):
    """R (d, n), by rows: K R = [0; I]."""
    r = K.shape[0]
    for k in range(r - m):
        for l in range(r):
            b[l] = 0.0
        b[m + k] = 1.0
        least_squares1(K, n, N, d, b, x, w, rounds)
        for i in range(n):
            R[k, i] = x[i]


@kernel
def positions(fn, ctx, flag, q, Phi, K, m, n, z, wraps, N, d, tol, res, x, w):
    """Status; q with Phi(q) = 0 and z(q) = z, from the q at hand, and K and N at that q."""
    last = 1e300
    for _ in range(30):
        call(fn[POSITION], ctx)
        for l in range(K.shape[0]):
            res[l] = -Phi[l]
            if l >= m:
                s = z[l - m] - Phi[l]
                if wraps[l - m]:
                    s -= TWO_PI * np.round(s.real / TWO_PI)
                res[l] = s
        status = normal(K, n, N, d)
        if status != OK:
            return status
        for i in range(n):
            w[i] = 0.0
        for l in range(K.shape[0]):
            for i in range(n):
                w[i] += K[l, i] * res[l]
        ldlt_solve(N, d, w)
        e = 0.0
        for i in range(n):
            e = max(e, abs(w[i]))
        if not e < 1e300:
            return NOT_FINITE
        if e <= tol or (e > 0.5 * last and e < at_rounding(q)):
            return OK
        for i in range(n):
            q[i] += w[i]
        last = e
    return NOT_CONVERGED


@kernel
def stage(fn, ctx, m, z, zd, wraps, tol, N, d, R, MR, D, dd, res, x, w, y, zdd):
    """Status; q, v = vp, a = ap, lam and zdd at independent z, zd (MR-1)."""
    flag, q, v, a, vp, ap, f, lam = flag_(ctx), q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx)
    Phi, Phi_t, c, M = Phi_(ctx), Phi_t_(ctx), c_(ctx), M_(ctx)
    n, nd = q.shape[0], z.shape[0]
    K = J_(ctx)[: m + nd]
    status = positions(fn, ctx, flag, q, Phi, K, m, n, z, wraps, N, d, 0.01 * tol, res, x, w)
    if status != OK:
        return status
    rounds = 2 if tol < TIGHT else 1
    for l in range(m + nd):
        res[l] = (zd[l - m] if l >= m else 0.0) - Phi_t[l]
    least_squares1(K, n, N, d, res, v, w, rounds)
    for i in range(n):
        vp[i] = v[i]
    flag[AT_POSITION] = 1
    call(fn[EVALUATE], ctx)
    flag[AT_POSITION] = 0
    if flag[STATUS] != OK:
        return flag[STATUS]
    call(fn[BIAS], ctx)
    basis(K, m, n, N, d, R, x, w, res, rounds)
    for l in range(m + nd):
        res[l] = -c[l]
    least_squares1(K, n, N, d, res, a, w, rounds)
    for i in range(n):
        s = f[i]
        for j in range(n):
            s += M[i, j] * a[j]
        y[i] = s
    for k in range(nd):
        for i in range(n):
            s = 0.0 * q[0]
            for j in range(n):
                s += R[k, j] * M[j, i]
            MR[k, i] = s
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
    if nd > 0:
        status = ldlt(D, dd)
        if status != OK:
            return status
        ldlt_solve(D, dd, zdd)
    for i in range(n):
        s = a[i]
        for k in range(nd):
            s += R[k, i] * zdd[k]
        a[i] = s
        ap[i] = s
    multipliers(M, f, a, K, m, n, N, d, x, lam, rounds)
    for i in range(n):
        if not abs(a[i]) < 1e300:
            return NOT_FINITE
    return OK


@kernel
def multipliers(M, f, a, K, m, n, N, d, x, lam, rounds):
    """lam of least norm with Phi_qᵀ lam = -(M a + f)."""
    r = K.shape[0]
    for l in range(r):
        lam[l] = 0.0
    for _ in range(rounds):
        for i in range(n):
            s = -f[i]
            for j in range(n):
                s -= M[i, j] * a[j]
            for l in range(r):
                s -= K[l, i] * lam[l]
            x[i] = s
        ldlt_solve(N, d, x)
        for l in range(r):
            s = lam[l]
            for i in range(n):
                s += K[l, i] * x[i]
            lam[l] = s
    for l in range(m, r):
        lam[l] = 0.0


@kernel
def add_objectives(fn, ctx, g, weight, final, psi):
    """psi += weight g for integrals, = g for final values."""
    if psi.shape[0] == 0:
        return
    call(fn[OBSERVE], ctx)
    for o in range(psi.shape[0]):
        if final[o]:
            psi[o] = g[o]
        else:
            psi[o] += weight * g[o]


@entry(what="the simulation kernels")
def simulate_newmark(
    fn, ctx, m, wraps, ts, hs, opts, iterations_allowed, final, psi, g_last, stride, traj, iterations, z, zd, zdd
):
    """Status and number of steps done, from the state in the context and z, zd, zdd, which are carried on."""
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, lam, M, Kt = q_(ctx), v_(ctx), a_(ctx), lam_(ctx), M_(ctx), Kt_(ctx)
    n, nd, dt = q.shape[0], z.shape[0], M.dtype
    N, d, D, dd = np.zeros((n, n), dt), np.zeros(2 * n, dt), np.zeros((nd, nd), dt), np.zeros(2 * nd, dt)
    R, MR = np.zeros((nd, n), dt), np.zeros((nd, n), dt)
    res, x, w, y = np.zeros(m + nd, dt), np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt)
    found, zt, vt = np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt)
    flag[FREEDOMS] = 1
    tol = opts[TOLERANCE]
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = opts[BETA] * h * h, opts[GAMMA] * h
        par[TIME], par[WK], par[WC] = ts[step + 1], b, gh
        for k in range(nd):
            zt[k] = z[k] + h * zd[k] + (0.5 * h * h - b) * zdd[k]
            vt[k] = zd[k] + (h - gh) * zdd[k]
        for i in range(n):
            q[i] += h * v[i] + 0.5 * h * h * a[i]
        done, last = False, 1e300
        for it in range(iterations_allowed):
            for k in range(nd):
                z[k] = zt[k] + b * zdd[k]
                zd[k] = vt[k] + gh * zdd[k]
            status = stage(fn, ctx, m, z, zd, wraps, tol, N, d, R, MR, D, dd, res, x, w, y, found)
            if status != OK:
                return status, step
            # Rᵀ(M + K) R dz = Rᵀ M R (found - zdd)
            for k in range(nd):
                s = 0.0 * q[0]
                for i in range(n):
                    for h_ in range(nd):
                        s += MR[k, i] * R[h_, i] * (found[h_] - zdd[h_])
                y[k] = s
            for k in range(nd):
                for h_ in range(k + 1):
                    s = 0.0 * q[0]
                    for i in range(n):
                        s += MR[k, i] * R[h_, i]
                        for j in range(n):
                            s += R[k, i] * Kt[max(i, j), min(i, j)] * R[h_, j]
                    D[k, h_] = s
            e = 0.0
            if nd > 0:
                status = ldlt(D, dd)
                if status != OK:
                    return status, step
                for k in range(nd):
                    found[k] = y[k]
                ldlt_solve(D, dd, found)
                for k in range(nd):
                    zdd[k] += found[k]
                    e = max(e, b * abs(found[k].real))
            iterations[step] = it + 1
            if not e < 1e300:
                return NOT_FINITE, step
            if e < tol or (tol > 0.0 and e > 0.5 * last and e < at_rounding(q)):
                done = True
                break
            last = e
        if not done and tol > 0.0:
            return NOT_CONVERGED, step
        for k in range(nd):
            z[k] = zt[k] + b * zdd[k]
            zd[k] = vt[k] + gh * zdd[k]
        add_objectives(fn, ctx, g, 0.5 * h, final, psi)
        for o in range(psi.shape[0]):
            if not final[o]:
                psi[o] += 0.5 * h * g_last[o]
            g_last[o] = g[o]
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            store_stage(traj[(step + 1) // stride], 0, q, v, a, lam, m)
    return OK, hs.shape[0]


@entry(what="the simulation kernels")
def simulate_rk4(fn, ctx, m, wraps, ts, hs, opts, final, psi, stride, traj, iterations, z, zd, zdd):
    """Status and number of steps done, from the state in the context and z, zd, zdd, which are carried on."""
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, lam, M = q_(ctx), v_(ctx), a_(ctx), lam_(ctx), M_(ctx)
    n, nd, dt = q.shape[0], z.shape[0], M.dtype
    N, d, D, dd = np.zeros((n, n), dt), np.zeros(2 * n, dt), np.zeros((nd, nd), dt), np.zeros(2 * nd, dt)
    R, MR = np.zeros((nd, n), dt), np.zeros((nd, n), dt)
    res, x, w, y = np.zeros(m + nd, dt), np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt)
    z0, zd0, zs, zds = np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt)
    sz, sv, zl = np.zeros(nd, dt), np.zeros(nd, dt), z.copy()
    flag[FREEDOMS] = 1
    par[WK] = 0.0
    par[WC] = 0.0
    tol = opts[TOLERANCE]
    for step in range(hs.shape[0]):
        h = hs[step]
        keep = (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride
        row = traj[(step + 1) // stride] if keep else traj[0]
        par[TIME] = ts[step]
        add_objectives(fn, ctx, g, h / 6.0, final, psi)
        for k in range(nd):
            z0[k], zd0[k], zds[k] = z[k], zd[k], zd[k]
            sz[k], sv[k] = zd[k], zdd[k]
        for i in range(1, 5):  # stages 2, 3, 4 and the new state
            part = 0.5 * h if i < 3 else h
            for k in range(nd):
                if i < 4:
                    zs[k] = z0[k] + part * zds[k]
                    zds[k] = zd0[k] + part * zdd[k]
                else:
                    zs[k] = z0[k] + h / 6.0 * sz[k]
                    zds[k] = zd0[k] + h / 6.0 * sv[k]
            for k in range(nd):  # first guess: along R from the stage before
                x[k] = zs[k] - zl[k]
                zl[k] = zs[k]
            for k in range(nd):
                for j in range(n):
                    q[j] += R[k, j] * x[k]
            par[TIME] = ts[step] + part if i < 3 else ts[step + 1]
            status = stage(fn, ctx, m, zs, zds, wraps, tol, N, d, R, MR, D, dd, res, x, w, y, zdd)
            if status != OK:
                return status, step
            if i < 4:
                weight = 1.0 if i == 3 else 2.0
                for k in range(nd):
                    sz[k] += weight * zds[k]
                    sv[k] += weight * zdd[k]
                add_objectives(fn, ctx, g, weight * h / 6.0, final, psi)
            else:
                for k in range(nd):
                    z[k], zd[k] = zs[k], zds[k]
                add_objectives(fn, ctx, g, 0.0, final, psi)
            if keep:
                store_stage(row, i % 4, q, v, a, lam, m)
        iterations[step] = 4
    return OK, hs.shape[0]
