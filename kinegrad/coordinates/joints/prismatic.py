"""The prismatic joint: a slide along an axis, with the frames kept parallel."""

from __future__ import annotations

from typing import ClassVar

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction
from kinegrad.kernels.joint.records import SLIDE
from kinegrad.kernels.reactions.records import FIRST
from kinegrad.model.joints import Prismatic


class PrismaticKind(JointKind):
    model = Prismatic
    coordinates: ClassVar = {"distance": "m"}
    n_rows = 9  # two directions, alignment
    shares = ("orientation",)
    apart = "along"
    drawing = Drawing((Symbol("box", radius=2.6, length=4.0, end=1),), rail=True, runner=True)

    def motions(self, slots, path, joint):
        return [Motion("distance", SLIDE, rows.axis_slot(slots, path, joint))]

    def frames(self, slots, path, joint):
        return rows.axis_frames(slots, path, joint)

    def extract(self, R, d, axes, pitch):
        return [[axes[0] @ d]]

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        first, second = rows.axis_columns(elements, name, joint)
        rows.hold_axis(elements, name, first, second)
        if "orientation" not in elements.shared.get(name, ()):
            elements.perpendicular(f"{name} direction.x", first[0], second[1])
            elements.imply(f"{name} direction.y", f"{name} direction.z")
            elements.facing.append((name, second[1], second[2], first[0]))
        rows.across(elements, f"{name} alignment", first, j, i)

    def measure(self, elements, formula, name, joint, part):
        axis = rows.axis_columns(elements, name, joint)[0][2]
        return Measured(rows.distance_along(elements, formula, joint, axis), wraps=False)

    def free_directions(self, numbers, path, joint):
        return [Free("distance", SLIDE, FIRST, direction(numbers, path, joint, "axis", 0))]
