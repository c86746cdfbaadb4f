"""The screw: a turn about an axis, with a slide of `pitch` metres per radian along it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction, turn_about
from kinegrad.expressions import graph as algebra
from kinegrad.kernels.joint.records import SCREW
from kinegrad.kernels.reactions.records import FIRST
from kinegrad.model.joints import Screw
from kinegrad.model.units import METRE

THREADS = (-1.5, 0.0, 1.5)


class ScrewKind(JointKind):
    model = Screw
    coordinates: ClassVar = {"angle": "rad"}
    own = ("angle",)
    n_rows = 7  # axis, alignment, pitch
    shares = ("axis",)
    apart = "along"
    drawing = Drawing(
        (
            Symbol("cylinder", radius=1.9, length=5.0, end=1),
            *(Symbol("cylinder", radius=2.5, length=0.6, end=1, shift=shift) for shift in THREADS),
        ),
        rail=True,
    )

    def motions(self, slots, path, joint):
        axis = rows.axis_slot(slots, path, joint)
        return [Motion("angle", SCREW, axis, slots.number(f"{path}.pitch", joint.pitch))]

    def frames(self, slots, path, joint):
        return rows.axis_frames(slots, path, joint)

    def extract(self, R, d, axes, pitch):
        """The angle of the rotation, on the turn nearest to the translation."""
        angle = turn_about(R, axes[0])
        turns = (axes[0] @ d / pitch - angle) / (2.0 * np.pi) if pitch else 0.0
        return [[angle + 2.0 * np.pi * np.round(turns)]]

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        first, second = rows.axis_columns(elements, name, joint)
        rows.hold_axis(elements, name, first, second)
        rows.across(elements, f"{name} alignment", first, j, i)
        self._thread(elements, name, joint)

    def _thread(self, elements, name, joint) -> None:
        """The row distance = pitch · angle, on the turn that the distance tells (SCW-4).

        Without a pitch the distance tells none: the angle is then a coordinate of its own (OWN-1).
        """
        formula = elements.formula()
        if self._has_no_pitch(elements, name, joint):
            angle = formula.scalar(elements.coordinate_scalar(elements.angle(name, "angle")))
            pitch = self._pitch(elements, formula, name, joint)
            distance = self._distance(elements, formula, name, joint)
            elements.expression_row(f"{name} pitch", formula, distance - pitch * angle, METRE)
            return
        pitch = self._pitch(elements, formula, name, joint)
        turned = self._advance(elements, formula, name, joint)
        first, second = rows.axis_columns(elements, name, joint)
        x, y, z = (rows.components(elements, formula, marker) for marker in (first[0], first[1], second[0]))
        C, S = rows.dot(x, z), rows.dot(y, z)
        c, s = algebra.cos(turned), algebra.sin(turned)
        elements.expression_row(f"{name} pitch", formula, pitch * algebra.atan2(C * s - S * c, C * c + S * s), METRE)

    def thrust(self, elements, formula, name, joint, row):
        """Those of the row of the pitch, and of the row of the angle, through which a force on it acts along the axis; without
        that force (SCW-6)."""
        pitch = self._pitch(elements, formula, name, joint)
        thrust = -elements.multiplier(formula, row)
        bound = elements.bound_row(name, "angle")
        if bound is not None and not self._has_no_pitch(elements, name, joint):
            thrust = thrust - elements.multiplier(formula, bound) / pitch
        axis = rows.components(elements, formula, rows.axis_columns(elements, name, joint)[0][2])
        return [thrust * x for x in axis], [-(pitch * thrust * x) for x in axis]

    def measure(self, elements, formula, name, joint, part):
        if self._has_no_pitch(elements, name, joint):
            return Measured(
                rows.angle_between(elements, formula, *rows.axis_columns(elements, name, joint)), wraps=True
            )
        return Measured(self._advance(elements, formula, name, joint), wraps=False)

    def _advance(self, elements, formula, name, joint):
        """The angle with all its turns: the distance along the axis over the pitch."""
        path = f"joints.{name}.pitch"
        elements.divisors[elements.slots.number(path, joint.pitch)] = (
            f"{path} has become 0 and was not when the system was made, which counts the turns of {name!r} by the distance "
            "along its axis; lower the model again with that value."
        )
        return self._distance(elements, formula, name, joint) / self._pitch(elements, formula, name, joint)

    def _distance(self, elements, formula, name, joint):
        """The distance along the axis."""
        return rows.distance_along(elements, formula, joint, rows.axis_columns(elements, name, joint)[0][2])

    def _pitch(self, elements, formula, name, joint):
        """The pitch."""
        return formula.slot(elements.slots.number(f"joints.{name}.pitch", joint.pitch))

    def _has_no_pitch(self, elements, name, joint) -> bool:
        """Whether the pitch is zero in the model."""
        slots = elements.slots
        return slots.current([slots.field(f"joints.{name}.pitch", joint.pitch)])[0] == 0.0

    def free_directions(self, numbers, path, joint):
        pitch = numbers.number(f"{path}.pitch", joint.pitch)
        return [Free("angle", SCREW, FIRST, direction(numbers, path, joint, "axis", 0), pitch)]
