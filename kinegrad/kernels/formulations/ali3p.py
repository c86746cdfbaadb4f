"""ALI3-P with the Newmark family: augmented Lagrangian of index 3, then projected velocities and accelerations.

A step of size h takes the acceleration a as unknown (ALI-1), here with Newmark's method, in general by (NMF-1):

    q = q~ + β h² a,  v = v~ + γ h a          q~ = q + h vp + (½ - β) h² ap,  v~ = vp + (1 - γ) h ap  (previous step)
    M a + f(q, v) + Phi_qᵀ lam = 0,  Phi(q) = 0
    [M Phi_qᵀ; Phi_q -ε] [dv; sv] = [0; -Phid(q, v)],       vp = v + dv
    [M Phi_qᵀ; Phi_q -ε] [da; sa] = [0; -Phidd(q, vp, a)],  ap = a + da

with ε = 1/(ς α) for projections by penalty, 0 for exact ones.  Rows of a trajectory: q, v, a, vp, ap, lam, sv, sa and,
where there is room, the auxiliary acceleration.
"""

from kinegrad.kernels.constrained import FEW_ROUNDS, patterns, row_weights, soft_weights, solve_rows
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
from kinegrad.kernels.formulations.newton import STALLED, TIGHT, UNKNOWN, converged, is_clear, needs_no_second
from kinegrad.kernels.formulations.objectives import observe_step
from kinegrad.kernels.jit import entry, inlined, kernel, real
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.products import (
    BIAS,
    DURATION,
    EVALUATE,
    EXTENT,
    FIRST,
    FREEDOMS,
    PRODUCTS,
    SHRINKING,
    STATUS,
    TIME,
    WC,
    WK,
)  # fmt: skip
from kinegrad.kernels.solvers.factors import factor, solve, symmetric_factors
from kinegrad.kernels.solvers.multiply import (
    minus_times,
    minus_two_sorts_of_rows,
    minus_weighed_rows,
    row_times,
    times,
)
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_, square_, wide_, level_, alike_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap f square wide level alike".split()
)
(lam_, sv_, sa_, Phi_, Phi_t_, c_, M_, K_, J_) = PRODUCTS.viewers(*"lam sv sa Phi Phi_t c M K J".split())
(T_, r_, z_, D_, Dp_, x_, y_, w_, qt_, vt_, a1_, a2_, a3_, factored_, ease_, sizes_) = PRODUCTS.viewers(
    *"T r z D Dp x y w qt vt a1 a2 a3 factored ease sizes".split()
)
size_, per_, per_row_, soft_ = PRODUCTS.viewers("size", "per", "per_row", "soft")

# options; EXACT is 1 where projections are exact, by multipliers, and 0 where they are by penalties
PENALTY, SCALE, TOLERANCE, THRESHOLD, EXACT = range(5)
PROJECTED_V, PROJECTED_A, NEAR_SINGULAR, FIRM, LOOSE = 1, 2, 8, 16, 32  # flags
SLOWLY = 3  # times the iterations allowed: near a singular position each halves the error only
# what the next correction is of the one before, if rows yield: in the step before, in this one, or even if held firmly
YIELDED, YIELDS, YIELDS_ALWAYS = 1e-2, 0.1, 0.3
SUDDEN, SEEN = 8.0, 1e-6  # a first correction, of that in the step before; what another round adds to it if rows yield
FIRMER = 1e4  # times the weight of a row in a step that holds it firmly
LOAD = 0.03  # of the largest acceleration: what a direction that is free gains at least where rows do not see it
MANY = 6  # iterations after which rows that vanish are held loosely
WEAKER = 1e-2  # times the weight of a row in a step that holds it loosely
VANISHING = 1e-2  # square of a row, of its largest so far, below which a singular position may be near


@kernel
def compliance(opts):
    """ε of the projections."""
    return 0.0 if opts[EXACT] > 0.0 else 1.0 / (opts[SCALE] * opts[PENALTY])


# --- the step ----------------------------------------------------------------------------------------------------


