"""Adjoint vectors to all slots of the natural set: duals of fields, gathered in frames and handed to their slots (NAT-9).

Everything an adjoint sees is Σ D·dF over fields and frames, and dF = (dB - A dH) W: the duals D Wᵀ of the columns of a basis
give those of its local coordinates and of what is fixed.
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.natural.directions import dual_of
from kinegrad.kernels.natural.frames import normal, turned, turned_back, value, way
from kinegrad.kernels.natural.inertia import add_by_moments, add_weight, by_moments
from kinegrad.kernels.natural.markers import gather, of_marker
from kinegrad.kernels.natural.records import AC, AS, AT, CROSS, DA, DV, EA, EV, GEOMETRY, MU, N_FIELDS, POINT, VS, V
from kinegrad.kernels.vec3 import add, cross, dot, inc_at, mat, mul, neg, vec, vec_at, vm
from kinegrad.kernels.vec4 import column, put_column


@kernel
def marker_motions(frame, place, entity, mk, dual, here, s, mu, eta_v, eta_a, c):
    """dm, dv, da of the markers, in column c."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            e = entity[-1 - m["node"]]
            put_column(dual[i]["dm"], c, value(e, mu, s, False))
            put_column(dual[i]["dv"], c, value(e, eta_v, s, False))
            put_column(dual[i]["da"], c, value(e, eta_a, s, False))
        else:
            T, l = frame[place[m["node"]]["frame"]]["T"], vec(here[i]["l"])
            put_column(dual[i]["dm"], c, of_marker(T, MU, m, l))
            put_column(dual[i]["dv"], c, of_marker(T, EV, m, l))
            put_column(dual[i]["da"], c, of_marker(T, EA, m, l))


@kernel
def marker_slots(frame, place, entity, mk, dual, here, s, c, psi_s):
    """Duals of the markers, in column c, to their own slots, and to the fields of their frames."""
    for i in range(frame.shape[0]):
        for j in range(N_FIELDS):
            frame[i]["D"][j] = 0.0
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] < 0:
            constant_slots(entity[-1 - m["node"]], column(dual[i]["X"], c), psi_s)
            continue
        P = place[m["node"]]
        T, D, l = frame[P["frame"]]["T"], frame[P["frame"]]["D"], vec(here[i]["l"])
        gather(D, AT, m, l, column(dual[i]["X"], c))
        gather(D, VS, m, l, column(dual[i]["X1"], c))
        gather(D, V, m, l, column(dual[i]["Y1"], c))
        gather(D, AC, m, l, column(dual[i]["Y2"], c))
        gather(D, MU, m, l, vec(m["f"]))
        gather(D, EV, m, l, vec(m["fv"]))
        gather(D, EA, m, l, vec(m["fa"]))
        if m["want"]:
            y = add(turned_back(T, AT, column(dual[i]["X"], c)), turned_back(T, VS, column(dual[i]["X1"], c)))
            y = add(y, add(turned_back(T, V, column(dual[i]["Y1"], c)), turned_back(T, AC, column(dual[i]["Y2"], c))))
            y = add(y, add(turned_back(T, MU, vec(m["f"])), turned_back(T, EV, vec(m["fv"]))))
            local_slots(P, m, add(y, turned_back(T, EA, vec(m["fa"]))), s, psi_s)


@kernel
def local_slots(P, m, y, s, psi_s):
    """The dual y of local coordinates in a frame, to the slots of a marker and of the place of its body."""
    if m["point"]:
        inc_at(psi_s, P["off"], y)
    if P["rot"] > 0:
        x, k = vec_at(s, m["loc"]), P["rot"]
        for i in range(3):
            inc_at(psi_s, k + 3 * i, mul(y[i], x))
        y = vm(y, mat(s[k : k + 9]))
    inc_at(psi_s, m["loc"], y)


@kernel
def constant_slots(e, x, psi_s):
    """A dual of an entity, to the slots of those of its components that are constant."""
    for j in range(3):
        if e["k"][j] < 0:
            psi_s[e["val"][j]] += x[j]


