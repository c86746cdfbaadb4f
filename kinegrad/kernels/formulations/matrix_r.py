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

from kinegrad.kernels.formulations.blocks import at_rounding, observe_state
from kinegrad.kernels.formulations.independent import (
    basis,
    choose,
    contains,
    factorise,
    is_measured,
    partition,
    quality,
    solve1,
    store_chosen,
)
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
from kinegrad.kernels.formulations.runge_kutta import (
    ALLOWED,
    T_END,
    accepted,
    combine,
    propose,
    scaled_error,
    stage_time,
    store_stage,
    too_small,
)
from kinegrad.kernels.jit import entry, inlined, kernel
from kinegrad.kernels.linalg import ldlt, ldlt_solve
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
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, SINGULAR, STEP_TOO_SMALL
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_) = PRODUCTS.viewers(*"par flag g q v a vp ap f".split())
(lam_, Phi_, Phi_t_, c_, M_, Kt_, J_) = PRODUCTS.viewers(*"lam Phi Phi_t c M K J".split())

# options
TOLERANCE, RESELECT = range(2)
# numbers that a run carries on: the quality below which other coordinates are sought, how often they were changed, how
# often when the last step began, and its size
LIMIT, NUMBER, BEFORE, LAST_STEP = range(4)
SELECTED = 4  # flag of the first step in other coordinates
TWO_PI = 2.0 * np.pi
TIGHT = 1e-12  # a tolerance below this asks for refined solves
WORSE = 0.5  # of the quality that a selection began with: then another is sought


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


@entry(what="the simulation kernels")
def new_stage(m, nd, like):
    """The arrays of a stage; `like` is an (n, n) array of its numbers."""
    n, dt = like.shape[0], like.dtype
    R, MR, D, dd = np.zeros((nd, n), dt), np.zeros((nd, n), dt), np.zeros((nd, nd), dt), np.zeros(2 * nd, dt)
    return Stage(R, MR, D, dd, np.zeros(m + nd, dt), np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt))


@inlined
def positions(fn, ctx, m, S, z, wraps, tol, w):
    """Status; q with Phi(q) = 0 and z(q) = z, from the q at hand, and the factors at that q.

    The first correction takes the factors of the position before, if there are any.
    """
    q, Phi, J = q_(ctx), Phi_(ctx), J_(ctx)
    order, nu, P = S.order, S.nu, S.P
    for j in range(nu, q.shape[0]):
        q[order[j]] = z[j - nu]
    fresh = S.ready[0] == 0
    last = 1e300
    for _ in range(30):
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
                if wraps[l - m]:
                    s -= TWO_PI * np.round(s.real / TWO_PI)
            for i in range(nu):
                w[i] += P[l, i] * s
        e = 0.0
        for i in range(nu):
            e = max(e, abs(w[i]))
        if not e < 1e300:
            return NOT_CONVERGED
        for i in range(nu):
            q[order[i]] += w[i]
        if e <= tol or (e > 0.5 * last and e < at_rounding(q)):
            return OK if fresh else factorise(S, J)
        last = e
        fresh = True
    return NOT_CONVERGED


@inlined
def stage(fn, ctx, m, S, T, z, zd, wraps, tol, zdd):
    """Status; q, v = vp, a = ap, lam and zdd at independent z, zd, and R there (MR-1)."""
    flag, q, v, a, vp, ap, f, lam = flag_(ctx), q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx)
    Phi_t, c, M = Phi_t_(ctx), c_(ctx), M_(ctx)
    R, MR, D, dd, res, x, w, y = T
    n, nd = q.shape[0], z.shape[0]
    status = positions(fn, ctx, m, S, z, wraps, 0.01 * tol, w)
    if status != OK:
        return status
    rounds = 2 if tol < TIGHT else 1
    basis(S, m, R, res, rounds)
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
    """lam of least norm with Phi_qᵀ lam = -y, y = M a + f, from the equations of the unknowns (MR-8)."""
    order, nu, G, P = S.order, S.nu, S.G, S.P
    for l in range(lam.shape[0]):
        lam[l] = 0.0
    for k in range(rounds):
        for i in range(nu):
            s = -y[order[i]]
            if k > 0:
                for l in range(S.rows):
                    s -= G[l, i] * lam[l]
            w[i] = s
        for l in range(S.rows):
            s = lam[l]
            for i in range(nu):
                s += P[l, i] * w[i]
            lam[l] = s
    for l in range(m, lam.shape[0]):
        lam[l] = 0.0


