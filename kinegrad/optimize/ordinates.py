"""Lists of ordinates with another number of entries: the course through them is kept, or the nearest one taken (OPT-16)."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass

import numpy as np

from kinegrad.memory import require
from kinegrad.model.element import closest
from kinegrad.model.forces import Spline
from kinegrad.model.model import Model
from kinegrad.model.parameters import Parameters
from kinegrad.optimize.description import Variable

SAME = 1e-9  # of the whole course: abscissas that are one
ENDS = {"natural": "natural", "flat": "clamped"}


@dataclass(frozen=True, eq=False)
class Course:
    """How a list becomes a curve.

    Attributes
    ----------
    x : (k,) array
        Abscissas.
    kind : str
        "natural" or "flat", a cubic spline with such ends; or "linear".
    """

    x: np.ndarray
    kind: str

    def at(self, values: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The curve through values (k, ...), at abscissas."""
        from scipy.interpolate import CubicSpline, make_interp_spline

        if self.kind == "linear":
            return make_interp_spline(self.x, values, k=1)(x)
        return CubicSpline(self.x, values, bc_type=ENDS[self.kind])(x)

    def holds(self, x: np.ndarray) -> bool:
        """Whether these abscissas are all among its own."""
        gaps = np.abs(self.x[:, None] - x[None, :]).min(axis=0)
        return bool((gaps <= SAME * (self.x[-1] - self.x[0])).all())


def carried(old: Course, new: Course, values: np.ndarray) -> np.ndarray:
    """Ordinates of the new course that make the curve of the old one: just this one where the new abscissas hold all old
    ones, else that with the least integral of the squared difference."""
    if new.holds(old.x):
        return old.at(values, new.x)
    ends = np.union1d(old.x, new.x)
    nodes, weights = np.polynomial.legendre.leggauss(4)  # both curves are cubics between two ends
    h = 0.5 * np.diff(ends)
    points = ((ends[:-1] + h)[:, None] + h[:, None] * nodes).ravel()
    require(24.0 * len(points) * len(new.x), f"{len(new.x)} ordinates in the place of {len(old.x)}",
            "take a number of ordinates such that all abscissas before are kept, as 2 n - 1 after n")  # fmt: skip
    root = np.sqrt((h[:, None] * weights).ravel())
    basis = new.at(np.eye(len(new.x)), points)
    return np.linalg.lstsq(root[:, None] * basis, root * old.at(values, points), rcond=None)[0]


def course_of(model: Model, name: str) -> Course:
    """The course of a list parameter; a ValueError where it makes none, or several."""
    numbers = model.parameters.get(name)
    if not isinstance(numbers, tuple | list):
        lists = [one for one, entries in model.parameters.items() if isinstance(entries, tuple | list)]
        raise ValueError(f"is no parameter that is a list{closest(name, lists)}; lists: {', '.join(lists) or 'none'}.")
    parameters, found = Parameters(model.parameters), []
    for key, abscissas, kind in _users(model, name):
        found.append((key, Course(np.array(parameters.evaluate_all(abscissas)), kind)))
    if not found:
        raise ValueError("is not a list through which a spline force or a table goes; leave it out.")
    (key, first), *others = found
    for other, course in others:
        if course.kind != first.kind or not (len(course.x) == len(first.x) and first.holds(course.x)):
            raise ValueError(
                f"goes through {key} and {other} at other abscissas, or otherwise; give each its own list."
            )
    return first


def _users(model: Model, name: str):
    """Elements that make a curve of a list: key, abscissas and kind."""
    for key, force in model.forces.items():
        if isinstance(force, Spline) and force.values == name:
            yield f"forces.{key}", force.times, "natural"
    for key, table in model.tables.items():
        if table.y == name:
            cubic = "flat" if table.outside == "hold" else "natural"
            yield f"tables.{key}", table.x, "linear" if table.interpolation == "linear" else cubic


def with_ordinates(model: Model, name: str, wanted: int | tuple[float, ...]) -> Model:
    """The model with so many entries of a list, evenly spaced, or at given abscissas; a ValueError where that cannot be."""
    old = course_of(model, name)
    document = {key: part for key, part in model.to_dict().items() if key not in ("title", "description")}
    named = re.search(rf"(?<![\w.]){name}\[\d+\]", json.dumps(document, default=str))
    if named:
        raise ValueError(f"cannot have another number of entries: the model names {named.group()}.")
    x = np.linspace(old.x[0], old.x[-1], wanted) if isinstance(wanted, int) else np.array(wanted)
    if len(x) < 2 or (np.diff(x) <= 0.0).any():
        raise ValueError(f"has {len(x)} ordinates; give at least four, at abscissas that increase.")
    if np.abs(x[[0, -1]] - old.x[[0, -1]]).max() > SAME * (old.x[-1] - old.x[0]):
        raise ValueError(f"goes from {x[0]:g} to {x[-1]:g}, and the list of the model from {old.x[0]:g} to {old.x[-1]:g}; "
                         "keep both ends.")  # fmt: skip
    new, copy = Course(x, old.kind), model.copy()
    values = Parameters(model.parameters)

    def entries(given) -> list[float]:
        return carried(old, new, np.array(values.evaluate_all(given))).tolist()

    copy.parameters[name] = entries(model.parameters[name])
    copy.variants = {
        key: {one: entries(numbers) if one == name else numbers for one, numbers in given.items()}
        for key, given in model.variants.items()
    }
    for key, force in model.forces.items():
        if isinstance(force, Spline) and force.values == name:
            copy.forces[key] = force.with_(times=x.tolist())
    for key, table in model.tables.items():
        if table.y == name:
            copy.tables[key] = table.with_(x=x.tolist())
    problems = copy.problems()
    if problems:
        raise ValueError(f"does not go into the model: {problems[0].sentence}")
    return copy


def resampled(variable: Variable, old: Course, new: Course, now: np.ndarray) -> Variable:
    """A variable whose bounds, start and scale are those of the new course; `now` are its ordinates in the model.

    Bounds and scales that differ go on linearly between abscissas; a start is kept within bounds.
    """

    def along(given: tuple, absent: float) -> np.ndarray:
        numbers = np.array([absent if one is None else one for one in given], float)
        some = np.isfinite(numbers)
        found = np.interp(new.x, old.x, np.where(some, numbers, 0.0))
        bounded = np.interp(new.x, old.x, some.astype(float)) >= 1.0 - SAME
        return np.where(bounded, found, absent)

    low, high = (
        along(side, absent) if isinstance(side, tuple) else absent if side is None else side
        for side, absent in zip(variable.bounds, (-np.inf, np.inf), strict=True)
    )
    start, scale = variable.start, variable.scale
    if start is None or isinstance(start, tuple):
        start = now if start is None else carried(old, new, np.array(start))
        start = tuple(np.clip(start, low, high).tolist())
    if isinstance(scale, tuple):
        scale = tuple(along(scale, 1.0).tolist())
    sides = [[float(x) if np.isfinite(x) else None for x in np.broadcast_to(side, len(new.x))] for side in (low, high)]
    return variable.with_(**{"bounds": sides, "start": start} | ({} if scale is None else {"scale": scale}))
