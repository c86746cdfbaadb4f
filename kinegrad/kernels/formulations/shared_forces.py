"""Forces that redundant rows share: multipliers of least norm, and whether an objective asks how they are shared (OBJ-7).

Where rows are redundant, multipliers are known up to x with Jᵀ x = 0.  Those of least norm are in the range of J: with Q an
orthonormal basis of it, Q Qᵀ lam of any that are known.  An objective is a number of the mechanism where it has no slope along
such x, and where the redundant rows are not loaded: where forces, and moments, of each element have no part along x.  Then
multipliers of least norm are the same whatever the norm gives to each element.  Both are looked at along one x, by chance.  So
planar linkages have the reactions of their plane, and what a Bennett linkage bears is refused.
"""

from kinegrad.kernels.formulations.independent_rows import spread_rows
from kinegrad.kernels.jit import kernel, real, sin, sqrt
from kinegrad.kernels.products import OBSERVE, PRODUCTS, SHARING
from kinegrad.kernels.table import call

g_, lam_, apart_, scale_, r_, z_, Dp_ = PRODUCTS.viewers(*"g lam apart scale r z Dp".split())
FAR = 1e-2  # of the largest multiplier: how far others are tried
ODD = 1e-2  # part of a change that is odd where there is a slope
SEEN = 1e-10  # of an objective: what changes less does not change
LOADED = 1e-5  # of the largest multiplier, along x: what motions by penalties drift to is less


@kernel
def least_norm(ctx, m, rank, units):
    """lam becomes those multipliers, times `units`, of least norm that exert the same; r is a direction in which multipliers
    exert nothing."""
    Q, lam, loose, found, scale = apart_(ctx), lam_(ctx), r_(ctx), z_(ctx), scale_(ctx)
    n = Q.shape[1]
    spread_rows(ctx, m, Q)
    for l in range(m):
        for i in range(n):
            Q[l, i] *= real(scale[i]) / units[l]
        lam[l] *= units[l]
        found[l] = 0.0 * lam[l]
        loose[l] = found[l] + sin(1.0 + 2.0 * l)
    for k in range(rank):
        take_column(Q, k, m, n)
        along, by_chance = column_dot(Q, k, lam, m), column_dot(Q, k, loose, m)
        for l in range(m):
            found[l] += along * Q[l, k]
            loose[l] -= by_chance * Q[l, k]
    for l in range(m):
        lam[l] = found[l] / units[l]
        loose[l] /= units[l]


@kernel
def take_column(Q, k, m, n):
    """Column k becomes the longest of those from k on, of unit length; its direction is taken out of those behind it."""
    best, longest = k, -1.0
    for i in range(k, n):
        s = 0.0
        for l in range(m):
            s += real(Q[l, i]) ** 2
        if s > longest:
            best, longest = i, s
    for l in range(m):
        Q[l, k], Q[l, best] = Q[l, best], Q[l, k]
    for again in range(2):  # what rounding left along those before it
        for i in range(k if again else 0):
            remove_column(Q, i, k, m)
        size = 0.0 * Q[0, k]
        for l in range(m):
            size += Q[l, k] * Q[l, k]
        size = sqrt(size)
        for l in range(m):
            Q[l, k] /= size
    for i in range(k + 1, n):
        remove_column(Q, k, i, m)


@kernel
def remove_column(Q, k, i, m):
    """The direction of the unit column k is taken out of column i."""
    t = 0.0 * Q[0, i]
    for l in range(m):
        t += Q[l, k] * Q[l, i]
    for l in range(m):
        Q[l, i] -= t * Q[l, k]


@kernel
def column_dot(Q, k, x, m):
    """Column k times x."""
    t = 0.0 * x[0]
    for l in range(m):
        t += Q[l, k] * x[l]
    return t


@kernel
def shared_objective(ctx, fn, m, again, blocks, units, other):
    """The first objective that asks how forces are shared, or -1: the context has multipliers of `least_norm`, and g.

    `other` (objectives, 2) is scratch.
    """
    g, lam, loose, kept, part = g_(ctx), lam_(ctx), r_(ctx), z_(ctx), Dp_(ctx)
    largest, length = 0.0, 0.0
    for l in range(m):
        kept[l] = lam[l]
        largest, length = max(largest, units[l] * abs(real(lam[l]))), max(length, units[l] * abs(real(loose[l])))
    if length == 0.0:
        return -1
    for side in range(2):
        for l in range(m):
            lam[l] = kept[l] + (1.0 - 2.0 * side) * FAR * largest / length * loose[l]
        call(fn[OBSERVE], ctx)
        for o in range(again.shape[0]):
            other[o, side] = g[o]
    for l in range(m):
        lam[l] = kept[l]
    call(fn[OBSERVE], ctx)
    loaded = is_loaded(kept, loose, blocks, units, part, m, LOADED * largest * length)
    for o in range(again.shape[0]):
        if again[o] == SHARING:
            up, down = real(other[o, 0]) - real(g[o]), real(other[o, 1]) - real(g[o])
            change, least = abs(up) + abs(down), SEEN * abs(real(g[o]))
            if change > least and (loaded or abs(up - down) > ODD * change + least):
                return o
    return -1


@kernel
def is_loaded(lam, loose, blocks, units, part, m, least):
    """Whether the multipliers of a block have a part along `loose`; `part` (m,) is scratch."""
    for l in range(m):
        part[l] = 0.0 * lam[l]
    for l in range(m):
        part[blocks[l]] += units[l] ** 2 * real(lam[l]) * real(loose[l])
    most = 0.0
    for l in range(m):
        most = max(most, abs(real(part[l])))
    return most > least
