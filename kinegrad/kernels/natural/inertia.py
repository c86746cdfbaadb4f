"""Masses of frames: their moments Z, the constant mass matrix, forces of weight and inertia, energies (NAT-6)."""

from kinegrad.kernels.clearing import clear_flat
from kinegrad.kernels.jit import inlined, kernel, real
from kinegrad.kernels.natural.records import AT, MU, V
from kinegrad.kernels.pattern import place
from kinegrad.kernels.vec3 import add, axpy, dot, inc_at, mul, vec_at

ROUNDING = 1e-15  # part of the inertia that a coordinate would have: what is left of moments that cancel


@kernel
def add_moments(Z, m, c, J):
    """Add the second moments ½ tr(J) - J + m c cᵀ, the first m c and the mass m to Z (4, 4)."""
    h = 0.5 * (J[0] + J[1] + J[2])
    for i in range(3):
        Z[4 * i + i] += h - J[i]
        for j in range(3):
            if i != j:
                Z[4 * i + j] -= J[i + j + 2]  # xy xz yz follow xx yy zz
            Z[4 * i + j] += m * c[i] * c[j]
        Z[4 * i + 3] += m * c[i]
        Z[12 + i] += m * c[i]
    Z[15] += m


@inlined
def six_at(s, k):
    """Six numbers of an array, from index k on."""
    return (s[k], s[k + 1], s[k + 2], s[k + 3], s[k + 4], s[k + 5])


@kernel
def all_moments(frame, mass, s):
    """Z of every frame."""
    for i in range(frame.shape[0]):
        for j in range(16):
            frame[i]["Z"][j] = 0.0
    for i in range(mass.shape[0]):
        M = mass[i]
        add_moments(frame[M["frame"]]["Z"], s[M["m"]], vec_at(s, M["com"]), six_at(s, M["J"]))


@inlined
def by_moments(Z, T, k, h):
    """Column h of F Z, for the F at index k of T."""
    x = axpy(Z[4 * h], vec_at(T, k), axpy(Z[4 * h + 1], vec_at(T, k + 3), mul(Z[4 * h + 2], vec_at(T, k + 6))))
    return axpy(Z[4 * h + 3], vec_at(T, k + 9), x)


@kernel
def add_by_moments(Z, T, k, D, field):
    """D += F Z in a field, for the F at index k of T."""
    for h in range(4):
        inc_at(D, field + 3 * h, by_moments(Z, T, k, h))


@kernel
def add_weight(Z, g, D, field):
    """D -= g e4ᵀ Z in a field."""
    for h in range(4):
        inc_at(D, field + 3 * h, mul(-Z[4 * h + 3], g))


# --- from duals of fields to coordinates ---


@kernel
def compose(frame, field):
    """What is dual to the axes of followers goes to their leaders; those have smaller numbers."""
    for i in range(frame.shape[0] - 1, 0, -1):
        B = frame[i]
        if B["lead"] != i:
            L = frame[B["lead"]]["D"]
            for j in range(9):
                L[field + j] += B["D"][field + j]


@kernel
def scatter(frame, basis, entity, fcol, field, f):
    """f += what the duals of a field are to the coordinates, after `compose`."""
    for i in range(1, frame.shape[0]):
        B = frame[i]
        D = B["D"]
        if B["lead"] != i:
            e = entity[basis[B["b0"]]["e"]]
            for j in range(3):
                if e["k"][j] >= 0:
                    f[e["k"][j]] += D[field + 9 + j]
            continue
        for c in range(B["y0"], B["y1"]):
            f[fcol[c]["k"]] += along(fcol[c]["Y"], D, field)


@inlined
def along(Y, D, k):
    """Y·D, for the D at index k."""
    x = dot(vec_at(Y, 0), vec_at(D, k)) + dot(vec_at(Y, 3), vec_at(D, k + 3))
    return x + dot(vec_at(Y, 6), vec_at(D, k + 6)) + dot(vec_at(Y, 9), vec_at(D, k + 9))


