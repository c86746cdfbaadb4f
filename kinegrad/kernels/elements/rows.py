"""Constraint and freedom rows of markers: coincidence, dot product, distance, normalisation, measures.

Each is linear or quadratic in markers, so that Phid and Phidd follow from the product rule:

    COINCIDENCE  (x_i - x_j)_c                                  DOT         x_i·d - C
    NORM         p·p - 1, coordinates n to n + 3                DISTANCE    d·d - L²
    MEASURE      scalar n - C

with d = x_j - x_k, or x_j where k is -1, and c the component.  A product is handled through its partner vectors: y with
∂Phi/∂x = y.  Columns by coordinates and directions come from the markers (CON-1 to CON-6); rows given by expressions are
in `expression_rows`.
"""

from kinegrad.kernels.elements.layout import ELEMENTS, N_ROWS
from kinegrad.kernels.elements.stages import BIAS, LINEAR_ROWS, PULL, ROWS, Kind
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.linalg import get4
from kinegrad.kernels.pattern import COLUMNS, add, place
from kinegrad.kernels.products import BLOCK, FREEDOMS
from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT, NORM
from kinegrad.kernels.vec3 import axpy, dot, inc, mul, sub, vec
from kinegrad.kernels.vec4 import gain4, inc4, vec4

(mk_, dual_, sc_, col_, row_, s_, ds_, q_, vp_, ap_, lam_, sv_, sa_, yp4_, yv4_, ya4_, count_, flag_, psi4_) = (
    ELEMENTS.viewers(*"mk dual sc col row s ds q vp ap lam sv sa yp4 yv4 ya4 count flag psi4".split())
)
(Phi_, J_, c_, Phi_q_, Phid_q_, Phidd_q_, R_q_, Nv_q_, Na_q_, square_, wide_) = ELEMENTS.viewers(
    *"Phi J c Phi_q Phid_q Phidd_q R_q Nv_q Na_q square wide".split()
)
Phi_s_, Phid_s_, Phidd_s_, R_s_, Nv_s_, Na_s_ = ELEMENTS.viewers(*"Phi_s Phid_s Phidd_s R_s Nv_s Na_s".split())

KIND = Kind({"row": ("i", "j", "k")}, count=N_ROWS)


@kernel
def wanted(row, count, flag):
    """How many rows of the table are wanted: constraints, or freedoms too."""
    return row.shape[0] if flag[FREEDOMS] else count[N_ROWS]


@kernel
def x_of(mk, e):
    """d of the positions."""
    d = vec(mk[e["j"]]["x"])
    return sub(d, vec(mk[e["k"]]["x"])) if e["k"] >= 0 else d


@kernel
def xd_of(mk, e):
    """d of the velocities."""
    d = vec(mk[e["j"]]["xd"])
    return sub(d, vec(mk[e["k"]]["xd"])) if e["k"] >= 0 else d


@kernel
def xdd_of(mk, e):
    """d of the accelerations."""
    d = vec(mk[e["j"]]["xdd"])
    return sub(d, vec(mk[e["k"]]["xdd"])) if e["k"] >= 0 else d


@kernel
def dm_of(dual, e):
    """d of x_q mu."""
    d = vec4(dual[e["j"]]["dm"])
    return sub(d, vec4(dual[e["k"]]["dm"])) if e["k"] >= 0 else d


@kernel
def dv_of(dual, e):
    """d of x_q eta_v."""
    d = vec4(dual[e["j"]]["dv"])
    return sub(d, vec4(dual[e["k"]]["dv"])) if e["k"] >= 0 else d


@kernel
def da_of(dual, e):
    """d of x_q eta_a."""
    d = vec4(dual[e["j"]]["da"])
    return sub(d, vec4(dual[e["k"]]["da"])) if e["k"] >= 0 else d


@kernel
def across(e, x):
    """The partner of d in a product with x (x_i, or d itself for a distance)."""
    return mul(2.0, x) if e["type"] == DISTANCE else x


@kernel
def product_row(col, A, g, y, r, P, J):
    """J[r] += g y·x_q of the marker A."""
    for c in range(A["c0"], A["c1"]):
        J[place(P, r, col[c]["k"])] += g * dot(y, vec(col[c]["xq"]))


@kernel
def component_row(col, A, g, j, r, P, J):
    """J[r] += g (x_q)_j of the marker A."""
    for c in range(A["c0"], A["c1"]):
        J[place(P, r, col[c]["k"])] += g * col[c]["xq"][j]


