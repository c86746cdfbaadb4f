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
        if joint.zero is None:
            first, second = self.vectors(slots, path, joint)
        else:
            first, second = (rows.frame_axis(slots, k) for k in range(2))
        return [Motion("angle1", TURN, first), Motion("angle2", TURN, second)]

    def frames(self, slots, path, joint):
        """x along the first axis and y along the second, as they lie in each body where both angles are zero."""
        if joint.zero is None:
            return None, None
        sides = [(own, other) if i == 0 else (other, own) for i, (own, other) in enumerate(_sides(slots, path, joint))]
        return tuple([column[r] for r in range(3) for column in (x, y, rows.cross(x, y))] for x, y in sides)

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
        cosine = rows.dot(*_sides(slots, path, joint)[0])
        elements.perpendicular(f"{name} axes", *axes, val=slots.add(f"{path} axes cosine", cosine))

    def measure(self, elements, formula, name, joint, part):
        """The angle about one axis, told by the other axis in both bodies (CAR-2)."""
        path, slots = f"joints.{name}", elements.slots
        bodies = rows.bodies_of(joint)
        own, other = (0, 1) if part == "angle1" else (1, 0)
        a, b = _sides(slots, path, joint)[own]
        cosine, normal = rows.dot(a, b), rows.cross(a, b) if own == 0 else rows.cross(b, a)
        across = [y - cosine * x for x, y in zip(a, b, strict=True)]
        f, g, x = (
            rows.components(elements, formula, elements.vector(body, slot))
            for body, slot in (
                (bodies[own], slots.scalars(f"{path} axes[{other}] across", across)),
                (bodies[own], slots.scalars(f"{path} axes normal in body {own}", normal)),
                (bodies[other], slots.unit(f"{path}.axes[{other}]", joint.axes[other])),
            )
        )
        return Measured(algebra.atan2(rows.dot(g, x), rows.dot(f, x)), wraps=True)

    def free_directions(self, numbers, path, joint):
        first, second = (direction(numbers, path, joint, "axes", i) for i in range(2))
        return [Free("angle1", TURN, FIRST, first), Free("angle2", TURN, SECOND, second)]


def _sides(slots, path: str, joint) -> list[tuple[list, list]]:
    """In each body its own axis and where that of the other lies at both angles zero, as Scalars (CAR-3)."""
    axes = [slots.unit_scalars(f"{path}.axes[{i}]", joint.axes[i]) for i in range(2)]
    if joint.zero is None:
        return [(axes[0], axes[1]), (axes[1], axes[0])]
    zero = [slots.unit_scalars(f"{path}.zero[{i}]", joint.zero[i]) for i in range(2)]
    c = [rows.dot(a, z) for a, z in zip(axes, zero, strict=True)]
    w = algebra.sqrt(1.0 - c[0] * c[0] - c[1] * c[1])
    found = []
    for i, (a, z) in enumerate(zip(axes, zero, strict=True)):
        square = 1.0 - c[i] * c[i]
        along, by = c[0] * c[1] / square, (w if i == 0 else -w) / square
        other = [c[1 - i] * z[k] - along * (a[k] - c[i] * z[k]) + by * x for k, x in enumerate(rows.cross(z, a))]
        found.append((a, other))
    return found
