"""Forward and inverse dynamics of the tree by sweeps: the cost grows with the number of nodes, no matrix of size n appears.

Spatial vectors of a node are taken about its own point r, in global components, which keeps long chains accurate; d leads
from the parent's point to it.  A joint with Euler parameters is a ball joint: its angular acceleration is solved for, then
p̈ with p·p̈ = -ṗ·ṗ (REC-5).  Closure rows play no part.
"""

from kinegrad.kernels.clearing import clear_covectors
from kinegrad.kernels.elements.layout import GRAVITY
from kinegrad.kernels.elements.stages import FORCES, is_empty
from kinegrad.kernels.jit import cfunction, cos, kernel, real, record, sin
from kinegrad.kernels.joint.functions import LAYOUT, base
from kinegrad.kernels.joint.inertia import moments_of, momentum, tensor
from kinegrad.kernels.joint.markers import marker_positions, marker_rates
from kinegrad.kernels.joint.motion import dot4, e_column, euler_rotation, four, mat_at, positions, velocities
from kinegrad.kernels.joint.records import EULER, RIGID, SCREW, SLIDE, TURN
from kinegrad.kernels.products import STATUS
from kinegrad.kernels.set_functions import forces
from kinegrad.kernels.status import OK, SINGULAR
from kinegrad.kernels.sym3 import less_mmt, less_square, put_sym, smv, sym, sym_inverse
from kinegrad.kernels.table import Parts, call
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    inc6,
    mat,
    mm,
    mul,
    mv,
    put,
    put6,
    put_mat,
    rot,
    six,
    sub,
    vec,
    vec_at,
    vm,
)  # fmt: skip

# Of a node: its row of the tree (as in NODE); A, point r, arm d, axis u, w = pitch u of a screw, motion V, a; c: acceleration
# at q̈ = 0 beyond the parent's; I: moments; Z: wrench at a = 0; Ia, Ib, Ic: articulated inertia [Ia Ib; Ibᵀ Ic]; U, D: I b and
# 1/(b·I b); e: what its own forces give.  Euler parameters: G = Ib Ic⁻¹, D = Ic⁻¹, H = A_j E(p)/2 by columns, A_j.
# kend: the coordinate behind the last one that it carries; lever: whether anything that carries it turns.
# F, h, X: composite wrench, momentum and ∫ x ẋᵀ dm of the derivatives.
TREE_ROW = ("parent", "type", "k", "nk", "off", "ref", "rot", "axis", "sgn", "pitch", "m0", "m1")
TREE_EXTENT = ("kend", "lever")
ARTICULATED = [
    *[(name, "i8") for name in (*TREE_ROW, *TREE_EXTENT)],
    ("A", "num", 9), ("r", "num", 3), ("d", "num", 3), ("u", "num", 3), ("w", "num", 3),
    ("V", "num", 6), ("c", "num", 6), ("a", "num", 6),
    ("I", "num", 10), ("Z", "num", 6), ("Ia", "num", 6), ("Ib", "num", 9), ("Ic", "num", 6),
    ("U", "num", 6), ("D", "num", 6), ("e", "num", 3), ("G", "num", 9), ("H", "num", 12), ("Aj", "num", 9),
    ("F", "num", 6), ("h", "num", 3), ("X", "num", 9),
]  # fmt: skip

# Of a coordinate: its screw and the time derivatives, about the point of its node.
COORDINATE_SCREW = [("b", "num", 6), ("bd", "num", 6), ("bdd", "num", 6)]

BLOCK = 16  # right-hand sides that the derivatives are solved for together

# tau: generalised forces on the coordinates; a_q, a_v, a_tau: derivatives of a; work, rhs: a block of right-hand sides;
# sub: addresses of the functions below that others run; Kq, Kv: -(M a + f)_q, -f_v; cov: covectors of the coordinates;
# tail: -1 four times, then 0; rows: numbers of coordinates.
RECURSIVE = LAYOUT.extend(
    [("art", record(ARTICULATED), 1), ("screw", record(COORDINATE_SCREW), 1), ("tau", "f8", 1)]
    + [("a_q", "f8", 2), ("a_v", "f8", 2), ("a_tau", "f8", 2), ("work", "f8", 2), ("rhs", "f8", 2), ("sub", "i8", 1)]
    + [("Kq", "f8", 2), ("Kv", "f8", 2), ("cov", "f8", 2), ("tail", "f8", 2), ("rows", "i8", 1)]
)
art_, tau_, sub_ = RECURSIVE.viewers("art", "tau", "sub")
node_, coord_, mass_, mk_, sc_ = RECURSIVE.viewers(*"node coord mass mk sc".split())
q_, v_, a_, f_, s_, zero_, count_, flag_, par_ = RECURSIVE.viewers(*"q v a f s zero count flag par".split())

