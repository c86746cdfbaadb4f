"""Derivatives of recursive runs with explicit Runge-Kutta methods: direct and adjoint, without factors of M.

In an explicit stage the matrix of (IDX-4) and (IDX-5) is [M Phi_qᵀ; Phi_q 0], which sweeps and a matrix of the size of the
rows solve (REC-14); everything else is that of `acceleration_level_derivatives`.
"""

from kinegrad.kernels.formulations.acceleration_level import DAMPING, RANK, STIFFNESS
from kinegrad.kernels.formulations.acceleration_level_derivatives import no_covectors, pull
from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    minus4,
    objective_rows4,
    plus_transposed4,
    right4,
)
from kinegrad.kernels.formulations.independent_rows import choose_rows
from kinegrad.kernels.formulations.matrix_r_derivatives import no_projection
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
from kinegrad.kernels.joint.recursive_rows import out_, right_, row_out_, row_right_
from kinegrad.kernels.linalg import get4, put4
from kinegrad.kernels.products import FREEDOMS, LINEARISE, N_FUNCTIONS, PRODUCTS, STATUS, TIME
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

# places, after the functions of the set, of those of `kinegrad.kernels.joint.recursive_rows`
FACTOR, SOLVE = N_FUNCTIONS, N_FUNCTIONS + 1

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, mu_, eta_v_, eta_a_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da mu eta_v eta_a".split()
)
(lam_, sv_, sa_, yp_, yv_, ya_) = PRODUCTS.viewers(*"lam sv sa yp yv ya".split())
(C_, R_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_) = PRODUCTS.viewers(
    *"C R_z Phi_z Phid_z Phidd_z g_z g_v g_a".split()
)
J_, Phidd_v_ = PRODUCTS.viewers("J", "Phidd_v")
row_scale_, scale_ = PRODUCTS.viewers("row_scale", "scale")
(Psi_v_, Psi_w_, Psi_z_, x4_, H4_, weights_, ease_) = PRODUCTS.viewers(*"Psi_v Psi_w Psi_z x4 H4 weights ease".split())


