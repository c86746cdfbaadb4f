"""What two combinations are compared by: where the points are at the end, or the derivatives of the objectives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.model import names
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.element import closest
from kinegrad.motion import Motion, Replay
from kinegrad.sensitivity.gradient import gradient, labels_of
from kinegrad.sensitivity.rounding import ROUNDING, beyond, rounding_of

SMALL = 1e-3  # of the largest derivative of an objective: smaller ones are compared with this part of it


@dataclass(frozen=True)
class Look:
    """What one run gave.

    Attributes
    ----------
    values : array
        What is compared.
    size : float
        To which errors are compared: the room in which the points are [m], or 1 where they are relative.
    motion : Motion
    cpu_s : float
        Processor time of all of it.
    without_meaning : names of parameters by which there is no derivative
    rounding : like values, or 0
        What rounding may make of them.
    remarks : sentences of warnings
    """

    values: np.ndarray
    size: float
    motion: Motion
    cpu_s: float
    without_meaning: frozenset[str] = frozenset()
    remarks: tuple[str, ...] = ()
    rounding: np.ndarray | float = 0.0


class Quantity(ABC):
    """What is compared, with its unit, what counts as rounding, and the largest error, by size, that is recommended."""

    name: ClassVar[str]
    unit: ClassVar[str]
    floor: ClassVar[float]
    fine: ClassVar[float]

    @abstractmethod
    def look(self, motion: Motion, method: str) -> Look:
        """What is compared of a motion."""

    @abstractmethod
    def distance(self, looks: Sequence[Look]) -> Callable[[np.ndarray, np.ndarray], float]:
        """How far apart two of the values are, in units that all the looks make."""


class Points(Quantity):
    """The positions of all points that move, at the end."""

    name, unit, floor, fine = "motion", "m", 1e-9, 1e-4

    def __init__(self, system: System):
        self.names = [
            name
            for name in system.markers
            if not name.startswith(f"{names.GROUND}.")
            and not isinstance(names.find_marker(system.model, name)[1], VectorMarker)
        ]
        if not self.names:
            raise KinegradError("No body has a point marker, so there is nothing to compare; give the bodies markers.")

    def ends(self, motion: Motion) -> tuple[np.ndarray, np.ndarray]:
        """Where the points are at the start and at the end, (points, 3) each."""
        again = Replay(motion)
        chosen = [motion.system.markers[name] for name in self.names]
        first, last = (again(slice(k, k + 1))["markers"][0, chosen, 0] for k in (0, len(motion.t) - 1))
        return first, last

    def look(self, motion, method):
        first, last = self.ends(motion)
        room = np.ptp(np.concatenate([first, last]), axis=0)
        return Look(last, float(np.linalg.norm(room)), motion, motion.cpu_s)

    def distance(self, looks):
        return lambda x, y: float(np.linalg.norm(x - y, axis=1).max())


class Derivatives(Quantity):
    """The gradient of objectives, each entry by its size, or by a thousandth of the largest one of its objective."""

    name, unit, floor, fine = "gradient", "", 1e-8, 1e-3

    def __init__(self, system: System, wrt: Sequence[str] | None, objectives: Sequence[str] | None):
        if not system.objectives:
            raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
        known = list(system.objectives)
        self.objectives = known if objectives is None else list(objectives)
        for name in self.objectives:
            if name not in known:
                raise KinegradError(
                    f"There is no objective {name!r}{closest(name, known)}; objectives: {', '.join(known)}."
                )
        self.wrt = labels_of(system, wrt)
        self.rows = [known.index(name) for name in self.objectives]

    def look(self, motion, method):
        found = gradient(motion, wrt=self.wrt, method=method)
        lost = frozenset(found.no_meaning)
        rounding = rounding_of(found)[self.rows]
        return Look(found.matrix[self.rows], 1.0, found.motion, found.cpu_s, lost, rounding=rounding)

    def distance(self, looks):
        sizes = np.median([np.abs(look.values) for look in looks], axis=0)
        largest = sizes.max(axis=1, keepdims=True)
        scale = np.maximum(sizes, SMALL * largest)
        lost = frozenset().union(*(look.without_meaning for look in looks))
        scale[:, [label in lost for label in self.wrt]] = np.inf
        rounding = np.max([look.rounding for look in looks], axis=0)
        scale = np.where(sizes <= rounding, np.maximum(scale, rounding / ROUNDING), scale)  # what they could be
        scale[scale == 0.0] = 1.0
        return lambda x, y: float((beyond(x - y, rounding) / scale).max())