LOST = 2.0**-49  # an inertia about an axis that is this small beside the others has lost all digits

FORWARD, LOADS, LOAD_DERIVATIVES, CLOSE = range(4)
SUBS = Parts()
"""The functions reached through `sub`, by number."""


@kernel
def run_sub(ctx, k):
    """Run function k of `sub`."""
    call(sub_(ctx)[k], ctx)


# --- sweeps ----------------------------------------------------------------------------------------------------------


@kernel
def less_product(A, t, u, w):
    """A - t u wᵀ."""
    return axpy(-t * u[0], w, A[0]), axpy(-t * u[1], w, A[1]), axpy(-t * u[2], w, A[2])


@kernel
def by_four(H, x):
    """H x of the 3 x 4 matrix kept by columns."""
    return (
        H[0] * x[0] + H[3] * x[1] + H[6] * x[2] + H[9] * x[3],
        H[1] * x[0] + H[4] * x[1] + H[7] * x[2] + H[10] * x[3],
        H[2] * x[0] + H[5] * x[1] + H[8] * x[2] + H[11] * x[3],
    )


@kernel
def motion(art, mass, s, q, v):
    """A, r, V, c of every node, its moments, and the wrench Z of its velocities (REC-1, REC-2, SCW-5)."""
    for i in range(1, art.shape[0]):
        B = art[i]
        P = art[B["parent"]]
        R = mat(P["A"])
        d = mv(R, sub(vec_at(s, B["off"]), vec_at(s, B["ref"])))
        if B["rot"] > 0:
            R = mm(R, mat_at(s, B["rot"]))
        vv, oo = six(P["V"])
        kind = B["type"]
        k = B["k"]
        if kind == TURN:
            e = mul(B["sgn"], vec_at(s, B["axis"]))
            u = mv(R, e)
            vv = add(vv, cross(oo, d))
            t = v[k]
            put6(B["c"], mul(t, cross(vv, u)), mul(t, cross(oo, u)))
            put(B["u"], u)
            oo = axpy(t, u, oo)
            R = mm(R, rot(e, sin(q[k]), cos(q[k])))
        elif kind == SLIDE:
            u = mv(R, mul(B["sgn"], vec_at(s, B["axis"])))
            d = axpy(q[k], u, d)
            t = v[k]
            put6(B["c"], mul(t, cross(oo, u)), (0.0, 0.0, 0.0))
            put(B["u"], u)
            vv = axpy(t, u, add(vv, cross(oo, d)))
        elif kind == SCREW:
            e = mul(B["sgn"], vec_at(s, B["axis"]))
            u = mv(R, e)
            w = mul(s[B["pitch"]], u)
            d = axpy(q[k], w, d)
            t = v[k]
            vv = add(vv, cross(oo, d))
            put6(B["c"], mul(t, add(cross(oo, w), cross(vv, u))), mul(t, cross(oo, u)))
            put(B["u"], u)
            put(B["w"], w)
            vv = axpy(t, w, vv)
            oo = axpy(t, u, oo)
            R = mm(R, rot(e, sin(q[k]), cos(q[k])))
        elif kind == RIGID:
            vv = add(vv, cross(oo, d))
        else:
            vv = add(vv, cross(oo, d))
            w, t = euler_motion(B, R, four(q, k), four(v, k))
            put6(B["c"], cross(vv, w), axpy(-t, w, cross(oo, w)))
            oo = add(oo, w)
            R = mm(R, euler_rotation(four(q, k)))
        put_mat(B["A"], R)
        put(B["d"], d)
        put(B["r"], add(vec(P["r"]), d))
        put6(B["V"], vv, oo)
        moments(B, R, mass, s)
        I = B["I"]
        h, L = momentum(I, vv, oo)
        put6(B["Z"], cross(oo, h), add(cross(oo, L), cross(vv, h)))


