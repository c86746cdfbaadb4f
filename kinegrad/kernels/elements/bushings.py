"""Bushing: springs and dampers along three lengths and about three angles between two frames (BSH-1 to BSH-6).

The frames enter through m = (d, e1, e2, e3, g1, g2, g3): the difference of their origins, and the axes of both.  Seven
products r = (u, a, τ) of these, r = H(m, m), are all that matters (BSH-1):

    u_k = e_k·d      a = (e3·g2 - e2·g3, e1·g3 - e3·g1, e2·g1 - e1·g2)      τ = e1·g1 + e2·g2 + e3·g3

The rotation vector is θ = G(τ) a.  A covector W on r gives covectors on m, the partners: ∂(W·r)/∂m.
"""

import numpy as np

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import ENERGY, FORCES, LINEAR_FORCES, PULL, STIFFNESS, Kind
from kinegrad.kernels.jit import asin, cfunction, kernel, real, sqrt
from kinegrad.kernels.pattern import COLUMNS, place
from kinegrad.kernels.pattern import add as add_to
from kinegrad.kernels.products import BLOCK, STATUS, WC, WK
from kinegrad.kernels.status import OK, OUT_OF_RANGE
from kinegrad.kernels.vec3 import add, axpy, dot, inc, mul, sub, vec, vec_at
from kinegrad.kernels.vec4 import gain4, inc4, vec4

mk_, dual_, col_, bushing_, s_, ds_, R_q_, R_s_, C_, K_, square_, psi4_ = ELEMENTS.viewers(
    *"mk dual col bushing s ds R_q R_s C K square psi4".split()
)
flag_, par_, pos_, idx_, U_, Ud_, Udd_, energy_ = ELEMENTS.viewers(*"flag par pos idx U Ud Udd energy".split())

ORIGINS = ("a", "b")
AXES = ("a1", "a2", "a3", "b1", "b2", "b3")
DAMPINGS = ("c", "ct")
N_M, N_R = 21, 7  # rows of changes of m, then of r
MOST = -0.9848  # cosine of the largest angle, 170 degrees: beyond half a turn it would jump to the other side
HALF = (
    1.0 - 2.0**-40
)  # square of the sine of half the angle: what has no stiffness against turns goes up to half a turn, and on
NEAR, TERMS = 0.1, 18  # up to this square of the sine of half the angle: a series, of that many terms


def has_dampers(arrays):
    """Whether a damping is not zero."""
    s, bushing = arrays["s"], arrays["bushing"]
    return any(np.any(s[bushing[key] + i] != 0.0) for key in DAMPINGS for i in range(3))


KIND = Kind({"bushing": ORIGINS + AXES}, works=has_dampers, scratch=N_M + N_R)


def cosines(arrays):
    """Of the turns of all bushings that resist them."""
    x, s, bushing = arrays["mk"]["x"].real, arrays["s"].real, arrays["bushing"]
    trace = sum((x[bushing[f"a{k}"]] * x[bushing[f"b{k}"]]).sum(axis=1) for k in (1, 2, 3))
    against = sum(s[bushing[key] + i] != 0.0 for key in ("kt", "ct") for i in range(3))
    return np.where(against > 0, 0.5 * (trace - 1.0), 1.0)


def how_far(arrays):
    """In words, of the one that is turned most."""
    turn = np.degrees(np.arccos(np.clip(cosines(arrays).min(), -1.0, 1.0)))
    return f"whose frames are turned against each other by {turn:.4g} degrees, is a spring up to 170 degrees"


@KIND.failing(
    OUT_OF_RANGE,
    how_far,
    "turn a frame, make it stiffer, or use a joint with springs on its coordinates",
)
def most_turned(arrays):
    """The bushing whose frames are turned most, of those that resist it."""
    return int(np.argmin(cosines(arrays)))


# --- markers and products ---


