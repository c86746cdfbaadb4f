"""Constrained systems [T Jᵀ; J −ε] [x; y] = [r1; r2], solved by rounds with the factors of T + JᵀDJ  (LIN-3).

D has one weight a row, from the inertias that the row moves (LIN-6), so rows of any unit and size are held alike, and the
digits of T survive in every direction.  Each round refines both residuals; rounds end when what the next one would change
no longer counts.  Redundant rows and null rows do no harm.

`pat` are the patterns (square, wide) of T and of J, of which the first m rows take part, and the units of coordinates and rows
(`patterns`): norms and comparisons are in the sizes of the model, so that they mean the same in any units.  Compliances are
those of rows in metres, ε of a row is ε times its `soft`.  F are factors (`kinegrad.kernels.solvers.factors`).
"""

from kinegrad.kernels.jit import inlined, kernel, real
from kinegrad.kernels.lanes import lane, spread4
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.pattern import COLUMNS, DENSE, OF_ROW, RUNS, end_of, place
from kinegrad.kernels.products import PRODUCTS, UNSETTLED
from kinegrad.kernels.solvers.factors import factor, solve, solve4
from kinegrad.kernels.solvers.multiply import (
    minus_times,
    plus_row,
    plus_row4,
    row_times4,
    times,
)
from kinegrad.kernels.status import LOST_RANK, OK

square_, wide_, unit_, per_, per_row_, soft_ = PRODUCTS.viewers("square", "wide", "unit", "per", "per_row", "soft")

STRENGTH = 1e8  # of a row against the inertia that it moves
LEAST = 1e-2  # of a row against the largest inertia: where one is moved that is none but for rounding
NULL = 1e-16  # part of the largest |J_l|² below which a row fades: rounding has moved it off zero
DROWNS = 1e10  # strength of a row at which one round still leaves six digits of T
ENOUGH, ENOUGH_OF_DERIVATIVES = 1e-15, 1e-13  # of a solution: what further rounds would change
MOST_ROUNDS = 40
FEWEST_ROUNDS = 3
STRONGER = 1e4  # times the strength, at most: where rows are about to lose rank
SURE = 1e-3  # strength times drift, at most: rows hold a direction that they see 30 times better than drift blurs it
WORTH = 4.0  # a factor of the strength below which another attempt is not made
SLOW = 0.25  # square of the factor by which a round must shrink the change
SETTLED, LEAVES_LITTLE, LEAVES_MUCH = range(3)
FEW_ROUNDS = 10
ALIKE = 1e4  # inertias whose largest is less than this times the least
ALL_DIGITS = 1e-18  # of a solution: what further rounds would change, at most
# squares of changes, against that of the solution: of one that is rounding, of one that is if it no longer shrinks, and of
# one that may be left when rounds end
SMALLEST, ROUNDED, BEARABLE = 1e-30, 1e-18, 1e-14
HARDLY = 1e-4  # square of the factor by which rounds shrink a change at least, until rounding ends that
NOISE = 1e-24  # square of a change, against that of the first round: rounding if it hardly shrinks
PATIENCE = 4  # rounds after which it is found what rounding of the right side makes of a solution
# squares: of that rounding against the right side, and of what it may be at most against the first round: κ times rounding
ROUNDING, MOST_NOISE = 1e-28, 1e-14
SPREAD = 0.6180339887498949  # its multiples are nowhere whole and nowhere alike


@inlined
def patterns(ctx):
    """The patterns of a context, and its units: of coordinates, 1 over them, 1 over those of rows, and `soft`."""
    return square_(ctx), wide_(ctx), (unit_(ctx), per_(ctx), per_row_(ctx), soft_(ctx))


@inlined
def row_squares(P, dense, n, J, l, w, unit):
    """Σ_k (J_lk unit_k)² and Σ_k J_lk² w_k; `dense` and n are those of the pattern."""
    a, s = 0.0, 0.0
    if dense:
        for i in range(n):
            t = real(J[l * n + i])
            s += t * t * real(w[i])
            t *= real(unit[i])
            a += t * t
    else:
        p = end_of(P, l)
        for k in range(P[P[OF_ROW] + 2 * l], P[P[OF_ROW] + 2 * l + 1]):
            first = P[P[RUNS] + 3 * k]
            for i in range(first, first + P[P[RUNS] + 3 * k + 1]):
                t = real(J[p])
                s += t * t * real(w[i])
                t *= real(unit[i])
                a += t * t
                p += 1
    return a, s


