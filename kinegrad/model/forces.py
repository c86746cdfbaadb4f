"""The forces, one class a type: on bodies at their markers, or on a measure such as a joint coordinate.

A value may be an expression in t, parameters, measures, joint coordinates (``joint.angle``, ``joint.angle.velocity``)
and marker components (``body.marker.position.x``, ``body.marker.velocity.x``).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from kinegrad.laws import Law
from kinegrad.model.element import Element
from kinegrad.model.quantities import Quantity
from kinegrad.model.values import (
    OR_LAW,
    Constants,
    MarkerName,
    MarkerPair,
    MeasureName,
    Number,
    NumberOrVector3,
    Numbers,
    ParameterName,
    Vector3,
    show,
)

ACTS_ON = "the measure it acts on: joint.angle, body.marker.x or a name from measures"


ZERO = (0.0, 0.0, 0.0)
MOST_TURNED = math.radians(170.0)  # of the frames of a bushing
MIN_SPLINE_POINTS = 4
SOON = 1e-12  # of the duration of a spline: times nearer to each other than this are one


class Load(Element):
    """What all forces are."""

    marker_kind: ClassVar[str] = "point"  # what the markers that it names have to be
    laws: ClassVar[tuple[str, ...]] = ()  # keys whose expressions may use motion

    @property
    def drawn_length(self) -> Number | None:
        """The length without force of what is drawn as a coil between two points; None for what is not."""
        return None

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        """Keys and sentences about numbers that cannot be, as `values` of the checks finds them."""
        return iter(())

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        """What it has for others to see; `unit` is that of a force on the measure it acts on."""
        return ()


def on_measure(unit: str) -> tuple[Quantity, ...]:
    """What a force along a measure has."""
    return (
        Quantity("force", unit, "Force along its measure, positive where it pushes the measure up."),
        Quantity("power", "W", "Power that it gives to the bodies."),
    )


class Gravity(Load):
    """Weight of all bodies in a uniform field."""

    type: Literal["gravity"] = "gravity"
    acceleration: Vector3 = Field(description="acceleration of free fall in global components [m/s2]")


class Spring(Load):
    """Linear spring with damper, between two points or on a measure."""

    type: Literal["spring"] = "spring"
    between: MarkerPair | None = Field(None, description="the two points, written body.marker")
    acts_on: MeasureName | None = Field(None, description=ACTS_ON)
    stiffness: Number = Field(description="force per elongation [N/m], or per unit of the measure")
    damping: Number = Field(0.0, description="force per rate of elongation [N s/m], or per rate of the measure")
    natural_length: Number | None = Field(None, description="length without force [m]; with between")
    natural_value: Number = Field(0.0, description="value of the measure without force; with acts_on")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.between is None) == (self.acts_on is None):
            raise ValueError(f"has {both_or_none(self, 'between', 'acts_on')}; give one of them.")
        if self.between is not None and self.natural_length is None:
            raise ValueError("lacks natural_length; add it (0 is allowed).")
        if self.between is not None and "natural_value" in self.model_fields_set:
            raise ValueError("acts between two points and has natural_value; write natural_length.")
        if self.acts_on is not None and self.natural_length is not None:
            raise ValueError("acts on a measure and has natural_length; write natural_value.")
        return self

    @property
    def drawn_length(self) -> Number | None:
        return self.natural_length

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        if self.acts_on is not None:
            return on_measure(unit)
        return (
            Quantity("force", "N", "Force of spring and damper, positive in tension."),
            Quantity("length", "m", "Distance between its two points.", level=0, use="motion"),
            Quantity("rate", "m/s", "Rate of its length.", use="motion"),
            Quantity("power", "W", "Power that it gives to the bodies, negative while it takes energy up."),
        )

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        if self.natural_length is not None and values.value(self.natural_length) < 0.0:
            yield ("natural_length",), f"is {values.found(self.natural_length)}; give a length of zero or more."


class Bushing(Load):
    """Springs and dampers along three lengths and about three angles, between two frames."""

    marker_kind: ClassVar[str] = "frame"
    type: Literal["bushing"] = "bushing"
    between: MarkerPair = Field(description="the two frames, written body.marker; all components refer to the first")
    stiffness: Vector3 = Field(description="force per displacement along x, y, z of the first frame [N/m]")
    damping: Vector3 = Field(ZERO, description="force per rate of displacement along x, y, z [N s/m]")
    rotational_stiffness: Vector3 = Field(ZERO, description="torque per component of the rotation vector [N m/rad]")
    rotational_damping: Vector3 = Field(ZERO, description="torque per rate of the rotation vector [N m s/rad]")
    natural: Vector3 = Field(ZERO, description="place of the second origin in the first frame without force [m]")
    natural_rotation: Vector3 = Field(ZERO, description="rotation vector of the second frame without torque [rad]")

    @property
    def drawn_length(self) -> Number | None:
        return 0.0

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        of_first = "along the axes of its first frame"
        return (
            Quantity("force", "N", f"Force on the second body, {of_first}.", vector=True),
            Quantity("torque", "N m", f"Torque on the rotation vector of the second frame, {of_first}.", vector=True),
            Quantity(
                "deflection",
                "m",
                f"From the first to the second origin, {of_first}.",
                vector=True,
                level=0,
                use="motion",
            ),
            Quantity(
                "rotation",
                "rad",
                f"Rotation vector of the second frame, {of_first}.",
                vector=True,
                level=0,
                use="motion",
            ),
            Quantity("power", "W", "Power that it gives to the bodies, negative while it takes energy up."),
        )

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        for key in ("stiffness", "damping", "rotational_stiffness", "rotational_damping"):
            for i, number in enumerate(getattr(self, key)):
                if values.value(number) < 0.0:
                    yield (key, i), f"is {values.found(number)}; give a number of zero or more."
        turn = math.hypot(*values.vector(self.natural_rotation))
        if turn > MOST_TURNED:
            text = f"is {values.shown(self.natural_rotation)}, a turn by {math.degrees(turn):.4g} degrees"
            yield ("natural_rotation",), f"{text}; give one below 170 degrees."


class AtOrActsOn(Load):
    """A force with a value: three components at a marker, or one number on a measure."""

    laws: ClassVar[tuple[str, ...]] = ("value",)
    own_unit: ClassVar[str] = "N"
    own_word: ClassVar[str] = "Force on the body at its marker"
    at: MarkerName | None = Field(None, description="the marker of the body it acts on, written body.marker")
    frame: Literal["ground", "body"] = Field("ground", description="whose axes the three components refer to")
    acts_on: MeasureName | None = Field(None, description=ACTS_ON)
    value: Annotated[NumberOrVector3, OR_LAW] = Field(description="three numbers with at, one with acts_on")

    @model_validator(mode="after")
    def _one_form(self):
        if (self.at is None) == (self.acts_on is None):
            raise ValueError(f"has {both_or_none(self, 'at', 'acts_on')}; give one of them.")
        if self.at is not None and not isinstance(self.value, tuple | Law):
            raise ValueError(f"acts at a marker with the value {show(self.value)}; give three components [x, y, z].")
        if self.acts_on is not None and isinstance(self.value, tuple):
            raise ValueError(f"acts on a measure with {len(self.value)} values; give one number or expression.")
        if self.acts_on is not None and "frame" in self.model_fields_set:
            raise ValueError("acts on a measure and has frame; leave frame out.")
        return self

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        if self.acts_on is not None:
            return on_measure(unit)
        return (
            Quantity("force", self.own_unit, f"{self.own_word}, in global components.", vector=True),
            Quantity("power", "W", "Power that it gives to the body."),
        )


def both_or_none(element: Element, first: str, second: str) -> str:
    """Words for two keys of which exactly one is wanted."""
    return f"neither {first} nor {second}" if getattr(element, first) is None else f"both {first} and {second}"


class Force(AtOrActsOn):
    """A force at a point of a body, or along a measure [N]."""

    type: Literal["force"] = "force"


class Torque(AtOrActsOn):
    """A torque on a body, or about a measure [N m]."""

    marker_kind: ClassVar[str] = "any"
    own_unit: ClassVar[str] = "N m"
    own_word: ClassVar[str] = "Torque on the body"
    type: Literal["torque"] = "torque"


def _values_kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<list>"


class Spline(Load):
    """A natural cubic spline in time on a measure, through (times, values)."""

    type: Literal["spline"] = "spline"
    acts_on: MeasureName = Field(description=ACTS_ON)
    times: Constants = Field(description="the times of the nodes [s], constants, increasing, at least four")
    values: Annotated[
        Annotated[ParameterName, Tag("<name>")] | Annotated[Numbers, Tag("<list>")], Discriminator(_values_kind)
    ] = Field(description="the values at the nodes: as many numbers, or the name of a parameter that is a list")

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        return on_measure(unit)

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        if len(self.times) < MIN_SPLINE_POINTS:
            yield ("times",), f"has {len(self.times)} entries; a spline needs at least {MIN_SPLINE_POINTS}."
        times = values.vector(self.times)
        for i in range(1, len(times)):
            if times[i] <= times[i - 1]:
                yield ("times", i), f"is {values.found(self.times[i])} after {times[i - 1]:g}; times have to increase."
            elif times[i] - times[i - 1] < SOON * (times[-1] - times[0]):
                text = f"is {values.found(self.times[i])}, too soon after {times[i - 1]:g}; leave one of them out."
                yield ("times", i), text
        numbers = values.model.parameters.get(self.values) if isinstance(self.values, str) else self.values
        if isinstance(numbers, tuple) and len(numbers) != len(self.times):
            text = f"has {len(numbers)} entries and times has {len(self.times)}; give as many of both."
            yield ("values",), text


class Actuator(Load):
    """A force on a measure that follows its value with a delay of first order: time_constant·ẏ + y = value."""

    laws: ClassVar[tuple[str, ...]] = ("value",)
    type: Literal["actuator"] = "actuator"
    acts_on: MeasureName = Field(description=ACTS_ON)
    value: Annotated[Number, OR_LAW] = Field(description="what the force y approaches [N, or N m]")
    time_constant: Number = Field(description="how long it takes to come to 63 % of it [s]")
    start: Number = Field(0.0, description="the force at the start [N, or N m]")

    def quantities(self, unit: str) -> tuple[Quantity, ...]:
        return on_measure(unit)

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        if not values.value(self.time_constant) > 0.0:
            text = (
                f"is {values.found(self.time_constant)}; give a time above zero, or a force in place of the actuator."
            )
            yield ("time_constant",), text


FORCES = {
    force.model_fields["type"].default: force for force in (Gravity, Spring, Bushing, Force, Torque, Spline, Actuator)
}
