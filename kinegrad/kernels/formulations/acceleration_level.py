"""Formulations at acceleration level, in all coordinates: Lagrange multipliers with stabilised constraints, and penalties.

Accelerations and multipliers at (q, v, t) (IDX-1):

    [M Phi_qᵀ; Phi_q -ε] [a; lam] = -[f; c + 2ξΩ Phid + Ω² Phi]        ε = 0 (index1) or 1/α (penalty)

or M a + f + Phi_qᵀ lam = 0, Psi = ε lam with Psi = Phidd + 2ξΩ Phid + Ω² Phi.  Explicit Runge-Kutta methods integrate
(q, v); Newmark's method and its relatives solve both equations for a at the end of the step (IDX-2, NMF-1).

Rows of a trajectory: q, v, a, lam of the state; with Runge-Kutta also those of the stages, but the first, of the step
that led to it; with HHT and generalized-alpha also the auxiliary acceleration.
"""

from kinegrad.kernels.constrained import (
    drifted_weights,
    patterns,
    row_squares,
    row_weights,
    solve_near_singular,
    solve_rows,
)
from kinegrad.kernels.formulations.independent_rows import choose_rows
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
from kinegrad.kernels.formulations.newton import OF_RATES, TIGHT, converged
from kinegrad.kernels.formulations.objectives import observe_state, observe_step
from kinegrad.kernels.formulations.runge_kutta import (
    ALLOWED,
    PROPOSED,
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
from kinegrad.kernels.jit import entry, kernel, real
from kinegrad.kernels.pattern import DENSE, place
from kinegrad.kernels.products import (
    BIAS,
    DURATION,
    EVALUATE,
    EXTENT,
    FREEDOMS,
    N_FUNCTIONS,
    PRODUCTS,
    STATUS,
    TIME,
    WC,
    WK,
)  # fmt: skip
from kinegrad.kernels.solvers.factors import factor, solve, symmetric_factors
from kinegrad.kernels.solvers.multiply import minus_rows, minus_times, plus_row, times
from kinegrad.kernels.status import LOST_RANK, NOT_CONVERGED, NOT_FINITE, OK, STEP_TOO_SMALL
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_) = PRODUCTS.viewers(*"par flag g q v a vp ap f".split())
(lam_, Phi_, Phi_t_, c_, M_, K_, J_, square_, wide_, alike_) = PRODUCTS.viewers(
    *"lam Phi Phi_t c M K J square wide alike".split()
)
(T_, r_, x_, y_, w_, z_, D_, Dp_, ease_, sizes_) = PRODUCTS.viewers(*"T r x y w z D Dp ease sizes".split())
(qt_, vt_, weights_, reach_) = PRODUCTS.viewers("qt", "vt", "weights", "reach")
(size_, unit_, per_, soft_, psi_size_) = PRODUCTS.viewers("size", "unit", "per", "soft", "psi_size")
# adjoints, which no run in time has: of the state before a step Phi, Phid and lam, and the sizes of the rows so far
(Phi0_, Phid0_, lam0_, sizes0_) = PRODUCTS.viewers("yp", "yv", "ya", "ys")

# options: ε, Ω², 2ξΩ, the tolerance of Newton's method; the part of accelerations that ε may let through, or -1 before the
# first; the rank of the rows at the start
COMPLIANCE, STIFFNESS, DAMPING, TOLERANCE, SOFT, RANK = range(6)
ASIDE, OVER = 0.7, 3.0  # of a step with a stage at a singular position: tried next, shorter and longer in turn
TOLERATED = 100.0  # times what it lets through at the start
LET_THROUGH = 1e-5  # part of accelerations that ε may let through, at least
RATES = N_FUNCTIONS  # place, after those of the set, of a function that leaves a = ap, lam and vp by other means


@kernel
def stabilised(ctx, m, opts):
    """r = -(c + 2ξΩ Phid + Ω² Phi): what Phi_q a - ε lam has to be."""
    c, Phi, Phi_t, r = c_(ctx), Phi_(ctx), Phi_t_(ctx), r_(ctx)
    times(wide_(ctx), J_(ctx), m, v_(ctx), Phi_t, r)
    damping, stiffness = opts[DAMPING], opts[STIFFNESS]
    for l in range(m):
        r[l] = -(c[l] + damping * r[l] + stiffness * Phi[l])


