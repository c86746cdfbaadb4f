"""ALI3-P with the Newmark family: augmented Lagrangian of index 3, then projected velocities and accelerations.

A step of size h takes the acceleration a as unknown (ALI-1), here with Newmark's method, in general by (NMF-1):

    q = q~ + β h² a,  v = v~ + γ h a          q~ = q + h vp + (½ - β) h² ap,  v~ = vp + (1 - γ) h ap  (previous step)
    M a + f(q, v) + Phi_qᵀ lam = 0,  Phi(q) = 0
    [M Phi_qᵀ; Phi_q -ε] [dv; sv] = [0; -Phid(q, v)],       vp = v + dv
    [M Phi_qᵀ; Phi_q -ε] [da; sa] = [0; -Phidd(q, vp, a)],  ap = a + da

with ε = 1/(ς α) for projections by penalty, 0 for exact ones.  Rows of a trajectory: q, v, a, vp, ap, lam, sv, sa and,
where there is room, the auxiliary acceleration.
"""

from kinegrad.kernels.constrained import (
    FEW_ROUNDS,
    augment_lower,
    enough_for,
    kkt_factor,
    kkt_solve4,
    rounds4,
    row_weights,
    soft_weights,
    solve_rows,
)
from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    minus4,
    objective_rows4,
    observe_step,
    plus_transposed4,
    quadrature,
    right4,
    shift4,
)
from kinegrad.kernels.formulations.newmark_family import (
    by_acceleration,
    complete,
    complete4,
    complete_transposed4,
    predict,
    predict4,
    predict_transposed4,
)
from kinegrad.kernels.formulations.newton import TIGHT, converged
from kinegrad.kernels.jit import entry, kernel, real
from kinegrad.kernels.linalg import axpy4, get4, ldlt, ldlt_solve, put4
from kinegrad.kernels.products import (
    BIAS,
    EVALUATE,
    EXTENT,
    FREEDOMS,
    LINEARISE,
    OBJECTIVE,
    PRODUCTS,
    PULLBACK,
    STATUS,
    TIME,
    WC,
    WEIGHT,
    WK,
)  # fmt: skip
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, dv_, da_, f_, mu_, eta_v_, eta_a_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap dv da f mu eta_v eta_a".split()
)
(lam_, sv_, sa_, Phi_, Phi_t_, c_, yp_, yv_, ya_) = PRODUCTS.viewers(*"lam sv sa Phi Phi_t c yp yv ya".split())
(M_, K_, C_, J_, R_z_, Nv_z_, Na_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_) = PRODUCTS.viewers(
    *"M K C J R_z Nv_z Na_z Phi_z Phid_z Phidd_z g_z g_v g_a".split()
)
(A_, L_, T_, d_, r_, z_, D_, Dp_, y_, w_, qt_, vt_, weights_, pivots_, pivots_l_) = PRODUCTS.viewers(
    *"T_lu M_lu T d r z D Dp y w qt vt weights T_pivots M_pivots".split()
)
Phidd_v_, Phids_z_, level_, ys_ = PRODUCTS.viewers("Phidd_v", "Phids_z", "level", "ys")
Step_z_, Step_v_, Step_a_ = PRODUCTS.viewers("Psi_z", "Psi_v", "Psi_w")  # the rows of a step by q, v and a
factored_, ease_, sizes_ = PRODUCTS.viewers("Psi_a", "ease", "sizes")  # the rows that are in the factors
(r1_, x4_, w4_, U_, H_, E_, r2_, y4_, z4_, P_, S_, B_) = PRODUCTS.viewers(
    *"r1 x4 w4 U4 H4 E4 r2 y4 z4 P4 D4 B4".split()
)

# options; EXACT is 1 where projections are exact, by multipliers, and 0 where they are by penalties
PENALTY, SCALE, TOLERANCE, THRESHOLD, EXACT = range(5)
PROJECTED_V, PROJECTED_A, NEAR_SINGULAR = 1, 2, 8  # flags
SLOWLY = 3  # times the iterations allowed: near a singular position each halves the error only
VANISHING = 1e-2  # square of a row, of its largest so far, below which a singular position may be near


@kernel
def largest(c, m):
    """The largest |c|."""
    s = 0.0
    for l in range(m):
        s = max(s, abs(c[l]))
    return s


