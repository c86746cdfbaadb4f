"""Newmark, HHT and generalized-alpha with accelerations from sweeps: a step is solved by substitution (REC-13).

At the end of a step a = α(q~ + b a, v~ + gh a) with q~, v~, b, gh of (NMF-1), α(q, v) being the accelerations of the
constrained tree.  No matrix of size n is formed; in return the step must be short against the periods of the motion, or
rounds of substitution do not converge.

Rows of a trajectory: q, v, a, lam of the state, then the auxiliary acceleration where there is one.
"""

from kinegrad.kernels.formulations.acceleration_level import RANK, RATES, TOLERANCE
from kinegrad.kernels.formulations.independent_rows import choose_rows
from kinegrad.kernels.formulations.newmark_family import by_acceleration, complete, predict
from kinegrad.kernels.formulations.newton import OF_RATES, ROUNDING, TIGHT, settled
from kinegrad.kernels.formulations.objectives import observe_step
from kinegrad.kernels.formulations.runge_kutta import store_stage
from kinegrad.kernels.jit import entry, real
from kinegrad.kernels.products import EXTENT, FREEDOMS, PRODUCTS, STATUS, TIME
from kinegrad.kernels.status import NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

par_, flag_, g_, q_, v_, a_, lam_, qt_, vt_, y_ = PRODUCTS.viewers(*"par flag g q v a lam qt vt y".split())
(per_,) = PRODUCTS.viewers("per")


@entry(what="recursive dynamics")
def simulate_newmark(fn, ctx, m, method, steps, objectives, opts):
    """Status and number of steps done, from the state in the context, by an `Implicit` method (REC-13)."""
    family, auxiliary, iterations_allowed = method.family, method.auxiliary, method.allowed
    ts, hs, stride, traj, iterations = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    par, flag, g, q, v, a, lam = par_(ctx), flag_(ctx), g_(ctx), q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    n, tol, qt, vt, guess, per = q.shape[0], opts[TOLERANCE], qt_(ctx), vt_(ctx), y_(ctx), per_(ctx)
    flag[FREEDOMS] = 0
    for step in range(hs.shape[0]):
        h = hs[step]
        b, gh = by_acceleration(family, h)
        par[TIME] = ts[step + 1]
        if opts[RANK] < m:
            choose_rows(ctx, m, int(opts[RANK]))
        predict(family, h, q, v, a, auxiliary, qt, vt)
        done, last, size = False, 1e300, 0.0
        for it in range(iterations_allowed):
            for i in range(n):
                guess[i] = a[i]
                q[i] = qt[i] + b * a[i]
                v[i] = vt[i] + gh * a[i]
            call(fn[RATES], ctx)
            if flag[STATUS] != OK:
                return flag[STATUS], step
            e, size = 0.0, real(par[EXTENT])
            for i in range(n):
                if not abs(real(a[i])) < 1e300:
                    return NOT_FINITE, step
                e = max(e, b * abs(real(a[i] - guess[i])) * per[i])
                size = max(size, abs(real(q[i])) * per[i])
            iterations[step] = it + 1
            if tol > 0.0 and settled(it, e, last, OF_RATES * tol * b / (gh * h), tol < TIGHT, size):
                done = True
                break
            last = e
        if not done and tol > 0.0 and not (tol < TIGHT and last < 10.0 * ROUNDING * size):
            return NOT_CONVERGED, step
        complete(family, a, auxiliary)
        observe_step(fn, ctx, ts[step + 1], h, g, kinds, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            row = traj[(step + 1) // stride]
            store_stage(row, 0, q, v, a, lam, m)
            for i in range(row.shape[0] - 3 * n - m):
                row[3 * n + m + i] = auxiliary[i]
    return OK, hs.shape[0]
