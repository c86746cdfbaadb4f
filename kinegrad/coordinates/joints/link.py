"""The link: a massless bar that keeps the distance of two points. It has no coordinates and is never in the tree."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joints.base import Drawing, Free, JointKind
from kinegrad.kernels.joint.records import SLIDE, TURN
from kinegrad.kernels.reactions.records import BAR, GLOBAL
from kinegrad.model.joints import Link


class LinkKind(JointKind):
    model = Link
    n_rows = 1  # distance
    in_tree = False
    drawing = Drawing(bar=True)

    def close(self, elements, name, joint):
        i, j = map(elements.marker, joint.between)
        elements.distance(name, i, j, elements.slots.number(f"joints.{name}.length", joint.length))

    def free_directions(self, numbers, path, joint):
        """Two ways across the bar, and all turns."""
        turns = [Free("", TURN, GLOBAL, axis) for axis in np.eye(3)]
        return [Free("", SLIDE, BAR, axis) for axis in np.eye(3)[1:]] + turns
