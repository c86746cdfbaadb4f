"""Quantities: what an element of a model has that can be named, seen and saved, beside what expressions always could use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

AXES = ("x", "y", "z")
NORM = 3  # in the place of a component
COMPONENTS = (*AXES, "norm")


@dataclass(frozen=True)
class Quantity:
    """A number, or a vector of three, that an element has.

    Attributes
    ----------
    part : str
        Its name behind that of the element, such as ``force``; may have dots.
    unit, meaning : str
        The meaning is a sentence.
    vector : bool
        Whether it has components x, y, z, and a norm.
    level : int
        0 where it follows from positions, 1 where it also takes velocities, 2 accelerations.
    use : str
        Where expressions may use it: "motion" wherever its level is taken, "objective" in objectives alone, "solved" there too,
        where states are solved again for it, "followed" there too, though along a motion it is followed from state to state,
        "result" nowhere: it is known when a motion is.
    """

    part: str
    unit: str
    meaning: str
    vector: bool = False
    level: int = 1
    use: Literal["motion", "objective", "solved", "followed", "result"] = "objective"
