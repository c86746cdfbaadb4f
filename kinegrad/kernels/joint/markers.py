"""Markers in the joint set: positions, rates, columns, and the curvature of covectors.

A point moves by x_q = bv + bo × x for every coordinate between it and the ground, a unit vector by bo × x (MRK-1); their
second derivatives are x_qa,qb = o_b × x_qa for b proximal to a (MRK-2).  Columns of a marker run from its node down.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.joint.inertia import euler_block
from kinegrad.kernels.lanes import lane, of4, spread4
from kinegrad.kernels.linalg import get4, put4
from kinegrad.kernels.pattern import place
from kinegrad.kernels.vec3 import add, cross, dot, inc6, mat, mul, mv, put, six, sub, vec, vec_at
from kinegrad.kernels.vec4 import gain4, inc4, inc4_at, vec4, vec4_at


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
def gather(g, x, f, fv, fa, point):
    """g += (f, x fᵀ) in three lanes, of f, fv and fa; a unit vector has no force."""
    F = lanes_of(f, fv, fa)
    if point:
        inc4(g, F)
    for i in range(3):
        inc4_at(g, 3 + 3 * i, mul(x[i], F))


@inlined
def lanes_of(f, fv, fa):
    """Three vectors as lanes of one."""
    zero = 0.0 * f[0]
    return of4(f[0], fv[0], fa[0], zero), of4(f[1], fv[1], fa[1], zero), of4(f[2], fv[2], fa[2], zero)


@inlined
def turned(g, bv, bo):
    """bv × f + (x fᵀ) o - tr(x fᵀ) o: its product with o_b is f·x_qa,qb (MRK-4); in lanes."""
    X = (vec4_at(g, 3), vec4_at(g, 6), vec4_at(g, 9))
    return add(cross(bv, vec4(g)), sub(mv(X, bo), mul(get4(g, 3) + get4(g, 7) + get4(g, 11), bo)))


@kernel
def wrench_of(g, c, F):
    """F = the wrench of the covectors summed in lane c of g."""
    F[0] = g[0, c]
    F[1] = g[1, c]
    F[2] = g[2, c]
    F[3] = g[8, c] - g[10, c]
    F[4] = g[9, c] - g[5, c]
    F[5] = g[4, c] - g[6, c]


@kernel
def curvature(node, coord, mk, z, S, K, Nv, Na):
    """Add f·x_qq, fv·x_qq, fa·x_qq of all markers: sums over subtrees, then ancestor pairs; the three in lanes."""
    zero = spread4(0.0)
    for i in range(1, node.shape[0]):
        for j in range(12):
            put4(node[i]["g"], j, zero)
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            gather(node[m["node"]]["g"], vec(m["x"]), vec(m["f"]), vec(m["fv"]), vec(m["fa"]), m["point"])
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        first = B["k"]
        for k in range(first, first + B["nk"]):
            bv, bo = six(coord[k]["b"])
            t = turned(B["g"], bv, bo)
            j = first + B["nk"] - 1
            while j >= 0:
                y = dot(vec_at(coord[j]["b"], 3), t)
                above = place(S, j, k)
                K[above] += lane(y, 0)
                Nv[above] += lane(y, 1)
                Na[above] += lane(y, 2)
                if j < first:
                    below = place(S, k, j)
                    K[below] += lane(y, 0)
                    Nv[below] += lane(y, 1)
                    Na[below] += lane(y, 2)
                j = coord[j]["up"]
        if B["nk"] == 4:
            wrench_of(B["g"], 0, B["S"])
            euler_block(B, z, B["S"], S, K)
            wrench_of(B["g"], 1, B["S"])
            euler_block(B, z, B["S"], S, Nv)
            wrench_of(B["g"], 2, B["S"])
            euler_block(B, z, B["S"], S, Na)
        if B["parent"] > 0:
            T = node[B["parent"]]
            for j in range(12):
                gain4(T["g"], j, get4(B["g"], j))
