"""Derivatives of runs at acceleration level, with the Newmark family and explicit Runge-Kutta methods: direct and adjoint.

With Psi = Phidd + 2ξΩ Phid + Ω² Phi, q = q~ + βh² a, v = v~ + γh a, and β = γ = 0 in explicit stages (IDX-4; NMF-1 for
what β and γ are multiplied by with HHT and generalized-alpha):

    [T Phi_qᵀ; G -ε] [a'; lam'] = -[R_q q~' + C v~' + R_s; Psi_q q~' + Psi_v v~' + Psi_s]
    T = M + γh C + βh² R_q,  G = Phi_q + γh Psi_v + βh² Psi_q
"""

from kinegrad.kernels.constrained import ALL_DIGITS, rounds4, row_weights
from kinegrad.kernels.formulations.acceleration_level import COMPLIANCE, DAMPING, RANK, STIFFNESS
from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    minus4,
    objective_rows4,
    plus_transposed4,
    quadrature,
    right4,
    shift4,
)
from kinegrad.kernels.formulations.independent_rows import choose_rows
from kinegrad.kernels.formulations.matrix_r_derivatives import no_projection
from kinegrad.kernels.formulations.newmark_family import (
    by_acceleration,
    complete4,
    complete_transposed4,
    predict4,
    predict_transposed4,
)
from kinegrad.kernels.formulations.runge_kutta import (
    collect4,
    combine4,
    hand_back4,
    load_stage,
    place,
    seed4,
    stage_weights,
)
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.linalg import axpy4, get4, lu, put4
from kinegrad.kernels.products import FREEDOMS, LINEARISE, OBJECTIVE, PRODUCTS, PULLBACK, TIME, WEIGHT
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu_, eta_v_, eta_a_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu eta_v eta_a".split()
)
(lam_, sv_, sa_, yp_, yv_, ya_) = PRODUCTS.viewers(*"lam sv sa yp yv ya".split())
(M_, C_, R_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_) = PRODUCTS.viewers(
    *"M C R_z Phi_z Phid_z Phidd_z g_z g_v g_a".split()
)
J_, Phidd_v_, ys_ = PRODUCTS.viewers("J", "Phidd_v", "ys")
(Psi_v_, Psi_w_, Psi_z_, T_, T_lu_, pivots_, weights_, w_, z_, D_, ease_) = PRODUCTS.viewers(
    *"Psi_v Psi_w Psi_z T T_lu T_pivots weights w z D ease".split()
)
row_scale_, scale_ = PRODUCTS.viewers("row_scale", "scale")
(r1_, x4_, w4_, U4_, H4_, E4_, r2_, y4_, z4_, B4_) = PRODUCTS.viewers(*"r1 x4 w4 U4 H4 E4 r2 y4 z4 B4".split())


@kernel
def partials(M, C, R_z, J, Phi_z, Phid_z, Phidd_z, Phidd_v, m, n, b, gh, opts, P, S, T, G, A, pivots, ease, w, z, D):
    """Status; P = Psi_z, S = Psi_v, T, G, weights D, and the factors of T + JᵀDG in A (IDX-4)."""
    for l in range(m):
        for j in range(P.shape[1]):
            P[l, j] = Phidd_z[l, j] + opts[DAMPING] * Phid_z[l, j] + opts[STIFFNESS] * Phi_z[l, j]
        for j in range(n):
            S[l, j] = Phidd_v[l, j] + opts[DAMPING] * J[l, j]
            G[l, j] = J[l, j] + gh * S[l, j] + b * P[l, j]
    row_weights(M, J, m, n, opts[COMPLIANCE], ease, w, z, D)
    for i in range(n):
        for j in range(n):
            T[i, j] = M[i, j] + gh * C[i, j] + b * R_z[i, j]
            A[i, j] = T[i, j]
    for l in range(m):
        for i in range(n):
            t = D[l] * J[l, i]
            for j in range(n):
                A[i, j] += t * G[l, j]
    return lu(A, pivots)


@kernel
def solve4(T, J, G, n, eps, D, A, pivots, transposed, R1, R2, X, Y, W, Z):
    """X, Y with [T Jᵀ; G -ε] [X; Y] = [R1; R2] for four columns, or with [Tᵀ Gᵀ; J -ε]: (LIN-3) with two sorts of rows."""
    if transposed:
        rounds4(T, G, J, n, eps, D, A, pivots, True, ALL_DIGITS, R1, R2, X, Y, W, Z)
    else:
        rounds4(T, J, G, n, eps, D, A, pivots, False, ALL_DIGITS, R1, R2, X, Y, W, Z)


@kernel
def no_covectors(ctx):
    """Nothing is pulled back but what `pull` puts there."""
    eta_v, eta_a, yp, yv, ya, ys = eta_v_(ctx), eta_a_(ctx), yp_(ctx), yv_(ctx), ya_(ctx), ys_(ctx)
    for i in range(eta_v.shape[0]):
        eta_v[i], eta_a[i] = 0.0, 0.0
    for l in range(yp.shape[0]):
        yp[l], yv[l], ya[l], ys[l] = 0.0, 0.0, 0.0, 0.0