@kernel
def still_held(ctx, m, eps, opts):
    """LOST_RANK if what the compliance lets through is far more than at the first call: a singular position is near, through
    which penalties do not bring the motion (IDX-8)."""
    square, M, D, f, a, lam, w, soft = square_(ctx), M_(ctx), D_(ctx), f_(ctx), a_(ctx), lam_(ctx), w_(ctx), soft_(ctx)
    n = a.shape[0]
    for i in range(n):
        w[i] = 0.0
    for l in range(m):
        plus_row(wide_(ctx), J_(ctx), l, -(D[l] * eps * soft[l] * lam[l]), w)
    solve(symmetric_factors(ctx), w)
    through, size = 0.0, 0.0
    for i in range(n):
        t = real(M[place(square, i, i)])
        through += t * real(w[i]) ** 2
        size += t * real(a[i]) ** 2
        if t > 0.0:
            size += real(f[i]) ** 2 / t
    part = (through / size) ** 0.5 if size > 0.0 else 0.0
    if opts[SOFT] < 0.0:
        opts[SOFT] = max(LET_THROUGH, TOLERATED * part)
    return LOST_RANK if part > opts[SOFT] else OK


@kernel
def accelerations(fn, ctx, m, opts):
    """Status; a = ap, lam and vp at the q, v and time of the context (IDX-1)."""
    flag, q, v, a, vp, ap, f, lam = flag_(ctx), q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx)
    M, J, n, eps, pat = M_(ctx), J_(ctx), q.shape[0], opts[COMPLIANCE], patterns(ctx)
    r, y, w, z, D, ease, F = r_(ctx), y_(ctx), w_(ctx), z_(ctx), D_(ctx), ease_(ctx), symmetric_factors(ctx)
    if len(fn) > RATES:
        call(fn[RATES], ctx)
        return flag[STATUS]
    for i in range(n):
        vp[i] = v[i]
    call(fn[EVALUATE], ctx)
    if flag[STATUS] != OK:
        return flag[STATUS]
    call(fn[BIAS], ctx)
    stabilised(ctx, m, opts)
    for i in range(n):
        y[i] = -f[i]
    row_weights(pat, M, J, m, eps, alike_(ctx), ease, w, z, D)
    stronger = drifted_weights(pat, Phi_(ctx), m, eps, z, reach_(ctx), sizes_(ctx), D)
    status = factor(F, M, J, m, D)
    if status != OK:
        return status
    status = solve_near_singular(pat, M, J, m, eps, D, F, stronger, y, r, a, lam, w, z)
    if status == OK and eps > 0.0:
        status = still_held(ctx, m, eps, opts)
    for i in range(n):
        ap[i] = a[i]
        if not abs(a[i]) < 1e300:
            return NOT_FINITE
    return status


@kernel
def stages(fn, ctx, m, A, b, c, error, t, t1, h, opts, q0, v0, KV, KA, g_step, g_off, row, keep):
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
        status = accelerations(fn, ctx, m, opts)
        if status != OK:
            return status
        for k in range(n):
            KV[i, k] = v[k]
            KA[i, k] = a[k]
        add_objectives(fn, ctx, i, h, b, error, g, g_step, g_off)
        if i < s and keep:
            store_stage(row, i, q, v, a, lam, m)
    return OK


@kernel
def choose_again(fn, ctx, m, opts):
    """Status; rows chosen at the new state, whose accelerations are those with them: they are the first stage of the step that
    begins there, and penalties of other rows give others (IDX-7)."""
    if opts[COMPLIANCE] > 0.0 and opts[RANK] < m:
        choose_rows(ctx, m, int(opts[RANK]))
        return accelerations(fn, ctx, m, opts)
    return OK


@kernel
def keep_rows(ctx, m):
    """The rows at the state before a step, for `rows_moved` and `forget_sizes`: Phi, Phid, lam, the sizes so far, in Dp their
    lengths."""
    wide, dense, n, J, w, unit = wide_(ctx), wide_(ctx)[DENSE], q_(ctx).shape[0], J_(ctx), w_(ctx), unit_(ctx)
    Phi, Phi0, lam, lam0, sizes, sizes0 = Phi_(ctx), Phi0_(ctx), lam_(ctx), lam0_(ctx), sizes_(ctx), sizes0_(ctx)
    reach, length, q = reach_(ctx), Dp_(ctx), q_(ctx)
    times(wide, J, m, v_(ctx), Phi_t_(ctx), Phid0_(ctx))
    for i in range(n):
        w[i] = real(q[i]) ** 2
    for l in range(m):
        Phi0[l], lam0[l], sizes0[l] = Phi[l], lam[l], sizes[l]
        length[l] = 1.0 / real(reach[l]) + row_squares(wide, dense, n, J, l, w, unit)[1] ** 0.5


