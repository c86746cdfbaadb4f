"""Factors of T + JᵀDG of a fixed pattern by fronts: small dense matrices, each added to the one after it (LIN-9).

A front has the coordinates that are eliminated in it, its pivots, and those that they leave something to.  Every entry of T,
and every row of J, belongs to one front (`kinegrad.coordinates.elimination`), so there is no matrix of all coordinates.
Pivots are not exchanged: T + JᵀDJ is definite, and T + JᵀDG near to that.

Rows of `front`: where its numbers begin, its size, its pivots, its parent or -1, where its coordinates begin in `columns`, and
where the places of its remainder in the parent begin in `places`.
"""

from math import isfinite

from kinegrad.kernels.jit import cfunction, inlined, kernel, real
from kinegrad.kernels.lanes import load4, store4
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR
from kinegrad.kernels.table import Layout

OFFSET, SIZE, PIVOTS, PARENT, COLUMNS, PLACES = range(6)
TINY = 1e-14  # a pivot this part of what it was subtracted from is none


@kernel
def assemble(front, of_entry, of_row, in_row, wide, T, J, G, m, D, lower, F):
    """F = the fronts of T + JᵀDG, or of its lower triangle, before anything is eliminated; `of_entry` is -1 where an entry of T
    is not wanted."""
    for i in range(F.shape[1]):
        F[0, i] = 0.0
    for i in range(T.shape[0]):
        if of_entry[i] >= 0:
            F[0, of_entry[i]] += T[i]
    for l in range(m):
        first, last = end_of(wide, l), end_of(wide, l + 1)
        offset, size = front[of_row[l], OFFSET], front[of_row[l], SIZE]
        for i in range(first, last):
            t = D[l] * J[i]
            if t != 0.0:
                row = offset + in_row[i] * size
                for j in range(first, last):
                    if not lower or in_row[j] <= in_row[i]:
                        F[0, row + in_row[j]] += t * G[j]


@kernel
def pivot_status(pivot, scale):
    """OK, or what is wrong with a pivot that came out of a number of size `scale`."""
    p, s = real(pivot), real(scale)
    if not (isfinite(p) and isfinite(s)):
        return NOT_FINITE
    return SINGULAR if abs(p) <= TINY * abs(s) else OK


@inlined
def minus_multiple(F, row, G, other, first, last, l):
    """Entries first to last - 1 of a row of F, less l times those of a row of G."""
    c = first
    while c + 4 <= last:
        store4(F, 0, row + c, load4(F, 0, row + c) - l * load4(G, 0, other + c))
        c += 4
    while c < last:
        F[0, row + c] -= l * G[0, other + c]
        c += 1


@kernel
def diagonal_sizes(front, columns, F, w):
    """w = Σ |A_ii| of what the fronts add up to, before anything is eliminated."""
    for i in range(w.shape[0]):
        w[i] = 0.0
    for k in range(front.shape[0]):
        o, s, g = front[k, OFFSET], front[k, SIZE], front[k, COLUMNS]
        for i in range(s):
            w[columns[g + i]] += abs(real(F[0, o + i * s + i]))


@kernel
def factor_symmetric(front, columns, places, F, w, x):
    """Status, and the coordinate where it went wrong; F = L D Lᵀ of the pivots, front by front, from lower triangles.

    w (n) and x (1, n) are scratch.
    """
    diagonal_sizes(front, columns, F, w)
    for k in range(front.shape[0]):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p):
            d = F[0, o + j * s + j]
            status = pivot_status(d, w[columns[g + j]])
            if status != OK:
                return status, columns[g + j]
            t = 1.0 / d
            for i in range(j + 1, s):
                x[0, i] = F[0, o + i * s + j]
            for i in range(j + 1, s):
                l = x[0, i] * t
                F[0, o + i * s + j] = l
                if l != 0.0:
                    minus_multiple(F, o + i * s, x, 0, j + 1, i + 1, l)
        if front[k, PARENT] >= 0:
            q, m = front[k, PARENT], front[k, PLACES]
            oq, sq = front[q, OFFSET], front[q, SIZE]
            for i in range(p, s):
                a = places[m + i - p]
                for c in range(p, i + 1):
                    b = places[m + c - p]
                    F[0, oq + max(a, b) * sq + min(a, b)] += F[0, o + i * s + c]
    return OK, -1


@kernel
def factor_general(front, columns, places, F, w):
    """Status, and the coordinate where it went wrong; F = L U of the pivots, with unit L, front by front; w (n) is scratch."""
    diagonal_sizes(front, columns, F, w)
    for k in range(front.shape[0]):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p):
            d = F[0, o + j * s + j]
            status = pivot_status(d, w[columns[g + j]])
            if status != OK:
                return status, columns[g + j]
            t = 1.0 / d
            for i in range(j + 1, s):
                row = o + i * s
                l = F[0, row + j] * t
                F[0, row + j] = l
                if l != 0.0:
                    minus_multiple(F, row, F, o + j * s, j + 1, s, l)
        if front[k, PARENT] >= 0:
            q, m = front[k, PARENT], front[k, PLACES]
            oq, sq = front[q, OFFSET], front[q, SIZE]
            for i in range(p, s):
                row = oq + places[m + i - p] * sq
                for c in range(p, s):
                    F[0, row + places[m + c - p]] += F[0, o + i * s + c]
    return OK, -1


