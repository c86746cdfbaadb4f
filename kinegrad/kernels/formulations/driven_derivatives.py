"""Derivatives of a motion by drivers at its instants, direct and adjoint, by the factors of the rows (DRV-4, DRV-9, DRV-10).

An instant that was bridged, at a singular position, takes its derivatives from the nearest ones before and beyond that were
not, by the polynomial of the bridge (DRV-11).  Columns of `found` (3, 3, n, p): q', v', a' at an instant, and at those two.
"""

from math import isfinite

from kinegrad.kernels.formulations.acceleration_level_derivatives import no_covectors
from kinegrad.kernels.formulations.driven import BRIDGED, between, quintic
from kinegrad.kernels.formulations.matrix_r_derivatives import no_projection
from kinegrad.kernels.formulations.objectives import quadrature
from kinegrad.kernels.formulations.runge_kutta import load_stage
from kinegrad.kernels.jit import entry, kernel, real
from kinegrad.kernels.orthogonal import factor, solve, solve_transposed
from kinegrad.kernels.products import (
    FREEDOMS,
    LINEARISE,
    OBJECTIVE,
    PRODUCTS,
    PULLBACK,
    STATUS,
    TIME,
    WEIGHT,
    full_viewers,
)
from kinegrad.kernels.status import NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, lam_) = PRODUCTS.viewers(*"par flag g q v a vp ap lam".split())
(dv_, da_, sv_, sa_, mu_, yp_, yv_, ya_, weights_) = PRODUCTS.viewers(*"dv da sv sa mu yp yv ya weights".split())
(Phi_s_, Phid_s_, Phidd_s_, R_s_, g_q_, g_s_, g_v_, g_a_) = PRODUCTS.viewers(
    *"Phi_s Phid_s Phidd_s R_s g_q g_s g_v g_a".split()
)
r_, z_, x_, y_, w_, qt_ = PRODUCTS.viewers(*"r z x y w qt".split())
J_, Phid_q_, Phidd_q_, Phidd_v_, M_, C_, R_q_ = full_viewers(*"J Phid_q Phidd_q Phidd_v M C R_q".split())

OWN, BEFORE, BEYOND = range(3)
POSITIONS, VELOCITIES, ACCELERATIONS = range(3)


@kernel
def ready(ctx):
    """Nothing is projected, pulled back or held but what is put there."""
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    no_covectors(ctx)
    mu = mu_(ctx)
    for i in range(mu.shape[0]):
        mu[i] = 0.0
    flag_(ctx)[FREEDOMS] = 0


@kernel
def linearised(fn, ctx, F, segment, i):
    """Status and rank: instant i in the context with all partials, and the factors of its rows."""
    n, m = F.A.shape
    load_stage(segment.traj[i], 0, q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), m)
    par_(ctx)[TIME] = segment.ts[i]
    call(fn[LINEARISE], ctx)
    if flag_(ctx)[STATUS] != OK:
        return flag_(ctx)[STATUS], 0
    J = J_(ctx)
    rank = factor(J, F)
    if rank < n:
        for l in range(m):
            for j in range(n):
                if not isfinite(real(J[l, j])):
                    return NOT_FINITE, 0
    return OK, rank


@kernel
def is_bridged(segment, i):
    """Whether instant i was bridged."""
    return i > 0 and segment.flags[i - 1] & BRIDGED != 0


@kernel
def ends_of(segment, i):
    """The instants next to i that were not bridged; the second is none, below zero, at the end of the motion."""
    before, beyond, count = i, i, segment.traj.shape[0]
    while is_bridged(segment, before):
        before -= 1
    while beyond < count and is_bridged(segment, beyond):
        beyond += 1
    return before, beyond if beyond < count else -1


@kernel
def solve_refined(J, F, rank, b, x, more):
    """x with J x = b, refined once, so that what does not change is zero; b is used up, and `more` (n) is scratch."""
    n, m = F.A.shape
    solve(F, rank, b, x)
    for l in range(m):
        s = b[l]
        for j in range(n):
            s -= J[l, j] * x[j]
        b[l] = s
    solve(F, rank, b, more)
    for j in range(n):
        x[j] += more[j]


