"""Constraints, drivers, starting values and objectives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, model_validator

from kinegrad.model.element import Element
from kinegrad.model.forces import both_or_none
from kinegrad.model.values import (
    OR_LAW,
    TABLE,
    Constants,
    FrozenDict,
    MarkerName,
    MarkerPair,
    MeasureName,
    Number,
    NumberOrVector3,
    Vector3,
    Vector4,
    show,
)

POINTS = "two points, written body.marker"
VECTORS = "two vector markers, written body.marker"


class Constraint(Element):
    """What all constraints are."""

    marker_kind: ClassVar[str] = "point"  # what the markers that it names in `between` have to be
    direction_key: ClassVar[str] = ""  # the key, if any, of a vector marker of the first body


class Coincidence(Constraint):
    """Two points that coincide: three rows."""

    type: Literal["coincidence"] = "coincidence"
    between: MarkerPair = Field(description=POINTS)


class Distance(Constraint):
    """Two points at a distance: one row."""

    type: Literal["distance"] = "distance"
    between: MarkerPair = Field(description=POINTS)
    distance: Number = Field(description="the distance [m], larger than zero")


class Dot(Constraint):
    """Two unit vectors with a given dot product: one row."""

    marker_kind: ClassVar[str] = "vector"
    type: Literal["dot"] = "dot"
    between: MarkerPair = Field(description=VECTORS)
    value: Number = Field(0.0, description="the dot product, between -1 and 1")


class Angle(Constraint):
    """Two vectors at an angle, from 0 to pi: one row."""

    marker_kind: ClassVar[str] = "vector"
    type: Literal["angle"] = "angle"
    between: MarkerPair = Field(description=VECTORS)
    value: Number = Field(description="the angle [rad]")


class Parallel(Constraint):
    """Two vectors whose cross product is zero, in either sense: two rows."""

    marker_kind: ClassVar[str] = "vector"
    type: Literal["parallel"] = "parallel"
    between: MarkerPair = Field(description=VECTORS)


class SameDirection(Constraint):
    """Two unit vectors that coincide: two rows."""

    marker_kind: ClassVar[str] = "vector"
    type: Literal["same-direction"] = "same-direction"
    between: MarkerPair = Field(description=VECTORS)


class PointOnLine(Constraint):
    """A point of the second body on a line of the first: two rows."""

    direction_key: ClassVar[str] = "along"
    type: Literal["point-on-line"] = "point-on-line"
    between: MarkerPair = Field(description="[a point of the line, the point that stays on it], written body.marker")
    along: MarkerName = Field(description="the line's direction: a vector marker of the first body")


class PointInPlane(Constraint):
    """A point of the second body in a plane of the first, or at a distance from it: one row."""

    direction_key: ClassVar[str] = "normal"
    type: Literal["point-in-plane"] = "point-in-plane"
    between: MarkerPair = Field(description="[a point of the plane, the point that stays in it], written body.marker")
    normal: MarkerName = Field(description="the plane's normal: a vector marker of the first body")
    distance: Number = Field(0.0, description="height of the point above the plane, along the normal [m]")


class Linear(Constraint):
    """A linear combination of measures with a given value: gears, racks, belts."""

    type: Literal["linear"] = "linear"
    terms: Annotated[dict[str, Number], TABLE, AfterValidator(FrozenDict)] = Field(
        description="{measure: factor}; the sum of factor times measure is held"
    )
    value: Number = Field(0.0, description="the value of the sum")


class Guidance(Constraint):
    """A measure, or a point, that follows a given course in time."""

    type: Literal["guidance"] = "guidance"
    measure: MeasureName | None = Field(None, description="the measure that is guided")
    marker: MarkerName | None = Field(None, description="the point that is guided, written body.marker")
    value: NumberOrVector3 = Field(description="expression in t and parameters; three of them for a marker")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.measure is None) == (self.marker is None):
            raise ValueError(f"has {both_or_none(self, 'measure', 'marker')}; give one of them.")
        if self.marker is not None and not isinstance(self.value, tuple):
            raise ValueError(f"guides a marker with the value {show(self.value)}; give three components [x, y, z].")
        if self.measure is not None and isinstance(self.value, tuple):
            raise ValueError(f"guides a measure with {len(self.value)} values; give one number or expression.")
        return self


class PositionRow(Constraint):
    """An expression in positions that is held at zero."""

    type: Literal["position"] = "position"
    value: Annotated[Number, OR_LAW] = Field(
        description="expression in t, parameters, measures, joint coordinates and positions of markers"
    )


class VelocityRow(Constraint):
    """An expression that is linear in velocities and held at zero: skates, rolling, drivers of velocities."""

    type: Literal["velocity"] = "velocity"
    value: Annotated[Number, OR_LAW] = Field(description="the same, with velocities to the first power")


CONSTRAINTS = {
    constraint.model_fields["type"].default: constraint
    for constraint in (
        Coincidence, Distance, Dot, Angle, Parallel, SameDirection, PointOnLine, PointInPlane, Linear, Guidance,
        PositionRow, VelocityRow,
    )
}  # fmt: skip


class Driver(Element):
    """A measure with a given course in time; it takes one freedom away."""

    measure: MeasureName = Field(description="the measure that is driven")
    value: Number = Field(description="its value, an expression in t and parameters")


class Freedom(Element):
    """The starting value of a measure that moves freely."""

    stated: ClassVar[tuple[str, ...]] = ("velocity",)

    position: Number = Field(description="value of the measure at t = 0")
    velocity: Number = Field(0.0, description="its rate at t = 0")


class SphericalStart(Element):
    """The orientation a spherical joint starts with: second body seen from the first, in the first body's frame."""

    needs: ClassVar[str] = "rotation, angular_velocity"
    stated: ClassVar[tuple[str, ...]] = ("angular_velocity",)

    rotation: Vector3 | None = Field(None, description="rotation vector [rad]; no rotation without it")
    euler_parameters: Vector4 | None = Field(None, description="Euler parameters, scalar first; made of unit length")
    angular_velocity: Vector3 = Field((0.0, 0.0, 0.0), description="angular velocity [rad/s]")

    @model_validator(mode="after")
    def _one_orientation(self):
        if self.rotation is not None and self.euler_parameters is not None:
            raise ValueError("has both rotation and euler_parameters; give one of them.")
        return self


