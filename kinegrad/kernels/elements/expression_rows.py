"""Constraint and freedom rows given by expressions: Phi(u, t), or Phid(u, ud, t) linear in ud, of scalars u (LAW-3, LAW-9).

With y = Phid_ud, which is Phi_u for a row of positions, tape 0 gives Phi, Phi_t, y; 1 gives Phidd; 2 gives y, Phid_u, Phidd_u,
Phidd_ud, y_u, Phi_s, Phid_s, Phidd_s, y_s.  The chain to coordinates uses Phidd_udd = y.  A row of velocities has no Phi.
"""

from kinegrad.kernels.elements.callbacks import ABOUT, SECOND, THIRD, external
from kinegrad.kernels.elements.laws import gather, load_registers, run, slot_number
from kinegrad.kernels.elements.layout import ELEMENTS, N_LAWS
from kinegrad.kernels.elements.rows import component_row
from kinegrad.kernels.elements.stages import BIAS, LINEAR_FORCES, LINEAR_ROWS, PULL, ROWS, Kind
from kinegrad.kernels.jit import cfunction, inlined, kernel
from kinegrad.kernels.linalg import get4
from kinegrad.kernels.pattern import COLUMNS, add, place
from kinegrad.kernels.products import BLOCK, FREEDOMS, TIME
from kinegrad.kernels.vec4 import gain4

J_, Na_q_, Nv_q_, Phi_, Phi_t_, Phi_q_, Phid_q_, Phidd_q_, R_q_, U_, Ud_, Udd_, c_, code_ = ELEMENTS.viewers(
    *"J Na_q Nv_q Phi Phi_t Phi_q Phid_q Phidd_q R_q U Ud Udd c code".split()
)
Na_s_, Nv_s_, Phi_s_, Phid_s_, Phidd_s_, Phids_q_, Phids_s_, R_s_, square_, wide_ = ELEMENTS.viewers(
    *"Na_s Nv_s Phi_s Phid_s Phidd_s Phids_q Phids_s R_s square wide".split()
)
col_, const_, count_, ds_, flag_, idx_, ins_, lam_, mk_, dual_, outs_, par_, pos_, psi4_ = ELEMENTS.viewers(
    *"col const count ds flag idx ins lam mk dual outs par pos psi4".split()
)
reg_, row_law_, s_, sa_, sc_, slots_, sv_, ya4_, yp4_, ys4_, yv4_, Phidd_v_ = ELEMENTS.viewers(
    *"reg row_law s sa sc slots sv ya4 yp4 ys4 yv4 Phidd_v".split()
)

KIND = Kind({"row_law": ()}, count=N_LAWS, scalars=True, works=True)


@KIND.at(ROWS)
@cfunction(what="the simulation kernels")
def row_values(ctx):
    """Phi, Phi_t, Phi_q of expression rows first to last - 1."""
    sc, mk, col, laws = sc_(ctx), mk_(ctx), col_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    t, reg, Phi, Phi_t, P, J = par_(ctx)[TIME], reg_(ctx), Phi_(ctx), Phi_t_(ctx), wide_(ctx), J_(ctx)
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        k = external(ctx, e, k, ABOUT)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        r = e["row"]
        Phi[r] = reg[outs[e["o0"]]]
        Phi_t[r] = reg[outs[e["o0"] + 1]]
        for h in range(e["in1"] - e["in0"]):
            m = sc[ins[e["in0"] + h]]
            y = reg[outs[e["o0"] + 2 + h]]
            if m["marker"] < 0:
                J[place(P, r, m["k"])] += y
            else:
                component_row(col, mk[m["marker"]], y, m["comp"], r, P, J)


@KIND.at(BIAS)
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
        k = external(ctx, e, k, SECOND)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
        out[e["row"]] = reg[outs[e["o1"]]]