@kernel
def euler_motion(B, R, p, pd):
    """Angular velocity of a node relative to its parent, and (p·p)˙/(p·p); keeps A_j = R and H (REC-5)."""
    t = dot4(p, p)
    H = B["H"]
    for j in range(4):
        c = mul(0.5, mv(R, e_column(j, p)))
        H[3 * j] = c[0]
        H[3 * j + 1] = c[1]
        H[3 * j + 2] = c[2]
    put_mat(B["Aj"], R)
    return mul(4.0 / t, by_four(H, pd)), 2.0 * dot4(p, pd) / t


@kernel
def moments(B, R, mass, s):
    """Moments of the masses of a node about its point, and the articulated inertia they begin."""
    I = B["I"]
    if B["m0"] == B["m1"]:
        for j in range(10):
            I[j] = 0.0
    for k in range(B["m0"], B["m1"]):
        M = mass[k]
        x = moments_of(s[M["m"]], mv(R, sub(vec_at(s, M["com"]), vec_at(s, M["ref"]))), R, tensor(s, M["J"]))
        for j in range(10):
            if k == B["m0"]:
                I[j] = x[j]
            else:
                I[j] += x[j]
    m = I[0]
    put_sym(B["Ia"], (m, m, m, 0.0, 0.0, 0.0))
    put_mat(B["Ib"], ((0.0, I[3], -I[2]), (-I[3], 0.0, I[1]), (I[2], -I[1], 0.0)))
    for j in range(6):
        B["Ic"][j] = I[4 + j]


@kernel
def articulate(art, tau, f):
    """Articulated inertias and wrenches from the leaves to the ground, U, D, e of every joint (REC-3 to REC-5); a status."""
    status = OK
    for i in range(art.shape[0] - 1, 0, -1):
        B = art[i]
        a = sym(B["Ia"])
        b = mat(B["Ib"])
        c = sym(B["Ic"])
        fl, fa = six(B["Z"])
        kind = B["type"]
        k = B["k"]
        if kind == TURN or kind == SLIDE or kind == SCREW:
            u = vec(B["u"])
            t = tau[k] - f[k]
            if kind == TURN:
                Ul = mv(b, u)
                Ua = smv(c, u)
                D = dot(u, Ua)
                size = real(c[0] + c[1] + c[2])
                t -= dot(u, fa)
            elif kind == SLIDE:
                Ul = smv(a, u)
                Ua = vm(u, b)
                D = dot(u, Ul)
                size = real(a[0] + a[1] + a[2])
                t -= dot(u, fl)
            else:
                w = vec(B["w"])
                Ul = add(smv(a, w), mv(b, u))
                Ua = add(vm(w, b), smv(c, u))
                D = dot(w, Ul) + dot(u, Ua)
                size = real(dot(w, w) * (a[0] + a[1] + a[2]) + c[0] + c[1] + c[2])
                t -= dot(w, fl) + dot(u, fa)
            if not real(D) > LOST * size:
                status = SINGULAR
            D = 1.0 / D
            t *= D
            put6(B["U"], Ul, Ua)
            B["D"][0] = D
            B["e"][0] = t
            a = less_square(a, D, Ul)
            b = less_product(b, D, Ul, Ua)
            c = less_square(c, D, Ua)
            cl, ca = six(B["c"])
            fl = add(axpy(t, Ul, fl), add(smv(a, cl), mv(b, ca)))
            fa = add(axpy(t, Ua, fa), add(vm(cl, b), smv(c, ca)))
        elif kind == EULER:
            D, det = sym_inverse(c)
            if not real(det) > LOST * real(c[0] * c[1] * c[2]):
                status = SINGULAR
            G = (smv(D, b[0]), smv(D, b[1]), smv(D, b[2]))
            n = by_four(B["H"], (tau[k] - f[k], tau[k + 1] - f[k + 1], tau[k + 2] - f[k + 2], tau[k + 3] - f[k + 3]))
            y = sub(n, fa)
            put_sym(B["D"], D)
            put_mat(B["G"], G)
            put(B["e"], smv(D, y))
            a = less_mmt(a, G, b)
            o = (0.0, 0.0, 0.0)
            b = (o, o, o)
            c = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            fl = add(fl, add(mv(G, y), smv(a, vec(B["c"]))))
            fa = n
        if B["parent"] > 0:
            P = art[B["parent"]]
            d = vec(B["d"])
            inc6(P["Z"], fl, add(fa, cross(d, fl)))
            shift_inertia(P, a, b, c, d)
    return status