@inlined
def extrapolated(last, a1, a2, a3):
    """What follows `last` by the polynomial through it and the values before; those from before the start are alike."""
    if a2 != a3:
        return 4.0 * (last + a2) - 6.0 * a1 - a3
    return 3.0 * (last - a1) + a2 if a1 != a2 else 2.0 * last - a1


@kernel
def guess(ctx, family, h, auxiliary, tight):
    """The largest position, in units of coordinates; q~, v~ and a first guess of q, v, a at the end of a step of size h (ALI-1,
    ALI-7)."""
    q, v, a, ap, a1, a2, a3, qt, vt, lam = (
        q_(ctx), v_(ctx), a_(ctx), ap_(ctx), a1_(ctx), a2_(ctx), a3_(ctx), qt_(ctx), vt_(ctx), lam_(ctx),
    )  # fmt: skip
    b, gh, per = *by_acceleration(family, h), per_(ctx)
    predict(family, h, q, vp_(ctx), ap, auxiliary, qt, vt)
    size = real(par_(ctx)[EXTENT])
    for i in range(q.shape[0]):
        last = a[i]
        a[i] = ap[i]
        if tight:
            a[i] = extrapolated(last, a1[i], a2[i], a3[i])
            a3[i] = a2[i]
            a2[i] = a1[i]
            a1[i] = last
        q[i] = qt[i] + b * a[i]
        v[i] = vt[i] + gh * a[i]
        size = max(size, abs(real(q[i])) * per[i])
    for l in range(lam.shape[0]):
        lam[l] = 0.0
    return size


@kernel
def vanishing(m, g, sizes):
    """Whether a row has become short; g: squares of rows, sizes: the largest so far."""
    near = False
    for l in range(m):
        t = real(g[l])
        sizes[l] = max(real(sizes[l]), t)
        near = near or t < VANISHING * real(sizes[l])
    return near


@kernel
def factor_tangent(ctx, m, eps, hold):
    """Status, whether a singular position is near, and whether one round of a projection is as good as many; the weights of
    the rows, and the factors of M + K + JᵀDJ with the rows that are in them (ALI-2)."""
    M, K, T, J, rows, ease, z = M_(ctx), K_(ctx), T_(ctx), J_(ctx), factored_(ctx), ease_(ctx), z_(ctx)
    wide = wide_(ctx)
    for i in range(T.shape[0]):
        T[i] = M[i] + K[i]
    row_weights(patterns(ctx), M, J, m, 0.0, alike_(ctx), ease, w_(ctx), z, D_(ctx))
    one = soft_weights(patterns(ctx), m, eps, ease, z, D_(ctx), Dp_(ctx))
    near = vanishing(m, z, sizes_(ctx))
    if hold == FIRM:
        one = hold_firmly(m, eps, ease, soft_(ctx), one, D_(ctx), Dp_(ctx))
    elif hold == LOOSE:
        one = hold_loosely(m, z, sizes_(ctx), ease, D_(ctx), Dp_(ctx))
    for i in range(end_of(wide, m)):
        rows[i] = J[i]
    return factor(symmetric_factors(ctx), T, J, m, D_(ctx)), near, one


@kernel
def hold_firmly(m, eps, ease, soft, one, D, Dp):
    """True if one round of a projection will do; weights that hold directions which rows hardly see (ALI-8)."""
    firm = eps > 0.0
    for l in range(m):
        D[l] *= FIRMER
        e = eps * real(soft[l])
        if eps > 0.0 and real(ease[l]) >= 0.0 and e * real(D[l]) >= 1.0:
            Dp[l] = 1.0 / e
        else:
            firm = False
    return one or firm


@kernel
def hold_loosely(m, g, sizes, ease, D, Dp):
    """True; weights, by the usual size of rows, that leave directions free which rows hardly see (ALI-8)."""
    for l in range(m):
        part = WEAKER / real(ease[l]) if real(ease[l]) > 0.0 else WEAKER
        D[l] *= part * real(g[l]) / real(sizes[l]) if real(sizes[l]) > 0.0 else part
        Dp[l] = WEAKER * D[l]
    return True