@kernel
def solve_symmetric(front, columns, F, x):
    """x = A⁻¹ x with the factors of `factor_symmetric`."""
    for k in range(front.shape[0]):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p):
            t = x[columns[g + j]]
            for i in range(j + 1, s):
                x[columns[g + i]] -= F[0, o + i * s + j] * t
    for k in range(front.shape[0] - 1, -1, -1):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p - 1, -1, -1):
            t = x[columns[g + j]] / F[0, o + j * s + j]
            for i in range(j + 1, s):
                t -= F[0, o + i * s + j] * x[columns[g + i]]
            x[columns[g + j]] = t


@kernel
def solve_general4(front, columns, F, X):
    """X = A⁻¹ X for four columns with the factors of `factor_general`."""
    for k in range(front.shape[0]):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p):
            t = get4(X, columns[g + j])
            for i in range(j + 1, s):
                b = columns[g + i]
                put4(X, b, axpy4(-F[0, o + i * s + j], t, get4(X, b)))
    for k in range(front.shape[0] - 1, -1, -1):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p - 1, -1, -1):
            t = get4(X, columns[g + j])
            row = o + j * s
            for i in range(j + 1, s):
                t = axpy4(-F[0, row + i], get4(X, columns[g + i]), t)
            put4(X, columns[g + j], mul4(1.0 / F[0, row + j], t))


@kernel
def solve_transposed4(front, columns, F, X):
    """X = A⁻ᵀ X for four columns with the factors of `factor_general`."""
    for k in range(front.shape[0]):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p):
            row = o + j * s
            t = mul4(1.0 / F[0, row + j], get4(X, columns[g + j]))
            put4(X, columns[g + j], t)
            for i in range(j + 1, s):
                b = columns[g + i]
                put4(X, b, axpy4(-F[0, row + i], t, get4(X, b)))
    for k in range(front.shape[0] - 1, -1, -1):
        o, s, p, g = front[k, OFFSET], front[k, SIZE], front[k, PIVOTS], front[k, COLUMNS]
        for j in range(p - 1, -1, -1):
            t = get4(X, columns[g + j])
            for i in range(j + 1, s):
                t = axpy4(-F[0, o + i * s + j], get4(X, columns[g + i]), t)
            put4(X, columns[g + j], t)


# --- functions that formulations reach by their addresses ------------------------------------------------------------

# What a call is about: tables and numbers of the fronts, and the matrices, weights and right-hand sides of the caller.
# `front_job`: rows that take part, whether T is symmetric, whether a solution is with the transpose; then, left by a
# factorisation, its status and a coordinate.
CALL = Layout(
    [
        ("front", "i8", 2),
        ("front_columns", "i8", 1),
        ("front_places", "i8", 1),
        ("front_of_entry", "i8", 1),
        ("front_of_lower", "i8", 1),
    ]
    + [
        ("front_of_row", "i8", 1),
        ("front_in_row", "i8", 1),
        ("wide", "i8", 1),
        ("front_w", "f8", 1),
        ("front_x", "f8", 2),
        ("front_job", "i8", 1),
    ]
    + [("F", "f8", 2), ("T", "f8", 1), ("J", "f8", 1), ("G", "f8", 1), ("D", "f8", 1), ("x", "f8", 1), ("X", "f8", 2)]
)
N_ROWS, SYMMETRIC, TRANSPOSED, STATUS, WHERE = range(5)
N_JOB = 5
front_, columns_, places_, of_entry_, of_lower_, of_row_, in_row_, wide_, w_, row_, job_ = CALL.viewers(
    *"front front_columns front_places front_of_entry front_of_lower front_of_row front_in_row".split(),
    *"wide front_w front_x front_job".split(),
)
F_, T_, J_, G_, D_, x_, X_ = CALL.viewers(*"F T J G D x X".split())


@cfunction(what="the factors of large systems")
def factor_call(ctx):
    """F = the factors of T + JᵀDG."""
    job, front, F = job_(ctx), front_(ctx), F_(ctx)
    symmetric = job[SYMMETRIC] != 0
    of_entry = of_lower_(ctx) if symmetric else of_entry_(ctx)
    assemble(
        front, of_entry, of_row_(ctx), in_row_(ctx), wide_(ctx), T_(ctx), J_(ctx), G_(ctx), job[N_ROWS], D_(ctx), symmetric, F
    )  # fmt: skip
    if symmetric:
        job[STATUS], job[WHERE] = factor_symmetric(front, columns_(ctx), places_(ctx), F, w_(ctx), row_(ctx))
    else:
        job[STATUS], job[WHERE] = factor_general(front, columns_(ctx), places_(ctx), F, w_(ctx))


@cfunction(what="the factors of large systems")
def solve_call(ctx):
    """x = (T + JᵀDJ)⁻¹ x."""
    solve_symmetric(front_(ctx), columns_(ctx), F_(ctx), x_(ctx))


@cfunction(what="the factors of large systems")
def solve4_call(ctx):
    """X = (T + JᵀDG)⁻¹ X, or with the transpose, for four columns."""
    if job_(ctx)[TRANSPOSED]:
        solve_transposed4(front_(ctx), columns_(ctx), F_(ctx), X_(ctx))
    else:
        solve_general4(front_(ctx), columns_(ctx), F_(ctx), X_(ctx))


FUNCTIONS = (factor_call, solve_call, solve4_call)