@kernel
def pull(fn, ctx, m, opts, first, used, U, B, weights):
    """psi_s gains what the columns of U and B, adjoints of the equations of motion and of the stabilised rows, give (IDX-5)."""
    par, flag, mu, yp, yv, ya = par_(ctx), flag_(ctx), mu_(ctx), yp_(ctx), yv_(ctx), ya_(ctx)
    for k in range(used):
        for j in range(mu.shape[0]):
            mu[j] = -U[j, k]
        for l in range(m):
            ya[l] = -B[l, k]
            yv[l] = opts[DAMPING] * ya[l]
            yp[l] = opts[STIFFNESS] * ya[l]
        flag[OBJECTIVE] = first + k
        par[WEIGHT] = weights[first + k]
        call(fn[PULLBACK], ctx)


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, opts, rates, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (IDX-4).

    The variation holds the derivatives of q, v, a and of the auxiliary acceleration by the directions at row 0 and leaves with
    those at the end; Runge-Kutta methods use the first two.  grad (o, p) gains the objectives of rows 1 on (Newmark), or of
    all stages.  `rates` (2, stages, blocks, n, 4) is scratch.
    """
    explicit, family = rule.explicit, rule.family
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, final, traj = segment.ts, segment.hs, segment.after, segment.final, segment.traj
    Q, V, A_, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam, M, C = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), M_(ctx), C_(ctx)
    R_z, Phi_z, Phid_z, Phidd_z, Phidd_v = R_z_(ctx), Phi_z_(ctx), Phid_z_(ctx), Phidd_z_(ctx), Phidd_v_(ctx)
    g_z, g_v, g_a = g_z_(ctx), g_v_(ctx), g_a_(ctx)
    n, p, no, s, KV, KA = q.shape[0], grad.shape[1], g.shape[0], rb.shape[0], rates[0], rates[1]
    J, S, G, P, T, A, pivots = J_(ctx)[:m], Psi_v_(ctx), Psi_w_(ctx), Psi_z_(ctx), T_(ctx), T_lu_(ctx), pivots_(ctx)
    r1, w, r2, y, z = r1_(ctx), w4_(ctx), r2_(ctx), y4_(ctx), z4_(ctx)
    qk, vk, ak, weights = x4_(ctx), H4_(ctx), E4_(ctx), weights_(ctx)
    wn, wm, D = w_(ctx), z_(ctx), D_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps):
        h = hs[step]
        if opts[RANK] < m:
            load_stage(traj[step], 0, q, v, a, vp, ap, lam, m)
            par[TIME] = ts[step]
            call(fn[LINEARISE], ctx)
            choose_rows(J, m, n, int(opts[RANK]), row_scale_(ctx), scale_(ctx), Psi_w_(ctx), ease_(ctx))
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        at_end = step == steps - 1 and after == 0.0
        for i in range((s + 1 if at_end else s) if explicit else 1):
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            if explicit:
                stage_weights(i, h, rb, final, weights)
            else:
                quadrature(hs, step + 1, after, final, weights)
            call(fn[LINEARISE], ctx)
            status = partials(
                M,
                C,
                R_z,
                J,
                Phi_z,
                Phid_z,
                Phidd_z,
                Phidd_v,
                m,
                n,
                b,
                gh,
                opts,
                P,
                S,
                T,
                G,
                A,
                pivots,
                ease_(ctx),
                wn,
                wm,
                D,
            )
            if status != OK:
                return status, step
            for e in range(Q.shape[0]):
                if explicit:
                    part = RA[i] if i < s else rb
                    combine4(h, part, i, Q[e], KV, e, n, qk)
                    combine4(h, part, i, V[e], KA, e, n, vk)
                else:
                    predict4(family, h, n, Q[e], V[e], A_[e], X[e])
                    for j in range(n):
                        put4(qk, j, get4(Q[e], j))
                        put4(vk, j, get4(V[e], j))
                right4(R_z, n, n, n + 4 * e, qk, 1.0, r1)
                minus4(C, n, n, 1.0, vk, r1)
                right4(P, m, n, n + 4 * e, qk, 1.0, r2)
                minus4(S, m, n, 1.0, vk, r2)
                solve4(T, J, G, n, opts[COMPLIANCE], D, A, pivots, False, r1, r2, ak, y, w, z)
                shift4(n, b, ak, qk)
                shift4(n, gh, ak, vk)
                objective_rows4(no, n, n + 4 * e, g_z, g_v, g_a, qk, vk, ak, weights, p, grad)
                for j in range(n):
                    if not explicit:
                        put4(Q[e], j, get4(qk, j))
                        put4(V[e], j, get4(vk, j))
                        put4(A_[e], j, get4(ak, j))
                    elif i < s:
                        put4(KV[i, e], j, get4(vk, j))
                        put4(KA[i, e], j, get4(ak, j))
                if not explicit:
                    complete4(family, n, ak, X[e])
        if explicit:
            for e in range(Q.shape[0]):
                combine4(h, rb, s, Q[e], KV, e, n, Q[e])
                combine4(h, rb, s, V[e], KA, e, n, V[e])
    return OK, steps


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, rule, segment, opts, rates, variation):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (IDX-5).

    The variation holds the adjoints at the end of the segment, then at its beginning.  `rates` is scratch as in `direct`.
    """
    explicit, family = rule.explicit, rule.family
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, final, traj = segment.ts, segment.hs, segment.after, segment.final, segment.traj
    Q, V, A_, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam, M, C = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), M_(ctx), C_(ctx)
    R_z, Phi_z, Phid_z, Phidd_z, Phidd_v = R_z_(ctx), Phi_z_(ctx), Phid_z_(ctx), Phidd_z_(ctx), Phidd_v_(ctx)
    g_z, g_v, g_a = g_z_(ctx), g_v_(ctx), g_a_(ctx)
    n, no, s, YQ, YV = q.shape[0], g.shape[0], rb.shape[0], rates[0], rates[1]
    J, S, G, P, T, A, pivots = J_(ctx)[:m], Psi_v_(ctx), Psi_w_(ctx), Psi_z_(ctx), T_(ctx), T_lu_(ctx), pivots_(ctx)
    r1, w, U, zero, B, z = r1_(ctx), w4_(ctx), U4_(ctx), r2_(ctx), B4_(ctx), z4_(ctx)
    qo, vo, ao, weights = x4_(ctx), H4_(ctx), E4_(ctx), weights_(ctx)
    clear4(zero)
    wn, wm, D = w_(ctx), z_(ctx), D_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    no_covectors(ctx)
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps - 1, -1, -1):
        h = hs[step]
        if opts[RANK] < m:
            load_stage(traj[step], 0, q, v, a, vp, ap, lam, m)
            par[TIME] = ts[step]
            call(fn[LINEARISE], ctx)
            choose_rows(J, m, n, int(opts[RANK]), row_scale_(ctx), scale_(ctx), Psi_w_(ctx), ease_(ctx))
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        at_end = step == steps - 1 and after == 0.0
        for i in range((s if at_end else s - 1) if explicit else 0, -1, -1):
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            if explicit:
                stage_weights(i, h, rb, final, weights)
            else:
                quadrature(hs, step + 1, after, final, weights)
            call(fn[LINEARISE], ctx)
            status = partials(
                M,
                C,
                R_z,
                J,
                Phi_z,
                Phid_z,
                Phidd_z,
                Phidd_v,
                m,
                n,
                b,
                gh,
                opts,
                P,
                S,
                T,
                G,
                A,
                pivots,
                ease_(ctx),
                wn,
                wm,
                D,
            )
            if status != OK:
                return status, step
            for e in range(Q.shape[0]):
                # adjoints of q, v, a of this state or stage, from what follows it
                clear4(qo)
                clear4(vo)
                clear4(ao)
                if not explicit:
                    complete_transposed4(family, n, A_[e], X[e])
                    shift4(n, 1.0, Q[e], qo)
                    shift4(n, 1.0, V[e], vo)
                    shift4(n, 1.0, A_[e], ao)
                elif i < s:
                    seed4(i, h, RA, rb, Q[e], YQ, e, n, vo)
                    seed4(i, h, RA, rb, V[e], YV, e, n, ao)
                used = min(4, no - 4 * e)
                add_objectives4(4 * e, used, n, g_z, g_v, g_a, weights, qo, vo, ao)
                for j in range(n):
                    put4(r1, j, axpy4(b, get4(qo, j), axpy4(gh, get4(vo, j), get4(ao, j))))
                solve4(T, J, G, n, opts[COMPLIANCE], D, A, pivots, True, r1, zero, U, B, w, z)
                plus_transposed4(R_z, n, n, -1.0, U, qo)
                plus_transposed4(C, n, n, -1.0, U, vo)
                plus_transposed4(P, m, n, -1.0, B, qo)
                plus_transposed4(S, m, n, -1.0, B, vo)
                hand_back4(explicit, i, s, e, n, qo, YQ, Q[e])
                hand_back4(explicit, i, s, e, n, vo, YV, V[e])
                if not explicit:
                    predict_transposed4(family, h, n, Q[e], V[e], A_[e], X[e])
                pull(fn, ctx, m, opts, 4 * e, used, U, B, weights)
        if explicit:
            for e in range(Q.shape[0]):
                collect4(s, YQ, e, n, Q[e])
                collect4(s, YV, e, n, V[e])
    return OK, 0