@kernel
def vary(ctx, F, rank, p, X):
    """X (3, n, p) = q', v', a' by p directions at an instant that is linearised (DRV-4)."""
    Phid_q, Phidd_q, Phidd_v = Phid_q_(ctx), Phidd_q_(ctx), Phidd_v_(ctx)
    Phi_s, Phid_s, Phidd_s = Phi_s_(ctx), Phid_s_(ctx), Phidd_s_(ctx)
    J, r, x, y, w, more = J_(ctx), r_(ctx), x_(ctx), y_(ctx), w_(ctx), qt_(ctx)
    n, m = F.A.shape
    for k in range(p):
        for l in range(m):
            r[l] = -Phi_s[l, k]
        solve_refined(J, F, rank, r, x, more)
        for l in range(m):
            s = -Phid_s[l, k]
            for j in range(n):
                s -= Phid_q[l, j] * x[j]
            r[l] = s
        solve_refined(J, F, rank, r, y, more)
        for l in range(m):
            s = -Phidd_s[l, k]
            for j in range(n):
                s -= Phidd_q[l, j] * x[j] + Phidd_v[l, j] * y[j]
            r[l] = s
        solve_refined(J, F, rank, r, w, more)
        for j in range(n):
            X[POSITIONS, j, k] = x[j]
            X[VELOCITIES, j, k] = y[j]
            X[ACCELERATIONS, j, k] = w[j]


@kernel
def vary_instant(fn, ctx, F, segment, i, p, found):
    """Status and rank; q', v', a' of instant i, which is linearised in the context, its own or those of a bridge (DRV-11)."""
    n = F.A.shape[0]
    before, beyond = ends_of(segment, i)
    if beyond < 0 or before == i:
        status, rank = linearised(fn, ctx, F, segment, i)
        if status == OK:
            vary(ctx, F, rank, p, found[OWN])
        return status, rank
    for side in range(BEFORE, BEYOND + 1):
        status, rank = linearised(fn, ctx, F, segment, before if side == BEFORE else beyond)
        if status != OK:
            return status, rank
        vary(ctx, F, rank, p, found[side])
    status, rank = linearised(fn, ctx, F, segment, i)
    t, t0, t1, L, B, X = segment.ts[i], segment.ts[before], segment.ts[beyond], found[BEFORE], found[BEYOND], found[OWN]
    for j in range(n):
        for k in range(p):
            X[0, j, k], X[1, j, k], X[2, j, k] = between(
                t, t0, L[0, j], L[1, j], L[2, j], t1, B[0, j], B[1, j], B[2, j], k
            )
    return status, rank


@kernel
def objective_slope(ctx, n, o, k, X):
    """The derivative of integrand o by direction k (DRV-9)."""
    g_q, g_v, g_a = g_q_(ctx), g_v_(ctx), g_a_(ctx)
    s = g_s_(ctx)[o, k]
    for j in range(n):
        s += g_q[o, j] * X[POSITIONS, j, k] + g_v[o, j] * X[VELOCITIES, j, k] + g_a[o, j] * X[ACCELERATIONS, j, k]
    return s


@entry(what="the kinematics kernels")
def direct(fn, ctx, F, segment, first, last, found, grad):
    """Status and instant: grad (o, p) gains the derivatives of the objectives at instants `first` to before `last` (DRV-9)."""
    n, (no, p), weights = F.A.shape[0], grad.shape, weights_(ctx)
    ready(ctx)
    for i in range(first, last):
        status, _ = vary_instant(fn, ctx, F, segment, i, p, found)
        if status != OK:
            return status, i
        quadrature(segment.ts, segment.hs, i, 0.0, segment.kinds, g_(ctx), weights)
        for o in range(no):
            if weights[o] != 0.0:
                for k in range(p):
                    grad[o, k] += weights[o] * objective_slope(ctx, n, o, k, found[OWN])
    return OK, last


@entry(what="the kinematics kernels")
def along(fn, ctx, F, segment, instants, found, states, multipliers, slopes):
    """Status and instant: at each of some instants q', v', a' (3, n, p), lam' (m, p) and dg/drho (o, p) (DRV-4, DRV-9)."""
    n, m = F.A.shape
    p, M, C, R_q, R_s = found.shape[3], M_(ctx), C_(ctx), R_q_(ctx), R_s_(ctx)
    x, z = x_(ctx), z_(ctx)
    ready(ctx)
    for row in range(instants.shape[0]):
        status, rank = vary_instant(fn, ctx, F, segment, instants[row], p, found)
        if status != OK:
            return status, instants[row]
        X = found[OWN]
        for k in range(p):
            for j in range(n):
                s = -R_s[j, k]
                for l in range(n):
                    s -= R_q[j, l] * X[0, l, k] + C[j, l] * X[1, l, k] + M[j, l] * X[2, l, k]
                x[j] = s
                for level in range(3):
                    states[row, level, j, k] = X[level, j, k]
            solve_transposed(F, rank, x, z)
            for l in range(m):
                multipliers[row, l, k] = z[l]
            for o in range(slopes.shape[1]):
                slopes[row, o, k] = objective_slope(ctx, n, o, k, X)
    return OK, instants.shape[0]


