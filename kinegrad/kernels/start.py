"""The start of small dense systems in compiled code, where all is as usual (KIN-1 to KIN-3).

It does what `kinegrad.kinematics.start` does.  Where anything is in doubt (no convergence, rows whose rank is not clear, turned
directions, numbers that are not finite) the functions here say so, and whoever called them goes the other way, which decides
and has the words for it.  With the compiler switched off that way alone is taken.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels import orthogonal
from kinegrad.kernels.constrained import (
    ENOUGH,
    FEWEST_ROUNDS,
    MOST_ROUNDS,
    STRENGTH,
    inverse_inertias,
    patterns,
    plus_weighed_rows,
    row_squares,
    row_weights,
)
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import entry, kernel, sqrt
from kinegrad.kernels.orthogonal import Factors
from kinegrad.kernels.pattern import place
from kinegrad.kernels.products import (
    BIAS,
    DURATION,
    EVALUATE,
    EXTENT,
    FREEDOMS,
    LENGTH,
    POSITION,
    PRODUCTS,
    STATUS,
    TIME,
    full_viewers,
)
from kinegrad.kernels.solvers.factors import factor, solve, symmetric_factors
from kinegrad.kernels.solvers.multiply import minus_times, times
from kinegrad.kernels.start_rows import are_finite, clear_rank, extent, largest_of, row_sizes, scaled_norm
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call
from kinegrad.kernels.vec3 import cross, dot, sub, vec

(mk_,) = ELEMENTS.viewers("mk")
par_, flag_, q_, v_, a_, vp_, ap_, f_, lam_, sv_, sa_, Phi_, Phi_t_, c_ = PRODUCTS.viewers(
    *"par flag q v a vp ap f lam sv sa Phi Phi_t c".split()
)
M_, J_, square_, wide_, alike_, ease_, x_, w_, z_, r_, D_ = PRODUCTS.viewers(
    *"M J square wide alike ease x w z r D".split()
)
size_, unit_, per_, soft_ = PRODUCTS.viewers("size", "unit", "per", "soft")
(rows_,) = full_viewers("J")

TOLERANCE = 1e-13  # of coordinates: the last step of Newton's method
ACCEPTED = 1e-9  # a residual above this, of the size of its row, is not assembled
MOST_ITERATIONS = 60
HELD = 1e-10  # of the size of a row: what velocities may lack
FIRM = 1e-13  # part of the diagonal that a pivot has to be
NEAR = 0.5  # cosine of the angle within which directions face each other
ACROSS = 1e-6  # cosine of directions that are perpendicular

USUAL, UNUSUAL = 0, 1  # what the functions return
DONE, NO_POSITION, NO_VELOCITIES, NO_ACCELERATIONS = range(4)  # how far a start has come


class Given(NamedTuple):
    """What a start is found from: of d degrees of freedom and n coordinates."""

    position: np.ndarray  # (d,)
    velocity: np.ndarray  # (d,)
    coordinate: np.ndarray  # (d,) the coordinate that each is, or -1
    facing: np.ndarray  # (k, 3) markers a, b, c for which a × b is to be c
    either: np.ndarray  # (e, 3) the same, or -c
    rank: np.ndarray  # (1,) that the constraint rows have to have


class Scratch(NamedTuple):
    """Room for a start with m rows of constraints, r rows in all and n coordinates."""

    K: Factors  # of all rows
    C: Factors  # of the constraints
    guess: np.ndarray  # (n,)
    q: np.ndarray  # (n,)
    step: np.ndarray  # (n,)
    residual: np.ndarray  # (r,)
    right: np.ndarray  # (r,)
    sizes: np.ndarray  # (r,)
    senses: np.ndarray  # (e,)
    ease: np.ndarray  # (m,)


def scratch(n: int, m: int, r: int, e: int) -> Scratch:
    """Room for so many coordinates, rows, and directions that may have either sense."""
    one, all_, some = np.ones(n), np.ones(r), np.ones(m)
    K, C = orthogonal.factors(all_, one), orthogonal.factors(some, one)
    return Scratch(K, C, *(np.zeros(size) for size in (n, n, n, r, r, r, e, m)))


# --- positions -----------------------------------------------------------------------------------------------------------


@kernel
def position_residual(fn, ctx, m, z, r):
    """r = Phi, and what the degrees of freedom lack of z, at q."""
    flag_(ctx)[FREEDOMS] = 1
    call(fn[POSITION], ctx)
    Phi = Phi_(ctx)
    for l in range(r.shape[0]):
        r[l] = Phi[l] - z[l - m] if l >= m else Phi[l]


@kernel
def is_short(step, q, per):
    """Whether a step of Newton's method is rounding, in units of the coordinates."""
    most, largest = 0.0, 1.0
    for i in range(q.shape[0]):
        most = max(most, abs(step[i]) * per[i])
        largest = max(largest, abs(q[i]) * per[i])
    return most < TOLERANCE * largest


