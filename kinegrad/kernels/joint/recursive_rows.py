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
from kinegrad.kernels.elements.stages import ROWS, reads_scalars, run_stage
from kinegrad.kernels.jit import cfunction, inlined, kernel, real
from kinegrad.kernels.joint.functions import base
from kinegrad.kernels.joint.markers import first_columns, marker_rates
from kinegrad.kernels.joint.motion import dot4, four, velocities
from kinegrad.kernels.joint.own import along_row, fold, unfold
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
from kinegrad.kernels.joint.recursive_solves import ground_to_leaves, leaves_to_ground
from kinegrad.kernels.lanes import WIDTH, lane, spread4
from kinegrad.kernels.linalg import axpy4, get4, ldlt, ldlt_solve, ldlt_solve4, mul4, put4
from kinegrad.kernels.products import FREEDOMS, STATUS, full_viewers
from kinegrad.kernels.set_functions import bias_of_rows
from kinegrad.kernels.status import LOST_RANK, NOT_FINITE, OK

# closing: numbers of the rows that the sweeps do not hold; norms: row and first coordinate of those that they do;
# heavy, bound: coordinates that elements own (REC-15);
# stab: Ω², 2ξΩ; X: W Jᵀ; L, pivot: factors of J W Jᵀ + δ; gap: what the rows still ask for.
CONSTRAINED = RECURSIVE.extend(
    [("closing", "i8", 1), ("norms", "i8", 2), ("stab", "f8", 1), ("X", "f8", 2), ("L", "f8", 2), ("pivot", "f8", 1)]
    + [("gap", "f8", 1), ("bias", "f8", 1), ("heavy", "i8", 1), ("bound", "i8", 2)]
    + [("gap4", "f8", 2)]
)
closing_, norms_, stab_, X_, L_, pivot_, gap_, bias_, heavy_, bound_ = CONSTRAINED.viewers(
    *"closing norms stab X L pivot gap bias heavy bound".split()
)
r1_, r2_, U4_, B4_, gap4_ = CONSTRAINED.viewers(*"r1 r2 U4 B4 gap4".split())
work_, rhs_, col_, vp_, ap_ = CONSTRAINED.viewers(*"work rhs col vp ap".split())
lam_, Phi_, Phi_t_, c_, ease_, sizes_, reach_ = CONSTRAINED.viewers(*"lam Phi Phi_t c ease sizes reach".split())
M_, J_ = full_viewers("M", "J")  # sweeps are used where matrices are dense

unit_, per_, per_row_ = CONSTRAINED.viewers("unit", "per", "per_row")

STIFFNESS, DAMPING = range(2)


@inlined
def units(ctx):
    """The units of coordinates, and 1 over those of rows."""
    return unit_(ctx), per_row_(ctx)


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
    for l in range(closing_(ctx).shape[0] + norms_(ctx).shape[0] + bound_(ctx).shape[0]):
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
    bias_of_rows(ctx)


@kernel
def inverse_times_rows(art, M, J, closing, heavy, bound, Y, W, X):
    """X = W Jᵀ, in blocks of columns (REC-9, REC-15)."""
    m, n = closing.shape[0], X.shape[0]
    for c0 in range(0, m, BLOCK):
        width = min(BLOCK, m - c0)
        for k in range(n):
            for c in range(BLOCK):
                Y[k, c] = J[closing[c0 + c], k] if c < width else 0.0
        fold(M, J, heavy, bound, Y, width)
        leaves_to_ground(art, Y, W, 1, art.shape[0] - 1, width)
        ground_to_leaves(art, Y, W, 1, art.shape[0] - 1, width)
        unfold(J, heavy, bound, Y, width)
        for k in range(n):
            for c in range(width):
                X[k, c0 + c] = Y[k, c]


