"""Stabilised Lagrange multipliers, and penalties, at acceleration level: with the Newmark family and Runge-Kutta methods."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.prepared import Prepared
from kinegrad.dynamics.runge_kutta import RungeKutta, RungeKutta4, RungeKutta54
from kinegrad.dynamics.scheme import Scheme
from kinegrad.kernels.products import BIAS, EVALUATE
from kinegrad.kinematics.singular import NULL, inertia_scale
from kinegrad.kinematics.start import row_sizes

NOTICEABLE = 1e-4  # part of the accelerations that penalties let through
INDEPENDENT = 1e-7  # singular value, of the largest, of unit rows above which a direction counts


class AccelerationLevel(Scheme):
    """What the integrators share; rows begin with q, v, a, lam of the state."""

    needs = (EVALUATE, BIAS)
    explicit: bool
    family = np.zeros(5)  # no constants of the Newmark family

    found = ("opts", "scales")

    def __init__(self, system, options):
        super().__init__(system, options)
        from kinegrad.kernels.formulations import acceleration_level, acceleration_level_derivatives, runge_kutta

        self.kernels = acceleration_level
        self.derivatives = acceleration_level_derivatives
        self.tableau = self.tableau_of(runge_kutta)
        self.compliance = 1.0 / options["penalty"] if "penalty" in options else 0.0
        frequency, damping = options["frequency"], options["damping"]
        self.opts = np.array(
            [self.compliance, frequency**2, 2.0 * damping * frequency, options["tolerance"], -1.0, -1.0]
        )

    @staticmethod
    def tableau_of(methods):
        """The tableau of an explicit method; a one-stage one stands for none."""
        return methods.NONE

    def begin(self, work):
        super().begin(work)
        self.opts[self.kernels.SOFT] = -1.0
        self.opts[self.kernels.RANK], self.scales = rank_of_rows(work)
        self.put_scales(work)
        work["sizes"][:] = 0.0

    def remark(self) -> str:
        part = self.opts[self.kernels.SOFT] / self.kernels.TOLERATED
        if not (self.compliance > 0.0 and part > NOTICEABLE):
            return ""
        enough = self.options["penalty"] * part / (0.01 * NOTICEABLE)
        return (
            f"The penalty of {self.options['penalty']:.3g} lets {100.0 * part:.2g} % of the accelerations through the "
            f"constraints; {enough:.1g} would hold them, or the formulation 'index1' without penalties."
        )

    def put_scales(self, work) -> None:
        """Scales of rows and coordinates for the choice of independent rows."""
        for name, values in self.scales.items():
            work[name][:] = values

    @property
    def complete(self) -> bool:
        return self.opts[self.kernels.RANK] >= 0.0

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

    def memory(self, work):
        if self.opts[self.kernels.RANK] == self.system.m:
            return [work["sizes"], self.opts[self.kernels.SOFT :]]
        return [
            work["sizes"],
            self.opts[self.kernels.SOFT :],
            work["J"],
            work["ease"],
        ]  # rows are chosen by J at the state

    def allow_changes(self, work, fn, final, psi, g_last):
        self.accelerate = Accelerations(self.system, *self.solved_by(work, fn), self.opts, final, psi, g_last)

    def settle(self, work, t):
        return self.accelerate(t)

    def solved_by(self, work, fn):
        """The context in which accelerations are solved for, and the functions that do it."""
        return work, fn

    def motion(self, traj):
        n, m = self.system.n, self.system.m
        parts = {"q": traj[:, :n], "qd": traj[:, n : 2 * n], "qdd": traj[:, 2 * n : 3 * n]}
        return parts | {"lam": traj[:, 3 * n : 3 * n + m]}

    def rates(self, state) -> np.ndarray:
        """Scratch for the derivatives of the velocities and accelerations of all stages."""
        return np.zeros((2, self.tableau.stages, *state[0].shape), state[0].dtype)

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        self.put_scales(work)
        return self.derivatives.direct(
            fn, work.pointer, self.system.m, self.explicit, *self.tableau[:3], self.family, ts, hs, after, self.opts, final,
            traj, self.rates(state), *state[:3], state[-1], grad,
        )  # fmt: skip

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        self.put_scales(work)
        return self.derivatives.adjoint(
            fn, work.pointer, self.system.m, self.explicit, *self.tableau[:3], self.family, ts, hs, after, self.opts, final,
            traj, self.rates(state), *state[:3], state[-1],
        )  # fmt: skip


class Accelerations:
    """a = ap, lam (IDX-1) and the integrands at a state, from compiled code: a Runge-Kutta step of no length with one stage."""

    def __init__(self, system, work, fn, opts, final, psi, g_last):
        from kinegrad.kernels.formulations import acceleration_level, runge_kutta

        self.times, number = np.zeros(2), psi.dtype
        arguments = (
            fn, work.pointer, system.m, *runge_kutta.NONE, self.times, np.zeros(1), np.zeros(0), opts, final, psi, g_last, 1,
            np.zeros((1, 0), number), np.zeros(1, np.int64), np.zeros((2, 2, system.n), number), np.zeros_like(psi),
        )  # fmt: skip
        self.work, self.step = work, Prepared(acceleration_level.simulate_rk, arguments)

    def __call__(self, t: float) -> int:
        """Status, at the state of the workspace and the time t."""
        self.times[:] = t
        return self.step()[0]


def rank_of_rows(work) -> tuple[int, dict[str, np.ndarray]]:
    """The rank of the constraint rows at the start that the workspace holds, and scales of rows and coordinates (IDX-7)."""
    J, columns = work["J"][: work.system.m].real, inertia_scale(work)
    size = np.linalg.norm(J * columns, axis=1)
    largest = size.max(initial=0.0) or 1.0
    rows = 1.0 / np.where(size > NULL * largest, size, largest)
    scales = {"row_scale": rows, "scale": columns, "reach": 1.0 / row_sizes(work.system, work, len(J))}
    scaled = rows[:, None] * J * columns
    if not scaled.size or not np.isfinite(scaled).all():
        return len(J), scales
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > INDEPENDENT * values[0]).sum()), scales


class AccelerationLevelNewmark(NewmarkFamily, AccelerationLevel):
    """With Newmark, HHT or generalized-alpha."""

    explicit = False

    def call(self, work, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate_newmark, (
            fn, work.pointer, self.system.m, ts, hs, self.opts, self.family, self.auxiliary, self.options["max_iterations"],
            final, psi, g_last, stride, traj, iterations,
        )  # fmt: skip


class AccelerationLevelRungeKutta(RungeKutta, AccelerationLevel):
    """With a Runge-Kutta method."""

    iterates = False
    unused = ("tolerance", "max_iterations")

    def controlled(self, work, fn, ts, hs, control, final, psi, g_last, stride, traj, evaluations, flags):
        return self.kernels.simulate_rk, (
            fn, work.pointer, self.system.m, *self.tableau, ts, hs, control, self.opts, final, psi, g_last, stride, traj,
            evaluations, np.zeros((2, self.tableau.stages + 1, self.system.n), traj.dtype), np.zeros_like(psi),
        )  # fmt: skip


class AccelerationLevelRungeKutta4(RungeKutta4, AccelerationLevelRungeKutta):
    """With the classical Runge-Kutta method; rows also hold stages 2, 3, 4 of the step that led to the state."""


class AccelerationLevelRungeKutta54(RungeKutta54, AccelerationLevelRungeKutta):
    """With Dormand and Prince's method and steps chosen by its error estimate; rows also hold stages 2 to 6."""
