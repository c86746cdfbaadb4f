"""Spring-damper between two points: tension k (l - l0) + c ld along the line between them (SPR-1 to SPR-3)."""

import numpy as np

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import ENERGY, FORCES, LINEAR_FORCES, PULL, STIFFNESS, Kind
from kinegrad.kernels.jit import cfunction, kernel, real, sqrt
from kinegrad.kernels.pattern import COLUMNS, add, place
from kinegrad.kernels.products import BLOCK, LENGTH, STATUS, WC, WK
from kinegrad.kernels.status import OK, ZERO_LENGTH
from kinegrad.kernels.vec3 import axpy, dot, inc, mul, sub, vec
from kinegrad.kernels.vec4 import gain4, inc4, vec4

(mk_, dual_, col_, spring_, s_, ds_, R_q_, R_s_, C_, K_, square_, psi4_, flag_, par_, idx_, val_, energy_, size_) = (
    ELEMENTS.viewers(*"mk dual col spring s ds R_q R_s C K square psi4 flag par idx val energy size".split())
)

COINCIDE = 1e-12  # of the length of the model: points that are nearer to each other are in one place

KIND = Kind({"spring": ("i", "j")}, works=lambda arrays: np.any(arrays["s"][arrays["spring"]["c"]] != 0.0))


@KIND.failing(
    ZERO_LENGTH,
    "of a natural length above zero, reached length zero and lost its direction",
    "move its markers apart or set natural_length to 0",
)
def shortest(arrays):
    """The spring that is shortest."""
    x, spring = arrays["mk"]["x"].real, arrays["spring"]
    return int(np.argmin(np.linalg.norm(x[spring["i"]] - x[spring["j"]], axis=1)))


@kernel
def state(d, dd, e, s, near):
    """Unit vector u, length l, rate ld, force F = N u, N/l and c (du/dt) for the difference d of the points and its rate dd.

    Where the points coincide, d has no direction: u is that of the motion, and with natural length 0 F = k d + c dd (SPR-3).
    """
    l = sqrt(dot(d, d))
    k = s[e["k"]]
    c = s[e["c"]]
    if not real(l) > near:
        ld = sqrt(dot(dd, dd))
        u = mul(1.0 / ld, dd) if real(ld) > 0.0 else dd
        F = axpy(k, d, axpy(c, dd, mul(-k * s[e["l0"]], u)))
        return u, l, ld, F, k + 0.0 * l, mul(0.0, d)
    u = mul(1.0 / l, d)
    ld = dot(u, dd)
    N = k * (l - s[e["l0"]]) + c * ld
    return u, l, ld, mul(N, u), N / l, mul(c / l, axpy(-ld, u, dd))


@KIND.at(FORCES)
@cfunction(what="the simulation kernels")
def forces(ctx):
    """Covectors f of the markers (f = -Q); ZERO_LENGTH where a spring has lost its direction."""
    mk, spring, s, flag, near = mk_(ctx), spring_(ctx), s_(ctx), flag_(ctx), COINCIDE * real(size_(ctx)[LENGTH])
    for r in range(spring.shape[0]):
        e = spring[r]
        A = mk[e["i"]]
        B = mk[e["j"]]
        d = sub(vec(A["x"]), vec(B["x"]))
        dd = sub(vec(A["xd"]), vec(B["xd"]))
        u, l, ld, F, t, w = state(d, dd, e, s, near)
        if not real(l) > near and real(s[e["l0"]]) != 0.0:
            if flag[STATUS] == OK:
                flag[STATUS] = ZERO_LENGTH
            return
        inc(A["f"], F)
        inc(B["f"], mul(-1.0, F))


@KIND.at(STIFFNESS)
@cfunction(what="the simulation kernels")
def stiffness(ctx):
    """Add the main part of wk K + wc C, (wk k + wc c) row rowᵀ with row = u·(x_q - y_q), to the lower triangle."""
    mk, col, spring, s, K, idx, val = mk_(ctx), col_(ctx), spring_(ctx), s_(ctx), K_(ctx), idx_(ctx), val_(ctx)
    P, wk, wc, near = square_(ctx), par_(ctx)[WK], par_(ctx)[WC], COINCIDE * real(size_(ctx)[LENGTH])
    for r in range(spring.shape[0]):
        e = spring[r]
        A = mk[e["i"]]
        B = mk[e["j"]]
        d = sub(vec(A["x"]), vec(B["x"]))
        l = sqrt(dot(d, d))
        if not real(l) > near:
            d = sub(vec(A["xd"]), vec(B["xd"]))
            l = sqrt(dot(d, d))
        u = mul(1.0 / l, d) if real(l) > 0.0 else d
        w = 0
        for c in range(A["c0"], A["c1"]):
            idx[w] = col[c]["k"]
            val[w] = dot(u, vec(col[c]["xq"]))
            w += 1
        for c in range(B["c0"], B["c1"]):
            idx[w] = col[c]["k"]
            val[w] = -dot(u, vec(col[c]["xq"]))
            w += 1
        t = wk * s[e["k"]] + wc * s[e["c"]]
        for a in range(w):
            for b in range(w):
                if idx[b] <= idx[a]:
                    K[place(P, idx[a], idx[b])] += t * val[a] * val[b]