@kernel
def project(M, J, m, n, eps, D, A, d, one, x, res, y, sig, zero, w, z):
    """Add y to x, with multipliers sig: M y + Jᵀsig = 0 and J (x + y) + c = ε sig, res being J x + c (ALI-2); by one round
    if that will do."""
    for i in range(n):
        y[i] = 0.0 * x[i]
        zero[i] = y[i]
    if one:
        for l in range(m):
            t = D[l] * res[l]
            for i in range(n):
                y[i] -= J[l, i] * t
        ldlt_solve(A, d, y)
        for l in range(m):
            s = res[l]
            for i in range(n):
                s += J[l, i] * y[i]
            sig[l] = D[l] * s
    else:
        for l in range(m):
            res[l] = -res[l]
        solve_rows(M, J, m, n, eps, D, A, d, FEW_ROUNDS, zero, res, y, sig, w, z)
    for i in range(n):
        x[i] += y[i]


@kernel
def has_velocity_rows(level, m):
    """Whether a row is of velocities."""
    found = False
    for l in range(m):
        found = found or level[l] != 0
    return found


@kernel
def row_residuals(level, m, n, Phi, Phi_t, J, v, by_position, by_velocity, out):
    """What the rows of a step lack, as accelerations: Phi/βh² of positions, Phid/γh of velocities (ALI-6)."""
    for l in range(m):
        if level[l] == 0:
            out[l] = Phi[l] * by_position
        else:
            s = Phi_t[l]
            for i in range(n):
                s += J[l, i] * v[i]
            out[l] = s * by_velocity


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
def store(row, q, v, a, vp, ap, lam, sv, sa, auxiliary, m):
    """One row of a trajectory."""
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