@kernel
def factor_rows(J, closing, units, ease, strength, sizes, X, L, d):
    """Status; the factors of J W Jᵀ + δ in L and d, X being W Jᵀ (REC-12)."""
    m, n = closing.shape[0], X.shape[0]
    for l in range(m):
        for i in range(l + 1):
            t = 0.0 * X[0, 0]
            if real(ease[closing[l]]) >= 0.0 and real(ease[closing[i]]) >= 0.0:
                for k in range(n):
                    t += J[closing[l], k] * X[k, i]
            L[l, i] = t
    soften(J, closing, units, strength, sizes, L, d)
    return ldlt(L, d)


@kernel
def soften(J, closing, units, strength, sizes, S, g):
    """Add δ to each diagonal entry of S, which lets redundant rows disagree: 1/D of (LIN-6, IDX-8), S_ll in the place of its
    sum; `units` are those of coordinates, and 1 over those of rows."""
    m, (unit, per_row) = S.shape[0], units
    widest, largest = 0.0, 0.0
    for l in range(m):
        t = 0.0
        for k in range(unit.shape[0]):
            t += (real(J[closing[l], k]) * unit[k]) ** 2
        g[l] = t
        p = per_row[closing[l]] ** 2
        widest = max(widest, t * p)
        largest = max(largest, real(S[l, l]) * p)
    for l in range(m):
        p = per_row[closing[l]] ** 2
        t = real(g[l]) * p / (NULL * widest) if p > 0.0 and widest > 0.0 else 1.0
        t = min(1.0, t * t)
        size = max(real(sizes[closing[l]]), real(g[l]))
        sizes[closing[l]] = size
        if size > 0.0:
            t *= real(g[l]) / size
        s = real(S[l, l])
        if t > 0.0 and s > 0.0:
            S[l, l] += s / (strength * t)
        else:
            S[l, l] += (largest if largest > 0.0 else 1.0) / (p if p > 0.0 else 1.0)


@kernel
def close_rows(J, closing, per, ease, bias, X, L, d, rounds, a, lam, gap):
    """What is left, as by `solve_rows`; a and lam gain what the rows ask for (REC-12)."""
    m, n = closing.shape[0], a.shape[0]
    last, size, e = 0.0, 0.0, 0.0
    for k in range(n):
        size += (real(a[k]) * per[k]) ** 2
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
            e += (real(t) * per[k]) ** 2
        size = max(size, e)
        if settled(i, e, last, size, ENOUGH):
            return SETTLED
        if i > 1 and e > SLOW * last:
            break
        last = e
    return LEAVES_LITTLE if e <= BEARABLE * size else LEAVES_MUCH


@kernel
def close_near_singular(J, closing, units, per, ease, drift, sizes, bias, X, L, d, a, lam, gap, free):
    """Status; a and lam under the rows, with the strengths of `solve_near_singular`; free (n) is scratch."""
    m, n, left, status, strength = closing.shape[0], a.shape[0], LEAVES_MUCH, OK, STRENGTH
    for k in range(n):
        free[k] = a[k]
    for attempt in range(3):
        status = factor_rows(J, closing, units, ease, strength, sizes, X, L, d)
        if status != OK:
            return status
        for k in range(n):
            a[k] = free[k]
        for l in range(m):
            lam[closing[l]] = 0.0
        rounds = FEWEST_ROUNDS if attempt == 2 else MOST_ROUNDS
        now = close_rows(J, closing, per, ease, bias, X, L, d, rounds, a, lam, gap)
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


@kernel
def row_bias(ctx, r):
    """What a stabilised row asks of J a: c + 2ξΩ Phid + Ω² Phi, with the other sign."""
    J, v, stab = J_(ctx), v_(ctx), stab_(ctx)
    t = Phi_t_(ctx)[r]
    for k in range(v.shape[0]):
        t += J[r, k] * v[k]
    return c_(ctx)[r] + stab[DAMPING] * t + stab[STIFFNESS] * Phi_(ctx)[r]