@inlined
def inverse_inertias(square, T, alike, w, unit):
    """The largest inertia T_kk unit_k²; w = 1/T_kk of the coordinates: that of the heaviest without inertia, of the mean of
    those alike."""
    n, top = square[COLUMNS], 0.0
    for i in range(n):
        t = real(T[place(square, i, i)])
        top = max(top, t * real(unit[i]) ** 2)
        w[i] = 1.0 / t if t > 0.0 else 0.0
    for i in range(n):
        if alike[i] > 1:
            t = 0.0
            for k in range(i, i + alike[i]):
                t += max(real(T[place(square, k, k)]), 0.0)
            for k in range(i, i + alike[i]):
                w[k] = alike[i] / t if t > 0.0 else 0.0
    for i in range(n):
        if top > 0.0 and not real(w[i]) > 0.0:
            w[i] = real(unit[i]) ** 2 / top
    return top


@kernel
def row_weights(pat, T, J, m, eps, alike, ease, w, g, D):
    """True if one round is as good as many; D_l = κ ease_l / Σ_k J_lk²/T_kk, or 1/ε where that does not drown T  (LIN-6).

    Coordinates without inertia count as the heaviest; `alike` has, at the first of some that share theirs, how many they are.
    `ease` is from `kinegrad.kinematics.constrained.row_ease`; 0 stands for 1, and
    rows below 0 take no part.
    w (n) is scratch; g (m) are left with the squares of the rows.
    """
    square, wide, (unit, _, per_row, soft) = pat
    widest, one, dense, n = 0.0, eps > 0.0, square[DENSE], square[COLUMNS]
    top = inverse_inertias(square, T, alike, w, unit)
    for l in range(m):
        a, s = row_squares(wide, dense, n, J, l, w, unit)
        g[l] = a
        D[l] = s
        widest = max(widest, a * real(per_row[l]) ** 2)
    for l in range(m):
        s = real(D[l])
        if real(ease[l]) < 0.0:
            D[l] = 0.0
            continue
        if real(ease[l]) > 0.0:
            s /= real(ease[l])
        if eps > 0.0 and s <= DROWNS * eps * real(soft[l]):
            D[l] = 1.0 / (eps * real(soft[l]))
            continue
        one = False
        t = real(g[l]) * real(per_row[l]) ** 2 / (NULL * widest) if real(per_row[l]) > 0.0 and widest > 0.0 else 1.0
        D[l] = min(1.0, t * t) * max(STRENGTH / s, LEAST * top / real(g[l])) if s > 0.0 else 0.0
    return one or m == 0


@kernel
def soft_weights(pat, m, eps, ease, g, D, Dp):
    """True if one round is as good as many; Dp = D, or 1/ε where that is at most 100 times as large  (LIN-6)."""
    _, _, (_, _, _, soft) = pat
    one, limit = eps > 0.0, STRENGTH / DROWNS
    for l in range(m):
        Dp[l] = D[l]
        e = eps * real(soft[l])
        if eps > 0.0 and real(ease[l]) >= 0.0 and (limit <= real(D[l]) * e or not real(g[l]) > 0.0):
            Dp[l] = 1.0 / e
        else:
            one = False
    return one or m == 0


@kernel
def drifted_weights(pat, Phi, m, eps, g, reach, sizes, D):
    """A factor by which they may be stronger; weights D of `row_weights`, by the usual size of rows, not by that here  (IDX-8).

    Rows see a direction by σ, and drift moves the branches of a singular position apart by the root of itself: nearer than that
    nothing should be held.  reach: 1 over what Phi changes by when coordinates change by 1, or lengths by the size of the
    mechanism; g: |J_l|²; sizes: the largest so far, in which σ is measured.
    """
    _, _, (_, _, _, soft) = pat
    drift = 0.0
    for l in range(m):
        sizes[l] = max(real(sizes[l]), real(g[l]))
        if real(D[l]) > 0.0:  # rows that take no part may be null
            drift = max(drift, abs(real(Phi[l])) * real(reach[l]))
    for l in range(m):
        if real(sizes[l]) > 0.0 and real(D[l]) * eps * real(soft[l]) < 0.99:
            D[l] *= real(g[l]) / real(sizes[l])
    return min(STRONGER, SURE / (drift * STRENGTH)) if drift > 0.0 else STRONGER


@kernel
def settled(k, e, last, size, enough):
    """Whether round k, which changed a solution of this size by e after `last`, leaves nothing for the next one.

    All three are squares, of norms in the units of coordinates or weighted by T: the first sees what is light, the second what
    is heavy.
    """
    if k == 0:
        return False
    if e * e <= enough * enough * last * size or e <= SMALLEST * size:
        return True
    return e > 0.25 * last and e <= ROUNDED * size


@kernel
def plus_weighed_rows(P, J, m, D, z, y, again, w):
    """w += Jᵀ(D z), less Jᵀ y if this is another round."""
    dense, n = P[DENSE], P[COLUMNS]
    for l in range(m):
        t = D[l] * z[l]
        if again:
            t -= y[l]
        if dense:
            for i in range(n):
                w[i] += J[l * n + i] * t
        else:
            plus_row(P, J, l, t, w)


