"""Forces given by expressions, and what all expression elements share: registers, columns, splines (LAW-1, LAW-2).

Registers of every tape: u, ud, udd of the inputs, t, the spline value w, the slots but those of tables, constants, results.
A force has two tapes: 0 gives F; 1 gives F, F_u, F_ud, F_w, F_s, where F are covectors (-Q) on its target inputs.  One that
stores energy has tape 2: that energy, and the power of what it does besides.  The numbers of those slots that tables give
(LAW-12) are the last outputs of a tape with derivatives, since they depend on the arguments.
"""

from kinegrad.kernels.elements.callbacks import ABOUT, EXACTLY, VALUES, external
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import ENERGY, FORCES, LINEAR_FORCES, PULL, STIFFNESS, Kind
from kinegrad.kernels.jit import cfunction, kernel, real
from kinegrad.kernels.linalg import get4, put4
from kinegrad.kernels.pattern import COLUMNS, add, place
from kinegrad.kernels.products import BLOCK, TIME, WC, WK
from kinegrad.kernels.tape import run_tape_at
from kinegrad.kernels.vec4 import gain4

C_, K_, R_q_, R_s_, square_, U_, Ud_, Udd_, code_, col_, const_, ds_ = ELEMENTS.viewers(
    *"C K R_q R_s square U Ud Udd code col const ds".split()
)
energy_, f_, flag_, idx_, ins_, law_, mk_, outs_, par_, pos_ = ELEMENTS.viewers(
    *"energy f flag idx ins law mk outs par pos".split()
)
psi4_, dual_, reg_, s_, sc_, slots_, spline_, targets_, times_ = ELEMENTS.viewers(
    *"psi4 dual reg s sc slots spline targets times".split()
)

KIND = Kind({"law": (), "spline": ()}, scalars=True, works=True)


@kernel
def scalar_values(sc, mk, q, v, a):
    """u, ud, udd of every scalar."""
    for i in range(sc.shape[0]):
        m = sc[i]
        if m["marker"] < 0:
            k = m["k"]
            m["u"] = q[k]
            m["ud"] = v[k]
            m["udd"] = a[k]
        else:
            A = mk[m["marker"]]
            c = m["comp"]
            m["u"] = A["x"][c]
            m["ud"] = A["xd"][c]
            m["udd"] = A["xdd"][c]


@kernel
def scalar_motions(sc, dual, mu, eta_v, eta_a):
    """dm, dv, da of every scalar, once the markers have theirs."""
    for i in range(sc.shape[0]):
        e = sc[i]
        if e["marker"] < 0:
            put4(e["dm"], 0, get4(mu, e["k"]))
            put4(e["dv"], 0, get4(eta_v, e["k"]))
            put4(e["da"], 0, get4(eta_a, e["k"]))
        else:
            m = dual[e["marker"]]
            put4(e["dm"], 0, get4(m["dm"], e["comp"]))
            put4(e["dv"], 0, get4(m["dv"], e["comp"]))
            put4(e["da"], 0, get4(m["da"], e["comp"]))


@kernel
def interval(times, spline, t):
    """First coefficient slot and local time of the spline at time t; the end pieces continue outside."""
    lo = spline["t0"]
    hi = spline["t1"] - 2
    while lo < hi:
        mid = (lo + hi + 1) // 2
        if real(t) >= times[mid]:
            lo = mid
        else:
            hi = mid - 1
    return spline["slot"] + 4 * (lo - spline["t0"]), t - times[lo]


@kernel
def spline_value(times, splines, w, s, t):
    """The cubic of the interval at time t."""
    if w < 0:
        return 0.0 * s[0]
    c, x = interval(times, splines[w], t)
    return s[c] + x * (s[c + 1] + x * (s[c + 2] + x * s[c + 3]))


@kernel
def load_registers(law, sc, ins, slots, s, t, w, star, reg):
    """Inputs, time, spline value and slots of an element; returns the place of the constants."""
    n = law["in1"] - law["in0"]
    for i in range(n):
        m = sc[ins[law["in0"] + i]]
        reg[i] = m["u"]
        reg[n + i] = m["uds"] if star else m["ud"]
        reg[2 * n + i] = m["udd"]
    k = 3 * n
    reg[k] = t
    reg[k + 1] = w
    k += 2
    for i in range(law["sl0"], law["sl1"]):
        if slots[i] >= 0:
            reg[k] = s[slots[i]]
            k += 1
    return k


@kernel
def run(code, const, c, e, q, r, k, reg, s):
    """One tape on loaded registers."""
    for i in range(q, r):
        reg[k + i - q] = const[i]
    run_tape_at(code, c, e - c, reg, 0, s)


@kernel
def slot_number(slots, i, outs, o, reg):
    """Entry i of the slots of an element: a slot, or minus one and the output after o that tells it, of a table (LAW-12)."""
    k = slots[i]
    return k if k >= 0 else max(0, int(real(reg[outs[o - 1 - k]])))


