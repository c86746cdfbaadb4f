"""Signals: many numbers g(u, ud, udd, t) of scalars u from one tape (SIG-1); they are seen, and have no derivatives here."""

from kinegrad.kernels.elements.callbacks import VALUES, external
from kinegrad.kernels.elements.laws import run, spline_value
from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.elements.stages import OBJECTIVES, Kind
from kinegrad.kernels.jit import cfunction, kernel
from kinegrad.kernels.products import TIME

code_, const_, ins_, outs_, par_, reg_, s_, sc_, seen_, signal_, slots_, spline_, targets_, times_ = ELEMENTS.viewers(
    *"code const ins outs par reg s sc seen_signals signal slots spline targets times".split()
)

q_, vp_, ap_, mk_ = ELEMENTS.viewers("q", "vp", "ap", "mk")

KIND = Kind({"signal": ()})


@kernel
def load(law, sc, mk, q, v, a, ins, slots, s, t, w, reg):
    """As `load_registers`, straight from markers and coordinates: no other element needs the scalars here."""
    n = law["in1"] - law["in0"]
    for i in range(n):
        m = sc[ins[law["in0"] + i]]
        if m["marker"] < 0:
            k = m["k"]
            reg[i] = q[k]
            reg[n + i] = v[k]
            reg[2 * n + i] = a[k]
        else:
            A, c = mk[m["marker"]], m["comp"]
            reg[i] = A["x"][c]
            reg[n + i] = A["xd"][c]
            reg[2 * n + i] = A["xdd"][c]
    k = 3 * n
    reg[k] = t
    reg[k + 1] = w
    k += 2
    for i in range(law["sl0"], law["sl1"]):
        if slots[i] >= 0:
            reg[k] = s[slots[i]]
            k += 1
    return k


@KIND.at(OBJECTIVES)
@cfunction(what="the simulation kernels")
def signal_values(ctx):
    """All signals that a system computes along."""
    sc, laws, ins, slots, code, targets = sc_(ctx), signal_(ctx), ins_(ctx), slots_(ctx), code_(ctx), targets_(ctx)
    const, outs, s, t, reg, seen = const_(ctx), outs_(ctx), s_(ctx), par_(ctx)[TIME], reg_(ctx), seen_(ctx)
    mk, q, v, a = mk_(ctx), q_(ctx), vp_(ctx), ap_(ctx)
    for i in range(laws.shape[0]):
        e = laws[i]
        w = spline_value(times_(ctx), spline_(ctx), e["w"], s, t)
        k = load(e, sc, mk, q, v, a, ins, slots, s, t, w, reg)
        k = external(ctx, e, k, VALUES)
        run(code, const, e["c0"], e["e0"], e["q0"], e["r0"], k, reg, s)
        for j in range(e["t0"], e["t1"]):
            seen[targets[j]] = reg[outs[e["o0"] + j - e["t0"]]]