@KIND.at(ROWS)
@cfunction(what="the simulation kernels")
def values(ctx):
    """Phi and Phi_q of the rows (CON-1); scalars are read by freedom rows alone."""
    mk, sc, col, rows, s, q, Phi, P, J = (
        mk_(ctx), sc_(ctx), col_(ctx), row_(ctx), s_(ctx), q_(ctx), Phi_(ctx), wide_(ctx), J_(ctx),
    )  # fmt: skip
    for i in range(wanted(rows, count_(ctx), flag_(ctx))):
        e = rows[i]
        r = e["row"]
        kind = e["type"]
        if kind == COINCIDENCE:
            A = mk[e["i"]]
            B = mk[e["j"]]
            j = e["comp"]
            Phi[r] = A["x"][j] - B["x"][j]
            component_row(col, A, 1.0, j, r, P, J)
            component_row(col, B, -1.0, j, r, P, J)
        elif kind == NORM:
            t = -1.0 + 0.0 * q[0]
            for k in range(e["n"], e["n"] + 4):
                t += q[k] * q[k]
                J[place(P, r, k)] += 2.0 * q[k]
            Phi[r] = t
        elif kind == DOT or kind == DISTANCE:
            d = x_of(mk, e)
            x = d
            if kind == DISTANCE:
                Phi[r] = dot(d, d) - s[e["val"]] * s[e["val"]]
            else:
                x = vec(mk[e["i"]]["x"])
                Phi[r] = dot(x, d) - s[e["val"]]
                product_row(col, mk[e["i"]], 1.0, d, r, P, J)
            y = across(e, x)
            product_row(col, mk[e["j"]], 1.0, y, r, P, J)
            if e["k"] >= 0:
                product_row(col, mk[e["k"]], -1.0, y, r, P, J)
        else:
            m = sc[e["n"]]
            Phi[r] = m["u"] - s[e["val"]]
            if m["marker"] < 0:
                J[place(P, r, m["k"])] += 1.0
            else:
                component_row(col, mk[m["marker"]], 1.0, m["comp"], r, P, J)


@KIND.at(BIAS)
@cfunction(what="the simulation kernels")
def bias(ctx):
    """Phidd at the marker accelerations of zero second derivatives of the coordinates (CON-2)."""
    mk, sc, rows, v, out = mk_(ctx), sc_(ctx), row_(ctx), vp_(ctx), c_(ctx)
    for i in range(wanted(rows, count_(ctx), flag_(ctx))):
        e = rows[i]
        r = e["row"]
        kind = e["type"]
        if kind == COINCIDENCE:
            out[r] = mk[e["i"]]["xdd"][e["comp"]] - mk[e["j"]]["xdd"][e["comp"]]
        elif kind == NORM:
            t = 0.0 * v[0]
            for k in range(e["n"], e["n"] + 4):
                t += v[k] * v[k]
            out[r] = 2.0 * t
        elif kind == DISTANCE:
            d = xd_of(mk, e)
            out[r] = 2.0 * (dot(x_of(mk, e), xdd_of(mk, e)) + dot(d, d))
        elif kind == DOT:
            A = mk[e["i"]]
            t = dot(vec(A["xdd"]), x_of(mk, e)) + 2.0 * dot(vec(A["xd"]), xd_of(mk, e))
            out[r] = t + dot(vec(A["x"]), xdd_of(mk, e))
        else:
            m = sc[e["n"]]
            out[r] = 0.0 * v[0] if m["marker"] < 0 else mk[m["marker"]]["xdd"][m["comp"]]


@kernel
def component_linear(col, A, g, j, r, l, v, a, Phi, Phid, Phidd):
    """Columns and covectors of g x_j of the marker A."""
    for c in range(A["c0"], A["c2"]):
        k = col[c]["k"]
        add(Phi, r, k, g * col[c]["xq"][j])
        add(Phid, r, k, g * col[c]["xdq"][j])
        add(Phidd, r, k, g * col[c]["xddq"][j])
    A["f"][j] += g * l
    A["fv"][j] += g * v
    A["fa"][j] += g * a


@kernel
def load(A, y, l, v, a):
    """Covectors l y, v y, a y on a marker."""
    inc(A["f"], mul(l, y))
    inc(A["fv"], mul(v, y))
    inc(A["fa"], mul(a, y))