@kernel
def closed(fn, ctx, m, given, S):
    """The iterations of Newton's method with step halving from the residual at q, which S has; -1 if it has not found any."""
    q, J, n = q_(ctx), rows_(ctx), S.q.shape[0]
    for k in range(MOST_ITERATIONS):
        if not (are_finite(S.residual) and are_finite(J_(ctx))) or clear_rank(ctx, J, S.K) != n:
            return -1
        for l in range(S.right.shape[0]):
            S.right[l] = -S.residual[l]
        orthogonal.solve(S.K, n, S.right, S.step)
        row_sizes(ctx, J, S.sizes)
        size, part = scaled_norm(S.residual, S.sizes), 1.0
        for i in range(n):
            S.q[i] = q[i]
        while True:
            for i in range(n):
                q[i] = S.q[i] + part * S.step[i]
            position_residual(fn, ctx, m, given.position, S.residual)
            if scaled_norm(S.residual, S.sizes) <= max(size, 1e-12) or part < 1e-3:
                break
            part *= 0.5
        off = largest_of(S.residual, S.sizes)
        small = is_short(S.step, S.q, per_(ctx)) or off < 1e-15
        if small and off < ACCEPTED:
            return k + 1
        if part < 1e-3 and off > ACCEPTED:
            return -1
    return -1


@kernel
def triple(mk, abc, k):
    """a × b and c of some markers."""
    return cross(vec(mk[abc[k, 0]]["x"]), vec(mk[abc[k, 1]]["x"])), vec(mk[abc[k, 2]]["x"])


@kernel
def are_facing(mk, given, S):
    """Whether directions face each other as they should, those of either sense as before."""
    for k in range(given.facing.shape[0]):
        ab, c = triple(mk, given.facing, k)
        gap = sub(ab, c)
        if not dot(gap, gap) < 2.0 * (1.0 - NEAR):
            return False
    for k in range(given.either.shape[0]):
        ab, c = triple(mk, given.either, k)
        if not dot(ab, c) * S.senses[k] > 0.0:
            return False
    return True


@kernel
def assembled(fn, ctx, m, given, S):
    """Iterations, with q at which all rows hold; or -1."""
    q, mk = q_(ctx), mk_(ctx)
    for k in range(given.coordinate.shape[0]):
        if given.coordinate[k] >= 0:
            q[given.coordinate[k]] = given.position[k]
    position_residual(fn, ctx, m, given.position, S.residual)
    for k in range(given.either.shape[0]):
        ab, c = triple(mk, given.either, k)
        S.senses[k] = dot(ab, c)
        if not abs(S.senses[k]) > ACROSS:
            return -1
    if S.residual.shape[0] == 0:
        return 0
    iterations = closed(fn, ctx, m, given, S)
    return iterations if are_facing(mk, given, S) else -1


# --- velocities and accelerations ----------------------------------------------------------------------------------------


@kernel
def refine(J, F, right, b, step, x):
    """x with J x = right, which has one solution, refined once; b, step are scratch."""
    n = x.shape[0]
    orthogonal.solve(F, n, right, x)
    for l in range(right.shape[0]):
        b[l] = right[l]
        for i in range(n):
            b[l] -= J[l, i] * x[i]
    orthogonal.solve(F, n, b, step)
    for i in range(n):
        x[i] += step[i]