@kernel
def clear_field(frame, field):
    """D of a field = 0."""
    for i in range(frame.shape[0]):
        for j in range(12):
            frame[i]["D"][field + j] = 0.0


# --- constants ---


@kernel
def weight(frame, basis, entity, fcol, s, gravity, f):
    """f of weight, which is constant."""
    for i in range(f.shape[0]):
        f[i] = 0.0
    clear_field(frame, MU)
    for i in range(1, frame.shape[0]):
        add_weight(frame[i]["Z"], vec_at(s, gravity), frame[i]["D"], MU)
    compose(frame, MU)
    scatter(frame, basis, entity, fcol, MU, f)


@kernel
def mass_matrix(frame, basis, entity, fcol, P, M):
    """M of the pattern P, which is constant: Σ Z_hg Y_h·Y_g of all frames."""
    clear_flat(M)
    for i in range(1, frame.shape[0]):
        B = frame[i]
        Z, L = B["Z"], frame[B["lead"]]
        own = B["lead"] == i
        for b in range(L["y0"], L["y1"]):
            Y = fcol[b]["Y"]
            x, y = product(Z, Y, 0, own), product(Z, Y, 1, own)
            z, r = product(Z, Y, 2, own), product(Z, Y, 3, own)
            for a in range(L["y0"], L["y1"]):
                X = fcol[a]["Y"]
                t = dot(vec_at(X, 0), x) + dot(vec_at(X, 3), y) + dot(vec_at(X, 6), z)
                if own:
                    t += dot(vec_at(X, 9), r)
                if a == b and abs(real(t)) <= ROUNDING * most_inertia(Z, X, own):
                    t -= real(t)  # none but for rounding, as across a plate: rows are weighed by it
                M[place(P, fcol[a]["k"], fcol[b]["k"])] += t
            if not own:
                beside_leader(entity[basis[B["b0"]]["e"]], fcol[b]["k"], r, P, M)
        if not own:
            k = entity[basis[B["b0"]]["e"]]["k"]
            for j in range(3):
                if k[j] >= 0:
                    M[place(P, k[j], k[j])] += Z[15]


@inlined
def most_inertia(Z, Y, own):
    """What the inertia of a coordinate would be at most, did no moments of its frame cancel: Σ |Y_h|² of all of them."""
    second, t = abs(real(Z[0])) + abs(real(Z[5])) + abs(real(Z[10])), 0.0
    for h in range(4 if own else 3):
        y = vec_at(Y, 3 * h)
        t += real(dot(y, y)) * (second if h < 3 else real(Z[15]))
    return t


@inlined
def product(Z, Y, h, own):
    """Column h of Y Z; the point of a leader's Y is not that of one who follows."""
    x = axpy(Z[4 * h], vec_at(Y, 0), axpy(Z[4 * h + 1], vec_at(Y, 3), mul(Z[4 * h + 2], vec_at(Y, 6))))
    return axpy(Z[4 * h + 3], vec_at(Y, 9), x) if own else x


@kernel
def beside_leader(e, k, r, P, M):
    """M between the point e of one who follows and coordinate k of its leader."""
    for j in range(3):
        i = e["k"][j]
        if i >= 0:
            M[place(P, i, k)] += r[j]
            M[place(P, k, i)] += r[j]


# --- energies ---


@kernel
def kinetic_energy(B):
    """½ Σ Z_hg Ḟ_h·Ḟ_g at the velocities of the field V."""
    T, Z = B["T"], B["Z"]
    t = 0.0 * Z[15]
    for h in range(4):
        t += 0.5 * dot(vec_at(T, V + 3 * h), by_moments(Z, T, V, h))
    return t


@kernel
def first_moment(B):
    """∫ x dm at the position of the field AT."""
    return by_moments(B["Z"], B["T"], AT, 3)


@kernel
def centre_at(T, field, c):
    """r + A c in a field."""
    x = axpy(c[0], vec_at(T, field), axpy(c[1], vec_at(T, field + 3), mul(c[2], vec_at(T, field + 6))))
    return add(x, vec_at(T, field + 9))