@kernel
def product_linear(col, A, g, y, yd, ydd, r, l, v, a, Phi, Phid, Phidd):
    """Columns and covectors of g y·x by the marker x, with the partner y and its rates (CON-3)."""
    for c in range(A["c0"], A["c2"]):
        k = col[c]["k"]
        x = vec(col[c]["xq"])
        xd = vec(col[c]["xdq"])
        add(Phi, r, k, g * dot(y, x))
        add(Phid, r, k, g * (dot(yd, x) + dot(y, xd)))
        add(Phidd, r, k, g * (dot(ydd, x) + 2.0 * dot(yd, xd) + dot(y, vec(col[c]["xddq"]))))
    load(A, y, g * l, g * v, g * a)


@kernel
def pairs(col, A, B, g, l, v, a, R, Nv, Na):
    """Add g l x_qᵀ H y_q and its transpose, and the same with v, a, for columns x of A, y of B; H: the product (CON-4)."""
    S, R_q, R_s = R
    n = S[COLUMNS]
    for q in range(B["c0"], B["c2"]):
        j = col[q]["k"]
        y = vec(col[q]["xq"])
        for p in range(A["c0"], A["c2"]):
            i = col[p]["k"]
            t = g * dot(vec(col[p]["xq"]), y)
            if i < n:
                add(R, i, j, l * t)
                add(Nv, i, j, v * t)
                add(Na, i, j, a * t)
            if j < n:
                add(R, j, i, l * t)
                add(Nv, j, i, v * t)
                add(Na, j, i, a * t)


@KIND.at(LINEAR_ROWS)
@cfunction(what="the sensitivity kernels")
def linear(ctx):
    """Phi_z, Phid_z, Phidd_z; covectors of the markers; x_qᵀPhi_xx x_q parts of (Phi_qᵀ sigma)_z (CON-3, CON-4)."""
    mk, sc, col, rows, s, ds = mk_(ctx), sc_(ctx), col_(ctx), row_(ctx), s_(ctx), ds_(ctx)
    q, qd, qdd, lam, sv, sa = q_(ctx), vp_(ctx), ap_(ctx), lam_(ctx), sv_(ctx), sa_(ctx)
    P, S, Phi_s = wide_(ctx), square_(ctx), Phi_s_(ctx)
    Phi, Phid, Phidd = (P, Phi_q_(ctx), Phi_s), (P, Phid_q_(ctx), Phid_s_(ctx)), (P, Phidd_q_(ctx), Phidd_s_(ctx))
    R, Nv, Na = (S, R_q_(ctx), R_s_(ctx)), (S, Nv_q_(ctx), Nv_s_(ctx)), (S, Na_q_(ctx), Na_s_(ctx))
    for i in range(wanted(rows, count_(ctx), flag_(ctx))):
        e = rows[i]
        r = e["row"]
        kind = e["type"]
        l, v, a = lam[r], sv[r], sa[r]
        if kind == COINCIDENCE:
            component_linear(col, mk[e["i"]], 1.0, e["comp"], r, l, v, a, Phi, Phid, Phidd)
            component_linear(col, mk[e["j"]], -1.0, e["comp"], r, l, v, a, Phi, Phid, Phidd)
        elif kind == NORM:
            for k in range(e["n"], e["n"] + 4):
                add(Phi, r, k, 2.0 * q[k])
                add(Phid, r, k, 2.0 * qd[k])
                add(Phidd, r, k, 2.0 * qdd[k])
                add(R, k, k, 2.0 * l)
                add(Nv, k, k, 2.0 * v)
                add(Na, k, k, 2.0 * a)
        elif kind == DOT or kind == DISTANCE:
            d, dd, ddd = x_of(mk, e), xd_of(mk, e), xdd_of(mk, e)
            x, xd, xdd = d, dd, ddd
            if kind == DISTANCE:
                pairs(col, mk[e["j"]], mk[e["j"]], 1.0, l, v, a, R, Nv, Na)
                pairs(col, mk[e["k"]], mk[e["k"]], 1.0, l, v, a, R, Nv, Na)
                pairs(col, mk[e["j"]], mk[e["k"]], -2.0, l, v, a, R, Nv, Na)
            else:
                A = mk[e["i"]]
                x, xd, xdd = vec(A["x"]), vec(A["xd"]), vec(A["xdd"])
                product_linear(col, A, 1.0, d, dd, ddd, r, l, v, a, Phi, Phid, Phidd)
                pairs(col, A, mk[e["j"]], 1.0, l, v, a, R, Nv, Na)
                if e["k"] >= 0:
                    pairs(col, A, mk[e["k"]], -1.0, l, v, a, R, Nv, Na)
            y, yd, ydd = across(e, x), across(e, xd), across(e, xdd)
            product_linear(col, mk[e["j"]], 1.0, y, yd, ydd, r, l, v, a, Phi, Phid, Phidd)
            if e["k"] >= 0:
                product_linear(col, mk[e["k"]], -1.0, y, yd, ydd, r, l, v, a, Phi, Phid, Phidd)
        else:
            m = sc[e["n"]]
            if m["marker"] < 0:
                add(Phi, r, m["k"], 1.0)
            else:
                component_linear(col, mk[m["marker"]], 1.0, m["comp"], r, l, v, a, Phi, Phid, Phidd)
        t = 2.0 * s[e["val"]] if kind == DISTANCE else 1.0
        for p in range(ds.shape[0]):
            Phi_s[r, p] -= t * ds[p, e["val"]]


