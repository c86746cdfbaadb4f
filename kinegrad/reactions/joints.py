"""Directions in which a joint moves freely, and what is left for its reaction (REA-1).

Everything is taken at the joint's second marker, in global components, with a first axis of states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.model.joints import as_pair
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


def _stack(k: int, entries) -> Directions:
    """Directions from (part, velocity, angular velocity[, wrench]); the wrench is the motion itself by default."""
    S, D = np.zeros((k, 6, len(entries))), np.zeros((k, 6, len(entries)))
    for i, (_, v, omega, *wrench) in enumerate(entries):
        S[:, :3, i], S[:, 3:, i] = v, omega
        D[:, :3, i], D[:, 3:, i] = wrench or (v, omega)
    return Directions(tuple(entry[0] for entry in entries), S, D)


def _across(axis: np.ndarray, towards: np.ndarray) -> np.ndarray:
    v = towards - (axis @ towards) * axis
    return v / np.linalg.norm(v)


def _dual(u: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The vectors (k, 3) in the planes of u and v with 1 along u and 0 along v."""
    across = u - (u * v).sum(axis=1, keepdims=True) * v
    return across / (across * u).sum(axis=1, keepdims=True)


def free_directions(numbers: Numbers, name: str, joint, A1: np.ndarray, A2: np.ndarray) -> Directions:
    """Free directions of a joint whose bodies have the orientations A1, A2 (k, 3, 3); `joint` None: nothing is held."""
    k, o, path = len(A1), np.zeros(3), f"joints.{name}"
    kind = "floating" if joint is None else joint.type

    def axis_of(key: str, which: int) -> np.ndarray:
        given = getattr(joint, key)
        pair = as_pair(given)
        return numbers.unit(f"{path}.{key}[{which}]" if pair is given else f"{path}.{key}", pair[which])

    turns = [("", o, np.eye(3)[i]) for i in range(3)]
    if kind == "fixed":
        return _stack(k, [])
    if kind == "spherical":
        return _stack(k, turns)
    if kind == "floating":
        return _stack(k, [(c, A1[:, :, i], o) for i, c in enumerate("xyz")] + turns)
    if kind == "cardan":
        u1, u2 = A1 @ axis_of("axes", 0), A2 @ axis_of("axes", 1)
        d1, d2 = _dual(u1, u2), _dual(u2, u1)
        return _stack(k, [("angle1", o, u1, o, d1), ("angle2", o, u2, o, d2)])
    axis = axis_of("axis", 0)
    u = A1 @ axis
    if kind == "planar":
        x = A1 @ _across(axis, axis_of("x_axis", 0))
        return _stack(k, [("x", x, o), ("y", np.cross(u, x), o), ("angle", o, u)])
    if kind == "screw":
        pitch = numbers.number(f"{path}.pitch", joint.pitch)
        return _stack(k, [("angle", pitch * u, u, o, u)])
    slide, turn = ("distance", u, o), ("angle", o, u)
    return _stack(k, {"revolute": [turn], "prismatic": [slide], "cylindrical": [slide, turn]}[kind])