@kernel
def linearised(fn, ctx, m, opts, P, S):
    """Status; all partials at the stage in the context, P = Psi_z, S = Psi_v, and the factors of its equations (IDX-4)."""
    Phi_z, Phid_z, Phidd_z, Phidd_v, J = Phi_z_(ctx), Phid_z_(ctx), Phidd_z_(ctx), Phidd_v_(ctx), J_(ctx)
    call(fn[LINEARISE], ctx)
    for l in range(m):
        for j in range(P.shape[1]):
            P[l, j] = Phidd_z[l, j] + opts[DAMPING] * Phid_z[l, j] + opts[STIFFNESS] * Phi_z[l, j]
        for j in range(S.shape[1]):
            S[l, j] = Phidd_v[l, j] + opts[DAMPING] * J[l, j]
    call(fn[FACTOR], ctx)
    return flag_(ctx)[STATUS]


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, opts, rates, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (IDX-4, REC-14).

    The variation holds the derivatives of q, v by the directions at row 0 and leaves with those at the end.  grad (o, p)
    gains the objectives of all stages.  `rates` (2, stages, blocks, n, 4) is scratch.
    """
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, final, traj = segment.ts, segment.hs, segment.after, segment.final, segment.traj
    Q, V = variation.q, variation.v
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    C, R_z, g_z, g_v, g_a = C_(ctx), R_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    r1, r2, ak = right_(ctx), row_right_(ctx), out_(ctx)
    n, p, no, s, KV, KA = q.shape[0], grad.shape[1], g.shape[0], rb.shape[0], rates[0], rates[1]
    P, S, qk, vk, weights = Psi_z_(ctx), Psi_v_(ctx), x4_(ctx), H4_(ctx), weights_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps):
        h = hs[step]
        if opts[RANK] < m:
            load_stage(traj[step], 0, q, v, a, vp, ap, lam, m)
            par[TIME] = ts[step]
            call(fn[LINEARISE], ctx)
            choose_rows(J_(ctx), m, n, int(opts[RANK]), row_scale_(ctx), scale_(ctx), Psi_w_(ctx), ease_(ctx))
        at_end = step == steps - 1 and after == 0.0
        for i in range(s + 1 if at_end else s):
            place(True, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            stage_weights(i, h, rb, final, weights)
            status = linearised(fn, ctx, m, opts, P, S)
            if status != OK:
                return status, step
            part = RA[i] if i < s else rb
            for e in range(Q.shape[0]):
                combine4(h, part, i, Q[e], KV, e, n, qk)
                combine4(h, part, i, V[e], KA, e, n, vk)
                right4(R_z, n, n, n + 4 * e, qk, 1.0, r1)
                minus4(C, n, n, 1.0, vk, r1)
                right4(P, m, n, n + 4 * e, qk, 1.0, r2)
                minus4(S, m, n, 1.0, vk, r2)
                call(fn[SOLVE], ctx)
                objective_rows4(no, n, n + 4 * e, g_z, g_v, g_a, qk, vk, ak, weights, p, grad)
                if i < s:
                    for j in range(n):
                        put4(KV[i, e], j, get4(vk, j))
                        put4(KA[i, e], j, get4(ak, j))
        for e in range(Q.shape[0]):
            combine4(h, rb, s, Q[e], KV, e, n, Q[e])
            combine4(h, rb, s, V[e], KA, e, n, V[e])
    return OK, steps


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, rule, segment, opts, rates, variation):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (IDX-5).

    The variation holds the adjoints of q, v at the end of the segment, then at its beginning.  `rates` is scratch as in
    `direct`.
    """
    RA, rb, rc = rule.tableau.A, rule.tableau.b, rule.tableau.c
    ts, hs, after, final, traj = segment.ts, segment.hs, segment.after, segment.final, segment.traj
    Q, V = variation.q, variation.v
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, lam = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), lam_(ctx)
    C, R_z, g_z, g_v, g_a = C_(ctx), R_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    ao, U, B = right_(ctx), out_(ctx), row_out_(ctx)
    n, no, s, YQ, YV = q.shape[0], g.shape[0], rb.shape[0], rates[0], rates[1]
    P, S, qo, vo, weights = Psi_z_(ctx), Psi_v_(ctx), x4_(ctx), H4_(ctx), weights_(ctx)
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    no_covectors(ctx)
    clear4(row_right_(ctx))
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps - 1, -1, -1):
        h = hs[step]
        if opts[RANK] < m:
            load_stage(traj[step], 0, q, v, a, vp, ap, lam, m)
            par[TIME] = ts[step]
            call(fn[LINEARISE], ctx)
            choose_rows(J_(ctx), m, n, int(opts[RANK]), row_scale_(ctx), scale_(ctx), Psi_w_(ctx), ease_(ctx))
        at_end = step == steps - 1 and after == 0.0
        for i in range(s if at_end else s - 1, -1, -1):
            place(True, i, s, rc, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m)
            stage_weights(i, h, rb, final, weights)
            status = linearised(fn, ctx, m, opts, P, S)
            if status != OK:
                return status, step
            for e in range(Q.shape[0]):
                clear4(qo)
                clear4(vo)
                clear4(ao)
                if i < s:
                    seed4(i, h, RA, rb, Q[e], YQ, e, n, vo)
                    seed4(i, h, RA, rb, V[e], YV, e, n, ao)
                used = min(4, no - 4 * e)
                add_objectives4(4 * e, used, n, g_z, g_v, g_a, weights, qo, vo, ao)
                call(fn[SOLVE], ctx)
                plus_transposed4(R_z, n, n, -1.0, U, qo)
                plus_transposed4(C, n, n, -1.0, U, vo)
                plus_transposed4(P, m, n, -1.0, B, qo)
                plus_transposed4(S, m, n, -1.0, B, vo)
                hand_back4(True, i, s, e, n, qo, YQ, Q[e])
                hand_back4(True, i, s, e, n, vo, YV, V[e])
                pull(fn, ctx, m, opts, 4 * e, used, U, B, weights)
        for e in range(Q.shape[0]):
            collect4(s, YQ, e, n, Q[e])
            collect4(s, YV, e, n, V[e])
    return OK, 0
