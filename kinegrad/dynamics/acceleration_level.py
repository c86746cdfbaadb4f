"""Stabilised Lagrange multipliers, and penalties, at acceleration level: with the Newmark family and Runge-Kutta methods."""

from __future__ import annotations

import time

import numpy as np

from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.scheme import Run, Scheme
from kinegrad.kernels.products import BIAS, EVALUATE
from kinegrad.kernels.status import OK, TOO_MANY_STEPS

FIRST_ROWS = 256  # steps a run with error control has room for at first; doubled when they are used up
MOST_STEPS = 10**6


class AccelerationLevel(Scheme):
    """What the integrators share; rows begin with q, v, a, lam of the state."""

    needs = (EVALUATE, BIAS)
    explicit = True
    family = np.zeros(5)  # no constants of the Newmark family

    def __init__(self, system, options):
        super().__init__(system, options)
        from kinegrad.kernels.formulations import acceleration_level, acceleration_level_derivatives, runge_kutta

        self.kernels = acceleration_level
        self.derivatives = acceleration_level_derivatives
        self.tableau = self.tableau_of(runge_kutta)
        self.compliance = 1.0 / options["penalty"] if "penalty" in options else 0.0
        frequency, damping = options["frequency"], options["damping"]
        self.opts = np.array([self.compliance, frequency**2, 2.0 * damping * frequency, options["tolerance"]])

    @staticmethod
    def tableau_of(methods):
        """The tableau of an explicit method; a one-stage one stands for none."""
        return methods.NONE

    @property
    def size(self) -> int:
        """Numbers of one state or stage."""
        return 3 * self.system.n + self.system.m

    @property
    def row_size(self):
        return self.tableau.stages * self.size

    def keep(self, work, row):
        row[: self.size] = np.concatenate([*(work[k] for k in ("q", "vp", "ap")), work["lam"][: self.system.m]])

    def resume(self, work, row):
        n, m = self.system.n, self.system.m
        work["q"][:], work["vp"][:], work["ap"][:] = row[:n], row[n : 2 * n], row[2 * n : 3 * n]
        work["v"][:], work["a"][:] = work["vp"], work["ap"]
        work["lam"][:m] = row[3 * n : 3 * n + m]

    def motion(self, traj):
        n, m = self.system.n, self.system.m
        parts = {"q": traj[:, :n], "qd": traj[:, n : 2 * n], "qdd": traj[:, 2 * n : 3 * n]}
        return parts | {"lam": traj[:, 3 * n : 3 * n + m]}

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        return self.derivatives.direct(
            fn, work.pointer, self.system.m, self.explicit, *self.tableau[:3], self.family, ts, hs, after, self.opts, final,
            traj, *state[:3], state[-1], grad,
        )  # fmt: skip

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        return self.derivatives.adjoint(
            fn, work.pointer, self.system.m, self.explicit, *self.tableau[:3], self.family, ts, hs, after, self.opts, final,
            traj, *state[:3], state[-1],
        )  # fmt: skip

    def start_weight(self, hs):
        return 0.0


class AccelerationLevelNewmark(NewmarkFamily, AccelerationLevel):
    """With Newmark, HHT or generalized-alpha."""

    explicit = False

    def advance(self, work, fn, ts, hs, observe, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate_newmark(
            fn, work.pointer, self.system.m, ts, hs, self.opts, self.family, self.auxiliary, self.options["max_iterations"],
            final, psi, g_last, stride, traj, iterations,
        )  # fmt: skip


class AccelerationLevelRungeKutta4(AccelerationLevel):
    """With the classical Runge-Kutta method; rows also hold stages 2, 3, 4 of the step that led to the state."""

    iterates = False

    @staticmethod
    def tableau_of(methods):
        return methods.RK4

    def advance(self, work, fn, ts, hs, observe, final, psi, g_last, stride, traj, iterations, flags):
        return self._advance(work, fn, ts, hs, np.zeros(0), final, psi, g_last, stride, traj, iterations)

    def _advance(self, work, fn, ts, hs, control, final, psi, g_last, stride, traj, iterations):
        return self.kernels.simulate_rk(
            fn, work.pointer, self.system.m, *self.tableau, ts, hs, control, self.opts, final, psi, g_last, stride, traj,
            iterations,
        )  # fmt: skip


class AccelerationLevelRungeKutta54(AccelerationLevelRungeKutta4):
    """With Dormand and Prince's method and steps chosen by its error estimate; rows also hold stages 2 to 6."""

    adaptive = True

    @staticmethod
    def tableau_of(methods):
        return methods.RK54

    def run_adaptive(self, work, fn, t_end, step, interval, final, psi, g_last, begin, progress):
        control = np.array([t_end, self.options["integrator_tolerance"], interval or 0.0, min(step, t_end), 1.0])
        ts, hs, evaluations = np.zeros(FIRST_ROWS + 1), np.zeros(FIRST_ROWS), np.zeros(FIRST_ROWS, np.int64)
        traj = np.zeros((FIRST_ROWS + 1, self.row_size), begin.dtype)
        traj[0] = begin

        def advance(first, last):
            return self._advance(
                work, fn, ts[first : last + 1], hs[first:last], control, final, psi, g_last, 1, traj[first : last + 1],
                evaluations[first:last],
            )  # fmt: skip

        advance(0, 0)  # no steps: compiles, or loads, before the clock starts
        done, cpu = 0, 0.0
        while True:
            clock = time.thread_time()
            last = min(len(hs), MOST_STEPS) if progress is None else min(len(hs), MOST_STEPS, done + FIRST_ROWS)
            status, count = advance(done, last)
            cpu += time.thread_time() - clock
            done += count
            if progress is not None:
                progress(min(1.0, ts[done] / t_end))
            if status == OK and done == MOST_STEPS and ts[done] < t_end:
                status = TOO_MANY_STEPS
            if status != OK or ts[done] >= t_end:
                ts, traj = ts[: done + 1].copy(), traj[: done + 1].copy()
                hs, evaluations = hs[:done].copy(), evaluations[:done].copy()
                return Run(status, ts, hs, evaluations, np.zeros(done, np.int64), ts, traj, cpu)
            if done == len(hs):
                ts, hs, evaluations, traj = (doubled(x) for x in (ts, hs, evaluations, traj))


def doubled(x: np.ndarray) -> np.ndarray:
    """x with as many rows of zeros after it."""
    return np.concatenate([x, np.zeros_like(x)])