@kernel
def free_own(ctx):
    """a of own coordinates without the closing rows, and what acts on those without inertia in a of the tree (REC-15)."""
    M, J, heavy, bound, a, f, Y = M_(ctx), J_(ctx), heavy_(ctx), bound_(ctx), a_(ctx), f_(ctx), rhs_(ctx)
    n, art = a.shape[0], art_(ctx)
    tree = n - heavy.shape[0] - bound.shape[0]
    for k in range(n):
        for c in range(WIDTH):
            Y[k, c] = -f[k] if k >= tree and c == 0 else 0.0 * f[k]
    fold(M, J, heavy, bound, Y, 1)
    if bound.shape[0] > 0:
        leaves_to_ground(art, Y, work_(ctx), 1, art.shape[0] - 1, 1)
        ground_to_leaves(art, Y, work_(ctx), 1, art.shape[0] - 1, 1)
    for k in range(n):
        a[k] = a[k] + Y[k, 0] if k < tree else Y[k, 0]
        Y[k, 0] = a[k]
    for i in range(bound.shape[0]):
        l, k = bound[i, 0], bound[i, 1]
        a[k] = -row_bias(ctx, l) / J[l, k] - along_row(J, l, k, tree, Y, 0)


@kernel
def bound_multipliers(bound, closing, norms, J, q, f, lam):
    """Multipliers of the rows that bind own coordinates, from the equations of these; and their part in those of norms."""
    for i in range(bound.shape[0]):
        l, k = bound[i, 0], bound[i, 1]
        t = f[k]
        for r in range(closing.shape[0]):
            t += J[closing[r], k] * lam[closing[r]]
        lam[l] = -t / J[l, k]
        for j in range(norms.shape[0]):
            p = four(q, norms[j, 1])
            lam[norms[j, 0]] -= 0.5 * lam[l] * dot4(p, four(J[l], norms[j, 1])) / dot4(p, p)


@SUBS.part(CLOSE)
@cfunction(what="recursive dynamics with constraints")
def close(ctx):
    """a and lam under the closing rows, from a of the free tree (REC-12)."""
    evaluate_rows(ctx)
    closing, norms, a, q, Phi = closing_(ctx), norms_(ctx), a_(ctx), q_(ctx), Phi_(ctx)
    heavy, bound = heavy_(ctx), bound_(ctx)
    J, X, L, d, gap, bias, lam = J_(ctx), X_(ctx), L_(ctx), pivot_(ctx), gap_(ctx), bias_(ctx), lam_(ctx)
    m = closing.shape[0]
    if heavy.shape[0] + bound.shape[0] > 0:
        free_own(ctx)
    for l in range(m):
        lam[closing[l]] = 0.0
        bias[l] = row_bias(ctx, closing[l])
    inverse_times_rows(art_(ctx), M_(ctx), J, closing, heavy, bound, rhs_(ctx), work_(ctx), X)
    drift = 0.0
    for l in range(m):
        if real(ease_(ctx)[closing[l]]) >= 0.0:
            drift = max(drift, abs(real(Phi[closing[l]])) * real(reach_(ctx)[closing[l]]))
    flag_(ctx)[STATUS] = close_near_singular(
        J, closing, units(ctx), per_(ctx), ease_(ctx), drift, sizes_(ctx), bias, X, L, d, a, lam, gap, ap_(ctx)
    )
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        for l in range(m):
            t = dot4(p, four(J[closing[l]], k))
            lam[norms[i, 0]] -= 0.5 * lam[closing[l]] * t / dot4(p, p)
    bound_multipliers(bound, closing, norms, J, q, f_(ctx), lam)


@cfunction(what="recursive dynamics")
def rates(ctx):
    """a = ap, lam and vp at the q, v and time of the context, all constraint rows stabilised (REC-11, REC-12)."""
    flag, v, a, vp, ap = flag_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx)
    run_sub(ctx, FORWARD)
    hold_norms(norms_(ctx), q_(ctx), v, f_(ctx), stab_(ctx), a, lam_(ctx))
    if closing_(ctx).shape[0] + heavy_(ctx).shape[0] + bound_(ctx).shape[0] > 0 and flag[STATUS] == OK:
        run_sub(ctx, CLOSE)
    for k in range(a.shape[0]):
        vp[k] = v[k]
        ap[k] = a[k]
        if flag[STATUS] == OK and not abs(a[k]) < 1e300:
            flag[STATUS] = NOT_FINITE


