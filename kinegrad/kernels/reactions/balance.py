"""The balance of all bodies at one state: its rows b and J = Gᵀ, what solutions are on bodies, and reactions (REA-2 to REA-4).

J has a row for each unknown y, and columns for the free directions of joints in the tree: those on the way between the bodies
that it acts on, so that a long chain of small loops has few (`wide` is its pattern).
"""

from kinegrad.kernels.jit import kernel, real, sqrt
from kinegrad.kernels.reactions.geometry import held, needed, wrench_along
from kinegrad.kernels.vec3 import add, cross, dot, inc6, mul, put6, six, sub, vec


@kernel
def spatial(S, F, N):
    """S·(F, N)."""
    return dot((S[0], S[1], S[2]), F) + dot((S[3], S[4], S[5]), N)


@kernel
def known(T, mk, f, g, b):
    """b of the balance: what bodies need beyond each joint, along its free directions, less loads on its coordinates."""
    body, joint, direction = T.body, T.joint, T.direction
    for i in range(1, body.shape[0]):
        F, N = needed(body[i], mk, g)
        put6(body[i]["w"], F, N)
    for i in range(T.load.shape[0]):
        e = T.load[i]
        m = mk[e["marker"]]
        F = vec(m["f"])
        N = cross(vec(m["x"]), F)
        inc6(body[e["body"]]["w"], F if e["point"] else mul(0.0, F), N)
    for i in range(T.angle.shape[0]):
        e = T.angle[i]
        j = joint[e["joint"]]
        F, N = wrench_along(direction[e["dir"]], vec(j["x2"]))
        F, N = mul(f[e["k"]], F), mul(f[e["k"]], N)
        inc6(body[j["second"]]["w"], F, N)
        inc6(body[j["first"]]["w"], mul(-1.0, F), mul(-1.0, N))
    for i in range(body.shape[0] - 1, 0, -1):
        B = body[i]
        F, N = six(B["w"])
        j = joint[B["joint"]]
        for d in range(j["d0"], j["d1"]):
            e = direction[d]
            b[d] = B["sign"] * spatial(e["S"], F, N)
            if e["k"] >= 0:
                b[d] += f[e["k"]]
        if B["parent"] > 0:
            inc6(body[B["parent"]]["w"], F, N)


@kernel
def unknown_side(T, W, J):
    """Add what wrenches W do to the balance."""
    for i in range(T.hit.shape[0]):
        h = T.hit[i]
        B = T.body[h["body"]]
        j = T.joint[B["joint"]]
        F, N = six(W[h["w"]])
        sign = h["sign"] * B["sign"]
        for d in range(j["d0"], j["d1"]):
            J[h["at"] + d - j["d0"]] += sign * spatial(T.direction[d]["S"], F, N)


@kernel
def beyond(T, W, y):
    """e of every body: the sum over it and all beyond it of what y exerts on them."""
    body = T.body
    for i in range(1, body.shape[0]):
        for c in range(6):
            body[i]["e"][c] = 0.0 * body[i]["w"][c]
    for i in range(T.member.shape[0]):
        m = T.member[i]
        F, N = six(W[m["w"]])
        t = m["sign"] * y[m["column"]]
        inc6(body[m["body"]]["e"], mul(t, F), mul(t, N))
    for i in range(body.shape[0] - 1, 0, -1):
        B = body[i]
        if B["parent"] > 0:
            F, N = six(B["e"])
            inc6(body[B["parent"]]["e"], F, N)


@kernel
def reaction(T, W, y, i, whole):
    """Force and moment of element i after `beyond` of y; where it is not `whole`, a change by y, up to its sign."""
    e = T.element[i]
    if e["body"] > 0:
        B = T.body[e["body"]]
        j = T.joint[B["joint"]]
        F, N = six(B["e"])
        if whole:
            Fw, Nw = six(B["w"])
            F, N = sub(Fw, F), sub(Nw, N)
        x1, x2 = vec(j["x1"]), vec(j["x2"])
        F, N = held(T.direction, j, F, sub(N, cross(x2, F)))
        N = add(N, cross(sub(x2, x1), F))
        return mul(B["sign"], F), mul(B["sign"], N)
    zero = 0.0 * T.body[0]["c"][0]
    F, N = (zero, zero, zero), (zero, zero, zero)
    if e["unknown"] >= 0:
        u = T.unknown[e["unknown"]]
        for k in range(u["n"]):
            f, n = six(W[u["w0"] + k])
            F, N = add(F, mul(y[u["c0"] + k], f)), add(N, mul(y[u["c0"] + k], n))
        N = sub(N, cross(vec(u["about"]), F))
    return F, N


@kernel
def more_than_seen(W, J, length, of_wrenches):
    """How much more the unknowns could do to the balance than they do, at least 1; J in units of the model.

    Where all of them act on nothing that is free, as two ball joints at one point do, only rounding is left in J: it must not
    be judged by its own size.
    """
    could, does = 0.0, 0.0
    for i in range(W.shape[0]):
        F, N = six(W[i])
        forces, moments = real(dot(F, F)), real(dot(N, N))
        could = max(could, of_wrenches[i] * (sqrt(forces) if forces > 0.0 else sqrt(moments) / length))
    for p in range(J.shape[0]):
        does += real(J[p]) ** 2
    does = sqrt(does)
    return could / does if could > does > 0.0 else 1.0
