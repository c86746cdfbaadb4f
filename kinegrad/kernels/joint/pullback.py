"""Adjoint vectors to all slots of the joint set at once, by sums of dual wrenches over subtrees.

Beyond a frame, a displacement by a twist e fixed in it changes what an adjoint sees by
W0·e + Σ F·(T × e) + Y·ed + P·edd: ten wrenches that add up from the leaves (PUL-1 to PUL-4).
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.joint.directions import turned_at
from kinegrad.kernels.joint.inertia import centre, get10, momentum
from kinegrad.kernels.joint.motion import mat_at
from kinegrad.kernels.joint.records import CARRIED, GEOMETRY, INERTIA, SCREW, SLIDE, TURN
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    inc_at,
    mat,
    mul,
    mv,
    neg,
    put,
    six,
    sub,
    vec,
    vec_at,
    vm,
)  # fmt: skip

# wrenches in D: with e; with T × e for T = tm, tv, ta, W, U; with ed, edd at (Vs, acs); with ed, edd at (V, a)
W0, FM, FV, FA, FW, FU, YS, PS, Y, P_ = range(0, 60, 6)


@inlined
def omega(T):
    """The angular part of a motion."""
    return (T[3], T[4], T[5])


@inlined
def at(T, x):
    """The velocity a motion T gives to the point x."""
    return add((T[0], T[1], T[2]), cross(omega(T), x))


@inlined
def inc_wrench(D, k, fl, fa):
    """D[k:k+6] += (fl, fa)."""
    inc_at(D, k, fl)
    inc_at(D, k + 3, fa)


@kernel
def motions(node, coord, want, mu, eta_v, eta_a):
    """tm, tv, ta of every node, and empty duals where they are wanted."""
    for i in range(node.shape[0]):
        B = node[i]
        if want[i] & CARRIED or i == 0:
            for j in range(60):
                B["D"][j] = 0.0
        if i == 0:
            continue
        P = node[B["parent"]]
        for j in range(6):
            x = P["tm"][j]
            y = P["tv"][j]
            z = P["ta"][j]
            for k in range(B["k"], B["k"] + B["nk"]):
                b = coord[k]["b"][j]
                x += mu[k] * b
                y += eta_v[k] * b
                z += eta_a[k] * b
            B["tm"][j] = x
            B["tv"][j] = y
            B["ta"][j] = z


@kernel
def marker_motions(node, mk):
    """dm, dv, da of the markers."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = node[m["node"]]
        x = vec(m["x"])
        if m["point"]:
            put(m["dm"], at(B["tm"], x))
            put(m["dv"], at(B["tv"], x))
            put(m["da"], at(B["ta"], x))
        else:
            put(m["dm"], cross(omega(B["tm"]), x))
            put(m["dv"], cross(omega(B["tv"]), x))
            put(m["da"], cross(omega(B["ta"]), x))


@inlined
def swing(d, o, b):
    """Dual of l for d·(b × l + o × (o × l))."""
    return add(cross(d, b), cross(cross(d, o), o))


