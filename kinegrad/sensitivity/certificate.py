"""check_gradient: whether a gradient is right, and whether it is of use (CER-1 to CER-4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from kinegrad.coordinates.sets import SETS, lower
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import LINEARISE
from kinegrad.kinematics.start import usual_moves
from kinegrad.markup import frame, grid
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.differences import ALLOWED, GradientCheck, check, relative_differences, scanned
from kinegrad.sensitivity.direct import Sweep
from kinegrad.sensitivity.end_time import that_move_the_end
from kinegrad.sensitivity.gradient import gradient as differentiate
from kinegrad.sensitivity.result import Gradient, some_of
from kinegrad.sensitivity.rounding import ROUNDING, beyond, parts_of, put, rounding_of, sizes_of_parameters
from kinegrad.sensitivity.states import MODEST, AllStates, RunAgain
from kinegrad.simulate import simulate
from kinegrad.starts import FromState

DIRECTIONS = 2
USELESS = 0.1  # change of a gradient at half the step: it says nothing of the motion
FACTORS = (0.5, 0.25, 0.125)  # of the step
SHRINKS = 0.5  # of the first change, from a quarter to an eighth of the step, at least if steps are its reason
SAME = 1e-8  # by two methods
DRIFTED = 1e-4  # of the terms of a row's derivative
INSTANTS = 20
MOST_TOLD = 5  # entries that are wrong
PARTS = ("directions", "entries", "half the step", "constraints", "methods", "sets")


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """What was found of a gradient.

    Attributes
    ----------
    gradient : Gradient
    numbers : dict of part to number
        "directions": largest relative difference from directional differences; "half the step": largest relative change of
        the gradient in a run of half the step; "constraints": largest part by which derivatives of states violate
        derivatives of constraint rows; "methods", "sets": relative difference from another method, and another coordinate
        set; those that were asked for.
    problems : tuple of str
        Sentences on what is wrong; none where all is well.
    entries : GradientCheck or None
        Each entry beside differences, where these were asked for or needed to name what is wrong.
    useless : bool
        The motion is chaotic over its time: derivatives are right, and say nothing beyond the smallest change.
    """

    gradient: Gradient
    numbers: dict[str, float]
    problems: tuple[str, ...]
    entries: GradientCheck | None = None
    useless: bool = False
    limits: dict[str, float] = field(default_factory=dict)

    @property
    def good(self) -> bool:
        """Whether nothing was found against the gradient."""
        return not self.problems

    def as_dict(self) -> dict:
        """For JSON."""
        return {
            "good": self.good, "useless": self.useless, "numbers": self.numbers, "limits": self.limits,
            "problems": list(self.problems),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"<Certificate: {'good' if self.good else self.problems[0]}>"

    def __str__(self) -> str:
        lines = [f"{name}: {x:.1e} (allowed {self.limits[name]:.0e})" for name, x in self.numbers.items()]
        return "\n".join([*lines, *(self.problems or ("Nothing was found against the gradient.",))])

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        rows = [[name, f"{x:.1e}", f"{self.limits[name]:.0e}"] for name, x in self.numbers.items()]
        rows += [[sentence, "", ""] for sentence in self.problems]
        return frame("Certificate of a gradient", grid(["", "found", "allowed"], rows))


def of_entries(found: GradientCheck) -> Certificate:
    """The certificate of a gradient of which each entry, and nothing else, was compared with differences."""
    problems = [_differs(found, *entry) + "." for entry in found.wrong[:MOST_TOLD]] + _without_differences(found)
    worst = float(np.nanmax(found.relative, initial=0.0))
    return Certificate(found.gradient, {"entries": worst}, tuple(problems), found, limits={"entries": ALLOWED})


def _differs(found: GradientCheck, objective: str, label: str) -> str:
    return f"The derivative of {objective!r} by {label!r} differs from differences by {found[objective, label]:.2g} of itself"


def _without_differences(found: GradientCheck) -> list[str]:
    return [
        f"No difference by {label!r} could be formed: the model does not run with values near its own."
        for label in found.missing
    ]


@without_warnings
def check_gradient(
    gradient: Gradient,
    *,
    per_parameter: bool = False,
    methods: bool = False,
    sets: bool = False,
    progress: Callable[[float], None] | None = None,
) -> Certificate:
    """What speaks for and against a gradient of a simulated motion.

    Derivatives along two directions of the parameters are compared with differences of runs; the gradient is compared with
    that at half the step, and, where that changes it much, at a quarter and an eighth; and derivatives of states with what the
    constraints ask of them.

    Parameters
    ----------
    per_parameter : bool
        Compare each entry with differences, twelve runs for each parameter.  It is done anyway where a direction is wrong.
    methods, sets : bool
        Also compare with the other exact method, and with the same run in another coordinate set.
    """
    if not isinstance(gradient, Gradient) or getattr(gradient.motion, "formulation", None) is None or not gradient.wrt:
        raise KinegradError(
            "check_gradient takes a gradient of a simulated motion by parameters; use its check() instead."
        )
    return _Checks(gradient, progress or (lambda part: None)).done(per_parameter, methods, sets)


class _Checks:
    """One gradient on its way through the checks."""

    def __init__(self, gradient: Gradient, progress):
        self.gradient, self.progress = gradient, progress
        self.numbers: dict[str, float] = {}
        self.problems: list[str] = []
        self.entries: GradientCheck | None = None
        self.useless = False
        self.rounding = rounding_of(gradient)
        self.limits = dict(zip(PARTS, (ALLOWED, ALLOWED, USELESS, DRIFTED, SAME, 0.0), strict=True))

    def done(self, per_parameter: bool, methods: bool, sets: bool) -> Certificate:
        discrete = self.gradient.method != "continuous-adjoint"
        self.half_step()
        self.progress(0.3)
        if discrete and not self.useless:
            self.directions(per_parameter)
        self.progress(0.7)
        self.constraints()
        self.progress(0.8)
        if methods:
            self.methods()
        if sets:
            self.sets()
        self.progress(1.0)
        limits = {name: self.limits[name] for name in self.numbers}
        return Certificate(self.gradient, self.numbers, tuple(self.problems), self.entries, self.useless, limits)

    # --- the parts ---

    def half_step(self) -> None:
        """The gradient in runs of half the step, and of a quarter and an eighth where it changes much (CER-2)."""
        last, changes = self.gradient.matrix, []
        for factor in FACTORS:
            finer = self.gradient.with_steps(factor).matrix
            changes.append(self._off(finer, last))
            last = finer
            if not changes[-1].max() > USELESS:
                break
        self.estimate = self.numbers["half the step"] = float(changes[0].max())
        if len(changes) == 1:
            return
        stays = max(USELESS, SHRINKS * changes[0].max())
        self.useless = len(changes) == len(FACTORS) and bool(changes[-1].max() > stays)
        worst = int(changes[-1 if self.useless else 0].argmax())
        name, first, end = list(self.gradient.values)[worst], 100.0 * changes[0][worst], 100.0 * changes[-1][worst]
        if self.useless:
            self.problems.append(
                f"The gradient of {name!r} is useless to an optimiser: at half the step it changes by {first:.3g} %, and from "
                f"a quarter to an eighth of it still by {end:.3g} %, so the motion is chaotic over this time; shorten t_end, "
                "or put the objective where the motion is still tame."
            )
        else:
            self.problems.append(
                f"The gradient of {name!r} changes by {first:.3g} % at half the step: it is that of the steps, not of the "
                "motion; take smaller ones."
            )

    def directions(self, per_parameter: bool) -> None:
        """Differences along directions, then by entry where one is wrong (CER-1)."""
        gradient, system = self.gradient, self.gradient.motion.system
        ends = that_move_the_end(gradient.motion, gradient.wrt)
        held = some_of(gradient, [label for label in gradient.wrt if label not in ends])
        places = system.parameters.positions(held.wrt)
        scale = sizes_of_parameters(held.motion, held.wrt)
        rounding = rounding_of(held) @ scale
        worst, rng = 0.0, np.random.default_rng(0)
        for _ in range(DIRECTIONS if held.wrt else 0):
            along = np.zeros(len(system.rho))
            along[places] = scale * rng.choice([-1.0, 1.0], len(places)) * rng.uniform(0.3, 1.0, len(places))
            expected, noise = scanned(system, along, gradient.objectives_with)
            found = held.matrix @ along[places]
            size = np.maximum(np.abs(held.matrix * along[places]).max(axis=1), noise / ALLOWED)
            off = beyond(found - expected, rounding) / np.where(size > 0.0, size, 1.0)
            worst = max(worst, float(np.where(np.isfinite(off), off, 0.0).max()))
        if held.wrt:
            self.numbers["directions"] = worst
        entries = gradient if per_parameter or worst > ALLOWED else some_of(gradient, ends)
        if not entries.wrt:
            return
        self.entries = check(entries)
        self.numbers["entries"] = float(np.nanmax(self.entries.relative, initial=0.0))
        for entry in self.entries.wrong[:MOST_TOLD]:
            end = ", and these differ on both sides: there is a kink, and no derivative." if self._kink(*entry) else "."
            self.problems.append(_differs(self.entries, *entry) + end)
        self.problems += _without_differences(self.entries)
        if worst > ALLOWED and not self.problems:
            self.problems.append(
                f"Derivatives along a direction of all parameters differ from differences by {worst:.2g}, and no single entry "
                "does."
            )

    def _kink(self, objective: str, label: str) -> bool:
        """Whether differences to the left and to the right have limits of their own."""
        gradient, system = self.gradient, self.gradient.motion.system
        k, o = system.parameters.positions([label])[0], list(gradient.values).index(objective)
        scale, slopes = sizes_of_parameters(gradient.motion, [label])[0], []
        middle = gradient.objectives_with(system.rho)[o]
        for side in (1.0, -1.0):
            rho = system.rho.copy()
            rho[k] += side * 1e-5 * scale
            try:
                slopes.append((gradient.objectives_with(rho)[o] - middle) / (side * 1e-5 * scale))
            except KinegradError:
                return False
        return abs(slopes[0] - slopes[1]) > 0.01 * max(abs(slopes[0]), abs(slopes[1]))

    def constraints(self) -> None:
        """How far derivatives of states are off what constraint rows ask of them (CER-3)."""
        motion = self.gradient.motion
        if motion.system.m == 0 or motion.formulation.type == "matrix-r":
            return
        drift, t = drift_of_rows(self.gradient)
        self.numbers["constraints"] = drift
        if drift > DRIFTED:
            self.problems.append(
                f"Derivatives of states have drifted off the constraints: by {drift:.2g} of their size at t = {t:.6g} s; give "
                "the formulation a frequency, or take 'ali3p'."
            )

    def methods(self) -> None:
        """The other exact method (CER-4)."""
        gradient = self.gradient
        if gradient.method == "continuous-adjoint":
            self.limits["methods"] = 10.0 * self.estimate + SAME
        other = "direct" if gradient.method != "direct" else "discrete-adjoint"
        found = differentiate(gradient.motion, wrt=gradient.wrt, method=other)
        self._compare("methods", f"by the method {other!r}", found.matrix)

    def sets(self) -> None:
        """The same run in another coordinate set, up to the error of steps (CER-4)."""
        motion = self.gradient.motion
        kinds = [kind for kind in SETS if kind != motion.system.kind]
        if motion.formulation.type == "recursive":
            raise KinegradError(
                "The formulation 'recursive' has one coordinate set; compare with 'index1', or leave sets out."
            )
        system = lower(motion.system.model, kinds[0]).with_parameters(motion.system.rho)
        start, near = motion.state(0.0).as_start(system)
        run = simulate(
            system, motion.formulation, motion.integrator, t_end=motion.t_end, step=motion.step, guess=near,
            start=start if isinstance(motion.start, FromState) else motion.start,
        )  # fmt: skip
        run.follows = motion.follows
        found = differentiate(run, wrt=self.gradient.wrt, method="discrete-adjoint")
        finer = found.with_steps(FACTORS[0])
        self.rounding = np.maximum(self.rounding, rounding_of(found))
        own = relative_differences(found.matrix, finer.matrix, rounding=self.rounding).max()
        self.limits["sets"] = 10.0 * (self.estimate + float(own)) + 1e-6
        self._compare("sets", f"in {kinds[0]} coordinates", found.matrix)

    # --- what they share ---

    def _compare(self, part: str, how: str, matrix: np.ndarray) -> None:
        off = relative_differences(self.gradient.matrix, matrix, rounding=self.rounding)
        self.numbers[part] = float(off.max())
        if off.max() > self.limits[part]:
            o, k = np.unravel_index(off.argmax(), off.shape)
            self.problems.append(
                f"The derivative of {list(self.gradient.values)[o]!r} by {self.gradient.wrt[k]!r} is another one {how}: it "
                f"differs by {off.max():.2g}, and {self.limits[part]:.1g} is allowed."
            )

    def _off(self, matrix: np.ndarray, reference: np.ndarray) -> np.ndarray:
        """(objectives,) largest change relative to the largest entry, each by the size of its parameter."""
        weight = sizes_of_parameters(self.gradient.motion, self.gradient.wrt)
        size = np.maximum(np.abs(matrix * weight).max(axis=1), np.abs(reference * weight).max(axis=1))
        return (beyond(matrix - reference, self.rounding) * weight).max(axis=1) / np.where(size > 0.0, size, 1.0)


def drift_of_rows(gradient: Gradient) -> tuple[float, float]:
    """The largest |Phi_q q' + Phi_s| along the motion, of the largest sum of its terms, and its time (CER-3)."""
    motion, system = gradient.motion, gradient.motion.system
    states = AllStates(motion) if motion.stride == 1 else RunAgain(motion, MODEST)
    ds, m, scheme = system.directions(gradient.wrt), system.m, states.motion.scheme
    sweep = Sweep(states.motion, ds, states.kinds)
    work = system.workspace(ds=ds, s=motion.s)
    worst, when = 0.0, 0.0
    parts = parts_of(motion, gradient.wrt)
    for piece in states.forwards(max(1, -(-states.steps // INSTANTS))):
        sweep.over(piece)
        row, t = scheme.motion(piece.segment.traj[-1:]), float(piece.segment.ts[-1])
        put(work, t, row["q"][0], row["qd"][0], row["qdd"][0])
        work.call(LINEARISE)
        q = sweep.state.q.transpose(1, 0, 2).reshape(system.n, -1)[:, : len(ds)]
        held = work["level"][:m] == 0
        rows, by_numbers = work["Phi_q"][:m][held], work["Phi_s"][:m][held]
        size = (np.abs(rows) @ np.abs(q) + np.abs(by_numbers)).max(initial=0.0)
        rounding = ROUNDING * np.outer(np.abs(rows) @ usual_moves(system, work), parts)
        off = beyond(rows @ q + by_numbers, rounding).max(initial=0.0) / size if size > 0.0 else 0.0
        if off > worst:
            worst, when = float(off), t
    return worst, when
