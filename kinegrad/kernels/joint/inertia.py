"""Inertia of the tree: moments of the bodies, mass matrix and forces, and their derivatives by one backward sweep.

Moments are (m, m c) and (Ixx Iyy Izz Ixy Ixz Iyz) about the global origin, so composite moments are sums (INE-1).
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.joint.motion import dot4, e_column, euler_axis, four, move, place
from kinegrad.kernels.lanes import lane, of4
from kinegrad.kernels.linalg import put4
from kinegrad.kernels.pattern import place as place_of
from kinegrad.kernels.vec3 import (
    add,
    axpy,
    cross,
    dot,
    fcross,
    inc,
    inc6,
    mat,
    mm,
    mul,
    mv,
    put,
    put6,
    put_mat,
    six,
    sub,
    vec,
    vec_at,
    vm,
)  # fmt: skip
from kinegrad.kernels.vec4 import vec4, vec4_at


@kernel
def centre(B, M, s):
    """Centre of a mass in global components."""
    return centre_at(mat(B["A"]), vec(B["r"]), M, s)


@kernel
def centre_at(R, r, M, s):
    """Centre of a mass on a node with the orientation R at r."""
    return add(r, mv(R, sub(vec_at(s, M["com"]), vec_at(s, M["ref"]))))


@kernel
def tensor(s, J):
    """The symmetric matrix of six slots xx yy zz xy xz yz."""
    return ((s[J], s[J + 3], s[J + 4]), (s[J + 3], s[J + 1], s[J + 5]), (s[J + 4], s[J + 5], s[J + 2]))


@kernel
def moments_of(m, c, R, H):
    """Moments of a mass m at c with the tensor R H Rᵀ about its centre: ten numbers (INE-1)."""
    h = mul(m, c)
    q = dot(h, c)
    T = mm(R, H)
    return (
        m,
        h[0],
        h[1],
        h[2],
        dot(T[0], R[0]) + (q - h[0] * c[0]),
        dot(T[1], R[1]) + (q - h[1] * c[1]),
        dot(T[2], R[2]) + (q - h[2] * c[2]),
        dot(T[0], R[1]) - h[0] * c[1],
        dot(T[0], R[2]) - h[0] * c[2],
        dot(T[1], R[2]) - h[1] * c[2],
    )


@kernel
def put10(I, x):
    """I[:10] = x."""
    I[0] = x[0]
    I[1] = x[1]
    I[2] = x[2]
    I[3] = x[3]
    I[4] = x[4]
    I[5] = x[5]
    I[6] = x[6]
    I[7] = x[7]
    I[8] = x[8]
    I[9] = x[9]


@kernel
def get10(I):
    """The ten moments of an array."""
    return (I[0], I[1], I[2], I[3], I[4], I[5], I[6], I[7], I[8], I[9])


@kernel
def add10(x, y):
    """x + y."""
    return (
        x[0] + y[0], x[1] + y[1], x[2] + y[2], x[3] + y[3], x[4] + y[4],
        x[5] + y[5], x[6] + y[6], x[7] + y[7], x[8] + y[8], x[9] + y[9],
    )  # fmt: skip


@kernel
def shifted_moments(I, d):
    """Moments about a point from which the one they were taken about lies at the arm d."""
    c = (I[1], I[2], I[3])
    e = axpy(I[0], d, c)
    t = dot(c, d) + dot(e, d)
    return (
        I[0],
        e[0],
        e[1],
        e[2],
        I[4] + t - d[0] * (c[0] + e[0]),
        I[5] + t - d[1] * (c[1] + e[1]),
        I[6] + t - d[2] * (c[2] + e[2]),
        I[7] - c[0] * d[1] - d[0] * e[1],
        I[8] - c[0] * d[2] - d[0] * e[2],
        I[9] - c[1] * d[2] - d[1] * e[2],
    )


@kernel
def node_moments(B, mass, s):
    """Moments of all masses of a node, which has at least one."""
    return moments_at(B, mass, s, mat(B["A"]), vec(B["r"]))


@kernel
def moments_at(B, mass, s, R, r):
    """The same for a node with the orientation R at r."""
    M = mass[B["m0"]]
    x = moments_of(s[M["m"]], centre_at(R, r, M, s), R, tensor(s, M["J"]))
    for k in range(B["m0"] + 1, B["m1"]):
        M = mass[k]
        x = add10(x, moments_of(s[M["m"]], centre_at(R, r, M, s), R, tensor(s, M["J"])))
    return x


@kernel
def momentum(I, v, o):
    """Momentum and moment of momentum about the origin of the motion (v, o); I: ten numbers."""
    c = (I[1], I[2], I[3])
    L = (
        I[4] * o[0] + I[7] * o[1] + I[8] * o[2],
        I[7] * o[0] + I[5] * o[1] + I[9] * o[2],
        I[8] * o[0] + I[9] * o[1] + I[6] * o[2],
    )
    return add(mul(I[0], v), cross(o, c)), add(L, cross(c, v))


@kernel
def inertia_wrench(I, v, o, a, b):
    """I a + V ×* I V (INE-2)."""
    h, L = momentum(I, v, o)
    fl, fa = momentum(I, a, b)
    return add(fl, cross(o, h)), add(fa, add(cross(o, L), cross(v, h)))


@kernel
def body_forces(node, mass, s):
    """Moments and inertial wrench of every node at its V, a."""
    for i in range(1, node.shape[0]):
        B = node[i]
        v, o = six(B["V"])
        a, b = six(B["a"])
        body_force(B, mass, s, mat(B["A"]), vec(B["r"]), v, o, a, b)


@inlined
def body_force(B, mass, s, R, r, v, o, a, b):
    """Moments and inertial wrench of a node with this position and motion (INE-1, INE-2)."""
    if B["m1"] == B["m0"]:
        for j in range(10):
            B["I"][j] = 0.0
        for j in range(6):
            B["F"][j] = 0.0
    else:
        I = moments_at(B, mass, s, R, r)
        fl, fa = inertia_wrench(I, v, o, a, b)
        put10(B["I"], I)
        put6(B["F"], fl, fa)


@kernel
def moving_bodies(node, coord, mass, s, z, v, a):
    """What `positions`, `velocities` and `body_forces` fill, in one sweep that keeps each node in registers."""
    for i in range(1, node.shape[0]):
        B = node[i]
        P = node[B["parent"]]
        R, r = place(B, P, coord, s, z)
        bv, bo, av, ao = move(B, P, coord, z, v, a)
        body_force(B, mass, s, R, r, bv, bo, av, ao)


@kernel
def dot6(v, o, a):
    """(v, o)·a of six numbers."""
    return v[0] * a[0] + v[1] * a[1] + v[2] * a[2] + o[0] * a[3] + o[1] * a[4] + o[2] * a[5]


@kernel
def accumulate(node, coord, S, M, f):
    """Mass matrix M and f = Σ b·F by one backward sweep over composite moments and wrenches (INE-3)."""
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        fl, fa = six(B["F"])
        I = get10(B["I"])
        for k in range(B["k"], B["k"] + B["nk"]):
            bv, bo = six(coord[k]["b"])
            f[k] += dot(bv, fl) + dot(bo, fa)
            hl, ha = momentum(I, bv, bo)
            j = k
            while j >= 0:
                t = dot6(hl, ha, coord[j]["b"])
                M[place_of(S, k, j)] = t
                M[place_of(S, j, k)] = t
                j = coord[j]["up"]
        if B["parent"] > 0:
            T = node[B["parent"]]
            inc6(T["F"], fl, fa)
            put10(T["I"], add10(get10(T["I"]), I))


@kernel
def body_terms(node, mass, s):
    """Moments, momentum h, X = ∫ x xdᵀ, and the wrenches of a, W, U of every node (INE-4)."""
    for i in range(1, node.shape[0]):
        B = node[i]
        if B["m1"] == B["m0"]:
            for j in range(10):
                B["I"][j] = 0.0
                B["Ib"][j] = 0.0
            for j in range(6):
                B["F"][j] = 0.0
                B["Fb"][j] = 0.0
                B["F1"][j] = 0.0
                B["F2"][j] = 0.0
            for j in range(9):
                B["X"][j] = 0.0
            for j in range(3):
                B["h"][j] = 0.0
        else:
            I = node_moments(B, mass, s)
            put10(B["I"], I)
            put10(B["Ib"], I)
            v, o = six(B["V"])
            a, b = six(B["a"])
            h, L = momentum(I, v, o)
            put(B["h"], h)
            fl, fa = inertia_wrench(I, v, o, a, b)
            put6(B["F"], fl, fa)
            put6(B["Fb"], fl, fa)
            t = 0.5 * (I[4] + I[5] + I[6])  # second moments are (tr/2) 1 - I
            x = add(mul(I[1], v), cross(o, (t - I[4], -I[7], -I[8])))
            y = add(mul(I[2], v), cross(o, (-I[7], t - I[5], -I[9])))
            z = add(mul(I[3], v), cross(o, (-I[8], -I[9], t - I[6])))
            put_mat(B["X"], (x, y, z))
            v, o = six(B["W"])
            fl, fa = momentum(I, v, o)
            put6(B["F1"], fl, fa)
            v, o = six(B["U"])
            fl, fa = momentum(I, v, o)
            put6(B["F2"], fl, fa)


@kernel
def euler_block(B, z, F, S, D):
    """Add (∂b_r/∂p_c)·F to the block of D of a joint with Euler parameters (JNT-9)."""
    k = B["k"]
    p = four(z, k)
    s = dot4(p, p)
    fl, fa = six(F)
    n = vm(sub(fa, cross(vec(B["x"]), fl)), mat(B["Aj"]))
    for r in range(4):
        t = dot(n, euler_axis(r, p, s))
        for c in range(4):
            unit = (1.0 if c == 0 else 0.0, 1.0 if c == 1 else 0.0, 1.0 if c == 2 else 0.0, 1.0 if c == 3 else 0.0)
            D[place_of(S, k + r, k + c)] += 2.0 / s * (dot(n, e_column(r, unit)) - p[c] * t)


@kernel
def side_by_side(coord):
    """E of every coordinate."""
    for k in range(coord.shape[0]):
        c = coord[k]
        E, b, bd, bdd, w, u = c["E"], c["b"], c["bd"], c["bdd"], c["w"], c["u"]
        zero = 0.0 * b[0]
        for j in range(6):
            put4(E, j, of4(bdd[j], 2.0 * bd[j], w[j], u[j]))
        for j in range(3):
            put4(E, 6 + j, of4(bd[3 + j], b[3 + j], zero, zero))


@inlined
def wrenches4(B):
    """The wrenches F, none, F1, F2 of a node in lanes."""
    fl, fa = six(B["F"])
    f1l, f1a = six(B["F1"])
    f2l, f2a = six(B["F2"])
    o = 0.0 * fl[0]
    l = of4(fl[0], o, f1l[0], f2l[0]), of4(fl[1], o, f1l[1], f2l[1]), of4(fl[2], o, f1l[2], f2l[2])
    a = of4(fa[0], o, f1a[0], f2a[0]), of4(fa[1], o, f1a[1], f2a[1]), of4(fa[2], o, f1a[2], f2a[2])
    return l, a


@kernel
def inertia_linear(node, coord, z, S, M, K, C, Nv, Na):
    """M, (M a + f)_q, f_qd, (M dv)_q, (M da)_q of the bodies: one backward sweep over ancestor pairs (INE-5 to INE-8).

    The last four go side by side, in lanes.
    """
    side_by_side(coord)
    for i in range(node.shape[0] - 1, 0, -1):
        B = node[i]
        I = get10(B["I"])
        h = vec(B["h"])
        X = mat(B["X"])
        tr = X[0][0] + X[1][1] + X[2][2]
        fl, fa = wrenches4(B)
        first = B["k"]
        for k in range(first, first + B["nk"]):
            c = coord[k]
            bv, bo = six(c["b"])
            ul, ua = momentum(I, bv, bo)
            g = mul(2.0, add(cross(h, bv), sub(mul(tr, bo), mv(X, bo))))
            xl, xa = momentum(I, vec4(c["E"]), vec4_at(c["E"], 3))
            cl, ca = fcross(bv, bo, fl, fa)
            o = mul(2.0, vec4_at(c["E"], 6))
            xl = add(add(xl, cl), cross(o, h))
            xa = add(add(xa, ca), sub(mul(tr, o), vm(o, X)))
            j = first + B["nk"] - 1
            while j >= 0:
                q = coord[j]
                b = q["b"]
                t = dot6(ul, ua, b)
                above, below = place_of(S, j, k), place_of(S, k, j)
                M[below] = t
                M[above] = t
                y = dot6(xl, xa, b)
                K[above] += lane(y, 0)
                C[above] += lane(y, 1)
                Nv[above] += lane(y, 2)
                Na[above] += lane(y, 3)
                if j < first:
                    E = q["E"]
                    y = dot(ul, vec4(E)) + dot(ua, vec4_at(E, 3)) + dot(g, vec4_at(E, 6))
                    K[below] += lane(y, 0)
                    C[below] += lane(y, 1)
                    Nv[below] += lane(y, 2)
                    Na[below] += lane(y, 3)
                j = q["up"]
        if B["nk"] == 4:
            euler_block(B, z, B["F"], S, K)
            euler_block(B, z, B["F1"], S, Nv)
            euler_block(B, z, B["F2"], S, Na)
        if B["parent"] > 0:
            T = node[B["parent"]]
            put10(T["I"], add10(get10(T["I"]), I))
            for j in range(9):
                T["X"][j] += B["X"][j]
            for j in range(6):
                T["F"][j] += B["F"][j]
                T["F1"][j] += B["F1"][j]
                T["F2"][j] += B["F2"][j]
            inc(T["h"], h)
