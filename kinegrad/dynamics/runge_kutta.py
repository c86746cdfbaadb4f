"""Explicit Runge-Kutta methods: their tableaus, and runs whose steps are chosen by error control."""

from __future__ import annotations

import time
from abc import abstractmethod

import numpy as np

from kinegrad.dynamics.scheme import Run, Scheme
from kinegrad.kernels.status import INTERRUPTED, OK, TOO_MANY_STEPS
from kinegrad.memory import require

FIRST_ROWS = 256  # steps a run with error control has room for at first; doubled when they are used up
MOST_STEPS = 10**6


class RungeKutta(Scheme):
    """To be inherited before the class of a formulation: fixed steps; rows have stages 2 to s after the state."""

    explicit = True

    def start_weight(self, hs):
        return 0.0

    def integrals(self, ts, hs, traj, integrand):
        """As of any scheme, by the stages of the method: of its order (RKT-3)."""
        total = np.zeros(len(hs), traj.dtype)
        for i, (b, c) in enumerate(zip(self.tableau.b, self.tableau.c, strict=True)):
            if b != 0.0:
                times = ts[1:] if c == 1.0 else ts[:-1] + c * hs
                rows = traj[:-1] if i == 0 else traj[1:, i * self.size :]
                total += hs * b * integrand(times, self.motion(rows))
        return total

    @abstractmethod
    def controlled(self, work, fn, ts, hs, control, final, psi, g_last, stride, traj, evaluations, flags) -> tuple:
        """As `call`, with `control`: empty, or the numbers of error control (RKT-4)."""

    def call(self, work, fn, ts, hs, *rest):
        return self.controlled(work, fn, ts, hs, np.zeros(0), *rest)

    def run(self, work, fn, ts, hs, control, *rest):
        """As `advance`, with `control`."""
        entry, arguments = self.controlled(work, fn, ts, hs, control, *rest)
        return entry(*arguments)


class RungeKutta4(RungeKutta):
    """The classical method of order 4."""

    @staticmethod
    def tableau_of(methods):
        return methods.RK4


class RungeKutta54(RungeKutta):
    """Dormand and Prince's method with steps chosen by its error estimate."""

    adaptive = True

    @staticmethod
    def tableau_of(methods):
        return methods.RK54

    def run_adaptive(self, work, fn, t_end, step, interval, final, psi, g_last, begin, progress, interrupts) -> Run:
        """The run from row `begin` to t_end; `step` is the first one tried, and multiples of `interval` are met."""
        control = np.array([t_end, self.options["integrator_tolerance"], interval or 0.0, min(step, t_end), 1.0])
        ts, hs = np.zeros(FIRST_ROWS + 1), np.zeros(FIRST_ROWS)
        evaluations, flags = np.zeros(FIRST_ROWS, np.int64), np.zeros(FIRST_ROWS, np.int64)
        traj = np.zeros((FIRST_ROWS + 1, self.row_size), begin.dtype)
        traj[0] = begin

        def advance(first, last):
            return self.run(
                work, fn, ts[first : last + 1], hs[first:last], control, final, psi, g_last, 1, traj[first : last + 1],
                evaluations[first:last], flags[first:last],
            )  # fmt: skip

        done, cpu = 0, 0.0
        while True:
            clock = time.thread_time()
            last = min(len(hs), MOST_STEPS, done + FIRST_ROWS)
            status, count = advance(done, last)
            cpu += time.thread_time() - clock
            done += count
            if progress is not None:
                progress(min(1.0, ts[done] / t_end))
            if status == OK and done == MOST_STEPS and ts[done] < t_end:
                status = TOO_MANY_STEPS
            if status == OK and interrupts.came:
                status = INTERRUPTED
            if status != OK or ts[done] >= t_end:
                ts, traj = ts[: done + 1].copy(), traj[: done + 1].copy()
                hs, evaluations, flags = (x[:done].copy() for x in (hs, evaluations, flags))
                return Run(status, ts, hs, evaluations, flags, ts, traj, cpu)
            if done == len(hs):
                require(
                    3 * traj.nbytes,
                    f"Keeping more than {done} states",
                    "raise the tolerance, or simulate a shorter time",
                )
                ts, hs, evaluations, flags, traj = (doubled(x) for x in (ts, hs, evaluations, flags, traj))


def doubled(x: np.ndarray) -> np.ndarray:
    """x with as many rows of zeros after it."""
    return np.concatenate([x, np.zeros_like(x)])
