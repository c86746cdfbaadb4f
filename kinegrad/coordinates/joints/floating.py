"""The floating joint: it holds nothing."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Free, JointKind, Measured, Motion
from kinegrad.coordinates.joints.poses import euler_parameters
from kinegrad.kernels.joint.records import EULER, SLIDE, TURN
from kinegrad.kernels.reactions.records import FIRST, GLOBAL
from kinegrad.model.joints import Floating


class FloatingKind(JointKind):
    model = Floating
    coordinates: ClassVar = {"x": "m", "y": "m", "z": "m", "e0": "1", "e1": "1", "e2": "1", "e3": "1"}
    n_norms = 1
    n_rows = 0
    cutting = 3

    def motions(self, slots, path, joint):
        return [Motion(c, SLIDE, rows.frame_axis(slots, k)) for k, c in enumerate("xyz")] + [Motion("e", EULER)]

    def extract(self, R, d, axes, pitch):
        return [*([x] for x in d), euler_parameters(R)]

    def close(self, elements, name, joint):
        """Nothing to write."""

    def measure(self, elements, formula, name, joint, part):
        """The way between the markers along an axis of the first body."""
        axis = elements.axes(rows.bodies_of(joint)[0])["xyz".index(part)]
        return Measured(rows.distance_along(elements, formula, joint, axis), wraps=False)

    def free_directions(self, numbers, path, joint):
        slides = [Free(c, SLIDE, FIRST, axis) for c, axis in zip("xyz", np.eye(3), strict=True)]
        return slides + [Free("", TURN, GLOBAL, axis) for axis in np.eye(3)]
