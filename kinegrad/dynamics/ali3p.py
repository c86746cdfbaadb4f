"""ALI3-P: augmented Lagrangian of index 3 with projections, by the Newmark family."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.acceleration_level import Accelerations, rank_of_rows
from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.dynamics.scheme import Scheme
from kinegrad.kernels.products import BIAS, EVALUATE
from kinegrad.kinematics.singular import MANY, inertia_scale

NOTICEABLE = 1e-2  # part of the accelerations across the constraints that projections leave
LITTLE = 1e-6  # the same, which a penalty that the user does not give leaves at most
NOTHING = 1e-11  # of the largest singular value of the rows: redundant ones


class Ali3p(Scheme):
    """What does not depend on the integrator; rows begin with q, v, a, vp, ap, lam, sv, sa."""

    needs = (EVALUATE, BIAS)

    def __init__(self, system, options):
        super().__init__(system, options)
        from kinegrad.kernels.formulations import ali3p

        self.kernels = ali3p
        o = options
        self.opts = np.zeros(4)
        self.opts[ali3p.PENALTY] = o["penalty"]
        self.opts[ali3p.SCALE] = o["projection_scale"]
        self.opts[ali3p.TOLERANCE] = o["tolerance"]
        self.opts[ali3p.THRESHOLD] = 0.0 if o["projection"] == "every-step" else o["projection"]
        self.iopts = np.array([o["max_iterations"], int(o["projection_method"] == "augmented-lagrangian")], np.int64)

    @property
    def row_size(self):
        return 5 * self.system.n + 3 * self.system.m

    def begin(self, work):
        """There are no steps before the state of the workspace from which the next could be extrapolated."""
        work["dv"][:] = work["da"][:] = work["ap"]
        work["sizes"][:] = 0.0

    def singular_states(self, motion):
        many = motion.iterations > 2.0 * np.median(motion.iterations) + 1.0 if len(motion.iterations) else []
        return 1 + np.flatnonzero((motion.flags & self.kernels.NEAR_SINGULAR != 0) | many)

    def keep(self, work, row):
        n, m = self.system.n, self.system.m
        row[: 5 * n] = np.concatenate([work[k] for k in ("q", "v", "a", "vp", "ap")])
        row[5 * n : 5 * n + 3 * m] = np.concatenate([work[k][:m] for k in ("lam", "sv", "sa")])

    def resume(self, work, row):
        """Put the state of a row back into the workspace."""
        n, m = self.system.n, self.system.m
        for i, k in enumerate(("q", "v", "a", "vp", "ap")):
            work[k][:] = row[i * n : (i + 1) * n]
        for i, k in enumerate(("lam", "sv", "sa")):
            work[k][:m] = row[5 * n + i * m : 5 * n + (i + 1) * m]
        Ali3p.begin(self, work)

    def memory(self, work):
        return [work[name] for name in ("dv", "da", "sizes")]

    def allow_changes(self, work, fn, final, psi, g_last):
        """Independent rows and scales for `settle`, which solves for accelerations as index1 does."""
        from kinegrad.kernels.formulations.acceleration_level import RANK, SOFT

        opts = np.zeros(6)
        opts[SOFT], (opts[RANK], scales) = -1.0, rank_of_rows(work)
        self.sizes = np.zeros_like(work["sizes"])
        for name, values in scales.items():
            work[name][:] = values
        self.accelerate = Accelerations(self.system, work, fn, opts, final, psi, g_last)

    def settle(self, work, t):
        before, own = work["ap"].copy(), {name: work[name].copy() for name in ("ease", "sizes")}
        work["v"][:], work["sizes"][:] = work["vp"], self.sizes
        status = self.accelerate(t)
        self.sizes[:] = work["sizes"]
        for name, values in own.items():
            work[name][:] = values
        for name in ("dv", "da"):
            work[name][:] += work["ap"] - before
        work["sv"][:] = work["sa"][:] = 0.0
        return status

    def motion(self, traj):
        n, m = self.system.n, self.system.m
        parts = {"q": traj[:, :n], "qd": traj[:, 3 * n : 4 * n], "qdd": traj[:, 4 * n : 5 * n]}
        # those of the projected accelerations, M ap + f + Phi_qᵀ(lam + sa) = 0: lam alone is of first order only
        return parts | {"lam": traj[:, 5 * n : 5 * n + m] + traj[:, 5 * n + 2 * m : 5 * n + 3 * m]}


class Ali3pNewmark(NewmarkFamily, Ali3p):
    """With Newmark, HHT or generalized-alpha."""

    found = ("opts", "begun")
    begun = False
    left = 0.0  # of what projections should take away

    @property
    def complete(self) -> bool:
        return self.begun or "penalty" in self.given

    def begin(self, work):
        """As without projections; a penalty that the user does not give is raised where it would leave too much."""
        super().begin(work)
        self.begun = True
        if self.options["projection_method"] != "penalty":
            return
        self.left = part_left(work, 1.0 / (self.options["penalty"] * self.options["projection_scale"]))
        if self.left > LITTLE and "penalty" not in self.given:
            self.opts[self.kernels.PENALTY] = self._penalty(LITTLE)
            self.left = LITTLE

    def _penalty(self, left: float) -> float:
        """The penalty that leaves this part."""
        return self.options["penalty"] * self.left / (1.0 - self.left) / left

    def remark(self) -> str:
        if self.left < NOTICEABLE:
            return ""
        return (
            f"The penalty of {self.options['penalty']:.3g} leaves up to {100.0 * self.left:.2g} % of the accelerations that "
            f"projections should take away; {self._penalty(LITTLE):.1g} would not, and is taken where none is given."
        )

    def call(self, work, fn, ts, hs, final, psi, g_last, stride, traj, iterations, flags):
        return self.kernels.simulate, (
            fn, work.pointer, self.system.m, ts, hs, self.opts, self.iopts, self.family, self.auxiliary, final,
            psi, g_last, stride, traj, iterations, flags,
        )  # fmt: skip

    def direct(self, work, fn, ts, hs, after, final, traj, flags, state, grad):
        return self.kernels.direct(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.iopts, self.family, final, traj, flags,
            *state[:3], state[-1], grad,
        )  # fmt: skip

    def adjoint(self, work, fn, ts, hs, after, final, traj, flags, state):
        return self.kernels.adjoint(
            fn, work.pointer, self.system.m, ts, hs, after, self.opts, self.iopts, self.family, final, traj, flags,
            *state[:3], state[-1],
        )  # fmt: skip


def part_left(work, compliance: float) -> float:
    """The largest part of a velocity or acceleration across the constraints that a projection with this compliance leaves.

    In coordinates weighted by inertia that is ε/(σ² + ε), σ the least singular value of the rows at the start.
    """
    rows = work["J"][: work.system.m].real
    if not rows.size or work.system.n > MANY:
        return 0.0
    rows = rows * inertia_scale(work)
    if not np.isfinite(rows).all():
        return 0.0
    values = np.linalg.svd(rows, compute_uv=False)
    least = values[values > NOTHING * values[0]].min(initial=np.inf)
    return compliance / (least**2 + compliance)
