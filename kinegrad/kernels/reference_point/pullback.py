"""Adjoint vectors to all slots of the reference-point set at once: local components of markers, masses, inertias, gravity."""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.reference_point.markers import local
from kinegrad.kernels.reference_point.motion import change_of, parameters
from kinegrad.kernels.vec3 import add, dot, inc_at, mat, mul, mv, neg, put_mat, sub, vec, vec_at, vm
from kinegrad.kernels.vec4 import column, put_column


@kernel
def motions(body, q, mu, eta_v, eta_a):
    """Tm, Tv, Ta of every body: the change of A along mu, eta_v, eta_a."""
    for i in range(1, body.shape[0]):
        B = body[i]
        p = parameters(q, B)
        put_mat(B["Tm"], change_of(p, parameters(mu, B)))
        put_mat(B["Tv"], change_of(p, parameters(eta_v, B)))
        put_mat(B["Ta"], change_of(p, parameters(eta_a, B)))


@kernel
def marker_motions(body, mk, dual, s, mu, eta_v, eta_a, c):
    """dm, dv, da of the markers, in column c."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = body[m["node"]]
            k = B["k"]
            l = local(m, s)
            x, y, z = mv(mat(B["Tm"]), l), mv(mat(B["Tv"]), l), mv(mat(B["Ta"]), l)
            put_column(dual[i]["dm"], c, add(x, vec_at(mu, k)) if m["point"] else x)
            put_column(dual[i]["dv"], c, add(y, vec_at(eta_v, k)) if m["point"] else y)
            put_column(dual[i]["da"], c, add(z, vec_at(eta_a, k)) if m["point"] else z)


@kernel
def marker_slots(body, mk, dual, c, psi_s):
    """Duals, in column c, and covectors of the markers to their own slots and centres of mass, where wanted (RFP-9)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if not m["want"]:
            continue
        B = body[m["node"]]
        G = vm(column(dual[i]["X"], c), mat(B["A"]))
        G = add(G, add(vm(column(dual[i]["X1"], c), mat(B["Ads"])), vm(column(dual[i]["Y1"], c), mat(B["Ad"]))))
        G = add(G, add(vm(column(dual[i]["Y2"], c), mat(B["Add"])), vm(vec(m["f"]), mat(B["Tm"]))))
        G = add(G, add(vm(vec(m["fv"]), mat(B["Tv"])), vm(vec(m["fa"]), mat(B["Ta"]))))
        inc_at(psi_s, m["loc"], G)
        inc_at(psi_s, m["ref"], neg(G))


@kernel
def second_moment(B, a, b):
    """The dual of S_ab: Σ (T e_a)·(R e_b) over the pairs of motions T and accelerations R."""
    t = 0.0 * B["A"][0]
    for i in range(0, 9, 3):
        t += B["Tm"][i + a] * B["Adds"][i + b] + B["Tv"][i + a] * B["W"][i + b] + B["Ta"][i + a] * B["U"][i + b]
    return t


@kernel
def inertia_slots(body, s, a, dv, da, mu, eta_v, eta_a, gravity, psi_s):
    """Slots of masses, inertias and gravity (RFP-9)."""
    g = vec_at(s, gravity)
    for i in range(1, body.shape[0]):
        B = body[i]
        k = B["k"]
        inc_at(psi_s, gravity, mul(-s[B["m"]], vec_at(mu, k)))
        if not B["want"]:
            continue
        t = dot(vec_at(mu, k), sub(vec_at(a, k), g))
        psi_s[B["m"]] += t + dot(vec_at(eta_v, k), vec_at(dv, k)) + dot(vec_at(eta_a, k), vec_at(da, k))
        x, y, z = second_moment(B, 0, 0), second_moment(B, 1, 1), second_moment(B, 2, 2)
        half = 0.5 * (x + y + z)
        J = B["J"]
        psi_s[J] += half - x
        psi_s[J + 1] += half - y
        psi_s[J + 2] += half - z
        psi_s[J + 3] -= second_moment(B, 0, 1) + second_moment(B, 1, 0)
        psi_s[J + 4] -= second_moment(B, 0, 2) + second_moment(B, 2, 0)
        psi_s[J + 5] -= second_moment(B, 1, 2) + second_moment(B, 2, 1)
