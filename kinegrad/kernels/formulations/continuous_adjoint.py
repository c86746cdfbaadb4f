"""The adjoint of the motion itself, backwards in time: at acceleration level, on states between which is interpolated.

With R = M a + f + Phi_qᵀ lam = 0 and Psi = Phidd + 2ξΩ Phid + Ω² Phi = ε lam, adjoints p of q and w of v (CAD-1):

    [M Phi_qᵀ; Phi_q -ε]ᵀ [U; B] = [w + g_a; 0]
    -dp/dt = g_q - R_qᵀU - Psi_qᵀB,    -dw/dt = g_v + p - CᵀU - Psi_vᵀB,    -dpsi_s/dt = g_s - R_sᵀU - Psi_sᵀB

q and v at a point are cubics between two states, a and lam are solved for there (CAD-2).  Explicit steps are those of the
classical Runge-Kutta method, implicit ones trapezoidal: linear equations with the matrices of Newmark's method (CAD-3).
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.acceleration_level import COMPLIANCE, RANK, accelerations
from kinegrad.kernels.formulations.acceleration_level_derivatives import (
    linearised,
    no_covectors,
    pull,
    stage_back4,
)
from kinegrad.kernels.formulations.blocks import add_objectives4, clear4, shift4
from kinegrad.kernels.formulations.independent_rows import choose_rows
from kinegrad.kernels.formulations.matrix_r_derivatives import no_projection
from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, Kinds, part_of_extreme
from kinegrad.kernels.four_adjoints import collect
from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.linalg import axpy4, get4, put4
from kinegrad.kernels.products import EVALUATE, FREEDOMS, PRODUCTS, STATUS, TIME, WC, WK
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, vp_, dv_, da_, sv_, sa_) = PRODUCTS.viewers(*"par flag g q v vp dv da sv sa".split())
(C_, R_q_, E_q_, E_v_, square_, wide_, g_q_, g_v_, g_a_, weights_) = PRODUCTS.viewers(
    *"C R_q E_q E_v square wide g_q g_v g_a weights".split()
)
(x4_, H4_, E4_, r1_, r2_, U4_, B4_) = PRODUCTS.viewers(*"x4 H4 E4 r1 r2 U4 B4".split())


class Course(NamedTuple):
    """States (k, n) at the times ts, between which is interpolated, and what objectives are."""

    ts: np.ndarray
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    kinds: Kinds


class Points(NamedTuple):
    """Times (2 N + 1) of N steps backwards, in order: nodes at even places, middles between them; and which interval of the
    course each is in."""

    t: np.ndarray
    place: np.ndarray


class Room(NamedTuple):
    """Scratch: sums of rates, the last rates, what they are added to (2, blocks, n, 4) each, and what is pulled back at a
    point (blocks, n or m, 4)."""

    sums: np.ndarray
    rates: np.ndarray
    base: np.ndarray
    U: np.ndarray
    B: np.ndarray


@kernel
def interpolate(ts, x, xd, k, t, out):
    """x at the time t between states k and k + 1, by the cubic that has their values and rates (CAD-2)."""
    h = ts[k + 1] - ts[k]
    r = (t - ts[k]) / h
    second, third = r * r * (3.0 - 2.0 * r), r * (1.0 - r) * (1.0 - r)
    fourth = -r * r * (1.0 - r)
    for i in range(out.shape[0]):
        out[i] = x[k, i] + second * (x[k + 1, i] - x[k, i]) + h * (third * xd[k, i] + fourth * xd[k + 1, i])


@kernel
def solved(fn, ctx, m, opts):
    """Status; accelerations and multipliers at the q, v and time of the context, whatever was there before."""
    flag, v, vp = flag_(ctx), v_(ctx), vp_(ctx)
    if opts[RANK] < m:
        for j in range(v.shape[0]):
            vp[j] = v[j]
        call(fn[EVALUATE], ctx)
        if flag[STATUS] != OK:
            return flag[STATUS]
        choose_rows(ctx, m, int(opts[RANK]))
    return accelerations(fn, ctx, m, opts)


@kernel
def at_point(fn, ctx, m, course, points, i, b, gh, opts):
    """Status; everything linearised at a point, with the factors of the matrix for b and gh (CAD-2, CAD-3)."""
    k, t = points.place[i], points.t[i]
    interpolate(course.ts, course.q, course.v, k, t, q_(ctx))
    interpolate(course.ts, course.v, course.a, k, t, v_(ctx))
    par_(ctx)[TIME] = t
    status = solved(fn, ctx, m, opts)
    if status != OK:
        return status
    return linearised(fn, ctx, m, b, gh, opts)


@kernel
def rates4(fn, ctx, m, e, b, gh, opts, P, W, room):
    """Rates backwards in time at the adjoints P, W of block e, or implicit ones where b and gh are not 0 (CAD-3)."""
    qo, vo, ao = x4_(ctx), H4_(ctx), E4_(ctx)
    n, no = P.shape[0], g_(ctx).shape[0]
    clear4(qo)
    for j in range(n):
        put4(vo, j, get4(P, j))
        put4(ao, j, get4(W, j))
    add_objectives4(4 * e, min(4, no - 4 * e), n, g_q_(ctx), g_v_(ctx), g_a_(ctx), weights_(ctx), qo, vo, ao)
    stage_back4(fn, ctx, m, b, gh, opts[COMPLIANCE], qo, vo, ao)
    shift4(n, gh, qo, vo)
    for j in range(n):
        put4(room.rates[0, e], j, get4(qo, j))
        put4(room.rates[1, e], j, get4(vo, j))


@kernel
def count(ctx, weight, kinds, ends):
    """The weight of final values (`ends`), or of what is integrated, at the point in the context, and 0 of the others."""
    weights, g = weights_(ctx), g_(ctx)
    for o in range(weights.shape[0]):
        weights[o] = weight if (kinds.kind[o] == FINAL) == ends else 0.0
        if kinds.kind[o] == EXTREME and not ends:
            weights[o] = part_of_extreme(kinds, o, weight, g[o])


@kernel
def note_pull(ctx, m, e, weight, room):
    """What is pulled back at this point gains `weight` times the solution of the last rates."""
    shift4(room.U.shape[1], weight, U4_(ctx), room.U[e])
    shift4(m, weight, B4_(ctx), room.B[e])


@kernel
def flush(fn, ctx, m, opts, weight, kinds, ends, room):
    """psi_s gains what was noted at this point, where integrands, or final values (`ends`), have a weight."""
    no, weights = g_(ctx).shape[0], weights_(ctx)
    count(ctx, weight, kinds, ends)
    for e in range(room.U.shape[0]):
        pull(fn, ctx, m, opts, e, min(4, no - 4 * e), room.U[e], room.B[e], weights)
        clear4(room.U[e])
        clear4(room.B[e])


@kernel
def begin(fn, ctx, m, opts, kinds, variation, room):
    """The adjoints at the end from objectives that are taken there, whose accelerations follow from q and v (CAD-4)."""
    n = variation.q.shape[1]
    count(ctx, 1.0, kinds, True)
    for e in range(variation.q.shape[0]):
        rates4(fn, ctx, m, e, 0.0, 0.0, opts, variation.q[e], variation.v[e], room)
        note_pull(ctx, m, e, 1.0, room)
        for j in range(n):
            put4(variation.q[e], j, get4(room.rates[0, e], j))
            put4(variation.v[e], j, get4(room.rates[1, e], j))
    flush(fn, ctx, m, opts, 1.0, kinds, True, room)


@kernel
def runge_kutta_stage(fn, ctx, m, opts, part, weight, variation, room):
    """Rates at the adjoints plus `part` times the last rates, and `weight` times them in the sums (CAD-3)."""
    n, base, sums, rates = variation.q.shape[1], room.base, room.sums, room.rates
    for e in range(variation.q.shape[0]):
        for j in range(n):
            put4(base[0, e], j, axpy4(part, get4(rates[0, e], j), get4(variation.q[e], j)))
            put4(base[1, e], j, axpy4(part, get4(rates[1, e], j), get4(variation.v[e], j)))
        rates4(fn, ctx, m, e, 0.0, 0.0, opts, base[0, e], base[1, e], room)
        shift4(n, weight, rates[0, e], sums[0, e])
        shift4(n, weight, rates[1, e], sums[1, e])
        note_pull(ctx, m, e, weight, room)


@entry(what="the continuous adjoint")
def adjoint(fn, ctx, m, explicit, course, points, at_end, below, opts, variation, room):
    """Status and step: the adjoints are carried back over all points; psi_s of the context gains all slots (CAD-1).

    `at_end`: the last point is the end of the motion, where the adjoints are found first; `below`: the step that will follow
    before the first point, 0 if none does.  Trapezoidal rates of the last point come and go in `room`.
    """
    kinds, t = course.kinds, points.t
    P, W, sums, rates = variation.q, variation.v, room.sums, room.rates
    blocks, n, steps = P.shape[0], P.shape[1], (t.shape[0] - 1) // 2
    par, flag = par_(ctx), flag_(ctx)
    clear4(r2_(ctx))
    no_projection(dv_(ctx), da_(ctx), sv_(ctx), sa_(ctx))
    no_covectors(ctx)
    flag[FREEDOMS] = 0
    par[WK] = 0.0
    par[WC] = 0.0
    if steps == 0:
        return OK, 0
    if explicit or at_end:
        status = at_point(fn, ctx, m, course, points, 2 * steps, 0.0, 0.0, opts)
        if status != OK:
            return status, steps
    if at_end:
        begin(fn, ctx, m, opts, kinds, variation, room)
        count(ctx, 1.0, kinds, False)
        if not explicit:
            for e in range(blocks):
                rates4(fn, ctx, m, e, 0.0, 0.0, opts, P[e], W[e], room)
                note_pull(ctx, m, e, 0.5 * (t[2 * steps] - t[2 * steps - 2]), room)
            flush(fn, ctx, m, opts, 0.5 * (t[2 * steps] - t[2 * steps - 2]), kinds, False, room)
    for step in range(steps - 1, -1, -1):
        h = t[2 * step + 2] - t[2 * step]
        count(ctx, 1.0, kinds, False)
        if explicit:
            for e in range(blocks):
                clear4(sums[0, e])
                clear4(sums[1, e])
            runge_kutta_stage(fn, ctx, m, opts, 0.0, h / 6.0, variation, room)
            flush(fn, ctx, m, opts, h / 6.0, kinds, False, room)
            status = at_point(fn, ctx, m, course, points, 2 * step + 1, 0.0, 0.0, opts)
            if status != OK:
                return status, step
            count(ctx, 1.0, kinds, False)
            runge_kutta_stage(fn, ctx, m, opts, 0.5 * h, h / 3.0, variation, room)
            runge_kutta_stage(fn, ctx, m, opts, 0.5 * h, h / 3.0, variation, room)
            flush(fn, ctx, m, opts, 2.0 * h / 3.0, kinds, False, room)
            status = at_point(fn, ctx, m, course, points, 2 * step, 0.0, 0.0, opts)
            if status != OK:
                return status, step
            count(ctx, 1.0, kinds, False)
            runge_kutta_stage(fn, ctx, m, opts, h, h / 6.0, variation, room)
            flush(fn, ctx, m, opts, h / 6.0, kinds, False, room)
            for e in range(blocks):
                shift4(n, 1.0, sums[0, e], P[e])
                shift4(n, 1.0, sums[1, e], W[e])
        else:
            status = at_point(fn, ctx, m, course, points, 2 * step, 0.25 * h * h, 0.5 * h, opts)
            if status != OK:
                return status, step
            count(ctx, 1.0, kinds, False)
            weight = 0.5 * h + 0.5 * (t[2 * step] - t[2 * step - 2] if step > 0 else below)
            for e in range(blocks):
                shift4(n, 0.5 * h, rates[0, e], P[e])
                shift4(n, 0.5 * h, rates[1, e], W[e])
                rates4(fn, ctx, m, e, 0.25 * h * h, 0.5 * h, opts, P[e], W[e], room)
                shift4(n, 0.5 * h, rates[0, e], P[e])
                shift4(n, 0.5 * h, rates[1, e], W[e])
                note_pull(ctx, m, e, weight, room)
            flush(fn, ctx, m, opts, weight, kinds, False, room)
    collect(ctx)
    return OK, 0
