"""The unknowns of least norm that balance all bodies, and what may be added to them (REA-3, REA-5, REA-6).

With J = Gᵀ, one row for each unknown: y of least squares in G y = b, of least norm, and directions z with G z = 0.  Small
balances are factored as they are, by reflections that reveal the rank.  Large ones have a pattern: fronts factor G Gᵀ + δ, and
rounds of refinement take away what δ did.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.jit import kernel, real, sqrt
from kinegrad.kernels.orthogonal import RANK_TOLERANCE, Factors, factor, reflect, solve, solve_transposed
from kinegrad.kernels.pattern import end_of
from kinegrad.kernels.solvers.fronts import assemble, factor_symmetric, solve_symmetric
from kinegrad.kernels.solvers.multiply import minus_rows, row_times

REGULAR = 1e-10  # δ, as part of the largest diagonal entry of G Gᵀ
ROUNDS = 8  # of refinement, at most
ROUNDING = 1e-16  # of the largest unknown: a round that changes less is the last one
SHRINKS = 0.5  # and so is one that changes more than this part of the change before
PROBES = 4  # directions that are looked at where more may be added


class Reflections(NamedTuple):
    """Scratch of a small balance: m unknowns, n rows, q = min(m, n)."""

    J: np.ndarray  # (m, n)
    F: Factors  # of J
    R: np.ndarray  # (n, q) what is left of J, transposed, where its rank leaves rows over
    G: Factors  # of R
    c: np.ndarray  # (n,)
    u: np.ndarray  # (q,)


class Fronts(NamedTuple):
    """Tables of fronts and scratch of a large balance: m unknowns, n rows; all empty in a small one."""

    front: np.ndarray
    columns: np.ndarray
    places: np.ndarray
    of_entry: np.ndarray
    of_row: np.ndarray
    in_row: np.ndarray
    T: np.ndarray  # (n,) δ
    D: np.ndarray  # (m,) ones
    F: np.ndarray  # (1, entries of the fronts)
    w: np.ndarray  # (n,)
    x: np.ndarray  # (1, n)
    z: np.ndarray  # (n,)


# --- small -----------------------------------------------------------------------------------------------------------


@kernel
def factor_small(S, more):
    """Rank, and the rank of what is left, of a balance in which rounding is judged as if it were `more` times larger."""
    A, n = S.F.A, S.R.shape[0]
    rank = factor(S.J, S.F)
    while rank > 0 and abs(real(A[rank - 1, rank - 1])) <= RANK_TOLERANCE * more * abs(real(A[0, 0])):
        rank -= 1
    if rank == n:
        return rank, rank
    for k in range(n):
        for l in range(S.R.shape[1]):
            S.R[k, l] = A[k, l] if l < rank and l <= k else 0.0
    return rank, factor(S.R, S.G)


@kernel
def solve_small(S, rank, left, r, y):
    """y = what gives r, of least squares and least norm."""
    c = S.c
    if rank == c.shape[0]:
        solve_transposed(S.F, rank, r, y)
        return
    for k in range(c.shape[0]):
        c[k] = r[S.F.order[k]]
    solve(S.G, left, c, S.u)
    for k in range(y.shape[0]):
        y[k] = S.u[k] if k < rank else 0.0
    for k in range(rank - 1, -1, -1):
        reflect(S.F, k, y)


@kernel
def loose_small(S, rank, chance, i, z):
    """z = direction i of what may be added: one of a basis, or a combination by chance where there are more than PROBES."""
    m = z.shape[0]
    for l in range(m):
        z[l] = 0.0
    if m - rank > PROBES:
        for l in range(rank, m):
            z[l] = chance[i, l]
    else:
        z[rank + i] = 1.0
    for k in range(rank - 1, -1, -1):
        reflect(S.F, k, z)


# --- large -----------------------------------------------------------------------------------------------------------


@kernel
def factor_large(L, wide, J, more):
    """Status; the factors of G Gᵀ + δ."""
    largest = 0.0
    for l in range(L.D.shape[0]):
        squares = 0.0
        for p in range(end_of(wide, l), end_of(wide, l + 1)):
            squares += real(J[p]) ** 2
        largest = max(largest, squares)
    size = more * sqrt(largest)
    for i in range(L.T.shape[0]):
        L.T[i] = REGULAR * size * size if size > 0.0 else 1.0
    assemble(L.front, L.of_entry, L.of_row, L.in_row, wide, L.T, J, J, L.D.shape[0], L.D, True, L.F)
    status, _ = factor_symmetric(L.front, L.columns, L.places, L.F, L.w, L.x)
    return status


@kernel
def refine(L, wide, J, b, y):
    """y += Gᵀ(G Gᵀ + δ)⁻¹(b - G y), until that shrinks no more: y keeps its part that G does not see (REA-6)."""
    m, last = y.shape[0], 1e300
    for _ in range(ROUNDS):
        for i in range(b.shape[0]):
            L.z[i] = b[i]
        minus_rows(wide, J, m, y, L.z)
        solve_symmetric(L.front, L.columns, L.F, L.z)
        size, change = 0.0, 0.0
        for l in range(m):
            d = row_times(wide, J, l, L.z, 0.0 * y[l])
            y[l] += d
            size = max(size, abs(real(y[l])))
            change = max(change, abs(real(d)))
        if not (ROUNDING * size < change < SHRINKS * last):
            return
        last = change