@kernel
def moving(ctx, m, given, S):
    """USUAL, with v = vp; or UNUSUAL."""
    J, v, n = rows_(ctx), v_(ctx), S.q.shape[0]
    if not are_finite(J_(ctx)) or clear_rank(ctx, J, S.C) != given.rank[0] or clear_rank(ctx, J, S.K) != n:
        return UNUSUAL
    Phi_t = Phi_t_(ctx)
    for l in range(S.right.shape[0]):
        S.right[l] = given.velocity[l - m] - Phi_t[l] if l >= m else -Phi_t[l]
    refine(J, S.K, S.right, S.residual, S.step, v)
    row_sizes(ctx, J, S.sizes)
    rate = 1.0 / size_(ctx)[DURATION]
    for l in range(S.right.shape[0]):
        off, size = -S.right[l], 0.0
        for i in range(n):
            off += J[l, i] * v[i]
            size += abs(J[l, i]) * abs(v[i])
        if not abs(off) <= HELD * max(S.sizes[l] * rate, size):
            return UNUSUAL
    for i in range(n):
        vp_(ctx)[i] = v[i]
    return USUAL


@kernel
def are_firm(ctx, m, D):
    """Whether no pivot of the factors of M + JᵀDJ is so small that it may be rounding."""
    square, M, J, F = square_(ctx), M_(ctx), J_(ctx), symmetric_factors(ctx)
    n = q_(ctx).shape[0]
    for i in range(n):
        s = M[place(square, i, i)]
        for l in range(m):
            s += D[l] * J[l * n + i] ** 2
        if not abs(F[4][i]) > FIRM * abs(s):
            return False
    return True


@kernel
def put_ease(ctx, m, ease):
    """USUAL, with how easily rows move, at the position for which there are M and Phi_q (LIN-6); or UNUSUAL."""
    square, wide, M, J, D, w, x = square_(ctx), wide_(ctx), M_(ctx), J_(ctx), D_(ctx), w_(ctx), x_(ctx)
    n, F = x.shape[0], symmetric_factors(ctx)
    inverse_inertias(square, M, alike_(ctx), w, unit_(ctx))
    for l in range(m):
        ease[l] = 1.0
        _, s = row_squares(wide, True, n, J, l, w, unit_(ctx))
        D[l] = 1.0 / s if s > 0.0 else 0.0
    if factor(F, M, J, m, D) != OK:
        return USUAL
    if not are_firm(ctx, m, D):
        return UNUSUAL
    for l in range(m):
        binds = False
        for i in range(n):
            x[i] = J[l * n + i]
            binds = binds or (J[l * n + i] != 0.0 and M[place(square, i, i)] <= 0.0)
        if not D[l] > 0.0 or binds:
            continue
        solve(F, x)
        s = 0.0
        for i in range(n):
            s += J[l * n + i] * x[i]
        held = min(max(D[l] * s, 1e-16), 1.0)
        ease[l] = min(max((1.0 - held) / held, 1.0 / STRENGTH), 1.0)
    return USUAL


@kernel
def factor_constrained(ctx, m, eps, ease):
    """USUAL, with weights and factors for `solve_constrained` in the context; or UNUSUAL."""
    if not are_finite(M_(ctx)) or put_ease(ctx, m, ease) != USUAL:
        return UNUSUAL
    row_weights(patterns(ctx), M_(ctx), J_(ctx), m, eps, alike_(ctx), ease, w_(ctx), z_(ctx), D_(ctx))
    if factor(symmetric_factors(ctx), M_(ctx), J_(ctx), m, D_(ctx)) != OK or not are_firm(ctx, m, D_(ctx)):
        return UNUSUAL
    return USUAL


@kernel
def inertial_norm(square, M, x):
    """|x|, weighted by the inertias of the coordinates."""
    s = 0.0
    for i in range(x.shape[0]):
        s += abs(M[place(square, i, i)]) * x[i] ** 2
    return sqrt(s)