@entry(what="the simulation kernels")
def reselect(ctx, m, S, T, scale, below, chosen, carried, z, zd, zdd):
    """Status and partition with the best independent coordinates at the state, of which z, zd, zdd are read (MR-11)."""
    q, v, a, M, J = q_(ctx), v_(ctx), a_(ctx), M_(ctx), J_(ctx)
    n, nd = q.shape[0], chosen.shape[0]
    before = chosen.copy()
    A, tau, places = np.zeros((m, n)), np.zeros(min(m, n)), np.zeros(n, np.int64)
    status = choose(J, m, scale, A, tau, places, chosen)
    same = True
    for k in range(nd):
        same = same and contains(before, nd, chosen[k])
    if same:
        chosen[:] = before
    else:
        S = partition(chosen, m, M)
        flag_(ctx)[FREEDOMS] = 0
        carried[NUMBER] += 1
        for k in range(nd):
            z[k], zd[k], zdd[k] = q[chosen[k]], v[chosen[k]], a[chosen[k]]
        status = factorise(S, J)
        if status == OK:
            basis(S, m, T.R, T.res, 1)
    carried[LIMIT] = min(below, WORSE * quality(S, m, J, T.R, scale))
    return status, S


@inlined
def may_reselect(status, opts):
    """Whether a step that failed so may succeed in other coordinates; where a force has no value none helps."""
    return (status == NOT_CONVERGED or status == SINGULAR) and opts[RESELECT] > 0.0


@inlined
def mark(carried, flags, step):
    """The flag of a step: whether it is the first in other coordinates."""
    flags[step] = 0 if carried[NUMBER] == carried[BEFORE] else SELECTED
    carried[BEFORE] = carried[NUMBER]


@inlined
def set_state(ctx, q0, v0, a0):
    """q, v, a of the context = q0, v0, a0."""
    q, v, a = q_(ctx), v_(ctx), a_(ctx)
    for i in range(q.shape[0]):
        q[i], v[i], a[i] = q0[i], v0[i], a0[i]


@inlined
def get_state(ctx, q0, v0, a0):
    """q0, v0, a0 = q, v, a of the context."""
    q, v, a = q_(ctx), v_(ctx), a_(ctx)
    for i in range(q.shape[0]):
        q0[i], v0[i], a0[i] = q[i], v[i], a[i]


# --- Newmark -----------------------------------------------------------------------------------------------------


