"""What a method of differentiation offers to `gradient`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.expressions.maps import Jacobian
from kinegrad.motion import Motion
from kinegrad.sensitivity.states import AllStates


class Wanted(NamedTuple):
    """What to differentiate by: independent parameters of a system; and whom to tell the fraction done."""

    system: System
    labels: Sequence[str]
    progress: Callable[[float], None] | None = None

    @property
    def s_rho(self) -> Jacobian:
        """Derivatives of the slots by the parameters: sparse."""
        return self.system.derivatives(self.labels)

    @property
    def ds(self) -> np.ndarray:
        """(p, slots) the same as directions."""
        return self.system.directions(self.labels)


class Derivatives(NamedTuple):
    """What a method found.

    matrix : (objectives, p) derivatives by the directions
    by_slot : (objectives, slots) array or None
    course : list of (time, (objectives, p) array) or None
    """

    matrix: np.ndarray
    by_slot: np.ndarray | None = None
    course: list[tuple[float, np.ndarray]] | None = None

    def times(self, factors: np.ndarray | None) -> Derivatives:
        """The same with a factor for each objective, if there are any."""
        if factors is None or (factors == 1.0).all():
            return self
        by = factors[:, None]
        course = None if self.course is None else [(t, by * values) for t, values in self.course]
        return Derivatives(by * self.matrix, None if self.by_slot is None else by * self.by_slot, course)


@dataclass(frozen=True)
class Method(ABC):
    """One way to differentiate the objectives of a motion; its fields are its options."""

    name: ClassVar[str]
    #: it gives the derivatives by every number of the model
    every_slot: ClassVar[bool] = False
    #: it gives the derivative of the discrete scheme, which is that of steps that are solved to rounding
    exact: ClassVar[bool] = True

    @abstractmethod
    def run(self, states: AllStates, wanted: Wanted) -> Derivatives:
        """The derivatives, along the steps that a run did."""

    @abstractmethod
    def load(self, motion: Motion, wanted: Wanted) -> None:
        """Compile, or load, what `run` calls, without a step."""