@kernel
def start_again(ctx, b, gh):
    """q, v, a and lam as `guess` leaves them, with the accelerations of the state before."""
    q, v, a, ap, qt, vt, lam = q_(ctx), v_(ctx), a_(ctx), ap_(ctx), qt_(ctx), vt_(ctx), lam_(ctx)
    for i in range(q.shape[0]):
        a[i] = ap[i]
        q[i] = qt[i] + b * a[i]
        v[i] = vt[i] + gh * a[i]
    for l in range(lam.shape[0]):
        lam[l] = 0.0


@kernel
def largest_of(ctx, x):
    """The largest of x, in units of coordinates."""
    per, e = per_(ctx), 0.0
    for i in range(x.shape[0]):
        e = max(e, abs(real(x[i])) * per[i])
    return e


@kernel
def another_round(ctx, m):
    """The largest change, in units of coordinates, that another round with the same matrices would make, r being what the rows
    still lack."""
    y = y_(ctx)
    for i in range(y.shape[0]):
        y[i] = 0.0 * y[i]
    minus_weighed_rows(wide_(ctx), factored_(ctx), m, D_(ctx), r_(ctx), y)
    solve(symmetric_factors(ctx), y)
    return largest_of(ctx, y)


@kernel
def yields_suddenly(ctx, m, b, e, tol, size):
    """How to hold rows that held in the step before and yield now, as the first iteration, which changed positions by e, shows:
    FIRM, LOOSE where they do not see at all what changed, or 0 (ALI-8)."""
    par = par_(ctx)
    if e > tol and is_clear(e, size) and e > SUDDEN * real(par[FIRST]):
        if another_round(ctx, m) * b > SEEN * e:
            return FIRM
        if e > LOAD * b * largest_of(ctx, ap_(ctx)) and e > STALLED * size and YIELDED < real(par[SHRINKING]) < UNKNOWN:
            return LOOSE
    par[FIRST] = e
    return 0


@kernel
def row_residuals(ctx, m, by_position, by_velocity):
    """r = what the rows of a step lack, as accelerations: Phi/βh² of positions, Phid/γh of velocities (ALI-6)."""
    level, Phi, Phi_t, out = level_(ctx), Phi_(ctx), Phi_t_(ctx), r_(ctx)
    for l in range(m):
        if level[l] == 0:
            out[l] = Phi[l] * by_position
        else:
            out[l] = row_times(wide_(ctx), J_(ctx), l, v_(ctx), Phi_t[l]) * by_velocity


@kernel
def correct(ctx, m, b, gh, loose):
    """The largest correction of an acceleration, in units of coordinates, or 2e300 where one is not finite; q, v, a and lam
    corrected (ALI-2)."""
    y, f, n = y_(ctx), f_(ctx), f_(ctx).shape[0]
    for i in range(n):
        y[i] = -f[i]
    minus_times(square_(ctx), M_(ctx), n, a_(ctx), y)
    row_residuals(ctx, m, 1.0 / b, 1.0 / gh)
    if loose:
        D, lam, r = D_(ctx), lam_(ctx), r_(ctx)
        for l in range(m):
            if real(D[l]) > 0.0:
                r[l] -= lam[l] / D[l]
    minus_two_sorts_of_rows(wide_(ctx), J_(ctx), lam_(ctx), factored_(ctx), D_(ctx), r_(ctx), m, y)
    return change(ctx, m, b, gh)


@kernel
def correct_twice(ctx, m, b, gh):
    """`correct`, and another round with the same matrices for what its rows still lack: their part of lam (LIN-3)."""
    a, y, before, per = a_(ctx), y_(ctx), x_(ctx), per_(ctx)
    for i in range(a.shape[0]):
        before[i] = a[i]
    e = correct(ctx, m, b, gh, False)
    if not e < 1e300:
        return e
    for i in range(a.shape[0]):
        y[i] = 0.0 * a[i]
    minus_weighed_rows(wide_(ctx), factored_(ctx), m, D_(ctx), r_(ctx), y)
    change(ctx, m, b, gh)
    e = 0.0
    for i in range(a.shape[0]):
        e = max(e, abs(real(a[i] - before[i])) * per[i])
    return e


