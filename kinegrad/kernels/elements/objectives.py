"""Objectives given by expressions: g(u, ud, udd, w, t) of scalars u and the value w of a spline (LAW-4).

A scalar may be the multiplier of a row (OBJ-3).

Tapes: 0 gives g; 1 gives g, g_u, g_ud, g_udd, g_w, g_s.
"""

from kinegrad.kernels.elements.callbacks import EXACTLY, VALUES, external
from kinegrad.kernels.elements.laws import (
    interval,
    load_registers,
    run,
    slot_number,
    spline_change,
    spline_value,
)
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import LINEAR_OBJECTIVES, OBJECTIVES, PULL, Kind
from kinegrad.kernels.jit import cfunction, inlined, kernel
from kinegrad.kernels.products import BLOCK, END_COLUMN, FIRST_COLUMN, TIME

code_, col_, const_, ds_, flag_, g_, g_a_, g_q_, g_s_, g_v_, ins_ = ELEMENTS.viewers(
    *"code col const ds flag g g_a g_q g_s g_v ins".split()
)
lam_, g_lam_, multipliers_ = ELEMENTS.viewers("lam", "g_lam", "multipliers")
mk_, objective_, outs_, par_, q_, reg_, s_, sc_, slots_, spline_, times_ = ELEMENTS.viewers(
    *"mk objective outs par q reg s sc slots spline times".split()
)
dual_, psi4_, weight4_ = ELEMENTS.viewers("dual", "psi4", "weight4")

KIND = Kind({"objective": ()}, scalars=True)


@inlined
def take_multipliers(ctx):
    """Values of the scalars that are multipliers."""
    numbers, sc, lam = multipliers_(ctx), sc_(ctx), lam_(ctx)
    for i in range(numbers.shape[0]):
        sc[numbers[i]]["u"] = lam[sc[numbers[i]]["lam"] - 1]


@KIND.at(OBJECTIVES)
@cfunction(what="the simulation kernels")
def objective_values(ctx):
    """g of every objective."""
    take_multipliers(ctx)
    sc, laws, ins, slots, code = sc_(ctx), objective_(ctx), ins_(ctx), slots_(ctx), code_(ctx)
    const, outs, s, t, reg, g = const_(ctx), outs_(ctx), s_(ctx), par_(ctx)[TIME], reg_(ctx), g_(ctx)
    times, splines = times_(ctx), spline_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        k = external(ctx, e, k, VALUES)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        g[e["row"]] = reg[outs[e["o0"]]]


@KIND.at(LINEAR_OBJECTIVES)
@cfunction(what="the sensitivity kernels")
def objectives_linear(ctx):
    """g and its rows by coordinates and directions, velocities, accelerations, multipliers (LAW-4)."""
    take_multipliers(ctx)
    sc, mk, col, laws, ins, slots = sc_(ctx), mk_(ctx), col_(ctx), objective_(ctx), ins_(ctx), slots_(ctx)
    code, const, outs, s, ds, t = code_(ctx), const_(ctx), outs_(ctx), s_(ctx), ds_(ctx), par_(ctx)[TIME]
    reg, times, splines = reg_(ctx), times_(ctx), spline_(ctx)
    n, g, gq, gs, gv, ga = q_(ctx).shape[0], g_(ctx), g_q_(ctx), g_s_(ctx), g_v_(ctx), g_a_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
        k = external(ctx, e, k, EXACTLY)
        run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
        n_in = e["in1"] - e["in0"]
        r = e["row"]
        o = e["o1"]
        g[r] = reg[outs[o]]
        for h in range(n_in):
            y = reg[outs[o + 1 + h]]
            yd = reg[outs[o + 1 + n_in + h]]
            ydd = reg[outs[o + 1 + 2 * n_in + h]]
            m = sc[ins[e["in0"] + h]]
            if m["lam"] > 0:
                g_lam_(ctx)[r, m["lam"] - 1] += y
            elif m["marker"] < 0:
                gq[r, m["k"]] += y
                gv[r, m["k"]] += yd
                ga[r, m["k"]] += ydd
            elif y != 0.0 or yd != 0.0 or ydd != 0.0:
                A, j = mk[m["marker"]], m["comp"]
                for c in range(A["c0"], A["c1"]):
                    N = col[c]
                    k, x, xd = N["k"], N["xq"][j], N["xdq"][j]
                    gq[r, k] += y * x + yd * xd + ydd * N["xddq"][j]
                    gv[r, k] += yd * x + 2.0 * ydd * xd
                    ga[r, k] += ydd * x
                for c in range(A["c1"], A["c2"]):
                    N = col[c]
                    gs[r, N["k"] - n] += y * N["xq"][j] + yd * N["xdq"][j] + ydd * N["xddq"][j]
        for p in range(ds.shape[0]):
            if e["w"] >= 0:
                gs[r, p] += reg[outs[o + 1 + 3 * n_in]] * spline_change(times, splines, e["w"], t, ds, p)
            for h in range(e["sl1"] - e["sl0"]):
                gs[r, p] += reg[outs[o + 2 + 3 * n_in + h]] * ds[p, slot_number(slots, e["sl0"] + h, outs, o, reg)]


@KIND.at(PULL)
@cfunction(what="the adjoint kernels")
def objective_pull(ctx):
    """Duals of weights times the objectives of a block on the markers, and own slots, a column each."""
    take_multipliers(ctx)
    flag, weights, no = flag_(ctx), weight4_(ctx), objective_(ctx).shape[0]
    for c in range(flag[FIRST_COLUMN], flag[END_COLUMN]):
        if 4 * flag[BLOCK] + c < no and weights[c] != 0.0:
            pull_one(ctx, objective_(ctx)[4 * flag[BLOCK] + c], weights[c], c)


@kernel
def pull_one(ctx, e, weight, column):
    """The same of one objective, in one column."""
    sc, dual, ins, slots, code, const, outs = (
        sc_(ctx),
        dual_(ctx),
        ins_(ctx),
        slots_(ctx),
        code_(ctx),
        const_(ctx),
        outs_(ctx),
    )
    s, t, reg, times, splines = s_(ctx), par_(ctx)[TIME], reg_(ctx), times_(ctx), spline_(ctx)
    psi = psi4_(ctx)[flag_(ctx)[BLOCK]]
    k = load_registers(e, sc, ins, slots, s, t, spline_value(times, splines, e["w"], s, t), False, reg)
    k = external(ctx, e, k, EXACTLY)
    run(code, const, e["c1"], e["e1"], e["q1"], e["r1"], k, reg, s)
    n_in = e["in1"] - e["in0"]
    o = e["o1"]
    for h in range(n_in):
        m = sc[ins[e["in0"] + h]]
        if m["marker"] >= 0:
            A = dual[m["marker"]]
            j = m["comp"]
            A["X"][j, column] += weight * reg[outs[o + 1 + h]]
            A["Y1"][j, column] += weight * reg[outs[o + 1 + n_in + h]]
            A["Y2"][j, column] += weight * reg[outs[o + 1 + 2 * n_in + h]]
    for h in range(e["sl1"] - e["sl0"]):
        psi[slot_number(slots, e["sl0"] + h, outs, o, reg), column] += weight * reg[outs[o + 2 + 3 * n_in + h]]
    if e["w"] >= 0:
        c, x = interval(times, splines[e["w"]], t)
        y = weight * reg[outs[o + 1 + 3 * n_in]]
        for h in range(4):
            psi[c + h, column] += y
            y = y * x
