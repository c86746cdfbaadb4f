"""Derivatives of runs at acceleration level, with the Newmark family and explicit Runge-Kutta methods: direct and adjoint.

With Psi = Phidd + 2ξΩ Phid + Ω² Phi, q = q~ + βh² a, v = v~ + γh a, and β = γ = 0 in explicit stages (IDX-4; NMF-1 for
what β and γ are multiplied by with HHT and generalized-alpha):

    [T Phi_qᵀ; G -ε] [a'; lam'] = -[R_q q~' + C v~' + R_s; Psi_q q~' + Psi_v v~' + Psi_s]
    T = M + γh C + βh² R_q,  G = Phi_q + γh Psi_v + βh² Psi_q

In an explicit stage the matrix is [M Phi_qᵀ; Phi_q -ε]; the recursive formulation, where ε = 0, solves that by sweeps, in
functions FACTOR and SOLVE behind those of the set (REC-14).  A solver takes r1, r2 and leaves U4, B4, all in the context.
"""

from kinegrad.kernels.constrained import ALL_DIGITS, note, patterns, rounds4, row_weights
from kinegrad.kernels.formulations.acceleration_level import COMPLIANCE, DAMPING, RANK, STIFFNESS
from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    minus_copy4,
    objective_rows4,
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
from kinegrad.kernels.formulations.objectives import quadrature, stage_weights
from kinegrad.kernels.formulations.runge_kutta import (
    collect4,
    combine4,
    hand_back4,
    load_stage,
    place,
    seed4,
)
from kinegrad.kernels.four_adjoints import collect, pull4
from kinegrad.kernels.jit import entry, inlined, kernel
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.products import (
    FREEDOMS,
    LINEARISE,
    N_FUNCTIONS,
    PRODUCTS,
    STATUS,
    TIME,
)
from kinegrad.kernels.solvers.factors import factor_general, tangent_factors
from kinegrad.kernels.solvers.multiply import minus4, minus_transposed4, right4
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

# places, after the functions of the set, of those of a solver that is not the one of the patterns
FACTOR, SOLVE = N_FUNCTIONS, N_FUNCTIONS + 1

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu4_, eta_v4_, eta_a4_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu4 eta_v4 eta_a4".split()
)
(lam_, sv_, sa_, yp4_, yv4_, ya4_, ys4_, square_, wide_) = PRODUCTS.viewers(
    *"lam sv sa yp4 yv4 ya4 ys4 square wide".split()
)
(M_, C_, J_, R_q_, R_s_, Phi_q_, Phid_q_, Phidd_q_, Phidd_v_) = PRODUCTS.viewers(
    *"M C J R_q R_s Phi_q Phid_q Phidd_q Phidd_v".split()
)
(Phi_s_, Phid_s_, Phidd_s_, g_q_, g_s_, g_v_, g_a_) = PRODUCTS.viewers(*"Phi_s Phid_s Phidd_s g_q g_s g_v g_a".split())
(T_, E_q_, E_s_, E_v_, E_a_, weights_, w_, z_, D_, ease_, alike_) = PRODUCTS.viewers(
    *"T E_q E_s E_v E_a weights w z D ease alike".split()
)
(r1_, x4_, w4_, U4_, H4_, E4_, r2_, z4_, B4_) = PRODUCTS.viewers(*"r1 x4 w4 U4 H4 E4 r2 z4 B4".split())


@kernel
def linearised(fn, ctx, m, b, gh, opts):
    """Status; all partials at the stage in the context, Psi by q, ρ, v and a in E, and the factors of its equations (IDX-4)."""
    call(fn[LINEARISE], ctx)
    stabilised_rows(ctx, m, b, gh, opts)
    if len(fn) > FACTOR:
        call(fn[FACTOR], ctx)
        return flag_(ctx)[STATUS]
    M, C, R_q, T, J, D = M_(ctx), C_(ctx), R_q_(ctx), T_(ctx), J_(ctx), D_(ctx)
    row_weights(patterns(ctx), M, J, m, opts[COMPLIANCE], alike_(ctx), ease_(ctx), w_(ctx), z_(ctx), D)
    for i in range(T.shape[0]):
        T[i] = M[i] + gh * C[i] + b * R_q[i]
    return factor_general(tangent_factors(ctx), T, J, E_a_(ctx), m, D)