@kernel
def newmark_step(fn, ctx, m, S, T, wraps, h, b, gh, tol, allowed, z, zd, zdd, zt, vt, found):
    """Status and iterations; the state z = zt + b zdd, zd = vt + gh zdd at the time of the context (MR-5)."""
    q, v, a, Kt = q_(ctx), v_(ctx), a_(ctx), Kt_(ctx)
    R, MR, D, dd, y = T.R, T.MR, T.D, T.dd, T.y
    n, nd = q.shape[0], z.shape[0]
    for i in range(n):
        q[i] += h * v[i] + 0.5 * h * h * a[i]
    last = 1e300
    for it in range(allowed):
        for k in range(nd):
            z[k] = zt[k] + b * zdd[k]
            zd[k] = vt[k] + gh * zdd[k]
        status = stage(fn, ctx, m, S, T, z, zd, wraps, tol, found)
        if status != OK:
            return status, it + 1
        # Rᵀ(M + K) R dz = Rᵀ M R (found - zdd)
        for k in range(nd):
            s = 0.0 * q[0]
            for i in range(n):
                for j in range(nd):
                    s += MR[k, i] * R[j, i] * (found[j] - zdd[j])
            y[k] = s
        for k in range(nd):
            for j in range(k + 1):
                s = 0.0 * q[0]
                for i in range(n):
                    s += MR[k, i] * R[j, i]
                    for l in range(n):
                        s += R[k, i] * Kt[max(i, l), min(i, l)] * R[j, l]
                D[k, j] = s
        status = ldlt(D, dd)
        if status != OK:
            return status, it + 1
        for k in range(nd):
            found[k] = y[k]
        ldlt_solve(D, dd, found)
        e = 0.0
        for k in range(nd):
            zdd[k] += found[k]
            e = max(e, b * abs(found[k].real))
        if not e < 1e300:
            return NOT_FINITE, it + 1
        if e < tol or (tol > 0.0 and e > 0.5 * last and e < at_rounding(q)) or (tol == 0.0 and it == allowed - 1):
            for k in range(nd):
                z[k] = zt[k] + b * zdd[k]
                zd[k] = vt[k] + gh * zdd[k]
            return OK, it + 1
        for i in range(n):  # first guess of the next positions
            for k in range(nd):
                q[i] += b * R[k, i] * found[k]
        last = e
    return NOT_CONVERGED, allowed


