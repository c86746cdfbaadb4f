"""Motion by drivers: positions by Newton's method from a prediction, then velocities, accelerations and multipliers.

    Phi(q, t) = 0 from q + h v + ½ h² a,   Phi_q v = -Phi_t,   Phi_q a = -c,   Phi_qᵀ lam = -(M a + f)  (DRV-1 to DRV-3)

An instant is accepted if it continues the motion before it; else it is approached by smaller steps (DRV-5).  Instants at which
the rows hardly determine the motion are bridged from both sides (DRV-6).  Rows of a trajectory: q, v, a, lam.
"""

from typing import NamedTuple

import numpy as np

from kinegrad.kernels.formulations.objectives import observe_step
from kinegrad.kernels.jit import entry, kernel, real
from kinegrad.kernels.orthogonal import factor, last_pivot, solve, solve_transposed, weakest
from kinegrad.kernels.products import (
    AT_POSITION,
    BIAS,
    EVALUATE,
    FREEDOMS,
    POSITION,
    PRODUCTS,
    STATUS,
    TIME,
    WK,
    full_viewers,
)
from kinegrad.kernels.status import INCONSISTENT, LOST_RANK, NOT_CONVERGED, NOT_FINITE, OK
from kinegrad.kernels.table import call

(par_, flag_, g_, q_, v_, a_, vp_, ap_, f_, lam_, Phi_, Phi_t_, c_) = PRODUCTS.viewers(
    *"par flag g q v a vp ap f lam Phi Phi_t c".split()
)
x_, y_ = PRODUCTS.viewers("x", "y")
M_, J_ = full_viewers("M", "J")

MAX_ITERATIONS = 12
CONVERGED = 1e-14  # of positions
QUADRATIC = 1e-16  # what the next iteration would change, as the square of this one by the weakest direction
ROUNDED = 1e-10  # changes below this that no longer shrink are rounding
FARTHEST = 4.0  # a change beyond this, in turns of a radian or sizes of the mechanism, leads nowhere
ACCEPTED = 1e-9  # of a row that holds, in the size of the mechanism
COMPATIBLE = 1e-8  # of velocities and accelerations that rows agree on
SMOOTH, FLOOR = 0.2, 1e-4  # part of a step by which it may miss its prediction, and a distance that is no branch
ZONE = 3e-3  # of the best position so far: where the weakest direction is seen so little, a position is singular
ALIGNED = 0.5  # cosine of weakest directions that are the same one
HALVINGS = 30  # of a step between two instants of the grid
MOST_ATTEMPTS = 400
BRIDGED_TO = 1e-12  # of a row at an instant that was bridged, if that can be had by a shorter bridge
BRIDGES = 8  # lengths of a bridge that are tried, each twice the one before
IN_ZONE = -1  # no failure: the instant is to be bridged
PASSED, BRIDGED = 16, 8  # flags of a step: a singular position lies in it; its instant is one, to rounding

# info: time of the state that was accepted last, how much its weakest direction is seen, how much that of an attempt, and the
# most so far
T0, SEEN, SEEN_NOW, MOST_SEEN = range(4)
N_INFO = 4


class Path(NamedTuple):
    """The state that was accepted last, and the singular positions passed."""

    q: np.ndarray
    v: np.ndarray
    a: np.ndarray
    u: np.ndarray  # (m,) and (n,): the weakest direction there, as `weakest` gives it
    w: np.ndarray
    u_now: np.ndarray  # and that of an attempt
    w_now: np.ndarray
    info: np.ndarray
    events: np.ndarray  # (most, 1 + n) time and position
    count: np.ndarray  # (1,) events, also those beyond what there is room for


def path(n: int, m: int, most: int, number=float) -> Path:
    """Room for a path."""
    states, directions = [np.zeros(n, number) for _ in range(3)], [np.zeros(k) for k in (m, n, m, n)]
    return Path(*states, *directions, np.zeros(N_INFO), np.zeros((most, 1 + n)), np.zeros(1, np.int64))


