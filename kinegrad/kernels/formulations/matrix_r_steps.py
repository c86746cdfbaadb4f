"""Matrix R: runs with the Newmark family and with explicit Runge-Kutta methods.

They go on until the coordinates become poor; whoever calls them has others chosen, by `best`, and calls again (MR-11).
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.independent import Partition, quality, store_chosen
from kinegrad.kernels.formulations.matrix_r import (
    CHANGES,
    DROPPED,
    LAST_STEP,
    LEAST,
    LIMIT,
    MARKED,
    POOR,
    POOR_INSIDE,
    SELECTED,
    TOLERANCE,
    Stage,
    get_state,
    set_state,
    stage,
)
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
from kinegrad.kernels.formulations.newton import TIGHT, converged
from kinegrad.kernels.formulations.objectives import observe_state, observe_step
from kinegrad.kernels.formulations.runge_kutta import (
    ALLOWED,
    T_END,
    accepted,
    add_objectives,
    begin_objectives,
    combine,
    objective_error,
    propose,
    scaled_error,
    stage_time,
    store_stage,
    too_small,
)
from kinegrad.kernels.jit import entry, inlined, kernel, real
from kinegrad.kernels.linalg import ldlt, ldlt_solve
from kinegrad.kernels.products import DURATION, EXTENT, PRODUCTS, TIME, WC, WK, full_viewers
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, STEP_TOO_SMALL

(par_, g_, q_, v_, a_, lam_) = PRODUCTS.viewers(*"par g q v a lam".split())
Kt_, J_ = full_viewers("K", "J")
(qt_, weights_, size_, unit_, per_, psi_size_) = PRODUCTS.viewers("qt", "weights", "size", "unit", "per", "psi_size")


SHARPER_STILL = 0.01  # of a tolerance that asks for all digits


class Coordinates(NamedTuple):
    """What a run in independent coordinates has beside the context.

    The partition S and the arrays T of a stage; scales of coordinates; units of z; z, zd, zdd; the numbers of those
    that are `chosen`, and what a run has `carried` on; q, v, a `before` a step (3, n); by how much the guesses of the last two
    steps were `off` (2, stages + 1, n) (MR-12); scratch (4, d).
    """

    S: Partition
    T: Stage
    scale: np.ndarray
    unit: np.ndarray
    z: np.ndarray
    zd: np.ndarray
    zdd: np.ndarray
    chosen: np.ndarray
    carried: np.ndarray
    before: np.ndarray
    off: np.ndarray
    scratch: np.ndarray


@inlined
def mark(carried, flags, step):
    """The flag of a step: whether it is the first in other coordinates."""
    flags[step] = 0 if carried[CHANGES] == carried[MARKED] else SELECTED
    carried[MARKED] = carried[CHANGES]


# --- Newmark -----------------------------------------------------------------------------------------------------


@kernel
def newmark_step(fn, ctx, m, S, T, unit, h, b, gh, tol, allowed, z, zd, zdd, zt, vt, found):
    """Status and iterations; the state z = zt + b zdd, zd = vt + gh zdd at the time of the context (MR-5)."""
    q, v, a, Kt = q_(ctx), v_(ctx), a_(ctx), Kt_(ctx)
    R, MR, D, dd, w, y = T.R, T.MR, T.D, T.dd, T.w, T.y
    n, nd = q.shape[0], z.shape[0]
    for i in range(n):
        q[i] += h * v[i] + 0.5 * h * h * a[i]
    last = 1e300
    goal = SHARPER_STILL * tol if tol < TIGHT else tol
    for it in range(allowed):
        for k in range(nd):
            z[k] = zt[k] + b * zdd[k]
            zd[k] = vt[k] + gh * zdd[k]
        status = stage(fn, ctx, m, S, T, z, zd, tol, found)
        if status != OK:
            return status, it + 1
        # Rᵀ(M + K) R dz = Rᵀ M R (found - zdd)
        for i in range(n):
            s = 0.0 * q[0]
            for j in range(nd):
                s += R[j, i] * (found[j] - zdd[j])
            w[i] = s
        for k in range(nd):
            s = 0.0 * q[0]
            for i in range(n):
                s += MR[k, i] * w[i]
            y[k] = s
        for k in range(nd):
            for l in range(n):
                t = R[k, l]
                if t != 0.0:
                    for i in range(n):
                        MR[k, i] += t * Kt[max(i, l), min(i, l)]
            for j in range(k + 1):
                s = 0.0 * q[0]
                for i in range(n):
                    s += MR[k, i] * R[j, i]
                D[k, j] = s
        status = ldlt(D, dd)
        if status != OK:
            return status, it + 1
        for k in range(nd):
            found[k] = y[k]
        ldlt_solve(D, dd, found)
        e, size = 0.0, real(par_(ctx)[EXTENT])
        for i in range(n):
            size = max(size, abs(real(q[i])) * per_(ctx)[i])
        for k in range(nd):
            zdd[k] += found[k]
            e = max(e, b * abs(found[k].real) / unit[k])
        if not e < 1e300:
            return NOT_FINITE, it + 1
        if (tol > 0.0 and converged(it, e, last, goal, tol < TIGHT, size)) or (tol == 0.0 and it == allowed - 1):
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
def simulate_newmark(fn, ctx, m, method, steps, objectives, opts, own, step):
    """Status and number of steps done, those before `step` included, by an `Implicit` method.

    It goes on from the state in the context and in `own`, to the end, or until coordinates are POOR or a step fails: `before`
    is then q, v, a before that step.
    """
    family, auxiliary, allowed = method.family, method.auxiliary, method.allowed
    ts, hs, stride, traj, iterations, flags = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts, steps.flags
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    S, T, scale, chosen, carried, before = (
        own.S,
        own.T,
        own.scale,
        own.chosen,
        own.carried,
        own.before,
    )
    z, zd, zdd, scratch = own.z, own.zd, own.zdd, own.scratch
    par, g, q, v, a, lam, J = par_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx), J_(ctx)
    nd, at = z.shape[0], 3 * q.shape[0] + m
    found, zt, vt = scratch[0], scratch[1], scratch[2]
    while step < hs.shape[0]:
        h = hs[step]
        b, gh = by_acceleration(family, h)
        get_state(ctx, before)
        par[TIME], par[WK], par[WC] = ts[step + 1], b, gh
        predict(family, h, z, zd, zdd, auxiliary, zt, vt)
        status, count = newmark_step(
            fn, ctx, m, S, T, own.unit, h, b, gh, opts[TOLERANCE], allowed, z, zd, zdd, zt, vt, found
        )
        if status != OK:
            return status, step
        complete(family, zdd, auxiliary)
        iterations[step] = count
        mark(carried, flags, step)
        observe_step(fn, ctx, ts[step + 1], h, g, kinds, psi, g_last)
        step += 1
        if step % stride == 0 and traj.shape[0] > step // stride:
            row = traj[step // stride]
            store_stage(row, 0, q, v, a, lam, m)
            store_chosen(row, at, chosen)
            for k in range(row.shape[0] - at - nd):
                row[at + nd + k] = auxiliary[k]
        if quality(S, m, J, T.R, scale) < carried[LIMIT]:
            return POOR, step
    return OK, step


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
    fn, ctx, m, S, T, tol, A, b, c, error, t, t1, h, z, zd, KV, KA, zs, zds, zl, dz, C, D, qg, g_step, g_off, row,
    keep, scale, least,
):  # fmt: skip
    """Status; the stages and the new state of one step: rates in KV, KA, the last those of the new state (RKT-1).

    POOR_INSIDE where the quality of a stage is below `least`.  Where nothing is integrated the rates are those of all
    coordinates.  zs, zds are left as z, zd of the new state; g_step and g_off gain the integrals of all stages but the first,
    and their errors.  C, D are by how much the guess of each stage was off in the last step and in the one before; what 2 C - D
    foretells of this one is added.
    """
    par, g, q, v, a, lam, J = par_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx), J_(ctx)
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
        status = stage(fn, ctx, m, S, T, zs, zds, tol, KA[i])
        if status != OK:
            return status
        if least > 0.0 and quality(S, m, J, T.R, scale) < least:
            return POOR_INSIDE
        for j in range(q.shape[0]):
            D[i, j] = C[i, j]
            C[i, j] = q[j] - qg[j]
        for k in range(nd):
            KV[i, k] = zds[k]
        if nd == 0:
            rates_of_all(v, a, KV[i], KA[i])
        add_objectives(fn, ctx, i, h, b, error, g, g_step, g_off)
        if i < s and keep:
            store_stage(row, i, q, v, a, lam, m)
    return OK


@inlined
def rates_of_all(v, a, KV, KA):
    """Rates of all coordinates: where nothing is free, error control sees how they move in time."""
    for i in range(v.shape[0]):
        KV[i], KA[i] = v[i], a[i]


@kernel
def forget(off):
    """off = 0."""
    for k in range(off.shape[0]):
        for i in range(off.shape[1]):
            for j in range(off.shape[2]):
                off[k, i, j] = 0.0


@entry(what="the simulation kernels")
def simulate_rk(fn, ctx, m, method, steps, objectives, opts, own, step):
    """Status and number of steps done, those before `step` included, by an `Explicit` method.

    It goes on from the state in the context and in `own`, to the end, or until coordinates are POOR, or POOR_INSIDE a step, or
    a step fails: `before` is then q, v, a before that step.  Without `control` through the steps hs; with it steps are chosen,
    hs and ts[1:] filled, and it is carried on (RKT-4).  The rates of the method are those of z, or of q where nothing is
    integrated.
    """
    A, b, c, error = method.tableau.A, method.tableau.b, method.tableau.c, method.tableau.error
    control, rates, g_off = method.control, method.rates, method.g_off
    ts, hs, stride, traj, evaluations, flags = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts, steps.flags
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    S, T, scale, chosen, carried, before = (
        own.S,
        own.T,
        own.scale,
        own.chosen,
        own.carried,
        own.before,
    )
    z, zd, zdd, scratch = own.z, own.zd, own.zdd, own.scratch
    off = own.off
    par, g, q, v, a, lam, J = par_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx), J_(ctx)
    n, nd, s, KV, KA, g_step = q.shape[0], z.shape[0], b.shape[0], rates[0], rates[1], weights_(ctx)
    zs, zds, zl, dz, qg, time = scratch[0], scratch[1], scratch[2], scratch[3], qt_(ctx), size_(ctx)[DURATION]
    par[WK] = 0.0
    par[WC] = 0.0
    by_error, at = control.shape[0] > 0, s * (3 * n + m)
    while step < hs.shape[0] and not (by_error and ts[step] >= control[T_END]):
        t = ts[step]
        keep = (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride
        row = traj[(step + 1) // stride] if keep else traj[0]
        get_state(ctx, before)
        evaluations[step] = 0
        refused, lost = False, S.ready[1]
        while True:
            if by_error:
                propose(control, t, step, ts, hs)
            h = hs[step]
            begin_objectives(h, b, error, g_last, g_step, g_off)
            for k in range(nd):
                KV[0, k], KA[0, k] = zd[k], zdd[k]
            if nd == 0:
                rates_of_all(v, a, KV[0], KA[0])
            if h != carried[LAST_STEP]:
                forget(off)
                carried[LAST_STEP] = h
            status = stages(
                fn, ctx, m, S, T, opts[TOLERANCE], A, b, c, error, t, ts[step + 1], h, z, zd, KV, KA, zs, zds, zl, dz,
                off[0], off[1], qg, g_step, g_off, row, keep, scale, 0.0 if by_error else carried[LEAST],
            )  # fmt: skip
            evaluations[step] += s
            if not by_error:
                break
            e = 1e300
            if status == OK:
                e = objective_error(g_off, g_step, kinds, psi, psi_size_(ctx), control[ALLOWED])
                if nd > 0:
                    e = max(e, scaled_error(h, error, KV, z, zs, own.unit, 1.0, control[ALLOWED]))
                    e = max(e, scaled_error(h, error, KA, zd, zds, own.unit, time, control[ALLOWED]))
                else:
                    e = max(e, scaled_error(h, error, KV, before[0], q, unit_(ctx), 1.0, control[ALLOWED]))
                    e = max(e, scaled_error(h, error, KA, before[1], v, unit_(ctx), time, control[ALLOWED]))
            if accepted(control, h, e, refused):
                break
            if too_small(control):
                return (status if status != OK else STEP_TOO_SMALL), step
            refused = True
            carried[LAST_STEP] = 0.0
            set_state(ctx, before)
            S.ready[0] = 0
            S.ready[1] = lost
            for k in range(nd):
                for i in range(n):
                    T.R[k, i] = 0.0
        if status == POOR_INSIDE:
            S.ready[1] = lost
        if status != OK:
            return status, step
        carried[LEAST] = DROPPED * carried[LIMIT]
        mark(carried, flags, step)
        for k in range(nd):
            z[k], zd[k], zdd[k] = zs[k], zds[k], KA[s, k]
        observe_state(fn, ctx, ts[step + 1], h, g, g_step, kinds, psi, g_last)
        if keep:
            store_stage(row, 0, q, v, a, lam, m)
            store_chosen(row, at, chosen)
        step += 1
        if quality(S, m, J, T.R, scale) < carried[LIMIT]:
            return POOR, step
    return OK, step