@entry(what="the simulation kernels")
def simulate_newmark(
    fn, ctx, m, wraps, scale, ts, hs, opts, family, iterations_allowed, final, psi, g_last, stride, traj, iterations, flags,
    z, zd, zdd, auxiliary, chosen, carried,
):  # fmt: skip
    """Status and number of steps done, from the state in the context and z, zd, zdd, auxiliary, chosen, carried, which go
    on."""
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, lam, M, J = q_(ctx), v_(ctx), a_(ctx), lam_(ctx), M_(ctx), J_(ctx)
    n, nd, dt = q.shape[0], z.shape[0], M.dtype
    S, T = partition(chosen, m, M), new_stage(m, nd, M)
    factorise(S, J)
    found, zt, vt = np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt)
    q0, v0, a0 = np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt)
    flag[FREEDOMS] = 1 if is_measured(S) else 0
    at = 3 * n + m
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        get_state(ctx, q0, v0, a0)
        par[TIME], par[WK], par[WC] = ts[step + 1], b, gh
        predict(family, h, z, zd, zdd, auxiliary, zt, vt)
        status, count = newmark_step(
            fn, ctx, m, S, T, wraps, h, b, gh, opts[TOLERANCE], iterations_allowed, z, zd, zdd, zt, vt, found
        )
        if may_reselect(status, opts):
            number = carried[NUMBER]
            set_state(ctx, q0, v0, a0)
            par[TIME] = ts[step]
            call(fn[POSITION], ctx)
            _, S = reselect(ctx, m, S, T, scale, opts[RESELECT], chosen, carried, z, zd, zdd)
            if carried[NUMBER] > number:
                if step % stride == 0:
                    store_chosen(traj[step // stride], at, chosen)
                par[TIME] = ts[step + 1]
                auxiliary[:] = zdd
                predict(family, h, z, zd, zdd, auxiliary, zt, vt)
                status, count = newmark_step(
                    fn, ctx, m, S, T, wraps, h, b, gh, opts[TOLERANCE], iterations_allowed, z, zd, zdd, zt, vt, found
                )
        if status != OK:
            return status, step
        complete(family, zdd, auxiliary)
        iterations[step] = count
        mark(carried, flags, step)
        for o in range(psi.shape[0]):
            if not final[o]:
                psi[o] += 0.5 * h * g_last[o]
        observe_state(fn, ctx, g, final, psi, g_last)
        for o in range(psi.shape[0]):
            if not final[o]:
                psi[o] += 0.5 * h * g_last[o]
        if quality(S, m, J, T.R, scale) < carried[LIMIT]:
            status, S = reselect(ctx, m, S, T, scale, opts[RESELECT], chosen, carried, z, zd, zdd)
            if status != OK:
                return status, step
            if carried[NUMBER] != carried[BEFORE]:
                auxiliary[:] = zdd
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            row = traj[(step + 1) // stride]
            store_stage(row, 0, q, v, a, lam, m)
            store_chosen(row, at, chosen)
            for k in range(row.shape[0] - at - nd):
                row[at + nd + k] = auxiliary[k]
    return OK, hs.shape[0]


# --- Runge-Kutta -------------------------------------------------------------------------------------------------


@inlined
def guess(q, v, a, R, tau, dz, zd, zdd):
    """q after a time tau and a change dz of z, to second order along the motion and to first across it (MR-12)."""
    for k in range(dz.shape[0]):
        dz[k] -= tau * (zd[k] + 0.5 * tau * zdd[k])
    for i in range(q.shape[0]):
        s = tau * (v[i] + 0.5 * tau * a[i])
        for k in range(dz.shape[0]):
            s += R[k, i] * dz[k]
        q[i] += s


@kernel
def stages(
    fn, ctx, m, S, T, wraps, tol, A, b, c, t, t1, h, z, zd, KV, KA, zs, zds, zl, dz, C, D, qg, g_step, row, keep
):
    """Status; the stages and the new state of one step: rates in KV, KA, the last those of the new state (RKT-1).

    zs, zds are left as z, zd of the new state; g_step gains h Σ b_i g_i of all stages but the first.  C, D are by how much
    the guess of each stage was off in the last step and in the one before; what 2 C - D foretells of this one is added.
    """
    par, g, q, v, a, lam = par_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    nd, s = z.shape[0], b.shape[0]
    last = t
    for k in range(nd):
        zl[k] = z[k]
    for i in range(1, s + 1):
        part = A[i] if i < s else b
        combine(h, part, i, z, KV, nd, zs)
        combine(h, part, i, zd, KA, nd, zds)
        now = stage_time(t, t1, h, c[i]) if i < s else t1
        for k in range(nd):
            dz[k] = zs[k] - zl[k]
            zl[k] = zs[k]
        guess(q, v, a, T.R, now - last, dz, KV[i - 1], KA[i - 1])
        for j in range(q.shape[0]):
            qg[j] = q[j]
            q[j] += 2.0 * C[i, j] - D[i, j]
        par[TIME] = now
        last = now
        status = stage(fn, ctx, m, S, T, zs, zds, wraps, tol, KA[i])
        if status != OK:
            return status
        for j in range(q.shape[0]):
            D[i, j] = C[i, j]
            C[i, j] = q[j] - qg[j]
        for k in range(nd):
            KV[i, k] = zds[k]
        if i < s and b[i] != 0.0 and g_step.shape[0] > 0:
            call(fn[OBSERVE], ctx)
            for o in range(g_step.shape[0]):
                g_step[o] += h * b[i] * g[o]
        if i < s and keep:
            store_stage(row, i, q, v, a, lam, m)
    return OK


@entry(what="the simulation kernels")
def simulate_rk(
    fn, ctx, m, wraps, scale, A, b, c, error, ts, hs, control, opts, final, psi, g_last, stride, traj, evaluations, flags,
    z, zd, zdd, chosen, carried, off,
):  # fmt: skip
    """Status and number of steps done, from the state in the context and z, zd, zdd, chosen, carried, off, which go on.

    Without `control` through the steps hs; with it steps are chosen, hs and ts[1:] filled, and it is carried on (RKT-4).
    `off` (2, stages + 1, n) is by how much the guesses of the last two steps were off (MR-12).
    """
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, lam, M, J = q_(ctx), v_(ctx), a_(ctx), lam_(ctx), M_(ctx), J_(ctx)
    n, nd, s, dt = q.shape[0], z.shape[0], b.shape[0], M.dtype
    S, T = partition(chosen, m, M), new_stage(m, nd, M)
    if factorise(S, J) == OK:
        basis(S, m, T.R, T.res, 2 if opts[TOLERANCE] < TIGHT else 1)
    KV, KA, g_step = np.zeros((s + 1, nd), dt), np.zeros((s + 1, nd), dt), np.zeros(psi.shape[0], dt)
    zs, zds, zl, dz = np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt), np.zeros(nd, dt)
    q0, v0, a0, qg = np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt), np.zeros(n, dt)
    chosen_steps = control.shape[0] > 0
    flag[FREEDOMS] = 1 if is_measured(S) else 0
    par[WK] = 0.0
    par[WC] = 0.0
    tol, at = opts[TOLERANCE], s * (3 * n + m)
    step = 0
    while step < hs.shape[0] and not (chosen_steps and ts[step] >= control[T_END]):
        t = ts[step]
        keep = (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride
        row = traj[(step + 1) // stride] if keep else traj[0]
        get_state(ctx, q0, v0, a0)
        evaluations[step] = 0
        refused = False
        while True:
            if chosen_steps:
                propose(control, t, step, ts, hs)
            h = hs[step]
            for o in range(psi.shape[0]):
                g_step[o] = h * b[0] * g_last[o]
            for k in range(nd):
                KV[0, k], KA[0, k] = zd[k], zdd[k]
            if h != carried[LAST_STEP]:
                off[:] = 0.0
                carried[LAST_STEP] = h
            status = stages(
                fn, ctx, m, S, T, wraps, tol, A, b, c, t, ts[step + 1], h, z, zd, KV, KA, zs, zds, zl, dz, off[0], off[1], qg,
                g_step, row, keep,
            )  # fmt: skip
            evaluations[step] += s
            if status == OK and not chosen_steps:
                break
            if chosen_steps:
                e = 1e300
                if status == OK:
                    e = max(
                        scaled_error(h, error, KV, z, zs, nd, control[ALLOWED]),
                        scaled_error(h, error, KA, zd, zds, nd, control[ALLOWED]),
                    )
                if accepted(control, h, e, refused):
                    break
                if too_small(control):
                    return (status if status != OK else STEP_TOO_SMALL), step
            elif refused or not may_reselect(status, opts):
                return status, step
            # once more from the state before the step: with a smaller step, or with other independent coordinates
            set_state(ctx, q0, v0, a0)
            for k in range(nd):
                for i in range(n):
                    T.R[k, i] = 0.0
            refused = True
            carried[LAST_STEP] = 0.0
            if not chosen_steps:
                number = carried[NUMBER]
                par[TIME] = t
                call(fn[POSITION], ctx)
                _, S = reselect(ctx, m, S, T, scale, opts[RESELECT], chosen, carried, z, zd, zdd)
                if carried[NUMBER] == number:
                    return status, step
                if step % stride == 0:
                    store_chosen(traj[step // stride], at, chosen)
        mark(carried, flags, step)
        for k in range(nd):
            z[k], zd[k], zdd[k] = zs[k], zds[k], KA[s, k]
        for o in range(psi.shape[0]):
            if not final[o]:
                psi[o] += g_step[o]
        observe_state(fn, ctx, g, final, psi, g_last)
        if quality(S, m, J, T.R, scale) < carried[LIMIT]:
            carried[LAST_STEP] = 0.0
            status, S = reselect(ctx, m, S, T, scale, opts[RESELECT], chosen, carried, z, zd, zdd)
            if status != OK:
                return status, step
        if keep:
            store_stage(row, 0, q, v, a, lam, m)
            store_chosen(row, at, chosen)
        step += 1
    return OK, step