@kernel
def newton(fn, ctx, F, more):
    """Status and iterations: q in the context becomes the position with Phi = 0 near it, at the time there (DRV-1).

    `more` iterations follow the last one needed.
    """
    flag, q, Phi, J, x = flag_(ctx), q_(ctx), Phi_(ctx), J_(ctx), x_(ctx)
    n = F.A.shape[0]
    last, left = 1e300, -1
    for it in range(MAX_ITERATIONS + more):
        call(fn[POSITION], ctx)
        if flag[STATUS] != OK:
            return flag[STATUS], it + 1
        rank = factor(J, F)
        solve(F, rank, Phi, x)
        e, size = 0.0, 1.0
        for i in range(n):
            e = max(e, abs(real(x[i])) / real(F.columns[i]))
            size = max(size, abs(real(q[i])) / real(F.columns[i]))
            q[i] -= x[i]
        if not e < 1e300:
            return NOT_FINITE, it + 1
        if left > 0:
            left -= 1
        elif left < 0 and (
            e <= CONVERGED * size
            or (rank == n and e * e <= QUADRATIC * last_pivot(F))
            or (it > 1 and e > 0.5 * last and e < ROUNDED * size)
        ):
            left = more
        if left == 0:
            return OK, it + 1
        if left < 0 and (e > FARTHEST or (it > 1 and e > last)):
            break
        last = e
    return NOT_CONVERGED, it + 1


@kernel
def disagreement(J, m, n, x, c, F):
    """The largest |J x + c| in scaled rows, and the largest |x| and |c| in scaled units."""
    off, size, given = 0.0, 0.0, 0.0
    for i in range(n):
        size = max(size, abs(real(x[i])) / real(F.columns[i]))
    for l in range(m):
        s = c[l]
        for i in range(n):
            s += J[l, i] * x[i]
        off = max(off, abs(real(s)) * real(F.rows[l]))
        given = max(given, abs(real(c[l])) * real(F.rows[l]))
    return off, size, given


@kernel
def rates(fn, ctx, F, P):
    """Status; velocities and accelerations at q in the context, with M, f and rows there (DRV-2)."""
    flag, J, Phi, Phi_t, c = flag_(ctx), J_(ctx), Phi_(ctx), Phi_t_(ctx), c_(ctx)
    v, a, vp, ap = v_(ctx), a_(ctx), vp_(ctx), ap_(ctx)
    n, m = F.A.shape
    call(fn[POSITION], ctx)
    if flag[STATUS] != OK:
        return flag[STATUS]
    for l in range(m):
        if not abs(real(Phi[l])) * real(F.rows[l]) <= ACCEPTED:
            return INCONSISTENT
    rank = factor(J, F)
    if rank < n:
        return LOST_RANK
    P.info[SEEN_NOW] = weakest(F, P.u_now, P.w_now)
    solve(F, rank, Phi_t, v)
    for i in range(n):
        v[i] = -v[i]
        vp[i] = v[i]
        ap[i] = 0.0
    off, speed, given = disagreement(J, m, n, v, Phi_t, F)
    if off > COMPATIBLE * (speed + given):
        return INCONSISTENT
    status = forces(fn, ctx)
    if status != OK:
        return status
    solve(F, rank, c, a)
    for i in range(n):
        a[i] = -a[i]
        ap[i] = a[i]
    off, size, given = disagreement(J, m, n, a, c, F)
    return OK if off <= COMPATIBLE * (size + given + speed * speed) else INCONSISTENT


@kernel
def forces(fn, ctx):
    """Status; M, f and c at q and v in the context, where POSITION was called."""
    flag = flag_(ctx)
    flag[AT_POSITION] = 1
    call(fn[EVALUATE], ctx)
    flag[AT_POSITION] = 0
    if flag[STATUS] != OK:
        return flag[STATUS]
    call(fn[BIAS], ctx)
    return flag[STATUS]


