"""Explicit Runge-Kutta methods: tableaus, what a stage takes from the stages before it, and the transpose of that.

For a state y with rate k(y, t) (RKT-1):

    y_i = y_0 + h Σ_{j<i} A_ij k_j,    k_i = k(y_i, t_0 + c_i h),    y = y_0 + h Σ b_i k_i

A second-order system has two halves, positions whose rates are the stages' velocities and velocities whose rates are
the accelerations; each helper below serves one half.  Stages count from 0, stage 0 is the state before the step.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations import objectives
from kinegrad.kernels.jit import kernel
from kinegrad.kernels.linalg import axpy4, get4, mul4, put4
from kinegrad.kernels.products import OBSERVE, TIME
from kinegrad.kernels.table import call


class Tableau(NamedTuple):
    """Coefficients of a method; `error` (s + 1) weighs the stages and the rate at the new state, empty without control."""

    A: np.ndarray
    b: np.ndarray
    c: np.ndarray
    error: np.ndarray

    @property
    def stages(self) -> int:
        """Stages of a step, the state before it included."""
        return len(self.b)


def _tableau(rows, b, error=()) -> Tableau:
    A = np.zeros((len(b), len(b)))
    for i, row in enumerate(rows, 1):
        A[i, : len(row)] = row
    return Tableau(A, np.array(b), A.sum(axis=1), np.array(error, float))


NONE = _tableau([], [1.0])
"""For what has no stages."""

RK4 = _tableau([[1 / 2], [0, 1 / 2], [0, 0, 1]], [1 / 6, 1 / 3, 1 / 3, 1 / 6])
"""The classical method of order 4."""

RK54 = _tableau(
    [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    ],
    [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    [71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40],
)
"""Dormand and Prince's method of order 5 with an error estimate of order 4."""

# Control of the step (RKT-4): exponents of this error and of the last one, safety, and the limits of a change.
PROPORTIONAL, INTEGRAL, SAFETY, SHRINK, GROW = 0.17, 0.04, 0.9, 0.2, 5.0
SMALLEST = 1e-13  # of the whole span: the least step
# numbers that error control carries on: t_end, the error allowed, the interval of outputs, the step to try, the last error
T_END, ALLOWED, INTERVAL, PROPOSED, LAST = range(5)


@kernel
def combine(h, w, count, x0, K, n, out):
    """out = x0 + h Σ w_j K_j, j < count; K (stages, n)."""
    for i in range(n):
        s = 0.0 * x0[i]
        for j in range(count):
            s += w[j] * K[j, i]
        out[i] = x0[i] + h * s


@kernel
def combine4(h, w, count, X0, K, e, n, out):
    """out = X0 + h Σ w_j K_j of block e, j < count, for four columns; K (stages, blocks, n, 4).  out may be X0."""
    for i in range(n):
        x = get4(X0, i)
        for j in range(count):
            if w[j] != 0.0:
                x = axpy4(h * w[j], get4(K[j, e], i), x)
        put4(out, i, x)


@kernel
def seed4(i, h, A, b, L, Y, e, n, out):
    """out = h b_i L + h Σ_{j>i} A_ji Y_j of block e: adjoint of the rate of stage i, from L, the adjoint of the new
    state, and Y (stages, blocks, n, 4), those of the later stages (RKT-2)."""
    for k in range(n):
        x = mul4(h * b[i], get4(L, k))
        for j in range(i + 1, b.shape[0]):
            if A[j, i] != 0.0:
                x = axpy4(h * A[j, i], get4(Y[j, e], k), x)
        put4(out, k, x)


@kernel
def collect4(count, Y, e, n, L):
    """L += Σ Y_j of block e, j < count: adjoint of the state before the step (RKT-2)."""
    for k in range(n):
        x = get4(L, k)
        for j in range(count):
            x = axpy4(1.0, get4(Y[j, e], k), x)
        put4(L, k, x)


@kernel
def hand_back4(explicit, i, s, e, n, X, Y, L):
    """Put the adjoint X of what stage i began with, of block e, where the stages before it look: into Y for stages of this
    step, added to L for the first of the next one.  Of an implicit step, which has no stages, it becomes L."""
    for k in range(n):
        x = get4(X, k)
        if not explicit:
            put4(L, k, x)
        elif i < s:
            put4(Y[i, e], k, x)
        else:
            put4(L, k, axpy4(1.0, x, get4(L, k)))


@kernel
def stage_time(t0, t1, h, c):
    """The time of a stage: t1 itself where c = 1."""
    return t1 if c == 1.0 else t0 + c * h


@kernel
def begin_objectives(h, b, error, g_last, g_step, g_off):
    """What stage 0, whose integrands are g_last, gives to the integrals over a step and to their errors."""
    for o in range(g_step.shape[0]):
        g_step[o] = h * b[0] * g_last[o]
        g_off[o] = h * error[0] * g_last[o] if error.shape[0] > 0 else 0.0 * g_last[o]