@kernel
def change(ctx, m, b, gh):
    """The largest correction, in units of coordinates; q, v, a and lam corrected by the right-hand side y, r being what the
    rows lack, and then what they still lack."""
    q, v, a, lam, y, qt, vt = q_(ctx), v_(ctx), a_(ctx), lam_(ctx), y_(ctx), qt_(ctx), vt_(ctx)
    wide, rows, D, r, per = wide_(ctx), factored_(ctx), D_(ctx), r_(ctx), per_(ctx)
    solve(symmetric_factors(ctx), y)
    e = 0.0
    for i in range(q.shape[0]):
        moved = abs(real(y[i])) * per[i]
        if not moved < 1e300:
            return 2e300
        e = max(e, moved)
        a[i] += y[i]
        q[i] = qt[i] + b * a[i]
        v[i] = vt[i] + gh * a[i]
    times(wide, rows, m, y, r, r)
    for l in range(m):
        lam[l] += D[l] * r[l]
    return e


@kernel
def iterate(fn, ctx, m, b, gh, tol, eps, allowed, size):
    """Status, iterations, flags of a singular position that is near, and whether one round of a projection will do.

    Iterations that yield begin again, with rows that are held firmly; if that does not contract either, loosely (ALI-8).
    """
    par, flag, tight = par_(ctx), flag_(ctx), tol < TIGHT
    one, near, hold, first, refactor, last = False, False, 0, 0, True, 1e300
    for it in range(SLOWLY * allowed):
        if it >= allowed and not near and hold == 0:
            break
        k = it - first
        par[WK] = b if refactor else 0.0
        call(fn[EVALUATE], ctx)
        if flag[STATUS] != OK:
            return flag[STATUS], it, 0, one
        if refactor:
            status, near, one = factor_tangent(ctx, m, eps, hold)
            if (
                status != OK and hold == FIRM
            ):  # in long rows the inertia of one direction may be lost beside such weights
                hold, first = LOOSE, it
                status, near, one = factor_tangent(ctx, m, eps, hold)
            if status != OK:
                return status, it, 0, one
        e = correct_twice(ctx, m, b, gh) if tight and it == 0 else correct(ctx, m, b, gh, hold == LOOSE)
        if not e < 1e300 and hold != FIRM:
            return NOT_FINITE, it, 0, one
        e *= b
        other = yields_suddenly(ctx, m, b, e, tol, size) if it == 0 else 0
        if not e < 1e300:
            other = LOOSE
        if other == 0:
            if tight and it == 0 and not near and needs_no_second(e, real(par[SHRINKING]), tol, size):
                return OK, 1, 0, False
            if it == 1 and k == 1 and is_clear(last, size):
                par[SHRINKING] = e / last
            if tol > 0.0 and converged(k, e, last, tol, tight, size):
                return OK, it + 1, hold + (NEAR_SINGULAR if near else 0), hold == LOOSE or (one and not tight)
            if hold != LOOSE and e > YIELDS * last and is_clear(e, size):
                if (hold == FIRM or (near and k > MANY)) and e > YIELDS_ALWAYS * last and e > STALLED * size:
                    other = LOOSE
                elif hold == 0 and another_round(ctx, m) * b > YIELDS * e:
                    other = FIRM
        if other != 0:
            hold, first, refactor, last = other, it + 1, True, 1e300
            if hold == LOOSE:
                par[FIRST] = 1e300  # the next step comes back from where this one went
            start_again(ctx, b, gh)
        else:
            refactor = e > 1e-3 * last  # the factors of the first iteration serve while they contract well
            last = e
    return NOT_CONVERGED if tol > 0.0 else OK, SLOWLY * allowed if near or hold != 0 else allowed, 0, one and not tight


# --- projections -------------------------------------------------------------------------------------------------


@kernel
def violated(ctx, c, m, time, threshold):
    """Whether a row c of velocities or accelerations is beyond a threshold, in the sizes of the model; `time` is its time, or
    the square of that."""
    per_row, s = per_row_(ctx), 0.0
    for l in range(m):
        s = max(s, abs(real(c[l])) * (per_row[l] if per_row[l] > 0.0 else 1.0))
    return m > 0 and not s * time < threshold


