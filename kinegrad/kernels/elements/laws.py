"""Expression elements: forces, rows and objectives given by tapes over scalars, time, splines and slots.

Registers of every tape: u, ud, udd of the inputs, t, the spline value w, the slots, then constants and results.

    force      tape 0: F           tape 1: F, F_u, F_ud, F_w, F_s            F: covectors (-Q) on its target inputs
    row        tape 0: Phi, Phi_t, Phi_u                                     tape 1: Phidd
               tape 2: Phi_u, Phid_u, Phidd_u, Phi_uu, Phi_s, Phid_s, Phidd_s, Phi_us
    objective  tape 0: g           tape 1: g, g_u, g_ud, g_udd, g_s

The chain to coordinates uses Phid_ud = Phi_u, Phidd_ud = 2 Phid_u, Phidd_udd = Phi_u (LAW-1 to LAW-4).
"""

from kinegrad.kernels.elements.layout import (
    ELEMENTS,
    LAW_FORCES,
    LAW_LINEAR,
    LAW_POWER,
    LAW_PULL,
    LAW_STIFFNESS,
    N_LAWS,
    OBJECTIVE_LINEAR,
    OBJECTIVE_PULL,
    OBJECTIVE_VALUES,
    ROW_LAW_BIAS,
    ROW_LAW_LINEAR,
    ROW_LAW_PULL,
    ROW_LAW_VALUES,
    part,
)  # fmt: skip
from kinegrad.kernels.jit import cfunction, kernel, real
from kinegrad.kernels.products import FREEDOMS, OBJECTIVE, TIME, WC, WEIGHT, WK
from kinegrad.kernels.tape import run_tape_at

(par_, flag_, s_, ds_, f_, K_, C_, J_, Phi_, Phi_t_, c_, g_, psi_s_, q_) = ELEMENTS.viewers(
    *"par flag s ds f K C J Phi Phi_t c g psi_s q".split()
)
(R_z_, Nv_z_, Na_z_, Phi_z_, Phid_z_, Phidd_z_, g_z_, g_v_, g_a_, lam_, sv_, sa_, yp_, yv_, ya_, energy_) = (
    ELEMENTS.viewers(*"R_z Nv_z Na_z Phi_z Phid_z Phidd_z g_z g_v g_a lam sv sa yp yv ya energy".split())
)
(sc_, mk_, col_, law_, row_law_, objective_, ins_, slots_, targets_, code_, const_, outs_, times_, spline_) = (
    ELEMENTS.viewers(*"sc mk col law row_law objective ins slots targets code const outs times spline".split())
)
(count_, reg_, pos_, idx_, U_, Ud_, Udd_) = ELEMENTS.viewers(*"count reg pos idx U Ud Udd".split())


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
        reg[k] = s[slots[i]]
        k += 1
    return k


@kernel
def run(code, const, c, e, q, r, k, reg):
    """One tape on loaded registers."""
    for i in range(q, r):
        reg[k + i - q] = const[i]
    run_tape_at(code, c, e - c, reg, 0)


@part(LAW_FORCES)
@cfunction(what="the simulation kernels")
def forces(ctx):
    """Add the forces: covectors of markers, generalised forces f of coordinates."""
    sc, mk, laws, ins, slots, targets = sc_(ctx), mk_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx)
    code, const, outs, times, splines = code_(ctx), const_(ctx), outs_(ctx), times_(ctx), spline_(ctx)
    s, t, reg, f = s_(ctx), par_(ctx)[TIME], reg_(ctx), f_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg)
        for j in range(e["t0"], e["t1"]):
            m = sc[ins[e["in0"] + targets[j]]]
            F = reg[outs[e["o0"] + j - e["t0"]]]
            if m["marker"] < 0:
                f[m["k"]] += F
            else:
                mk[m["marker"]]["f"][m["comp"]] += F


