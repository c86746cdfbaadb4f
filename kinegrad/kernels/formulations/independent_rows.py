"""Independent rows for formulations at acceleration level.

Redundant rows agree where positions are exact.  Positions that drift by δ let them contradict each other by as much, in
directions that they hardly see: accelerations would be sought of the size δ/δ, and the motion would be another one.  So where
rows are redundant at the start, each step uses just as many as have rank there, the most independent ones (IDX-7).
"""

from kinegrad.kernels.jit import kernel, real
from kinegrad.kernels.pattern import COLUMNS, DENSE, OF_ROW, PLACES, RUNS
from kinegrad.kernels.products import PRODUCTS

J_, wide_, row_scale_, scale_, apart_, ease_ = PRODUCTS.viewers(*"J wide row_scale scale apart ease".split())

EQUAL = 1.0 - 1e-6  # rows this near to the largest count as equal to it, and the first of them is taken


@kernel
def choose_rows(ctx, m, rank):
    """Signs of `ease` (LIN-6): positive for `rank` rows of J, each the farthest from those before it, negative for the others.

    `row_scale` and `scale` make rows and coordinates of any unit comparable.
    """
    B = apart_(ctx)
    spread_rows(ctx, m, B)
    take_rows(B, m, B.shape[1], rank, row_scale_(ctx), scale_(ctx), ease_(ctx))


@kernel
def spread_rows(ctx, m, B):
    """B (m, n) = J, with the entries that its pattern leaves out."""
    P, J, zero = wide_(ctx), J_(ctx), 0.0 * scale_(ctx)[0]
    for l in range(m):
        for i in range(B.shape[1]):
            B[l, i] = zero
        if P[DENSE]:
            for i in range(P[COLUMNS]):
                B[l, i] = J[l * P[COLUMNS] + i]
        else:
            p = P[P[PLACES] + l]
            for k in range(P[P[OF_ROW] + 2 * l], P[P[OF_ROW] + 2 * l + 1]):
                first = P[P[RUNS] + 3 * k]
                for i in range(first, first + P[P[RUNS] + 3 * k + 1]):
                    B[l, i] = J[p]
                    p += 1


@kernel
def take_rows(B, m, n, rank, rows, columns, ease):
    """`choose_rows` of the rows B (m, n), which are used up."""
    for l in range(m):
        for i in range(n):
            B[l, i] = real(B[l, i]) * real(rows[l]) * real(columns[i])
        a = abs(real(ease[l]))
        ease[l] = -(a if a > 0.0 else 1.0)
    for _ in range(rank):
        largest = 0.0
        for l in range(m):
            if real(ease[l]) < 0.0:
                largest = max(largest, length2(B, l, n))
        k = 0
        while k < m - 1 and not (real(ease[k]) < 0.0 and length2(B, k, n) >= EQUAL * largest):
            k += 1
        ease[k] = -ease[k]
        if largest > 0.0:
            remove(B, k, m, n)


@kernel
def length2(B, l, n):
    """|B_l|²."""
    s = 0.0
    for i in range(n):
        s += real(B[l, i]) ** 2
    return s


@kernel
def remove(B, k, m, n):
    """The direction of row k is taken out of the other rows."""
    s = length2(B, k, n)
    for l in range(m):
        if l != k:
            t = 0.0
            for i in range(n):
                t += real(B[l, i]) * real(B[k, i])
            t /= s
            for i in range(n):
                B[l, i] -= t * B[k, i]
