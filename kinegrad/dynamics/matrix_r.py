"""Matrix R: independent coordinates, with the Newmark family and with Runge-Kutta methods."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.sizes import power_of_two
from kinegrad.coordinates.workspace import Workspace
from kinegrad.dynamics.acceleration_level import no_length
from kinegrad.dynamics.formulation import Formulation
from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.runge_kutta import RungeKutta
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Explicit
from kinegrad.kernels.formulations.runge_kutta import NONE
from kinegrad.kernels.prepared import Prepared, Windows
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, LENGTH, POSITION, TIME
from kinegrad.kernels.status import LOST_RANK, NOT_CONVERGED, OK, SINGULAR
from kinegrad.kinematics.states import refuse_velocity_rows

NEARLY_LOST = 14  # -ln of the part that is left of a pivot: the square of 1e-3
NULL = 1e-24  # of the square of the largest row: a row that is none but for rounding
TOO_LIGHT = 1e-11  # of the largest inertia, in sizes of the model: what a coordinate moves that is known to few digits
NO_RADIUS = 1e100  # lengths of the model by the radius of gyration of what has none
WORSE = 0.5  # of the quality that a selection began with: then another is sought


MOST = 300  # coordinates


class MatrixR(Formulation):
    """Rows have q, v, a, lam of the state and of stages, then the independent coordinates of the step that follows.

     `chosen` has these coordinates, or -1 where the degrees of freedom of the model are something else;
    `carried` and `off` are what a run knows beside its state.
    """

    families = (NewmarkFamily, RungeKutta)
    unused_if_explicit = ("max_iterations",)
    needs = (EVALUATE, BIAS, POSITION)
    weights: np.ndarray | None = None  # of rows, by their units, and by their sizes at the start

    def __init__(self, system, options, integrator, given):
        super().__init__(system, options, integrator, given)
        from kinegrad.kernels.formulations import independent, matrix_r, matrix_r_derivatives, matrix_r_steps

        if system.n > MOST:
            raise KinegradError(
                f"The formulation 'matrix-r' factors full matrices, of {system.n} coordinates here; it takes up to {MOST}. Use "
                "ali3p, whose solver 'fronts' takes as many as there are."
            )
        below = options["reselect_below"]
        if not 0.0 <= below <= 1.0:
            raise KinegradError(f"reselect_below of matrix-r is {below:g}; give a number from 0 (never) to 1.")
        self.selection, self.stage, self.kernels = independent, matrix_r, matrix_r_steps
        self.derivatives = matrix_r_derivatives
        refuse_velocity_rows(
            system, "The formulation 'matrix-r'", "use ali3p, index1, penalty, recursive or udwadia-kalaba"
        )
        self.free = [f for f in system.freedoms if f.independent]
        self.zdd = np.zeros(len(self.free))
        self.opts = np.array([options["tolerance"], below])

    @property
    def integrated(self) -> int:
        """Number of coordinates that are integrated."""
        return len(self.free)

    @property
    def measured(self) -> bool:
        """Whether the degrees of freedom of the model are integrated, and are no coordinates."""
        return len(self.chosen) > 0 and self.chosen[0] < 0

    @property
    def own_size(self):
        return self.integrated

    def acceleration(self, work):
        return self.zdd

    def begin(self, work):
        number, measured = work["q"].dtype, work["J"] @ work["a"] + work["c"]
        rates = work["J"] @ work["v"] + work["Phi_t"]
        self.z = np.array([work["Phi"][f.row] for f in self.free], number)
        self.zd = np.array([rates[f.row] for f in self.free], number)
        self.zdd = np.array([measured[f.row] for f in self.free], number)
        coordinates = [self.system.coordinate_of(f) for f in self.free]
        measured = [-1 if k is None else k for k in coordinates]
        self.chosen = np.array(measured if None not in coordinates else [-1] * len(measured), np.int64)
        below = self.options["reselect_below"]
        self.carried = np.array([below, 0.0, 0.0, 0.0, 0.0])
        self.lost = 0
        self.before = np.zeros((3, self.system.n), number)
        self._measure(work)
        self.parts = self.selection.partition(self.chosen, self.system.m, work["M"], self.weights)
        self.arrays = self.stage.new_stage(self.system.m, self.integrated, work["M"])
        self.off = np.zeros((2, self.integrator.tableau.stages + 1, self.system.n), number)
        self.scratch = np.zeros((4, self.integrated), number)
        if self.integrator.explicit and not self.integrator.adaptive and self._quality(work) >= below:
            self.carried[self.stage.LEAST] = self.stage.DROPPED * below

    def _quality(self, work) -> float:
        """That of the coordinates at the start; the first step begins as if it had not been looked at."""
        _, quality = self.stage.prepare(work.pointer, self.system.m, self.parts, self.arrays, self.scale)
        self.parts.ready[:], self.arrays.R[:] = 0, 0.0
        return quality

    def _measure(self, work):
        """Scales of coordinates and weights of rows, from M and J of the context."""
        self.scale = scale(self.system.lengths, work["M"].real.diagonal(), work["size"][LENGTH])
        self.unit, self.rows = work["unit"].copy(), rows_alike(work)
        self.weights = np.stack([self.rows**2, row_weights(work["J"].real / self.scale, self.rows)])

    def remark(self, work) -> str:
        if max(self.lost, int(self.parts.ready[1])) < NEARLY_LOST:
            return self._too_light(work)
        return (
            "The motion comes near a singular position, where the independent coordinates of matrix-r hardly determine the "
            "others and it keeps few digits; compare with ali3p, which passes such positions."
        )

    def _too_light(self, work) -> str:
        """A sentence on a coordinate that moves so little inertia that rounding of others drowns it."""
        R, M = self.arrays.R.real, work["M"].real
        if not len(R) or self.parts.nu == 0:
            return ""
        part = ((R @ M) * R).sum(axis=1) * self._unit() ** 2 / (M.diagonal() * self.unit**2).max()
        least = int(part.argmin())
        if not 0.0 < part[least] < TOO_LIGHT:
            return ""
        k = self.chosen[least]
        name = self.system.coordinates[k] if k >= 0 else self.free[least].name
        return (
            f"{name!r} moves {part[least]:.1g} of the largest inertia, and matrix-r keeps few digits of its motion in these "
            "coordinates; compare with ali3p or index1, or with joint coordinates."
        )

    def keep(self, work, row):
        super().keep(work, row)
        self._keep_selection(row)

    def resume(self, work, row):
        super().resume(work, row)
        self.chosen = self._chosen(row)
        if self.weights is None:  # the motion was loaded
            work["flag"][FREEDOMS] = 1
            work.call(EVALUATE)
            self._measure(work)

    def memory(self, work):
        parts = (
            self.parts.ready,
            self.parts.weights,
            self.parts.G,
            self.parts.N,
            self.parts.d,
            self.parts.at,
            self.parts.count,
            self.arrays.R,
        )
        return [self.z, self.zd, self.zdd, self.carried, self.off, *parts]

    def go_back(self, work, row):
        now = self.chosen
        self.resume(work, row)
        if not np.array_equal(now, self.chosen):
            self.parts = self.selection.partition(self.chosen, self.system.m, work["M"], self.weights)
        work["v"][:], work["a"][:] = work["vp"], work["ap"]

    def allow_changes(self, work, fn, objectives):
        self.settling, self.times, self.no_step = (fn, objectives), np.zeros(2), None

    def settle(self, work, t):
        """By a Runge-Kutta step of no length with one stage."""
        if self.no_step is None or self.settled_with is not self.parts:
            self.no_step, self.settled_with = Prepared(*self._no_step(work)), self.parts
        self.times[:], last = t, self.carried[self.stage.LAST_STEP]
        work["flag"][FREEDOMS] = int(self.measured)
        status, _ = self.no_step()
        self.carried[self.stage.LAST_STEP] = last
        return OK if status == self.stage.POOR else status

    def _no_step(self, work) -> tuple:
        """The entry that does a step of no length in the present coordinates, and its arguments."""
        fn, objectives = self.settling
        number, size = objectives.psi.dtype, self.integrated or self.system.n
        method = Explicit(NONE, np.zeros(0), np.zeros((2, 2, size), number), np.zeros_like(objectives.psi))
        own = self._own(np.zeros((2, 2, self.system.n), number))
        steps = no_length(self.times, objectives.psi)
        return self.kernels.simulate_rk, (
            fn, work.pointer, self.system.m, method, steps, objectives, self.opts, own, 0,
        )  # fmt: skip

    def _own(self, off: np.ndarray):
        """What compiled steps in the present coordinates have beside the context."""
        return self.kernels.Coordinates(
            self.parts, self.arrays, self.scale, self._unit(), self.z, self.zd, self.zdd, self.chosen, self.carried,
            self.before, off, self.scratch,
        )  # fmt: skip

    def _unit(self) -> np.ndarray:
        """Units of the present coordinates."""
        measured = 1.0 / self.rows[[f.row for f in self.free]]
        return np.where(self.chosen >= 0, self.unit[self.chosen], measured)

    def put_velocities(self, work, v):
        super().put_velocities(work, v)
        work["flag"][FREEDOMS] = 1
        work.call(EVALUATE)
        measured = work["J"] @ v + work["Phi_t"]
        chosen = zip(self.chosen, self.free, strict=True)
        self.zd[:] = [v[k] if k >= 0 else measured[f.row] for k, f in chosen]

    def _chosen(self, row) -> np.ndarray:
        at = self.integrator.tableau.stages * self.size
        return row[at : at + self.integrated].real.astype(np.int64)

    def call(self, work, fn, method, steps, objectives):
        """As of any formulation, in the present coordinates."""
        entry = self.kernels.simulate_rk if self.integrator.explicit else self.kernels.simulate_newmark
        return entry, (fn, work.pointer, self.system.m, method, steps, objectives, self.opts, self._own(self.off), 0)

    def steps(self, work, fn, method, steps, objectives):
        """With other independent coordinates where steps end early."""
        parts, windows, below = None, None, self.options["reselect_below"]

        def over(first: int, last: int) -> tuple:
            nonlocal parts, windows
            done = first
            work["flag"][FREEDOMS] = int(self.measured)
            while True:
                if parts is not self.parts:  # other coordinates
                    parts, windows = self.parts, Windows(*self.call(work, fn, method, steps, objectives))
                status, count = windows.over(done, last)
                done += count
                poor, inside = status == self.stage.POOR, status == self.stage.POOR_INSIDE
                if not (poor or inside) and (status not in (NOT_CONVERGED, SINGULAR, LOST_RANK) or below == 0.0):
                    return status, done - first
                if not poor:  # once more from the state before the step
                    work["par"][TIME], work["q"][:], work["v"][:], work["a"][:] = steps.ts[done], *self.before
                    work.call(POSITION)
                changed = self.reselect(work, below)
                if not (poor or inside or changed):
                    return status, done - first
                if inside and not changed:  # none are better: the step is done as it is
                    self.carried[self.stage.LEAST] = 0.0
                if changed:
                    self._keep_selection(steps.traj[done])
                    self.integrator.keep(steps.traj[done])

        return over

    def reselect(self, work, below: float) -> bool:
        """Whether other independent coordinates are better at the state; they are then read from it (MR-11)."""
        n, m, chosen = self.system.n, self.system.m, self.chosen.copy()
        scratch = np.zeros((m, n)), np.zeros(min(m, n)), np.zeros(n, np.int64)
        status = self.stage.best(work.pointer, m, self.rows, self.scale, *scratch, chosen)
        changed = status == OK and set(chosen) != set(self.chosen)
        if changed:
            self.chosen = chosen
            self.carried[self.stage.CHANGES] += 1.0
            self.z[:], self.zd[:], self.zdd[:] = (work[k][chosen] for k in ("q", "v", "a"))
            work["flag"][FREEDOMS] = 0
            self.lost = max(self.lost, int(self.parts.ready[1]))
            self.parts = self.selection.partition(chosen, m, work["M"], self.weights)
            self.integrator.restart(self.zdd)
        _, quality = self.stage.prepare(work.pointer, m, self.parts, self.arrays, self.scale)
        self.carried[self.stage.LIMIT] = min(below, WORSE * quality)
        self.carried[self.stage.LEAST] = self.stage.DROPPED * self.carried[self.stage.LIMIT]
        self.carried[self.stage.LAST_STEP] = 0.0
        return changed

    def _keep_selection(self, row) -> None:
        """Put the independent coordinates into a row."""
        at = self.integrator.tableau.stages * self.size
        row[at : at + self.integrated] = self.chosen

    def independent(self, row: np.ndarray) -> tuple[str, ...]:
        """Names of what is integrated in the step that follows a row of a trajectory."""
        pairs = zip(self._chosen(row), self.free, strict=True)
        return tuple(self.system.coordinates[k] if k >= 0 else f.name for k, f in pairs)

    def sweep(self, work, fn, segment, variation):
        stages = self.integrator.tableau.stages
        weights = np.stack(2 * [rows_alike(work) ** 2]) if self.weights is None else self.weights
        scratch = self.derivatives.new_scratch(self.system.m, stages, variation.q, work["M"], weights)
        return fn, work.pointer, self.system.m, self.integrator.rule, segment, scratch, variation

    def start_state(self, work, q, v, a):
        if (self.chosen >= 0).all():
            return tuple(x[self.chosen] for x in (q, v, a))
        rows = np.array([f.row for f in self.free], np.int64)
        Phidd, Phid, J = (work[name][rows] for name in ("Phidd_q", "Phid_q", "Phi_q"))
        Phidd_s, Phid_s, Phi_s = (work[name][rows] for name in ("Phidd_s", "Phid_s", "Phi_s"))
        zdd = Phidd @ q + 2.0 * Phid @ v + J @ a + Phidd_s
        z = J @ q + Phi_s
        zd = Phid @ q + J @ v + Phid_s
        return z, zd, zdd

    def start_adjoint(self, work, Z, Zd, A):
        n, m, columns = self.system.n, self.system.m, Z.shape[1]
        if self.integrator.explicit:
            A = np.zeros_like(A)
        extra = np.zeros((3, m + len(self.system.freedoms), columns))
        if (self.chosen >= 0).all():
            out = np.zeros((3, n, columns))
            out[:, self.chosen] = Z, Zd, A
            return *out, extra
        rows = np.array([f.row for f in self.free], np.int64)
        Phidd, Phid, J = (work[name][rows].T for name in ("Phidd_q", "Phid_q", "Phi_q"))
        extra[:, rows] = Z, Zd, A
        return J @ Z + Phid @ Zd + Phidd @ A, J @ Zd + 2.0 * Phid @ A, J @ A, extra


def scale(lengths: np.ndarray, inertia: np.ndarray, length: float) -> np.ndarray:
    """Factors that make lengths comparable with angles: 1 over the radius of gyration of the model, and 1 (MR-10).

    Where angles have no inertia, as those that are measured from points, that radius is next to nothing.
    """
    out = np.ones(len(lengths))
    if lengths.any() and not lengths.all():
        of_lengths, of_angles = inertia[lengths].mean(), inertia[~lengths].mean()
        if of_angles > 0.0 and of_lengths > 0.0:
            out[lengths] = np.sqrt(of_lengths / of_angles)
        elif of_lengths > 0.0:
            out[lengths] = NO_RADIUS / length
    return out


def rows_alike(work: Workspace) -> np.ndarray:
    """1 over the units of rows; over their sizes, as powers of two, where names do not tell units."""
    J, per_row = work["J"].real, work["per_row"]
    sizes = np.square(J * work["unit"]).sum(axis=1) ** 0.5
    return np.array([p if p > 0.0 else 1.0 / power_of_two(float(size)) for p, size in zip(per_row, sizes, strict=True)])


def row_weights(J: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """1 over the square of each row; of the largest one where it is null (MR-8)."""
    size = np.square(J * rows[:, None]).sum(axis=1)
    largest = size.max(initial=0.0) or 1.0
    return rows**2 / np.where(size > NULL * largest, size, largest)
