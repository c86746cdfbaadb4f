"""Rows at the start of small dense systems: their sizes, and a rank that is clear or in doubt."""

from math import isfinite

from kinegrad.kernels import orthogonal
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import kernel, sqrt
from kinegrad.kernels.vec3 import vec

(mk_,) = ELEMENTS.viewers("mk")

UNLIKE = 1e3  # sizes of rows, or of columns, this far apart are made alike before a rank is counted
NO_SIZE = 1e-13  # part of the largest entry that is rounding
SURE, NONE = 1e-6, 1e-12  # parts of the first pivot: larger ones count, smaller ones do not, others are in doubt
COINCIDE = 1e-9  # of the distance from the origin: markers nearer to each other are in one place


@kernel
def are_finite(x):
    """Whether all numbers of a vector are."""
    fine = True
    for i in range(x.shape[0]):
        fine = fine and isfinite(x[i])
    return fine


@kernel
def sides(J, F):
    """F.b, F.y = the largest entries of the rows and of the columns of J, in the scales of F."""
    n, m = F.A.shape
    for i in range(n):
        F.y[i] = 0.0
    for l in range(m):
        F.b[l] = 0.0
        for i in range(n):
            size = F.rows[l] * abs(J[l, i]) * F.columns[i]
            F.b[l] = max(F.b[l], size)
            F.y[i] = max(F.y[i], size)


@kernel
def are_alike(x):
    """Whether the sizes in x that are not zero are less than UNLIKE apart."""
    low, high = 1e300, 0.0
    for i in range(x.shape[0]):
        high = max(high, x[i])
        if x[i] > 0.0:
            low = min(low, x[i])
    return high < UNLIKE * low


@kernel
def scale(x, largest, factors):
    """Divide factors by the roots of the sizes x, as far as these are not rounding."""
    for i in range(x.shape[0]):
        if x[i] > NO_SIZE * largest:
            factors[i] /= sqrt(x[i])


@kernel
def put_scales(J, F):
    """Factors of the rows and columns of J in F: 1, or where sizes are far apart those that make them about 1 (LIN-7)."""
    n, m = F.A.shape
    for l in range(m):
        F.rows[l] = 1.0
    for i in range(n):
        F.columns[i] = 1.0
    sides(J, F)
    if are_alike(F.b) and are_alike(F.y):
        return
    for k in range(4):
        if k > 0:
            sides(J, F)
        largest = 0.0
        for l in range(m):
            largest = max(largest, F.b[l])
        scale(F.b, largest, F.rows)
        scale(F.y, largest, F.columns)


@kernel
def clear_rank(J, F):
    """The rank of the rows J, with their factors in F; -1 where it is in doubt."""
    n, m = F.A.shape
    if min(n, m) == 0:
        return 0
    put_scales(J, F)
    rank = orthogonal.factor(J, F)
    first = abs(F.A[0, 0]) if rank > 0 else 0.0
    for k in range(rank):
        if not abs(F.A[k, k]) > SURE * first:
            return -1
    if rank < min(n, m):
        for j in range(rank, n):
            if F.squares[j, 0] > (NONE * first) ** 2:
                return -1
    return rank


@kernel
def extent(mk):
    """The largest coordinate of a marker, at least 1."""
    most = 1.0
    for i in range(mk.shape[0]):
        x = vec(mk[i]["x"])
        most = max(most, abs(x[0]), abs(x[1]), abs(x[2]))
    return most


@kernel
def size_of(mk):
    """How far markers are from their mean, or from the origin where they coincide; 1 where there is nothing."""
    count = mk.shape[0]
    most, far, a, b, c = 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(count):
        x = vec(mk[i]["x"])
        a, b, c = a + x[0], b + x[1], c + x[2]
        far = max(far, abs(x[0]), abs(x[1]), abs(x[2]))
    for i in range(count):
        x = vec(mk[i]["x"])
        most = max(most, abs(x[0] - a / count), abs(x[1] - b / count), abs(x[2] - c / count))
    if most > COINCIDE * far:
        return most
    return far if far > 0.0 else 1.0


@kernel
def row_sizes(ctx, J, lengths, sizes):
    """How much the rows change when coordinates change by 1, or lengths by the size of the mechanism."""
    size, largest = size_of(mk_(ctx)), 0.0
    for l in range(sizes.shape[0]):
        s = 0.0
        for i in range(lengths.shape[0]):
            s += abs(J[l, i]) * (size if lengths[i] != 0.0 else 1.0)
        sizes[l] = s
        largest = max(largest, s)
    for l in range(sizes.shape[0]):
        if not sizes[l] > NO_SIZE * largest:
            sizes[l] = 1.0


@kernel
def scaled_norm(r, sizes):
    """|r / sizes|."""
    s = 0.0
    for l in range(r.shape[0]):
        s += (r[l] / sizes[l]) ** 2
    return sqrt(s)


@kernel
def largest_of(r, sizes):
    """max |r / sizes|."""
    most = 0.0
    for l in range(r.shape[0]):
        most = max(most, abs(r[l] / sizes[l]))
    return most


@kernel
def largest(x):
    """max |x|."""
    most = 0.0
    for i in range(x.shape[0]):
        most = max(most, abs(x[i]))
    return most