@KIND.at(FORCES)
@cfunction(what="the simulation kernels")
def forces(ctx):
    """Add the forces: covectors of markers, generalised forces f of coordinates."""
    sc, mk, laws, ins, slots, targets = sc_(ctx), mk_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx)
    code, const, outs, times, splines = code_(ctx), const_(ctx), outs_(ctx), times_(ctx), spline_(ctx)
    s, t, reg, f = s_(ctx), par_(ctx)[TIME], reg_(ctx), f_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        k = external(ctx, e, k, VALUES)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        for j in range(e["t0"], e["t1"]):
            m = sc[ins[e["in0"] + targets[j]]]
            F = reg[outs[e["o0"] + j - e["t0"]]]
            if m["marker"] < 0:
                f[m["k"]] += F
            else:
                mk[m["marker"]]["f"][m["comp"]] += F


@KIND.at(ENERGY)
@cfunction(what="the simulation kernels")
def power(ctx):
    """Power of the forces; of those that store energy (LAW-8) that energy, and the power of the rest."""
    sc, laws, ins, slots, targets, code = sc_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx), code_(ctx)
    const, outs, times, splines, s = const_(ctx), outs_(ctx), times_(ctx), spline_(ctx), s_(ctx)
    t, reg = par_(ctx)[TIME], reg_(ctx)
    stored, total = 0.0 * s[0], 0.0 * s[0]
    for i in range(laws.shape[0]):
        e = laws[i]
        if e["idle"]:
            continue
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        if e["fn"] < 0 and e["e2"] > e["c2"]:
            run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg, s)
            stored += reg[outs[e["o2"]]]
            total += reg[outs[e["o2"] + 1]]
            continue
        k = external(ctx, e, k, VALUES)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        for j in range(e["t0"], e["t1"]):
            total -= reg[outs[e["o0"] + j - e["t0"]]] * sc[ins[e["in0"] + targets[j]]]["ud"]
    energy_(ctx)[1] += stored
    energy_(ctx)[2] += total


@kernel
def gather(law, sc, mk, col, ins, wide, pos, idx, U, Ud, Udd):
    """Distinct columns (with directions if wide) of the inputs of an element: numbers idx, rows U, Ud, Udd; how many."""
    n = law["in1"] - law["in0"]
    w = 0
    for i in range(n):
        m = sc[ins[law["in0"] + i]]
        first = 0 if m["marker"] < 0 else mk[m["marker"]]["c0"]
        last = 1 if m["lam"] == 0 else 0
        if m["marker"] >= 0:
            last = mk[m["marker"]]["c2"] if wide else mk[m["marker"]]["c1"]
        for c in range(first, last):
            k = m["k"] if m["marker"] < 0 else col[c]["k"]
            if pos[k] < 0:
                pos[k] = w
                idx[w] = k
                for j in range(n):
                    U[j, w] = 0.0
                    Ud[j, w] = 0.0
                    Udd[j, w] = 0.0
                w += 1
            p = pos[k]
            if m["marker"] < 0:
                U[i, p] = 1.0
            else:
                U[i, p] = col[c]["xq"][m["comp"]]
                Ud[i, p] = col[c]["xdq"][m["comp"]]
                Udd[i, p] = col[c]["xddq"][m["comp"]]
    for p in range(w):
        pos[idx[p]] = -1
    return w