@kernel
def solve_rows(pat, T, J, m, eps, D, F, rounds, r1, r2, x, y, w, z):
    """SETTLED, or what is left: LEAVES_LITTLE, LEAVES_MUCH; x, y with [T Jᵀ; J −ε] [x; y] = [r1; r2]  (LIN-3).

    T is symmetric, F are the factors by `factor` of T + JᵀDJ.  w (n), z (m) are scratch.
    """
    square, wide, (_, per, _, soft) = pat
    n = square[COLUMNS]
    last, size, last_w, size_w = 0.0, 0.0, 0.0, 0.0
    for k in range(rounds):
        for l in range(m):
            z[l] = r2[l] if k == 0 else r2[l] + eps * soft[l] * y[l]
        for i in range(n):
            w[i] = r1[i]
        if k > 0:
            minus_times(wide, J, m, x, z)
            minus_times(square, T, n, x, w)
        plus_weighed_rows(wide, J, m, D, z, y, k > 0, w)
        solve(F, w)
        e, e_w = 0.0, 0.0
        for i in range(n):
            x[i] = w[i] if k == 0 else x[i] + w[i]
            t = real(w[i])
            e_w += abs(real(T[place(square, i, i)])) * t * t
            t *= real(per[i])
            e += t * t
        for l in range(m):
            z[l] = -z[l]
        times(wide, J, m, w, z, z)
        for l in range(m):
            y[l] = D[l] * z[l] if k == 0 else y[l] + D[l] * z[l]
        if k == 0:
            size, size_w = e, e_w
        if settled(k, e, last, size, ENOUGH) and settled(k, e_w, last_w, size_w, ENOUGH):
            return SETTLED
        if k > 1 and (e > SLOW * last or e_w > SLOW * last_w):
            break
        last, last_w = e, e_w
    return LEAVES_LITTLE if e <= BEARABLE * size and e_w <= BEARABLE * size_w else LEAVES_MUCH


@kernel
def solve_near_singular(pat, T, J, m, eps, D, F, stronger, r1, r2, x, y, w, z):
    """Status; x, y as by `solve_rows`, also where rows lose rank: directions that they hardly see need stronger weights.

    What even those, or where none stronger are allowed these, do not see is left out if it was little; otherwise the rows ask
    for motions that they no longer determine.  F, D are overwritten.
    """
    _, _, (_, _, _, soft) = pat
    left = solve_rows(pat, T, J, m, eps, D, F, MOST_ROUNDS, r1, r2, x, y, w, z)
    if left == SETTLED:
        return OK
    if stronger < WORTH:
        solve_rows(pat, T, J, m, eps, D, F, FEWEST_ROUNDS, r1, r2, x, y, w, z)
        return OK if left == LEAVES_LITTLE else LOST_RANK
    for l in range(m):
        t, e = stronger * D[l], eps * soft[l]
        D[l] = t if t * e <= 1.0 else 1.0 / e
    status = factor(F, T, J, m, D)
    if status != OK:
        return OK if left == LEAVES_LITTLE else LOST_RANK
    again = solve_rows(pat, T, J, m, eps, D, F, MOST_ROUNDS, r1, r2, x, y, w, z)
    if again == SETTLED:
        return OK
    if left == LEAVES_MUCH:
        return LOST_RANK
    for l in range(m):
        D[l] /= stronger
    status = factor(F, T, J, m, D)
    solve_rows(pat, T, J, m, eps, D, F, FEWEST_ROUNDS, r1, r2, x, y, w, z)
    return status


@kernel
def enough_for(pat, T):
    """What further rounds may change of a solution: less where inertias are far apart."""
    square, _, (unit, _, _, _) = pat
    low, high = 1e300, 0.0
    for i in range(square[COLUMNS]):
        t = real(T[place(square, i, i)]) * real(unit[i]) ** 2
        if t > 0.0:
            low, high = min(low, t), max(high, t)
    return ENOUGH_OF_DERIVATIVES if high < ALIKE * low else ALL_DIGITS


@inlined
def plus_weighed_rows4(P, B, m, D, Z, Y, again, W):
    """W += Bᵀ(D Z), less Bᵀ Y if this is another round, for four columns."""
    dense, n = P[DENSE], P[COLUMNS]
    for l in range(m):
        f = mul4(D[l], get4(Z, l))
        if again:
            f = axpy4(-1.0, get4(Y, l), f)
        plus_row4(P, dense, n, B, l, f, W)


@inlined
def of_row(eps, D):
    """ε of a row with weight D; below 0 stands for 1/D, with which one round is all."""
    return eps if eps >= 0.0 else (1.0 / D if real(D) > 0.0 else 0.0 * D)


