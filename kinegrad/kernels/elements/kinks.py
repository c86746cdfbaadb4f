"""Kinks of expressions that a motion crosses: tape 0 gives what tells the side of `row` kinks for each element (LAW-13)."""

from kinegrad.kernels.elements.laws import load_registers, run, scalar_values
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import Kind
from kinegrad.kernels.jit import entry, real
from kinegrad.kernels.products import EVALUATE, FREEDOMS, OBSERVE, WK
from kinegrad.kernels.set_functions import put_state
from kinegrad.kernels.table import call

ap_, code_, const_, flag_, ins_, kink_, mk_, outs_ = ELEMENTS.viewers(*"ap code const flag ins kink mk outs".split())
par_, q_, reg_, s_, sc_, slots_, vp_ = ELEMENTS.viewers(*"par q reg s sc slots vp".split())

KIND = Kind({"kink": ()})


@entry(what="the search for kinks")
def first_crossings(fn, ctx, t, q, qd, qdd, unit, duration, near, sides, largest, crossed):
    """The first state by which each element has crossed a kink, in `crossed`, which holds -1; `sides` holds zeros.

    What is no further from a kink than `near` counts as where it was before.  `largest` becomes the largest size of what is
    zero at each kink: the sum of what its inputs make of it, the `unit` of a scalar, or the time `duration`, added to each.
    """
    kinks, code, const, outs, reg, s = kink_(ctx), code_(ctx), const_(ctx), outs_(ctx), reg_(ctx), s_(ctx)
    flag_(ctx)[FREEDOMS] = 0
    par_(ctx)[WK] = 0.0
    for k in range(t.shape[0]):
        put_state(ctx, t[k], q[k], qd[k], qdd[k])
        call(fn[EVALUATE], ctx)
        call(fn[OBSERVE], ctx)
        scalar_values(sc_(ctx), mk_(ctx), q_(ctx), vp_(ctx), ap_(ctx))
        place = 0
        for j in range(kinks.shape[0]):
            e = kinks[j]
            r = load_registers(e, sc_(ctx), ins_(ctx), slots_(ctx), s, t[k], 0.0 * s[0], False, reg)
            run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], r, reg, s)
            n, o = e["in1"] - e["in0"], e["o0"]
            for _ in range(e["row"]):
                beyond, side = abs(real(reg[outs[o]])), real(reg[outs[o + 1]])
                size = abs(real(reg[outs[o + 2 + 3 * n]])) * (abs(t[k]) + duration)
                for i in range(3 * n):
                    one = unit[ins_(ctx)[e["in0"] + i % n]] / duration ** (i // n)
                    size += abs(real(reg[outs[o + 2 + i]])) * (abs(real(reg[i])) + one)
                if size < 1e300:
                    largest[place] = max(largest[place], size)
                if side != 0.0 and beyond > near[place]:
                    if crossed[j] < 0 and sides[place] != 0.0 and side != sides[place]:
                        crossed[j] = k
                    sides[place] = side
                place += 1
                o += 3 * n + 3