@kernel
def x_of(mk, e):
    """m of the positions."""
    d = sub(vec(mk[e["b"]]["x"]), vec(mk[e["a"]]["x"]))
    e1, e2, e3 = vec(mk[e["a1"]]["x"]), vec(mk[e["a2"]]["x"]), vec(mk[e["a3"]]["x"])
    return d, e1, e2, e3, vec(mk[e["b1"]]["x"]), vec(mk[e["b2"]]["x"]), vec(mk[e["b3"]]["x"])


@kernel
def xd_of(mk, e):
    """m of the velocities."""
    d = sub(vec(mk[e["b"]]["xd"]), vec(mk[e["a"]]["xd"]))
    e1, e2, e3 = vec(mk[e["a1"]]["xd"]), vec(mk[e["a2"]]["xd"]), vec(mk[e["a3"]]["xd"])
    return d, e1, e2, e3, vec(mk[e["b1"]]["xd"]), vec(mk[e["b2"]]["xd"]), vec(mk[e["b3"]]["xd"])


@kernel
def xds_of(mk, e):
    """m of the unprojected velocities."""
    d = sub(vec(mk[e["b"]]["xds"]), vec(mk[e["a"]]["xds"]))
    e1, e2, e3 = vec(mk[e["a1"]]["xds"]), vec(mk[e["a2"]]["xds"]), vec(mk[e["a3"]]["xds"])
    return d, e1, e2, e3, vec(mk[e["b1"]]["xds"]), vec(mk[e["b2"]]["xds"]), vec(mk[e["b3"]]["xds"])


@kernel
def dm_of(dual, e):
    """m of x_q mu, for four adjoints."""
    d = sub(vec4(dual[e["b"]]["dm"]), vec4(dual[e["a"]]["dm"]))
    e1, e2, e3 = vec4(dual[e["a1"]]["dm"]), vec4(dual[e["a2"]]["dm"]), vec4(dual[e["a3"]]["dm"])
    return d, e1, e2, e3, vec4(dual[e["b1"]]["dm"]), vec4(dual[e["b2"]]["dm"]), vec4(dual[e["b3"]]["dm"])


@kernel
def product(m, n):
    """H(m, n): u, a, τ with the axes of the first frame from m, all else from n."""
    x, e1, e2, e3, y1, y2, y3 = m
    d, f1, f2, f3, g1, g2, g3 = n
    u = (dot(e1, d), dot(e2, d), dot(e3, d))
    a = (dot(e3, g2) - dot(e2, g3), dot(e1, g3) - dot(e3, g1), dot(e2, g1) - dot(e1, g2))
    return u, a, dot(e1, g1) + dot(e2, g2) + dot(e3, g3)


@kernel
def change(m, dm):
    """H(m, dm) + H(dm, m): the change of r under a change of m."""
    u, a, t = product(m, dm)
    v, b, w = product(dm, m)
    return add(u, v), add(a, b), t + w


@kernel
def partners(Wu, Wa, Wt, m):
    """The covectors on m that belong to the covector W on r (BSH-2)."""
    d, e1, e2, e3, g1, g2, g3 = m
    on_d = axpy(Wu[0], e1, axpy(Wu[1], e2, mul(Wu[2], e3)))
    on_e1 = axpy(Wu[0], d, axpy(Wt, g1, axpy(Wa[1], g3, mul(-1.0 * Wa[2], g2))))
    on_e2 = axpy(Wu[1], d, axpy(Wt, g2, axpy(Wa[2], g1, mul(-1.0 * Wa[0], g3))))
    on_e3 = axpy(Wu[2], d, axpy(Wt, g3, axpy(Wa[0], g2, mul(-1.0 * Wa[1], g1))))
    on_g1 = axpy(Wt, e1, axpy(Wa[2], e2, mul(-1.0 * Wa[1], e3)))
    on_g2 = axpy(Wt, e2, axpy(Wa[0], e3, mul(-1.0 * Wa[2], e1)))
    on_g3 = axpy(Wt, e3, axpy(Wa[1], e1, mul(-1.0 * Wa[0], e2)))
    return on_d, on_e1, on_e2, on_e3, on_g1, on_g2, on_g3


