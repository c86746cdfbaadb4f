"""How objectives are taken from a motion: what a step adds to their values, and what weight a state has in them (OBJ-1).

    INTEGRAL    of g over time: by the trapezoidal rule, or by the stages of a Runge-Kutta method
    FINAL       g at the end
    SUM         of g at times, all of which are ends of steps
    EXTREME     log(∫ exp(K g) dt), from which the smooth maximum (K > 0) or minimum (K < 0) follows (OBJ-2)

Sums and extremes are taken of states, whatever the integrator.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.jit import exp, kernel, log, real
from kinegrad.kernels.products import OBSERVE
from kinegrad.kernels.table import call

INTEGRAL, FINAL, SUM, EXTREME = range(4)
NOTHING = -1e300  # logarithm of an integral that has not begun


class Kinds(NamedTuple):
    """What objectives are: kinds; for extremes K, and the logarithm of the whole integral, of which weights are parts; for
    sums the places first[o] to first[o + 1] of their times."""

    kind: np.ndarray
    sharpness: np.ndarray
    total: np.ndarray
    first: np.ndarray
    times: np.ndarray


@kernel
def is_taken(kinds, o, t):
    """Whether t is one of the times of a sum."""
    low, high = kinds.first[o], kinds.first[o + 1]
    while low < high:
        middle = (low + high) // 2
        if kinds.times[middle] < t:
            low = middle + 1
        else:
            high = middle
    return low < kinds.first[o + 1] and kinds.times[low] == t


@kernel
def log_add(total, weight, x):
    """log(exp(total) + weight exp(x)), for a positive weight."""
    y = x + log(weight)
    if real(y) > real(total):
        return y + log(1.0 + exp(total - y))
    return total + log(1.0 + exp(y - total))


@kernel
def part_of_extreme(kinds, o, weight, g):
    """The weight of a state in an extreme, `weight` being that of its time (OBJ-2)."""
    return weight * exp(kinds.sharpness[o] * g - kinds.total[o])


@kernel
def gain(kinds, o, t, h, last, g, psi):
    """psi[o] after a step of size h to the time t, between states with the integrands `last` and g; not for integrals."""
    if kinds.kind[o] == FINAL:
        psi[o] = g
    elif h > 0.0:
        if kinds.kind[o] == EXTREME:
            psi[o] = log_add(log_add(psi[o], 0.5 * h, kinds.sharpness[o] * last), 0.5 * h, kinds.sharpness[o] * g)
        elif is_taken(kinds, o, t):
            psi[o] += g


@kernel
def observe_state(fn, ctx, t, h, g, g_step, kinds, psi, g_last):
    """psi gains the integrals g_step over a step of size h to the time t, and what its last state gives; g_last is g there."""
    if psi.shape[0] > 0:
        call(fn[OBSERVE], ctx)
    for o in range(psi.shape[0]):
        if kinds.kind[o] == INTEGRAL:
            psi[o] += g_step[o]
        else:
            gain(kinds, o, t, h, g_last[o], g[o], psi)
        g_last[o] = g[o]


@kernel
def observe_step(fn, ctx, t, h, g, kinds, psi, g_last):
    """psi gains what a step of size h to the time t gives, integrals by the trapezoidal rule; g_last is g at its end."""
    if psi.shape[0] > 0:
        call(fn[OBSERVE], ctx)
    for o in range(psi.shape[0]):
        if kinds.kind[o] == INTEGRAL:
            psi[o] += 0.5 * h * (g_last[o] + g[o])
        else:
            gain(kinds, o, t, h, g_last[o], g[o], psi)
        g_last[o] = g[o]


@kernel
def quadrature(ts, hs, step, after, kinds, g, weights):
    """Weights, by the trapezoidal rule, of the state after `step` steps; `after`: the step beyond hs, 0 at the end."""
    n = hs.shape[0]
    size = 0.5 * ((hs[step - 1] if step > 0 else 0.0) + (hs[step] if step < n else after))
    for o in range(weights.shape[0]):
        kind = kinds.kind[o]
        if kind == INTEGRAL:
            weights[o] = size
        elif kind == FINAL:
            weights[o] = 1.0 if (step == n and after == 0.0) else 0.0
        elif kind == SUM:
            weights[o] = 1.0 if is_taken(kinds, o, ts[step]) else 0.0
        else:
            weights[o] = part_of_extreme(kinds, o, size, g[o])


@kernel
def stage_weights(i, b, step, segment, g, weights):
    """Weights in stage i of a step: h b_i for integrals; sums and extremes take the states, which are the first stages and
    what is beyond the last one at the end, where final values are taken too (RKT-3)."""
    hs, kinds, s = segment.hs, segment.kinds, b.shape[0]
    h, before = hs[step], hs[step - 1] if step > 0 else segment.before
    for o in range(weights.shape[0]):
        kind = kinds.kind[o]
        if kind == INTEGRAL:
            weights[o] = h * b[i] if i < s else 0.0
        elif kind == FINAL:
            weights[o] = 0.0 if i < s else 1.0
        elif 0 < i < s:
            weights[o] = 0.0
        elif kind == SUM:
            weights[o] = 1.0 if is_taken(kinds, o, segment.ts[step + (0 if i == 0 else 1)]) else 0.0
        else:
            weights[o] = part_of_extreme(kinds, o, 0.5 * (before + h if i == 0 else h), g[o])
