"""Derivatives by directions in the slots: each direction p displaces nodes by twists and adds one column, numbered n + p.

A geometric slot moves everything beyond it by a twist that is fixed in a frame of the tree (an offset slides, a
constant rotation turns, an axis turns before and turns back after its joint), so its column obeys the rules of a
coordinate's column (DIR-1 to DIR-4); the twist of a pitch grows with the angle (SCW-2).  Slots of masses change moments in
place (DIR-5).
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.joint.inertia import centre, dot6, get10, inertia_wrench, momentum, tensor
from kinegrad.kernels.joint.motion import mat_at
from kinegrad.kernels.joint.records import CARRIED, GEOMETRY, INERTIA, RIGID, SCREW, SLIDE, TURN, WEIGHT
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    inc6,
    mat,
    mm,
    mul,
    mv,
    neg,
    put,
    scross,
    six,
    sub,
    vec,
    vec_at,
)  # fmt: skip
from kinegrad.kernels.vec4 import column


@inlined
def is_something(x):
    """Whether a vector is not zero."""
    return x[0] != 0.0 or x[1] != 0.0 or x[2] != 0.0


@kernel
def rotation_change(C, dC):
    """φ with δC Cᵀ = φ~, for a rotation C with change dC (given by rows)."""
    w = (0.0 * dC[0][0], 0.0 * dC[0][0], 0.0 * dC[0][0])
    for j in range(3):
        w = add(w, cross((C[0][j], C[1][j], C[2][j]), (dC[0][j], dC[1][j], dC[2][j])))
    return mul(0.5, w)


@kernel
def add_fixed(B, P, star, ev, eo):
    """Add a twist e that is fixed in the frame of node P, with its rates, to Xi, Xid, Xidd of node B (DIR-1)."""
    v, o = six(P["Vs"] if star else P["V"])
    a, b = six(P["acs"] if star else P["a"])
    dv, do = scross(v, o, ev, eo)
    gv, go = scross(v, o, dv, do)
    hv, ho = scross(a, b, ev, eo)
    inc6(B["Xi"], ev, eo)
    inc6(B["Xid"], dv, do)
    inc6(B["Xidd"], add(gv, hv), add(go, ho))


@kernel
def turned_at(B, P, star, u):
    """Rate and second rate of the angle of node B about the axis u, from the motions of B and of its parent P."""
    v = sub(vec_at(B["Vs"] if star else B["V"], 3), vec_at(P["Vs"] if star else P["V"], 3))
    a = sub(vec_at(B["acs"] if star else B["a"], 3), vec_at(P["acs"] if star else P["a"], 3))
    return dot(u, v), dot(u, a)


@kernel
def add_pitch(B, P, star, s, t, q):
    """Add the twist q t (u, 0) of a change t of the pitch, and its rates, to Xi, Xid, Xidd of a screw node (SCW-2)."""
    u = mv(mat(B["Aj"]), mul(B["sgn"], vec_at(s, B["axis"])))
    zero = (0.0, 0.0, 0.0)
    add_fixed(B, P, star, mul(t * q, u), zero)
    qd, qdd = turned_at(B, P, star, u)
    inc6(B["Xid"], mul(t * qd, u), zero)
    h = cross(vec_at(P["Vs"] if star else P["V"], 3), u)
    inc6(B["Xidd"], axpy(t * qdd, u, mul(2.0 * t * qd, h)), zero)


@kernel
def twists(node, s, ds, touch, end, star, q):
    """Twists Xi of the carried nodes before `end` under the slot direction ds, Xp of their joints, and rates Xid, Xidd (of Vs,
    acs if star)."""
    for i in range(1, end):
        if not touch[i] & CARRIED:
            continue
        B = node[i]
        P = node[B["parent"]]
        onwards = touch[B["parent"]] & CARRIED
        for j in range(6):
            B["Xi"][j] = P["Xi"][j] if onwards else 0.0
            B["Xid"][j] = P["Xid"][j] if onwards else 0.0
            B["Xidd"][j] = P["Xidd"][j] if onwards else 0.0
        geometry = touch[i] & GEOMETRY
        if geometry:
            R = mat(P["A"])
            x = vec(B["x"])
            shift = sub(vec_at(ds, B["off"]), vec_at(ds, B["ref"]))
            if is_something(shift):
                add_fixed(B, P, star, mv(R, shift), (0.0, 0.0, 0.0))
            if B["rot"] > 0:
                o = mv(R, rotation_change(mat_at(s, B["rot"]), mat_at(ds, B["rot"])))
                add_fixed(B, P, star, cross(x, o), o)
        if geometry and (B["type"] == TURN or B["type"] == SLIDE or B["type"] == SCREW):
            turn = cross(vec_at(s, B["axis"]), vec_at(ds, B["axis"]))
            turns = is_something(turn)
            if turns:
                o = mv(mat(B["Aj"]), turn)
                add_fixed(B, P, star, cross(vec(B["x"]), o), o)
            for j in range(6):
                B["Xp"][j] = B["Xi"][j]
            if B["type"] == SCREW:
                add_pitch(B, P, star, s, ds[B["pitch"]], q[B["k"]])
            if turns:
                o = neg(mv(mat(B["A"]), turn))
                add_fixed(B, B, star, cross(vec(B["r"]), o), o)
        else:
            for j in range(6):
                B["Xp"][j] = B["Xi"][j]


@kernel
def direction_columns(node, mk, col, ds, touch, k, second):
    """Column k of the markers under the direction ds: x_q, xd_q and, if asked, xdd_q (DIR-2)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        c = m["c1"]
        while c < m["c2"] and col[c]["k"] < k:
            c += 1
        if c == m["c2"] or col[c]["k"] > k:
            continue
        B = node[m["node"]]
        R = mat(B["A"])
        x = vec(m["x"])
        xd = vec(m["xd"])
        carried = touch[m["node"]] & CARRIED
        l = vec_at(ds, m["loc"])
        if m["point"]:
            l = sub(l, vec_at(ds, m["ref"]))
        l = mv(R, l)
        v, o = six(B["V"])
        ld = cross(o, l)
        a, b = six(B["a"])
        y, yd, ydd = l, ld, add(cross(b, l), cross(o, ld))
        if carried:
            ev, eo = six(B["Xi"])
            dv, do = six(B["Xid"])
            gv, go = six(B["Xidd"])
            y = add(y, cross(eo, x))
            yd = add(yd, add(cross(do, x), cross(eo, xd)))
            ydd = add(ydd, add(add(cross(go, x), mul(2.0, cross(do, xd))), cross(eo, vec(m["xdd"]))))
            if m["point"]:
                y, yd, ydd = add(y, ev), add(yd, dv), add(ydd, gv)
        put(col[c]["xq"], y)
        put(col[c]["xdq"], yd)
        if second:
            put(col[c]["xddq"], ydd)


