"""Directions in which a joint moves freely, and what is left for its reaction (REA-1).

Everything is taken at the joint's second marker, in global components, with a first axis of states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.joints import FREE, KINDS
from kinegrad.reactions.numbers import Numbers


@dataclass(frozen=True)
class Directions:
    """Free directions of a joint.

    Attributes
    ----------
    parts : tuple of str
        The coordinate of each direction, or "" where it has none of its own.
    S : (k, 6, f) array
        Motions of the second body seen from the first at unit rates: velocity of the second marker, angular velocity.
    D : (k, 6, f) array
        Wrenches at the second marker that a unit force on each coordinate is; DᵀS is the unit matrix.
    """

    parts: tuple[str, ...]
    S: np.ndarray
    D: np.ndarray

    @property
    def C(self) -> np.ndarray:
        """(k, 6, 6) what a joint can transmit without a force on its coordinates: 1 - D Sᵀ."""
        return np.eye(6) - self.D @ self.S.transpose(0, 2, 1)


def free_directions(numbers: Numbers, name: str, joint, A1: np.ndarray, A2: np.ndarray, d: np.ndarray) -> Directions:
    """Free directions of a joint, as its kind says; `joint` None: of one that was added for a chain without ground.

    A1, A2 (k, 3, 3) are the orientations of its bodies, d (k, 3) leads from its first marker to its second.
    """
    kind = FREE if joint is None else KINDS[joint.type]
    free = kind.free_directions(numbers, f"joints.{name}", joint, A1, A2, d)
    S, D = np.zeros((len(A1), 6, len(free))), np.zeros((len(A1), 6, len(free)))
    for i, (_, v, omega, force, moment) in enumerate(free):
        S[:, :3, i], S[:, 3:, i] = v, omega
        D[:, :3, i] = v if force is None else force
        D[:, 3:, i] = omega if moment is None else moment
    return Directions(tuple(direction.part for direction in free), S, D)
