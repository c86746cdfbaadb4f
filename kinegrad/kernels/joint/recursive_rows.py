"""Accelerations of a tree under constraint rows: free accelerations by sweeps, then the rows through a matrix of their size.

With W the inverse of M that the sweeps apply, rows J and Psi = J a + r (REC-11, REC-12):

    a = a_free - W Jᵀ lam,    (J W Jᵀ) lam = J a_free + r,    r = c + 2ξΩ Phid + Ω² Phi

Rows that normalise Euler parameters take no part: the sweeps hold them, and their stabilising terms act along p alone.
"""

from kinegrad.kernels.constrained import (
    BEARABLE,
    ENOUGH,
    ENOUGH_OF_DERIVATIVES,
    FEWEST_ROUNDS,
    LEAVES_LITTLE,
    LEAVES_MUCH,
    MOST_ROUNDS,
    NULL,
    SETTLED,
    SLOW,
    STRENGTH,
    STRONGER,
    SURE,
    WORTH,
    settled,
)
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import GRAVITY
from kinegrad.kernels.elements.stages import BIAS, ROWS, reads_scalars, run_stage
from kinegrad.kernels.jit import cfunction, kernel, real
from kinegrad.kernels.joint.functions import base
from kinegrad.kernels.joint.markers import first_columns, marker_rates
from kinegrad.kernels.joint.motion import dot4, four, velocities
from kinegrad.kernels.joint.recursive import (
    BLOCK,
    CLOSE,
    FORWARD,
    RECURSIVE,
    SUBS,
    a_,
    art_,
    articulate,
    coord_,
    count_,
    f_,
    flag_,
    mass_,
    mk_,
    motion,
    node_,
    q_,
    run_sub,
    s_,
    sc_,
    v_,
    zero_,
)  # fmt: skip
from kinegrad.kernels.joint.recursive_derivatives import ground_to_leaves, leaves_to_ground
from kinegrad.kernels.lanes import WIDTH
from kinegrad.kernels.linalg import ldlt, ldlt_solve, ldlt_solve4
from kinegrad.kernels.products import FREEDOMS, STATUS
from kinegrad.kernels.status import LOST_RANK, NOT_FINITE, OK

# closing: numbers of the rows that the sweeps do not hold; norms: row and first coordinate of those that they do;
# stab: Ω², 2ξΩ; X: W Jᵀ; L, pivot: factors of J W Jᵀ + δ; gap: what the rows still ask for.
# right, row_right; out, row_out: four right-hand sides of the derivatives, and what solves them (REC-14).
CONSTRAINED = RECURSIVE.extend(
    [("closing", "i8", 1), ("norms", "i8", 2), ("stab", "f8", 1), ("X", "f8", 2), ("L", "f8", 2), ("pivot", "f8", 1)]
    + [("gap", "f8", 1), ("bias", "f8", 1)]
    + [("right", "f8", 2), ("row_right", "f8", 2), ("out", "f8", 2), ("row_out", "f8", 2), ("gap4", "f8", 2)]
)
closing_, norms_, stab_, X_, L_, pivot_, gap_, bias_ = CONSTRAINED.viewers(
    *"closing norms stab X L pivot gap bias".split()
)
right_, row_right_, out_, row_out_, gap4_ = CONSTRAINED.viewers(*"right row_right out row_out gap4".split())
work_, rhs_, col_, vp_, ap_ = CONSTRAINED.viewers(*"work rhs col vp ap".split())
lam_, Phi_, Phi_t_, c_, J_, Phi_z_, ease_, sizes_, reach_ = CONSTRAINED.viewers(
    *"lam Phi Phi_t c J Phi_z ease sizes reach".split()
)

STIFFNESS, DAMPING = range(2)


@kernel
def hold_norms(norms, q, v, f, stab, a, lam):
    """Add the stabilising part of p̈, and set the multipliers of the normalisation rows (REC-11)."""
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        s = dot4(p, p)
        t = (stab[DAMPING] * dot4(p, four(v, k)) + 0.5 * stab[STIFFNESS] * (s - 1.0)) / s
        for j in range(4):
            a[k + j] -= t * p[j]
        lam[norms[i, 0]] = -0.5 * dot4(p, four(f, k)) / s


