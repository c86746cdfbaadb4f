"""The fixed joint: points that coincide, and parallel frames."""

from __future__ import annotations

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, JointKind, Symbol
from kinegrad.model.joints import Fixed


class FixedKind(JointKind):
    model = Fixed
    n_rows = 6  # point, three dot products
    shares = ("point", "orientation")
    drawing = Drawing((Symbol("box", radius=2.8, length=2.8, axis=None),), support=True)

    def close(self, elements, name, joint):
        rows.hold_point(elements, name, joint)
        if "orientation" in elements.shared.get(name, ()):
            return
        first, second = map(elements.axes, rows.bodies_of(joint))
        for k in range(3):
            elements.perpendicular(f"{name} axes.{'xyz'[k]}", first[k], second[(k + 1) % 3])
        elements.facing += [(name, second[1], second[2], first[0]), (name, second[2], second[0], first[1])]

    def free_directions(self, numbers, path, joint):
        return []