@kernel
def moment_changes(B, mass, s, ds, I):
    """Changes of the moments of a node under the direction ds, its frame held (DIR-5)."""
    for j in range(10):
        I[j] = 0.0
    R = mat(B["A"])
    for k in range(B["m0"], B["m1"]):
        M = mass[k]
        c = centre(B, M, s)
        m = s[M["m"]]
        e = ds[M["m"]]
        g = mv(R, sub(vec_at(ds, M["com"]), vec_at(ds, M["ref"])))
        h = axpy(e, c, mul(m, g))
        T = mm(R, tensor(ds, M["J"]))
        q = e * dot(c, c) + 2.0 * m * dot(c, g)
        I[0] += e
        I[1] += h[0]
        I[2] += h[1]
        I[3] += h[2]
        I[4] += dot(T[0], R[0]) + q - (h[0] * c[0] + m * c[0] * g[0])
        I[5] += dot(T[1], R[1]) + q - (h[1] * c[1] + m * c[1] * g[1])
        I[6] += dot(T[2], R[2]) + q - (h[2] * c[2] + m * c[2] * g[2])
        I[7] += dot(T[0], R[1]) - (h[0] * c[1] + m * c[0] * g[1])
        I[8] += dot(T[0], R[2]) - (h[0] * c[2] + m * c[0] * g[2])
        I[9] += dot(T[1], R[2]) - (h[1] * c[2] + m * c[1] * g[2])


@kernel
def inertia_changes(node, coord, mass, s, ds, touch, end, dv, da, gravity):
    """S, S1, S2 of every node before `end`: changes of its wrenches F, F1, F2 under ds (DIR-6), at Vs, acs."""
    for i in range(1, end):
        B = node[i]
        P = node[B["parent"]]
        for j in range(6):
            B["S"][j] = 0.0
            B["S1"][j] = 0.0
            B["S2"][j] = 0.0
        carried = touch[i] & CARRIED
        if carried:
            for j in range(6):
                B["dW"][j] = P["dW"][j] if touch[B["parent"]] & CARRIED else 0.0
                B["dU"][j] = P["dU"][j] if touch[B["parent"]] & CARRIED else 0.0
            ev, eo = six(B["Xp"])
            for k in range(B["k"], B["k"] + B["nk"]):
                bv, bo = six(coord[k]["b"])
                hv, ho = scross(ev, eo, bv, bo)
                if B["type"] == SCREW:
                    hv = axpy(ds[B["pitch"]], bo, hv)
                inc6(B["dW"], mul(dv[k], hv), mul(dv[k], ho))
                inc6(B["dU"], mul(da[k], hv), mul(da[k], ho))
        if B["m1"] == B["m0"] or not (carried or touch[i] & INERTIA or touch[0] & WEIGHT):
            continue
        I = get10(B["Ib"])
        v, o = six(B["Vs"])
        if carried:
            ev, eo = six(B["Xi"])
            xv, xo = six(B["Xid"])
            yv, yo = six(B["Xidd"])
            fl, fa = six(B["Fb"])
            hv, ho = scross(xv, xo, v, o)
            al, aa = momentum(I, add(yv, hv), add(yo, ho))
            hl, ha = momentum(I, v, o)
            kl, ka = fcross(xv, xo, hl, ha)
            hl, ha = momentum(I, xv, xo)
            nl, na = fcross(v, o, hl, ha)
            ml, ma = fcross(ev, eo, fl, fa)
            inc6(B["S"], add(add(al, kl), add(nl, ml)), add(add(aa, ka), add(na, ma)))
            shifted(I, B["W"], B["dW"], ev, eo, B["S1"])
            shifted(I, B["U"], B["dU"], ev, eo, B["S2"])
        if touch[0] & WEIGHT:
            gl, ga = momentum(I, neg(vec_at(ds, gravity)), (0.0, 0.0, 0.0))
            inc6(B["S"], gl, ga)
        if touch[i] & INERTIA:
            D = B["dI"]
            moment_changes(B, mass, s, ds, D)
            a, b = six(B["acs"])
            fl, fa = inertia_wrench(D, v, o, a, b)
            inc6(B["S"], fl, fa)
            wv, wo = six(B["W"])
            fl, fa = momentum(D, wv, wo)
            inc6(B["S1"], fl, fa)
            wv, wo = six(B["U"])
            fl, fa = momentum(D, wv, wo)
            inc6(B["S2"], fl, fa)