@kernel
def evaluate_rows(ctx):
    """Phi, Phi_t, Phi_q and c of the constraint rows at (q, v), where `forward_dynamics` has moved nodes and markers."""
    node, coord, mk, sc, q, v, vp = node_(ctx), coord_(ctx), mk_(ctx), sc_(ctx), q_(ctx), v_(ctx), vp_(ctx)
    J, Phi_t = J_(ctx), Phi_t_(ctx)
    first_columns(coord, mk, col_(ctx))
    for l in range(closing_(ctx).shape[0] + norms_(ctx).shape[0]):
        Phi_t[l] = 0.0
        for k in range(q.shape[0]):
            J[l, k] = 0.0
    if reads_scalars(ctx, ROWS) or flag_(ctx)[FREEDOMS]:
        scalar_values(sc, mk, q, zero_(ctx), zero_(ctx))
    run_stage(ctx, ROWS)
    base(node, s_(ctx), count_(ctx)[GRAVITY], False)
    velocities(node, coord, q, v, zero_(ctx))
    marker_rates(node, mk)
    for k in range(v.shape[0]):
        vp[k] = v[k]
    if reads_scalars(ctx, BIAS):
        scalar_values(sc, mk, q, v, zero_(ctx))
    run_stage(ctx, BIAS)


@kernel
def inverse_times_rows(art, J, closing, Y, W, X):
    """X = W Jᵀ, in blocks of columns (REC-9)."""
    m, n = closing.shape[0], X.shape[0]
    for c0 in range(0, m, BLOCK):
        width = min(BLOCK, m - c0)
        for k in range(n):
            for c in range(BLOCK):
                Y[k, c] = J[closing[c0 + c], k] if c < width else 0.0
        leaves_to_ground(art, Y, W, art.shape[0] - 1, width)
        ground_to_leaves(art, Y, W, art.shape[0] - 1, width)
        for k in range(n):
            for c in range(width):
                X[k, c0 + c] = Y[k, c]


@kernel
def factor_rows(J, closing, ease, strength, sizes, X, L, d):
    """Status; the factors of J W Jᵀ + δ in L and d, X being W Jᵀ (REC-12)."""
    m, n = closing.shape[0], X.shape[0]
    for l in range(m):
        for i in range(l + 1):
            t = 0.0 * X[0, 0]
            if real(ease[closing[l]]) >= 0.0 and real(ease[closing[i]]) >= 0.0:
                for k in range(n):
                    t += J[closing[l], k] * X[k, i]
            L[l, i] = t
    soften(J, closing, n, strength, sizes, L, d)
    return ldlt(L, d)


@kernel
def soften(J, closing, n, strength, sizes, S, g):
    """Add δ to each diagonal entry of S, which lets redundant rows disagree: 1/D of (LIN-6, IDX-8), S_ll in the place of its
    sum."""
    m = S.shape[0]
    widest, largest = 0.0, 0.0
    for l in range(m):
        t = 0.0
        for k in range(n):
            t += real(J[closing[l], k]) ** 2
        g[l] = t
        widest = max(widest, t)
        largest = max(largest, real(S[l, l]))
    for l in range(m):
        t = real(g[l]) / (NULL * widest) if widest > 0.0 else 0.0
        t = min(1.0, t * t)
        size = max(real(sizes[closing[l]]), real(g[l]))
        sizes[closing[l]] = size
        if size > 0.0:
            t *= real(g[l]) / size
        s = real(S[l, l])
        if t > 0.0 and s > 0.0:
            S[l, l] += s / (strength * t)
        else:
            S[l, l] += largest if largest > 0.0 else 1.0