@part(LAW_POWER)
@cfunction(what="the simulation kernels")
def power(ctx):
    """Power of the forces."""
    sc, laws, ins, slots, targets, code = sc_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx), code_(ctx)
    const, outs, times, splines, s = const_(ctx), outs_(ctx), times_(ctx), spline_(ctx), s_(ctx)
    t, reg = par_(ctx)[TIME], reg_(ctx)
    total = 0.0 * s[0]
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg)
        for j in range(e["t0"], e["t1"]):
            total -= reg[outs[e["o0"] + j - e["t0"]]] * sc[ins[e["in0"] + targets[j]]]["ud"]
    energy_(ctx)[2] += total


@kernel
def gather(law, sc, mk, col, ins, wide, pos, idx, U, Ud, Udd):
    """Distinct columns (with directions if wide) of the inputs of an element: numbers idx, rows U, Ud, Udd; how many."""
    n = law["in1"] - law["in0"]
    w = 0
    for i in range(n):
        m = sc[ins[law["in0"] + i]]
        first = 0 if m["marker"] < 0 else mk[m["marker"]]["c0"]
        last = 1
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


@part(LAW_STIFFNESS)
@cfunction(what="the simulation kernels")
def stiffness(ctx):
    """Add the symmetric part of x_qᵀ(wk F_x + wc F_xd) x_q to the lower triangle of K."""
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), law_(ctx), ins_(ctx), slots_(ctx)
    targets, code, const, outs, times = targets_(ctx), code_(ctx), const_(ctx), outs_(ctx), times_(ctx)
    splines, s, t, reg, pos, idx = spline_(ctx), s_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx), idx_(ctx)
    U, Ud, Udd, wk, wc, K = U_(ctx), Ud_(ctx), Udd_(ctx), par_(ctx)[WK], par_(ctx)[WC], K_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
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
                    K[max(idx[a], idx[b]), min(idx[a], idx[b])] += y + y if idx[a] == idx[b] else y


@kernel
def spline_change(times, splines, w, t, ds, p):
    """Change of the spline value under direction p."""
    c, x = interval(times, splines[w], t)
    return ds[p, c] + x * (ds[p, c + 1] + x * (ds[p, c + 2] + x * ds[p, c + 3]))


@part(LAW_LINEAR)
@cfunction(what="the sensitivity kernels")
def forces_linear(ctx):
    """Add x_qᵀ(F_x x_q + F_xd xd_q) and columns of directions to K, x_qᵀ F_xd x_q to C; covectors f (LAW-2)."""
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), law_(ctx), ins_(ctx), slots_(ctx)
    targets, code, const, outs, times = targets_(ctx), code_(ctx), const_(ctx), outs_(ctx), times_(ctx)
    splines, s, ds, t, reg, pos = spline_(ctx), s_(ctx), ds_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx)
    idx, U, Ud, Udd, n, K, C = idx_(ctx), U_(ctx), Ud_(ctx), Udd_(ctx), q_(ctx).shape[0], R_z_(ctx), C_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
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
                        K[idx[a], idx[b]] += U[target, a] * x
                        if idx[b] < n:
                            C[idx[a], idx[b]] += U[target, a] * y
            for p in range(ds.shape[0]):
                x = 0.0 * s[0]
                for h in range(n_sl):
                    x += reg[outs[os + j * n_sl + h]] * ds[p, slots[e["sl0"] + h]]
                if e["w"] >= 0:
                    x += reg[outs[ow + j]] * spline_change(times, splines, e["w"], t, ds, p)
                for a in range(w):
                    if idx[a] < n:
                        K[idx[a], n + p] += U[target, a] * x


