"""Inertia of bodies about their centres of mass: mass matrix, forces, their derivatives, and energy.

With the second moments S = ½ tr(J) 1 - J about the centre, ∫ s sᵀ dm, the inertial covectors of a body are N = Add S (RFP-5).
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.pattern import place
from kinegrad.kernels.reference_point.forces import add_column, add_curvature, add_direction, add_force, turning
from kinegrad.kernels.reference_point.motion import change_of, parameters
from kinegrad.kernels.reference_point.records import TURN
from kinegrad.kernels.vec3 import axpy, dot, mat, mm, mul, sub, vec_at


@inlined
def moments_at(s, J):
    """S of six slots xx yy zz xy xz yz of the inertia."""
    h = 0.5 * (s[J] + s[J + 1] + s[J + 2])
    xy, xz, yz = -s[J + 3], -s[J + 4], -s[J + 5]
    return ((h - s[J], xy, xz), (xy, h - s[J + 1], yz), (xz, yz, h - s[J + 2]))


@kernel
def block(pattern, out, k, S, p, t, g):
    """Add g Σ S_ab B(p, e_a)ᵀ B(t, e_b) at the Euler parameters of a body: with t = p its mass matrix (RFP-5)."""
    g0 = 0.0 * g
    add_column(pattern, out, k, k + TURN, turning(mm(change_of(t, (g, g0, g0, g0)), S), p))
    add_column(pattern, out, k, k + TURN + 1, turning(mm(change_of(t, (g0, g, g0, g0)), S), p))
    add_column(pattern, out, k, k + TURN + 2, turning(mm(change_of(t, (g0, g0, g, g0)), S), p))
    add_column(pattern, out, k, k + TURN + 3, turning(mm(change_of(t, (g0, g0, g0, g)), S), p))


@kernel
def mass_matrix(body, s, q, pattern, M):
    """M += that of every body."""
    for i in range(1, body.shape[0]):
        B = body[i]
        for k in range(B["k"], B["k"] + TURN):
            M[place(pattern, k, k)] += s[B["m"]]
        p = parameters(q, B)
        block(pattern, M, B["k"], moments_at(s, B["J"]), p, p, 1.0)


@kernel
def body_forces(body, s, q, gravity, f):
    """f += weight, and what inertia gives at zero accelerations, where Add is taken."""
    for i in range(1, body.shape[0]):
        B = body[i]
        weight = mul(-s[B["m"]], vec_at(s, gravity))
        add_force(f, B["k"], weight, turning(mm(mat(B["Add"]), moments_at(s, B["J"])), parameters(q, B)))


@kernel
def inertia_derivatives(body, s, q, v, a, dv, da, pattern, R, C, Nv, Na):
    """What the bodies give to R_q, C, Nv_q, Na_q (RFP-6)."""
    for i in range(1, body.shape[0]):
        B = body[i]
        k, S, p = B["k"], moments_at(s, B["J"]), parameters(q, B)
        add_curvature(pattern, R, k, mm(mat(B["Adds"]), S))
        block(pattern, R, k, S, p, parameters(a, B), 1.0)
        block(pattern, C, k, S, p, parameters(v, B), 2.0)
        add_curvature(pattern, Nv, k, mm(mat(B["W"]), S))
        block(pattern, Nv, k, S, p, parameters(dv, B), 1.0)
        add_curvature(pattern, Na, k, mm(mat(B["U"]), S))
        block(pattern, Na, k, S, p, parameters(da, B), 1.0)


@kernel
def inertia_changes(body, s, ds, touch, q, a, dv, da, gravity, R, Nv, Na):
    """R_s, Nv_s, Na_s: changes of mass, inertia and gravity (RFP-8)."""
    g = vec_at(s, gravity)
    for j in range(ds.shape[0]):
        h = vec_at(ds[j], gravity)
        for i in range(1, body.shape[0]):
            if not touch[j, i]:
                continue
            B = body[i]
            k, m, e, p = B["k"], s[B["m"]], ds[j, B["m"]], parameters(q, B)
            S = moments_at(ds[j], B["J"])
            F = axpy(e, sub(vec_at(a, k), g), mul(-m, h))
            add_direction(R, k, j, F, turning(mm(mat(B["Adds"]), S), p))
            add_direction(Nv, k, j, mul(e, vec_at(dv, k)), turning(mm(mat(B["W"]), S), p))
            add_direction(Na, k, j, mul(e, vec_at(da, k)), turning(mm(mat(B["U"]), S), p))


@kernel
def kinetic_energy(B, s, q, v):
    """½ m rd·rd + ½ tr(Ad S Adᵀ) of a body."""
    k = B["k"]
    rd = vec_at(v, k)
    R = change_of(parameters(q, B), parameters(v, B))
    T = mm(R, moments_at(s, B["J"]))
    return 0.5 * (s[B["m"]] * dot(rd, rd) + dot(T[0], R[0]) + dot(T[1], R[1]) + dot(T[2], R[2]))
