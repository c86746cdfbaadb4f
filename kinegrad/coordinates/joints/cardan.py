"""The Cardan joint: a turn about an axis of the first body, then one about an axis of the second."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Measured, Motion, Symbol
from kinegrad.coordinates.joints.poses import direction
from kinegrad.expressions import graph as algebra
from kinegrad.kernels.joint.records import TURN
from kinegrad.kernels.reactions.records import FIRST, SECOND
from kinegrad.model.joints import Cardan


class CardanKind(JointKind):
    model = Cardan
    coordinates: ClassVar = {"angle1": "rad", "angle2": "rad"}
    own = ("angle1", "angle2")
    n_rows = 4  # point, one dot product
    shares = ("point",)
    drawing = Drawing(
        (
            Symbol("cylinder", radius=0.9, length=5.2),
            Symbol("cylinder", radius=0.9, length=5.2, end=1, axis=1),
        ),
        support=True,
    )

    def motions(self, slots, path, joint):
        first, second = (slots.unit(f"{path}.axes[{i}]", joint.axes[i]) for i in range(2))
        return [Motion("angle1", TURN, first), Motion("angle2", TURN, second)]

    def vectors(self, slots, path, joint):
        return tuple(slots.unit(f"{path}.axes[{i}]", joint.axes[i]) for i in range(2))

    def extract(self, R, d, axes, pitch):
        """Angles that each axis tells about the other, from its part across it."""
        e1, e2 = axes
        x, y, cosine = R @ e2, R.T @ e1, e1 @ e2
        return [
            [np.arctan2(e1 @ np.cross(e2, x), (e2 - cosine * e1) @ x)],  # both sines vanish exactly ...
            [np.arctan2(e2 @ np.cross(y, e1), (e1 - cosine * e2) @ y)],  # ... where the frames are parallel
        ]

    def close(self, elements, name, joint):
        """The markers coincide, and the axes keep the angle that they are given with, as in the tree (CAR-1)."""
        rows.hold_point(elements, name, joint)
        path, slots = f"joints.{name}", elements.slots
        axes = [
            elements.vector(body, slots.unit(f"{path}.axes[{i}]", joint.axes[i]))
            for i, body in enumerate(rows.bodies_of(joint))
        ]
        cosine = rows.dot(*_axes(slots, path, joint))
        elements.perpendicular(f"{name} axes", *axes, val=slots.add(f"{path} axes cosine", cosine))

    def measure(self, elements, formula, name, joint, part):
        """The angle about one axis, told by the other axis in both bodies (CAR-2)."""
        path, slots = f"joints.{name}", elements.slots
        bodies, axes = rows.bodies_of(joint), _axes(slots, path, joint)
        own, other = (0, 1) if part == "angle1" else (1, 0)
        cosine = rows.dot(*axes)
        across = [b - cosine * a for a, b in zip(axes[own], axes[other], strict=True)]
        f, g, x = (
            rows.components(elements, formula, elements.vector(body, slot))
            for body, slot in (
                (bodies[own], slots.scalars(f"{path} axes[{other}] across", across)),
                (bodies[own], slots.scalars(f"{path} axes normal", rows.cross(*axes))),
                (bodies[other], slots.unit(f"{path}.axes[{other}]", joint.axes[other])),
            )
        )
        return Measured(algebra.atan2(rows.dot(g, x), rows.dot(f, x)), wraps=True)

    def free_directions(self, numbers, path, joint):
        first, second = (direction(numbers, path, joint, "axes", i) for i in range(2))
        return [Free("angle1", TURN, FIRST, first), Free("angle2", TURN, SECOND, second)]


def _axes(slots, path: str, joint) -> list[list]:
    """The axes as Scalars: of the first body, of the second."""
    return [slots.unit_scalars(f"{path}.axes[{i}]", joint.axes[i]) for i in range(2)]
