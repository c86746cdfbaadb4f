"""Markers in reference-point coordinates: positions, rates, columns, and the forces and curvature of covectors.

x = r + A(p)(l - c) for points, A(p) l for unit vectors.  Columns are [1, B(p, l - c)], their rates [0, B(pd, l - c)] and
[0, B(pdd, l - c)] (RFP-3); c stands at the slot `ref` of a marker, 0 for vectors.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.reference_point.forces import add_curvature, add_direction, add_force, dyad, turning
from kinegrad.kernels.reference_point.motion import parameters
from kinegrad.kernels.reference_point.records import TURN
from kinegrad.kernels.vec3 import add, axpy, cross, dot, mat, mul, mv, put, sub, vec, vec_at


@inlined
def local(m, s):
    """l - c of a marker, from values or changes of the slots."""
    return sub(vec_at(s, m["loc"]), vec_at(s, m["ref"]))


@kernel
def marker_positions(body, mk, s, q):
    """x of every marker."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = body[m["node"]]
        x = mv(mat(B["A"]), local(m, s))
        put(m["x"], add(x, vec_at(q, B["k"])) if m["point"] and m["node"] > 0 else x)


@kernel
def marker_rates(body, mk, s, v, a):
    """xd, xdd of every marker that moves, for the rates Ad, Add of the bodies."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = body[m["node"]]
            l = local(m, s)
            d = mv(mat(B["Ad"]), l)
            e = mv(mat(B["Add"]), l)
            put(m["xd"], add(d, vec_at(v, B["k"])) if m["point"] else d)
            put(m["xdd"], add(e, vec_at(a, B["k"])) if m["point"] else e)


@kernel
def columns_of(p, l):
    """The four columns of B(p, l)  (ROT-11)."""
    e = (p[1], p[2], p[3])
    x, y, z = mul(2.0, axpy(p[0], l, cross(e, l)))
    d = 2.0 * dot(e, l)
    return (x, y, z), (d, -z, y), (z, d, -x), (-y, x, d)


@inlined
def turns(m):
    """The first column of the Euler parameters of a marker; those of its centre never change."""
    return m["c0"] + TURN if m["point"] else m["c0"]


@kernel
def first_columns(body, mk, col, s, q):
    """x_q of the coordinates, for the markers that have columns."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["c1"] > m["c0"]:
            c = turns(m)
            x0, x1, x2, x3 = columns_of(parameters(q, body[m["node"]]), local(m, s))
            put(col[c]["xq"], x0)
            put(col[c + 1]["xq"], x1)
            put(col[c + 2]["xq"], x2)
            put(col[c + 3]["xq"], x3)


@kernel
def rate_columns(body, mk, col, s, v, a, second):
    """xd_q and, if asked, xdd_q of the coordinates."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["c1"] > m["c0"]:
            c = turns(m)
            B = body[m["node"]]
            l = local(m, s)
            x0, x1, x2, x3 = columns_of(parameters(v, B), l)
            put(col[c]["xdq"], x0)
            put(col[c + 1]["xdq"], x1)
            put(col[c + 2]["xdq"], x2)
            put(col[c + 3]["xdq"], x3)
            if second:
                x0, x1, x2, x3 = columns_of(parameters(a, B), l)
                put(col[c]["xddq"], x0)
                put(col[c + 1]["xddq"], x1)
                put(col[c + 2]["xddq"], x2)
                put(col[c + 3]["xddq"], x3)


@kernel
def direction_columns(body, mk, col, ds, n):
    """x_z, xd_z, xdd_z of the directions: A, Ad, Add times the change of l - c (RFP-7)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = body[m["node"]]
        for c in range(m["c1"], m["c2"]):
            l = local(m, ds[col[c]["k"] - n])
            put(col[c]["xq"], mv(mat(B["A"]), l))
            put(col[c]["xdq"], mv(mat(B["Ad"]), l))
            put(col[c]["xddq"], mv(mat(B["Add"]), l))


@kernel
def gather(F, f, l, point):
    """F += (f, f lᵀ); a unit vector has no force."""
    if point:
        F[0] += f[0]
        F[1] += f[1]
        F[2] += f[2]
    for i in range(3):
        F[3 + 3 * i] += f[i] * l[0]
        F[4 + 3 * i] += f[i] * l[1]
        F[5 + 3 * i] += f[i] * l[2]


@kernel
def covectors(body, mk, s, all_three):
    """F of every body: the sum of the covectors f of its markers; if asked, F1, F2 of fv, fa too."""
    for i in range(1, body.shape[0]):
        for j in range(12):
            body[i]["F"][j] = 0.0
            body[i]["F1"][j] = 0.0
            body[i]["F2"][j] = 0.0
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = body[m["node"]]
            l = local(m, s)
            gather(B["F"], m["f"], l, m["point"])
            if all_three:
                gather(B["F1"], m["fv"], l, m["point"])
                gather(B["F2"], m["fa"], l, m["point"])


@kernel
def marker_forces(body, q, f):
    """f += what the covectors F of the bodies are on their coordinates (RFP-4)."""
    for i in range(1, body.shape[0]):
        B = body[i]
        add_force(f, B["k"], vec(B["F"]), turning(mat(B["F"][3:12]), parameters(q, B)))


@kernel
def curvature(body, S, R, Nv, Na):
    """Add f·x_qq, fv·x_qq, fa·x_qq of all markers (RFP-4)."""
    for i in range(1, body.shape[0]):
        B = body[i]
        add_curvature(S, R, B["k"], mat(B["F"][3:12]))
        add_curvature(S, Nv, B["k"], mat(B["F1"][3:12]))
        add_curvature(S, Na, B["k"], mat(B["F2"][3:12]))


@kernel
def marker_changes(body, mk, col, ds, q, R, Nv, Na):
    """R_s, Nv_s, Na_s: the covectors of the markers on changed arms (RFP-7)."""
    n, zero = q.shape[0], (0.0, 0.0, 0.0)
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = body[m["node"]]
            p = parameters(q, B)
            for c in range(m["c1"], m["c2"]):
                j = col[c]["k"] - n
                l = local(m, ds[j])
                add_direction(R, B["k"], j, zero, turning(dyad(vec(m["f"]), l), p))
                add_direction(Nv, B["k"], j, zero, turning(dyad(vec(m["fv"]), l), p))
                add_direction(Na, B["k"], j, zero, turning(dyad(vec(m["fa"]), l), p))
