"""ALI3-P: augmented Lagrangian of index 3 with projections, by the Newmark family."""

from __future__ import annotations

import numpy as np

from kinegrad.dynamics.acceleration_level import Accelerations, rank_of_rows
from kinegrad.dynamics.formulation import Formulation
from kinegrad.dynamics.newmark_family import NewmarkFamily
from kinegrad.kernels.formulations.newton import UNKNOWN
from kinegrad.kernels.products import BIAS, EVALUATE, FIRST, FREEDOMS, POSITION, SHRINKING, TIME
from kinegrad.kinematics import compiled
from kinegrad.kinematics.constrained import squares_of
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.singular import MANY, inertia_scale

NOTICEABLE = 1e-2  # part of the accelerations across the constraints that projections leave
LITTLE = 1e-6  # the same, which a penalty that the user does not give leaves at most
NOTHING = 1e-11  # of the largest singular value of the rows: redundant ones
USUAL = 2  # iterations of a step; more than twice the least ones and one more are looked at
SAMPLES = 32  # states at which rows are measured
NOWHERE = np.zeros(0, np.int64)
BEFORE = ("a1", "a2", "a3")  # accelerations of steps before the last


class Ali3p(Formulation):
    """Rows have q, v, a, vp, ap, lam, sv, sa."""

    takes_fronts = True
    families = (NewmarkFamily,)
    why_not = "ali3p solves for positions at the end of each step and needs an implicit integrator"
    needs = (EVALUATE, BIAS)
    found = ("opts", "begun")
    stays_in_place = True
    begun = False
    left = 0.0  # of what projections should take away
    sizes: np.ndarray | None = None  # those of `settle`

    def __init__(self, system, options, integrator, given):
        super().__init__(system, options, integrator, given)
        from kinegrad.kernels.formulations import ali3p, ali3p_derivatives

        self.kernels, self.derivatives = ali3p, ali3p_derivatives
        o = options
        self.opts = np.zeros(5)
        self.opts[ali3p.PENALTY] = o["penalty"]
        self.opts[ali3p.SCALE] = o["projection_scale"]
        self.opts[ali3p.TOLERANCE] = o["tolerance"]
        self.opts[ali3p.THRESHOLD] = 0.0 if o["projection"] == "every-step" else o["projection"]
        self.opts[ali3p.EXACT] = o["projection_method"] == "augmented-lagrangian"

    @property
    def size(self):
        return 5 * self.system.n + 3 * self.system.m

    @property
    def complete(self) -> bool:
        return self.begun or "penalty" in self.given

    def begin(self, work):
        """There are no steps before the state from which the next could be extrapolated; a penalty of projections that the
        user does not give is raised where it would leave too much."""
        self._forget(work)
        self.begun = True
        self.opts[self.kernels.PENALTY] = self.options["penalty"]
        if self.options["projection_method"] != "penalty":
            return
        self.left = part_left(work, 1.0 / (self.options["penalty"] * self.options["projection_scale"]))
        if self.left > LITTLE and "penalty" not in self.given:
            self.opts[self.kernels.PENALTY] = self._penalty(LITTLE)
            self.left = LITTLE

    def begin_like(self, work, other):
        self._forget(work)
        self.begun, self.left = True, other.left
        self.opts[self.kernels.PENALTY] = other.opts[self.kernels.PENALTY]

    def _forget(self, work) -> None:
        arrays = work.arrays
        for name in BEFORE:
            arrays[name][:] = arrays["a"]
        arrays["par"][SHRINKING], arrays["par"][FIRST] = UNKNOWN, np.inf
        arrays["sizes"][:] = 0.0

    def _penalty(self, left: float) -> float:
        """The penalty that leaves this part."""
        return self.options["penalty"] * self.left / (1.0 - self.left) / left

    def remark(self, work) -> str:
        if self.left < NOTICEABLE:
            return ""
        return (
            f"The penalty of {self.options['penalty']:.3g} leaves up to {100.0 * self.left:.2g} % of the accelerations that "
            f"projections should take away; {self._penalty(LITTLE):.1g} would not, and is taken where none is given."
        )

    def singular_states(self, motion):
        kernels, counts = self.kernels, motion.iterations
        if (motion.flags & (kernels.FIRM | kernels.LOOSE)).any():
            return None  # rows become dependent, which steps see only where they come very near
        near = motion.flags & kernels.NEAR_SINGULAR
        if counts.max(initial=0) <= 2 * USUAL + 1 and not near.any():
            return NOWHERE
        counts = np.maximum(counts, USUAL)
        if len(counts) and counts.max() > 2 * counts.min() + 1:
            near = (near != 0) | (counts > 2.0 * np.median(counts) + 1.0)
        return 1 + near.nonzero()[0]

    def keep(self, work, row):
        n, m, arrays = self.system.n, self.system.m, work.arrays
        for i, k in enumerate(("q", "v", "a", "vp", "ap")):
            row[i * n : (i + 1) * n] = arrays[k]
        for i, k in enumerate(("lam", "sv", "sa")):
            row[5 * n + i * m : 5 * n + (i + 1) * m] = arrays[k][:m]

    def resume(self, work, row):
        n, m, arrays = self.system.n, self.system.m, work.arrays
        for i, k in enumerate(("q", "v", "a", "vp", "ap")):
            arrays[k][:] = row[i * n : (i + 1) * n]
        for i, k in enumerate(("lam", "sv", "sa")):
            arrays[k][:m] = row[5 * n + i * m : 5 * n + (i + 1) * m]
        self._forget(work)

    @property
    def places(self):
        """Multipliers are those of projected accelerations, M ap + f + Phi_qᵀ(lam + sa) = 0: lam alone is of first order."""
        n, m = self.system.n, self.system.m
        return 0, 3 * n, 4 * n, 5 * n, 5 * n + 2 * m

    def memory(self, work):
        own = [] if self.sizes is None else [self.sizes]
        return [*(work[name] for name in (*BEFORE, "sizes")), work["par"][SHRINKING : FIRST + 1], *own]

    def call(self, work, fn, method, steps, objectives):
        return self.kernels.simulate, (fn, work.pointer, self.system.m, method, steps, objectives, self.opts)

    def allow_changes(self, work, fn, objectives):
        """Independent rows and scales for `settle`, which solves for accelerations as index1 does."""
        from kinegrad.kernels.formulations.acceleration_level import RANK, SOFT

        opts = np.zeros(6)
        opts[SOFT], (opts[RANK], scales) = -1.0, rank_of_rows(work)
        self.sizes = np.zeros_like(work["sizes"])
        for name, values in scales.items():
            work[name][:] = values
        self.accelerate = Accelerations(self.system, work, fn, opts, objectives)

    def settle(self, work, t):
        before, own = work["ap"].copy(), {name: work[name].copy() for name in ("ease", "sizes")}
        work["v"][:], work["sizes"][:] = work["vp"], self.sizes
        status = self.accelerate(t)
        self.sizes[:] = work["sizes"]
        for name, values in own.items():
            work[name][:] = values
        for name in BEFORE:
            work[name][:] += work["ap"] - before
        work["sv"][:] = work["sa"][:] = 0.0
        return status

    def sweep(self, work, fn, segment, variation):
        if (segment.flags & self.kernels.LOOSE).any():
            self._usual_sizes(work, segment)
        return fn, work.pointer, self.system.m, self.integrator.rule, segment, self.opts, variation

    def _usual_sizes(self, work, segment) -> None:
        """The largest squares of rows, in units of coordinates, at some states of a segment: steps that hold them loosely ask
        for these (ALI-8)."""
        rows = range(0, len(segment.traj), max(1, len(segment.traj) // SAMPLES))
        work["flag"][FREEDOMS] = 0
        for k in rows:
            work["q"][:], work["par"][TIME] = segment.traj[k][: self.system.n], segment.ts[k]
            work.call(POSITION)
            squares = squares_of(first_rows(work, "J", self.system.m)) @ work["unit"] ** 2
            np.maximum(work["sizes"], squares, out=work["sizes"])


def part_left(work, compliance: float) -> float:
    """The largest part of a velocity or acceleration across the constraints that a projection with this compliance leaves; if
    that is little, a bound of it.

    In coordinates weighted by inertia it is ε/(σ² + ε), σ the least singular value of the rows at the start.
    """
    if not work.system.m or work.system.n > MANY:
        return 0.0
    square = compiled.firmness(work)
    left = compliance / (square + compliance) if square > 0.0 else 1.0
    return left if left <= LITTLE else exact_part_left(work, compliance)


def exact_part_left(work, compliance: float) -> float:
    """The same by singular values."""
    scale, heaviest = inertia_scale(work)
    rows = work["J"][: work.system.m].real * scale / np.sqrt(work["soft"] * heaviest)[:, None]
    if not np.isfinite(rows).all():
        return 0.0
    values = np.linalg.svd(rows, compute_uv=False).tolist()
    least = min((value for value in values if value > NOTHING * values[0]), default=np.inf)
    return compliance / (least**2 + compliance)
