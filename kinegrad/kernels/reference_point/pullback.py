"""Adjoint vectors to all slots of the reference-point set at once, four adjoints at a time: local components of markers,
masses, inertias, gravity.

What adjoints make of a body (`BODY_DUAL`) or of a marker is N or D beside its record B or m; numbers of it are lanes.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.linalg import get4
from kinegrad.kernels.reference_point.markers import local
from kinegrad.kernels.reference_point.motion import change_of, parameters
from kinegrad.kernels.reference_point.records import TURN
from kinegrad.kernels.vec3 import add, dot, mat, mul, mv, sub, vec, vec_at, vm
from kinegrad.kernels.vec4 import gain4, inc4_at, mat4, put_mat4, set4, vec4, vec4_at


@inlined
def parameters4(Z, B):
    """The rows of Z at the Euler parameters of a body."""
    k = B["k"] + TURN
    return (get4(Z, k), get4(Z, k + 1), get4(Z, k + 2), get4(Z, k + 3))


@kernel
def motions(body, dual, q, mu, eta_v, eta_a):
    """Tm, Tv, Ta of every body: the change of A along mu, eta_v, eta_a."""
    for i in range(1, body.shape[0]):
        B, N = body[i], dual[i]
        p = parameters(q, B)
        put_mat4(N["Tm"], change_of(p, parameters4(mu, B)))
        put_mat4(N["Tv"], change_of(p, parameters4(eta_v, B)))
        put_mat4(N["Ta"], change_of(p, parameters4(eta_a, B)))


@kernel
def marker_motions(body, dual, mk, of_marker, s, mu, eta_v, eta_a):
    """dm, dv, da of the markers; those of the ground have none."""
    for i in range(mk.shape[0]):
        m, D = mk[i], of_marker[i]
        if m["node"] > 0:
            N, k = dual[m["node"]], body[m["node"]]["k"]
            l = local(m, s)
            x, y, z = mv(mat4(N["Tm"]), l), mv(mat4(N["Tv"]), l), mv(mat4(N["Ta"]), l)
            if m["point"]:
                x, y, z = add(x, vec4_at(mu, k)), add(y, vec4_at(eta_v, k)), add(z, vec4_at(eta_a, k))
            set4(D["dm"], x)
            set4(D["dv"], y)
            set4(D["da"], z)


@kernel
def marker_slots(body, dual, mk, of_marker, psi):
    """Duals and covectors of the markers to their own slots and centres of mass, where wanted (RFP-9)."""
    for i in range(mk.shape[0]):
        m, D = mk[i], of_marker[i]
        if not m["want"]:
            continue
        B, N = body[m["node"]], dual[m["node"]]
        G = add(vm(vec4(D["X"]), mat(B["A"])), vm(vec4(D["X1"]), mat(B["Ads"])))
        G = add(G, add(vm(vec4(D["Y1"]), mat(B["Ad"])), vm(vec4(D["Y2"]), mat(B["Add"]))))
        G = add(G, add(vm(vec(m["f"]), mat4(N["Tm"])), vm(vec(m["fv"]), mat4(N["Tv"]))))
        G = add(G, vm(vec(m["fa"]), mat4(N["Ta"])))
        inc4_at(psi, m["loc"], G)
        inc4_at(psi, m["ref"], mul(-1.0, G))


@kernel
def second_moment(B, N, a, b):
    """The dual of S_ab: Σ (T e_a)·(R e_b) over the pairs of motions T and accelerations R."""
    T, V, A = N["Tm"], N["Tv"], N["Ta"]
    t = get4(T, a) * B["Adds"][b] + get4(V, a) * B["W"][b] + get4(A, a) * B["U"][b]
    for i in range(3, 9, 3):
        t = t + get4(T, i + a) * B["Adds"][i + b] + get4(V, i + a) * B["W"][i + b] + get4(A, i + a) * B["U"][i + b]
    return t


@kernel
def inertia_slots(body, dual, s, a, dv, da, mu, eta_v, eta_a, gravity, psi):
    """Slots of masses, inertias and gravity (RFP-9)."""
    g = vec_at(s, gravity)
    for i in range(1, body.shape[0]):
        B, N = body[i], dual[i]
        k = B["k"]
        inc4_at(psi, gravity, mul(-s[B["m"]], vec4_at(mu, k)))
        if not B["want"]:
            continue
        t = dot(vec4_at(mu, k), sub(vec_at(a, k), g))
        gain4(psi, B["m"], t + dot(vec4_at(eta_v, k), vec_at(dv, k)) + dot(vec4_at(eta_a, k), vec_at(da, k)))
        x, y, z = second_moment(B, N, 0, 0), second_moment(B, N, 1, 1), second_moment(B, N, 2, 2)
        half = 0.5 * (x + y + z)
        J = B["J"]
        gain4(psi, J, half - x)
        gain4(psi, J + 1, half - y)
        gain4(psi, J + 2, half - z)
        gain4(psi, J + 3, -1.0 * (second_moment(B, N, 0, 1) + second_moment(B, N, 1, 0)))
        gain4(psi, J + 4, -1.0 * (second_moment(B, N, 0, 2) + second_moment(B, N, 2, 0)))
        gain4(psi, J + 5, -1.0 * (second_moment(B, N, 1, 2) + second_moment(B, N, 2, 1)))
