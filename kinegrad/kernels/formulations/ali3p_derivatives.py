"""ALI3-P with the Newmark family, differentiated: direct and adjoint along a stored trajectory (ALI-3, ALI-4)."""

from kinegrad.kernels.constrained import enough_for, note, patterns, rounds4, row_weights, soft_weights
from kinegrad.kernels.formulations.ali3p import (
    FIRM,
    LOOSE,
    PROJECTED_A,
    PROJECTED_V,
    compliance,
    hold_firmly,
    hold_loosely,
)
from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    minus_copy4,
    objective_rows4,
    shift4,
)
from kinegrad.kernels.formulations.newmark_family import (
    by_acceleration,
    complete4,
    complete_transposed4,
    predict4,
    predict_transposed4,
)
from kinegrad.kernels.formulations.objectives import quadrature
from kinegrad.kernels.four_adjoints import collect, pull4
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.products import FREEDOMS, LINEARISE, PRODUCTS, TIME
from kinegrad.kernels.solvers.factors import factor_general, mass_factors, tangent_factors
from kinegrad.kernels.solvers.multiply import minus4, minus_transposed4, right4
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu4_, eta_v4_, eta_a4_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu4 eta_v4 eta_a4".split()
)
(lam_, sv_, sa_, yp4_, yv4_, ya4_, ys4_, level_, square_, wide_, alike_) = PRODUCTS.viewers(
    *"lam sv sa yp4 yv4 ya4 ys4 level square wide alike".split()
)
(M_, C_, J_, R_q_, Nv_q_, Na_q_, Phi_q_, Phid_q_, Phidd_q_, Phids_q_, Phidd_v_) = PRODUCTS.viewers(
    *"M C J R_q Nv_q Na_q Phi_q Phid_q Phidd_q Phids_q Phidd_v".split()
)
(R_s_, Nv_s_, Na_s_, Phi_s_, Phid_s_, Phidd_s_, Phids_s_, g_q_, g_s_, g_v_, g_a_) = PRODUCTS.viewers(
    *"R_s Nv_s Na_s Phi_s Phid_s Phidd_s Phids_s g_q g_s g_v g_a".split()
)
(T_, E_q_, E_s_, E_v_, E_a_, D_, Dp_, w_, z_, ease_, sizes_, weights_, soft_) = PRODUCTS.viewers(
    *"T E_q E_s E_v E_a D Dp w z ease sizes weights soft".split()
)
(r1_, x4_, w4_, U_, H_, E_, r2_, y4_, z4_, P_, S_, B_) = PRODUCTS.viewers(
    *"r1 x4 w4 U4 H4 E4 r2 y4 z4 P4 D4 B4".split()
)


@kernel
def has_velocity_rows(level, m):
    """Whether a row is of velocities."""
    found = False
    for l in range(m):
        found = found or level[l] != 0
    return found


@kernel
def load(row, q, v, a, vp, ap, dv, da, lam, sv, sa, m):
    """The state of a row, and dv, da."""
    n = q.shape[0]
    for i in range(n):
        q[i] = row[i]
        v[i] = row[n + i]
        a[i] = row[2 * n + i]
        vp[i] = row[3 * n + i]
        ap[i] = row[4 * n + i]
        dv[i] = vp[i] - v[i]
        da[i] = ap[i] - a[i]
    for l in range(m):
        lam[l] = row[5 * n + l]
        sv[l] = row[5 * n + m + l]
        sa[l] = row[5 * n + 2 * m + l]