@part(LAW_PULL)
@cfunction(what="the adjoint kernels")
def forces_pull(ctx):
    """mu·R_s of the forces: own slots; duals X, X1 and covectors f of the markers."""
    sc, mk, laws, ins, slots, targets = sc_(ctx), mk_(ctx), law_(ctx), ins_(ctx), slots_(ctx), targets_(ctx)
    code, const, outs, times, splines = code_(ctx), const_(ctx), outs_(ctx), times_(ctx), spline_(ctx)
    s, t, reg = s_(ctx), par_(ctx)[TIME], reg_(ctx)
    psi_s = psi_s_(ctx)[flag_(ctx)[OBJECTIVE]]
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), True, reg)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
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
            z = m["dm"]
            if m["marker"] >= 0:
                mk[m["marker"]]["f"][m["comp"]] += reg[outs[oF + j]]
            for h in range(n_in):
                m = sc[ins[e["in0"] + h]]
                if m["marker"] >= 0:
                    mk[m["marker"]]["X"][m["comp"]] += z * reg[outs[ou + j * n_in + h]]
                    mk[m["marker"]]["X1"][m["comp"]] += z * reg[outs[od + j * n_in + h]]
            for h in range(n_sl):
                psi_s[slots[e["sl0"] + h]] += z * reg[outs[os + j * n_sl + h]]
            if e["w"] >= 0:
                c, x = interval(times, splines[e["w"]], t)
                y = z * reg[outs[ow + j]]
                for h in range(4):
                    psi_s[c + h] += y
                    y = y * x


@part(ROW_LAW_VALUES)
@cfunction(what="the simulation kernels")
def row_values(ctx):
    """Phi, Phi_t, Phi_q of expression rows first to last - 1."""
    sc, mk, col, laws = sc_(ctx), mk_(ctx), col_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    t, reg, Phi, Phi_t, J = par_(ctx)[TIME], reg_(ctx), Phi_(ctx), Phi_t_(ctx), J_(ctx)
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg)
        r = e["row"]
        Phi[r] = reg[outs[e["o0"]]]
        Phi_t[r] = reg[outs[e["o0"] + 1]]
        for h in range(e["in1"] - e["in0"]):
            m = sc[ins[e["in0"] + h]]
            y = reg[outs[e["o0"] + 2 + h]]
            if m["marker"] < 0:
                J[r, m["k"]] += y
            else:
                A = mk[m["marker"]]
                for c in range(A["c0"], A["c1"]):
                    J[r, col[c]["k"]] += y * col[c]["xq"][m["comp"]]


@part(ROW_LAW_BIAS)
@cfunction(what="the simulation kernels")
def row_bias(ctx):
    """Phidd of expression rows at the accelerations the scalars have."""
    sc, laws = sc_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    t, reg, out = par_(ctx)[TIME], reg_(ctx), c_(ctx)
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
        out[e["row"]] = reg[outs[e["o1"]]]