@kernel
def project(ctx, m, eps, one, x, sig):
    """Add y to x, with multipliers sig: M y + Jᵀsig = 0 and J (x + y) + c = ε sig, r being J x + c (ALI-2); by one round if
    that will do."""
    wide, M, J, F, D = wide_(ctx), M_(ctx), J_(ctx), symmetric_factors(ctx), Dp_(ctx)
    y, zero, r = y_(ctx), qt_(ctx), r_(ctx)
    for i in range(x.shape[0]):
        y[i] = 0.0 * x[i]
        zero[i] = y[i]
    if one:
        minus_weighed_rows(wide, J, m, D, r, y)
        solve(F, y)
        times(wide, J, m, y, r, sig)
        for l in range(m):
            sig[l] *= D[l]
    else:
        for l in range(m):
            r[l] = -r[l]
        solve_rows(patterns(ctx), M, J, m, eps, D, F, FEW_ROUNDS, zero, r, y, sig, w_(ctx), z_(ctx))
    for i in range(x.shape[0]):
        x[i] += y[i]


@kernel
def project_rates(fn, ctx, m, eps, one, threshold):
    """Status and flags; vp and ap, with sv and sa, from v and a (ALI-1)."""
    v, a, vp, ap, sv, sa, r = v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), sv_(ctx), sa_(ctx), r_(ctx)
    wide, J, flags, time = wide_(ctx), J_(ctx), 0, size_(ctx)[DURATION]
    for i in range(v.shape[0]):
        vp[i] = v[i]
        ap[i] = a[i]
    for l in range(m):
        sv[l] = 0.0
        sa[l] = 0.0
    status = factor(symmetric_factors(ctx), M_(ctx), J, m, Dp_(ctx))
    if status != OK:
        return status, flags
    times(wide, J, m, vp, Phi_t_(ctx), r)
    if violated(ctx, r, m, time, threshold):
        project(ctx, m, eps, one, vp, sv)
        flags += PROJECTED_V
    call(fn[BIAS], ctx)
    times(wide, J, m, ap, c_(ctx), r)
    if violated(ctx, r, m, time * time, threshold):
        project(ctx, m, eps, one, ap, sa)
        flags += PROJECTED_A
    return OK, flags


# --- the run -----------------------------------------------------------------------------------------------------


@kernel
def store(row, ctx, auxiliary, m):
    """One row of a trajectory."""
    q, v, a, vp, ap, lam, sv, sa = (
        q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), sv_(ctx), sa_(ctx),
    )  # fmt: skip
    n = q.shape[0]
    for i in range(row.shape[0] - 5 * n - 3 * m):
        row[5 * n + 3 * m + i] = auxiliary[i]
    for i in range(n):
        row[i] = q[i]
        row[n + i] = v[i]
        row[2 * n + i] = a[i]
        row[3 * n + i] = vp[i]
        row[4 * n + i] = ap[i]
    for l in range(m):
        row[5 * n + l] = lam[l]
        row[5 * n + m + l] = sv[l]
        row[5 * n + 2 * m + l] = sa[l]


@entry(what="the simulation kernels")
def simulate(fn, ctx, m, method, steps, objectives, opts):
    """Status and number of steps done: from the state in the context, by an `Implicit` method.

    Objectives gain the integrals by the trapezoidal rule.
    """
    family, auxiliary, allowed = method.family, method.auxiliary, method.allowed
    ts, hs, stride, traj, iterations, flags = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts, steps.flags
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    par, g = par_(ctx), g_(ctx)
    tol, eps = opts[TOLERANCE], compliance(opts)
    flag_(ctx)[FREEDOMS] = 0
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        par[WC] = gh
        par[TIME] = ts[step + 1]
        size = guess(ctx, family, h, auxiliary, tol < TIGHT)
        status, count, near, one = iterate(fn, ctx, m, b, gh, tol, eps, allowed, size)
        iterations[step] = count
        if status != OK:
            return status, step
        status, projected = project_rates(fn, ctx, m, eps, one, opts[THRESHOLD])
        if status != OK:
            return status, step
        flags[step] = projected + near
        complete(family, ap_(ctx), auxiliary)
        observe_step(fn, ctx, ts[step + 1], h, g, kinds, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            store(traj[(step + 1) // stride], ctx, auxiliary, m)
    return OK, hs.shape[0]