class FloatingStart(SphericalStart):
    """The position and orientation a floating joint starts with, in the first body's frame."""

    needs: ClassVar[str] = "position, rotation, velocity, ..."
    stated: ClassVar[tuple[str, ...]] = ("position", "velocity", "angular_velocity")

    position: Vector3 = Field((0.0, 0.0, 0.0), description="from the first to the second marker [m]")
    velocity: Vector3 = Field((0.0, 0.0, 0.0), description="its rate seen from the first body [m/s]")


def _start_kind(value: Any) -> str:
    if isinstance(value, Freedom | SphericalStart):
        return {Freedom: "<freedom>", SphericalStart: "<spherical>", FloatingStart: "<floating>"}[type(value)]
    if not isinstance(value, dict):
        return "<freedom>"
    turns = any(key in value for key in ("rotation", "euler_parameters", "angular_velocity"))
    moves = [value[key] for key in ("position", "velocity") if key in value]
    if any(isinstance(entry, list | tuple) for entry in moves) or (turns and moves):
        return "<floating>"
    return "<spherical>" if turns or not value else "<freedom>"


Start = Annotated[
    Annotated[Freedom, Tag("<freedom>")]
    | Annotated[SphericalStart, Tag("<spherical>")]
    | Annotated[FloatingStart, Tag("<floating>")],
    Discriminator(_start_kind),
]


#: What objectives may be: the key of their expression.
OBJECTIVES = ("integral", "final", "sum", "maximum", "minimum")
#: What else they need, by the keys with which it goes.
NEEDED = {"times": ("sum",), "sharpness": ("maximum", "minimum")}


class Objective(Element):
    """A number that a whole motion gives: an integral over time, a value at the end, a sum at times, a smooth extreme."""

    integral: Annotated[Number | None, OR_LAW] = Field(
        None, description="expression that is integrated from 0 to t_end"
    )
    final: Annotated[Number | None, OR_LAW] = Field(None, description="expression whose value at t_end is taken")
    sum: Annotated[Number | None, OR_LAW] = Field(None, description="expression whose values at `times` are added")
    times: Constants | None = Field(None, description="the times of a sum [s], each of which becomes the end of a step")
    maximum: Annotated[Number | None, OR_LAW] = Field(None, description="expression whose smooth maximum is taken")
    minimum: Annotated[Number | None, OR_LAW] = Field(None, description="expression whose smooth minimum is taken")
    sharpness: Number | None = Field(
        None, description="of a maximum or minimum, one over the differences that count: log(mean of exp(K x))/K"
    )

    @model_validator(mode="after")
    def _one_form(self):
        given = [key for key in OBJECTIVES if getattr(self, key) is not None]
        if len(given) != 1:
            both = "both " if len(given) == 2 else ""
            found = both + " and ".join(given) if given else f"none of {', '.join(OBJECTIVES)}"
            raise ValueError(f"has {found}; give one of them.")
        for key, kinds in NEEDED.items():
            if (getattr(self, key) is not None) != (given[0] in kinds):
                verb = "needs" if given[0] in kinds else "takes no"
                raise ValueError(f"with {given[0]} {verb} {key}, which goes with {' and '.join(kinds)}.")
        return self

    @property
    def kind(self) -> str:
        """The key of its expression."""
        return next(key for key in OBJECTIVES if getattr(self, key) is not None)

    @property
    def expression(self):
        """What is integrated, added, or taken."""
        return getattr(self, self.kind)

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        if self.times is not None and not self.times:
            yield ("times",), "is empty; give one time or more."
        for i, t in enumerate(values.vector(self.times or ())):
            if t < 0.0:
                yield ("times", i), f"is {values.found(self.times[i])}; a run starts at 0."
            elif t in values.vector(self.times[:i]):
                yield ("times", i), f"is {values.found(self.times[i])} a second time; name it once."
        if self.sharpness is not None and not values.value(self.sharpness) > 0.0:
            yield ("sharpness",), f"is {values.found(self.sharpness)}; give a number larger than zero."
