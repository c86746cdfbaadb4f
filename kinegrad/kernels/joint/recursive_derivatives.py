"""Derivatives of the accelerations of an open tree: products of pairs on a path, then solves by sweeps.

From M a + f = tau follows M a_z = -(M a + f)_z with a fixed, for z = q, v, and M a_tau = 1.  The right-hand sides take one
product for each pair of coordinates of which one carries the other, about the points of the nodes (REC-8); M is never formed.
"""

from kinegrad.kernels.clearing import clear, clear_covectors
from kinegrad.kernels.elements.laws import scalar_values
from kinegrad.kernels.elements.layout import GRAVITY
from kinegrad.kernels.elements.stages import FORCES, LINEAR_FORCES, is_empty, run_stage
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.joint.functions import base
from kinegrad.kernels.joint.inertia import add10, dot6, get10, momentum, put10, shifted_moments
from kinegrad.kernels.joint.markers import curvature, first_columns, marker_positions, marker_rates, rate_columns
from kinegrad.kernels.joint.motion import accelerations, dot4, e_column, euler_axis, four, positions
from kinegrad.kernels.joint.records import EULER, SCREW, SLIDE, TURN
from kinegrad.kernels.joint.recursive import (
    FORWARD,
    LOAD_DERIVATIVES,
    RECURSIVE,
    SUBS,
    a_,
    art_,
    count_,
    f_,
    mk_,
    q_,
    run_sub,
    s_,
    sc_,
    tau_,
    v_,
)  # fmt: skip
from kinegrad.kernels.joint.recursive_solves import invert, solve_pair
from kinegrad.kernels.lanes import lane, load4, store4
from kinegrad.kernels.products import full_viewers
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    inc,
    inc6,
    mat,
    mul,
    mv,
    put,
    put6,
    put_mat,
    scross,
    six,
    sub,
    vec,
    vec_at,
    vm,
)  # fmt: skip

screw_, a_q_, a_v_, a_tau_, work_, rhs_ = RECURSIVE.viewers(*"screw a_q a_v a_tau work rhs".split())
Kq_, Kv_, cov_, tail_, rows_ = RECURSIVE.viewers(*"Kq Kv cov tail rows".split())
node_, coord_, col_, R_q_, Nv_q_, Na_q_, square_ = RECURSIVE.viewers(*"node coord col R_q Nv_q Na_q square".split())
full_R_q_, full_C_ = full_viewers("R_q", "C")

# Rows of the covectors of coordinates (REC-8), forces and then moments: I b; I b̈ + b ×* F + 2 Y(ḃ); 2 (I ḃ + Y(b)); and g.
OWN_L, OWN_A, BY_Q_L, BY_Q_A, BY_V_L, BY_V_A, G = range(0, 21, 3)
COVECTORS = 21


@kernel
def screws(art, screw, q, v, a):
    """b, ḃ, b̈ of every coordinate about the point of its node (JNT-2, JNT-7)."""
    for i in range(1, art.shape[0]):
        B = art[i]
        kind = B["type"]
        k = B["k"]
        if kind == TURN or kind == SLIDE or kind == SCREW:
            c = screw[k]
            vv, oo = six(B["V"])
            av, ao = six(B["a"])
            u = vec(B["u"])
            z = (0.0, 0.0, 0.0)
            uo = cross(oo, u)
            eo = add(cross(ao, u), cross(oo, uo))
            if kind == TURN:
                uv = cross(vv, u)
                put6(c["b"], z, u)
                put6(c["bd"], uv, uo)
                put6(c["bdd"], add(cross(av, u), add(cross(oo, uv), cross(vv, uo))), eo)
            elif kind == SCREW:
                w = vec(B["w"])
                uv = add(cross(oo, w), cross(vv, u))
                put6(c["b"], w, u)
                put6(c["bd"], uv, uo)
                ev = add(cross(ao, w), cross(av, u))
                put6(c["bdd"], add(ev, add(cross(oo, uv), cross(vv, uo))), eo)
            else:
                put6(c["b"], u, z)
                put6(c["bd"], uo, z)
                put6(c["bdd"], eo, z)
        elif kind == EULER:
            euler_screws(B, art[B["parent"]], screw, four(q, k), four(v, k), four(a, k))


