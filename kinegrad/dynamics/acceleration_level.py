"""Stabilised Lagrange multipliers, and penalties, at acceleration level: with the Newmark family and Runge-Kutta methods."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.dynamics.formulation import Formulation
from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.runge_kutta import RungeKutta
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Explicit, Steps
from kinegrad.kernels.formulations.runge_kutta import NONE
from kinegrad.kernels.prepared import Prepared
from kinegrad.kernels.products import BIAS, EVALUATE
from kinegrad.kinematics.constrained import squares_of
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.singular import inertia_scale, without_null
from kinegrad.kinematics.start import row_sizes

NOTICEABLE = 1e-4  # part of the accelerations that penalties let through
INDEPENDENT = 1e-7  # singular value, of the largest, of unit rows above which a direction counts


class AccelerationLevel(Formulation):
    """index1, penalty and udwadia-kalaba; rows have q, v, a, lam of the state and of stages."""

    takes_fronts = True
    families = (NewmarkFamily, RungeKutta)
    unused_if_explicit = ("tolerance", "max_iterations")
    needs = (EVALUATE, BIAS)
    found = ("opts", "scales")

    def __init__(self, system, options, integrator, given):
        super().__init__(system, options, integrator, given)
        from kinegrad.kernels.formulations import acceleration_level, acceleration_level_derivatives

        self.kernels, self.derivatives = acceleration_level, acceleration_level_derivatives
        self.compliance = 1.0 / options["penalty"] if "penalty" in options else 0.0
        frequency, damping = options["frequency"], options["damping"]
        self.opts = np.array(
            [self.compliance, frequency**2, 2.0 * damping * frequency, options["tolerance"], -1.0, -1.0]
        )

    def begin(self, work):
        self.opts[self.kernels.SOFT] = -1.0
        self.opts[self.kernels.RANK], self.scales = rank_of_rows(work)
        redundant = self.system.m - int(self.opts[self.kernels.RANK])
        if redundant and not work["apart"].size:
            raise KinegradError(
                f"{self.system.m} constraint rows, {redundant} of them redundant, are too many to choose independent ones in "
                "every step; use ali3p, which need not."
            )
        self.put_scales(work)
        work["sizes"][:] = 0.0
        if redundant and self.compliance > 0.0 and self.integrator.explicit:
            self.kernels.begin_rk(work.functions(EVALUATE, BIAS), work.pointer, self.system.m, self.opts)

    def remark(self, work) -> str:
        part = self.opts[self.kernels.SOFT] / self.kernels.TOLERATED
        if not (self.compliance > 0.0 and part > NOTICEABLE):
            return ""
        enough = self.options["penalty"] * part / (0.01 * NOTICEABLE)
        return (
            f"The penalty of {self.options['penalty']:.3g} lets {100.0 * part:.2g} % of the accelerations through the "
            f"constraints; {enough:.1g} would hold them, or the formulation 'index1' without penalties."
        )

    @property
    def against_drift(self) -> str:
        if self.opts[self.kernels.STIFFNESS] == 0.0:
            pulled = "with a frequency of 0 nothing pulls it back"
            return f"{pulled}; take {self.integrator.finer}, a frequency such as 10, or the formulation 'ali3p'"
        return f"take {self.integrator.finer}, or the formulation 'ali3p'"

    def put_scales(self, work) -> None:
        """Scales of rows and coordinates for the choice of independent rows."""
        for name, values in self.scales.items():
            work[name][:] = values

    @property
    def complete(self) -> bool:
        return self.opts[self.kernels.RANK] >= 0.0

    def resume(self, work, row):
        super().resume(work, row)
        work["v"][:], work["a"][:] = work["vp"], work["ap"]

    def memory(self, work):
        kept = [work["sizes"], self.opts[self.kernels.SOFT :]]
        if self.opts[self.kernels.RANK] < self.system.m:
            kept += [work.arrays["J"], work["ease"]]  # rows are chosen by J at the state
        return kept

    def solved_by(self, work, fn):
        """The context in which accelerations are solved for, and the functions that do it."""
        return work, fn

    def steps_by(self):
        """The compiled entry that does steps."""
        return self.kernels.simulate_rk if self.integrator.explicit else self.kernels.simulate_newmark

    def call(self, work, fn, method, steps, objectives):
        solver, functions = self.solved_by(work, fn)
        return self.steps_by(), (functions, solver.pointer, self.system.m, method, steps, objectives, self.opts)

    def allow_changes(self, work, fn, objectives):
        self.accelerate = Accelerations(self.system, *self.solved_by(work, fn), self.opts, objectives)

    def settle(self, work, t):
        return self.accelerate(t)

    def sweep(self, work, fn, segment, variation):
        self.put_scales(work)
        rates = np.zeros((2, self.integrator.tableau.stages, *variation.q.shape), variation.q.dtype)
        return fn, work.pointer, self.system.m, self.integrator.rule, segment, self.opts, rates, variation


class Accelerations:
    """a = ap, lam (IDX-1) and the integrands at a state, from compiled code: a Runge-Kutta step of no length with one stage."""

    def __init__(self, system, work, fn, opts, objectives):
        from kinegrad.kernels.formulations.acceleration_level import simulate_rk

        self.times, psi = np.zeros(2), objectives.psi
        method = Explicit(NONE, np.zeros(0), np.zeros((2, 2, system.n), psi.dtype), np.zeros_like(psi))
        self.step = Prepared(
            simulate_rk, (fn, work.pointer, system.m, method, no_length(self.times, psi), objectives, opts)
        )
        self.work = work

    def __call__(self, t: float) -> int:
        """Status, at the state of the workspace and the time t."""
        self.times[:] = t
        return self.step()[0]


def no_length(times: np.ndarray, psi: np.ndarray) -> Steps:
    """One step, from a time to itself, of which nothing is kept; with numbers as in psi."""
    return Steps(times, np.zeros(1), 1, np.zeros((1, 0), psi.dtype), np.zeros(1, np.int64), np.zeros(1, np.int64))


def rank_of_rows(work) -> tuple[int, dict[str, np.ndarray]]:
    """The rank of the constraint rows at the start that the workspace holds, and scales of rows and coordinates (IDX-7)."""
    J, (columns, _), per_row = first_rows(work, "J", work.system.m).real, inertia_scale(work), work["per_row"]
    size = np.sqrt(squares_of(J) @ columns**2 if isinstance(J, Rows) else np.square(J * columns).sum(axis=1))
    rows = 1.0 / without_null(size, per_row[: work.system.m])
    scales = {"row_scale": rows, "scale": columns, "reach": 1.0 / row_sizes(work.system, work, len(J))}
    if isinstance(J, Rows):
        finite = np.isfinite(J.values).all()
        return int(J.fronts.independent(J.scaled(rows, columns), INDEPENDENT).sum()) if finite else len(J), scales
    scaled = rows[:, None] * J * columns
    if not scaled.size or not np.isfinite(scaled).all():
        return len(J), scales
    values = np.linalg.svd(scaled, compute_uv=False)
    return int((values > INDEPENDENT * values[0]).sum()), scales