@part(ROW_LAW_LINEAR)
@cfunction(what="the sensitivity kernels")
def rows_linear(ctx):
    """The part of `rows.linear` for expression rows (LAW-3)."""
    sc, mk, col, laws = sc_(ctx), mk_(ctx), col_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    ds, t, reg, pos, idx, U, Ud = ds_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx), idx_(ctx), U_(ctx), Ud_(ctx)
    Udd, n, lam, sv, sa, J = Udd_(ctx), q_(ctx).shape[0], lam_(ctx), sv_(ctx), sa_(ctx), Phi_z_(ctx)
    Pd, Pdd, K, Nv, Na = Phid_z_(ctx), Phidd_z_(ctx), R_z_(ctx), Nv_z_(ctx), Na_z_(ctx)
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg)
        w = gather(e, sc, mk, col, ins, True, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        n_sl = e["sl1"] - e["sl0"]
        r = e["row"]
        ou = e["o2"]
        od = ou + n_in
        odd = od + n_in
        ouu = odd + n_in
        os = ouu + n_in * n_in
        ous = os + 3 * n_sl
        l, v, a_ = lam[r], sv[r], sa[r]
        for h in range(n_in):
            m = sc[ins[e["in0"] + h]]
            y = reg[outs[ou + h]]
            if m["marker"] >= 0:
                A = mk[m["marker"]]
                A["f"][m["comp"]] += l * y
                A["fv"][m["comp"]] += v * y
                A["fa"][m["comp"]] += a_ * y
        for b in range(w):
            x = 0.0 * s[0]
            xd = 0.0 * s[0]
            xdd = 0.0 * s[0]
            for h in range(n_in):
                y = reg[outs[ou + h]]
                yd = reg[outs[od + h]]
                x += y * U[h, b]
                xd += yd * U[h, b] + y * Ud[h, b]
                xdd += reg[outs[odd + h]] * U[h, b] + 2.0 * yd * Ud[h, b] + y * Udd[h, b]
            J[r, idx[b]] += x
            Pd[r, idx[b]] += xd
            Pdd[r, idx[b]] += xdd
            for a in range(w):
                if idx[a] < n:
                    y = 0.0 * s[0]
                    for g in range(n_in):
                        for h in range(n_in):
                            y += U[g, a] * reg[outs[ouu + g * n_in + h]] * U[h, b]
                    K[idx[a], idx[b]] += l * y
                    Nv[idx[a], idx[b]] += v * y
                    Na[idx[a], idx[b]] += a_ * y
        for p in range(ds.shape[0]):
            for h in range(n_sl):
                d = ds[p, slots[e["sl0"] + h]]
                if d != 0.0:
                    J[r, n + p] += d * reg[outs[os + h]]
                    Pd[r, n + p] += d * reg[outs[os + n_sl + h]]
                    Pdd[r, n + p] += d * reg[outs[os + 2 * n_sl + h]]
                    for a in range(w):
                        if idx[a] < n:
                            y = 0.0 * s[0]
                            for g in range(n_in):
                                y += U[g, a] * reg[outs[ous + g * n_sl + h]]
                            K[idx[a], n + p] += l * d * y
                            Nv[idx[a], n + p] += v * d * y
                            Na[idx[a], n + p] += a_ * d * y


@part(ROW_LAW_PULL)
@cfunction(what="the adjoint kernels")
def rows_pull(ctx):
    """The part of `rows.pull` for expression rows (LAW-3)."""
    sc, mk, laws = sc_(ctx), mk_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    t, reg, lam, sv, sa, yp, yv = par_(ctx)[TIME], reg_(ctx), lam_(ctx), sv_(ctx), sa_(ctx), yp_(ctx), yv_(ctx)
    ya = ya_(ctx)
    psi_s = psi_s_(ctx)[flag_(ctx)[OBJECTIVE]]
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg)
        n_in = e["in1"] - e["in0"]
        n_sl = e["sl1"] - e["sl0"]
        r = e["row"]
        ou = e["o2"]
        od = ou + n_in
        odd = od + n_in
        ouu = odd + n_in
        os = ouu + n_in * n_in
        ous = os + 3 * n_sl
        l, v, a, p, pv, pa = lam[r], sv[r], sa[r], yp[r], yv[r], ya[r]
        for h in range(n_in):
            y = reg[outs[ou + h]]
            yd = reg[outs[od + h]]
            X = p * y + pv * yd + pa * reg[outs[odd + h]]
            for g in range(n_in):
                m = sc[ins[e["in0"] + g]]
                X += reg[outs[ouu + h * n_in + g]] * (l * m["dm"] + v * m["dv"] + a * m["da"])
            m = sc[ins[e["in0"] + h]]
            if m["marker"] >= 0:
                A = mk[m["marker"]]
                c = m["comp"]
                A["X"][c] += X
                A["Y1"][c] += pv * y + 2.0 * pa * yd
                A["Y2"][c] += pa * y
                A["f"][c] += l * y
                A["fv"][c] += v * y
                A["fa"][c] += a * y
            for g in range(n_sl):
                z = l * m["dm"] + v * m["dv"] + a * m["da"]
                psi_s[slots[e["sl0"] + g]] += z * reg[outs[ous + h * n_sl + g]]
        for g in range(n_sl):
            y = p * reg[outs[os + g]] + pv * reg[outs[os + n_sl + g]] + pa * reg[outs[os + 2 * n_sl + g]]
            psi_s[slots[e["sl0"] + g]] += y


