"""Formulations at acceleration level, in all coordinates: Lagrange multipliers with stabilised constraints, and penalties.

Accelerations and multipliers at (q, v, t) (IDX-1):

    [M Phi_qᵀ; Phi_q -ε] [a; lam] = -[f; c + 2ξΩ Phid + Ω² Phi]        ε = 0 (index1) or 1/α (penalty)

or M a + f + Phi_qᵀ lam = 0, Psi = ε lam with Psi = Phidd + 2ξΩ Phid + Ω² Phi.  Explicit Runge-Kutta methods integrate
(q, v); Newmark's method and its relatives solve both equations for a at the end of the step (IDX-2, NMF-1).

Rows of a trajectory: q, v, a, lam of the state; with Runge-Kutta also those of the stages, but the first, of the step
that led to it; with HHT and generalized-alpha also the auxiliary acceleration.
"""

from kinegrad.kernels.formulations.blocks import observe_state, observe_step, projection_rounds, rounds_for
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
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
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.linalg import augment_lower, ldlt, ldlt_solve, mean_diagonal
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, N_FUNCTIONS, PRODUCTS, STATUS, TIME, WC, WK
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK, STEP_TOO_SMALL
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_) = PRODUCTS.viewers(*"par flag g q v a vp ap f".split())
(lam_, Phi_, Phi_t_, c_, M_, K_, J_) = PRODUCTS.viewers(*"lam Phi Phi_t c M K J".split())
(L_, d_, r_, w_, qt_, vt_, weights_) = PRODUCTS.viewers(*"T_lu d r w qt vt weights".split())

# options: ε, Ω², 2ξΩ, and the tolerance of Newton's method
COMPLIANCE, STIFFNESS, DAMPING, TOLERANCE = range(4)
# The solver's penalty against inertia: of all rows, at least of the smallest, at most of all; and the part of the largest
# |J_l|² below which a row counts as null, a redundant one that drift has moved off zero.
STRONG, SURE, DROWNS, NULL = 1e5, 1e3, 1e10, 1e-7
RATES = N_FUNCTIONS  # place, after those of the set, of a function that leaves a = ap, lam and vp by other means


@kernel
def solver(M, J, m, n, eps):
    """Penalty and rounds of (LIN-3): 1/ε unless that would drown M, or for ε = 0 a moderate penalty that is still strong for
    the smallest row, null ones apart (IDX-6)."""
    total, largest, smallest = 0.0, 0.0, 1e300
    for l in range(m):
        largest = max(largest, size(J, l, n))
    for l in range(m):
        s = size(J, l, n)
        total += s
        if s > NULL * largest:
            smallest = min(smallest, s)
    if not total > 0.0:
        return 0.0, 1
    inertia = mean_diagonal(M, n)
    if eps > 0.0:
        alpha = min(1.0 / eps, DROWNS * inertia * n / total)
        return alpha, 1 + projection_rounds(M, J, m, n, alpha)
    alpha = max(STRONG * inertia * n / total, SURE * inertia / smallest)
    return alpha, 1 + rounds_for(inertia / (alpha * smallest))


@kernel
def size(J, l, n):
    """|J_l|²."""
    s = 0.0
    for i in range(n):
        s += (J[l, i] * J[l, i]).real
    return s


@kernel
def stabilised(c, Phi, Phi_t, J, v, m, n, opts, r):
    """r = -(c + 2ξΩ Phid + Ω² Phi): what Phi_q a - ε lam has to be."""
    for l in range(m):
        s = Phi_t[l]
        for i in range(n):
            s += J[l, i] * v[i]
        r[l] = -(c[l] + opts[DAMPING] * s + opts[STIFFNESS] * Phi[l])


