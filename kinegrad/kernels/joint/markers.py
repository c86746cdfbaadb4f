"""Markers in the joint set: positions, rates, columns, and the curvature of covectors.

A point moves by x_q = bv + bo × x for every coordinate between it and the ground, a unit vector by bo × x (MRK-1); their
second derivatives are x_qa,qb = o_b × x_qa for b proximal to a (MRK-2).  Columns of a marker run from its node down.
"""

from kinegrad.kernels.jit import kernel
from kinegrad.kernels.joint.inertia import euler_block
from kinegrad.kernels.pattern import place
from kinegrad.kernels.vec3 import add, cross, dot, inc6, mat, mul, mv, put, six, sub, vec, vec_at


@kernel
def marker_positions(node, mk, s):
    """x of every marker."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = node[m["node"]]
        if m["point"]:
            put(m["x"], add(vec(B["r"]), mv(mat(B["A"]), sub(vec_at(s, m["loc"]), vec_at(s, m["ref"])))))
        else:
            put(m["x"], mv(mat(B["A"]), vec_at(s, m["loc"])))


@kernel
def first_columns(coord, mk, col):
    """x_q of the coordinates, for the markers that have columns."""
    for i in range(mk.shape[0]):
        m = mk[i]
        x = vec(m["x"])
        for c in range(m["c0"], m["c1"]):
            bv, bo = six(coord[col[c]["k"]]["b"])
            d = cross(bo, x)
            put(col[c]["xq"], add(d, bv) if m["point"] else d)


@kernel
def marker_rates(node, mk):
    """xd, xdd for the motion V, a of the nodes."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = node[m["node"]]
        x = vec(m["x"])
        v, o = six(B["V"])
        a, b = six(B["a"])
        d = cross(o, x)
        e = cross(b, x)
        if m["point"]:
            d = add(d, v)
            e = add(e, a)
        put(m["xd"], d)
        put(m["xdd"], add(e, cross(o, d)))


@kernel
def rate_columns(coord, mk, col, second):
    """xd_q and, if asked, xdd_q of the coordinates (MRK-3)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        x = vec(m["x"])
        xd = vec(m["xd"])
        xdd = vec(m["xdd"])
        for c in range(m["c0"], m["c1"]):
            N = coord[col[c]["k"]]
            o = vec_at(N["b"], 3)
            dv, do = six(N["bd"])
            t = add(cross(do, x), cross(o, xd))
            put(col[c]["xdq"], add(t, dv) if m["point"] else t)
            if second:
                ev, eo = six(N["bdd"])
                t = add(cross(eo, x), add(mul(2.0, cross(do, xd)), cross(o, xdd)))
                put(col[c]["xddq"], add(t, ev) if m["point"] else t)


@kernel
def wrenches(node, mk):
    """Add the covectors f of the markers to the wrenches F of their nodes."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            f = vec(m["f"])
            N = cross(vec(m["x"]), f)
            if m["point"]:
                inc6(node[m["node"]]["F"], f, N)
            else:
                inc6(node[m["node"]]["F"], (0.0, 0.0, 0.0), N)


@kernel
def gather(g, x, f, point):
    """g += (f, x fᵀ); a unit vector has no force."""
    if point:
        g[0] += f[0]
        g[1] += f[1]
        g[2] += f[2]
    for i in range(3):
        for j in range(3):
            g[3 + 3 * i + j] += x[i] * f[j]


@kernel
def turned(g, bv, bo):
    """bv × f + (x fᵀ) o - tr(x fᵀ) o: its product with o_b is f·x_qa,qb (MRK-4)."""
    X = mat(g[3:12])
    return add(cross(bv, vec(g)), sub(mv(X, bo), mul(g[3] + g[7] + g[11], bo)))


@kernel
def wrench_of(g, F):
    """F = the wrench of the covectors summed in g."""
    F[0] = g[0]
    F[1] = g[1]
    F[2] = g[2]
    F[3] = g[8] - g[10]
    F[4] = g[9] - g[5]
    F[5] = g[4] - g[6]


@kernel
def curvature(node, coord, mk, z, S, K, Nv, Na):
    """Add f·x_qq, fv·x_qq, fa·x_qq of all markers: sums over subtrees, then ancestor pairs."""
    for i in range(1, node.shape[0]):
        for j in range(12):
            node[i]["g"][j] = 0.0
            node[i]["g1"][j] = 0.0
            node[i]["g2"][j] = 0.0
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = node[m["node"]]
            x = vec(m["x"])
            gather(B["g"], x, vec(m["f"]), m["point"])
            gather(B["g1"], x, vec(m["fv"]), m["point"])
            gather(B["g2"], x, vec(m["fa"]), m["point"])
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        first = B["k"]
        for k in range(first, first + B["nk"]):
            bv, bo = six(coord[k]["b"])
            t = turned(B["g"], bv, bo)
            t1 = turned(B["g1"], bv, bo)
            t2 = turned(B["g2"], bv, bo)
            j = first + B["nk"] - 1
            while j >= 0:
                o = vec_at(coord[j]["b"], 3)
                y = dot(o, t)
                y1 = dot(o, t1)
                y2 = dot(o, t2)
                above = place(S, j, k)
                K[above] += y
                Nv[above] += y1
                Na[above] += y2
                if j < first:
                    below = place(S, k, j)
                    K[below] += y
                    Nv[below] += y1
                    Na[below] += y2
                j = coord[j]["up"]
        if B["nk"] == 4:
            wrench_of(B["g"], B["S"])
            euler_block(B, z, B["S"], S, K)
            wrench_of(B["g1"], B["S"])
            euler_block(B, z, B["S"], S, Nv)
            wrench_of(B["g2"], B["S"])
            euler_block(B, z, B["S"], S, Na)
        if B["parent"] > 0:
            T = node[B["parent"]]
            for j in range(12):
                T["g"][j] += B["g"][j]
                T["g1"][j] += B["g1"][j]
                T["g2"][j] += B["g2"][j]