@kernel
def close_rows(J, closing, ease, bias, X, L, d, rounds, a, lam, gap):
    """What is left, as by `solve_rows`; a and lam gain what the rows ask for (REC-12)."""
    m, n = closing.shape[0], a.shape[0]
    last, size, e = 0.0, 0.0, 0.0
    for k in range(n):
        size += real(a[k]) ** 2
    for i in range(rounds):
        for l in range(m):
            t = bias[l]
            for k in range(n):
                t += J[closing[l], k] * a[k]
            gap[l] = t if real(ease[closing[l]]) >= 0.0 else 0.0 * t
        ldlt_solve(L, d, gap)
        for l in range(m):
            lam[closing[l]] += gap[l]
        e = 0.0
        for k in range(n):
            t = 0.0 * a[k]
            for l in range(m):
                t += X[k, l] * gap[l]
            a[k] -= t
            e += real(t) ** 2
        size = max(size, e)
        if settled(i, e, last, size, ENOUGH):
            return SETTLED
        if i > 1 and e > SLOW * last:
            break
        last = e
    return LEAVES_LITTLE if e <= BEARABLE * size else LEAVES_MUCH


@kernel
def close_near_singular(J, closing, ease, drift, sizes, bias, X, L, d, a, lam, gap, free):
    """Status; a and lam under the rows, with the strengths of `solve_near_singular`; free (n) is scratch."""
    m, n, left, status, strength = closing.shape[0], a.shape[0], LEAVES_MUCH, OK, STRENGTH
    for k in range(n):
        free[k] = a[k]
    for attempt in range(3):
        status = factor_rows(J, closing, ease, strength, sizes, X, L, d)
        if status != OK:
            return status
        for k in range(n):
            a[k] = free[k]
        for l in range(m):
            lam[closing[l]] = 0.0
        rounds = FEWEST_ROUNDS if attempt == 2 else MOST_ROUNDS
        now = close_rows(J, closing, ease, bias, X, L, d, rounds, a, lam, gap)
        if now == SETTLED or attempt == 2:
            return OK
        if attempt == 0:
            left, strength = now, STRONGER * STRENGTH
            if strength * drift > SURE:
                strength = SURE / drift
            if strength < WORTH * STRENGTH:
                strength = STRENGTH
        else:
            strength = STRENGTH
        if strength == STRENGTH and left == LEAVES_MUCH:
            return LOST_RANK
    return status


@SUBS.part(CLOSE)
@cfunction(what="recursive dynamics with constraints")
def close(ctx):
    """a and lam under the closing rows, from a of the free tree (REC-12)."""
    evaluate_rows(ctx)
    closing, norms, stab, a, v, q = closing_(ctx), norms_(ctx), stab_(ctx), a_(ctx), v_(ctx), q_(ctx)
    J, X, L, d, gap, bias, lam = J_(ctx), X_(ctx), L_(ctx), pivot_(ctx), gap_(ctx), bias_(ctx), lam_(ctx)
    Phi, Phi_t, c = Phi_(ctx), Phi_t_(ctx), c_(ctx)
    m, n = closing.shape[0], q.shape[0]
    for l in range(m):
        r = closing[l]
        lam[r] = 0.0
        t = Phi_t[r]
        for k in range(n):
            t += J[r, k] * v[k]
        bias[l] = c[r] + stab[DAMPING] * t + stab[STIFFNESS] * Phi[r]
    inverse_times_rows(art_(ctx), J, closing, rhs_(ctx), work_(ctx), X)
    drift = 0.0
    for l in range(m):
        if real(ease_(ctx)[closing[l]]) >= 0.0:
            drift = max(drift, abs(real(Phi[closing[l]])) * real(reach_(ctx)[closing[l]]))
    flag_(ctx)[STATUS] = close_near_singular(
        J, closing, ease_(ctx), drift, sizes_(ctx), bias, X, L, d, a, lam, gap, ap_(ctx)
    )
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        for l in range(m):
            t = dot4(p, four(J[closing[l]], k))
            lam[norms[i, 0]] -= 0.5 * lam[closing[l]] * t / dot4(p, p)


