"""Numbers that several kinds of joints read from poses and axes."""

from __future__ import annotations

import numpy as np

from kinegrad.model.joints import as_pair


def turn_about(R: np.ndarray, e: np.ndarray) -> float:
    """The angle about e that is nearest to the rotation R."""
    axial = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
    return float(np.arctan2(e @ axial, np.trace(R) - e @ R @ e))


def euler_parameters(R: np.ndarray) -> list[float]:
    """Euler parameters of the rotation nearest to R."""
    from kinegrad import rotations

    U, _, V = np.linalg.svd(R)
    return list(rotations.p_from_A(U @ np.diag([1.0, 1.0, np.linalg.det(U @ V)]) @ V))


def direction(numbers, path: str, joint, key: str, which: int) -> np.ndarray:
    """The unit vector (3,) that the key of a joint gives for its first or second body."""
    given = getattr(joint, key)
    pair = as_pair(given)
    return numbers.unit(f"{path}.{key}[{which}]" if pair is given else f"{path}.{key}", pair[which])


def across(axis: np.ndarray, towards: np.ndarray) -> np.ndarray:
    """The unit vector across `axis` nearest to `towards`."""
    v = towards - (axis @ towards) * axis
    return v / np.linalg.norm(v)
