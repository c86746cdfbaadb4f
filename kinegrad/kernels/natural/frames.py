"""Frames of bodies from the points and unit vectors that carry them (NAT-1, NAT-2)."""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.natural.records import AT, CROSS, POINT, SIZE
from kinegrad.kernels.vec3 import add, axpy, cross, dot, inc_at, mul, put_at, sub, vec_at


@inlined
def column(T, field, h):
    """Column h of F in a field: an axis, or the point for h = 3."""
    return vec_at(T, field + 3 * h)


@inlined
def turned(T, field, l):
    """A l in a field."""
    a, b, c = column(T, field, 0), column(T, field, 1), column(T, field, 2)
    return axpy(l[0], a, axpy(l[1], b, mul(l[2], c)))


@inlined
def turned_back(T, field, x):
    """Aᵀ x in a field."""
    return (dot(column(T, field, 0), x), dot(column(T, field, 1), x), dot(column(T, field, 2), x))


@kernel
def component(e, i, z, s, affine):
    """Component i of an entity: of z, or the constant, which has no rates."""
    k = e["k"][i]
    if k >= 0:
        return z[k]
    return s[e["val"][i]] if affine else 0.0 * s[0]


@inlined
def value(e, z, s, affine):
    """An entity in a field."""
    return (component(e, 0, z, s, affine), component(e, 1, z, s, affine), component(e, 2, z, s, affine))


@inlined
def normal(basis, entity, b, s):
    """n of a column n × d: fixed in the ground."""
    val = entity[basis[b["n"]]["e"]]["val"]
    return (s[val[0]], s[val[1]], s[val[2]])


@kernel
def column_value(basis, entity, origin, j, z, s, affine):
    """Column j of a basis with the given origin, in a field."""
    b = basis[j]
    if b["type"] != CROSS:
        return value(entity[b["e"]], z, s, affine)
    c = basis[b["d"]]
    d = value(entity[c["e"]], z, s, affine)
    if c["type"] == POINT:
        d = sub(d, value(entity[basis[origin]["e"]], z, s, affine))
    return cross(normal(basis, entity, b, s), d)


@kernel
def move_frames(frame, basis, entity, z, s, field):
    """F of all frames but the ground, in the field of z."""
    for i in range(1, frame.shape[0]):
        B = frame[i]
        T = B["T"]
        b0 = B["b0"]
        if B["lead"] != i:
            L = frame[B["lead"]]["T"]
            for j in range(SIZE - 3):
                T[field + j] = L[field + j]
            put_at(T, field + 9, value(entity[basis[b0]["e"]], z, s, field == AT))
            continue
        for j in range(SIZE):
            T[field + j] = 0.0
        for j in range(b0, B["b1"]):
            x = column_value(basis, entity, b0, j, z, s, field == AT)
            for h in range(4):
                inc_at(T, field + 3 * h, mul(basis[j]["W"][h], x))


@inlined
def way(basis, origin, j, z):
    """Local direction of column j, an entity, in the numbers z of all slots: from the origin if it is a point."""
    x = vec_at(z, basis[j]["loc"])
    return sub(x, vec_at(z, basis[origin]["loc"])) if basis[j]["type"] == POINT else x


@kernel
def local_direction(basis, origin, j, s):
    """Local direction of column j of a basis."""
    b = basis[j]
    if b["type"] != CROSS:
        return way(basis, origin, j, s)
    return cross(vec_at(s, basis[b["n"]]["loc"]), way(basis, origin, b["d"], s))


@kernel
def change_of_direction(basis, origin, j, s, ds):
    """What the direction ds of slots changes of column j of H."""
    b = basis[j]
    if b["type"] != CROSS:
        return vec_at(ds, b["loc"])
    n, d = vec_at(s, basis[b["n"]]["loc"]), way(basis, origin, b["d"], s)
    return add(cross(vec_at(ds, basis[b["n"]]["loc"]), d), cross(n, way(basis, origin, b["d"], ds)))


@kernel
def weights(basis, b0, s):
    """W = H⁻¹ of the four columns of a basis from b0 on, row by row: F = B W (NAT-1)."""
    d1, d2, d3 = (
        local_direction(basis, b0, b0 + 1, s),
        local_direction(basis, b0, b0 + 2, s),
        local_direction(basis, b0, b0 + 3, s),
    )
    x, y, z = cross(d2, d3), cross(d3, d1), cross(d1, d2)
    t = 1.0 / dot(d1, x)
    start = vec_at(s, basis[b0]["loc"])
    first = basis[b0]["W"]
    first[0] = first[1] = first[2] = 0.0 * t
    first[3] = 1.0 + 0.0 * t
    for i in range(1, 4):
        w = mul(t, x if i == 1 else (y if i == 2 else z))
        W = basis[b0 + i]["W"]
        put_at(W, 0, w)
        W[3] = -dot(w, start)
        if basis[b0 + i]["type"] == POINT:
            for h in range(4):
                first[h] -= W[h]