@KIND.at(STIFFNESS)
@cfunction(what="the simulation kernels")
def stiffness(ctx):
    """Add the symmetric part of x_qᵀ(wk F_x + wc F_xd) x_q to the lower triangle of K."""
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), law_(ctx), ins_(ctx), slots_(ctx)
    targets, code, const, outs, times = targets_(ctx), code_(ctx), const_(ctx), outs_(ctx), times_(ctx)
    splines, s, t, reg, pos, idx = spline_(ctx), s_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx), idx_(ctx)
    U, Ud, Udd, wk, wc, K = U_(ctx), Ud_(ctx), Udd_(ctx), par_(ctx)[WK], par_(ctx)[WC], K_(ctx)
    P = square_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        k = external(ctx, e, k, ABOUT)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
        w = gather(e, sc, mk, col, ins, False, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        n_t = e["t1"] - e["t0"]
        ou = e["o1"] + n_t
        od = ou + n_t * n_in
        for j in range(n_t):
            target = targets[e["t0"] + j]
            for b in range(w):
                x = 0.0 * s[0]
                for h in range(n_in):
                    x += (wk * reg[outs[ou + j * n_in + h]] + wc * reg[outs[od + j * n_in + h]]) * U[h, b]
                for a in range(w):
                    y = 0.5 * U[target, a] * x
                    K[place(P, max(idx[a], idx[b]), min(idx[a], idx[b]))] += y + y if idx[a] == idx[b] else y


@kernel
def spline_change(times, splines, w, t, ds, p):
    """Change of the spline value under direction p."""
    c, x = interval(times, splines[w], t)
    return ds[p, c] + x * (ds[p, c + 1] + x * (ds[p, c + 2] + x * ds[p, c + 3]))


@KIND.at(LINEAR_FORCES)
@cfunction(what="the sensitivity kernels")
def forces_linear(ctx):
    """Add x_qᵀ(F_x x_q + F_xd xd_q) and columns of directions to K, x_qᵀ F_xd x_q to C; covectors f (LAW-2)."""
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), law_(ctx), ins_(ctx), slots_(ctx)
    targets, code, const, outs, times = targets_(ctx), code_(ctx), const_(ctx), outs_(ctx), times_(ctx)
    splines, s, ds, t, reg, pos = spline_(ctx), s_(ctx), ds_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx)
    idx, U, Ud, Udd, P, C = idx_(ctx), U_(ctx), Ud_(ctx), Udd_(ctx), square_(ctx), C_(ctx)
    R, R_s, n = (P, R_q_(ctx), R_s_(ctx)), R_s_(ctx), P[COLUMNS]
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        k = external(ctx, e, k, EXACTLY)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
        w = gather(e, sc, mk, col, ins, True, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        n_t = e["t1"] - e["t0"]
        n_sl = e["sl1"] - e["sl0"]
        oF = e["o1"]
        ou = oF + n_t
        od = ou + n_t * n_in
        ow = od + n_t * n_in
        os = ow + n_t
        for j in range(n_t):
            target = targets[e["t0"] + j]
            m = sc[ins[e["in0"] + target]]
            if m["marker"] >= 0:
                mk[m["marker"]]["f"][m["comp"]] += reg[outs[oF + j]]
            for b in range(w):
                x = 0.0 * s[0]
                y = 0.0 * s[0]
                for h in range(n_in):
                    Fu = reg[outs[ou + j * n_in + h]]
                    Fd = reg[outs[od + j * n_in + h]]
                    x += Fu * U[h, b] + Fd * Ud[h, b]
                    y += Fd * U[h, b]
                for a in range(w):
                    if idx[a] < n:
                        add(R, idx[a], idx[b], U[target, a] * x)
                        if idx[b] < n:
                            C[place(P, idx[a], idx[b])] += U[target, a] * y
            for p in range(ds.shape[0]):
                x = 0.0 * s[0]
                for h in range(n_sl):
                    x += reg[outs[os + j * n_sl + h]] * ds[p, slot_number(slots, e["sl0"] + h, outs, oF, reg)]
                if e["w"] >= 0:
                    x += reg[outs[ow + j]] * spline_change(times, splines, e["w"], t, ds, p)
                for a in range(w):
                    if idx[a] < n:
                        R_s[idx[a], p] += U[target, a] * x


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def forces_pull(ctx):
    """mu·R_s of the forces: own slots; duals X, X1 and covectors f of the markers."""
    sc, mk, laws, ins, slots, targets = sc_(ctx), mk_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx)
    code, const, outs, times, splines = code_(ctx), const_(ctx), outs_(ctx), times_(ctx), spline_(ctx)
    s, t, reg = s_(ctx), par_(ctx)[TIME], reg_(ctx)
    dual, psi = dual_(ctx), psi4_(ctx)[flag_(ctx)[BLOCK]]
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), True, reg)
        k = external(ctx, e, k, EXACTLY)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
        n_in = e["in1"] - e["in0"]
        n_t = e["t1"] - e["t0"]
        n_sl = e["sl1"] - e["sl0"]
        oF = e["o1"]
        ou = oF + n_t
        od = ou + n_t * n_in
        ow = od + n_t * n_in
        os = ow + n_t
        for j in range(n_t):
            m = sc[ins[e["in0"] + targets[e["t0"] + j]]]
            z = get4(m["dm"], 0)
            if m["marker"] >= 0:
                mk[m["marker"]]["f"][m["comp"]] += reg[outs[oF + j]]
            for h in range(n_in):
                m = sc[ins[e["in0"] + h]]
                if m["marker"] >= 0:
                    gain4(dual[m["marker"]]["X"], m["comp"], reg[outs[ou + j * n_in + h]] * z)
                    gain4(dual[m["marker"]]["X1"], m["comp"], reg[outs[od + j * n_in + h]] * z)
            for h in range(n_sl):
                gain4(psi, slot_number(slots, e["sl0"] + h, outs, oF, reg), reg[outs[os + j * n_sl + h]] * z)
            if e["w"] >= 0:
                c, x = interval(times, splines[e["w"]], t)
                y = reg[outs[ow + j]] * z
                for h in range(4):
                    gain4(psi, c + h, y)
                    y = x * y
