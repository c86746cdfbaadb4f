"""Positions, velocities and accelerations of the tree, and the screws of its coordinates with their time derivatives.

Spatial vectors are taken about the global origin: the velocity of a node is the sum of screw times rate over the
coordinates from the ground to it (JNT-1), and the derivative of a screw fixed in a frame is V × b (JNT-2).
"""

from kinegrad.kernels.jit import cos, inlined, kernel, sin
from kinegrad.kernels.joint.records import EULER, RIGID, SCREW, TURN
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    mat,
    mm,
    mul,
    mv,
    put,
    put6,
    put_mat,
    rot,
    scross,
    six,
    sub,
    vec,
    vec_at,
)


@kernel
def e_column(i, p):
    """Column i of E(p)."""
    if i == 0:
        return (-p[1], -p[2], -p[3])
    if i == 1:
        return (p[0], p[3], -p[2])
    if i == 2:
        return (-p[3], p[0], p[1])
    return (p[2], -p[1], p[0])


@kernel
def four(z, k):
    """Four numbers of z from index k on."""
    return (z[k], z[k + 1], z[k + 2], z[k + 3])


@kernel
def dot4(p, q):
    """p·q of four numbers."""
    return p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3]


@kernel
def euler_rotation(p):
    """A = E(p) G(p)ᵀ/(p·p), a rotation for every p (JNT-5)."""
    e0, e1, e2, e3 = p
    t = 2.0 / (e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
    return (
        (1.0 - t * (e2 * e2 + e3 * e3), t * (e1 * e2 - e0 * e3), t * (e1 * e3 + e0 * e2)),
        (t * (e1 * e2 + e0 * e3), 1.0 - t * (e1 * e1 + e3 * e3), t * (e2 * e3 - e0 * e1)),
        (t * (e1 * e3 - e0 * e2), t * (e2 * e3 + e0 * e1), 1.0 - t * (e1 * e1 + e2 * e2)),
    )


@kernel
def euler_axis(i, p, s):
    """c_i = 2 E_i(p)/(p·p), the angular velocity per unit rate of p_i, in the frame before the joint (JNT-6)."""
    return mul(2.0 / s, e_column(i, p))


@kernel
def about(x, o):
    """The screw of a turn o about the point x."""
    return cross(x, o), o


@kernel
def positions(node, coord, s, z):
    """A, r of every node and b of every coordinate (JNT-1)."""
    for i in range(1, node.shape[0]):
        place(node[i], node[node[i]["parent"]], coord, s, z)


@inlined
def place(B, P, coord, s, z):
    """A, r of a node, and b of its coordinates (JNT-1, SCW-1)."""
    R = mat(P["A"])
    x = add(vec(P["r"]), mv(R, sub(vec_at(s, B["off"]), vec_at(s, B["ref"]))))
    if B["rot"] > 0:
        R = mm(R, mat_at(s, B["rot"]))
    put(B["x"], x)
    kind = B["type"]
    k = B["k"]
    if kind == TURN:
        e = mul(B["sgn"], vec_at(s, B["axis"]))
        u = mv(R, e)
        put6(coord[k]["b"], cross(x, u), u)
        put_mat(B["Aj"], R)
        R = mm(R, rot(e, sin(z[k]), cos(z[k])))
    elif kind == EULER:
        p = four(z, k)
        t = dot4(p, p)
        for j in range(4):
            o = mv(R, euler_axis(j, p, t))
            put6(coord[k + j]["b"], cross(x, o), o)
        put_mat(B["Aj"], R)
        R = mm(R, euler_rotation(p))
    elif kind == SCREW:
        e = mul(B["sgn"], vec_at(s, B["axis"]))
        u = mv(R, e)
        t = s[B["pitch"]]
        put6(coord[k]["b"], axpy(t, u, cross(x, u)), u)
        put_mat(B["Aj"], R)
        x = axpy(t * z[k], u, x)
        R = mm(R, rot(e, sin(z[k]), cos(z[k])))
    elif kind != RIGID:
        u = mv(R, mul(B["sgn"], vec_at(s, B["axis"])))
        put6(coord[k]["b"], u, (0.0, 0.0, 0.0))
        put_mat(B["Aj"], R)
        x = axpy(z[k], u, x)
    put_mat(B["A"], R)
    put(B["r"], x)
    return R, x


@kernel
def mat_at(s, k):
    """The matrix kept by rows in nine numbers from index k on."""
    return vec_at(s, k), vec_at(s, k + 3), vec_at(s, k + 6)


@kernel
def velocities(node, coord, z, v, a):
    """V and a of every node for coordinate rates v and accelerations a (JNT-3)."""
    for i in range(1, node.shape[0]):
        move(node[i], node[node[i]["parent"]], coord, z, v, a)


@inlined
def move(B, P, coord, z, v, a):
    """V and a of a node."""
    pv, po = six(P["V"])
    av, ao = six(P["a"])
    if B["nk"] == 1:
        k = B["k"]
        bv, bo = six(coord[k]["b"])
        t = v[k]
        dv, do = scross(pv, po, bv, bo)
        av = add(axpy(a[k], bv, av), mul(t, dv))
        ao = add(axpy(a[k], bo, ao), mul(t, do))
        pv = axpy(t, bv, pv)
        po = axpy(t, bo, po)
    elif B["nk"] == 4:
        p = four(z, B["k"])
        pd = four(v, B["k"])
        s = dot4(p, p)
        sd = 2.0 * dot4(p, pd)
        v0, o0 = pv, po
        for j in range(4):
            c = coord[B["k"] + j]
            bv, bo = six(c["b"])
            dv, do = euler_rate(B, v0, o0, bv, bo, j, p, pd, s, sd)
            t = a[B["k"] + j]
            av = add(axpy(t, bv, av), mul(pd[j], dv))
            ao = add(axpy(t, bo, ao), mul(pd[j], do))
            pv = axpy(pd[j], bv, pv)
            po = axpy(pd[j], bo, po)
    put6(B["V"], pv, po)
    put6(B["a"], av, ao)
    return pv, po, av, ao


@kernel
def euler_rate(B, pv, po, bv, bo, j, p, pd, s, sd):
    """Rate of the screw b of Euler parameter j when p changes at pd and the frame before the joint moves at (pv, po)."""
    cd = mul(1.0 / s, axpy(-sd, euler_axis(j, p, s), mul(2.0, e_column(j, pd))))
    hv, ho = about(vec(B["x"]), mv(mat(B["Aj"]), cd))
    dv, do = scross(pv, po, bv, bo)
    return add(dv, hv), add(do, ho)


@kernel
def accelerations(node, coord, z, v, a):
    """V, a, and bd, bdd of every coordinate (JNT-2, JNT-3, JNT-7)."""
    for i in range(1, node.shape[0]):
        B = node[i]
        P = node[B["parent"]]
        pv, po = six(P["V"])
        pa, pb = six(P["a"])
        if B["nk"] == 1:
            k = B["k"]
            c = coord[k]
            bv, bo = six(c["b"])
            dv, do = scross(pv, po, bv, bo)
            ev, eo = scross(pa, pb, bv, bo)
            gv, go = scross(pv, po, dv, do)
            put6(c["bd"], dv, do)
            put6(c["bdd"], add(ev, gv), add(eo, go))
            t = v[k]
            pa = add(axpy(a[k], bv, pa), mul(t, dv))
            pb = add(axpy(a[k], bo, pb), mul(t, do))
            pv = axpy(t, bv, pv)
            po = axpy(t, bo, po)
        elif B["nk"] == 4:
            p = four(z, B["k"])
            pd = four(v, B["k"])
            pdd = four(a, B["k"])
            s = dot4(p, p)
            sd = 2.0 * dot4(p, pd)
            sdd = 2.0 * (dot4(pd, pd) + dot4(p, pdd))
            v0, o0, a0, b0 = pv, po, pa, pb
            R = mat(B["Aj"])
            for j in range(4):
                c = coord[B["k"] + j]
                bv, bo = six(c["b"])
                ax = euler_axis(j, p, s)
                cd = mul(1.0 / s, axpy(-sd, ax, mul(2.0, e_column(j, pd))))
                cdd = mul(1.0 / s, axpy(-sdd, ax, axpy(-2.0 * sd, cd, mul(2.0, e_column(j, pdd)))))
                hv, ho = about(vec(B["x"]), mv(R, cd))
                kv, ko = about(vec(B["x"]), mv(R, cdd))
                dv, do = scross(v0, o0, bv, bo)
                dv = add(dv, hv)
                do = add(do, ho)
                ev, eo = scross(a0, b0, bv, bo)
                gv, go = scross(v0, o0, dv, do)
                lv, lo = scross(v0, o0, hv, ho)
                put6(c["bd"], dv, do)
                put6(c["bdd"], add(add(ev, gv), add(lv, kv)), add(add(eo, go), add(lo, ko)))
                pa = add(axpy(pdd[j], bv, pa), mul(pd[j], dv))
                pb = add(axpy(pdd[j], bo, pb), mul(pd[j], do))
                pv = axpy(pd[j], bv, pv)
                po = axpy(pd[j], bo, po)
        put6(B["V"], pv, po)
        put6(B["a"], pa, pb)


@kernel
def field(node, coord, z, dv, da):
    """Motions W, U of the rates dv, da, and w, u: the derivatives of the screws along them (JNT-8)."""
    for i in range(1, node.shape[0]):
        B = node[i]
        P = node[B["parent"]]
        Wv, Wo = six(P["W"])
        Uv, Uo = six(P["U"])
        W0v, W0o, U0v, U0o = Wv, Wo, Uv, Uo
        k = B["k"]
        if B["nk"] == 4:
            p = four(z, k)
            s = dot4(p, p)
            pv = four(dv, k)
            pa = four(da, k)
            sv = 2.0 * dot4(p, pv)
            sa = 2.0 * dot4(p, pa)
        for j in range(B["nk"]):
            c = coord[k + j]
            bv, bo = six(c["b"])
            if B["nk"] == 4:
                ev, eo = euler_rate(B, W0v, W0o, bv, bo, j, p, pv, s, sv)
                gv, go = euler_rate(B, U0v, U0o, bv, bo, j, p, pa, s, sa)
            else:
                ev, eo = scross(W0v, W0o, bv, bo)
                gv, go = scross(U0v, U0o, bv, bo)
            put6(c["w"], ev, eo)
            put6(c["u"], gv, go)
            t = dv[k + j]
            Wv = axpy(t, bv, Wv)
            Wo = axpy(t, bo, Wo)
            t = da[k + j]
            Uv = axpy(t, bv, Uv)
            Uo = axpy(t, bo, Uo)
        put6(B["W"], Wv, Wo)
        put6(B["U"], Uv, Uo)
