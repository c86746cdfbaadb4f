"""The revolute joint: a turn about an axis through both markers."""

from __future__ import annotations

from typing import ClassVar

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction, turn_about
from kinegrad.kernels.joint.records import TURN
from kinegrad.kernels.reactions.records import FIRST
from kinegrad.model.joints import Revolute


class RevoluteKind(JointKind):
    model = Revolute
    coordinates: ClassVar = {"angle": "rad"}
    own = ("angle",)
    n_rows = 6  # point, axis
    shares = ("point", "axis")
    drawing = Drawing((Symbol("cylinder", radius=1.8, length=3.4),), support=True)

    def motions(self, slots, path, joint):
        return [Motion("angle", TURN, rows.axis_slot(slots, path, joint))]

    def frames(self, slots, path, joint):
        return rows.axis_frames(slots, path, joint)

    def extract(self, R, d, axes, pitch):
        return [[turn_about(R, axes[0])]]

    def close(self, elements, name, joint):
        rows.hold_point(elements, name, joint)
        rows.hold_axis(elements, name, *rows.axis_columns(elements, name, joint))

    def measure(self, elements, formula, name, joint, part):
        return Measured(rows.angle_between(elements, formula, *rows.axis_columns(elements, name, joint)), wraps=True)

    def free_directions(self, numbers, path, joint):
        return [Free("angle", TURN, FIRST, direction(numbers, path, joint, "axis", 0))]
