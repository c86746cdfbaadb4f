"""Independent rows for formulations at acceleration level.

Redundant rows agree where positions are exact.  Positions that drift by δ let them contradict each other by as much, in
directions that they hardly see: accelerations would be sought of the size δ/δ, and the motion would be another one.  So where
rows are redundant at the start, each step uses just as many as have rank there, the most independent ones (IDX-7).
"""

from kinegrad.kernels.jit import kernel, real
from kinegrad.kernels.products import PRODUCTS, full_viewers

row_scale_, scale_, apart_, ease_ = PRODUCTS.viewers("row_scale", "scale", "apart", "ease")
(J_,) = full_viewers("J")

EQUAL = 1.0 - 1e-6  # rows this near to the largest count as equal to it, and the first of them is taken


@kernel
def choose_rows(ctx, m, rank):
    """Signs of `ease` (LIN-6): positive for `rank` rows of J, each the farthest from those before it, negative for the others.

    `row_scale` and `scale` make rows and coordinates of any unit comparable.
    """
    n = scale_(ctx).shape[0]
    take_rows(J_(ctx), m, n, rank, row_scale_(ctx), scale_(ctx), apart_(ctx), ease_(ctx))


@kernel
def take_rows(J, m, n, rank, rows, columns, B, ease):
    """`choose_rows` of arrays; B (m, n) is scratch."""
    for l in range(m):
        for i in range(n):
            B[l, i] = real(J[l, i]) * real(rows[l]) * real(columns[i])
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