@kernel
def attempt(fn, ctx, t, F, P, more):
    """Status and iterations: the state at time t, if it continues the path (DRV-5)."""
    q, v = q_(ctx), v_(ctx)
    n, h = q.shape[0], t - P.info[T0]
    par_(ctx)[TIME] = t
    flag_(ctx)[STATUS] = OK  # an attempt before may have gone too far
    for i in range(n):
        q[i] = P.q[i] + h * P.v[i] + 0.5 * h * h * P.a[i]
    status, its = newton(fn, ctx, F, more)
    if status == NOT_CONVERGED and last_pivot(F) < ZONE * P.info[MOST_SEEN]:
        return IN_ZONE, its  # rounding, which rows that hardly see a direction make large, is all that did not converge
    if status != OK:
        return status, its
    status = rates(fn, ctx, F, P)
    if status == LOST_RANK or (status == OK and P.info[SEEN_NOW] < ZONE * P.info[MOST_SEEN]):
        return IN_ZONE, its
    if status != OK:
        return status, its
    miss, turn, moved = 0.0, 0.0, 0.0
    for i in range(n):
        scale = 1.0 / real(F.columns[i])
        miss = max(miss, scale * abs(real(q[i] - P.q[i] - h * P.v[i] - 0.5 * h * h * P.a[i])))
        turn = max(turn, scale * h * abs(real(v[i] - P.v[i] - h * P.a[i])))
        moved = max(moved, scale * max(h * max(abs(real(v[i])), abs(real(P.v[i]))), abs(real(q[i] - P.q[i]))))
    if not miss + turn <= SMOOTH * moved + FLOOR:
        return NOT_CONVERGED, its
    return OK, its


@kernel
def quintic(s, h, q0, v0, a0, q1, v1, a1):
    """Value and rates at the part s of a time h, by the polynomial of fifth degree with those given at its ends  (DRV-6)."""
    c0, c1, c2 = q0, h * v0, 0.5 * h * h * a0
    d = q1 - c0 - c1 - c2
    e = h * v1 - c1 - 2.0 * c2
    b = h * h * a1 - 2.0 * c2
    c3, c4, c5 = 10.0 * d - 4.0 * e + 0.5 * b, -15.0 * d + 7.0 * e - b, 6.0 * d - 3.0 * e + 0.5 * b
    x = c0 + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))))
    xd = (c1 + s * (2.0 * c2 + s * (3.0 * c3 + s * (4.0 * c4 + s * 5.0 * c5)))) / h
    xdd = (2.0 * c2 + s * (6.0 * c3 + s * (12.0 * c4 + s * 20.0 * c5))) / (h * h)
    return x, xd, xdd


@kernel
def between(t, t0, q0, v0, a0, t1, q, v, a, k):
    """Position, velocity and acceleration k at time t, from those at t0 and t1  (DRV-6)."""
    return quintic((t - t0) / (t1 - t0), t1 - t0, q0[k], v0[k], a0[k], q[k], v[k], a[k])


@kernel
def bridge(fn, ctx, t, F, P, more, allowed):
    """Status and iterations: the state at time t, a singular position, between the path and a state beyond (DRV-6).

    It is refused, as not converged, if a row is off by more than `allowed`.
    """
    q, v, a, vp, ap, Phi = q_(ctx), v_(ctx), a_(ctx), vp_(ctx), ap_(ctx), Phi_(ctx)
    total, length = 0, t - P.info[T0]
    for _ in range(BRIDGES):
        status, its = attempt(fn, ctx, t + length, F, P, more)
        total += its
        if status == OK:
            for i in range(q.shape[0]):
                q[i], v[i], a[i] = between(t, P.info[T0], P.q, P.v, P.a, t + length, q, v, a, i)
                vp[i] = v[i]
                ap[i] = a[i]
            par_(ctx)[TIME] = t
            call(fn[POSITION], ctx)
            for l in range(F.A.shape[1]):
                if not abs(real(Phi[l])) * real(F.rows[l]) <= allowed:
                    return NOT_CONVERGED, total
            return forces(fn, ctx), total
        length *= 2.0
    return LOST_RANK, total


@kernel
def accept(ctx, t, P):
    """Whether a singular position lies between the path and the state of the context, which continues it (DRV-7)."""
    q, v, a = q_(ctx), v_(ctx), a_(ctx)
    n, m = q.shape[0], P.u.shape[0]
    along, across = 0.0, 0.0
    for i in range(n):
        along += P.w[i] * P.w_now[i]
    for l in range(m):
        across += P.u[l] * P.u_now[l]
    crossed = along * across < 0.0 and abs(along) > ALIGNED and abs(across) > ALIGNED
    if crossed:
        k, before, now = P.count[0], P.info[SEEN], P.info[SEEN_NOW]
        if k < P.events.shape[0]:
            when = P.info[T0] + (t - P.info[T0]) * before / (before + now)
            P.events[k, 0] = when
            for i in range(n):
                x, _, _ = between(when, P.info[T0], P.q, P.v, P.a, t, q, v, a, i)
                P.events[k, 1 + i] = real(x)
        P.count[0] += 1
    for i in range(n):
        P.q[i] = q[i]
        P.v[i] = v[i]
        P.a[i] = a[i]
        P.w[i] = P.w_now[i]
    for l in range(m):
        P.u[l] = P.u_now[l]
    P.info[T0], P.info[SEEN] = t, P.info[SEEN_NOW]
    P.info[MOST_SEEN] = max(P.info[MOST_SEEN], P.info[SEEN_NOW])
    return crossed