@kernel
def euler_screws(B, P, screw, p, pd, pdd):
    """b, ḃ, b̈ of Euler parameters (JNT-6, JNT-7)."""
    d = vec(B["d"])
    vv, oo = six(P["V"])
    av, ao = six(P["a"])
    vv = add(vv, cross(oo, d))
    av = add(av, cross(ao, d))
    R = mat(B["Aj"])
    z = (0.0, 0.0, 0.0)
    s = dot4(p, p)
    sd = 2.0 * dot4(p, pd)
    sdd = 2.0 * (dot4(pd, pd) + dot4(p, pdd))
    for j in range(4):
        c = screw[B["k"] + j]
        ax = euler_axis(j, p, s)
        cd = mul(1.0 / s, axpy(-sd, ax, mul(2.0, e_column(j, pd))))
        cdd = mul(1.0 / s, axpy(-sdd, ax, axpy(-2.0 * sd, cd, mul(2.0, e_column(j, pdd)))))
        u = mv(R, ax)
        h = mv(R, cd)
        put6(c["b"], z, u)
        dv, do = scross(vv, oo, z, u)
        ev, eo = scross(av, ao, z, u)
        lv, lo = scross(vv, oo, dv, add(do, mul(2.0, h)))
        put6(c["bd"], dv, add(do, h))
        put6(c["bdd"], add(ev, lv), add(add(eo, lo), mv(R, cdd)))


@kernel
def composites(art):
    """Inertial wrench F, momentum h and X = ∫ x ẋᵀ dm of every node about its point, at its V, a (INE-2, INE-4)."""
    for i in range(1, art.shape[0]):
        B = art[i]
        I = B["I"]
        v, o = six(B["V"])
        a, b = six(B["a"])
        h, L = momentum(I, v, o)
        fl, fa = momentum(I, a, b)
        put6(B["F"], add(fl, cross(o, h)), add(fa, add(cross(o, L), cross(v, h))))
        put(B["h"], h)
        t = 0.5 * (I[4] + I[5] + I[6])
        x = add(mul(I[1], v), cross(o, (t - I[4], -I[7], -I[8])))
        y = add(mul(I[2], v), cross(o, (-I[7], t - I[5], -I[9])))
        z = add(mul(I[3], v), cross(o, (-I[8], -I[9], t - I[6])))
        put_mat(B["X"], (x, y, z))


@kernel
def to_parent(B, P):
    """Add the composite moments, wrench, momentum and X of B to those of its parent, about the parent's point."""
    d = vec(B["d"])
    put10(P["I"], add10(get10(P["I"]), shifted_moments(get10(B["I"]), d)))
    fl, fa = six(B["F"])
    inc6(P["F"], fl, add(fa, cross(d, fl)))
    h = vec(B["h"])
    inc(P["h"], h)
    for j in range(3):
        for k in range(3):
            P["X"][3 * j + k] += B["X"][3 * j + k] + d[j] * h[k]


@kernel
def three_of(cov, r, k):
    """A vector of four coordinates from k on: rows r to r + 2 of the covectors."""
    return load4(cov, r, k), load4(cov, r + 1, k), load4(cov, r + 2, k)


@kernel
def own_pairs(B, screw, cov, Kq, Kv):
    """Covectors of the coordinates of a node, about its point, and the pairs among these coordinates (REC-8)."""
    I = B["I"]
    h = vec(B["h"])
    X = mat(B["X"])
    tr = X[0][0] + X[1][1] + X[2][2]
    fl, fa = six(B["F"])
    first = B["k"]
    for k in range(first, first + B["nk"]):
        c = screw[k]
        bv, bo = six(c["b"])
        dv, do = six(c["bd"])
        ev, eo = six(c["bdd"])
        ul, ua = momentum(I, bv, bo)
        g = mul(2.0, add(cross(h, bv), sub(mul(tr, bo), mv(X, bo))))
        xl, xa = momentum(I, ev, eo)
        cl, ca = fcross(bv, bo, fl, fa)
        xl = add(add(xl, cl), mul(2.0, cross(do, h)))
        xa = add(add(xa, ca), mul(2.0, sub(mul(tr, do), vm(do, X))))
        yl, ya = momentum(I, dv, do)
        yl = mul(2.0, add(yl, cross(bo, h)))
        ya = mul(2.0, add(ya, sub(mul(tr, bo), vm(bo, X))))
        for r in range(3):
            cov[OWN_L + r, k] = ul[r]
            cov[OWN_A + r, k] = ua[r]
            cov[BY_Q_L + r, k] = xl[r]
            cov[BY_Q_A + r, k] = xa[r]
            cov[BY_V_L + r, k] = yl[r]
            cov[BY_V_A + r, k] = ya[r]
            cov[G + r, k] = g[r]
        for j in range(first, first + B["nk"]):
            b = screw[j]["b"]
            Kq[j, k] = -dot6(xl, xa, b)
            Kv[j, k] = -dot6(yl, ya, b)


