"""Adjoint vectors to all slots of the joint set at once, four adjoints at a time, by sums of dual wrenches over subtrees.

Beyond a frame, a displacement by a twist e fixed in it changes what an adjoint sees by
W0·e + Σ F·(T × e) + Y·ed + P·edd: ten wrenches that add up from the leaves (PUL-1 to PUL-4).

What adjoints make of a node (`NODE_DUAL`) or of a marker is N or D beside its record B or m; vectors of it are lanes.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.joint.directions import turned_at
from kinegrad.kernels.joint.inertia import centre, get10, momentum
from kinegrad.kernels.joint.motion import mat_at
from kinegrad.kernels.joint.records import CARRIED, GEOMETRY, INERTIA, N_DUAL, SCREW, SLIDE, TURN
from kinegrad.kernels.lanes import spread4
from kinegrad.kernels.linalg import get4, put4
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    mat,
    mul,
    mv,
    six,
    sub,
    vec,
    vec_at,
    vm,
)
from kinegrad.kernels.vec4 import gain4, inc4_at, set4, vec4, vec4_at

# wrenches in D: with e; with T × e for T = tm, tv, ta, W, U; with ed, edd at (Vs, acs); with ed, edd at (V, a)
W0, FM, FV, FA, FW, FU, YS, PS, Y, P_ = range(0, 60, 6)


@inlined
def omega(T):
    """The angular part of a motion."""
    return (T[3], T[4], T[5])


@inlined
def omega4(T):
    """The same of four motions."""
    return vec4_at(T, 3)


@inlined
def at(T, x):
    """The velocity a motion T gives to the point x."""
    return add((T[0], T[1], T[2]), cross(omega(T), x))


@inlined
def at4(T, x):
    """The same of four motions."""
    return add(vec4(T), cross(omega4(T), x))


@inlined
def inc_wrench(D, k, fl, fa):
    """D[k:k+6] += (fl, fa)."""
    inc4_at(D, k, fl)
    inc4_at(D, k + 3, fa)


@kernel
def motions(node, dual, coord, want, mu, eta_v, eta_a):
    """tm, tv, ta of every node, and empty duals where they are wanted."""
    zero = spread4(0.0)
    for i in range(node.shape[0]):
        B, N = node[i], dual[i]
        if want[i] & CARRIED or i == 0:
            for j in range(N_DUAL):
                put4(N["D"], j, zero)
        if i == 0:
            continue
        P = dual[B["parent"]]
        for j in range(6):
            x, y, z = get4(P["tm"], j), get4(P["tv"], j), get4(P["ta"], j)
            for k in range(B["k"], B["k"] + B["nk"]):
                b = coord[k]["b"][j]
                x = x + b * get4(mu, k)
                y = y + b * get4(eta_v, k)
                z = z + b * get4(eta_a, k)
            put4(N["tm"], j, x)
            put4(N["tv"], j, y)
            put4(N["ta"], j, z)


@kernel
def marker_motions(dual, mk, of_marker):
    """dm, dv, da of the markers."""
    for i in range(mk.shape[0]):
        m, D = mk[i], of_marker[i]
        N = dual[m["node"]]
        x = vec(m["x"])
        if m["point"]:
            set4(D["dm"], at4(N["tm"], x))
            set4(D["dv"], at4(N["tv"], x))
            set4(D["da"], at4(N["ta"], x))
        else:
            set4(D["dm"], cross(omega4(N["tm"]), x))
            set4(D["dv"], cross(omega4(N["tv"]), x))
            set4(D["da"], cross(omega4(N["ta"]), x))


@inlined
def swing(d, o, b):
    """Dual of l for d·(b × l + o × (o × l))."""
    return add(cross(d, b), cross(cross(d, o), o))


@inlined
def inc_dual(D, k, force, x, f):
    """The wrench k in D gains a dual f of a point at x, or of a unit vector x, which has no force."""
    if force:
        inc4_at(D, k, f)
    inc4_at(D, k + 3, cross(x, f))


@inlined
def inc_covector(D, k, force, x, f):
    """The same of a covector, which all adjoints share."""
    inc_dual(D, k, force, x, mul(spread4(1.0), f))


@kernel
def marker_slots(node, dual, mk, of_marker, want, psi):
    """Duals of the markers to their own slots, and to the wrenches of their nodes (PUL-2), where they are wanted."""
    for i in range(mk.shape[0]):
        m = mk[i]
        B = node[m["node"]]
        carried = m["node"] > 0 and want[m["node"]] & CARRIED
        if not (m["want"] or carried):
            continue
        M, N = of_marker[i], dual[m["node"]]
        x = vec(m["x"])
        xd = vec(m["xd"])
        X, X1, Y1, Y2 = vec4(M["X"]), vec4(M["X1"]), vec4(M["Y1"]), vec4(M["Y2"])
        f, fv, fa = vec(m["f"]), vec(m["fv"]), vec(m["fa"])
        force = m["point"]
        if m["want"]:
            G = add(X, add(cross(X1, omega(B["Vs"])), cross(Y1, omega(B["V"]))))
            G = add(G, swing(Y2, omega(B["V"]), omega(B["a"])))
            G = add(G, add(cross(f, omega4(N["tm"])), add(cross(fv, omega4(N["tv"])), cross(fa, omega4(N["ta"])))))
            G = vm(G, mat(B["A"]))
            inc4_at(psi, m["loc"], G)
            if force:
                inc4_at(psi, m["ref"], mul(-1.0, G))
        if not carried:
            continue
        D = N["D"]
        t = add(cross(xd, Y1), add(cross(vec(m["xds"]), X1), cross(vec(m["xdd"]), Y2)))
        t = add(t, add(cross(vec4(M["dm"]), f), add(cross(vec4(M["dv"]), fv), cross(vec4(M["da"]), fa))))
        inc_dual(D, W0, force, x, X)
        inc4_at(D, W0 + 3, t)
        inc_dual(D, YS, force, x, X1)
        inc_dual(D, Y, force, x, Y1)
        inc4_at(D, Y + 3, mul(2.0, cross(xd, Y2)))
        inc_dual(D, P_, force, x, Y2)
        inc_covector(D, FM, force, x, f)
        inc_covector(D, FV, force, x, fv)
        inc_covector(D, FA, force, x, fa)


@kernel
def mass_slots(B, N, mass, s, psi):
    """Slots of the masses of one node (PUL-3)."""
    R = mat(B["A"])
    o, b = omega(B["Vs"]), omega(B["acs"])
    for k in range(B["m0"], B["m1"]):
        M = mass[k]
        c = centre(B, M, s)
        m = s[M["m"]]
        acc = add(at(B["acs"], c), cross(o, at(B["Vs"], c)))
        d, dv, da = at4(N["tm"], c), at4(N["tv"], c), at4(N["ta"], c)
        w, u = at(B["W"], c), at(B["U"], c)
        gain4(psi, M["m"], dot(d, acc) + dot(dv, w) + dot(da, u))
        G = add(swing(d, o, b), cross(acc, omega4(N["tm"])))
        G = add(G, add(cross(w, omega4(N["tv"])), cross(dv, omega(B["W"]))))
        G = add(G, add(cross(u, omega4(N["ta"])), cross(da, omega(B["U"]))))
        G = vm(mul(m, G), R)
        inc4_at(psi, M["com"], G)
        inc4_at(psi, M["ref"], mul(-1.0, G))
        if M["J"] > 0:
            x, xd = vm(o, R), vm(b, R)
            O = vm(omega4(N["tm"]), R)
            y = cross(O, x)
            p, pd = vm(omega4(N["tv"]), R), vm(omega(B["W"]), R)
            z, zd = vm(omega4(N["ta"]), R), vm(omega(B["U"]), R)
            k6 = M["J"]
            for j in range(3):
                gain4(psi, k6 + j, O[j] * xd[j] + y[j] * x[j] + p[j] * pd[j] + z[j] * zd[j])
            for h in range(3):
                i1 = 0 if h < 2 else 1
                j1 = 1 if h == 0 else 2
                t = O[i1] * xd[j1] + O[j1] * xd[i1] + y[i1] * x[j1] + y[j1] * x[i1]
                t = t + p[i1] * pd[j1] + p[j1] * pd[i1] + z[i1] * zd[j1] + z[j1] * zd[i1]
                gain4(psi, k6 + 3 + h, t)


@kernel
def mass_wrenches(B, N):
    """Wrenches of a body by a twist of its node (PUL-1)."""
    D, I, one = N["D"], get10(B["Ib"]), spread4(1.0)
    tv, to = vec4(N["tm"]), omega4(N["tm"])
    v, o = six(B["Vs"])
    fl, fa = six(B["Fb"])
    inc_wrench(D, FM, mul(one, fl), mul(one, fa))
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
    inc_wrench(D, FV, mul(one, fl), mul(one, fa))
    xv, xo = six(B["U"])
    fl, fa = momentum(I, xv, xo)
    inc_wrench(D, FA, mul(one, fl), mul(one, fa))
    fl, fa = momentum(I, vec4(N["tv"]), omega4(N["tv"]))
    inc_wrench(D, FW, fl, fa)
    fl, fa = momentum(I, vec4(N["ta"]), omega4(N["ta"]))
    inc_wrench(D, FU, fl, fa)


@inlined
def minus_turned(gl, ga, v, o, D, k):
    """(gl, ga) - (v, o) ×* D[k:k+6]."""
    fl, fa = fcross(v, o, vec4_at(D, k), vec4_at(D, k + 3))
    return sub(gl, fl), sub(ga, fa)


@kernel
def twist_dual(B, N, D):
    """The wrench G with G·e = what a twist e fixed in the frame of B does to everything in D (PUL-4)."""
    gl, ga = vec4_at(D, W0), vec4_at(D, W0 + 3)
    gl, ga = minus_turned(gl, ga, vec4(N["tm"]), omega4(N["tm"]), D, FM)
    gl, ga = minus_turned(gl, ga, vec4(N["tv"]), omega4(N["tv"]), D, FV)
    gl, ga = minus_turned(gl, ga, vec4(N["ta"]), omega4(N["ta"]), D, FA)
    gl, ga = minus_turned(gl, ga, vec(B["W"]), omega(B["W"]), D, FW)
    gl, ga = minus_turned(gl, ga, vec(B["U"]), omega(B["U"]), D, FU)
    gl, ga = minus_turned(gl, ga, vec(B["Vs"]), omega(B["Vs"]), D, YS)
    gl, ga = minus_turned(gl, ga, vec(B["acs"]), omega(B["acs"]), D, PS)
    gl, ga = minus_turned(gl, ga, vec(B["V"]), omega(B["V"]), D, Y)
    gl, ga = minus_turned(gl, ga, vec(B["a"]), omega(B["a"]), D, P_)
    for star in range(2):
        v, o = six(B["Vs"]) if star == 0 else six(B["V"])
        k = PS if star == 0 else P_
        fl, fa = fcross(v, o, vec4_at(D, k), vec4_at(D, k + 3))
        fl, fa = fcross(v, o, fl, fa)
        gl, ga = add(gl, fl), add(ga, fa)
    return gl, ga


@kernel
def node_slots(node, dual, mass, s, q, want, gravity, psi):
    """All other slots by one sweep from the leaves: masses, offsets, constant rotations, axes, pitches, gravity (PUL-5).

    A node with CARRIED in `want` has slots wanted at it or proximal to it, so its wrenches are needed.
    """
    for i in range(node.shape[0] - 1, 0, -1):
        B, N = node[i], dual[i]
        if want[i] & INERTIA:
            mass_slots(B, N, mass, s, psi)
        if not want[i] & CARRIED:
            continue
        D, parent = N["D"], B["parent"]
        if B["m1"] > B["m0"]:
            mass_wrenches(B, N)
        if want[i] & GEOMETRY:
            joint_slots(B, N, node[parent], dual[parent], s, q, psi)
        if want[parent] & CARRIED:
            for j in range(N_DUAL):
                gain4(dual[parent]["D"], j, get4(D, j))
    inc4_at(psi, gravity, mul(-1.0, vec4_at(dual[0]["D"], PS)))


@kernel
def joint_slots(B, N, P, O, s, q, psi):
    """Offset, constant rotation, axis and pitch of a node B, N whose parent is P, O."""
    D = N["D"]
    gl, ga = twist_dual(P, O, D)
    R = mat(P["A"])
    t = vm(gl, R)
    inc4_at(psi, B["off"], t)
    inc4_at(psi, B["ref"], mul(-1.0, t))
    moment = sub(ga, cross(vec(B["x"]), gl))
    if B["rot"] > 0:
        # δφ = half the sum of C_j × δC_j over the columns, so each column receives half of φ's dual × C_j
        C = mat_at(s, B["rot"])
        m = mul(0.5, vm(moment, R))
        for j in range(3):
            t = cross(m, (C[0][j], C[1][j], C[2][j]))
            for h in range(3):
                gain4(psi, B["rot"] + 3 * h + j, t[h])
    if B["type"] == SCREW:
        gain4(psi, B["pitch"], pitch_dual(B, N, P, O, s, q[B["k"]], gl))
    if B["type"] == TURN or B["type"] == SLIDE or B["type"] == SCREW:
        hl, ha = twist_dual(B, N, D)
        t = sub(vm(moment, mat(B["Aj"])), vm(sub(ha, cross(vec(B["r"]), hl)), mat(B["A"])))
        inc4_at(psi, B["axis"], cross(t, vec_at(s, B["axis"])))


@kernel
def pitch_dual(B, N, P, O, s, q, force):
    """What a unit change of the pitch of a screw node does to everything in D; force: of the twist's dual at P (SCW-3)."""
    D = N["D"]
    u = mv(mat(B["Aj"]), mul(B["sgn"], vec_at(s, B["axis"])))
    f = mul(q, force)
    f = axpy(dot(u, sub(omega4(N["tm"]), omega4(O["tm"]))), vec4_at(D, FM), f)
    f = axpy(dot(u, sub(omega4(N["tv"]), omega4(O["tv"]))), vec4_at(D, FV), f)
    f = axpy(dot(u, sub(omega4(N["ta"]), omega4(O["ta"]))), vec4_at(D, FA), f)
    f = axpy(dot(u, sub(omega(B["W"]), omega(P["W"]))), vec4_at(D, FW), f)
    f = axpy(dot(u, sub(omega(B["U"]), omega(P["U"]))), vec4_at(D, FU), f)
    t = 0.0 * force[0]
    for star in range(2):
        qd, qdd = turned_at(B, P, star == 0, u)
        first, second = (YS, PS) if star == 0 else (Y, P_)
        f = axpy(qd, vec4_at(D, first), axpy(qdd, vec4_at(D, second), f))
        h = cross(omega(P["Vs"]) if star == 0 else omega(P["V"]), u)
        t = t + 2.0 * qd * dot(h, vec4_at(D, second))
    return dot(u, f) + t