@kernel
def stabilised_rows(ctx, m, b, gh, opts):
    """Psi = Phidd + 2ξΩ Phid + Ω² Phi by q, ρ and v, and by a, through q and v too (IDX-4)."""
    Phi_q, Phid_q, Phidd_q, Phidd_v, J = Phi_q_(ctx), Phid_q_(ctx), Phidd_q_(ctx), Phidd_v_(ctx), J_(ctx)
    Phi_s, Phid_s, Phidd_s = Phi_s_(ctx), Phid_s_(ctx), Phidd_s_(ctx)
    E_q, E_s, E_v, E_a = E_q_(ctx), E_s_(ctx), E_v_(ctx), E_a_(ctx)
    damping, stiffness = opts[DAMPING], opts[STIFFNESS]
    for i in range(end_of(wide_(ctx), m)):
        E_q[i] = Phidd_q[i] + damping * Phid_q[i] + stiffness * Phi_q[i]
        E_v[i] = Phidd_v[i] + damping * J[i]
        E_a[i] = J[i] + gh * E_v[i] + b * E_q[i]
    for l in range(m):
        for p in range(E_s.shape[1]):
            E_s[l, p] = Phidd_s[l, p] + damping * Phid_s[l, p] + stiffness * Phi_s[l, p]


@inlined
def solve_stage4(fn, ctx, m, eps, transposed):
    """U4, B4 with [T Phi_qᵀ; G -ε] [U4; B4] = [r1; r2] for four columns, or with the transpose."""
    if len(fn) > SOLVE:
        call(fn[SOLVE], ctx)  # a symmetric matrix
    else:
        T, J, G, F, pat = T_(ctx), J_(ctx), E_a_(ctx), tangent_factors(ctx), patterns(ctx)
        r1, r2, U, B, w, z, D = r1_(ctx), r2_(ctx), U4_(ctx), B4_(ctx), w4_(ctx), z4_(ctx), D_(ctx)
        left, right = (G, J) if transposed else (J, G)
        note(flag_(ctx), rounds4(pat, T, left, right, m, eps, D, F, transposed, ALL_DIGITS, r1, r2, U, B, w, z))


@kernel
def stage_back4(fn, ctx, m, b, gh, eps, Q, V, A):
    """Q, V, adjoints of q and v of a state, become those of what it was solved from; A is that of its accelerations, and r2
    that of its multipliers.  U4, B4 are left as adjoints of its equations (IDX-5)."""
    square, wide, r1, n = square_(ctx), wide_(ctx), r1_(ctx), Q.shape[0]
    for j in range(n):
        put4(r1, j, axpy4(b, get4(Q, j), axpy4(gh, get4(V, j), get4(A, j))))
    solve_stage4(fn, ctx, m, eps, True)
    minus_transposed4(square, R_q_(ctx), n, 1.0, U4_(ctx), Q)
    minus_transposed4(square, C_(ctx), n, 1.0, U4_(ctx), V)
    minus_transposed4(wide, E_q_(ctx), m, 1.0, B4_(ctx), Q)
    minus_transposed4(wide, E_v_(ctx), m, 1.0, B4_(ctx), V)


@kernel
def no_covectors(ctx):
    """Nothing is pulled back but what `pull` puts there."""
    clear4(eta_v4_(ctx))
    clear4(eta_a4_(ctx))
    clear4(yp4_(ctx))
    clear4(yv4_(ctx))
    clear4(ya4_(ctx))
    clear4(ys4_(ctx))


@kernel
def pull(fn, ctx, m, opts, e, used, U, B, weights):
    """psi4 gains what the columns of U and B, adjoints of the equations of motion and of the stabilised rows, give (IDX-5)."""
    yp, yv, ya = yp4_(ctx), yv4_(ctx), ya4_(ctx)
    minus_copy4(U, mu4_(ctx))
    for l in range(m):
        y = mul4(-1.0, get4(B, l))
        put4(ya, l, y)
        put4(yv, l, mul4(opts[DAMPING], y))
        put4(yp, l, mul4(opts[STIFFNESS], y))
    pull4(fn, ctx, e, used, weights)