# --- the same equations, with other right-hand sides -----------------------------------------------------------------


@cfunction(what="the sensitivity kernels")
def factor(ctx):
    """What `solve_four` needs, at the q of the context and for the rows that LINEARISE left in J."""
    art, flag = art_(ctx), flag_(ctx)
    motion(art, mass_(ctx), s_(ctx), q_(ctx), v_(ctx))
    flag[STATUS] = articulate(art, zero_(ctx), zero_(ctx))
    if closing_(ctx).shape[0] > 0 and flag[STATUS] == OK:
        J, closing, X = J_(ctx), closing_(ctx), X_(ctx)
        inverse_times_rows(art, M_(ctx), J, closing, heavy_(ctx), bound_(ctx), rhs_(ctx), work_(ctx), X)
        flag[STATUS] = factor_rows(J, closing, units(ctx), ease_(ctx), STRENGTH, sizes_(ctx), X, L_(ctx), pivot_(ctx))


@cfunction(what="the sensitivity kernels")
def solve_four(ctx):
    """U4, B4 with [M Jᵀ; J 0] [U4; B4] = [r1; r2], J = Phi_q with all its rows (REC-14)."""
    closing, norms, art, q, J, X = closing_(ctx), norms_(ctx), art_(ctx), q_(ctx), J_(ctx), X_(ctx)
    right, row_right, out, row_out, gap = r1_(ctx), r2_(ctx), U4_(ctx), B4_(ctx), gap4_(ctx)
    Y, m, n, heavy, bound = rhs_(ctx), closing_(ctx).shape[0], q_(ctx).shape[0], heavy_(ctx), bound_(ctx)
    for k in range(n):
        for c in range(WIDTH):
            Y[k, c] = right[k, c] if c < 4 else 0.0
    fold(M_(ctx), J, heavy, bound, Y, 4)
    leaves_to_ground(art, Y, work_(ctx), 1, art.shape[0] - 1, 4)
    ground_to_leaves(art, Y, work_(ctx), 1, art.shape[0] - 1, 4)
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
    for i in range(bound.shape[0]):
        l, k = bound[i, 0], bound[i, 1]
        for c in range(4):
            out[k, c] = row_right[l, c] / J[l, k] - along_row(J, l, k, n - heavy.shape[0] - bound.shape[0], out, c)
    last, size, per = spread4(0.0), spread4(0.0), per_(ctx)
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
        e = spread4(0.0)
        for k in range(n):
            t = spread4(0.0)
            for l in range(m):
                t = axpy4(X[k, l], get4(gap, l), t)
            put4(out, k, axpy4(-1.0, t, get4(out, k)))
            t = mul4(per[k], t)
            e = t * t + e
            if i == 0:
                t = mul4(per[k], get4(out, k))
                size = t * t + size
        done = True
        for c in range(4):
            now, most = real(lane(e, c)), max(real(lane(size, c)), real(lane(e, c)))
            done = done and settled(i, now, real(lane(last, c)), most, ENOUGH_OF_DERIVATIVES)
        if done:
            break
        last = e
    for i in range(bound.shape[0]):
        r, k = bound[i, 0], bound[i, 1]
        for c in range(4):
            t = right[k, c]
            for l in range(m):
                t -= J[closing[l], k] * row_out[closing[l], c]
            row_out[r, c] = t / J[r, k]
    for i in range(norms.shape[0]):
        k = norms[i, 1]
        p = four(q, k)
        for c in range(4):
            t = 0.0 * p[0]
            for j in range(4):
                x = right[k + j, c]
                for l in range(m):
                    x -= J[closing[l], k + j] * row_out[closing[l], c]
                for l in range(bound.shape[0]):
                    x -= J[bound[l, 0], k + j] * row_out[bound[l, 0], c]
                t += p[j] * x
            row_out[norms[i, 0], c] = 0.5 * t / dot4(p, p)
