"""Gradients by differences: an independent check that knows nothing of derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError, place_of
from kinegrad.markup import frame, grid
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.end_time import that_move_the_end
from kinegrad.sensitivity.rounding import beyond, rounding_of, sizes_of_parameters

if TYPE_CHECKING:
    from kinegrad.sensitivity.result import Gradient

LARGEST, FACTOR, SIZES = 1e-2, 3.0, 6  # step sizes relative to the parameter: 1e-2, 3.3e-3 ... 4e-5
SMALL_ENTRY = 1e-3  # entries below this part of their row's largest are measured against that
ALLOWED = 1e-5
# how many of the largest sizes are left out, and the degree of a polynomial through the rest
FITS = ((0, 8), (1, 6), (2, 5), (3, 3))
SHRINKS = 0.6  # what half the last step leaves of the error of steps, at most
MOST_STEPS = 10  # in a step, at most: a whole number, so that times at which steps end stay ends of steps
SEEN = 1e-4  # of its row's largest: what an entry may differ by, at most, because steps are chosen
SURE = 30.0  # times the noise of a difference: what it may be off by


@dataclass(frozen=True, eq=False, repr=False)
class GradientCheck:
    """A gradient beside differences of whole runs.

    Attributes
    ----------
    gradient : Gradient
        What was checked.
    differences : (objectives, parameters) array
        The derivatives by differences; nan where none could be formed.
    noise : (objectives, parameters) array
        What the noise of the runs may make of these.
    relative : (objectives, parameters) array
        What the gradient differs by, relative to itself (or, for small entries, to a thousandth of the largest of their
        objective, and to no less than makes the noise 1e-5 of it); nan where there is no difference.
    """

    gradient: Gradient
    differences: np.ndarray
    noise: np.ndarray
    relative: np.ndarray

    @property
    def good(self) -> bool:
        """Whether every entry was compared and differs by at most 1e-5."""
        return bool((self.relative <= ALLOWED).all())

    @property
    def wrong(self) -> tuple[tuple[str, str], ...]:
        """Objective and parameter of each entry that differs by more."""
        return self._where(self.relative > ALLOWED)

    @property
    def missing(self) -> tuple[str, ...]:
        """Parameters with values next to the given one with which the model does not run, so that differences lack."""
        return tuple(dict.fromkeys(label for _, label in self._where(~np.isfinite(self.relative))))

    def _where(self, mask: np.ndarray) -> tuple[tuple[str, str], ...]:
        objectives = list(self.gradient.values)
        return tuple((objectives[i], self.gradient.wrt[j]) for i, j in np.argwhere(mask))

    def __getitem__(self, key: tuple[str, str]) -> float:
        objective, parameter = key
        found = self.gradient
        row, column = place_of(objective, found.values, "objective"), place_of(parameter, found.wrt, "parameter")
        return float(self.relative[row, column])

    def as_dict(self) -> dict[str, dict]:
        """{objective: {parameter: relative difference}}; a list for a parameter that is a list and is there as a whole."""
        return self.gradient.named(self.relative)

    def __repr__(self) -> str:
        missing = f", no differences by {', '.join(self.missing)}" if self.missing else ""
        largest = np.nanmax(self.relative, initial=0.0)
        return f"<GradientCheck: {'good' if self.good else 'NOT good'}, largest difference {largest:.1e}{missing}>"

    def __str__(self) -> str:
        """A table of relative differences."""
        head, rows = self._cells()
        widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
        return "\n".join(
            "  ".join(f"{x:{w}}" for x, w in zip(row, widths, strict=True)).rstrip() for row in (head, *rows)
        )

    def _repr_html_(self) -> str:
        """A table for notebooks."""
        return frame("Relative differences", grid(*self._cells()))

    def _cells(self) -> tuple[list[str], list[list[str]]]:
        rows = [
            [f"by {label}", *("none" if np.isnan(x) else f"{x:.1e}" for x in column)]
            for label, column in zip(self.gradient.wrt, self.relative.T, strict=True)
        ]
        return ["", *self.gradient.values], rows


@without_warnings
def check(gradient: Gradient, progress: Callable[[float], None] | None = None) -> GradientCheck:
    """What `Gradient.check` gives."""
    if not gradient.wrt:
        raise KinegradError("The gradient is by no parameter, so there is nothing to check; name some (wrt).")
    found = by_differences(gradient.motion, gradient.wrt, gradient.objectives_with, progress)
    rounding = rounding_of(gradient)
    relative = relative_differences(gradient.matrix, *found, rounding)
    doubtful = [label for label, any_ in zip(gradient.wrt, (relative > ALLOWED).any(axis=0), strict=True) if any_]
    moving = [label for label in that_move_the_end(gradient.motion, gradient.wrt) if label in doubtful]
    controlled = [label for label in doubtful if label not in moving] if _adaptive(gradient.motion) else []
    noise = found.noise.copy()
    for labels, known in ((moving, _of_steps), (controlled, _of_error_control)):
        if labels:
            from kinegrad.sensitivity.result import some_of

            columns = [gradient.wrt.index(label) for label in labels]
            more = known(some_of(gradient, labels), found.matrix[:, columns])
            if known is _of_error_control:
                more = np.minimum(more, SEEN * np.abs(gradient.matrix).max(axis=1, keepdims=True))
            noise[:, columns] = np.fmax(noise[:, columns], more)
    found = found._replace(noise=noise)
    relative = relative_differences(gradient.matrix, *found, rounding)
    return GradientCheck(gradient, *found, relative)


def _of_steps(gradient: Gradient, differences: np.ndarray) -> np.ndarray:
    """(objectives, parameters) what a gradient by parameters that move the end is off differences by, where that shrinks with
    the steps; otherwise 0.  Derivatives by the end are those of the motion that goes on, differences those of another last
    step, so steps are taken that are half as long as the last one."""
    motion = gradient.motion
    last = 1.0 if _adaptive(motion) else motion.hs[-1] / motion.step
    finer = gradient.with_steps(1.0 / min(np.ceil(2.0 / last), MOST_STEPS))
    there = by_differences(gradient.motion, gradient.wrt, finer.objectives_with)
    off, left = np.abs(gradient.matrix - differences), np.abs(finer.matrix - there.matrix)
    return np.where(left <= np.maximum(SHRINKS * off, there.noise), off, 0.0)


def _of_error_control(gradient: Gradient, differences: np.ndarray) -> np.ndarray:
    """(objectives, parameters) what a gradient is off differences by with error control: the one is of the steps that the run
    took, the others are of steps that follow the parameters, as smoothly as the objectives do.  Both change by that with
    smaller steps; those of the gradient are found anew, so that nothing is made of one that was changed."""
    here, finer = gradient.with_steps(1.0), gradient.with_steps(0.5)
    there = by_differences(gradient.motion, gradient.wrt, finer.objectives_with)
    return 2.0 * (np.abs(here.matrix - finer.matrix) + np.abs(differences - there.matrix))


def _adaptive(motion) -> bool:
    """Whether a run chose its steps."""
    return getattr(getattr(motion, "scheme", None), "adaptive", False)


class Differences(NamedTuple):
    """Derivatives (objectives, parameters) by differences, nan where none could be run, and what noise makes of them."""

    matrix: np.ndarray
    noise: np.ndarray


def by_differences(
    found,
    labels: Sequence[str],
    objectives: Callable[[np.ndarray], np.ndarray],
    progress: Callable[[float], None] | None = None,
) -> Differences:
    """Derivatives of `objectives`, a function of the values of all independent parameters, by central differences about what
    was found: a motion, or a state.

    Each parameter is scanned over step sizes, and of their extrapolations the one that changes least is taken.  What the
    objectives of all these runs lack of a smooth curve is their noise.
    """
    system, columns, noise, sizes = found.system, [], [], sizes_of_parameters(found, labels)
    for j, k in enumerate(system.parameters.positions(labels)):
        along = np.zeros(len(system.rho))
        along[k] = sizes[j]
        best, off = scanned(
            system, along, objectives, lambda part, j=j: progress and progress((j + part) / len(labels))
        )
        columns.append(best / along[k])
        noise.append(off / along[k])
    shape = len(labels), len(system.objectives)
    return Differences(np.array(columns).reshape(shape).T, np.array(noise).reshape(shape).T)


def scanned(
    system: System,
    along: np.ndarray,
    objectives: Callable[[np.ndarray], np.ndarray],
    progress: Callable[[float], None] | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """(objectives,) derivatives along a direction of the independent parameters, by differences of six sizes, and noise."""
    sizes, ends = LARGEST / FACTOR ** np.arange(SIZES), []
    for i, h in enumerate(sizes):
        ends.append([_objectives(system, objectives, system.rho + side * h * along) for side in (1.0, -1.0)])
        if progress is not None:
            progress((i + 1) / SIZES)
    psi = np.array(ends)  # (sizes, sides, objectives)
    best, smallest, _ = extrapolated((psi[:, 0] - psi[:, 1]) / (2.0 * sizes[:, None]))
    return best, SURE * _noise(sizes, psi) / sizes[smallest]


def _objectives(system: System, objectives: Callable[[np.ndarray], np.ndarray], rho: np.ndarray) -> np.ndarray:
    """All objectives with parameters rho; nan if these are too far: the model cannot be assembled or stops."""
    try:
        return objectives(rho)
    except KinegradError:
        return np.full(len(system.objectives), np.nan)


def extrapolated(quotients: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """(objectives,) limits of quotients (sizes, objectives) whose errors are even powers of the step size, and the number of
    the smallest size in each, and the change of the last extrapolation."""
    sizes, count = quotients.shape
    best, error, smallest = np.full(count, np.nan), np.full(count, np.inf), np.full(count, sizes - 1)
    column = quotients
    for order in range(1, sizes):
        factor = FACTOR ** (2 * order)
        refined = (factor * column[1:] - column[:-1]) / (factor - 1.0)
        change = np.maximum(np.abs(refined - column[1:]), np.abs(refined - column[:-1]))
        for first, (row, delta) in enumerate(zip(refined, change, strict=True)):
            better = delta < error
            best, error = np.where(better, row, best), np.where(better, delta, error)
            smallest = np.where(better, first + order, smallest)
        column = refined
    return best, smallest, error


def _noise(sizes: np.ndarray, psi: np.ndarray) -> np.ndarray:
    """(objectives,) what objectives (sizes, sides, objectives) lack of a smooth curve, at least rounding: the least of fits by
    polynomials, over all sizes and over the smaller ones, where strongly curved objectives are smooth too."""
    least = np.full(psi.shape[2], np.inf)
    for first, degree in FITS:
        x = np.stack([sizes[first:], -sizes[first:]], axis=1).ravel() / sizes[first]
        values = psi[first:].reshape(len(x), -1)
        if np.isfinite(values).all():
            powers = x[:, None] ** np.arange(degree + 1)
            rest = values - powers @ np.linalg.lstsq(powers, values, rcond=None)[0]
            least = np.minimum(least, np.sqrt((rest**2).sum(axis=0) / (len(x) - degree - 1)))
    rounding = np.finfo(float).eps * np.nan_to_num(np.abs(psi)).max(axis=(0, 1))
    return np.where(np.isfinite(least), np.maximum(least, rounding), rounding)


def relative_differences(
    matrix: np.ndarray, reference: np.ndarray, noise: np.ndarray | float = 0.0, rounding: np.ndarray | float = 0.0
) -> np.ndarray:
    """|matrix − reference|, where that is more than rounding, relative to each entry, or to a part of its row's largest where
    it is smaller than that; and where the noise of the differences is more than is ALLOWED of that, ALLOWED where it is as
    large as the noise."""
    largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
    scale = np.maximum(np.maximum(np.abs(matrix), SMALL_ENTRY * largest), noise / ALLOWED)
    off = beyond(matrix - reference, rounding)
    relative = off / np.where(scale > 0.0, scale, 1.0)
    within = (off > 0.0) & (off <= noise)  # whatever the quotient is rounded to
    return np.where(within, np.minimum(relative, ALLOWED), relative)
