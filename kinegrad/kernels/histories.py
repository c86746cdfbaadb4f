"""Signals along states that were kept: one loop over all of them."""

from kinegrad.kernels.elements.layout import ELEMENTS
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.products import BIAS, FREEDOMS, OBSERVE, POSITION, STATUS, WK
from kinegrad.kernels.set_functions import put_state
from kinegrad.kernels.solvers.multiply import row_times
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call
from kinegrad.kernels.tape import wrap

(par_, flag_, q_, v_, vp_, ap_, J_, wide_, Phi_, Phi_t_, c_, seen_) = ELEMENTS.viewers(
    *"par flag q v vp ap J wide Phi Phi_t c seen_signals".split()
)


@kernel
def follow(fn, ctx, bound, h):
    """Angles that only signals use, with their turns, and their rates (OWN-1, SIG-7); bound: coordinate and row of each."""
    q, v, vp, ap, P, J = q_(ctx), v_(ctx), vp_(ctx), ap_(ctx), wide_(ctx), J_(ctx)
    for b in range(bound.shape[0]):
        k, row = bound[b, 0], bound[b, 1]
        before, rate = q[k], vp[k]
        told = before + Phi_(ctx)[row]  # a row is what markers tell, less the coordinate
        vp[k], ap[k] = 0.0, 0.0
        now = row_times(P, J, row, vp, Phi_t_(ctx)[row])
        near = before + 0.5 * h * (rate + now)
        q[k] = near + wrap(told - near)
        vp[k] = now
        v[k] = now
    call(fn[BIAS], ctx)
    for b in range(bound.shape[0]):
        k, row = bound[b, 0], bound[b, 1]
        ap[k] = row_times(P, J, row, ap, c_(ctx)[row])


@entry(what="the simulation kernels")
def histories(fn, ctx, bound, before, t, q, qd, qdd, out):
    """Fill out (k, signals); `before` is the time of the state that came before the first, of which the context has angles."""
    par, flag, seen = par_(ctx), flag_(ctx), seen_(ctx)
    flag[FREEDOMS] = 0
    flag[STATUS] = OK
    par[WK] = 0.0
    for k in range(t.shape[0]):
        put_state(ctx, t[k], q[k], qd[k], qdd[k])
        call(fn[POSITION], ctx)
        if bound.shape[0] > 0:
            follow(fn, ctx, bound, t[k] - (t[k - 1] if k > 0 else before))
        call(fn[OBSERVE], ctx)
        for j in range(seen.shape[0]):
            out[k, j] = seen[j]
