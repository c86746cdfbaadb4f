"""The link: a massless bar that keeps the distance of two points. It has no coordinates and is never in the tree."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joints.base import Drawing, Free, JointKind
from kinegrad.coordinates.joints.poses import both_across
from kinegrad.model.joints import Link


class LinkKind(JointKind):
    model = Link
    n_rows = 1  # distance
    in_tree = False
    drawing = Drawing(bar=True)

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        elements.distance(name, i, j, elements.slots.number(f"joints.{name}.length", joint.length))

    def free_directions(self, numbers, path, joint, A1, A2, d):
        """Two ways across the bar, and all turns."""
        u = d / np.linalg.norm(d, axis=1, keepdims=True)
        return [Free("", v, np.zeros(3)) for v in both_across(u)] + [Free("", np.zeros(3), axis) for axis in np.eye(3)]
