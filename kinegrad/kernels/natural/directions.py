"""Changes under directions in the slots: of frames, and of forces by coordinates (NAT-7).

F H = B, so dF = (dB - A dH) W, in every field; with what is dual to F in D, forces are Y·D, and change by those of D and of Y.
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.natural.frames import change_of_direction, normal, turned, way
from kinegrad.kernels.natural.inertia import add_by_moments, add_weight, along, six_at
from kinegrad.kernels.natural.markers import local_change
from kinegrad.kernels.natural.records import AS, AT, CROSS, DA, DV, EA, EV, GEOMETRY, INERTIA, MU, POINT
from kinegrad.kernels.vec3 import add, axpy, cross, inc_at, mul, neg, put_at, sub, vec, vec_at


@kernel
def constant_change(e, ds):
    """What a direction changes of the components of an entity that are constant."""
    return (
        ds[e["val"][0]] if e["k"][0] < 0 else 0.0,
        ds[e["val"][1]] if e["k"][1] < 0 else 0.0,
        ds[e["val"][2]] if e["k"][2] < 0 else 0.0,
    )


@kernel
def normal_change(basis, entity, b, ds):
    """What a direction changes of n, of a column n × d."""
    return constant_change(entity[basis[b["n"]]["e"]], ds)


@kernel
def column_change(basis, entity, origin, j, T, field, s, ds):
    """dB - A dH of a column of a basis, in a field."""
    b = basis[j]
    x = neg(turned(T, field, change_of_direction(basis, origin, j, s, ds)))
    if b["type"] != CROSS:
        return add(x, constant_change(entity[b["e"]], ds)) if field == AT else x
    d = turned(T, field, way(basis, origin, b["d"], s))
    x = add(x, cross(normal_change(basis, entity, b, ds), d))
    if field == AT:
        c = basis[b["d"]]
        y = constant_change(entity[c["e"]], ds)
        if c["type"] == POINT:
            y = sub(y, constant_change(entity[basis[origin]["e"]], ds))
        x = add(x, cross(normal(basis, entity, b, s), y))
    return x


@kernel
def frame_changes(frame, basis, entity, s, ds, touch, field):
    """E of all frames: dF under the direction ds, in a field."""
    for i in range(1, frame.shape[0]):
        B = frame[i]
        E = B["E"]
        if B["lead"] != i:
            L = frame[B["lead"]]["E"]
            for j in range(9):
                E[field + j] = L[field + j]
            x = constant_change(entity[basis[B["b0"]]["e"]], ds)
            put_at(E, field + 9, x if field == AT else (0.0, 0.0, 0.0))
            continue
        for j in range(12):
            E[field + j] = 0.0
        if touch[i] & GEOMETRY:
            for j in range(B["b0"], B["b1"]):
                x = column_change(basis, entity, B["b0"], j, B["T"], field, s, ds)
                for h in range(4):
                    inc_at(E, field + 3 * h, mul(basis[j]["W"][h], x))


# --- forces ---


@kernel
def moment_changes(Z, M, s, ds):
    """What a direction changes of the moments Z of a mass."""
    m, c, J = s[M["m"]], vec_at(s, M["com"]), six_at(ds, M["J"])
    e, g = ds[M["m"]], vec_at(ds, M["com"])
    h = 0.5 * (J[0] + J[1] + J[2])
    for i in range(16):
        Z[i] = 0.0
    for i in range(3):
        Z[5 * i] += h - J[i]
        for j in range(3):
            if i != j:
                Z[4 * i + j] -= J[i + j + 2]
            Z[4 * i + j] += e * c[i] * c[j] + m * (g[i] * c[j] + c[i] * g[j])
        t = e * c[i] + m * g[i]
        Z[4 * i + 3] += t
        Z[12 + i] += t
    Z[15] += e


@kernel
def dual_changes(frame, place, mass, mk, here, s, ds, touch, gravity, scratch):
    """S of all frames: changes of what is dual to mu, eta_v, eta_a, by inertia, weight and markers."""
    g, dg = vec_at(s, gravity), vec_at(ds, gravity)
    for i in range(frame.shape[0]):
        B = frame[i]
        S = B["S"]
        for j in range(36):
            S[j] = 0.0
        if i > 0:
            Z, E = B["Z"], B["E"]
            add_by_moments(Z, E, AS, S, 0)
            add_by_moments(Z, E, DV, S, 12)
            add_by_moments(Z, E, DA, S, 24)
            if gravity > 0:
                add_weight(Z, dg, S, 0)
    for i in range(mass.shape[0]):
        k = mass[i]["frame"]
        if touch[k] & INERTIA:
            S, T = frame[k]["S"], frame[k]["T"]
            moment_changes(scratch, mass[i], s, ds)
            add_by_moments(scratch, T, AS, S, 0)
            add_by_moments(scratch, T, DV, S, 12)
            add_by_moments(scratch, T, DA, S, 24)
            if gravity > 0:
                add_weight(scratch, g, S, 0)
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] >= 0:
            P = place[m["node"]]
            S, dl = frame[P["frame"]]["S"], local_change(P, m, s, ds)
            for h in range(3):
                inc_at(S, 3 * h, mul(dl[h], vec(m["f"])))
                inc_at(S, 12 + 3 * h, mul(dl[h], vec(m["fv"])))
                inc_at(S, 24 + 3 * h, mul(dl[h], vec(m["fa"])))
    for i in range(frame.shape[0] - 1, 0, -1):
        B = frame[i]
        if B["lead"] != i:
            L = frame[B["lead"]]["S"]
            for j in range(9):
                L[j] += B["S"][j]
                L[12 + j] += B["S"][12 + j]
                L[24 + j] += B["S"][24 + j]


@kernel
def dual_of(basis, j, D, k):
    """What is dual to column j of a basis: Σ_h D_h W_jh, for the D at index k."""
    W = basis[j]["W"]
    x = axpy(W[0], vec_at(D, k), axpy(W[1], vec_at(D, k + 3), mul(W[2], vec_at(D, k + 6))))
    return axpy(W[3], vec_at(D, k + 9), x)


@kernel
def weight_changes(B, basis, s, ds):
    """S less what the weights W of a leader's basis change: Γ dHᵀ, Γ dual to its columns."""
    D, S = B["D"], B["S"]
    for j in range(B["b0"], B["b1"]):
        dh = change_of_direction(basis, B["b0"], j, s, ds)
        x, y, z = dual_of(basis, j, D, MU), dual_of(basis, j, D, EV), dual_of(basis, j, D, EA)
        for h in range(3):
            inc_at(S, 3 * h, mul(-dh[h], x))
            inc_at(S, 12 + 3 * h, mul(-dh[h], y))
            inc_at(S, 24 + 3 * h, mul(-dh[h], z))