@kernel
def step_rows(ctx, m, b, gh):
    """The rows of a step, in units of accelerations, by q, by ρ, by v, and by a through q and v (ALI-6)."""
    level, wide, Phi_q, Phi_s, Phids_q, Phids_s = (
        level_(ctx), wide_(ctx), Phi_q_(ctx), Phi_s_(ctx), Phids_q_(ctx), Phids_s_(ctx),
    )  # fmt: skip
    J, by_q, by_s, by_v, by_a = J_(ctx), E_q_(ctx), E_s_(ctx), E_v_(ctx), E_a_(ctx)
    for l in range(m):
        of_velocities = level[l] != 0
        for i in range(end_of(wide, l), end_of(wide, l + 1)):
            by_q[i] = Phids_q[i] / gh if of_velocities else Phi_q[i] / b
            by_v[i] = J[i] / gh if of_velocities else 0.0 * J[i]
            by_a[i] = J[i] + b * by_q[i] if of_velocities else J[i]
        for p in range(by_s.shape[1]):
            by_s[l, p] = Phids_s[l, p] / gh if of_velocities else Phi_s[l, p] / b


@kernel
def linearised(fn, ctx, m, step, ts, eps, b, gh, traj, flags, mixed):
    """Status; the context holds the partials at row `step` of the trajectory, T = M + γhC + βh²R_q, its weights D and the
    factors of its augmented form, the projections' weights Dp and factors."""
    T, D, Dp, ease, pat = T_(ctx), D_(ctx), Dp_(ctx), ease_(ctx), patterns(ctx)
    M, C, R_q, J = M_(ctx), C_(ctx), R_q_(ctx), J_(ctx)
    par_(ctx)[TIME] = ts[step]
    load(
        traj[step], q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), dv_(ctx), da_(ctx), lam_(ctx), sv_(ctx), sa_(ctx), m
    )  # fmt: skip
    call(fn[LINEARISE], ctx)
    for i in range(T.shape[0]):
        T[i] = M[i] + gh * C[i] + b * R_q[i]
    row_weights(pat, M, J, m, 0.0, alike_(ctx), ease, w_(ctx), z_(ctx), D)
    soft_weights(pat, m, eps, ease, z_(ctx), D, Dp)
    if flags[step - 1] & FIRM:
        hold_firmly(m, eps, ease, soft_(ctx), False, D, Dp)
    if flags[step - 1] & LOOSE:
        hold_loosely(m, z_(ctx), sizes_(ctx), ease, D, Dp)
    if mixed:
        step_rows(ctx, m, b, gh)
    G = E_a_(ctx) if mixed else J
    status = factor_general(tangent_factors(ctx), T, J, G, m, D)
    if status != OK and flags[step - 1] & FIRM:
        row_weights(pat, M, J, m, 0.0, alike_(ctx), ease, w_(ctx), z_(ctx), D)
        status = factor_general(tangent_factors(ctx), T, J, G, m, D)
    return status if status != OK else factor_general(mass_factors(ctx), M, J, J, m, Dp)


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, opts, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (ALI-3).

    The variation holds the derivatives of q, vp, ap and of the auxiliary acceleration by the directions at row 0 and leaves
    with those at the end; grad (o, p) gains the objectives of rows 1 on.
    """
    ts, hs, after, kinds, traj, flags = (
        segment.ts,
        segment.hs,
        segment.after,
        segment.kinds,
        segment.traj,
        segment.flags,
    )
    family, Q, V, Acc, X = rule.family, variation.q, variation.v, variation.a, variation.x
    M, C, J, R_q, R_s, Phidd_v, T = M_(ctx), C_(ctx), J_(ctx), R_q_(ctx), R_s_(ctx), Phidd_v_(ctx), T_(ctx)
    square, wide, pat = square_(ctx), wide_(ctx), patterns(ctx)
    g_q, g_s, g_v, g_a = g_q_(ctx), g_s_(ctx), g_v_(ctx), g_a_(ctx)
    mixed = has_velocity_rows(level_(ctx), m)
    by_q, by_s, by_v, by_a = (
        E_q_(ctx) if mixed else Phi_q_(ctx), E_s_(ctx) if mixed else Phi_s_(ctx), E_v_(ctx), E_a_(ctx) if mixed else J,
    )  # fmt: skip
    n, p, no, weights = q_(ctx).shape[0], grad.shape[1], g_q.shape[0], weights_(ctx)
    tangent, mass = tangent_factors(ctx), mass_factors(ctx)
    r1, x, w, r2, y, z = r1_(ctx), x4_(ctx), w4_(ctx), r2_(ctx), y4_(ctx), z4_(ctx)
    eps, weights_d, weights_p = compliance(opts), D_(ctx), Dp_(ctx)
    flag = flag_(ctx)
    flag[FREEDOMS] = 0
    for step in range(1, hs.shape[0] + 1):
        h = hs[step - 1]
        b, gh = by_acceleration(family, h)
        of_rows = 1.0 if mixed else 1.0 / b
        status = linearised(fn, ctx, m, step, ts, eps, b, gh, traj, flags, mixed)
        if status != OK:
            return status, step
        enough = enough_for(pat, M)
        yields, rate_yields = (-1.0, -1.0) if flags[step - 1] & LOOSE else (0.0, eps)
        quadrature(ts, hs, step, after, kinds, g_(ctx), weights)
        for e in range(Q.shape[0]):
            k = 4 * e
            qk, vk, ak = Q[e], V[e], Acc[e]
            predict4(family, h, n, qk, vk, ak, X[e])
            right4(square, R_q, R_s, n, k, qk, 1.0, r1)
            minus4(square, C, n, vk, r1)
            right4(wide, by_q, by_s, m, k, qk, of_rows, r2)
            if mixed:
                minus4(wide, by_v, m, vk, r2)
            note(flag, rounds4(pat, T, J, by_a, m, yields, weights_d, tangent, False, enough, r1, r2, ak, y, w, z))
            shift4(n, b, ak, qk)
            shift4(n, gh, ak, vk)
            if flags[step - 1] & PROJECTED_V:
                right4(square, Nv_q_(ctx), Nv_s_(ctx), n, k, qk, 1.0, r1)
                right4(wide, Phid_q_(ctx), Phid_s_(ctx), m, k, qk, 1.0, r2)
                minus4(wide, J, m, vk, r2)
                note(flag, rounds4(pat, M, J, J, m, rate_yields, weights_p, mass, False, enough, r1, r2, x, y, w, z))
                shift4(n, 1.0, x, vk)
            if flags[step - 1] & PROJECTED_A:
                right4(square, Na_q_(ctx), Na_s_(ctx), n, k, qk, 1.0, r1)
                right4(wide, Phidd_q_(ctx), Phidd_s_(ctx), m, k, qk, 1.0, r2)
                minus4(wide, J, m, ak, r2)
                minus4(wide, Phidd_v, m, vk, r2)
                note(flag, rounds4(pat, M, J, J, m, rate_yields, weights_p, mass, False, enough, r1, r2, x, y, w, z))
                shift4(n, 1.0, x, ak)
            complete4(family, n, ak, X[e])
            objective_rows4(no, n, k, g_q, g_s, g_v, g_a, qk, vk, ak, weights, p, grad)
    return OK, hs.shape[0]


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, rule, segment, opts, variation):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (ALI-4).

    The variation holds the adjoints of q, vp, ap and of the auxiliary acceleration at the end of the segment and leaves with
    those at its beginning.  Rows 1 on of the segment are swept.
    """
    ts, hs, after, kinds, traj, flags = (
        segment.ts,
        segment.hs,
        segment.after,
        segment.kinds,
        segment.traj,
        segment.flags,
    )
    family, Q, V, Acc, X = rule.family, variation.q, variation.v, variation.a, variation.x
    flag, M, C, J, R_q, T = flag_(ctx), M_(ctx), C_(ctx), J_(ctx), R_q_(ctx), T_(ctx)
    mu, eta_v, eta_a, yp, yv, ya, ys = mu4_(ctx), eta_v4_(ctx), eta_a4_(ctx), yp4_(ctx), yv4_(ctx), ya4_(ctx), ys4_(ctx)
    square, wide, pat, level = square_(ctx), wide_(ctx), patterns(ctx), level_(ctx)
    g_q, g_v, g_a = g_q_(ctx), g_v_(ctx), g_a_(ctx)
    mixed = has_velocity_rows(level, m)
    by_q, by_v, by_a = E_q_(ctx) if mixed else Phi_q_(ctx), E_v_(ctx), E_a_(ctx) if mixed else J
    n, no, weights = q_(ctx).shape[0], g_q.shape[0], weights_(ctx)
    tangent, mass = tangent_factors(ctx), mass_factors(ctx)
    r1, w, zero, z, U, H, E = r1_(ctx), w4_(ctx), r2_(ctx), z4_(ctx), U_(ctx), H_(ctx), E_(ctx)
    P, S, B = P_(ctx), S_(ctx), B_(ctx)
    clear4(zero)
    eps, weights_d, weights_p = compliance(opts), D_(ctx), Dp_(ctx)
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps, 0, -1):
        h = hs[step - 1]
        b, gh = by_acceleration(family, h)
        of_rows = 1.0 if mixed else 1.0 / b
        status = linearised(fn, ctx, m, step, ts, eps, b, gh, traj, flags, mixed)
        if status != OK:
            return status, step
        enough = enough_for(pat, M)
        yields, rate_yields = (-1.0, -1.0) if flags[step - 1] & LOOSE else (0.0, eps)
        quadrature(ts, hs, step, after, kinds, g_(ctx), weights)
        for e in range(Q.shape[0]):
            qo, vo, ao = Q[e], V[e], Acc[e]
            used = min(4, no - 4 * e)
            complete_transposed4(family, n, ao, X[e])
            add_objectives4(4 * e, used, n, g_q, g_v, g_a, weights, qo, vo, ao)
            if flags[step - 1] & PROJECTED_A:
                note(flag, rounds4(pat, M, J, J, m, rate_yields, weights_p, mass, False, enough, ao, zero, E, B, w, z))
                minus_transposed4(wide, J, m, 1.0, B, ao)
                minus_transposed4(wide, Phidd_v_(ctx), m, 1.0, B, vo)
                minus_transposed4(wide, Phidd_q_(ctx), m, 1.0, B, qo)
                minus_transposed4(square, Na_q_(ctx), n, 1.0, E, qo)
            else:
                clear4(E)
                clear4(B)
            if flags[step - 1] & PROJECTED_V:
                note(flag, rounds4(pat, M, J, J, m, rate_yields, weights_p, mass, False, enough, vo, zero, H, S, w, z))
                minus_transposed4(wide, J, m, 1.0, S, vo)
                minus_transposed4(wide, Phid_q_(ctx), m, 1.0, S, qo)
                minus_transposed4(square, Nv_q_(ctx), n, 1.0, H, qo)
            else:
                clear4(H)
                clear4(S)
            for i in range(n):
                put4(r1, i, axpy4(b, get4(qo, i), axpy4(gh, get4(vo, i), get4(ao, i))))
            note(flag, rounds4(pat, T, by_a, J, m, yields, weights_d, tangent, True, enough, r1, zero, U, P, w, z))
            minus_transposed4(wide, by_q, m, of_rows, P, qo)
            if mixed:
                minus_transposed4(wide, by_v, m, 1.0, P, vo)
            minus_transposed4(square, R_q, n, 1.0, U, qo)
            minus_transposed4(square, C, n, 1.0, U, vo)
            predict_transposed4(family, h, n, qo, vo, ao, X[e])
            minus_copy4(U, mu)
            minus_copy4(H, eta_v)
            minus_copy4(E, eta_a)
            minus_copy4(S, yv)
            minus_copy4(B, ya)
            for l in range(m):
                put4(yp, l, mul4(-1.0 / b if level[l] == 0 else 0.0, get4(P, l)))
                put4(ys, l, mul4(-1.0 / gh if level[l] == 1 else 0.0, get4(P, l)))
            pull4(fn, ctx, e, used, weights)
    collect(ctx)
    return OK, 0
