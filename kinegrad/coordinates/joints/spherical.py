"""The spherical joint: two points that coincide."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.coordinates.joints import rows
from kinegrad.coordinates.joints.base import Drawing, Free, JointKind, Motion, Symbol
from kinegrad.coordinates.joints.poses import euler_parameters
from kinegrad.kernels.joint.records import EULER, TURN
from kinegrad.kernels.reactions.records import GLOBAL
from kinegrad.model.joints import Spherical


class SphericalKind(JointKind):
    model = Spherical
    coordinates: ClassVar = {"e0": "1", "e1": "1", "e2": "1", "e3": "1"}
    n_norms = 1
    n_rows = 3  # point
    cutting = 2
    shares = ("point",)
    drawing = Drawing((Symbol("sphere", radius=2.0, axis=None),), support=True)

    def motions(self, slots, path, joint):
        return [Motion("e", EULER)]

    def extract(self, R, d, axes, pitch):
        return [euler_parameters(R)]

    def close(self, elements, name, joint):
        rows.hold_point(elements, name, joint)

    def free_directions(self, numbers, path, joint):
        return [Free("", TURN, GLOBAL, axis) for axis in np.eye(3)]