@kernel
def add_at(e, K, column, x, sign):
    """Add a vector to a column of directions at the coordinates of an entity."""
    for i in range(3):
        if e["k"][i] >= 0:
            K[e["k"][i], column] += sign * x[i]


@kernel
def normal_changes(B, basis, entity, s, ds, column, K, Nv, Na):
    """Add what a change of n does to the columns of a frame: (dn × x)·Γ at the coordinates of d."""
    b = basis[B["b1"] - 1]
    if b["type"] != CROSS:
        return
    j, dn = B["b1"] - 1, normal_change(basis, entity, b, ds)
    c = basis[b["d"]]
    x = cross(dual_of(basis, j, B["D"], MU), dn)
    y = cross(dual_of(basis, j, B["D"], EV), dn)
    z = cross(dual_of(basis, j, B["D"], EA), dn)
    add_at(entity[c["e"]], K, column, x, 1.0)
    add_at(entity[c["e"]], Nv, column, y, 1.0)
    add_at(entity[c["e"]], Na, column, z, 1.0)
    if c["type"] == POINT:
        e = entity[basis[B["b0"]]["e"]]
        add_at(e, K, column, x, -1.0)
        add_at(e, Nv, column, y, -1.0)
        add_at(e, Na, column, z, -1.0)


@kernel
def force_changes(frame, basis, entity, fcol, s, ds, touch, column, K, Nv, Na):
    """A column of R_s, Nv_s, Na_s, from D and S, both composed."""
    for i in range(1, frame.shape[0]):
        B = frame[i]
        S = B["S"]
        if B["lead"] != i:
            e = entity[basis[B["b0"]]["e"]]
            add_at(e, K, column, vec_at(S, 9), 1.0)
            add_at(e, Nv, column, vec_at(S, 21), 1.0)
            add_at(e, Na, column, vec_at(S, 33), 1.0)
            continue
        if touch[i] & GEOMETRY:
            weight_changes(B, basis, s, ds)
            normal_changes(B, basis, entity, s, ds, column, K, Nv, Na)
        for c in range(B["y0"], B["y1"]):
            k, Y = fcol[c]["k"], fcol[c]["Y"]
            K[k, column] += along(Y, S, 0)
            Nv[k, column] += along(Y, S, 12)
            Na[k, column] += along(Y, S, 24)
