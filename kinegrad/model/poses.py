"""Where poses put bodies, and whether they fit the axes of joints."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.model.names import GROUND

if TYPE_CHECKING:
    from kinegrad.model.model import Model


def placed(pose, value: Callable) -> tuple[np.ndarray, np.ndarray] | None:
    """Origin and rotation matrix of a pose, `value` being that of a number; None without a pose."""
    if pose is None:
        return None
    if pose == "global":
        return np.zeros(3), np.eye(3)

    def vector(numbers, default):
        return np.array(default if numbers is None else [value(x) for x in numbers], float)

    x = vector(pose.x_axis, (1.0, 0.0, 0.0))
    x /= np.linalg.norm(x)
    z = vector(pose.z_axis, (0.0, 0.0, 1.0))
    z -= (z @ x) * x
    if np.linalg.norm(z) < 1e-12:
        z = np.array([1.0, 0.0, 0.0]) - x[0] * x
    z /= np.linalg.norm(z)
    return vector(pose.origin, (0.0, 0.0, 0.0)), np.column_stack([x, np.cross(z, x), z])


def turned_over(model: Model, value: Callable) -> Iterator[tuple[tuple, str]]:
    """Joints whose axis points into opposite half-spaces in the poses of their two bodies.

    An assembly has to turn one of them over, and which position it then finds is a matter of chance: poses choose it.
    """
    poses = {name: placed(body.pose, value) for name, body in model.bodies.items()} | {GROUND: placed("global", value)}
    for name, joint in model.joints.items():
        bodies = [marker.partition(".")[0] for marker in joint.between]
        if not hasattr(joint, "axis") or any(poses.get(body) is None for body in bodies):
            continue  # an `axis` points the same way in both bodies
        first, second = (
            poses[body][1] @ [value(x) for x in axis] for body, axis in zip(bodies, joint.axis_pair, strict=True)
        )
        cosine = first @ second / (np.linalg.norm(first) * np.linalg.norm(second))
        if cosine < 0.0:
            yield (
                ("joints", name),
                f"has an axis that the poses of {bodies[0]!r} and {bodies[1]!r} turn "
                f"{np.degrees(np.arccos(max(cosine, -1.0))):.0f} degrees apart: the assembly turns a body over and may "
                "find another position than the one that is meant. Change a pose (x_axis, z_axis), or give the axis as a pair, "
                "one for each body.",
            )