@kernel
def carried_pairs(j, z, turns, still, k0, k1, cov, tail, Kq, Kv):
    """Pairs of coordinate j, whose screw is z, with all that its node carries: the coordinates k0 to k1 (REC-8).

    `turns`: b has no part along; `still`: neither ḃ nor b̈ has any.
    """
    bv, bo = six(z["b"])
    dv, do = six(z["bd"])
    ev, eo = six(z["bdd"])
    for k in range(k0, k1, 4):
        sign = load4(tail, 0, max(0, k + 4 - k1))  # -1, and 0 beyond k1
        if turns:
            x = dot(three_of(cov, BY_Q_A, k), bo)
            y = dot(three_of(cov, BY_V_A, k), bo)
        else:
            x = dot(three_of(cov, BY_Q_L, k), bv)
            y = dot(three_of(cov, BY_V_L, k), bv)
            if not still:
                x = x + dot(three_of(cov, BY_Q_A, k), bo)
                y = y + dot(three_of(cov, BY_V_A, k), bo)
        store4(Kq, j, k, sign * x)
        store4(Kv, j, k, sign * y)
        if not still:
            ul = three_of(cov, OWN_L, k)
            ua = three_of(cov, OWN_A, k)
            g = three_of(cov, G, k)
            x = sign * (dot(ul, ev) + dot(ua, eo) + dot(g, do))
            y = sign * (2.0 * (dot(ul, dv) + dot(ua, do)) + dot(g, bo))
            Kq[k, j] = lane(x, 0)
            Kq[k + 1, j] = lane(x, 1)
            Kq[k + 2, j] = lane(x, 2)
            Kq[k + 3, j] = lane(x, 3)
            Kv[k, j] = lane(y, 0)
            Kv[k + 1, j] = lane(y, 1)
            Kv[k + 2, j] = lane(y, 2)
            Kv[k + 3, j] = lane(y, 3)


@kernel
def shift_covectors(cov, tail, k0, k1, d):
    """Take the covectors of the coordinates k0 to k1 from a point at the arm d to the beginning of that arm."""
    for k in range(k0, k1, 4):
        sign = load4(tail, 0, max(0, k + 4 - k1))
        for r in (OWN_L, BY_Q_L, BY_V_L):
            m = cross(three_of(cov, r, k), d)
            for l in range(3):
                store4(cov, r + 3 + l, k, load4(cov, r + 3 + l, k) + sign * m[l])


@kernel
def pairs(art, screw, cov, tail, Kq, Kv):
    """Kq = -(M a + f)_q, Kv = -f_v of the bodies, where one coordinate carries the other (REC-8).

    Covectors are shifted with the nodes towards the ground; where nothing turns on the way, nothing asks for their moments.
    """
    for i in range(art.shape[0] - 1, 0, -1):
        B = art[i]
        kind = B["type"]
        k0, k1 = B["k"] + B["nk"], B["kend"]
        own_pairs(B, screw, cov, Kq, Kv)
        still = kind == SLIDE and not B["lever"]
        for j in range(B["k"], k0):
            carried_pairs(j, screw[j], kind == TURN or kind == EULER, still, k0, k1, cov, tail, Kq, Kv)
        if B["parent"] > 0:
            if B["lever"]:
                shift_covectors(cov, tail, B["k"], k1, vec(B["d"]))
            to_parent(B, art[B["parent"]])