@kernel
def shift_inertia(P, a, b, c, d):
    """Add the inertia [a b; bᵀ c], taken about a point at the arm d, to that of P (REC-4)."""
    S = P["Ia"]
    for j in range(6):
        S[j] += a[j]
    e0 = sub(b[0], cross((a[0], a[3], a[4]), d))
    e1 = sub(b[1], cross((a[3], a[1], a[5]), d))
    e2 = sub(b[2], cross((a[4], a[5], a[2]), d))
    S = P["Ib"]
    for j in range(3):
        S[j] += e0[j]
        S[3 + j] += e1[j]
        S[6 + j] += e2[j]
    # d̃ e + (d̃ b)ᵀ, of which six entries
    S = P["Ic"]
    S[0] += c[0] + (d[1] * e2[0] - d[2] * e1[0]) + (d[1] * b[2][0] - d[2] * b[1][0])
    S[1] += c[1] + (d[2] * e0[1] - d[0] * e2[1]) + (d[2] * b[0][1] - d[0] * b[2][1])
    S[2] += c[2] + (d[0] * e1[2] - d[1] * e0[2]) + (d[0] * b[1][2] - d[1] * b[0][2])
    S[3] += c[3] + (d[1] * e2[1] - d[2] * e1[1]) + (d[2] * b[0][0] - d[0] * b[2][0])
    S[4] += c[4] + (d[1] * e2[2] - d[2] * e1[2]) + (d[0] * b[1][0] - d[1] * b[0][0])
    S[5] += c[5] + (d[2] * e0[2] - d[0] * e2[2]) + (d[0] * b[1][1] - d[1] * b[0][1])


@kernel
def accelerate(art, q, v, a):
    """Accelerations from the ground to the leaves (REC-6)."""
    for i in range(1, art.shape[0]):
        B = art[i]
        P = art[B["parent"]]
        al, aa = six(P["a"])
        al = add(al, cross(aa, vec(B["d"])))
        kind = B["type"]
        k = B["k"]
        if kind == TURN or kind == SLIDE or kind == SCREW:
            cl, ca = six(B["c"])
            Ul, Ua = six(B["U"])
            al = add(al, cl)
            aa = add(aa, ca)
            t = B["e"][0] - B["D"][0] * (dot(Ul, al) + dot(Ua, aa))
            a[k] = t
            if kind == SLIDE:
                al = axpy(t, vec(B["u"]), al)
            else:
                aa = axpy(t, vec(B["u"]), aa)
            if kind == SCREW:
                al = axpy(t, vec(B["w"]), al)
        elif kind == EULER:
            cl, ca = six(B["c"])
            al = add(al, cl)
            o = sub(vec(B["e"]), vm(al, mat(B["G"])))
            y = sub(o, add(aa, ca))
            aa = o
            p = four(q, k)
            pd = four(v, k)
            t = dot4(pd, pd) / dot4(p, p)
            for j in range(4):
                a[k + j] = dot(vec_at(B["H"], 3 * j), y) - t * p[j]
        put6(B["a"], al, aa)


@kernel
def carry(art, q, a):
    """Accelerations of the nodes for given q̈."""
    for i in range(1, art.shape[0]):
        B = art[i]
        P = art[B["parent"]]
        al, aa = six(P["a"])
        al = add(al, cross(aa, vec(B["d"])))
        kind = B["type"]
        k = B["k"]
        if kind != RIGID:
            cl, ca = six(B["c"])
            al = add(al, cl)
            aa = add(aa, ca)
        if kind == TURN:
            aa = axpy(a[k], vec(B["u"]), aa)
        elif kind == SLIDE:
            al = axpy(a[k], vec(B["u"]), al)
        elif kind == SCREW:
            aa = axpy(a[k], vec(B["u"]), aa)
            al = axpy(a[k], vec(B["w"]), al)
        elif kind == EULER:
            p = four(q, k)
            aa = axpy(4.0 / dot4(p, p), by_four(B["H"], four(a, k)), aa)
        put6(B["a"], al, aa)