@kernel
def forget_sizes(ctx, m):
    """Sizes of rows as before a step that was refused: a trial may have been anywhere."""
    sizes, sizes0 = sizes_(ctx), sizes0_(ctx)
    for l in range(m):
        sizes[l] = sizes0[l]


@kernel
def rows_moved(ctx, m, h, opts, tolerance):
    """By how much rows moved off zero in a step h, more than (IDX-1) explains, as a part of what is allowed  (RKT-5)."""
    Phi, Phi0, Phid, Phid0, lam, lam0 = Phi_(ctx), Phi0_(ctx), r_(ctx), Phid0_(ctx), lam_(ctx), lam0_(ctx)
    length, eps, soft, worst, explained = Dp_(ctx), opts[COMPLIANCE], soft_(ctx), 0.0, 0.0
    times(wide_(ctx), J_(ctx), m, v_(ctx), Phi_t_(ctx), Phid)
    for l in range(m):
        size, was, rate = real(length[l]), abs(real(Phi0[l])), abs(real(Phid0[l]))
        force = eps * soft[l] * (abs(real(lam0[l])) + abs(real(lam[l])))
        explained = max(explained, h * h * (force + opts[DAMPING] * rate + opts[STIFFNESS] * was) / size)
        part = max(abs(real(Phi[l])) - was - h * rate, h * (abs(real(Phid[l])) - rate)) / size
        if not part < 1e300:
            return 1e300
        worst = max(worst, part)
    return max(worst - explained, 0.0) / tolerance


@entry(what="the simulation kernels")
def begin_rk(fn, ctx, m, opts):
    """Status; the accelerations of the start as those of all other states (`choose_again`)."""
    par = par_(ctx)
    flag_(ctx)[FREEDOMS] = 0
    par[WK] = 0.0
    par[WC] = 0.0
    call(fn[EVALUATE], ctx)
    return choose_again(fn, ctx, m, opts)


