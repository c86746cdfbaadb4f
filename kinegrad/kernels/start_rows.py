"""Rows at the start of small dense systems: their sizes, and a rank that is clear or in doubt."""

from math import isfinite

from kinegrad.kernels import orthogonal
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import kernel, real, sqrt
from kinegrad.kernels.products import PRODUCTS
from kinegrad.kernels.vec3 import vec

(mk_,) = ELEMENTS.viewers("mk")
unit_, per_row_ = PRODUCTS.viewers("unit", "per_row")

UNLIKE = 1e3  # sizes of rows, or of columns, this far apart are made alike before a rank is counted
NO_SIZE = 1e-13  # part of the largest entry that is rounding
SURE, NONE = 1e-6, 1e-12  # parts of the first pivot: larger ones count, smaller ones do not, others are in doubt


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
def one_over(x):
    """1 over the largest power of two up to x; 1 where x is none."""
    factor = 1.0
    if x > 0.0 and isfinite(x):
        while factor * x >= 2.0:
            factor *= 0.5
        while factor * x < 1.0:
            factor *= 2.0
    return factor


@kernel
def row_size(J, l, unit):
    """How much a row changes when coordinates change by their units."""
    s = 0.0
    for i in range(unit.shape[0]):
        s += abs(J[l, i]) * real(unit[i])
    return s


@kernel
def put_scales(ctx, J, F):
    """Factors of the rows and columns of J in F: their units in sizes of the model, and where sizes are far apart then those
    that make them about 1 (LIN-7)."""
    unit, per_row = unit_(ctx), per_row_(ctx)
    n, m = F.A.shape
    for l in range(m):
        F.rows[l] = per_row[l] if real(per_row[l]) > 0.0 else one_over(row_size(J, l, unit))
    for i in range(n):
        F.columns[i] = unit[i]
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
def clear_rank(ctx, J, F):
    """The rank of the rows J, with their factors in F; -1 where it is in doubt."""
    n, m = F.A.shape
    if min(n, m) == 0:
        return 0
    put_scales(ctx, J, F)
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
def extent(mk, length):
    """The largest coordinate of a point in lengths of the model, at least 1."""
    most = length
    for i in range(mk.shape[0]):
        if mk[i]["point"]:
            x = vec(mk[i]["x"])
            most = max(most, abs(x[0]), abs(x[1]), abs(x[2]))
    return most / length


@kernel
def row_sizes(ctx, J, sizes):
    """How much the rows change when coordinates change by their units; the units of rows that do not change, or hardly."""
    unit, per_row, largest = unit_(ctx), per_row_(ctx), 0.0
    for l in range(sizes.shape[0]):
        sizes[l] = row_size(J, l, unit)
        largest = max(largest, sizes[l] * real(per_row[l]))
    for l in range(sizes.shape[0]):
        per = real(per_row[l])
        if per > 0.0 and not sizes[l] * per > NO_SIZE * largest:
            sizes[l] = 1.0 / per
        elif not sizes[l] > 0.0:
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