@kernel
def leave_f(mk, e, p):
    """Add covectors on m to f of the markers."""
    inc(mk[e["b"]]["f"], p[0])
    inc(mk[e["a"]]["f"], mul(-1.0, p[0]))
    inc(mk[e["a1"]]["f"], p[1])
    inc(mk[e["a2"]]["f"], p[2])
    inc(mk[e["a3"]]["f"], p[3])
    inc(mk[e["b1"]]["f"], p[4])
    inc(mk[e["b2"]]["f"], p[5])
    inc(mk[e["b3"]]["f"], p[6])


@kernel
def leave_X(dual, e, p):
    """Add duals of m to X of the markers."""
    inc4(dual[e["b"]]["X"], p[0])
    inc4(dual[e["a"]]["X"], mul(-1.0, p[0]))
    inc4(dual[e["a1"]]["X"], p[1])
    inc4(dual[e["a2"]]["X"], p[2])
    inc4(dual[e["a3"]]["X"], p[3])
    inc4(dual[e["b1"]]["X"], p[4])
    inc4(dual[e["b2"]]["X"], p[5])
    inc4(dual[e["b3"]]["X"], p[6])


@kernel
def leave_X1(dual, e, p):
    """Add duals of the rate of m to X1 of the markers."""
    inc4(dual[e["b"]]["X1"], p[0])
    inc4(dual[e["a"]]["X1"], mul(-1.0, p[0]))
    inc4(dual[e["a1"]]["X1"], p[1])
    inc4(dual[e["a2"]]["X1"], p[2])
    inc4(dual[e["a3"]]["X1"], p[3])
    inc4(dual[e["b1"]]["X1"], p[4])
    inc4(dual[e["b2"]]["X1"], p[5])
    inc4(dual[e["b3"]]["X1"], p[6])


# --- what the force is of r and its rate ---


@kernel
def times(x, y):
    """The products of the components."""
    return x[0] * y[0], x[1] * y[1], x[2] * y[2]


@kernel
def stretch(t):
    """G(τ) = φ/(2 sin φ) with τ = 1 + 2 cos φ, and its first and second derivative (BSH-3)."""
    x = 0.25 * (3.0 - t)  # sin² φ/2
    if real(x) > HALF:
        x = 0.0 * x + HALF
    if real(x) < NEAR:
        g, g1, g2 = 0.0 * x, 0.0 * x, 0.0 * x
        for i in range(TERMS):
            n = TERMS - 1 - i
            r = (2.0 * n + 2.0) / (2.0 * n + 3.0)  # the ratio of the next coefficient to this one: g = 1 + r x g_next
            g2 = r * (2.0 * g1 + x * g2)
            g1 = r * (g + x * g1)
            g = 1.0 + r * x * g
    else:
        y = 2.0 * x * (1.0 - x)
        g = asin(sqrt(x)) / sqrt(0.5 * y)
        g1 = (1.0 - (1.0 - 2.0 * x) * g) / y
        g2 = (2.0 * g - 3.0 * (1.0 - 2.0 * x) * g1) / y
    return 0.5 * g, -0.125 * g1, 0.03125 * g2


@kernel
def state(m, md, e, s):
    """r and its rate; θ, θ̇; G, G', G''; the forces N of the lengths, T of the angles (BSH-4)."""
    u, a, t = product(m, m)
    ud, ad, td = change(m, md)
    G = stretch(t)
    o = mul(G[0], a)
    od = axpy(G[0], ad, mul(G[1] * td, a))
    N = add(times(vec_at(s, e["k"]), sub(u, vec_at(s, e["n"]))), times(vec_at(s, e["c"]), ud))
    T = add(times(vec_at(s, e["kt"]), sub(o, vec_at(s, e["nt"]))), times(vec_at(s, e["ct"]), od))
    return (u, a, t), (ud, ad, td), o, od, G, N, T


@kernel
def resists(s, e):
    """Whether a bushing has stiffness or damping against turns."""
    kt, ct = vec_at(s, e["kt"]), vec_at(s, e["ct"])
    return dot(kt, kt) != 0.0 or dot(ct, ct) != 0.0