@kernel
def project(art, q, f, tau):
    """tau = f + Σ b·F, F = I a + Z summed from the leaves to the ground (REC-7)."""
    for i in range(art.shape[0] - 1, 0, -1):
        B = art[i]
        al, aa = six(B["a"])
        fl, fa = six(B["Z"])
        hl, ha = momentum(B["I"], al, aa)
        if B["m1"] > B["m0"]:
            fl = add(fl, hl)
            fa = add(fa, ha)
        kind = B["type"]
        k = B["k"]
        if kind == TURN:
            tau[k] = f[k] + dot(vec(B["u"]), fa)
        elif kind == SLIDE:
            tau[k] = f[k] + dot(vec(B["u"]), fl)
        elif kind == SCREW:
            tau[k] = f[k] + dot(vec(B["u"]), fa) + dot(vec(B["w"]), fl)
        elif kind == EULER:
            p = four(q, k)
            t = 4.0 / dot4(p, p)
            for j in range(4):
                tau[k + j] = f[k + j] + t * dot(vec_at(B["H"], 3 * j), fa)
        if B["parent"] > 0:
            inc6(art[B["parent"]]["Z"], fl, add(fa, cross(vec(B["d"]), fl)))


# --- forces of elements ----------------------------------------------------------------------------------------------


@kernel
def marker_wrenches(art, mk):
    """Add the covectors f of the markers to the wrenches Z of their nodes, about the points of these."""
    for i in range(mk.shape[0]):
        m = mk[i]
        if m["node"] > 0:
            B = art[m["node"]]
            f = vec(m["f"])
            if m["point"]:
                inc6(B["Z"], f, cross(sub(vec(m["x"]), vec(B["r"])), f))
            else:
                inc6(B["Z"], (0.0, 0.0, 0.0), cross(vec(m["x"]), f))


@SUBS.part(LOADS)
@cfunction(what="recursive dynamics")
def loads(ctx):
    """Forces of the elements at (q, v), to f and to the wrenches Z; moves nodes and markers as EVALUATE does."""
    node, coord, mk, s, q, v = node_(ctx), coord_(ctx), mk_(ctx), s_(ctx), q_(ctx), v_(ctx)
    positions(node, coord, s, q)
    base(node, s, count_(ctx)[GRAVITY], True)
    velocities(node, coord, q, v, zero_(ctx))
    marker_positions(node, mk, s)
    marker_rates(node, mk)
    clear_covectors(mk)
    forces(ctx)
    marker_wrenches(art_(ctx), mk)


# --- functions of a context ------------------------------------------------------------------------------------------


@kernel
def begin(ctx):
    """Motion at (q, v) and all forces except tau; the ground accelerates against gravity."""
    art, s, f = art_(ctx), s_(ctx), f_(ctx)
    flag_(ctx)[STATUS] = OK
    put6(art[0]["a"], mul(-1.0, vec_at(s, count_(ctx)[GRAVITY])), (0.0, 0.0, 0.0))
    motion(art, mass_(ctx), s, q_(ctx), v_(ctx))
    for k in range(f.shape[0]):
        f[k] = 0.0
    if mk_(ctx).shape[0] > 0 or not is_empty(ctx, FORCES):
        run_sub(ctx, LOADS)


@SUBS.part(FORWARD)
@cfunction(what="recursive dynamics")
def forward_dynamics(ctx):
    """a of the open tree under the forces of the elements and tau, at (q, v)."""
    begin(ctx)
    art, flag = art_(ctx), flag_(ctx)
    status = articulate(art, tau_(ctx), f_(ctx))
    if flag[STATUS] == OK:
        flag[STATUS] = status
    accelerate(art, q_(ctx), v_(ctx), a_(ctx))


@cfunction(what="recursive dynamics")
def inverse_dynamics(ctx):
    """tau = M a + f of the open tree at (q, v)."""
    begin(ctx)
    art, q = art_(ctx), q_(ctx)
    carry(art, q, a_(ctx))
    project(art, q, f_(ctx), tau_(ctx))
