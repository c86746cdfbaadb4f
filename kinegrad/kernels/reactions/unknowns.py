"""Wrenches of unit size that elements can exert (REA-3): what closes the loops, holds markers and drives measures."""

from kinegrad.kernels.elements.callbacks import ABOUT, external
from kinegrad.kernels.elements.laws import load_registers, run
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import kernel
from kinegrad.kernels.joint.records import SCREW
from kinegrad.kernels.products import TIME
from kinegrad.kernels.reactions.geometry import complement, one_across, point, unit, wrench_along
from kinegrad.kernels.reactions.records import (
    ACROSS_LINE,
    ALONG_VECTOR,
    CUT,
    DIRECTIONS,
    LINE,
    MEASURE,
    MOMENT_OF_TWO,
    MOMENTS_ACROSS,
    POINT,
)  # fmt: skip
from kinegrad.kernels.vec3 import axpy, cross, dot, mat, mul, mv, put, put6, sub, vec

sc_, mk_, ins_, slots_, code_, const_, outs_, s_, par_, reg_, row_law_ = ELEMENTS.viewers(
    *"sc mk ins slots code const outs s par reg row_law".split()
)


@kernel
def force(W, i, F, x):
    """W[i] = the wrench of the force F at x."""
    put6(W[i], F, cross(x, F))


@kernel
def moment(W, i, N):
    """W[i] = the wrench of the moment N."""
    put6(W[i], (0.0, 0.0, 0.0), N)


@kernel
def place_unknowns(ctx, T, length, W, J, B, rates):
    """Wrenches W of all unknowns, what measures do to entries of q in the balance J, and the rates of measures."""
    joint, direction = T.joint, T.direction
    for i in range(T.unknown.shape[0]):
        u = T.unknown[i]
        kind = u["kind"]
        if kind == CUT:
            cut(joint[u["joint"]], direction, u, length, W, B)
        elif kind == DIRECTIONS:
            x = vec(joint[u["joint"]]["x2"])
            for d in range(u["n"]):
                F, N = wrench_along(direction[u["dir"] + d], x)
                put6(W[u["w0"] + d], F, N)
        elif kind != MEASURE:
            constraint(T.body, u, length, W)
        if u["rate"] >= 0:
            rates[u["rate"]] = measure(ctx, joint, direction, u, T.term, W, J)


@kernel
def cut(j, direction, u, length, W, B):
    """Forces across its slides and moments across its turns, which a cut joint transmits; a screw turns forces into moments."""
    x, w = vec(j["x2"]), u["w0"]
    put(u["about"], vec(j["x1"]))
    for i in range(complement(direction, j["d0"], j["d1"], True, B)):
        F = vec(B[i])
        N = cross(x, F)
        for d in range(j["d0"], j["d1"]):
            e = direction[d]
            if e["type"] == SCREW:
                N = axpy(-e["pitch"] * dot(vec(e["u"]), F), vec(e["g"]), N)
        put6(W[w], F, N)
        w += 1
    for i in range(complement(direction, j["d0"], j["d1"], False, B)):
        moment(W, w, mul(length, vec(B[i])))
        w += 1


@kernel
def constraint(body, u, length, W):
    """What a constraint between markers exerts."""
    kind, w = u["kind"], u["w0"]
    x1, x2 = point(body, u["body1"], u["p1"]), point(body, u["body2"], u["p2"])
    a = mv(mat(body[u["of_a"]]["A"]), vec(u["a"]))
    b = mv(mat(body[u["of_b"]]["A"]), vec(u["b"]))
    put(u["about"], x1)
    if kind == POINT:
        force(W, w, (1.0, 0.0, 0.0), x2)
        force(W, w + 1, (0.0, 1.0, 0.0), x2)
        force(W, w + 2, (0.0, 0.0, 1.0), x2)
    elif kind == LINE:
        force(W, w, unit(sub(x2, x1)), x2)
    elif kind == ACROSS_LINE:
        c = one_across(a)
        force(W, w, c, x2)
        force(W, w + 1, cross(a, c), x2)
    elif kind == ALONG_VECTOR:
        force(W, w, a, x2)
    elif kind == MOMENT_OF_TWO:
        moment(W, w, mul(length, cross(b, a)))
        put(u["about"], (0.0, 0.0, 0.0))
    elif kind == MOMENTS_ACROSS:
        c = one_across(a)
        moment(W, w, mul(length, c))
        moment(W, w + 1, mul(length, cross(a, c)))
        put(u["about"], (0.0, 0.0, 0.0))


@kernel
def measure(ctx, joint, direction, u, term, W, J):
    """The rate of a measure; wrenches W of its scalars and what it does to entries of q in the balance J.

    A force of unit size along the measure is its derivatives by the scalars, which are those of the row (LAW-3).
    """
    sc, mk, reg, outs = sc_(ctx), mk_(ctx), reg_(ctx), outs_(ctx)
    o = 0
    if u["law"] >= 0:
        e = row_law_(ctx)[u["law"]]
        s = s_(ctx)
        k = load_registers(e, sc, ins_(ctx), slots_(ctx), s, par_(ctx)[TIME], 0.0 * s[0], False, reg)
        k = external(ctx, e, k, ABOUT)
        run(code_(ctx), const_(ctx), e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        o = e["o0"] + 2
    rate = 0.0 * par_(ctx)[TIME]
    for i in range(u["i0"], u["i1"]):
        m = term[i]
        y = reg[outs[o + m["input"]]] if u["law"] >= 0 else 1.0 + 0.0 * rate
        rate += y * sc[m["scalar"]]["ud"]
        if m["w"] >= 0 and m["marker"] >= 0:
            x = vec(mk[m["marker"]]["x"])
            c = m["comp"]
            F = (y if c == 0 else 0.0 * y, y if c == 1 else 0.0 * y, y if c == 2 else 0.0 * y)
            N = cross(x, F)
            put6(W[m["w"]], F if m["point"] else mul(0.0, F), N)
        elif m["w"] >= 0:
            F, N = wrench_along(direction[m["dir"]], vec(joint[m["joint"]]["x2"]))
            put6(W[m["w"]], mul(y, F), mul(y, N))
        elif m["at"] >= 0:
            J[m["at"]] += y
    return rate