@part(OBJECTIVE_VALUES)
@cfunction(what="the simulation kernels")
def objective_values(ctx):
    """g of every objective."""
    sc, laws, ins, slots, code = sc_(ctx), objective_(ctx), ins_(ctx), slots_(ctx), code_(ctx)
    const, outs, s, t, reg, g = const_(ctx), outs_(ctx), s_(ctx), par_(ctx)[TIME], reg_(ctx), g_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg)
        g[e["row"]] = reg[outs[e["o0"]]]


@part(OBJECTIVE_LINEAR)
@cfunction(what="the sensitivity kernels")
def objectives_linear(ctx):
    """g and its rows by coordinates and directions, velocities, accelerations (LAW-4)."""
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), objective_(ctx), ins_(ctx), slots_(ctx)
    code, const, outs, s, ds, t = code_(ctx), const_(ctx), outs_(ctx), s_(ctx), ds_(ctx), par_(ctx)[TIME]
    reg, pos, idx, U, Ud, Udd = reg_(ctx), pos_(ctx), idx_(ctx), U_(ctx), Ud_(ctx), Udd_(ctx)
    n, g, gz, gv, ga = q_(ctx).shape[0], g_(ctx), g_z_(ctx), g_v_(ctx), g_a_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
        w = gather(e, sc, mk, col, ins, True, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        r = e["row"]
        o = e["o1"]
        g[r] = reg[outs[o]]
        for b in range(w):
            j = idx[b]
            for h in range(n_in):
                y = reg[outs[o + 1 + h]]
                yd = reg[outs[o + 1 + n_in + h]]
                ydd = reg[outs[o + 1 + 2 * n_in + h]]
                gz[r, j] += y * U[h, b] + yd * Ud[h, b] + ydd * Udd[h, b]
                if j < n:
                    gv[r, j] += yd * U[h, b] + 2.0 * ydd * Ud[h, b]
                    ga[r, j] += ydd * U[h, b]
        for p in range(ds.shape[0]):
            for h in range(e["sl1"] - e["sl0"]):
                gz[r, n + p] += reg[outs[o + 1 + 3 * n_in + h]] * ds[p, slots[e["sl0"] + h]]


@part(OBJECTIVE_PULL)
@cfunction(what="the adjoint kernels")
def objective_pull(ctx):
    """Duals of weight times objective i on the markers, and own slots."""
    sc, mk, laws, i, ins = sc_(ctx), mk_(ctx), objective_(ctx), flag_(ctx)[OBJECTIVE], ins_(ctx)
    slots, code, const, outs, s, t = slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx), par_(ctx)[TIME]
    reg, weight = reg_(ctx), par_(ctx)[WEIGHT]
    psi_s = psi_s_(ctx)[flag_(ctx)[OBJECTIVE]]
    e = laws[i]
    k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
    run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg)
    n_in = e["in1"] - e["in0"]
    o = e["o1"]
    for h in range(n_in):
        m = sc[ins[e["in0"] + h]]
        if m["marker"] >= 0:
            A = mk[m["marker"]]
            c = m["comp"]
            A["X"][c] += weight * reg[outs[o + 1 + h]]
            A["Y1"][c] += weight * reg[outs[o + 1 + n_in + h]]
            A["Y2"][c] += weight * reg[outs[o + 1 + 2 * n_in + h]]
    for h in range(e["sl1"] - e["sl0"]):
        psi_s[slots[e["sl0"] + h]] += weight * reg[outs[o + 1 + 3 * n_in + h]]
