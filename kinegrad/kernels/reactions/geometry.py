"""Bodies from their markers, and joints with their free directions (REA-1)."""

from kinegrad.kernels.jit import kernel, real, sqrt
from kinegrad.kernels.joint.records import SCREW, SLIDE
from kinegrad.kernels.reactions.records import BAR, FIRST, SECOND
from kinegrad.kernels.sym3 import smv, sym
from kinegrad.kernels.vec3 import add, axpy, cross, dot, mat, mul, mv, put, put6, sub, vec, vm


@kernel
def unit(a):
    """a brought to length 1."""
    return mul(1.0 / sqrt(dot(a, a)), a)


@kernel
def one_across(u):
    """A unit vector across the unit vector u: from the global axis that is farthest from it."""
    x, y, z = abs(real(u[0])), abs(real(u[1])), abs(real(u[2]))
    if x <= y and x <= z:
        e = (1.0, 0.0, 0.0)
    elif y <= z:
        e = (0.0, 1.0, 0.0)
    else:
        e = (0.0, 0.0, 1.0)
    return unit(cross(u, e))


@kernel
def point(body, b, p):
    """The point p of body b."""
    return add(vec(body[b]["c"]), mv(mat(body[b]["A"]), vec(p)))


@kernel
def place_bodies(body, mk):
    """A and the centre of mass of every body."""
    for i in range(1, body.shape[0]):
        B = body[i]
        first = B["mark"]
        put(B["c"], vec(mk[first]["x"]))
        for j in range(3):
            e = mk[first + 1 + j]["x"]
            B["A"][j] = e[0]
            B["A"][3 + j] = e[1]
            B["A"][6 + j] = e[2]


@kernel
def needed(B, mk, g):
    """The rate of momentum of a body less its weight: force and moment about the origin (REA-2)."""
    first = B["mark"]
    spin, turn = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for j in range(1, 4):  # e × ė sums up to 2 ω, e × ë to 2 ω̇
        e = mk[first + j]
        x = vec(e["x"])
        spin = add(spin, cross(x, vec(e["xd"])))
        turn = add(turn, cross(x, vec(e["xdd"])))
    A = mat(B["A"])
    w, wd = vm(mul(0.5, spin), A), vm(mul(0.5, turn), A)
    J = sym(B["J"])
    N = add(smv(J, wd), cross(w, smv(J, w)))
    F = mul(B["m"], sub(vec(mk[first]["xdd"]), g))
    return F, add(mv(A, N), cross(vec(B["c"]), F))


@kernel
def place_joints(body, joint, direction):
    """Markers of every joint, and its free directions: axes, duals, motions."""
    for i in range(joint.shape[0]):
        j = joint[i]
        x1, x2 = point(body, j["first"], j["p1"]), point(body, j["second"], j["p2"])
        put(j["x1"], x1)
        put(j["x2"], x2)
        for d in range(j["d0"], j["d1"]):
            e = direction[d]
            u = vec(e["axis"])
            if e["frame"] == FIRST:
                u = mv(mat(body[j["first"]]["A"]), u)
            elif e["frame"] == SECOND:
                u = mv(mat(body[j["second"]]["A"]), u)
            elif e["frame"] == BAR:
                along = unit(sub(x2, x1))
                aside = one_across(along)
                u = add(mul(u[0], along), axpy(u[1], aside, mul(u[2], cross(along, aside))))
            put(e["u"], u)
            if e["type"] == SLIDE:
                put6(e["S"], u, (0.0, 0.0, 0.0))
            else:
                v = cross(x2, u)
                put6(e["S"], axpy(e["pitch"], u, v) if e["type"] == SCREW else v, u)
        for d in range(j["d0"], j["d1"]):
            put(direction[d]["g"], dual(direction, j["d0"], j["d1"], d))


@kernel
def dual(direction, first, last, d):
    """The vector with 1 along u of direction d and 0 along the others of its class, slides or turns, among theirs."""
    slides = direction[d]["type"] == SLIDE
    u = vec(direction[d]["u"])
    n, v, w = 0, u, u
    for i in range(first, last):
        if i != d and (direction[i]["type"] == SLIDE) == slides:
            if n == 0:
                v = vec(direction[i]["u"])
            else:
                w = vec(direction[i]["u"])
            n += 1
    if n == 0:
        return u
    g = cross(v, w) if n > 1 else axpy(-dot(u, v) / dot(v, v), v, u)
    return mul(1.0 / dot(g, u), g)


@kernel
def wrench_along(e, x):
    """A unit force on the coordinate of direction e, at x: its wrench about the origin."""
    g = vec(e["g"])
    if e["type"] == SLIDE:
        return g, cross(x, g)
    return (0.0 * g[0], 0.0 * g[0], 0.0 * g[0]), g


@kernel
def held(direction, j, F, N):
    """What joint j transmits of the wrench (F, N) at its second marker without a force on its coordinates (REA-1)."""
    dF, dN = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for d in range(j["d0"], j["d1"]):
        e = direction[d]
        u, g = vec(e["u"]), vec(e["g"])
        if e["type"] == SLIDE:
            dF = axpy(dot(u, F), g, dF)
        elif e["type"] == SCREW:
            dN = axpy(dot(u, N) + e["pitch"] * dot(u, F), g, dN)
        else:
            dN = axpy(dot(u, N), g, dN)
    return sub(F, dF), sub(N, dN)


@kernel
def complement(direction, first, last, slides, out):
    """How many: unit vectors across each other and across the slides (or turns) of a joint, in rows of out (3, 3)."""
    n, u, v = 0, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
    for d in range(first, last):
        if (direction[d]["type"] == SLIDE) == slides:
            if n == 0:
                u = vec(direction[d]["u"])
            else:
                v = vec(direction[d]["u"])
            n += 1
    if n == 0:
        for i in range(3):
            for j in range(3):
                out[i, j] = 1.0 if i == j else 0.0
    elif n == 1:
        u = unit(u)
        x = one_across(u)
        put(out[0], x)
        put(out[1], cross(u, x))
    elif n == 2:
        put(out[0], unit(cross(u, v)))
    return 3 - n