@kernel
def accelerations(fn, ctx, m, opts, L, d, r, w):
    """Status; a = ap, lam and vp at the q, v and time of the context (IDX-1)."""
    flag, q, v, a, vp, ap, f, lam = flag_(ctx), q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx)
    M, J, n, eps = M_(ctx), J_(ctx)[:m], q.shape[0], opts[COMPLIANCE]
    if len(fn) > RATES:
        call(fn[RATES], ctx)
        return flag[STATUS]
    for i in range(n):
        vp[i] = v[i]
        a[i] = 0.0
    call(fn[EVALUATE], ctx)
    if flag[STATUS] != OK:
        return flag[STATUS]
    call(fn[BIAS], ctx)
    stabilised(c_(ctx), Phi_(ctx), Phi_t_(ctx), J, v, m, n, opts, r)
    alpha, rounds = solver(M, J, m, n, eps)
    augment_lower(M, J, n, alpha, L)
    status = ldlt(L, d)
    if status != OK:
        return status
    for l in range(m):
        lam[l] = 0.0
    for _ in range(rounds):
        for i in range(n):
            s = -f[i]
            for j in range(n):
                s -= M[i, j] * a[j]
            w[i] = s
        for l in range(m):
            s = r[l] + eps * lam[l]
            for i in range(n):
                s -= J[l, i] * a[i]
            t = alpha * s - lam[l]
            lam[l] -= alpha * s
            for i in range(n):
                w[i] += J[l, i] * t
        ldlt_solve(L, d, w)
        for i in range(n):
            a[i] += w[i]
        for l in range(m):
            s = 0.0 * q[0]
            for i in range(n):
                s += J[l, i] * w[i]
            lam[l] += alpha * s
    for i in range(n):
        ap[i] = a[i]
        if not abs(a[i]) < 1e300:
            return NOT_FINITE
    return OK


@kernel
def stages(fn, ctx, m, A, b, c, error, t, t1, h, opts, q0, v0, KV, KA, g_step, g_off, row, keep, L, d, r, w):
    """Status; the stages and the new state of one step: rates in KV, KA, the last those of the new state (RKT-1).

    g_step and g_off gain the integrals of all stages but the first, and their errors; stages go to `row` if it is kept.
    """
    par, g, q, v, a, lam = par_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    n, s = q.shape[0], b.shape[0]
    for i in range(1, s + 1):
        part = A[i] if i < s else b
        combine(h, part, i, q0, KV, n, q)
        combine(h, part, i, v0, KA, n, v)
        par[TIME] = stage_time(t, t1, h, c[i]) if i < s else t1
        status = accelerations(fn, ctx, m, opts, L, d, r, w)
        if status != OK:
            return status
        for k in range(n):
            KV[i, k] = v[k]
            KA[i, k] = a[k]
        add_objectives(fn, ctx, i, h, b, error, g, g_step, g_off)
        if i < s and keep:
            store_stage(row, i, q, v, a, lam, m)
    return OK


