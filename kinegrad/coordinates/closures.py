"""Joints that are not in a tree: rows that close them, and their coordinates measured from markers."""

from __future__ import annotations

from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.base import Measured


class Closures:
    """Closure of the joints of a model, each as its kind says."""

    def __init__(self, model, elements: Elements):
        self.model = model
        self.elements = elements

    def close(self, name: str) -> None:
        """Write the rows of a joint."""
        joint = self.model.joints[name]
        KINDS[joint.type].close(self.elements, name, joint)

    def measured(self, formula, name: str, part: str) -> Measured:
        """The Scalar of a coordinate of a joint, and whether it is an angle, known up to full turns."""
        joint = self.model.joints[name]
        return KINDS[joint.type].measure(self.elements, formula, name, joint, part)
