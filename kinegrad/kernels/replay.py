"""Markers, energies and constraint violations along states that were kept."""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.products import BIAS, ENERGY, EVALUATE, FREEDOMS, OBSERVE, TIME, WK
from kinegrad.kernels.set_functions import put_state
from kinegrad.kernels.solvers.multiply import row_times
from kinegrad.kernels.table import call

(mk_, par_, flag_, q_, v_, vp_, ap_, lam_, energy_, J_, wide_, Phi_, Phi_t_, c_, per_row_) = ELEMENTS.viewers(
    *"mk par flag q v vp ap lam energy J wide Phi Phi_t c per_row".split()
)


@kernel
def worst(P, J, m, x, c):
    """The largest |J x + c|; P is the pattern of J."""
    largest = 0.0
    for l in range(m):
        largest = max(largest, abs(row_times(P, J, l, x, c[l])))
    return largest


@entry(what="the simulation kernels")
def replay(fn, ctx, m, t, q, qd, qdd, lam, markers, energy, violation):
    """Fill markers (k, markers, 3, 3): x, xd, xdd; energy (k, 3); violation (k, 3): |Phi|, |Phid|, |Phidd|."""
    mk, par, flag, J, P, Phi = mk_(ctx), par_(ctx), flag_(ctx), J_(ctx), wide_(ctx), Phi_(ctx)
    flag[FREEDOMS] = 0
    par[WK] = 0.0
    for k in range(t.shape[0]):
        put_state(ctx, t[k], q[k], qd[k], qdd[k])
        for l in range(m):
            lam_(ctx)[l] = lam[k, l]
        call(fn[EVALUATE], ctx)
        call(fn[ENERGY], ctx)
        for j in range(3):
            energy[k, j] = energy_(ctx)[j]
        for l in range(m):
            violation[k, 0] = max(violation[k, 0], abs(Phi[l]))
        violation[k, 1] = worst(P, J, m, vp_(ctx), Phi_t_(ctx))
        call(fn[BIAS], ctx)
        violation[k, 2] = worst(P, J, m, ap_(ctx), c_(ctx))
        call(fn[OBSERVE], ctx)
        for i in range(markers.shape[1]):
            for j in range(3):
                markers[k, i, 0, j] = mk[i]["x"][j]
                markers[k, i, 1, j] = mk[i]["xd"][j]
                markers[k, i, 2, j] = mk[i]["xdd"][j]


@entry(what="the simulation kernels")
def energies(fn, ctx, m, t, rows, places, which, energy, off):
    """Fill energy (k, 3) at some rows, `which` (k), of a run, and off (2) with the most that a constraint is off at the last of
    them, in its unit, and 1 if all have a unit that is known.

    `places` are those of q, qd, qdd and lam in a row, and of what is added to lam, or -1.
    """
    par, flag, q, v, vp, lam, found = par_(ctx), flag_(ctx), q_(ctx), v_(ctx), vp_(ctx), lam_(ctx), energy_(ctx)
    flag[FREEDOMS] = 0
    par[WK] = 0.0
    at_q, at_v, at_lam, more = places[0], places[1], places[3], places[4]
    for k in range(which.shape[0]):
        row = rows[which[k]]
        par[TIME] = t[which[k]]
        for i in range(q.shape[0]):
            q[i] = row[at_q + i]
            v[i] = row[at_v + i]
            vp[i] = v[i]
        for l in range(m):
            lam[l] = row[at_lam + l] + row[more + l] if more >= 0 else row[at_lam + l]
        call(fn[EVALUATE], ctx)
        call(fn[ENERGY], ctx)
        for j in range(3):
            energy[k, j] = found[j]
    Phi, per_row = Phi_(ctx), per_row_(ctx)
    off[0], off[1] = 0.0, 1.0
    for l in range(m):
        off[0] = max(off[0], abs(Phi[l]) * per_row[l])
        if not per_row[l] > 0.0:
            off[1] = 0.0