@cfunction(what="recursive dynamics")
def rates(ctx):
    """a = ap, lam and vp at the q, v and time of the context, all constraint rows stabilised (REC-11, REC-12)."""
    flag, v, a, vp, ap = flag_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx)
    run_sub(ctx, FORWARD)
    hold_norms(norms_(ctx), q_(ctx), v, f_(ctx), stab_(ctx), a, lam_(ctx))
    if closing_(ctx).shape[0] > 0 and flag[STATUS] == OK:
        run_sub(ctx, CLOSE)
    for k in range(a.shape[0]):
        vp[k] = v[k]
        ap[k] = a[k]
        if flag[STATUS] == OK and not abs(a[k]) < 1e300:
            flag[STATUS] = NOT_FINITE


# --- the same equations, with other right-hand sides -----------------------------------------------------------------


@cfunction(what="the sensitivity kernels")
def factor(ctx):
    """What `solve_four` needs, at the q of the context and for the rows that LINEARISE left in Phi_z."""
    art, flag = art_(ctx), flag_(ctx)
    motion(art, mass_(ctx), s_(ctx), q_(ctx), v_(ctx))
    flag[STATUS] = articulate(art, zero_(ctx), zero_(ctx))
    if closing_(ctx).shape[0] > 0 and flag[STATUS] == OK:
        J, closing, X = Phi_z_(ctx), closing_(ctx), X_(ctx)
        inverse_times_rows(art, J, closing, rhs_(ctx), work_(ctx), X)
        flag[STATUS] = factor_rows(J, closing, ease_(ctx), STRENGTH, sizes_(ctx), X, L_(ctx), pivot_(ctx))


@cfunction(what="the sensitivity kernels")
def solve_four(ctx):
    """out, row_out with [M Jᵀ; J 0] [out; row_out] = [right; row_right], J = Phi_q with all its rows (REC-14)."""
    closing, norms, art, q, J, X = closing_(ctx), norms_(ctx), art_(ctx), q_(ctx), Phi_z_(ctx), X_(ctx)
    right, row_right, out, row_out, gap = right_(ctx), row_right_(ctx), out_(ctx), row_out_(ctx), gap4_(ctx)
    Y, m, n = rhs_(ctx), closing_(ctx).shape[0], q_(ctx).shape[0]
    for k in range(n):
        for c in range(WIDTH):
            Y[k, c] = right[k, c] if c < 4 else 0.0
    leaves_to_ground(art, Y, work_(ctx), art.shape[0] - 1, 4)
    ground_to_leaves(art, Y, work_(ctx), art.shape[0] - 1, 4)
    for k in range(n):
        for c in range(4):
            out[k, c] = Y[k, c]
    for l in range(row_out.shape[0]):
        for c in range(4):
            row_out[l, c] = 0.0
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        for c in range(4):
            t = 0.5 * row_right[norms[i, 0], c] / dot4(p, p)
            for j in range(4):
                out[k + j, c] += t * p[j]
    last, size = 0.0, 0.0
    for i in range(MOST_ROUNDS if m > 0 else 0):
        for l in range(m):
            r = closing[l]
            for c in range(4):
                t = -row_right[r, c]
                for k in range(n):
                    t += J[r, k] * out[k, c]
                gap[l, c] = t if real(ease_(ctx)[r]) >= 0.0 else 0.0 * t
        ldlt_solve4(L_(ctx), pivot_(ctx), gap)
        for l in range(m):
            for c in range(4):
                row_out[closing[l], c] += gap[l, c]
        e = 0.0
        for k in range(n):
            for c in range(4):
                t = 0.0 * out[k, c]
                for l in range(m):
                    t += X[k, l] * gap[l, c]
                out[k, c] -= t
                e = max(e, abs(real(t)))
        size = max(size, e)
        if settled(i, e * e, last * last, size * size, ENOUGH_OF_DERIVATIVES):
            break
        last = e
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        for c in range(4):
            t = 0.0 * p[0]
            for j in range(4):
                x = right[k + j, c]
                for l in range(m):
                    x -= J[closing[l], k + j] * row_out[closing[l], c]
                t += p[j] * x
            row_out[norms[i, 0], c] = 0.5 * t / dot4(p, p)
