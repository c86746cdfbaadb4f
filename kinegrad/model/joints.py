"""The joints between two bodies, one class a type.

``between: [first, second]`` names a marker of each body. A coordinate is the motion of the second body seen from the
first, zero when the two frames are parallel; an axis holds for both bodies (the same components in both frames), or is
a pair with one for each. With a pair, ``zero`` names a direction in each body that coincide at angle zero.

What is computed with a joint stands in `kinegrad.coordinates.joints`, in one file for each of these classes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field, StrictBool, model_validator

from kinegrad.model.constraints import FloatingStart, Freedom, SphericalStart
from kinegrad.model.element import Element
from kinegrad.model.values import Axis, MarkerPair, Number, VectorPair

AXIS = "direction of the axis: one for both bodies, or a pair with one for each"
CROSS = (
    "make them perpendicular, or add zero: [[...], [...]], directions in both bodies that coincide at both angles zero"
)
ZERO = "with a pair of axes: a direction in each body, which coincide at angle zero"


def is_pair(axis) -> bool:
    """Whether `axis` has a vector for each body."""
    return isinstance(axis[0], tuple)


def as_pair(axis) -> tuple:
    """The vector of the first and of the second body."""
    return axis if is_pair(axis) else (axis, axis)


class Joint(Element):
    """What all joints have; `coordinates` are the parts of a name such as ``joint.angle``.

    `start` is what degrees_of_freedom give for it: a number for each coordinate, or an orientation for the whole joint.
    """

    coordinates: ClassVar[tuple[str, ...]] = ()
    n_coordinates: ClassVar[int] = 0
    start: ClassVar[type[Element]] = Freedom

    between: MarkerPair = Field(description="the markers [first, second], written body.marker")
    cut: StrictBool = Field(False, description="true forces the loop through this joint to be cut here")

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "n_coordinates" not in cls.__dict__:
            cls.n_coordinates = len(cls.coordinates)

    @property
    def axis_pair(self) -> tuple | None:
        """The axis in the first and in the second body; None without one."""
        return None

    @property
    def angle_is_defined(self) -> bool:
        """Whether angle zero is known."""
        return True

    def findings(self, values, path: tuple) -> Iterator[tuple[tuple, str]]:
        """Path and sentence of each wrong number, with the tests that `values` offers."""
        return iter(())


class AxisJoint(Joint):
    """A joint about or along one axis."""

    needs_zero: ClassVar[bool] = False  # whether a pair of axes leaves something undefined without `zero`

    axis: Axis = Field(description=AXIS)
    zero: VectorPair | None = Field(None, description=ZERO)

    @model_validator(mode="after")
    def _zero_belongs_to_a_pair(self):
        if self.zero is not None and not is_pair(self.axis):
            raise ValueError("has zero but one axis for both bodies; give the axis as a pair, or leave zero out.")
        if self.needs_zero and self.zero is None and is_pair(self.axis):
            raise ValueError(
                f"is {self.type} with a pair of axes and lacks zero; add zero: [[...], [...]], a direction in each "
                "body, to say which orientation about the axis is meant."
            )
        return self

    @property
    def axis_pair(self) -> tuple:
        """The axis in the first and in the second body."""
        return as_pair(self.axis)

    @property
    def angle_is_defined(self) -> bool:
        """Whether angle zero is known: frames parallel, or two directions given by `zero`."""
        return self.zero is not None or not is_pair(self.axis)

    def findings(self, values, path):
        wrong = [*values.directions((*path, "axis"), self.axis)]
        wrong += values.directions((*path, "zero"), self.zero) if self.zero else []
        yield from wrong
        if self.zero and not wrong:
            for i, (axis, zero) in enumerate(zip(self.axis_pair, self.zero, strict=True)):
                yield from values.across((*path, "zero", i), zero, axis)


class Revolute(AxisJoint):
    """Rotation about an axis through both markers."""

    coordinates: ClassVar = ("angle",)
    type: Literal["revolute"] = "revolute"


class Prismatic(AxisJoint):
    """Translation along an axis; `distance` runs from the first to the second marker."""

    coordinates: ClassVar = ("distance",)
    needs_zero: ClassVar = True
    type: Literal["prismatic"] = "prismatic"


class Cylindrical(AxisJoint):
    """Translation along an axis and rotation about it."""

    coordinates: ClassVar = ("distance", "angle")
    type: Literal["cylindrical"] = "cylindrical"


class Screw(AxisJoint):
    """Rotation about an axis with a translation of `pitch` metres per radian along it."""

    coordinates: ClassVar = ("angle",)
    needs_zero: ClassVar = True
    type: Literal["screw"] = "screw"
    pitch: Number = Field(description="distance along the axis per radian [m/rad]; a thread of lead p has p/(2*pi)")


class Cardan(Joint):
    """Two rotations, `angle1` about an axis of the first body, then `angle2` about an axis of the second."""

    coordinates: ClassVar = ("angle1", "angle2")
    type: Literal["cardan"] = "cardan"
    axes: VectorPair = Field(description="[axis in the first body, axis in the second], perpendicular to each other")
    zero: VectorPair | None = Field(
        None,
        description="a direction in each body, which coincide at both angles zero, to the right hand of the axes there",
    )

    @property
    def axis_pair(self) -> tuple:
        """The axis that stays in the first body, and the one that stays in the second."""
        return self.axes

    def findings(self, values, path):
        wrong = [*values.directions((*path, "axes"), self.axes)]
        wrong += values.directions((*path, "zero"), self.zero) if self.zero else []
        yield from wrong
        if not wrong and self.zero:
            yield from values.beside_cross((*path, "zero"), self.axes, self.zero)
        elif not wrong:
            yield from values.perpendicular((*path, "axes"), *self.axes, CROSS)


class Spherical(Joint):
    """Two points that coincide; four Euler parameters in the joint set."""

    n_coordinates: ClassVar[int] = 4
    start: ClassVar = SphericalStart
    type: Literal["spherical"] = "spherical"


class Floating(Joint):
    """No restriction; a position and four Euler parameters in the joint set."""

    n_coordinates: ClassVar[int] = 7
    start: ClassVar = FloatingStart
    type: Literal["floating"] = "floating"


class Planar(Joint):
    """Motion in a plane: x and y along it, and an angle about its normal."""

    coordinates: ClassVar = ("x", "y", "angle")
    type: Literal["planar"] = "planar"
    axis: Axis = Field(description="normal of the plane: one for both bodies, or a pair with one for each")
    x_axis: Axis = Field(description="first direction in the plane, perpendicular to axis; the second is axis × x_axis")

    @property
    def axis_pair(self) -> tuple:
        """The normal in the first and in the second body."""
        return as_pair(self.axis)

    @property
    def x_axis_pair(self) -> tuple:
        """The first direction in the plane, in the first and in the second body."""
        return as_pair(self.x_axis)

    def findings(self, values, path):
        wrong = [*values.directions((*path, "axis"), self.axis), *values.directions((*path, "x_axis"), self.x_axis)]
        yield from wrong
        if not wrong:
            for i, (axis, x_axis) in enumerate(zip(self.axis_pair, self.x_axis_pair, strict=True)):
                place = (*path, "x_axis", i) if is_pair(self.x_axis) else (*path, "x_axis")
                yield from values.perpendicular(place, x_axis, axis, "make x_axis perpendicular to axis")


class Fixed(Joint):
    """No motion: the points coincide and the frames of the bodies are parallel."""

    type: Literal["fixed"] = "fixed"


class Link(Joint):
    """A massless bar: the two points keep their distance."""

    type: Literal["link"] = "link"
    length: Number = Field(description="distance of the two points [m], larger than zero")

    def findings(self, values, path):
        yield from values.positive((*path, "length"), self.length)


JOINTS = {
    joint.model_fields["type"].default: joint
    for joint in (Revolute, Prismatic, Cylindrical, Screw, Cardan, Spherical, Floating, Planar, Fixed, Link)
}
