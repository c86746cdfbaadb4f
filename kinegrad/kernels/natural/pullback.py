"""Adjoint vectors to all slots of the natural set, four adjoints at a time: duals of fields, gathered in frames and handed to
their slots (NAT-9).

Everything an adjoint sees is Σ D·dF over fields and frames, and dF = (dB - A dH) W: the duals D Wᵀ of the columns of a basis
give those of its local coordinates and of what is fixed.

What adjoints make of a frame (`FRAME_DUAL`) or of a marker is N or A beside its record B or m; numbers of it are lanes.  Its
fields are found at the places of mu, eta_v, eta_a less `OWN`.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import get4, put4
from kinegrad.kernels.natural.frames import normal, turned, turned_back, way
from kinegrad.kernels.natural.inertia import by_moments
from kinegrad.kernels.natural.records import (
    AC,
    AS,
    AT,
    CROSS,
    DA,
    DV,
    EA,
    EV,
    GEOMETRY,
    MU,
    N_FIELDS,
    POINT,
    SIZE,
    VS,
    V,
)  # fmt: skip
from kinegrad.kernels.vec3 import add, axpy, cross, dot, mat, mul, sub, vec, vec_at, vm
from kinegrad.kernels.vec4 import gain4, inc4_at, put4_at, set4, vec4, vec4_at

OWN = MU  # the first field that adjoints have


# --- the algebra of fields, in lanes ---


@inlined
def turned4(T, field, l):
    """A l in a field."""
    return axpy(l[0], vec4_at(T, field), axpy(l[1], vec4_at(T, field + 3), mul(l[2], vec4_at(T, field + 6))))


@inlined
def turned_back4(T, field, x):
    """Aᵀ x in a field."""
    return (dot(vec4_at(T, field), x), dot(vec4_at(T, field + 3), x), dot(vec4_at(T, field + 6), x))


@inlined
def by_moments4(Z, T, k, h):
    """Column h of F Z, for the F at row k of T."""
    x = axpy(Z[4 * h], vec4_at(T, k), axpy(Z[4 * h + 1], vec4_at(T, k + 3), mul(Z[4 * h + 2], vec4_at(T, k + 6))))
    return axpy(Z[4 * h + 3], vec4_at(T, k + 9), x)


@inlined
def dual_of4(basis, j, D, k):
    """What is dual to column j of a basis: Σ_h D_h W_jh, for the D at row k."""
    W = basis[j]["W"]
    x = axpy(W[0], vec4_at(D, k), axpy(W[1], vec4_at(D, k + 3), mul(W[2], vec4_at(D, k + 6))))
    return axpy(W[3], vec4_at(D, k + 9), x)


@inlined
def shared(f):
    """A vector that all adjoints share, in lanes."""
    return mul(spread4(1.0), f)


# --- motions ---


@kernel
def component4(e, i, Z):
    """Component i of an entity in a field of rates: what is constant has none."""
    return get4(Z, e["k"][i]) if e["k"][i] >= 0 else spread4(0.0)


@inlined
def value4(e, Z):
    """An entity in a field of rates."""
    return (component4(e, 0, Z), component4(e, 1, Z), component4(e, 2, Z))


@kernel
def column_value4(basis, entity, origin, j, Z, s):
    """Column j of a basis with the given origin, in a field of rates."""
    b = basis[j]
    if b["type"] != CROSS:
        return value4(entity[b["e"]], Z)
    c = basis[b["d"]]
    d = value4(entity[c["e"]], Z)
    if c["type"] == POINT:
        d = sub(d, value4(entity[basis[origin]["e"]], Z))
    return cross(normal(basis, entity, b, s), d)


@kernel
def move_by_adjoint(frame, dual, basis, entity, Z, s, field):
    """F of all frames but the ground, in the field of an adjoint Z."""
    k, zero = field - OWN, spread4(0.0)
    for i in range(1, frame.shape[0]):
        B, T = frame[i], dual[i]["T"]
        b0 = B["b0"]
        if B["lead"] != i:
            L = dual[B["lead"]]["T"]
            for j in range(k, k + SIZE - 3):
                put4(T, j, get4(L, j))
            put4_at(T, k + 9, value4(entity[basis[b0]["e"]], Z))
            continue
        for j in range(k, k + SIZE):
            put4(T, j, zero)
        for j in range(b0, B["b1"]):
            x = column_value4(basis, entity, b0, j, Z, s)
            for h in range(4):
                inc4_at(T, k + 3 * h, mul(basis[j]["W"][h], x))


@inlined
def of_marker4(T, k, m, l):
    """What a marker of a body moves by, for the F at row k of T."""
    x = turned4(T, k, l)
    return add(x, vec4_at(T, k + 9)) if m["point"] else x


@kernel
def marker_motions(dual, place, entity, mk, of_marker, here, mu, eta_v, eta_a):
    """dm, dv, da of the markers."""
    for i in range(mk.shape[0]):
        m, A = mk[i], of_marker[i]
        if m["node"] < 0:
            e = entity[-1 - m["node"]]
            set4(A["dm"], value4(e, mu))
            set4(A["dv"], value4(e, eta_v))
            set4(A["da"], value4(e, eta_a))
        else:
            T, l = dual[place[m["node"]]["frame"]]["T"], vec(here[i]["l"])
            set4(A["dm"], of_marker4(T, MU - OWN, m, l))
            set4(A["dv"], of_marker4(T, EV - OWN, m, l))
            set4(A["da"], of_marker4(T, EA - OWN, m, l))


# --- slots ---


@kernel
def gather4(D, field, m, l, f):
    """Add duals f of a marker to what is dual to a field of its frame."""
    for h in range(3):
        inc4_at(D, field + 3 * h, mul(l[h], f))
    if m["point"]:
        inc4_at(D, field + 9, f)


@kernel
def marker_slots(frame, dual, place, entity, mk, of_marker, here, s, psi):
    """Duals of the markers to their own slots, and to the fields of their frames."""
    zero = spread4(0.0)
    for i in range(dual.shape[0]):
        for j in range(N_FIELDS):
            put4(dual[i]["D"], j, zero)
    for i in range(mk.shape[0]):
        m, A = mk[i], of_marker[i]
        X, X1, Y1, Y2 = vec4(A["X"]), vec4(A["X1"]), vec4(A["Y1"]), vec4(A["Y2"])
        if m["node"] < 0:
            constant_slots(entity[-1 - m["node"]], X, psi)
            continue
        P = place[m["node"]]
        f, fv, fa, l = vec(m["f"]), vec(m["fv"]), vec(m["fa"]), vec(here[i]["l"])
        T, N = frame[P["frame"]]["T"], dual[P["frame"]]
        D, O = N["D"], N["T"]
        gather4(D, AT, m, l, X)
        gather4(D, VS, m, l, X1)
        gather4(D, V, m, l, Y1)
        gather4(D, AC, m, l, Y2)
        gather4(D, MU, m, l, shared(f))
        gather4(D, EV, m, l, shared(fv))
        gather4(D, EA, m, l, shared(fa))
        if m["want"]:
            y = add(turned_back(T, AT, X), turned_back(T, VS, X1))
            y = add(y, add(turned_back(T, V, Y1), turned_back(T, AC, Y2)))
            y = add(y, add(turned_back4(O, MU - OWN, f), turned_back4(O, EV - OWN, fv)))
            local_slots(P, m, add(y, turned_back4(O, EA - OWN, fa)), s, psi)


@kernel
def local_slots(P, m, y, s, psi):
    """The dual y of local coordinates in a frame, to the slots of a marker and of the place of its body."""
    if m["point"]:
        inc4_at(psi, P["off"], y)
    if P["rot"] > 0:
        x, k = vec_at(s, m["loc"]), P["rot"]
        for i in range(3):
            for j in range(3):
                gain4(psi, k + 3 * i + j, y[i] * x[j])
        y = vm(y, mat(s[k : k + 9]))
    inc4_at(psi, m["loc"], y)


@kernel
def constant_slots(e, x, psi):
    """A dual of an entity, to the slots of those of its components that are constant."""
    for j in range(3):
        if e["k"][j] < 0:
            gain4(psi, e["val"][j], x[j])


@kernel
def moment_slots(M, s, A, x, B, y, psi):
    """Add x·Z_s·y: slots of a mass for two fields, x of adjoints A and y of B, weighed against each other."""
    c, k6 = vec_at(s, M["com"]), M["J"]
    u, w = add(turned4(A, x, c), vec4_at(A, x + 9)), add(turned(B, y, c), vec_at(B, y + 9))
    gain4(psi, M["m"], dot(u, w))
    inc4_at(psi, M["com"], mul(s[M["m"]], add(turned_back4(A, x, w), turned_back(B, y, u))))
    total = dot(vec4_at(A, x), vec_at(B, y))
    for i in range(3, 9, 3):
        total = total + dot(vec4_at(A, x + i), vec_at(B, y + i))
    for i in range(3):
        gain4(psi, k6 + i, 0.5 * total - dot(vec4_at(A, x + 3 * i), vec_at(B, y + 3 * i)))
        for j in range(i + 1, 3):
            t = dot(vec4_at(A, x + 3 * i), vec_at(B, y + 3 * j)) + dot(vec4_at(A, x + 3 * j), vec_at(B, y + 3 * i))
            gain4(psi, k6 + i + j + 2, -1.0 * t)


@inlined
def weigh(Z, T, O, field, of_adjoint, D):
    """Add what inertia makes of a field and of that of adjoints to what is dual to the other."""
    for h in range(4):
        inc4_at(D, of_adjoint + 3 * h, shared(by_moments(Z, T, field, h)))
        inc4_at(D, field + 3 * h, by_moments4(Z, O, of_adjoint - OWN, h))


@kernel
def inertia_slots(frame, dual, mass, s, gravity, psi):
    """Slots of masses and of gravity, and the duals of fields that inertia gives."""
    g = vec_at(s, gravity)
    for i in range(1, frame.shape[0]):
        Z, T, O, D = frame[i]["Z"], frame[i]["T"], dual[i]["T"], dual[i]["D"]
        weigh(Z, T, O, AS, MU, D)
        weigh(Z, T, O, DV, EV, D)
        weigh(Z, T, O, DA, EA, D)
        if gravity > 0:
            for h in range(4):
                inc4_at(D, MU + 3 * h, shared(mul(-Z[4 * h + 3], g)))
            inc4_at(psi, gravity, mul(-1.0, by_moments4(Z, O, MU - OWN, 3)))
    for i in range(mass.shape[0]):
        M = mass[i]
        T, O = frame[M["frame"]]["T"], dual[M["frame"]]["T"]
        moment_slots(M, s, O, MU - OWN, T, AS, psi)
        moment_slots(M, s, O, EV - OWN, T, DV, psi)
        moment_slots(M, s, O, EA - OWN, T, DA, psi)
        if gravity > 0:
            x = add(turned4(O, MU - OWN, vec_at(s, M["com"])), vec4_at(O, MU - OWN + 9))
            gain4(psi, M["m"], -1.0 * dot(x, g))
            inc4_at(psi, M["com"], mul(-s[M["m"]], turned_back4(O, MU - OWN, g)))


@kernel
def frame_slots(frame, dual, basis, entity, s, psi):
    """Local coordinates of the columns of all bases, and what is fixed, from the duals of all fields."""
    for i in range(frame.shape[0] - 1, 0, -1):
        B, D = frame[i], dual[i]["D"]
        if B["lead"] != i:
            L = dual[B["lead"]]["D"]
            for field in range(0, N_FIELDS, 12):
                for j in range(9):
                    gain4(L, field + j, get4(D, field + j))
            constant_slots(entity[basis[B["b0"]]["e"]], vec4_at(D, AT + 9), psi)
            continue
        if not B["want"] & GEOMETRY:
            continue
        for j in range(B["b0"], B["b1"]):
            column_slots(B, dual[i], basis, entity, j, s, psi)


@kernel
def column_slots(B, N, basis, entity, j, s, psi):
    """The slots of one column of a leader's basis."""
    b, T, O, D, origin = basis[j], B["T"], N["T"], N["D"], B["b0"]
    zero = spread4(0.0)
    y = (zero, zero, zero)
    x = y
    crossed = b["type"] == CROSS
    d = way(basis, origin, b["d"], s) if crossed else vec_at(s, b["loc"])
    for field in range(0, N_FIELDS, 12):
        gamma = dual_of4(basis, j, D, field)
        if field < OWN:
            y = sub(y, turned_back(T, field, gamma))
            if crossed:
                x = add(x, cross(turned(T, field, d), gamma))
        else:
            y = sub(y, turned_back4(O, field - OWN, gamma))
            if crossed:
                x = add(x, cross(turned4(O, field - OWN, d), gamma))
    gamma = dual_of4(basis, j, D, AT)
    if not crossed:
        inc4_at(psi, b["loc"], y)
        constant_slots(entity[b["e"]], gamma, psi)
        return
    c, first = basis[b["d"]], basis[origin]
    n = vec_at(s, basis[b["n"]]["loc"])
    t = cross(y, n)
    inc4_at(psi, basis[b["n"]]["loc"], cross(d, y))
    inc4_at(psi, c["loc"], t)
    constant_slots(entity[basis[b["n"]]["e"]], x, psi)
    u = cross(gamma, normal(basis, entity, b, s))
    constant_slots(entity[c["e"]], u, psi)
    if c["type"] == POINT:
        inc4_at(psi, first["loc"], mul(-1.0, t))
        constant_slots(entity[first["e"]], mul(-1.0, u), psi)
