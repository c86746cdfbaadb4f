"""Derivatives of the accelerations of an open tree: products of pairs on a path, then solves by sweeps.

From M a + f = tau follows M a_z = -(M a + f)_z with a fixed, for z = q, v, and M a_tau = 1.  The right-hand sides take one
product for each pair of coordinates of which one carries the other, about the points of the nodes (REC-8); M is never formed,
its inverse is applied to blocks of columns by the sweeps of the forward dynamics (REC-9).
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
    BLOCK,
    FORWARD,
    LOAD_DERIVATIVES,
    RECURSIVE,
    SUBS,
    a_,
    art_,
    by_four,
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
from kinegrad.kernels.lanes import WIDTH, load, store
from kinegrad.kernels.products import full_viewers
from kinegrad.kernels.sym3 import smv, sym
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
node_, coord_, col_, R_q_, Nv_q_, Na_q_, square_ = RECURSIVE.viewers(*"node coord col R_q Nv_q Na_q square".split())
full_R_q_, full_C_ = full_viewers("R_q", "C")


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
def pairs(art, screw, Kq, Kv):
    """Kq = -(M a + f)_q, Kv = -f_v of the bodies, where one coordinate carries the other (REC-8)."""
    for i in range(art.shape[0] - 1, 0, -1):
        B = art[i]
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
            for j in range(first, first + B["nk"]):
                b = screw[j]["b"]
                Kq[j, k] = -dot6(xl, xa, b)
                Kv[j, k] = -dot6(yl, ya, b)
            N = B
            while N["parent"] > 0:
                d = vec(N["d"])
                ua = add(ua, cross(d, ul))
                xa = add(xa, cross(d, xl))
                ya = add(ya, cross(d, yl))
                N = art[N["parent"]]
                for j in range(N["k"], N["k"] + N["nk"]):
                    z = screw[j]
                    b = z["b"]
                    d6 = z["bd"]
                    Kq[j, k] = -dot6(xl, xa, b)
                    Kv[j, k] = -dot6(yl, ya, b)
                    Kq[k, j] = -(dot6(ul, ua, z["bdd"]) + g[0] * d6[3] + g[1] * d6[4] + g[2] * d6[5])
                    Kv[k, j] = -(2.0 * dot6(ul, ua, d6) + g[0] * b[3] + g[1] * b[4] + g[2] * b[5])
        if B["parent"] > 0:
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


# --- blocks of right-hand sides --------------------------------------------------------------------------------------


@kernel
def three(A, i, k):
    """A vector of lanes in row i: from column k on, its components BLOCK apart."""
    return load(A, i, k), load(A, i, k + BLOCK), load(A, i, k + 2 * BLOCK)


@kernel
def put_three(A, i, k, x):
    """Store a vector of lanes as `three` reads it."""
    store(A, i, k, x[0])
    store(A, i, k + BLOCK, x[1])
    store(A, i, k + 2 * BLOCK, x[2])


@kernel
def four_lanes(Y, k, c):
    """Rows k to k + 3 of Y."""
    return load(Y, k, c), load(Y, k + 1, c), load(Y, k + 2, c), load(Y, k + 3, c)


@kernel
def leaves_to_ground(art, Y, W, top, width):
    """e of every joint for each column of Y, and the wrenches W at the nodes up to `top` (REC-9)."""
    for i in range(top + 1):
        for c in range(6 * BLOCK):
            W[i, c] = 0.0
    for i in range(top, 0, -1):
        B = art[i]
        P = B["parent"]
        d = vec(B["d"])
        kind = B["type"]
        k = B["k"]
        for c in range(0, width, WIDTH):
            F = three(W, i, c)
            N = three(W, i, 3 * BLOCK + c)
            if kind == TURN or kind == SLIDE or kind == SCREW:
                Ul, Ua = six(B["U"])
                t = dot(vec(B["u"]), F if kind == SLIDE else N)
                if kind == SCREW:
                    t = t + dot(vec(B["w"]), F)
                e = B["D"][0] * (load(Y, k, c) - t)
                store(Y, k, c, e)
                F = axpy(e, Ul, F)
                N = axpy(e, Ua, N)
            elif kind == EULER:
                n = by_four(B["H"], four_lanes(Y, k, c))
                y = sub(n, N)
                e3 = smv(sym(B["D"]), y)
                for j in range(3):
                    store(Y, k + j, c, e3[j])
                F = add(F, mv(mat(B["G"]), y))
                N = n
            N = add(N, cross(d, F))
            put_three(W, P, c, add(F, three(W, P, c)))
            put_three(W, P, 3 * BLOCK + c, add(N, three(W, P, 3 * BLOCK + c)))


@kernel
def ground_to_leaves(art, Y, W, top, width):
    """Y = M⁻¹ Y from the e of leaves_to_ground, rows of the nodes up to `top` (REC-9)."""
    for c in range(6 * BLOCK):
        W[0, c] = 0.0
    for i in range(1, top + 1):
        B = art[i]
        P = B["parent"]
        d = vec(B["d"])
        kind = B["type"]
        k = B["k"]
        for c in range(0, width, WIDTH):
            o = three(W, P, 3 * BLOCK + c)
            l = add(three(W, P, c), cross(o, d))
            if kind == TURN or kind == SLIDE or kind == SCREW:
                Ul, Ua = six(B["U"])
                e = load(Y, k, c) - B["D"][0] * (dot(Ul, l) + dot(Ua, o))
                store(Y, k, c, e)
                if kind == SLIDE:
                    l = axpy(e, vec(B["u"]), l)
                else:
                    o = axpy(e, vec(B["u"]), o)
                if kind == SCREW:
                    l = axpy(e, vec(B["w"]), l)
            elif kind == EULER:
                x = (load(Y, k, c), load(Y, k + 1, c), load(Y, k + 2, c))
                x = sub(x, vm(l, mat(B["G"])))
                y = sub(x, o)
                o = x
                for j in range(4):
                    store(Y, k + j, c, dot(vec_at(B["H"], 3 * j), y))
            put_three(W, i, c, l)
            put_three(W, i, 3 * BLOCK + c, o)


@kernel
def solve_columns(art, A, Y, W):
    """A = M⁻¹ A, in blocks of columns."""
    n = A.shape[0]
    for c0 in range(0, n, BLOCK):
        width = min(BLOCK, n - c0)
        for k in range(n):
            for c in range(width):
                Y[k, c] = A[k, c0 + c]
        leaves_to_ground(art, Y, W, art.shape[0] - 1, width)
        ground_to_leaves(art, Y, W, art.shape[0] - 1, width)
        for k in range(n):
            for c in range(width):
                A[k, c0 + c] = Y[k, c]


@kernel
def invert(art, coord, A, Y, W):
    """A = M⁻¹: the rows up to the last coordinate of each block of columns, mirrored."""
    n = A.shape[0]
    for c0 in range(0, n, BLOCK):
        end = min(c0 + BLOCK, n)
        top = coord[end - 1]["node"]
        rows = art[top]["k"] + art[top]["nk"]
        for k in range(rows):
            for c in range(BLOCK):
                Y[k, c] = 1.0 if k == c0 + c else 0.0
        leaves_to_ground(art, Y, W, top, end - c0)
        ground_to_leaves(art, Y, W, top, end - c0)
        for k in range(end):
            for c in range(end - c0):
                A[k, c0 + c] = Y[k, c]
                A[c0 + c, k] = Y[k, c]


# --- functions of a context ------------------------------------------------------------------------------------------


@SUBS.part(LOAD_DERIVATIVES)
@cfunction(what="derivatives of recursive dynamics")
def load_derivatives(ctx):
    """Subtracts what the forces of the elements give to (M a + f)_q from a_q and to f_v from a_v."""
    node, coord, mk, col, sc, s, q = node_(ctx), coord_(ctx), mk_(ctx), col_(ctx), sc_(ctx), s_(ctx), q_(ctx)
    K, C, a_q, a_v = full_R_q_(ctx), full_C_(ctx), a_q_(ctx), a_v_(ctx)
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
    for i in range(a_q.shape[0]):
        for j in range(a_q.shape[0]):
            a_q[i, j] -= K[i, j]
            a_v[i, j] -= C[i, j]


@cfunction(what="derivatives of recursive dynamics")
def forward_derivatives(ctx):
    """a, and its derivatives a_q, a_v, a_tau, at (q, v, tau)."""
    run_sub(ctx, FORWARD)
    art, screw, q, v, a = art_(ctx), screw_(ctx), q_(ctx), v_(ctx), a_(ctx)
    a_q, a_v, work, rhs = a_q_(ctx), a_v_(ctx), work_(ctx), rhs_(ctx)
    clear(a_q)
    clear(a_v)
    screws(art, screw, q, v, a)
    composites(art)
    pairs(art, screw, a_q, a_v)
    euler_terms(art, q, tau_(ctx), f_(ctx), a_q)
    if mk_(ctx).shape[0] > 0 or not is_empty(ctx, FORCES):
        run_sub(ctx, LOAD_DERIVATIVES)
    solve_columns(art, a_q, rhs, work)
    solve_columns(art, a_v, rhs, work)
    normalise(art, q, v, a, a_q, a_v)
    invert(art, coord_(ctx), a_tau_(ctx), rhs, work)