@KIND.at(LINEAR_FORCES)
@cfunction(what="the sensitivity kernels")
def step_rows(ctx):
    """Phids_z of the rows of velocities: Phid at the velocities of the step."""
    sc, mk, col, laws = sc_(ctx), mk_(ctx), col_(ctx), row_law_(ctx)
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    ds, t, reg, pos, idx, U, Ud, Udd = (
        ds_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx), idx_(ctx), U_(ctx), Ud_(ctx), Udd_(ctx)
    )  # fmt: skip
    Phids_s, Phids = Phids_s_(ctx), (wide_(ctx), Phids_q_(ctx), Phids_s_(ctx))
    for i in range(count_(ctx)[N_LAWS]):
        e = laws[i]
        if e["level"] == 0:
            continue
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        k = external(ctx, e, k, THIRD - e["level"])
        run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg, s)
        w = gather(e, sc, mk, col, ins, True, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        n_sl = e["sl1"] - e["sl0"]
        r = e["row"]
        ou = e["o2"]
        os = ou + (4 + n_in) * n_in
        for b in range(w):
            x = 0.0 * s[0]
            for h in range(n_in):
                x += reg[outs[ou + n_in + h]] * U[h, b] + reg[outs[ou + h]] * Ud[h, b]
            add(Phids, r, idx[b], x)
        for p in range(ds.shape[0]):
            for h in range(n_sl):
                Phids_s[r, p] += ds[p, slot_number(slots, e["sl0"] + h, outs, ou, reg)] * reg[outs[os + n_sl + h]]


@KIND.at(LINEAR_ROWS)
@cfunction(what="the sensitivity kernels")
def rows_linear(ctx):
    """The part of `rows.linear` for expression rows (LAW-3)."""
    sc, mk, col, laws = sc_(ctx), mk_(ctx), col_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    ds, t, reg, pos, idx, U, Ud = ds_(ctx), par_(ctx)[TIME], reg_(ctx), pos_(ctx), idx_(ctx), U_(ctx), Ud_(ctx)
    Udd, lam, sv, sa, S, P = Udd_(ctx), lam_(ctx), sv_(ctx), sa_(ctx), square_(ctx), wide_(ctx)
    Phi, Phid, Phidd = (P, Phi_q_(ctx), Phi_s_(ctx)), (P, Phid_q_(ctx), Phid_s_(ctx)), (P, Phidd_q_(ctx), Phidd_s_(ctx))
    R, Nv, Na = (S, R_q_(ctx), R_s_(ctx)), (S, Nv_q_(ctx), Nv_s_(ctx)), (S, Na_q_(ctx), Na_s_(ctx))
    J, Phidd_v, n = J_(ctx), Phidd_v_(ctx), S[COLUMNS]
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        k = external(ctx, e, k, THIRD - e["level"])
        run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg, s)
        w = gather(e, sc, mk, col, ins, True, pos, idx, U, Ud, Udd)
        n_in = e["in1"] - e["in0"]
        n_sl = e["sl1"] - e["sl0"]
        r = e["row"]
        ou = e["o2"]
        od = ou + n_in
        odd = od + n_in
        ov = odd + n_in
        ouu = ov + n_in
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
                xdd += reg[outs[odd + h]] * U[h, b] + reg[outs[ov + h]] * Ud[h, b] + y * Udd[h, b]
            if e["level"] == 0:
                add(Phi, r, idx[b], x)
            elif idx[b] < n:
                J[place(P, r, idx[b])] += x
                x = 0.0 * s[0]
                for h in range(n_in):
                    x += reg[outs[ov + h]] * U[h, b] + 2.0 * reg[outs[ou + h]] * Ud[h, b]
                Phidd_v[place(P, r, idx[b])] += x
            add(Phid, r, idx[b], xd)
            add(Phidd, r, idx[b], xdd)
            for a in range(w):
                if idx[a] < n:
                    y = 0.0 * s[0]
                    for g in range(n_in):
                        for h in range(n_in):
                            y += U[g, a] * reg[outs[ouu + g * n_in + h]] * U[h, b]
                    add(R, idx[a], idx[b], l * y)
                    add(Nv, idx[a], idx[b], v * y)
                    add(Na, idx[a], idx[b], a_ * y)
        for p in range(ds.shape[0]):
            for h in range(n_sl):
                d = ds[p, slot_number(slots, e["sl0"] + h, outs, ou, reg)]
                if d != 0.0:
                    add(Phi, r, n + p, d * reg[outs[os + h]])
                    add(Phid, r, n + p, d * reg[outs[os + n_sl + h]])
                    add(Phidd, r, n + p, d * reg[outs[os + 2 * n_sl + h]])
                    for a in range(w):
                        if idx[a] < n:
                            y = 0.0 * s[0]
                            for g in range(n_in):
                                y += U[g, a] * reg[outs[ous + g * n_sl + h]]
                            add(R, idx[a], n + p, l * d * y)
                            add(Nv, idx[a], n + p, v * d * y)
                            add(Na, idx[a], n + p, a_ * d * y)