@kernel
def component_pull(A, D, g, j, l, v, a, p, pv, pa):
    """Covectors of g x_j on the marker A, and its duals D."""
    gain4(D["X"], j, g * p)
    gain4(D["Y1"], j, g * pv)
    gain4(D["Y2"], j, g * pa)
    A["f"][j] += g * l
    A["fv"][j] += g * v
    A["fa"][j] += g * a


@kernel
def product_pull(A, D, g, y, yd, ydd, ym, yv, ya, l, v, a, p, pv, pa):
    """Covectors of g y·x on the marker x, and its duals D: l, v, a multipliers, p, pv, pa adjoints of rows (CON-6)."""
    inc4(D["X"], mul(g, axpy(p, y, axpy(pv, yd, mul(pa, ydd)))))
    inc4(D["X"], mul(g, axpy(l, ym, axpy(v, yv, mul(a, ya)))))
    inc4(D["Y1"], mul(g, axpy(pv, y, mul(2.0 * pa, yd))))
    inc4(D["Y2"], mul(g * pa, y))
    load(A, y, g * l, g * v, g * a)


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def pull(ctx):
    """Duals of yp·Phi_s + yv·Phid_s + ya·Phidd_s + mu·(Phi_qᵀlam)_s + ... on the markers, and own slots (CON-6)."""
    mk, dual, sc, rows, s, psi = mk_(ctx), dual_(ctx), sc_(ctx), row_(ctx), s_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    lam, sv, sa, yp, yv, ya = lam_(ctx), sv_(ctx), sa_(ctx), yp4_(ctx), yv4_(ctx), ya4_(ctx)
    for i in range(wanted(rows, count_(ctx), flag_(ctx))):
        e = rows[i]
        r = e["row"]
        kind = e["type"]
        l, v, a, p, pv, pa = lam[r], sv[r], sa[r], get4(yp, r), get4(yv, r), get4(ya, r)
        if kind == COINCIDENCE:
            component_pull(mk[e["i"]], dual[e["i"]], 1.0, e["comp"], l, v, a, p, pv, pa)
            component_pull(mk[e["j"]], dual[e["j"]], -1.0, e["comp"], l, v, a, p, pv, pa)
        elif kind == DOT or kind == DISTANCE:
            x, xd, xdd = x_of(mk, e), xd_of(mk, e), xdd_of(mk, e)
            xm, xv, xa = dm_of(dual, e), dv_of(dual, e), da_of(dual, e)
            if kind != DISTANCE:
                A, D = mk[e["i"]], dual[e["i"]]
                product_pull(A, D, 1.0, x, xd, xdd, xm, xv, xa, l, v, a, p, pv, pa)
                x, xd, xdd = vec(A["x"]), vec(A["xd"]), vec(A["xdd"])
                xm, xv, xa = vec4(D["dm"]), vec4(D["dv"]), vec4(D["da"])
            y, yd, ydd = across(e, x), across(e, xd), across(e, xdd)
            ym, y1, y2 = across(e, xm), across(e, xv), across(e, xa)
            product_pull(mk[e["j"]], dual[e["j"]], 1.0, y, yd, ydd, ym, y1, y2, l, v, a, p, pv, pa)
            if e["k"] >= 0:
                product_pull(mk[e["k"]], dual[e["k"]], -1.0, y, yd, ydd, ym, y1, y2, l, v, a, p, pv, pa)
        elif kind != NORM:
            m = sc[e["n"]]
            if m["marker"] >= 0:
                component_pull(mk[m["marker"]], dual[m["marker"]], 1.0, m["comp"], l, v, a, p, pv, pa)
        gain4(psi, e["val"], (-2.0 * s[e["val"]] if kind == DISTANCE else -1.0) * p)