@KIND.at(FORCES)
@cfunction(what="the kernels of bushings")
def forces(ctx):
    """Covectors f of the markers (BSH-5); OUT_OF_RANGE where the frames are turned too far."""
    mk, bushing, s, flag = mk_(ctx), bushing_(ctx), s_(ctx), flag_(ctx)
    for r in range(bushing.shape[0]):
        e = bushing[r]
        m = x_of(mk, e)
        (u, a, t), rate, o, od, G, N, T = state(m, xd_of(mk, e), e, s)
        if not real(t) > 1.0 + 2.0 * MOST and resists(s, e) and flag[STATUS] == OK:
            flag[STATUS] = OUT_OF_RANGE
        leave_f(mk, e, partners(N, mul(G[0], T), G[1] * dot(T, a), m))


@KIND.at(ENERGY)
@cfunction(what="the kernels of bushings")
def energy(ctx):
    """Energy stored, and power of the dampers (negative) (BSH-4)."""
    mk, bushing, s, out = mk_(ctx), bushing_(ctx), s_(ctx), energy_(ctx)
    for r in range(bushing.shape[0]):
        e = bushing[r]
        (u, a, t), (ud, ad, td), o, od, G, N, T = state(x_of(mk, e), xd_of(mk, e), e, s)
        du, do = sub(u, vec_at(s, e["n"])), sub(o, vec_at(s, e["nt"]))
        out[1] += 0.5 * (dot(vec_at(s, e["k"]), times(du, du)) + dot(vec_at(s, e["kt"]), times(do, do)))
        out[2] -= dot(vec_at(s, e["c"]), times(ud, ud)) + dot(vec_at(s, e["ct"]), times(od, od))


# --- derivatives ---


@kernel
def marker_columns(A, col, row, sign, wide, rates, n_columns, pos, idx, U, Ud):
    """Add the columns of a marker to rows of the changes of m; how many distinct columns there are now."""
    w = n_columns
    for c in range(A["c0"], A["c2"] if wide else A["c1"]):
        k = col[c]["k"]
        if pos[k] < 0:
            pos[k] = w
            idx[w] = k
            for j in range(N_M):
                U[j, w] = 0.0
                Ud[j, w] = 0.0
            w += 1
        for j in range(3):
            U[row + j, pos[k]] += sign * col[c]["xq"][j]
            if rates:
                Ud[row + j, pos[k]] += sign * col[c]["xdq"][j]
    return w


@kernel
def columns(mk, col, e, wide, rates, pos, idx, U, Ud):
    """Changes of m, and of its rate, under each distinct column; how many there are."""
    w = marker_columns(mk[e["b"]], col, 0, 1.0, wide, rates, 0, pos, idx, U, Ud)
    w = marker_columns(mk[e["a"]], col, 0, -1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["a1"]], col, 3, 1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["a2"]], col, 6, 1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["a3"]], col, 9, 1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["b1"]], col, 12, 1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["b2"]], col, 15, 1.0, wide, rates, w, pos, idx, U, Ud)
    w = marker_columns(mk[e["b3"]], col, 18, 1.0, wide, rates, w, pos, idx, U, Ud)
    for b in range(w):
        pos[idx[b]] = -1
    return w


@kernel
def three(U, k, b):
    """Three rows of a column."""
    return U[k, b], U[k + 1, b], U[k + 2, b]


@kernel
def column(U, b):
    """m of a column."""
    e1, e2, e3 = three(U, 3, b), three(U, 6, b), three(U, 9, b)
    return three(U, 0, b), e1, e2, e3, three(U, 12, b), three(U, 15, b), three(U, 18, b)


@kernel
def put_three(U, k, b, x):
    """Set three rows of a column."""
    U[k, b] = x[0]
    U[k + 1, b] = x[1]
    U[k + 2, b] = x[2]