@kernel
def add_objectives(fn, ctx, i, h, b, error, g, g_step, g_off):
    """g_step gains h b_i g and g_off h e_i g at stage i, or at the new state beyond the last one (RKT-3, RKT-4)."""
    weight = b[i] if i < b.shape[0] else 0.0
    off = error[i] if error.shape[0] > 0 else 0.0
    if g_step.shape[0] == 0 or (weight == 0.0 and off == 0.0):
        return
    call(fn[OBSERVE], ctx)
    for o in range(g_step.shape[0]):
        g_step[o] += h * weight * g[o]
        g_off[o] += h * off * g[o]


@kernel
def objective_error(g_off, g_step, kinds, psi, psi_size, tolerance):
    """Largest error of an integral over the step as a part of tolerance (its size in the model + |psi|)  (RKT-4)."""
    worst = 0.0
    for o in range(psi.shape[0]):
        if kinds.kind[o] == objectives.INTEGRAL:
            part = abs(g_off[o].real) / (
                tolerance * (psi_size[o] + max(abs(psi[o].real), abs((psi[o] + g_step[o]).real)))
            )
            if not part < 1e300:
                return 1e300
            worst = max(worst, part)
    return worst


@kernel
def scaled_error(h, e, K, x0, x1, unit, time, tolerance):
    """Largest |h Σ e_j K_j| as a part of tolerance (unit/time + |x|), for coordinates (time: 1) or their rates  (RKT-4)."""
    worst = 0.0
    for i in range(unit.shape[0]):
        s = 0.0
        for j in range(e.shape[0]):
            s += e[j] * K[j, i].real
        size = tolerance * (unit[i] / time + max(abs(x0[i].real), abs(x1[i].real)))
        part = abs(h * s) / size
        if not part < 1e300:
            return 1e300
        worst = max(worst, part)
    return worst


@kernel
def change_of_step(error, last):
    """Factor of the step after one with this error, `last` being that of the step before (RKT-4)."""
    e = max(error, 1e-10)
    return min(GROW, max(SHRINK, SAFETY * e**-PROPORTIONAL * max(last, 1e-4) ** INTEGRAL))


@kernel
def next_stop(t, t_end, interval):
    """The next multiple of `interval` after t, or t_end; t_end when the interval is 0."""
    if interval <= 0.0:
        return t_end
    stop = interval * (np.floor(t / interval * (1.0 + 1e-12)) + 1.0)
    return t_end if stop > t_end - 1e-9 * interval else stop


@kernel
def step_to(t, stop, h):
    """A step near h that ends at `stop`, or leaves room for another: no step is cut to a splinter."""
    rest = stop - t
    if 1.01 * h >= rest:
        return rest
    return 0.5 * rest if 2.0 * h > rest else h


@kernel
def propose(control, t, step, ts, hs):
    """The step to try from t, in hs[step] and ts[step + 1]  (RKT-4)."""
    stop = next_stop(t, control[T_END], control[INTERVAL])
    h = step_to(t, stop, control[PROPOSED])
    hs[step] = h
    ts[step + 1] = stop if h == stop - t else t + h


@kernel
def accepted(control, h, error, refused):
    """Whether a step h with this error is accepted; the control then holds what is tried next (RKT-4)."""
    change = change_of_step(error, control[LAST])
    if not error <= 1.0:
        control[PROPOSED] = change * h
        return False
    if refused:
        change = min(change, 1.0)
    # a step that was cut short to end at a stop says nothing against the one proposed before
    control[PROPOSED] = change * h if h >= control[PROPOSED] else max(change * h, control[PROPOSED])
    control[LAST] = error
    return True


@kernel
def too_small(control):
    """Whether the step to try is too small for the whole span."""
    return control[PROPOSED] < SMALLEST * control[T_END]


@kernel
def store_stage(row, k, q, v, a, lam, m):
    """Stage k of a row of a trajectory: q, v, a, lam; k = 0 is the state."""
    n = q.shape[0]
    o = k * (3 * n + m)
    for i in range(n):
        row[o + i] = q[i]
        row[o + n + i] = v[i]
        row[o + 2 * n + i] = a[i]
    for l in range(m):
        row[o + 3 * n + l] = lam[l]


@kernel
def load_stage(row, k, q, v, a, vp, ap, lam, m):
    """Put stage k of a row into the context."""
    n = q.shape[0]
    o = k * (3 * n + m)
    for i in range(n):
        q[i] = row[o + i]
        v[i] = row[o + n + i]
        vp[i] = v[i]
        a[i] = row[o + 2 * n + i]
        ap[i] = a[i]
    for l in range(m):
        lam[l] = row[o + 3 * n + l]


@kernel
def place(explicit, i, s, c, ts, hs, step, traj, par, q, v, a, vp, ap, lam, m):
    """Put stage i of a step, or (i = s, or Newmark) the state after it, into the context."""
    if explicit and i == 0:
        load_stage(traj[step], 0, q, v, a, vp, ap, lam, m)
        par[TIME] = ts[step]
    elif explicit and i < s:
        load_stage(traj[step + 1], i, q, v, a, vp, ap, lam, m)
        par[TIME] = stage_time(ts[step], ts[step + 1], hs[step], c[i])
    else:
        load_stage(traj[step + 1], 0, q, v, a, vp, ap, lam, m)
        par[TIME] = ts[step + 1]
