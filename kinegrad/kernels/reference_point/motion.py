"""Orientations of bodies and their rates, from Euler parameters that need not have unit length.

A(p) = E(p) G(p)ᵀ is quadratic in p, so all its derivatives come from one symmetric bilinear matrix (RFP-2).
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.reference_point.records import TURN
from kinegrad.kernels.rotations import A_of
from kinegrad.kernels.vec3 import add, put_mat


@kernel
def four(z, k):
    """Four numbers of z from index k on."""
    return (z[k], z[k + 1], z[k + 2], z[k + 3])


@kernel
def parameters(z, B):
    """The entries of z at the Euler parameters of a body."""
    return four(z, B["k"] + TURN)


@kernel
def change_of(p, t):
    """The change of A(p) along t, 2 E(p) G(t)ᵀ: the same with p and t exchanged  (RFP-2)."""
    p0, p1, p2, p3 = p
    t0, t1, t2, t3 = t
    a00, a11, a22, a33 = p0 * t0, p1 * t1, p2 * t2, p3 * t3
    a12, a13, a23 = p1 * t2 + p2 * t1, p1 * t3 + p3 * t1, p2 * t3 + p3 * t2
    a01, a02, a03 = p0 * t1 + p1 * t0, p0 * t2 + p2 * t0, p0 * t3 + p3 * t0
    return (
        (2.0 * (a00 + a11 - a22 - a33), 2.0 * (a12 - a03), 2.0 * (a13 + a02)),
        (2.0 * (a12 + a03), 2.0 * (a00 - a11 + a22 - a33), 2.0 * (a23 - a01)),
        (2.0 * (a13 - a02), 2.0 * (a23 + a01), 2.0 * (a00 - a11 - a22 + a33)),
    )


@kernel
def plus(R, S):
    """R + S of two matrices."""
    return (add(R[0], S[0]), add(R[1], S[1]), add(R[2], S[2]))


@kernel
def orientations(body, q):
    """A of every body (RFP-1)."""
    for i in range(1, body.shape[0]):
        put_mat(body[i]["A"], A_of(parameters(q, body[i])))


@kernel
def rates(body, q, v, a):
    """Ad, Add of every body (RFP-2)."""
    for i in range(1, body.shape[0]):
        B = body[i]
        p, pd = parameters(q, B), parameters(v, B)
        put_mat(B["Ad"], change_of(p, pd))
        put_mat(B["Add"], plus(change_of(p, parameters(a, B)), change_of(pd, pd)))


@kernel
def keep(body):
    """Ads, Adds = Ad, Add."""
    for i in range(1, body.shape[0]):
        for j in range(9):
            body[i]["Ads"][j] = body[i]["Ad"][j]
            body[i]["Adds"][j] = body[i]["Add"][j]


@kernel
def fields(body, q, dv, da):
    """W, U of every body: the change of A along dv, da."""
    for i in range(1, body.shape[0]):
        p = parameters(q, body[i])
        put_mat(body[i]["W"], change_of(p, parameters(dv, body[i])))
        put_mat(body[i]["U"], change_of(p, parameters(da, body[i])))
