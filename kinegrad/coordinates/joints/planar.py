"""The planar joint: slides along two directions of a plane, and a turn about its normal."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import across, direction, turn_about
from kinegrad.kernels.joint.records import SLIDE, TURN
from kinegrad.kernels.reactions.records import FIRST
from kinegrad.model.joints import Planar


class PlanarKind(JointKind):
    model = Planar
    coordinates: ClassVar = {"x": "m", "y": "m", "angle": "rad"}
    own = ("angle",)
    n_rows = 4  # normal, distance
    shares = ("axis",)
    apart = "across"
    drawing = Drawing((Symbol("cylinder", radius=4.0, length=0.5, end=1),))

    def motions(self, slots, path, joint):
        x, y, z = (rows.frame_axis(slots, k) for k in range(3))
        return [Motion("x", SLIDE, x), Motion("y", SLIDE, y), Motion("angle", TURN, z)]

    def frames(self, slots, path, joint):
        labels = rows.labels_of(path, "axis", joint.axis), rows.labels_of(path, "x_axis", joint.x_axis)
        return rows.frames_about(slots, labels, joint.axis_pair, joint.x_axis_pair)

    def extract(self, R, d, axes, pitch):
        return [[d[0]], [d[1]], [turn_about(R, axes[2])]]

    def _columns(self, elements, name, joint):
        return rows.columns(elements, name, joint, self.frames(elements.slots, f"joints.{name}", joint))

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        first, second = self._columns(elements, name, joint)
        rows.hold_axis(elements, name, first, second)
        elements.perpendicular(f"{name} plane", first[2], j, i)

    def measure(self, elements, formula, name, joint, part):
        first, second = self._columns(elements, name, joint)
        if part == "angle":
            return Measured(rows.angle_between(elements, formula, first, second), wraps=True)
        return Measured(rows.distance_along(elements, formula, joint, first["xy".index(part)]), wraps=False)

    def free_directions(self, numbers, path, joint):
        axis = direction(numbers, path, joint, "axis", 0)
        x = across(axis, direction(numbers, path, joint, "x_axis", 0))
        slides = [Free("x", SLIDE, FIRST, x), Free("y", SLIDE, FIRST, np.cross(axis, x))]
        return [*slides, Free("angle", TURN, FIRST, axis)]