@entry(what="the simulation kernels")
def simulate_rk(
    fn, ctx, m, A, b, c, error, ts, hs, control, opts, final, psi, g_last, stride, traj, evaluations, rates, g_off
):
    """Status and number of steps done, from the state in the context and the integrands g_last there.

    Without `control` through the steps hs.  With it (t_end, error allowed, interval of outputs or 0, step to try, last
    error) steps are chosen (RKT-4), hs and ts[1:] are filled until t_end or their end, and control is carried on.  `rates`
    (2, stages + 1, n) and `g_off` (objectives) are scratch.
    """
    flag, g, q, v, a, lam = flag_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    par, n, s, KV, KA = par_(ctx), q.shape[0], b.shape[0], rates[0], rates[1]
    L, d, r, w, q0, v0, g_step = L_(ctx), d_(ctx), r_(ctx), w_(ctx), qt_(ctx), vt_(ctx), weights_(ctx)
    chosen = control.shape[0] > 0
    flag[FREEDOMS] = 0
    par[WK] = 0.0
    par[WC] = 0.0
    step = 0
    while step < hs.shape[0] and not (chosen and ts[step] >= control[T_END]):
        t = ts[step]
        keep = (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride
        row = traj[(step + 1) // stride] if keep else traj[0]
        for i in range(n):
            q0[i], v0[i], KV[0, i], KA[0, i] = q[i], v[i], v[i], a[i]
        evaluations[step] = 0
        refused = False
        while True:
            if chosen:
                propose(control, t, step, ts, hs)
            h = hs[step]
            begin_objectives(h, b, error, g_last, g_step, g_off)
            status = stages(
                fn, ctx, m, A, b, c, error, t, ts[step + 1], h, opts, q0, v0, KV, KA, g_step, g_off, row, keep, L, d, r, w,
            )  # fmt: skip
            evaluations[step] += s
            if not chosen:
                if status != OK:
                    return status, step
                break
            e = 1e300
            if status == OK:
                e = max(
                    scaled_error(h, error, KV, q0, q, n, control[ALLOWED]),
                    scaled_error(h, error, KA, v0, v, n, control[ALLOWED]),
                    objective_error(g_off, g_step, final, psi, control[ALLOWED]),
                )
            if accepted(control, h, e, refused):
                break
            refused = True
            if too_small(control):
                return (status if status != OK else STEP_TOO_SMALL), step
        for o in range(psi.shape[0]):
            if not final[o]:
                psi[o] += g_step[o]
        observe_state(fn, ctx, g, final, psi, g_last)
        if keep:
            store_stage(row, 0, q, v, a, lam, m)
        step += 1
    return OK, step


@entry(what="the simulation kernels")
def simulate_newmark(
    fn, ctx, m, ts, hs, opts, family, auxiliary, iterations_allowed, final, psi, g_last, stride, traj, iterations
):
    """Status and number of steps done, from the state in the context, the auxiliary acceleration and the integrands g_last
    there (IDX-2, IDX-3)."""
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, f, lam, M, K = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx), M_(ctx), K_(ctx)
    Phi, Phi_t, bias, J = Phi_(ctx), Phi_t_(ctx), c_(ctx), J_(ctx)[:m]
    n, eps, tol = q.shape[0], opts[COMPLIANCE], opts[TOLERANCE]
    L, d, r, w, qt, vt = L_(ctx), d_(ctx), r_(ctx), w_(ctx), qt_(ctx), vt_(ctx)
    flag[FREEDOMS] = 0
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        k = 1.0 + opts[DAMPING] * gh + opts[STIFFNESS] * b
        par[TIME], par[WK], par[WC] = ts[step + 1], b, gh
        predict(family, h, q, v, a, auxiliary, qt, vt)
        done, last = False, 1e300
        for it in range(iterations_allowed):
            for i in range(n):
                q[i] = qt[i] + b * a[i]
                v[i] = vt[i] + gh * a[i]
                vp[i] = v[i]
            call(fn[EVALUATE], ctx)
            if flag[STATUS] != OK:
                return flag[STATUS], step
            call(fn[BIAS], ctx)
            stabilised(bias, Phi, Phi_t, J, v, m, n, opts, r)
            alpha, _ = solver(M, J, m, n, eps / k)
            for i in range(n):
                s = -f[i]
                for j in range(n):
                    s -= M[i, j] * a[j]
                w[i] = s
                for j in range(i + 1):
                    L[i, j] = M[i, j] + K[i, j]
            augment_lower(L, J, n, alpha, L)
            status = ldlt(L, d)
            if status != OK:
                return status, step
            for l in range(m):
                s = r[l] + eps * lam[l]
                for i in range(n):
                    s -= J[l, i] * a[i]
                t = alpha * s / k
                for i in range(n):
                    w[i] += J[l, i] * (t - lam[l])
                lam[l] -= t
            ldlt_solve(L, d, w)
            e = 0.0
            for i in range(n):
                a[i] += w[i]
                e = max(e, gh * abs(w[i].real))
            for l in range(m):
                s = 0.0 * q[0]
                for i in range(n):
                    s += J[l, i] * w[i]
                lam[l] += alpha * s
            iterations[step] = it + 1
            if not e < 1e300:
                return NOT_FINITE, step
            # below the tolerance, or at rounding: no longer shrinking while already small
            if e < tol or (tol > 0.0 and e > 0.5 * last and e < 1e-9):
                done = True
                break
            last = e
        if not done and tol > 0.0:
            return NOT_CONVERGED, step
        for i in range(n):
            q[i] = qt[i] + b * a[i]
            v[i] = vt[i] + gh * a[i]
            vp[i] = v[i]
            ap[i] = a[i]
        complete(family, a, auxiliary)
        observe_step(fn, ctx, h, g, final, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            row = traj[(step + 1) // stride]
            store_stage(row, 0, q, v, a, lam, m)
            for i in range(row.shape[0] - 3 * n - m):
                row[3 * n + m + i] = auxiliary[i]
    return OK, hs.shape[0]
