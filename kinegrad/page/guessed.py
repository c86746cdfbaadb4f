"""Bodies without a shape of their own: what they look like is guessed from joints, points and inertia.

In this order: a body on a rail of the ground is a block, two bodies that slide along each other are a telescope, a body whose
inertia is that of a disc about a line through its joints is a wheel, three or more points in a plane are a plate, other points
a frame of rods, and a body with one point is a box with its mass and inertia.
"""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.model.bodies import AxisInertia
from kinegrad.page.geometry import (
    ball,
    cylinder,
    different,
    frame,
    hull,
    neighbours,
    plate,
    rod,
    solid,
    unit,
)
from kinegrad.page.packing import packed

GROUND = "ground"
FLAT = 0.02  # points that are nearer to a plane, or line, than this of their extent lie in it
DISC = 1.3  # moment about its axis, over that across, from which on a body is a wheel
ALIKE = 0.05  # by which the two moments across may differ


class Guess:
    """One body of `solids` (`kinegrad.page.solids.Solids`)."""

    def __init__(self, solids, body: str):
        self.all, self.body, self.model = solids, body, solids.model
        self.points, self.com, self.r = solids.points(body), solids.com(body), solids.radius

    def solids(self) -> list[dict]:
        return self._on_rail() or self._wheel() or self._plate() or self._rods() or self._heavy()

    # --- sliding ---

    def _on_rail(self) -> list[dict]:
        for name, joint in self.model.joints.items():
            bodies = [marker.partition(".")[0] for marker in joint.between]
            if not KINDS[joint.type].drawing.runner or self.body not in bodies:
                continue
            k = bodies.index(self.body)
            along = unit(self.all.vector(joint.axis_pair[k]))
            if all(np.linalg.norm(np.cross(p - self.points[0], along)) < 4.0 * self.r for p in self.points):
                telescopic = is_telescope(self.model, name) and name in self.all.travel
                return self._telescope(name, joint, k, along) if telescopic else self._block(along)
        return []

    def _block(self, along: np.ndarray) -> list[dict]:
        at = [float((p - self.points[0]) @ along) for p in self.points] or [0.0]
        origin = self.points[0] if self.points else self.com
        length, middle = max(max(at) - min(at), 8.0 * self.r), origin + along * (max(at) + min(at)) / 2.0
        x, y, z = frame(along, np.eye(3)[np.abs(along).argmin()])
        return [solid("box", x * length, y * 5.0 * self.r, z * 5.0 * self.r, middle)]

    def _telescope(self, name: str, joint, k: int, along: np.ndarray) -> list[dict]:
        """The first body is the tube, the second the rod in it; both reach towards each other, as far as the travel allows."""
        low, high = self.all.travel[name]
        sign = 1.0 if abs(high) >= abs(low) else -1.0
        least, most = sorted((abs(low), abs(high)))
        tube = 0.9 * least if least > 0.2 * most else 0.6 * most
        here = self.all.point(self.body, joint.between[k].partition(".")[2])
        towards = along * sign * (1.0 if k == 0 else -1.0)
        length = tube if k == 0 else max(most - 0.85 * tube, 0.3 * most)
        at = [float((p - here) @ towards) for p in self.points] + [0.0, length]
        a, b = here + min(at) * towards, here + max(at) * towards
        radius = (1.9 if k == 0 else 1.1) * self.r
        return [cylinder(a, b, radius), ball(a, radius), *([] if k == 0 else [ball(b, radius)])]

    # --- turning ---

    def _wheel(self) -> list[dict]:
        """A disc with the inertia of the body, when the points that joints use lie on its axis."""
        mass = self.all.value(self.model.bodies[self.body].mass)
        moments, axes = np.linalg.eigh(self._tensor())
        a, b, c = moments
        if not (mass > 0.0 and a > 0.0 and b - a < ALIKE * b and c > DISC * b):
            return []
        axis, radius = axes[:, 2], float(np.sqrt(2.0 * c / mass))
        held = different([self.all.point(self.body, name) for name in self.all.jointed.get(self.body, ())])
        if any(np.linalg.norm(np.cross(p - self.com, axis)) > 0.1 * radius for p in held):
            return []
        half = 0.5 * float(np.clip(np.sqrt(max(12.0 * (a + b - c) / (2.0 * mass), 0.0)), 0.08 * radius, 2.0 * radius))
        along = [float((p - self.com) @ axis) for p in held] + [-half, half]
        ends = self.com + min(along) * axis, self.com + max(along) * axis
        disc = cylinder(self.com - half * axis, self.com + half * axis, radius)
        spoke = self.com + half * axis * 1.02  # a bar across it shows that it turns
        x, y, z = frame(axes[:, 0], axis)
        mark = solid("box", x * 1.7 * radius, y * 0.12 * radius, z * 0.12 * radius, spoke)
        other = solid("box", x * 1.7 * radius, y * 0.12 * radius, z * 0.12 * radius, 2.0 * self.com - spoke)
        shaft = rod(*ends, self.r) if max(along) - min(along) > 2.5 * half else []
        return [disc, mark | {"colour": "#e9ebee"}, other | {"colour": "#e9ebee"}, *shaft]

    # --- points ---

    def _plate(self) -> list[dict]:
        if len(self.points) < 3:
            return []
        x = np.array(self.points)
        middle = x.mean(axis=0)
        _, sizes, axes = np.linalg.svd(x - middle)
        if sizes[1] < FLAT * sizes[0] or (len(sizes) > 2 and sizes[2] > FLAT * sizes[0]):
            return []
        flat = (x - middle) @ axes[:2].T
        corners = [self.points[k] for k in hull(flat)]
        vertices, triangles = plate(corners, np.cross(axes[0], axes[1]), 1.2 * self.r)
        sheet = solid("mesh", *np.eye(3), np.zeros(3)) | {
            "vertices": packed(vertices),
            "triangles": packed(triangles, "<u4"),
        }
        edges = zip(corners, corners[1:] + corners[:1], strict=True)
        return [sheet, *(s for a, b in edges for s in rod(a, b, 0.8 * self.r)[:2])]

    def _rods(self) -> list[dict]:
        if len(self.points) < 2:
            return []
        return [s for i, j in neighbours(self.points) for s in rod(self.points[i], self.points[j], self.r)]

    # --- mass alone ---

    def _heavy(self) -> list[dict]:
        """A box with the inertia of the body, or a ball when that has no volume, and a rod to its point."""
        moments, axes = np.linalg.eigh(self._tensor())
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        mass = self.all.value(self.model.bodies[self.body].mass)
        squares = 6.0 / mass * (moments.sum() - 2.0 * moments) if mass > 0.0 else np.zeros(3)
        edges = np.sqrt(np.maximum(squares, 0.0))
        if edges.max() < 2.0 * self.r:
            found = [ball(self.com, 3.0 * self.r)]
        else:
            edges = np.maximum(edges, self.r)
            found = [solid("box", *(edges[k] * axes[:, k] for k in range(3)), self.com)]
        if self.points and np.linalg.norm(self.points[0] - self.com) > self.r:
            found += rod(self.points[0], self.com, self.r)
        return found

    def _tensor(self) -> np.ndarray:
        """(3, 3) inertia at the centre of mass, in the axes of the body."""
        inertia = self.model.bodies[self.body].inertia
        if isinstance(inertia, AxisInertia):
            u = unit(self.all.vector(inertia.axis))
            along, across = self.all.value(inertia.along), self.all.value(inertia.across)
            return along * np.outer(u, u) + across * (np.eye(3) - np.outer(u, u))
        xx, yy, zz, xy, xz, yz = [*map(self.all.value, inertia), 0.0, 0.0, 0.0][:6]
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def is_telescope(model, name: str) -> bool:
    """Whether a joint lets two moving bodies slide along each other, neither of which has a shape of its own."""
    joint = model.joints[name]
    bodies = [marker.partition(".")[0] for marker in joint.between]
    return (
        KINDS[joint.type].drawing.runner
        and GROUND not in bodies
        and not any(model.bodies[body].shape for body in bodies)
        and all(_slides_once(model, body) for body in bodies)
    )


def _slides_once(model, body: str) -> bool:
    sliding = [j for j in model.joints.values() if KINDS[j.type].drawing.runner]
    return sum(body == marker.partition(".")[0] for joint in sliding for marker in joint.between) == 1