@kernel
def moment_slots(M, s, A, x, B, y, psi_s):
    """Add x·Z_s·y: slots of a mass for two fields, x of A and y of B, weighed against each other."""
    c, k6 = vec_at(s, M["com"]), M["J"]
    a, b = vec_at(A, x + 9), vec_at(B, y + 9)
    u, w = add(turned(A, x, c), a), add(turned(B, y, c), b)
    psi_s[M["m"]] += dot(u, w)
    inc_at(psi_s, M["com"], mul(s[M["m"]], add(turned_back(A, x, w), turned_back(B, y, u))))
    total = 0.0 * s[0]
    for i in range(3):
        total += dot(vec_at(A, x + 3 * i), vec_at(B, y + 3 * i))
    for i in range(3):
        psi_s[k6 + i] += 0.5 * total - dot(vec_at(A, x + 3 * i), vec_at(B, y + 3 * i))
        for j in range(i + 1, 3):
            t = dot(vec_at(A, x + 3 * i), vec_at(B, y + 3 * j)) + dot(vec_at(A, x + 3 * j), vec_at(B, y + 3 * i))
            psi_s[k6 + i + j + 2] -= t


@kernel
def inertia_slots(frame, mass, s, gravity, psi_s):
    """Slots of masses and of gravity, and the duals of fields that inertia gives."""
    g = vec_at(s, gravity)
    for i in range(1, frame.shape[0]):
        B = frame[i]
        Z, T, D = B["Z"], B["T"], B["D"]
        add_by_moments(Z, T, AS, D, MU)
        add_by_moments(Z, T, MU, D, AS)
        add_by_moments(Z, T, DV, D, EV)
        add_by_moments(Z, T, EV, D, DV)
        add_by_moments(Z, T, DA, D, EA)
        add_by_moments(Z, T, EA, D, DA)
        if gravity > 0:
            add_weight(Z, g, D, MU)
            inc_at(psi_s, gravity, neg(by_moments(Z, T, MU, 3)))
    for i in range(mass.shape[0]):
        M = mass[i]
        T = frame[M["frame"]]["T"]
        moment_slots(M, s, T, MU, T, AS, psi_s)
        moment_slots(M, s, T, EV, T, DV, psi_s)
        moment_slots(M, s, T, EA, T, DA, psi_s)
        if gravity > 0:
            c = vec_at(s, M["com"])
            x = add(turned(T, MU, c), vec_at(T, MU + 9))
            psi_s[M["m"]] -= dot(x, g)
            inc_at(psi_s, M["com"], mul(-s[M["m"]], turned_back(T, MU, g)))


@kernel
def frame_slots(frame, basis, entity, s, psi_s):
    """Local coordinates of the columns of all bases, and what is fixed, from the duals of all fields."""
    for i in range(frame.shape[0] - 1, 0, -1):
        B = frame[i]
        D = B["D"]
        if B["lead"] != i:
            L = frame[B["lead"]]["D"]
            for field in range(0, N_FIELDS, 12):
                for j in range(9):
                    L[field + j] += D[field + j]
            constant_slots(entity[basis[B["b0"]]["e"]], vec_at(D, AT + 9), psi_s)
            continue
        if not B["want"] & GEOMETRY:
            continue
        for j in range(B["b0"], B["b1"]):
            column_slots(B, basis, entity, j, s, psi_s)


@kernel
def column_slots(B, basis, entity, j, s, psi_s):
    """The slots of one column of a leader's basis."""
    b, T, D, origin = basis[j], B["T"], B["D"], B["b0"]
    y = (0.0 * s[0], 0.0 * s[0], 0.0 * s[0])
    x = y
    crossed = b["type"] == CROSS
    d = way(basis, origin, b["d"], s) if crossed else y
    for field in range(0, N_FIELDS, 12):
        gamma = dual_of(basis, j, D, field)
        y = add(y, neg(turned_back(T, field, gamma)))
        if crossed:
            x = add(x, cross(turned(T, field, d), gamma))
    gamma = dual_of(basis, j, D, AT)
    if not crossed:
        inc_at(psi_s, b["loc"], y)
        constant_slots(entity[b["e"]], gamma, psi_s)
        return
    c, first = basis[b["d"]], basis[origin]
    n = vec_at(s, basis[b["n"]]["loc"])
    t = cross(y, n)
    inc_at(psi_s, basis[b["n"]]["loc"], cross(d, y))
    inc_at(psi_s, c["loc"], t)
    constant_slots(entity[basis[b["n"]]["e"]], x, psi_s)
    u = cross(gamma, normal(basis, entity, b, s))
    constant_slots(entity[c["e"]], u, psi_s)
    if c["type"] == POINT:
        inc_at(psi_s, first["loc"], neg(t))
        constant_slots(entity[first["e"]], neg(u), psi_s)