@entry(what="the simulation kernels")
def simulate_rk(fn, ctx, m, method, steps, objectives, opts):
    """Status and number of steps done, from the state in the context, by an `Explicit` method.

    Without `control` through the steps hs.  With it (t_end, error allowed, interval of outputs or 0, step to try, last
    error) steps are chosen (RKT-4), hs and ts[1:] are filled until t_end or their end, and control is carried on.
    """
    A, b, c, error = method.tableau.A, method.tableau.b, method.tableau.c, method.tableau.error
    control, rates, g_off = method.control, method.rates, method.g_off
    ts, hs, stride, traj, evaluations = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    flag, g, q, v, a, lam = flag_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    par, n, s, KV, KA = par_(ctx), q.shape[0], b.shape[0], rates[0], rates[1]
    q0, v0, g_step, unit, time = qt_(ctx), vt_(ctx), weights_(ctx), unit_(ctx), size_(ctx)[DURATION]
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
        if opts[RANK] < m:
            choose_rows(ctx, m, int(opts[RANK]))
        evaluations[step] = 0
        refused, lost, asked, soft = False, 0, 0.0, opts[SOFT]
        if chosen:
            keep_rows(ctx, m)
        while True:
            if chosen:
                propose(control, t, step, ts, hs)
            h = hs[step]
            begin_objectives(h, b, error, g_last, g_step, g_off)
            status = stages(
                fn, ctx, m, A, b, c, error, t, ts[step + 1], h, opts, q0, v0, KV, KA, g_step, g_off, row, keep
            )
            evaluations[step] += s
            if not chosen:
                if status != OK:
                    return status, step
                break
            e = 1e300
            if status == OK:
                e = max(
                    scaled_error(h, error, KV, q0, q, unit, 1.0, control[ALLOWED]),
                    scaled_error(h, error, KA, v0, v, unit, time, control[ALLOWED]),
                    objective_error(g_off, g_step, kinds, psi, psi_size_(ctx), control[ALLOWED]),
                    rows_moved(ctx, m, h, opts, control[ALLOWED]),
                )
            if accepted(control, h, e, refused):
                break
            refused = True
            forget_sizes(ctx, m)
            opts[SOFT] = soft
            if status == LOST_RANK:  # a stage fell on a singular position: with another step none will
                lost += 1
                asked = h if lost == 1 else asked
                control[PROPOSED] = asked * (ASIDE**lost if lost % 2 == 1 else OVER ** (lost // 2))
            if too_small(control):
                return (status if status != OK else STEP_TOO_SMALL), step
        status = choose_again(fn, ctx, m, opts)
        if status != OK:
            return status, step
        observe_state(fn, ctx, ts[step + 1], h, g, g_step, kinds, psi, g_last)
        if keep:
            store_stage(row, 0, q, v, a, lam, m)
        step += 1
    return OK, step


@entry(what="the simulation kernels")
def simulate_newmark(fn, ctx, m, method, steps, objectives, opts):
    """Status and number of steps done, from the state in the context, by an `Implicit` method (IDX-2, IDX-3)."""
    family, auxiliary, iterations_allowed = method.family, method.auxiliary, method.allowed
    ts, hs, stride, traj, iterations = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, f, lam, M, K = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), f_(ctx), lam_(ctx), M_(ctx), K_(ctx)
    square, wide, J, T, F = square_(ctx), wide_(ctx), J_(ctx), T_(ctx), symmetric_factors(ctx)
    n, eps, tol = q.shape[0], opts[COMPLIANCE], opts[TOLERANCE]
    r, w, qt, vt, y, z, D = r_(ctx), w_(ctx), qt_(ctx), vt_(ctx), y_(ctx), z_(ctx), D_(ctx)
    change, change_lam, ease, pat, soft, per = x_(ctx), Dp_(ctx), ease_(ctx), patterns(ctx), soft_(ctx), per_(ctx)
    flag[FREEDOMS] = 0
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        k = 1.0 + opts[DAMPING] * gh + opts[STIFFNESS] * b
        par[TIME], par[WK], par[WC] = ts[step + 1], b, gh
        if opts[RANK] < m:
            choose_rows(ctx, m, int(opts[RANK]))
            for l in range(m):
                lam[l] = 0.0 if real(ease[l]) < 0.0 else lam[l]
        predict(family, h, q, v, a, auxiliary, qt, vt)
        done, last = False, 1e300
        for it in range(iterations_allowed):
            size = real(par[EXTENT])
            for i in range(n):
                q[i] = qt[i] + b * a[i]
                v[i] = vt[i] + gh * a[i]
                vp[i] = v[i]
                size = max(size, abs(real(q[i])) * per[i])
            call(fn[EVALUATE], ctx)
            if flag[STATUS] != OK:
                return flag[STATUS], step
            call(fn[BIAS], ctx)
            stabilised(ctx, m, opts)
            for i in range(n):
                y[i] = -f[i]
            minus_times(square, M, n, a, y)
            for i in range(T.shape[0]):
                T[i] = M[i] + K[i]
            row_weights(pat, T, J, m, eps / k, alike_(ctx), ease, w, z, D)
            drifted_weights(pat, Phi_(ctx), m, eps / k, z, reach_(ctx), sizes_(ctx), D)
            status = factor(F, T, J, m, D)
            if status != OK:
                return status, step
            for l in range(m):
                r[l] += eps * soft[l] * lam[l]
            minus_rows(wide, J, m, lam, y)
            minus_times(wide, J, m, a, r)
            for l in range(m):
                r[l] /= k
            solve_rows(pat, M, J, m, eps / k, D, F, 1, y, r, change, change_lam, w, z)
            e = 0.0
            for i in range(n):
                a[i] += change[i]
                if not abs(real(change[i])) < 1e300:
                    return NOT_FINITE, step
                e = max(e, b * abs(real(change[i])) * per[i])
            for l in range(m):
                lam[l] += change_lam[l]
            iterations[step] = it + 1
            if tol > 0.0 and converged(it, e, last, OF_RATES * tol * b / (gh * h), tol < TIGHT, size):
                done = True
                break
            last = e
        if not done and tol > 0.0:
            return NOT_CONVERGED, step
        if eps > 0.0:
            status = still_held(ctx, m, eps, opts)
            if status != OK:
                return status, step
        for i in range(n):
            q[i] = qt[i] + b * a[i]
            v[i] = vt[i] + gh * a[i]
            vp[i] = v[i]
            ap[i] = a[i]
        complete(family, a, auxiliary)
        observe_step(fn, ctx, ts[step + 1], h, g, kinds, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            row = traj[(step + 1) // stride]
            store_stage(row, 0, q, v, a, lam, m)
            for i in range(row.shape[0] - 3 * n - m):
                row[3 * n + m + i] = auxiliary[i]
    return OK, hs.shape[0]
