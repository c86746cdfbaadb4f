"""How firmly constraint rows hold a mechanism: a bound of their least singular value, for what is asked at every start."""

from kinegrad.kernels.constrained import inverse_inertias
from kinegrad.kernels.jit import entry, kernel, real, sqrt
from kinegrad.kernels.products import PRODUCTS, full_viewers

M_, square_, alike_, w_, unit_, soft_ = PRODUCTS.viewers(*"M square alike w unit soft".split())
(rows_,) = full_viewers("J")

LIGHT = 1e-12  # of the largest inertia: none
FIRM = 1e-10  # of the first pivot: a row that counts
NOTHING = 1e-13  # of it: what rounding leaves of a redundant row


@entry(what="the start")
def firmness(ctx, m, rank, G, L):
    """A lower bound of σ², σ the least singular value of the rows that is not zero, of rows in metres and in coordinates
    weighted by inertia, at the M and J of a context; -1 if so many independent rows are not clearly told from the others.

    G (m, m) and L (rank, rank) are scratch.
    """
    w, J, unit, soft = w_(ctx), rows_(ctx), unit_(ctx), soft_(ctx)
    n = w.shape[0]
    inverse_inertias(square_(ctx), M_(ctx), alike_(ctx), w, unit)
    least = 1e300
    for k in range(n):
        least = min(least, real(w[k]) / unit[k] ** 2)
    for k in range(n):
        if LIGHT * w[k] >= least * unit[k] ** 2:
            w[k] = least * unit[k] ** 2
    for i in range(m):
        for j in range(i + 1):
            g = 0.0
            for k in range(n):
                g += J[i, k] * w[k] * J[j, k]
            G[i, j] = G[j, i] = g / sqrt(soft[i] * soft[j])
    return bound(G, m, rank, L)


@kernel
def bound(G, m, rank, L):
    """A lower bound of the least eigenvalue that is not zero, of a matrix (m, m) of this rank; -1 if it has not clearly that
    rank.  G is changed.

    By pivots: rows that are chosen have no larger singular values than all, and 1/λ_min is at most the trace of the inverse.
    """
    first = 0.0
    for r in range(rank):
        best = r
        for i in range(r + 1, m):
            if G[i, i] > G[best, best]:
                best = i
        if r == 0:
            first = G[best, best]
        if not G[best, best] > FIRM * first:
            return -1.0
        for k in range(m):
            G[r, k], G[best, k] = G[best, k], G[r, k]
        for k in range(m):
            G[k, r], G[k, best] = G[k, best], G[k, r]
        pivot = sqrt(G[r, r])
        for i in range(r, m):
            G[i, r] /= pivot  # the column of the factor; what is left is below and to the right of it
        for i in range(r + 1, m):
            for j in range(r + 1, i + 1):
                G[i, j] -= G[i, r] * G[j, r]
                G[j, i] = G[i, j]
    for i in range(rank, m):
        if not abs(G[i, i]) <= NOTHING * first:
            return -1.0
    trace = 0.0
    for c in range(rank):  # the columns of the inverse of the factor
        for i in range(c, rank):
            x = 1.0 if i == c else 0.0
            for k in range(c, i):
                x -= G[i, k] * L[k, c]
            L[i, c] = x / G[i, i]
            trace += L[i, c] * L[i, c]
    return 1.0 / trace if trace > 0.0 else -1.0