@kernel
def shifted(I, W, dW, ev, eo, S):
    """S += change of I W when the body moves by the twist e and its motion W changes by dW."""
    wv, wo = six(W)
    xv, xo = six(dW)
    fl, fa = momentum(I, wv, wo)
    fl, fa = fcross(ev, eo, fl, fa)
    hv, ho = scross(ev, eo, wv, wo)
    gl, ga = momentum(I, sub(xv, hv), sub(xo, ho))
    inc6(S, add(fl, gl), add(fa, ga))


@kernel
def marker_changes(node, mk, col, k):
    """Add what the covectors of the markers do under direction k: [0; x_k × f], and keep their wrenches in g (DIR-7)."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] == 0:
            continue
        for c in range(m["c1"], m["c2"]):
            if col[c]["k"] == k:
                B = node[m["node"]]
                y = vec(col[c]["xq"])
                zero = (0.0, 0.0, 0.0)
                inc6(B["S"], zero, cross(y, vec(m["f"])))
                inc6(B["S1"], zero, cross(y, vec(m["fv"])))
                inc6(B["S2"], zero, cross(y, vec(m["fa"])))


@kernel
def marker_wrench(g, c):
    """The wrench of the covectors summed in lane c of g."""
    return column(g, c), (g[8, c] - g[10, c], g[9, c] - g[5, c], g[4, c] - g[6, c])


@kernel
def less_turned(S, F, g, c, ev, eo):
    """S - e ×* (F + wrench of g in lane c)."""
    fl, fa = six(F)
    gl, ga = marker_wrench(g, c)
    fl, fa = fcross(ev, eo, add(fl, gl), add(fa, ga))
    sl, sa = six(S)
    return sub(sl, fl), sub(sa, fa)


@kernel
def project_changes(node, coord, ds, touch, end, p, R, Nv, Na):
    """Column p of R_s, Nv_s, Na_s: b·S + δb·F, δb = Xp × b and the change of a pitch, summed from the leaves (DIR-8, SCW-2).

    F, F1, F2 and g, g1, g2 of the nodes are composite here, left so by the sweeps for the coordinates.
    """
    for i in range(end - 1, 0, -1):
        B = node[i]
        if B["type"] != RIGID:
            sl, sa = six(B["S"])
            s1l, s1a = six(B["S1"])
            s2l, s2a = six(B["S2"])
            if touch[i] & CARRIED:
                ev, eo = six(B["Xp"])
                sl, sa = less_turned(B["S"], B["F"], B["g"], 0, ev, eo)
                s1l, s1a = less_turned(B["S1"], B["F1"], B["g"], 1, ev, eo)
                s2l, s2a = less_turned(B["S2"], B["F2"], B["g"], 2, ev, eo)
            for j in range(B["k"], B["k"] + B["nk"]):
                b = coord[j]["b"]
                R[j, p] += dot6(sl, sa, b)
                Nv[j, p] += dot6(s1l, s1a, b)
                Na[j, p] += dot6(s2l, s2a, b)
                if B["type"] == SCREW:
                    u = mul(ds[B["pitch"]], vec_at(b, 3))
                    R[j, p] += dot(u, vec(B["F"])) + dot(u, column(B["g"], 0))
                    Nv[j, p] += dot(u, vec(B["F1"])) + dot(u, column(B["g"], 1))
                    Na[j, p] += dot(u, vec(B["F2"])) + dot(u, column(B["g"], 2))
        if B["parent"] > 0:
            P = node[B["parent"]]
            for j in range(6):
                P["S"][j] += B["S"][j]
                P["S1"][j] += B["S1"][j]
                P["S2"][j] += B["S2"][j]