@entry(what="the simulation kernels")
def simulate(fn, ctx, m, method, steps, objectives, opts):
    """Status and number of steps done: from the state in the context, by an `Implicit` method.

    Objectives gain the integrals by the trapezoidal rule.
    """
    family, auxiliary, allowed = method.family, method.auxiliary, method.allowed
    ts, hs, stride, traj, iterations, flags = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts, steps.flags
    final, psi, g_last = objectives.final, objectives.psi, objectives.g_last
    par, flag, g = par_(ctx), flag_(ctx), g_(ctx)
    q, v, a, vp, ap, f, lam, sv, sa = (
        q_(ctx),
        v_(ctx),
        a_(ctx),
        vp_(ctx),
        ap_(ctx),
        f_(ctx),
        lam_(ctx),
        sv_(ctx),
        sa_(ctx),
    )
    Phi, Phi_t, c, M, K, J, level = Phi_(ctx), Phi_t_(ctx), c_(ctx), M_(ctx), K_(ctx), J_(ctx), level_(ctx)
    n = q.shape[0]
    A, d, y, w, res, qt, vt = A_(ctx), d_(ctx), y_(ctx), w_(ctx), r_(ctx), qt_(ctx), vt_(ctx)
    D, Dp, z, B, ease, sizes = D_(ctx), Dp_(ctx), z_(ctx), factored_(ctx), ease_(ctx), sizes_(ctx)
    tol, eps = opts[TOLERANCE], compliance(opts)
    a1, a2 = dv_(ctx), da_(ctx)  # accelerations of the two steps before: the caller begins with those of the start
    tight = tol < TIGHT
    rows = J[:m]
    flag[FREEDOMS] = 0
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        ib = 1.0 / b
        one, near = False, False
        par[WC] = gh
        par[TIME] = ts[step + 1]
        predict(family, h, q, vp, ap, auxiliary, qt, vt)
        size = real(par[EXTENT])
        for i in range(n):
            a[i] = ap[i]
            if tight:
                a[i] += 2.0 * ap[i] - 3.0 * a1[i] + a2[i]
                a2[i] = a1[i]
                a1[i] = ap[i]
            q[i] = qt[i] + b * a[i]
            v[i] = vt[i] + gh * a[i]
            size = max(size, abs(real(q[i])))
        for l in range(m):
            lam[l] = 0.0
        last = 1e300
        done = False
        refactor = True
        for it in range(SLOWLY * allowed):
            if it >= allowed and not near:
                break
            par[WK] = b if refactor else 0.0
            call(fn[EVALUATE], ctx)
            if flag[STATUS] != OK:
                return flag[STATUS], step
            if refactor:
                for i in range(n):
                    for j in range(i + 1):
                        A[i, j] = M[i, j] + K[i, j]
                row_weights(M, J, m, n, 0.0, ease, w, z, D)
                one = soft_weights(m, eps, ease, z, D, Dp) and not tight
                near = vanishing(m, z, sizes)
                augment_lower(A, rows, n, D, A)
                for l in range(m):
                    for i in range(n):
                        B[l, i] = J[l, i]
                status = ldlt(A, d)
                if status != OK:
                    return status, step
            for i in range(n):
                s = -f[i]
                for j in range(n):
                    s -= M[i, j] * a[j]
                y[i] = s
            row_residuals(level, m, n, Phi, Phi_t, J, v, ib, 1.0 / gh, res)
            for l in range(m):
                r = D[l] * res[l]
                for i in range(n):
                    y[i] -= J[l, i] * lam[l] + B[l, i] * r
            ldlt_solve(A, d, y)
            e = 0.0
            for i in range(n):
                if not abs(real(y[i])) < 1e300:
                    return NOT_FINITE, step
                e = max(e, abs(real(y[i])))
                a[i] += y[i]
                q[i] = qt[i] + b * a[i]
                v[i] = vt[i] + gh * a[i]
            for l in range(m):
                s = res[l]
                for i in range(n):
                    s += B[l, i] * y[i]
                lam[l] += D[l] * s
            e *= b
            iterations[step] = it + 1
            if tol > 0.0 and converged(it, e, last, tol, tight, size):
                done = True
                break
            refactor = e > 1e-3 * last  # the factors of the first iteration serve while they contract well
            last = e
        if not done and tol > 0.0:
            return NOT_CONVERGED, step
        # velocities and accelerations
        for i in range(n):
            vp[i] = v[i]
            ap[i] = a[i]
        augment_lower(M, rows, n, Dp, A)
        status = ldlt(A, d)
        if status != OK:
            return status, step
        flags[step] = NEAR_SINGULAR if near else 0
        for l in range(m):
            s = Phi_t[l]
            for i in range(n):
                s += J[l, i] * vp[i]
            res[l] = s
            sv[l] = 0.0
            sa[l] = 0.0
        if m > 0 and not largest(res, m) < opts[THRESHOLD]:
            project(M, J, m, n, eps, Dp, A, d, one, vp, res, y, sv, qt, w, z)
            flags[step] += PROJECTED_V
        call(fn[BIAS], ctx)
        for l in range(m):
            s = c[l]
            for i in range(n):
                s += J[l, i] * ap[i]
            res[l] = s
        if m > 0 and not largest(res, m) < opts[THRESHOLD]:
            project(M, J, m, n, eps, Dp, A, d, one, ap, res, y, sa, qt, w, z)
            flags[step] += PROJECTED_A
        complete(family, ap, auxiliary)
        observe_step(fn, ctx, h, g, final, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            store(traj[(step + 1) // stride], q, v, a, vp, ap, lam, sv, sa, auxiliary, m)
    return OK, hs.shape[0]


@kernel
def compliance(opts):
    """ε of the projections."""
    return 0.0 if opts[EXACT] > 0.0 else 1.0 / (opts[SCALE] * opts[PENALTY])


@kernel
def linearised(fn, ctx, m, step, ts, eps, b, gh, traj):
    """Status; the context holds the partials at row `step` of the trajectory, T = M + γhC + βh²R_q, its weights D and the
    factors of its augmented form in A, the projections' in Dp and L."""
    A, L, T, piv, pivl, D, Dp = A_(ctx), L_(ctx), T_(ctx), pivots_(ctx), pivots_l_(ctx), D_(ctx), Dp_(ctx)
    ease = ease_(ctx)
    q, v, a, vp, ap, dv, da = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), dv_(ctx), da_(ctx)
    M, C, R_z, J, n = M_(ctx), C_(ctx), R_z_(ctx), J_(ctx)[:m], q.shape[0]
    par_(ctx)[TIME] = ts[step]
    load(traj[step], q, v, a, vp, ap, dv, da, lam_(ctx), sv_(ctx), sa_(ctx), m)
    call(fn[LINEARISE], ctx)
    for i in range(n):
        for j in range(n):
            T[i, j] = M[i, j] + gh * C[i, j] + b * R_z[i, j]
    row_weights(M, J, m, n, 0.0, ease, w_(ctx), z_(ctx), D)
    soft_weights(m, eps, ease, z_(ctx), D, Dp)
    step_rows(level_(ctx), m, n, b, gh, Phi_z_(ctx), Phids_z_(ctx), J, Step_z_(ctx), Step_v_(ctx), Step_a_(ctx))
    status = kkt_factor(T, J, Step_a_(ctx), n, D, A, piv)
    return status if status != OK else kkt_factor(M, J, J, n, Dp, L, pivl)


@kernel
def step_rows(level, m, n, b, gh, Phi_z, Phids_z, J, by_z, by_v, by_a):
    """The rows of a step, in units of accelerations, by (q, ρ), by v, and by a through both (ALI-6)."""
    for l in range(m):
        if level[l] == 0:
            for j in range(by_z.shape[1]):
                by_z[l, j] = Phi_z[l, j] / b
            for j in range(n):
                by_v[l, j] = 0.0
                by_a[l, j] = J[l, j]
        else:
            for j in range(by_z.shape[1]):
                by_z[l, j] = Phids_z[l, j] / gh
            for j in range(n):
                by_v[l, j] = J[l, j] / gh
                by_a[l, j] = J[l, j] + b * by_z[l, j]


@entry(what="the sensitivity kernels")
def direct(fn, ctx, m, rule, segment, opts, variation, grad):
    """Status and step: the derivative of the discrete scheme along a stored trajectory (ALI-3).

    The variation holds the derivatives of q, vp, ap and of the auxiliary acceleration by the directions at row 0 and leaves
    with those at the end; grad (o, p) gains the objectives of rows 1 on.
    """
    ts, hs, after, final, traj, flags = (
        segment.ts,
        segment.hs,
        segment.after,
        segment.final,
        segment.traj,
        segment.flags,
    )
    family, Q, V, Acc, X = rule.family, variation.q, variation.v, variation.a, variation.x
    M, C = M_(ctx), C_(ctx)
    R_z, Nv_z, Na_z, g_z, g_v, g_a = R_z_(ctx), Nv_z_(ctx), Na_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    Phid_z, Phidd_z, Phidd_v, J = Phid_z_(ctx)[:m], Phidd_z_(ctx)[:m], Phidd_v_(ctx)[:m], J_(ctx)[:m]
    by_z, by_v, by_a, level = Step_z_(ctx), Step_v_(ctx), Step_a_(ctx), level_(ctx)
    mixed = has_velocity_rows(level, m)
    n, p, no = M.shape[0], grad.shape[1], g_z.shape[0]
    A, L, T, piv, pivl, weights = A_(ctx), L_(ctx), T_(ctx), pivots_(ctx), pivots_l_(ctx), weights_(ctx)
    r1, x, w, r2, y, z = r1_(ctx), x4_(ctx), w4_(ctx), r2_(ctx), y4_(ctx), z4_(ctx)
    eps, weights_d, weights_p = compliance(opts), D_(ctx), Dp_(ctx)
    flag_(ctx)[FREEDOMS] = 0
    for step in range(1, hs.shape[0] + 1):
        h = hs[step - 1]
        b, gh = by_acceleration(family, h)
        status = linearised(fn, ctx, m, step, ts, eps, b, gh, traj)
        if status != OK:
            return status, step
        enough = enough_for(M, n)
        quadrature(hs, step, after, final, weights)
        for e in range(Q.shape[0]):
            k = n + 4 * e
            qk, vk, ak = Q[e], V[e], Acc[e]
            predict4(family, h, n, qk, vk, ak, X[e])
            right4(R_z, n, n, k, qk, 1.0, r1)
            minus4(C, n, n, 1.0, vk, r1)
            right4(by_z, m, n, k, qk, 1.0, r2)
            if mixed:
                minus4(by_v, m, n, 1.0, vk, r2)
            rounds4(T, J, by_a, n, 0.0, weights_d, A, piv, False, enough, r1, r2, ak, y, w, z)
            shift4(n, b, ak, qk)
            shift4(n, gh, ak, vk)
            if flags[step - 1] & PROJECTED_V:
                right4(Nv_z, n, n, k, qk, 1.0, r1)
                right4(Phid_z, m, n, k, qk, 1.0, r2)
                minus4(J, m, n, 1.0, vk, r2)
                kkt_solve4(M, J, n, eps, weights_p, L, pivl, False, enough, r1, r2, x, y, w, z)
                shift4(n, 1.0, x, vk)
            if flags[step - 1] & PROJECTED_A:
                right4(Na_z, n, n, k, qk, 1.0, r1)
                right4(Phidd_z, m, n, k, qk, 1.0, r2)
                minus4(J, m, n, 1.0, ak, r2)
                minus4(Phidd_v, m, n, 1.0, vk, r2)
                kkt_solve4(M, J, n, eps, weights_p, L, pivl, False, enough, r1, r2, x, y, w, z)
                shift4(n, 1.0, x, ak)
            complete4(family, n, ak, X[e])
            objective_rows4(no, n, k, g_z, g_v, g_a, qk, vk, ak, weights, p, grad)
    return OK, hs.shape[0]


@entry(what="the adjoint kernels")
def adjoint(fn, ctx, m, rule, segment, opts, variation):
    """Status and step: the exact transpose of `direct` over one segment; psi_s of the context gains all slots (ALI-4).

    The variation holds the adjoints of q, vp, ap and of the auxiliary acceleration at the end of the segment and leaves with
    those at its beginning.  Rows 1 on of the segment are swept.
    """
    ts, hs, after, final, traj, flags = (
        segment.ts,
        segment.hs,
        segment.after,
        segment.final,
        segment.traj,
        segment.flags,
    )
    family, Q, V, Acc, X = rule.family, variation.q, variation.v, variation.a, variation.x
    par, flag, M, C = par_(ctx), flag_(ctx), M_(ctx), C_(ctx)
    mu, eta_v, eta_a, yp, yv, ya, ys = mu_(ctx), eta_v_(ctx), eta_a_(ctx), yp_(ctx), yv_(ctx), ya_(ctx), ys_(ctx)
    R_z, Nv_z, Na_z, g_z, g_v, g_a = R_z_(ctx), Nv_z_(ctx), Na_z_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    Phid_z, Phidd_z, Phidd_v, J = Phid_z_(ctx)[:m], Phidd_z_(ctx)[:m], Phidd_v_(ctx)[:m], J_(ctx)[:m]
    by_z, by_v, by_a, level = Step_z_(ctx), Step_v_(ctx), Step_a_(ctx), level_(ctx)
    mixed = has_velocity_rows(level, m)
    n, no = M.shape[0], g_z.shape[0]
    A, L, T, piv, pivl, weights = A_(ctx), L_(ctx), T_(ctx), pivots_(ctx), pivots_l_(ctx), weights_(ctx)
    r1, w, zero, z, U, H, E = r1_(ctx), w4_(ctx), r2_(ctx), z4_(ctx), U_(ctx), H_(ctx), E_(ctx)
    P, S, B = P_(ctx), S_(ctx), B_(ctx)
    clear4(zero)
    eps, weights_d, weights_p = compliance(opts), D_(ctx), Dp_(ctx)
    flag[FREEDOMS] = 0
    steps = hs.shape[0]
    for step in range(steps, 0, -1):
        h = hs[step - 1]
        b, gh = by_acceleration(family, h)
        status = linearised(fn, ctx, m, step, ts, eps, b, gh, traj)
        if status != OK:
            return status, step
        enough = enough_for(M, n)
        quadrature(hs, step, after, final, weights)
        for e in range(Q.shape[0]):
            qo, vo, ao = Q[e], V[e], Acc[e]
            used = min(4, no - 4 * e)
            complete_transposed4(family, n, ao, X[e])
            add_objectives4(4 * e, used, n, g_z, g_v, g_a, weights, qo, vo, ao)
            if flags[step - 1] & PROJECTED_A:
                kkt_solve4(M, J, n, eps, weights_p, L, pivl, False, enough, ao, zero, E, B, w, z)
                plus_transposed4(J, m, n, -1.0, B, ao)
                plus_transposed4(Phidd_v, m, n, -1.0, B, vo)
                plus_transposed4(Phidd_z, m, n, -1.0, B, qo)
                plus_transposed4(Na_z, n, n, -1.0, E, qo)
            else:
                clear4(E)
                clear4(B)
            if flags[step - 1] & PROJECTED_V:
                kkt_solve4(M, J, n, eps, weights_p, L, pivl, False, enough, vo, zero, H, S, w, z)
                plus_transposed4(J, m, n, -1.0, S, vo)
                plus_transposed4(Phid_z, m, n, -1.0, S, qo)
                plus_transposed4(Nv_z, n, n, -1.0, H, qo)
            else:
                clear4(H)
                clear4(S)
            for i in range(n):
                put4(r1, i, axpy4(b, get4(qo, i), axpy4(gh, get4(vo, i), get4(ao, i))))
            rounds4(T, by_a, J, n, 0.0, weights_d, A, piv, True, enough, r1, zero, U, P, w, z)
            plus_transposed4(by_z, m, n, -1.0, P, qo)
            if mixed:
                plus_transposed4(by_v, m, n, -1.0, P, vo)
            plus_transposed4(R_z, n, n, -1.0, U, qo)
            plus_transposed4(C, n, n, -1.0, U, vo)
            predict_transposed4(family, h, n, qo, vo, ao, X[e])
            for c in range(used):
                for i in range(n):
                    mu[i], eta_v[i], eta_a[i] = -U[i, c], -H[i, c], -E[i, c]
                for l in range(m):
                    yp[l] = -P[l, c] / b if level[l] == 0 else 0.0 * b
                    ys[l] = -P[l, c] / gh if level[l] == 1 else 0.0 * b
                    yv[l], ya[l] = -S[l, c], -B[l, c]
                flag[OBJECTIVE] = 4 * e + c
                par[WEIGHT] = weights[4 * e + c]
                call(fn[PULLBACK], ctx)
    return OK, 0