@KIND.at(STIFFNESS)
@cfunction(what="the kernels of bushings")
def stiffness(ctx):
    """Add Σ (wk k + wc c) w_qᵀ w_q, over the lengths and angles w = u, θ, to the lower triangle."""
    mk, col, bushing, s, K, pos, idx, U = (
        mk_(ctx), col_(ctx), bushing_(ctx), s_(ctx), K_(ctx), pos_(ctx), idx_(ctx), U_(ctx),
    )  # fmt: skip
    P, wk, wc = square_(ctx), par_(ctx)[WK], par_(ctx)[WC]
    for r in range(bushing.shape[0]):
        e = bushing[r]
        m = x_of(mk, e)
        u, a, t = product(m, m)
        G = stretch(t)
        k = axpy(wk, vec_at(s, e["k"]), mul(wc, vec_at(s, e["c"])))
        kt = axpy(wk, vec_at(s, e["kt"]), mul(wc, vec_at(s, e["ct"])))
        w = columns(mk, col, e, False, False, pos, idx, U, Ud_(ctx))
        for b in range(w):
            du, da, dt = change(m, column(U, b))
            put_three(U, N_M, b, du)
            put_three(U, N_M + 3, b, axpy(G[0], da, mul(G[1] * dt, a)))
        for i in range(w):
            x = times(k, three(U, N_M, i))
            y = times(kt, three(U, N_M + 3, i))
            for j in range(w):
                if idx[j] <= idx[i]:
                    K[place(P, idx[i], idx[j])] += dot(x, three(U, N_M, j)) + dot(y, three(U, N_M + 3, j))


@KIND.at(LINEAR_FORCES)
@cfunction(what="the derivatives of bushings")
def linear(ctx):
    """R_z += r_qᵀ(F_r r_z + F_rd rd_z) + F·H(m_q, m_z) and columns of directions, C += r_qᵀ F_rd r_q; covectors f (BSH-6)."""
    mk, col, bushing, s, ds, P, C = mk_(ctx), col_(ctx), bushing_(ctx), s_(ctx), ds_(ctx), square_(ctx), C_(ctx)
    pos, idx, U, Ud, Udd, n = pos_(ctx), idx_(ctx), U_(ctx), Ud_(ctx), Udd_(ctx), P[COLUMNS]
    R, R_s = (P, R_q_(ctx), R_s_(ctx)), R_s_(ctx)
    for i in range(bushing.shape[0]):
        e = bushing[i]
        m, md = x_of(mk, e), xd_of(mk, e)
        (u, a, t), (ud, ad, td), o, od, G, N, T = state(m, md, e, s)
        Fa, Ft = mul(G[0], T), G[1] * dot(T, a)
        leave_f(mk, e, partners(N, Fa, Ft, m))
        k, c, kt, ct = vec_at(s, e["k"]), vec_at(s, e["c"]), vec_at(s, e["kt"]), vec_at(s, e["ct"])
        w = columns(mk, col, e, True, True, pos, idx, U, Ud)
        for b in range(w):
            x, xd = column(U, b), column(Ud, b)
            du, da, dt = change(m, x)
            su, sa, st = change(md, x)  # with change(m, xd): the change of the rate of r
            vu, va, vt = change(m, xd)
            su, sa, st = add(su, vu), add(sa, va), st + vt
            # θ and its rate, then the forces, then the covector on r
            do = axpy(G[0], da, mul(G[1] * dt, a))
            so = axpy(G[0], sa, axpy(G[1] * td, da, axpy(G[1] * dt, ad, mul(G[1] * st + G[2] * td * dt, a))))
            dT = add(times(kt, do), times(ct, so))
            p = partners(N, Fa, Ft, x)
            for j in range(7):
                put_three(Udd, 3 * j, b, p[j])
            put_three(U, N_M, b, du)
            put_three(U, N_M + 3, b, da)
            U[N_M + 6, b] = dt
            put_three(Ud, N_M, b, add(times(k, du), times(c, su)))
            put_three(Ud, N_M + 3, b, axpy(G[0], dT, mul(G[1] * dt, T)))
            Ud[N_M + 6, b] = G[2] * dt * dot(T, a) + G[1] * (dot(dT, a) + dot(T, da))
            vT = times(ct, do)  # the same for a change of the rate alone, by r_z
            put_three(Udd, N_M, b, times(c, du))
            put_three(Udd, N_M + 3, b, mul(G[0], vT))
            Udd[N_M + 6, b] = G[1] * dot(vT, a)
        for h in range(w):
            if idx[h] < n:
                for b in range(w):
                    x = 0.0 * s[0]
                    y = 0.0 * s[0]
                    for j in range(N_M):
                        x += U[j, h] * Udd[j, b]
                    for j in range(N_M, N_M + N_R):
                        x += U[j, h] * Ud[j, b]
                        y += U[j, h] * Udd[j, b]
                    add_to(R, idx[h], idx[b], x)
                    if idx[b] < n:
                        C[place(P, idx[h], idx[b])] += y
        for p in range(ds.shape[0]):
            dN, dT = own_change(s, ds[p], e, u, ud, o, od)
            for h in range(w):
                if idx[h] < n:
                    x = dot(three(U, N_M, h), dN) + G[0] * dot(three(U, N_M + 3, h), dT)
                    R_s[idx[h], p] += x + G[1] * dot(dT, a) * U[N_M + 6, h]


