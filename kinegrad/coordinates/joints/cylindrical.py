"""The cylindrical joint: a slide along an axis and a turn about it."""

from __future__ import annotations

from typing import ClassVar

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction, turn_about
from kinegrad.kernels.joint.records import SLIDE, TURN
from kinegrad.kernels.reactions.records import FIRST
from kinegrad.model.joints import Cylindrical


class CylindricalKind(JointKind):
    model = Cylindrical
    coordinates: ClassVar = {"distance": "m", "angle": "rad"}
    own = ("angle",)
    n_rows = 6  # axis, alignment
    shares = ("axis",)
    apart = "along"
    drawing = Drawing((Symbol("cylinder", radius=1.9, length=5.0, end=1),), rail=True, runner=True)

    def motions(self, slots, path, joint):
        axis = rows.axis_slot(slots, path, joint)
        return [Motion("distance", SLIDE, axis), Motion("angle", TURN, axis)]

    def frames(self, slots, path, joint):
        return rows.axis_frames(slots, path, joint)

    def extract(self, R, d, axes, pitch):
        return [[axes[0] @ d], [turn_about(R, axes[1])]]

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        first, second = rows.axis_columns(elements, name, joint)
        rows.hold_axis(elements, name, first, second)
        rows.across(elements, f"{name} alignment", first, j, i)

    def measure(self, elements, formula, name, joint, part):
        first, second = rows.axis_columns(elements, name, joint)
        if part == "angle":
            return Measured(rows.angle_between(elements, formula, first, second), wraps=True)
        return Measured(rows.distance_along(elements, formula, joint, first[2]), wraps=False)

    def free_directions(self, numbers, path, joint):
        axis = direction(numbers, path, joint, "axis", 0)
        return [Free("distance", SLIDE, FIRST, axis), Free("angle", TURN, FIRST, axis)]