@kernel
def solve_constrained(ctx, m, eps, r1, r2, x, y):
    """USUAL, with x, y such that [M Jᵀ; J −ε] [x; y] = [r1; r2], by the factors in the context (LIN-3); or UNUSUAL."""
    square, wide, M, J, D, w, z = square_(ctx), wide_(ctx), M_(ctx), J_(ctx), D_(ctx), w_(ctx), z_(ctx)
    n, F, last, first, soft = x.shape[0], symmetric_factors(ctx), 0.0, 0.0, soft_(ctx)
    for i in range(n):
        x[i] = 0.0
    for l in range(m):
        y[l] = 0.0
    for k in range(MOST_ROUNDS):
        for i in range(n):
            w[i] = r1[i]
        for l in range(m):
            z[l] = r2[l] + eps * soft[l] * y[l]
        minus_times(wide, J, m, x, z)
        minus_times(square, M, n, x, w)
        plus_weighed_rows(wide, J, m, D, z, y, True, w)
        solve(F, w)
        for i in range(n):
            x[i] += w[i]
        for l in range(m):
            z[l] = -z[l]
        times(wide, J, m, w, z, z)
        for l in range(m):
            y[l] += D[l] * z[l]
        e, size = inertial_norm(square, M, w), inertial_norm(square, M, x)
        if k == 0:
            first = e  # where y alone is asked for, x ends at zero
        if k + 1 >= FEWEST_ROUNDS and (e * e <= ENOUGH * last * size or e <= 1e-15 * max(size, first)):
            return USUAL if are_finite(x) and are_finite(y) else UNUSUAL
        last = e
    return UNUSUAL


@kernel
def accelerated(fn, ctx, m, eps, S):
    """USUAL, with a = ap and lam; or UNUSUAL."""
    flag_(ctx)[FREEDOMS] = 1
    call(fn[EVALUATE], ctx)
    if flag_(ctx)[STATUS] != OK or factor_constrained(ctx, m, eps, S.ease) != USUAL:
        return UNUSUAL
    call(fn[BIAS], ctx)
    f, c, a, lam, r = f_(ctx), c_(ctx), a_(ctx), lam_(ctx), r_(ctx)
    for i in range(a.shape[0]):
        S.step[i] = -f[i]
    for l in range(m):
        r[l] = -c[l]
    for l in range(lam.shape[0]):
        lam[l] = 0.0
        sv_(ctx)[l] = 0.0
        sa_(ctx)[l] = 0.0
    if solve_constrained(ctx, m, eps, S.step, r, a, lam) != USUAL:
        return UNUSUAL
    for i in range(a.shape[0]):
        ap_(ctx)[i] = a[i]
    return USUAL


@entry(what="the start")
def gap(fn, ctx, m, given, S):
    """The most that a row lacks at q, in what it changes by when coordinates change by their units."""
    position_residual(fn, ctx, m, given.position, S.residual)
    row_sizes(ctx, rows_(ctx), S.sizes)
    return largest_of(S.residual, S.sizes)


@entry(what="the start")
def find(fn, ctx, m, opts, given, S):
    """DONE, and iterations, with q, v = vp, a = ap, lam of the start, found from q; or what it has not found.

    Without a position q is as it was.  opts: the time, and the compliance ε.
    """
    q, par = q_(ctx), par_(ctx)
    for i in range(par.shape[0]):
        par[i] = 0.0
    par[TIME] = opts[0]
    for i in range(q.shape[0]):
        S.guess[i] = q[i]
    iterations = assembled(fn, ctx, m, given, S)
    if iterations < 0 or not are_finite(M_(ctx)) or put_ease(ctx, m, ease_(ctx)) != USUAL:
        for i in range(q.shape[0]):
            q[i] = S.guess[i]
        return NO_POSITION, 0
    par[EXTENT] = extent(mk_(ctx), size_(ctx)[LENGTH])
    if moving(ctx, m, given, S) != USUAL:
        return NO_VELOCITIES, iterations
    return (DONE if accelerated(fn, ctx, m, opts[1], S) == USUAL else NO_ACCELERATIONS), iterations