@kernel
def minus_transposed(A, m, y, x):
    """x -= Aᵀ y, with the first m rows of A."""
    for l in range(m):
        if y[l] != 0.0:
            for j in range(x.shape[0]):
                x[j] -= A[l, j] * y[l]


@kernel
def reach_back(F, rank, x, y):
    """y with Phi_qᵀ y = x."""
    given = False
    for j in range(x.shape[0]):
        given = given or x[j] != 0.0
    if given:
        solve_transposed(F, rank, x, y)
    else:
        for l in range(F.A.shape[1]):
            y[l] = 0.0


@kernel
def pull(fn, ctx, F, rank, o, weight):
    """psi_s of objective o gains what its derivatives x, y, w by q, v, a of an instant give through the rows, and `weight`
    times those by slots (DRV-10)."""
    m = F.A.shape[1]
    x, y, w, yp, yv, ya = x_(ctx), y_(ctx), w_(ctx), yp_(ctx), yv_(ctx), ya_(ctx)
    reach_back(F, rank, w, ya)
    minus_transposed(Phidd_v_(ctx), m, ya, y)
    minus_transposed(Phidd_q_(ctx), m, ya, x)
    reach_back(F, rank, y, yv)
    minus_transposed(Phid_q_(ctx), m, yv, x)
    reach_back(F, rank, x, yp)
    for l in range(m):
        yp[l], yv[l], ya[l] = -yp[l], -yv[l], -ya[l]
    flag_(ctx)[OBJECTIVE] = o
    par_(ctx)[WEIGHT] = weight
    call(fn[PULLBACK], ctx)


@kernel
def hand_over(ctx, o, t, t0, t1, side, held):
    """x, y, w of objective o at an end of a bridge, from `held` at time t within: the transpose of `between` (DRV-11)."""
    s, h = (t - t0) / (t1 - t0), t1 - t0
    for level in range(3):
        u = 1.0 if level == POSITIONS else 0.0
        ud = 1.0 if level == VELOCITIES else 0.0
        udd = 1.0 if level == ACCELERATIONS else 0.0
        if side == BEFORE:
            c, cd, cdd = quintic(s, h, u, ud, udd, 0.0, 0.0, 0.0)
        else:
            c, cd, cdd = quintic(s, h, 0.0, 0.0, 0.0, u, ud, udd)
        out = x_(ctx) if level == POSITIONS else (y_(ctx) if level == VELOCITIES else w_(ctx))
        for j in range(out.shape[0]):
            out[j] = c * held[0, o, j] + cd * held[1, o, j] + cdd * held[2, o, j]


@entry(what="the kinematics kernels")
def adjoint(fn, ctx, F, segment, first, last, held):
    """Status and instant: psi_s of the context gains the derivatives by slots of the objectives at instants `first` to before
    `last`, the transpose of `direct` (DRV-10).  `held` (3, o, n) is scratch."""
    g, g_q, g_v, g_a, x, y, w = g_(ctx), g_q_(ctx), g_v_(ctx), g_a_(ctx), x_(ctx), y_(ctx), w_(ctx)
    n, ts, weights = F.A.shape[0], segment.ts, weights_(ctx)
    ready(ctx)
    for i in range(first, last):
        before, beyond = ends_of(segment, i)
        bridged = before != i and beyond >= 0
        status, rank = linearised(fn, ctx, F, segment, i)
        if status != OK:
            return status, i
        quadrature(ts, segment.hs, i, 0.0, segment.kinds, g, weights)
        for o in range(g.shape[0]):
            if weights[o] != 0.0:
                for j in range(n):
                    x[j], y[j], w[j] = weights[o] * g_q[o, j], weights[o] * g_v[o, j], weights[o] * g_a[o, j]
                    if bridged:
                        held[0, o, j], held[1, o, j], held[2, o, j] = x[j], y[j], w[j]
                        x[j], y[j], w[j] = 0.0, 0.0, 0.0
                pull(fn, ctx, F, rank, o, weights[o])
        for side in range(BEFORE, BEYOND + 1 if bridged else BEFORE):
            status, rank = linearised(fn, ctx, F, segment, before if side == BEFORE else beyond)
            if status != OK:
                return status, i
            for o in range(g.shape[0]):
                if weights[o] != 0.0:
                    hand_over(ctx, o, ts[i], ts[before], ts[beyond], side, held)
                    pull(fn, ctx, F, rank, o, 0.0)
    return OK, last
