"""Explicit Runge-Kutta methods: fixed steps, and runs whose steps are chosen by error control."""

from __future__ import annotations

import time

import numpy as np

from kinegrad.dynamics.integrator import Integrator
from kinegrad.dynamics.kept_rows import BLOCK, doubled
from kinegrad.dynamics.run import Run
from kinegrad.kernels.formulations.arguments import Explicit, Steps
from kinegrad.kernels.formulations.runge_kutta import RK4, RK54, T_END
from kinegrad.kernels.status import INTERRUPTED, OK, TOO_MANY_STEPS

MOST_STEPS = 10**6


class RungeKutta(Integrator):
    """What the methods share; rows have stages 2 to s, of the step that led to the state, after it."""

    explicit = True

    def method(self, allowed, coordinates, psi, control):
        rates = np.zeros((2, self.tableau.stages + 1, coordinates), psi.dtype)
        return Explicit(self.tableau, control, rates, np.zeros_like(psi))

    def start_weight(self, hs):
        return 0.0

    def integrals(self, ts, hs, rows, size, values):
        """By the stages of the method: of its order (RKT-3)."""
        total = np.zeros(len(hs), rows.dtype)
        for i, (b, c) in enumerate(zip(self.tableau.b, self.tableau.c, strict=True)):
            if b != 0.0:
                times = ts[1:] if c == 1.0 else ts[:-1] + c * hs
                total += hs * b * values(times, rows[:-1] if i == 0 else rows[1:, i * size :])
        return total


class RungeKutta4(RungeKutta):
    """The classical method of order 4."""

    tableau = RK4


class RungeKutta54(RungeKutta):
    """Dormand and Prince's method with steps chosen by its error estimate."""

    tableau = RK54
    adaptive = True
    finer = "a smaller tolerance of the integrator"

    def run(self, advance, ends, step, interval, rows, progress, interrupts) -> Run:
        """The run to the last of `ends` by `advance(steps, control)`, with what `rows` keeps of it; `step` is the first one
        tried; all ends and multiples of `interval` are met."""
        ends, t_end = list(ends), ends[-1]
        control = np.array([t_end, self.options["tolerance"], interval or 0.0, min(step, t_end), 1.0])
        ts, hs = np.zeros(BLOCK + 1), np.zeros(BLOCK)
        evaluations, flags = np.zeros(BLOCK, np.int64), np.zeros(BLOCK, np.int64)
        done, cpu = 0, 0.0
        while True:
            clock = time.thread_time()
            control[T_END] = ends[0]
            last = min(len(hs), MOST_STEPS, done + BLOCK)
            states, between = slice(done, last + 1), slice(done, last)
            steps = Steps(ts[states], hs[between], 1, rows.room(done, last), evaluations[between], flags[between])
            status, count = advance(steps, control)
            cpu += time.thread_time() - clock
            rows.take(ts[done : done + count + 1], hs[done : done + count], done)
            done += count
            if progress is not None:
                progress(min(1.0, ts[done] / t_end))
            if status == OK and done == MOST_STEPS and ts[done] < t_end:
                status = TOO_MANY_STEPS
            if status == OK and interrupts.came:
                status = INTERRUPTED
            while len(ends) > 1 and ts[done] >= ends[0]:
                ends.pop(0)
            if status != OK or ts[done] >= t_end:
                hs, evaluations, flags = (x[:done].copy() for x in (hs, evaluations, flags))
                return rows.run(status, ts[: done + 1].copy(), hs, evaluations, flags, cpu)
            if done == len(hs):
                rows.grow(done)
                ts, hs, evaluations, flags = (doubled(x) for x in (ts, hs, evaluations, flags))
