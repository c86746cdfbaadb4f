"""Poses of bodies as joint coordinates give them: where other coordinates begin to look for an assembly."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joint.initial_guess import initial_guess
from kinegrad.coordinates.joint.joint_set import JointSet, remembered
from kinegrad.errors import ModelError
from kinegrad.kernels.products import FREEDOMS, POSITION


class Poses:
    """The poses of a model's bodies at the guess of the joint set, joints that are degrees of freedom at their starts.

    So every set begins near the branch that joint coordinates take.
    """

    def __init__(self, model):
        try:
            self.system = remembered(model) or JointSet.lower(model)
        except ModelError:  # degrees of freedom that joint coordinates cannot take choose no branch
            model = model.copy()
            model.degrees_of_freedom = {}
            self.system = JointSet.lower(model)

    def __call__(self, rho: np.ndarray, close=None) -> tuple[np.ndarray, np.ndarray]:
        """A (b, 3, 3), r (b, 3) of the bodies in the order of the model, for parameters rho; `close` may close loops."""
        system = self.system.with_parameters(rho)
        work = system.workspace()
        work["q"][: system.n] = initial_guess(system, work["s"])
        for freedom in system.freedoms:
            k = system.coordinate_of(freedom)
            if k is not None:
                work["q"][k] = work["s"][freedom.position]
        if close is not None:
            close(system, work)
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        A, r, *_ = system.set.bodies(system, work)
        return A, r


def poses_of(coordinates, model) -> Poses:
    """The poses for a set that keeps them in its `_poses`."""
    if "of joints" not in coordinates._poses:
        coordinates._poses["of joints"] = Poses(model)
    return coordinates._poses["of joints"]