@kernel
def reach(fn, ctx, t, h, F, P, more):
    """Status, iterations and flags: the state at time t in the context, by as many steps as the path asks for; h: a step of
    the grid."""
    part, total, marks, bridged = 1.0, 0, 0, False
    for _ in range(MOST_ATTEMPTS):
        whole = part == 1.0
        when = t if whole else P.info[T0] + part * (t - P.info[T0])
        status, its = attempt(fn, ctx, when, F, P, more)
        total += its
        if status == IN_ZONE and whole:
            status, its = bridge(fn, ctx, t, F, P, more, BRIDGED_TO)
            bridged = bridged or status == NOT_CONVERGED
            total += its
            if status == OK:
                return OK, total, marks | BRIDGED
        if status == OK:
            if accept(ctx, when, P):
                marks |= PASSED
            if whole:
                return OK, total, marks
            part = min(1.0, 2.0 * part)
        else:
            part *= 0.5
            if part * (t - P.info[T0]) < h * 0.5**HALVINGS:
                break
    if bridged:  # as well as it can be
        status, its = bridge(fn, ctx, t, F, P, more, ACCEPTED)
        return status, total + its, marks | BRIDGED
    return LOST_RANK if status == IN_ZONE else status, total, marks


@kernel
def multipliers(ctx, F, rank):
    """lam with M a + f + Phi_qᵀ lam = 0, by the factors of the rows (DRV-3)."""
    M, f, a, y = M_(ctx), f_(ctx), a_(ctx), y_(ctx)
    n = a.shape[0]
    for i in range(n):
        s = -f[i]
        for j in range(n):
            s -= M[i, j] * a[j]
        y[i] = s
    solve_transposed(F, rank, y, lam_(ctx))


@kernel
def store(ctx, m, row):
    """One row of a trajectory."""
    q, v, a, lam = q_(ctx), v_(ctx), a_(ctx), lam_(ctx)
    n = q.shape[0]
    for i in range(n):
        row[i] = q[i]
        row[n + i] = v[i]
        row[2 * n + i] = a[i]
    for l in range(m):
        row[3 * n + l] = lam[l]


@entry(what="the kinematics kernels")
def begin(fn, ctx, F, P, row):
    """Status and rank at the position of the context: its state is the first of the path, and fills `row`."""
    flag_(ctx)[FREEDOMS] = 0
    par_(ctx)[WK] = 0.0
    status = rates(fn, ctx, F, P)
    if status == OK:
        accept(ctx, real(par_(ctx)[TIME]), P)
        P.count[0] = 0
        multipliers(ctx, F, F.A.shape[0])
        store(ctx, F.A.shape[1], row)
    return status, factor(J_(ctx), F)


@entry(what="the kinematics kernels")
def drive(fn, ctx, F, P, more, steps, objectives):
    """Status and number of steps done: from the path through the instants ts[1:], as `simulate` of formulations."""
    ts, hs, stride, traj, iterations, flags = steps.ts, steps.hs, steps.stride, steps.traj, steps.counts, steps.flags
    kinds, psi, g_last = objectives.kinds, objectives.psi, objectives.g_last
    n, m = F.A.shape
    flag_(ctx)[FREEDOMS] = 0
    par_(ctx)[WK] = 0.0
    for step in range(hs.shape[0]):
        status, iterations[step], flags[step] = reach(fn, ctx, ts[step + 1], hs[step], F, P, more)
        if status != OK:
            return status, step
        multipliers(ctx, F, factor(J_(ctx), F) if flags[step] & BRIDGED else n)
        observe_step(fn, ctx, ts[step + 1], hs[step], g_(ctx), kinds, psi, g_last)
        if (step + 1) % stride == 0 and traj.shape[0] > (step + 1) // stride:
            store(ctx, m, traj[(step + 1) // stride])
    return OK, hs.shape[0]