@kernel
def marker_slots(node, mk, want, psi_s):
    """Duals of the markers to their own slots, and to the wrenches of their nodes (PUL-2), where they are wanted."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = node[m["node"]]
        carried = m["node"] > 0 and want[m["node"]] & CARRIED
        if not (m["want"] or carried):
            continue
        x = vec(m["x"])
        xd = vec(m["xd"])
        X, X1, Y1, Y2 = vec(m["X"]), vec(m["X1"]), vec(m["Y1"]), vec(m["Y2"])
        f, fv, fa = vec(m["f"]), vec(m["fv"]), vec(m["fa"])
        zero = (0.0, 0.0, 0.0)
        force = m["point"]
        if m["want"]:
            G = add(X, add(cross(X1, omega(B["Vs"])), cross(Y1, omega(B["V"]))))
            G = add(G, swing(Y2, omega(B["V"]), omega(B["a"])))
            G = add(G, add(cross(f, omega(B["tm"])), add(cross(fv, omega(B["tv"])), cross(fa, omega(B["ta"])))))
            G = vm(G, mat(B["A"]))
            inc_at(psi_s, m["loc"], G)
            if force:
                inc_at(psi_s, m["ref"], neg(G))
        if not carried:
            continue
        D = B["D"]
        t = add(cross(xd, Y1), add(cross(vec(m["xds"]), X1), cross(vec(m["xdd"]), Y2)))
        t = add(t, add(cross(vec(m["dm"]), f), add(cross(vec(m["dv"]), fv), cross(vec(m["da"]), fa))))
        inc_wrench(D, W0, X if force else zero, add(cross(x, X), t))
        inc_wrench(D, YS, X1 if force else zero, cross(x, X1))
        inc_wrench(D, Y, Y1 if force else zero, add(cross(x, Y1), mul(2.0, cross(xd, Y2))))
        inc_wrench(D, P_, Y2 if force else zero, cross(x, Y2))
        inc_wrench(D, FM, f if force else zero, cross(x, f))
        inc_wrench(D, FV, fv if force else zero, cross(x, fv))
        inc_wrench(D, FA, fa if force else zero, cross(x, fa))


@kernel
def mass_slots(B, mass, s, psi_s):
    """Slots of the masses of one node (PUL-3)."""
    R = mat(B["A"])
    o, b = omega(B["Vs"]), omega(B["acs"])
    for k in range(B["m0"], B["m1"]):
        M = mass[k]
        c = centre(B, M, s)
        m = s[M["m"]]
        acc = add(at(B["acs"], c), cross(o, at(B["Vs"], c)))
        d, dv, da = at(B["tm"], c), at(B["tv"], c), at(B["ta"], c)
        w, u = at(B["W"], c), at(B["U"], c)
        psi_s[M["m"]] += dot(d, acc) + dot(dv, w) + dot(da, u)
        G = add(swing(d, o, b), cross(acc, omega(B["tm"])))
        G = add(G, add(cross(w, omega(B["tv"])), cross(dv, omega(B["W"]))))
        G = add(G, add(cross(u, omega(B["ta"])), cross(da, omega(B["U"]))))
        G = vm(mul(m, G), R)
        inc_at(psi_s, M["com"], G)
        inc_at(psi_s, M["ref"], neg(G))
        if M["J"] > 0:
            x, xd = vm(o, R), vm(b, R)
            O = vm(omega(B["tm"]), R)
            y = cross(O, x)
            p, pd = vm(omega(B["tv"]), R), vm(omega(B["W"]), R)
            z, zd = vm(omega(B["ta"]), R), vm(omega(B["U"]), R)
            k6 = M["J"]
            for j in range(3):
                psi_s[k6 + j] += O[j] * xd[j] + y[j] * x[j] + p[j] * pd[j] + z[j] * zd[j]
            for h in range(3):
                i1 = 0 if h < 2 else 1
                j1 = 1 if h == 0 else 2
                t = O[i1] * xd[j1] + O[j1] * xd[i1] + y[i1] * x[j1] + y[j1] * x[i1]
                t += p[i1] * pd[j1] + p[j1] * pd[i1] + z[i1] * zd[j1] + z[j1] * zd[i1]
                psi_s[k6 + 3 + h] += t


@kernel
def mass_wrenches(B):
    """Wrenches of a body by a twist of its node (PUL-1)."""
    D, I = B["D"], get10(B["Ib"])
    tv, to = six(B["tm"])
    v, o = six(B["Vs"])
    fl, fa = six(B["Fb"])
    inc_wrench(D, FM, fl, fa)
    pl, pa = momentum(I, tv, to)
    inc_wrench(D, PS, pl, pa)
    yl, ya = fcross(v, o, pl, pa)
    hl, ha = momentum(I, v, o)
    hl, ha = fcross(tv, to, hl, ha)
    cv, co = add(cross(o, tv), cross(v, to)), cross(o, to)
    kl, ka = momentum(I, cv, co)
    inc_wrench(D, YS, sub(yl, add(hl, kl)), sub(ya, add(ha, ka)))
    xv, xo = six(B["W"])
    fl, fa = momentum(I, xv, xo)
    inc_wrench(D, FV, fl, fa)
    xv, xo = six(B["U"])
    fl, fa = momentum(I, xv, xo)
    inc_wrench(D, FA, fl, fa)
    xv, xo = six(B["tv"])
    fl, fa = momentum(I, xv, xo)
    inc_wrench(D, FW, fl, fa)
    xv, xo = six(B["ta"])
    fl, fa = momentum(I, xv, xo)
    inc_wrench(D, FU, fl, fa)


@inlined
def minus_turned(gl, ga, T, D, k):
    """(gl, ga) - T ×* D[k:k+6]."""
    v, o = six(T)
    fl, fa = fcross(v, o, vec_at(D, k), vec_at(D, k + 3))
    return sub(gl, fl), sub(ga, fa)


@kernel
def twist_dual(B, D):
    """The wrench G with G·e = what a twist e fixed in the frame of B does to everything in D (PUL-4)."""
    gl, ga = vec_at(D, W0), vec_at(D, W0 + 3)
    gl, ga = minus_turned(gl, ga, B["tm"], D, FM)
    gl, ga = minus_turned(gl, ga, B["tv"], D, FV)
    gl, ga = minus_turned(gl, ga, B["ta"], D, FA)
    gl, ga = minus_turned(gl, ga, B["W"], D, FW)
    gl, ga = minus_turned(gl, ga, B["U"], D, FU)
    gl, ga = minus_turned(gl, ga, B["Vs"], D, YS)
    gl, ga = minus_turned(gl, ga, B["acs"], D, PS)
    gl, ga = minus_turned(gl, ga, B["V"], D, Y)
    gl, ga = minus_turned(gl, ga, B["a"], D, P_)
    for star in range(2):
        v, o = six(B["Vs"]) if star == 0 else six(B["V"])
        k = PS if star == 0 else P_
        fl, fa = fcross(v, o, vec_at(D, k), vec_at(D, k + 3))
        fl, fa = fcross(v, o, fl, fa)
        gl, ga = add(gl, fl), add(ga, fa)
    return gl, ga


@kernel
def node_slots(node, mass, s, q, want, gravity, psi_s):
    """All other slots by one sweep from the leaves: masses, offsets, constant rotations, axes, pitches, gravity (PUL-5).

    A node with CARRIED in `want` has slots wanted at it or proximal to it, so its wrenches are needed.
    """
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        if want[i] & INERTIA:
            mass_slots(B, mass, s, psi_s)
        if not want[i] & CARRIED:
            continue
        P = node[B["parent"]]
        D = B["D"]
        if B["m1"] > B["m0"]:
            mass_wrenches(B)
        if want[i] & GEOMETRY:
            joint_slots(B, P, D, s, q, psi_s)
        if want[B["parent"]] & CARRIED:
            for j in range(60):
                P["D"][j] += D[j]
    inc_at(psi_s, gravity, mul(-1.0, vec_at(node[0]["D"], PS)))


@kernel
def joint_slots(B, P, D, s, q, psi_s):
    """Offset, constant rotation, axis and pitch of a node."""
    gl, ga = twist_dual(P, D)
    R = mat(P["A"])
    t = vm(gl, R)
    inc_at(psi_s, B["off"], t)
    inc_at(psi_s, B["ref"], neg(t))
    moment = sub(ga, cross(vec(B["x"]), gl))
    if B["rot"] > 0:
        # δφ = half the sum of C_j × δC_j over the columns, so each column receives half of φ's dual × C_j
        C = mat_at(s, B["rot"])
        m = mul(0.5, vm(moment, R))
        for j in range(3):
            t = cross(m, (C[0][j], C[1][j], C[2][j]))
            for h in range(3):
                psi_s[B["rot"] + 3 * h + j] += t[h]
    if B["type"] == SCREW:
        psi_s[B["pitch"]] += pitch_dual(B, P, D, s, q[B["k"]], gl)
    if B["type"] == TURN or B["type"] == SLIDE or B["type"] == SCREW:
        hl, ha = twist_dual(B, D)
        t = sub(vm(moment, mat(B["Aj"])), vm(sub(ha, cross(vec(B["r"]), hl)), mat(B["A"])))
        inc_at(psi_s, B["axis"], cross(t, vec_at(s, B["axis"])))


@kernel
def pitch_dual(B, P, D, s, q, force):
    """What a unit change of the pitch of a screw node does to everything in D; force: of the twist's dual at P (SCW-3)."""
    u = mv(mat(B["Aj"]), mul(B["sgn"], vec_at(s, B["axis"])))
    f = mul(q, force)
    f = axpy(dot(u, sub(omega(B["tm"]), omega(P["tm"]))), vec_at(D, FM), f)
    f = axpy(dot(u, sub(omega(B["tv"]), omega(P["tv"]))), vec_at(D, FV), f)
    f = axpy(dot(u, sub(omega(B["ta"]), omega(P["ta"]))), vec_at(D, FA), f)
    f = axpy(dot(u, sub(omega(B["W"]), omega(P["W"]))), vec_at(D, FW), f)
    f = axpy(dot(u, sub(omega(B["U"]), omega(P["U"]))), vec_at(D, FU), f)
    t = 0.0 * q
    for star in range(2):
        qd, qdd = turned_at(B, P, star == 0, u)
        first, second = (YS, PS) if star == 0 else (Y, P_)
        f = axpy(qd, vec_at(D, first), axpy(qdd, vec_at(D, second), f))
        h = cross(omega(P["Vs"]) if star == 0 else omega(P["V"]), u)
        t += 2.0 * qd * dot(h, vec_at(D, second))
    return dot(u, f) + t