@kernel
def own_change(s, d, e, u, ud, o, od):
    """Changes of N and T under a direction d of the slots, by the bushing's own numbers."""
    N = add(times(vec_at(d, e["k"]), sub(u, vec_at(s, e["n"]))), times(vec_at(d, e["c"]), ud))
    T = add(times(vec_at(d, e["kt"]), sub(o, vec_at(s, e["nt"]))), times(vec_at(d, e["ct"]), od))
    return sub(N, times(vec_at(s, e["k"]), vec_at(d, e["n"]))), sub(T, times(vec_at(s, e["kt"]), vec_at(d, e["nt"])))


@KIND.at(PULL)
@cfunction(what="the derivatives of bushings, backwards")
def pull(ctx):
    """mu·R_s: own slots; duals of x (X) and xds (X1), and covectors f on the markers (BSH-6)."""
    mk, dual, bushing, s, psi = mk_(ctx), dual_(ctx), bushing_(ctx), s_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    for i in range(bushing.shape[0]):
        e = bushing[i]
        m, md, D = x_of(mk, e), xds_of(mk, e), dm_of(dual, e)
        (u, a, t), (ud, ad, td), o, od, G, N, T = state(m, md, e, s)
        k, c, kt, ct = vec_at(s, e["k"]), vec_at(s, e["c"]), vec_at(s, e["kt"]), vec_at(s, e["ct"])
        Du, Da, Dt = change(m, D)
        y = axpy(G[0], Da, mul(G[1] * Dt, a))  # what T is multiplied by
        ky, z = times(kt, y), times(ct, y)
        # duals of r and of its rate
        Xu, Xa, Xt = times(k, Du), axpy(G[1] * Dt, T, axpy(G[0], ky, mul(G[1] * td, z))), G[1] * dot(Da, T)
        Xt = Xt + G[2] * Dt * dot(T, a) + G[1] * (dot(a, ky) + dot(ad, z)) + G[2] * td * dot(a, z)
        Yu, Ya, Yt = times(c, Du), mul(G[0], z), G[1] * dot(a, z)
        Fa, Ft = mul(G[0], T), G[1] * dot(T, a)
        leave_f(mk, e, partners(N, Fa, Ft, m))
        leave_X(dual, e, partners(Xu, Xa, Xt, m))
        leave_X(dual, e, partners(Yu, Ya, Yt, md))
        leave_X(dual, e, partners(N, Fa, Ft, D))
        leave_X1(dual, e, partners(Yu, Ya, Yt, m))
        du, do = sub(u, vec_at(s, e["n"])), sub(o, vec_at(s, e["nt"]))
        for j in range(3):
            gain4(psi, e["k"] + j, du[j] * Du[j])
            gain4(psi, e["c"] + j, ud[j] * Du[j])
            gain4(psi, e["n"] + j, -k[j] * Du[j])
            gain4(psi, e["kt"] + j, do[j] * y[j])
            gain4(psi, e["ct"] + j, od[j] * y[j])
            gain4(psi, e["nt"] + j, -kt[j] * y[j])