@kernel
def euler_terms(art, q, tau, f, Kq):
    """What p changes in its own rows besides: the screws (JNT-9), and the direction of the normalisation force (REC-10)."""
    for i in range(1, art.shape[0]):
        B = art[i]
        if B["type"] == EULER:
            k = B["k"]
            p = four(q, k)
            s = dot4(p, p)
            n = vm(vec_at(B["F"], 3), mat(B["Aj"]))
            force = 0.0 * s
            for j in range(4):
                force += p[j] * (tau[k + j] - f[k + j]) / s
            for r in range(4):
                t = dot(n, euler_axis(r, p, s))
                for c in range(4):
                    unit = (
                        1.0 if c == 0 else 0.0,
                        1.0 if c == 1 else 0.0,
                        1.0 if c == 2 else 0.0,
                        1.0 if c == 3 else 0.0,
                    )
                    Kq[k + r, k + c] -= 2.0 / s * (dot(n, e_column(r, unit)) - p[c] * t)
                Kq[k + r, k + r] -= force


@kernel
def normalise(art, q, v, a, a_q, a_v):
    """Add the parts along p: p·p̈ = -ṗ·ṗ differentiated (REC-10)."""
    for i in range(1, art.shape[0]):
        if art[i]["type"] == EULER:
            k = art[i]["k"]
            p = four(q, k)
            s = dot4(p, p)
            for r in range(4):
                for c in range(4):
                    a_q[k + r, k + c] -= p[r] * a[k + c] / s
                    a_v[k + r, k + c] -= 2.0 * p[r] * v[k + c] / s


# --- functions of a context ------------------------------------------------------------------------------------------


@SUBS.part(LOAD_DERIVATIVES)
@cfunction(what="derivatives of recursive dynamics")
def load_derivatives(ctx):
    """Subtracts what the forces of the elements give to (M a + f)_q from Kq and to f_v from Kv."""
    node, coord, mk, col, sc, s, q = node_(ctx), coord_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    K, C, Kq, Kv = full_R_q_(ctx), full_C_(ctx), Kq_(ctx), Kv_(ctx)
    clear(K)
    clear(C)
    clear_covectors(mk)
    positions(node, coord, s, q)
    base(node, s, count_(ctx)[GRAVITY], True)
    accelerations(node, coord, q, v_(ctx), a_(ctx))
    marker_positions(node, mk, s)
    first_columns(coord, mk, col)
    marker_rates(node, mk)
    rate_columns(coord, mk, col, False)
    scalar_values(sc, mk, q, v_(ctx), a_(ctx))
    run_stage(ctx, LINEAR_FORCES)
    curvature(node, coord, mk, q, square_(ctx), R_q_(ctx), Nv_q_(ctx), Na_q_(ctx))
    for i in range(q.shape[0]):
        for j in range(q.shape[0]):
            Kq[i, j] -= K[i, j]
            Kv[i, j] -= C[i, j]


@cfunction(what="derivatives of recursive dynamics")
def forward_derivatives(ctx):
    """a, and its derivatives a_q, a_v, a_tau, at (q, v, tau)."""
    run_sub(ctx, FORWARD)
    art, coord, screw, q, v, a = art_(ctx), coord_(ctx), screw_(ctx), q_(ctx), v_(ctx), a_(ctx)
    a_q, a_v, inverse, work, rhs, Kq, Kv = a_q_(ctx), a_v_(ctx), a_tau_(ctx), work_(ctx), rhs_(ctx), Kq_(ctx), Kv_(ctx)
    everywhere = mk_(ctx).shape[0] > 0 or not is_empty(ctx, FORCES)
    if everywhere:
        clear(Kq)
        clear(Kv)
    screws(art, screw, q, v, a)
    composites(art)
    pairs(art, screw, cov_(ctx), tail_(ctx), Kq, Kv)
    euler_terms(art, q, tau_(ctx), f_(ctx), Kq)
    if everywhere:
        run_sub(ctx, LOAD_DERIVATIVES)
    invert(art, coord, inverse, rhs, work)
    solve_pair(art, coord, inverse, Kq, Kv, rows_(ctx), everywhere, rhs, work, a_q, a_v)
    normalise(art, q, v, a, a_q, a_v)