@inlined
def along(m, l, v, a):
    """What a scalar changes by along mu, eta_v, eta_a, each times its multiplier."""
    return l * get4(m["dm"], 0) + v * get4(m["dv"], 0) + a * get4(m["da"], 0)


@kernel
def step_pull(e, ctx, weight):
    """Duals of weight Phids of a row of velocities on the markers, and own slots."""
    sc, dual, ins, slots, outs, s, reg = sc_(ctx), dual_(ctx), ins_(ctx), slots_(ctx), outs_(ctx), s_(ctx), reg_(ctx)
    psi = psi4_(ctx)[flag_(ctx)[BLOCK]]
    k = load_registers(e, sc, ins, slots, s, par_(ctx)[TIME], 0.0 * s[0], True, reg)
    k = external(ctx, e, k, THIRD - e["level"])
    run(code_(ctx), const_(ctx), e["c2"], e["e2"], e["q2"], e["r2"], k, reg, s)
    n_in = e["in1"] - e["in0"]
    n_sl = e["sl1"] - e["sl0"]
    ou = e["o2"]
    os = ou + (4 + n_in) * n_in
    for h in range(n_in):
        m = sc[ins[e["in0"] + h]]
        if m["marker"] >= 0:
            A = dual[m["marker"]]
            gain4(A["X"], m["comp"], reg[outs[ou + n_in + h]] * weight)
            gain4(A["X1"], m["comp"], reg[outs[ou + h]] * weight)
    for g in range(n_sl):
        gain4(psi, slot_number(slots, e["sl0"] + g, outs, ou, reg), reg[outs[os + n_sl + g]] * weight)


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def rows_pull(ctx):
    """The part of `rows.pull` for expression rows (LAW-3)."""
    sc, mk, dual, laws = sc_(ctx), mk_(ctx), dual_(ctx), row_law_(ctx)
    first = 0
    last = laws.shape[0] if flag_(ctx)[FREEDOMS] else count_(ctx)[N_LAWS]
    ins, slots, code, const, outs, s = ins_(ctx), slots_(ctx), code_(ctx), const_(ctx), outs_(ctx), s_(ctx)
    t, reg, lam, sv, sa, yp, yv = par_(ctx)[TIME], reg_(ctx), lam_(ctx), sv_(ctx), sa_(ctx), yp4_(ctx), yv4_(ctx)
    ya = ya4_(ctx)
    psi = psi4_(ctx)[flag_(ctx)[BLOCK]]
    for i in range(first, last):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, 0.0 * s[0], False, reg)
        k = external(ctx, e, k, THIRD - e["level"])
        run(code, const, e["c2"], e["e2"], e["q2"], e["r2"], k, reg, s)
        n_in = e["in1"] - e["in0"]
        n_sl = e["sl1"] - e["sl0"]
        r = e["row"]
        ou = e["o2"]
        od = ou + n_in
        odd = od + n_in
        ov = odd + n_in
        ouu = ov + n_in
        os = ouu + n_in * n_in
        ous = os + 3 * n_sl
        l, v, a, p, pv, pa = lam[r], sv[r], sa[r], get4(yp, r), get4(yv, r), get4(ya, r)
        if e["level"] == 1:
            p = 0.0 * p
        for h in range(n_in):
            y = reg[outs[ou + h]]
            X = y * p + reg[outs[od + h]] * pv + reg[outs[odd + h]] * pa
            for g in range(n_in):
                X = X + reg[outs[ouu + g * n_in + h]] * along(sc[ins[e["in0"] + g]], l, v, a)
            m = sc[ins[e["in0"] + h]]
            if m["marker"] >= 0:
                A = mk[m["marker"]]
                c = m["comp"]
                D = dual[m["marker"]]
                gain4(D["X"], c, X)
                gain4(D["Y1"], c, y * pv + reg[outs[ov + h]] * pa)
                gain4(D["Y2"], c, y * pa)
                A["f"][c] += l * y
                A["fv"][c] += v * y
                A["fa"][c] += a * y
            for g in range(n_sl):
                z = reg[outs[ous + h * n_sl + g]] * along(m, l, v, a)
                gain4(psi, slot_number(slots, e["sl0"] + g, outs, ou, reg), z)
        for g in range(n_sl):
            z = reg[outs[os + g]] * p + reg[outs[os + n_sl + g]] * pv + reg[outs[os + 2 * n_sl + g]] * pa
            gain4(psi, slot_number(slots, e["sl0"] + g, outs, ou, reg), z)
        if e["level"] == 1:
            step_pull(e, ctx, get4(ys4_(ctx), r))
