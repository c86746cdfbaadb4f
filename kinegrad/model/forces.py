"""The forces, one class a type: on bodies at their markers, or on a measure such as a joint coordinate.

A value may be an expression in t, parameters, measures, joint coordinates (``joint.angle``, ``joint.angle.velocity``)
and marker components (``body.marker.position.x``, ``body.marker.velocity.x``).
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator

from kinegrad.laws import Law
from kinegrad.model.element import Element
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


class Load(Element):
    """What all forces are."""


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


class AtOrActsOn(Load):
    """A force with a value: three components at a marker, or one number on a measure."""

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


def both_or_none(element: Element, first: str, second: str) -> str:
    """Words for two keys of which exactly one is wanted."""
    return f"neither {first} nor {second}" if getattr(element, first) is None else f"both {first} and {second}"


class Force(AtOrActsOn):
    """A force at a point of a body, or along a measure [N]."""

    type: Literal["force"] = "force"


class Torque(AtOrActsOn):
    """A torque on a body, or about a measure [N m]."""

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


FORCES = {force.model_fields["type"].default: force for force in (Gravity, Spring, Force, Torque, Spline)}