@kernel
def rows_at(fn, ctx, m, opts, row, t):
    """The independent rows of the state in a row of a trajectory."""
    load_stage(row, 0, q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), m)
    par_(ctx)[TIME] = t
    call(fn[LINEARISE], ctx)
    choose_rows(ctx, m, int(opts[RANK]))


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, opts, rates, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (IDX-4).

    The variation holds the derivatives of q, v, a and of the auxiliary acceleration by the directions at row 0 and leaves with
    those at the end; Runge-Kutta methods use the first two.  grad (o, p) gains the objectives of rows 1 on (Newmark), or of
    all stages.  `rates` (2, stages, blocks, n, 4) is scratch.
    """
    explicit, family = rule.explicit, rule.family
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, kinds, traj = segment.ts, segment.hs, segment.after, segment.kinds, segment.traj
    Q, V, A_, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    square, wide, C, R_q, R_s, E_q, E_s, E_v = (
        square_(ctx), wide_(ctx), C_(ctx), R_q_(ctx), R_s_(ctx), E_q_(ctx), E_s_(ctx), E_v_(ctx),
    )  # fmt: skip
    g_q, g_s, g_v, g_a = g_q_(ctx), g_s_(ctx), g_v_(ctx), g_a_(ctx)
    n, p, no, s, KV, KA = q.shape[0], grad.shape[1], g.shape[0], rb.shape[0], rates[0], rates[1]
    r1, r2, qk, vk, ak, weights = r1_(ctx), r2_(ctx), x4_(ctx), H4_(ctx), U4_(ctx), weights_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps):
        h = hs[step]
        if opts[RANK] < m:
            rows_at(fn, ctx, m, opts, traj[step], ts[step])
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        at_end = step == steps - 1 and after == 0.0
        end_has_own = explicit and at_end and opts[COMPLIANCE] > 0.0 and opts[RANK] < m
        for i in range((s + 1 if at_end else s) if explicit else 1):
            if end_has_own and i == s:
                rows_at(fn, ctx, m, opts, traj[step + 1], ts[step + 1])
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            status = linearised(fn, ctx, m, b, gh, opts)
            if status != OK:
                return status, step
            if explicit:
                stage_weights(i, rb, step, segment, g, weights)
            else:
                quadrature(ts, hs, step + 1, after, kinds, g, weights)
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
                right4(square, R_q, R_s, n, 4 * e, qk, 1.0, r1)
                minus4(square, C, n, vk, r1)
                right4(wide, E_q, E_s, m, 4 * e, qk, 1.0, r2)
                minus4(wide, E_v, m, vk, r2)
                solve_stage4(fn, ctx, m, opts[COMPLIANCE], False)
                shift4(n, b, ak, qk)
                shift4(n, gh, ak, vk)
                objective_rows4(no, n, 4 * e, g_q, g_s, g_v, g_a, qk, vk, ak, weights, p, grad)
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
    ts, hs, after, kinds, traj = segment.ts, segment.hs, segment.after, segment.kinds, segment.traj
    Q, V, A_, X = variation.q, variation.v, variation.a, variation.x
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    g_q, g_v, g_a = g_q_(ctx), g_v_(ctx), g_a_(ctx)
    n, no, s, YQ, YV = q.shape[0], g.shape[0], rb.shape[0], rates[0], rates[1]
    U, B = U4_(ctx), B4_(ctx)
    qo, vo, ao, weights = x4_(ctx), H4_(ctx), E4_(ctx), weights_(ctx)
    clear4(r2_(ctx))
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    no_covectors(ctx)
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps - 1, -1, -1):
        h = hs[step]
        b, gh = (0.0, 0.0) if explicit else by_acceleration(family, h)
        at_end = step == steps - 1 and after == 0.0
        end_has_own = explicit and at_end and opts[COMPLIANCE] > 0.0 and opts[RANK] < m
        if opts[RANK] < m and not end_has_own:
            rows_at(fn, ctx, m, opts, traj[step], ts[step])
        for i in range((s if at_end else s - 1) if explicit else 0, -1, -1):
            if end_has_own and i >= s - 1:
                k = step + 1 if i == s else step
                rows_at(fn, ctx, m, opts, traj[k], ts[k])
            place(explicit, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            status = linearised(fn, ctx, m, b, gh, opts)
            if status != OK:
                return status, step
            if explicit:
                stage_weights(i, rb, step, segment, g, weights)
            else:
                quadrature(ts, hs, step + 1, after, kinds, g, weights)
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
                add_objectives4(4 * e, used, n, g_q, g_v, g_a, weights, qo, vo, ao)
                stage_back4(fn, ctx, m, b, gh, opts[COMPLIANCE], qo, vo, ao)
                hand_back4(explicit, i, s, e, n, qo, YQ, Q[e])
                hand_back4(explicit, i, s, e, n, vo, YV, V[e])
                if not explicit:
                    predict_transposed4(family, h, n, Q[e], V[e], A_[e], X[e])
                pull(fn, ctx, m, opts, e, used, U, B, weights)
        if explicit:
            for e in range(Q.shape[0]):
                collect4(s, YQ, e, n, Q[e])
                collect4(s, YV, e, n, V[e])
    collect(ctx)
    return OK, 0