@kernel
def rounds4(pat, T, B, G, m, eps, D, F, transposed, enough, R1, R2, X, Y, W, Z):
    """Rounds made, negative if they did not settle, 0 if they leave much; X, Y with [T Bᵀ; G −ε] [X; Y] = [R1; R2], for four
    columns  (LIN-3).

    F are the factors by `factor_general` of T + BᵀDG, with weights D of at most 1/ε; ε below 0 stands for 1/D (`of_row`).  If
    `transposed`, T and F are taken transposed: they are then factors of T + GᵀDB.  Redundant rows and null rows do no harm:
    with B = G, Y is the solution of least YᵀD⁻¹Y when R2 is consistent.  What is inconsistent in R2, rounding at least, enters
    Y times D and the rounds, but neither X nor BᵀY.  W (n, 4), Z (m, 4) are scratch.
    """
    square, wide, (_, per, _, soft) = pat
    dense, n = square[DENSE], square[COLUMNS]
    last, size, first, loose = spread4(0.0), spread4(0.0), spread4(0.0), spread4(0.0)
    for k in range(MOST_ROUNDS):
        for i in range(n):
            put4(W, i, get4(R1, i))
        for l in range(m):
            put4(Z, l, get4(R2, l) if k == 0 else axpy4(of_row(eps * soft[l], D[l]), get4(Y, l), get4(R2, l)))
        if k > 0:
            for i in range(n):
                if transposed:
                    plus_row4(square, dense, n, T, i, mul4(-1.0, get4(X, i)), W)
                else:
                    put4(W, i, mul4(-1.0, row_times4(square, dense, n, T, i, X, mul4(-1.0, get4(W, i)))))
            for l in range(m):
                put4(Z, l, mul4(-1.0, row_times4(wide, dense, n, G, l, X, mul4(-1.0, get4(Z, l)))))
        plus_weighed_rows4(wide, B, m, D, Z, Y, k > 0, W)
        solve4(F, transposed, W)
        e = spread4(0.0)
        if k == 0:
            for i in range(n):
                w = get4(W, i)
                put4(X, i, w)
                w = mul4(per[i], w)
                first = w * w + first
        else:
            size = spread4(0.0)
            for i in range(n):
                w = get4(W, i)
                x = get4(X, i) + w
                put4(X, i, x)
                w, x = mul4(per[i], w), mul4(per[i], x)
                e = w * w + e
                size = x * x + size
        for l in range(m):
            r = mul4(D[l], row_times4(wide, dense, n, G, l, W, mul4(-1.0, get4(Z, l))))
            put4(Y, l, r if k == 0 else axpy4(1.0, r, get4(Y, l)))
        if k == PATIENCE:
            loose = scattered4(F, transposed, per, R1, W)
        if k > 0 and settled4(k, e, size if k == 1 else last, size, first, loose, enough):
            return k + 1
        last = e
    return -MOST_ROUNDS if bearable4(last, size, first, loose) else 0


@kernel
def scattered4(F, transposed, per, R1, W):
    """Squares of what the right side of four columns makes of a solution if each entry is changed on its own, as by rounding.

    Where multipliers take up R1 altogether the solution is small, and rounding of R1, which they do not take up, is all of it.
    W (n, 4) is overwritten.
    """
    for i in range(per.shape[0]):
        part = SPREAD * (i + 1)
        put4(W, i, mul4(2.0 * (part - int(part)) - 1.0, get4(R1, i)))
    solve4(F, transposed, W)
    loose = spread4(0.0)
    for i in range(per.shape[0]):
        w = mul4(per[i], get4(W, i))
        loose = w * w + loose
    return loose


@kernel
def noise_of(first, loose, c):
    """Square of what rounding changes a column by, from the first round and from `scattered4`."""
    start = real(lane(first, c))
    return max(NOISE * start, min(ROUNDING * real(lane(loose, c)), MOST_NOISE * start))


@kernel
def bearable4(e, size, first, loose):
    """Whether the last round changed none of four columns noticeably."""
    little = True
    for c in range(4):
        little = little and real(lane(e, c)) <= max(BEARABLE * real(lane(size, c)), noise_of(first, loose, c))
    return little


@kernel
def note(flag, rounds):
    """Count a solution by `rounds4` that leaves much."""
    if rounds == 0:
        flag[UNSETTLED] += 1


@kernel
def settled4(k, e, last, size, first, loose, enough):
    """`settled` for four columns; a solution of nothing but multipliers is rounding of what the first round gave, or of the
    right side."""
    done = k > 0
    for c in range(4):
        now, before = real(lane(e, c)), real(lane(last, c))
        noise = now > HARDLY * before and now <= noise_of(first, loose, c)
        done = done and (noise or settled(k, now, before, real(lane(size, c)), enough))
    return done