@KIND.at(LINEAR_FORCES)
@cfunction(what="the sensitivity kernels")
def linear(ctx):
    """R_z += x_qᵀ(F_x x_q + F_xd xd_q) and columns of directions, C += x_qᵀ F_xd x_q, covectors f of markers (SPR-2)."""
    mk, col, spring, s, ds, S, C = mk_(ctx), col_(ctx), spring_(ctx), s_(ctx), ds_(ctx), square_(ctx), C_(ctx)
    R, R_s, n, near = (S, R_q_(ctx), R_s_(ctx)), R_s_(ctx), S[COLUMNS], COINCIDE * real(size_(ctx)[LENGTH])
    for r in range(spring.shape[0]):
        e = spring[r]
        A = mk[e["i"]]
        B = mk[e["j"]]
        dd = sub(vec(A["xd"]), vec(B["xd"]))
        u, l, ld, F, t, w = state(sub(vec(A["x"]), vec(B["x"])), dd, e, s, near)
        k = s[e["k"]]
        c = s[e["c"]]
        inc(A["f"], F)
        inc(B["f"], mul(-1.0, F))
        for si in range(2):
            P = A if si == 0 else B
            gi = 1.0 if si == 0 else -1.0
            for p in range(P["c0"], P["c1"]):
                i = col[p]["k"]
                xa = vec(col[p]["xq"])
                z = gi * dot(u, xa)
                L = axpy((k - t) * z, u, axpy(z, w, mul(gi * t, xa)))  # gi F_xᵀ xa
                L1 = mul(c * z, u) if real(l) > near else mul(gi * c, xa)  # gi F_xdᵀ xa
                for sj in range(2):
                    Q = A if sj == 0 else B
                    gj = 1.0 if sj == 0 else -1.0
                    for q in range(Q["c0"], Q["c2"]):
                        j = col[q]["k"]
                        x = vec(col[q]["xq"])
                        add(R, i, j, gj * (dot(L, x) + dot(L1, vec(col[q]["xdq"]))))
                        if j < n:
                            C[place(S, i, j)] += gj * dot(L1, x)
                for q in range(ds.shape[0]):
                    R_s[i, q] += z * ((l - s[e["l0"]]) * ds[q, e["k"]] + ld * ds[q, e["c"]] - k * ds[q, e["l0"]])


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def pull(ctx):
    """mu·R_s: own slots; duals of x (X) and xds (X1), and covectors f on the markers."""
    mk, dual, spring, s, psi = mk_(ctx), dual_(ctx), spring_(ctx), s_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    near = COINCIDE * real(size_(ctx)[LENGTH])
    for r in range(spring.shape[0]):
        e = spring[r]
        A = mk[e["i"]]
        B = mk[e["j"]]
        P = dual[e["i"]]
        Q = dual[e["j"]]
        dd = sub(vec(A["xds"]), vec(B["xds"]))
        u, l, ld, F, t, w = state(sub(vec(A["x"]), vec(B["x"])), dd, e, s, near)
        k = s[e["k"]]
        c = s[e["c"]]
        D = sub(vec4(P["dm"]), vec4(Q["dm"]))
        z = dot(u, D)
        gain4(psi, e["k"], (l - s[e["l0"]]) * z)
        gain4(psi, e["c"], ld * z)
        gain4(psi, e["l0"], -k * z)
        L = axpy((k - t) * z, u, axpy(z, w, mul(t, D)))
        inc4(P["X"], L)
        inc4(Q["X"], mul(-1.0, L))
        L = mul(c * z, u) if real(l) > near else mul(c, D)
        inc4(P["X1"], L)
        inc4(Q["X1"], mul(-1.0, L))
        inc(A["f"], F)
        inc(B["f"], mul(-1.0, F))


@KIND.at(ENERGY)
@cfunction(what="the simulation kernels")
def energy(ctx):
    """Energy stored, and power of the dampers (negative)."""
    mk, spring, s = mk_(ctx), spring_(ctx), s_(ctx)
    near, stored = COINCIDE * real(size_(ctx)[LENGTH]), 0.0 * s[0]
    power = 0.0 * s[0]
    for r in range(spring.shape[0]):
        e = spring[r]
        A = mk[e["i"]]
        B = mk[e["j"]]
        u, l, ld, F, t, w = state(sub(vec(A["x"]), vec(B["x"])), sub(vec(A["xd"]), vec(B["xd"])), e, s, near)
        x = l - s[e["l0"]]
        stored += 0.5 * s[e["k"]] * x * x
        power -= s[e["c"]] * ld * ld
    energy_(ctx)[1] += stored
    energy_(ctx)[2] += power
