"""Bodies as solids the page can draw: those the model gives, else rods between the markers that elements use.

A solid is a unit box, cylinder (radius 1, from -1/2 to 1/2 along z), sphere (radius 1) or mesh, and a 3 x 4 matrix that
puts it into the frame of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.errors import KinegradError
from kinegrad.model.bodies import AxisInertia, VectorMarker
from kinegrad.model.shapes import Box, Cylinder, Mesh, Rod, shapes_of
from kinegrad.page.meshes import read_mesh, triangulated
from kinegrad.page.packing import packed, unpacked

GROUND = "ground"
SAME = 1e-9  # points nearer than this, of the size of the body, are one
THICKNESS = 0.03  # radius of a rod, of the median length of all rods
SYMBOL = 0.08  # what joints are drawn to the scale of, of the median length, at most the radius of a rod
THIN, THICK = 0.0025, 0.012  # limits of that radius, of the size of the scene


class Solids:
    """The solids of one model with the numbers it has now.

    Parameters
    ----------
    value : callable
        The value of a number or an expression in parameters.
    folder : Path
        Where paths of mesh files begin.
    """

    def __init__(self, model, value: Callable, size: float, folder: Path):
        self.model, self.value, self.folder = model, value, folder
        self.used = used_points(model)
        lengths = [length for body in model.bodies for length in self._lengths(body)]
        median = float(np.median(lengths)) if lengths else 0.1 * size
        self.radius = float(np.clip(THICKNESS * median, THIN * size, THICK * size)) or 0.01
        self.symbol = self.radius * float(np.clip(SYMBOL * median / self.radius, 0.5, 1.0))

    def of(self, body: str) -> list[dict]:
        """The solids of a body; the ground has those that are given."""
        element = self.model.ground if body == GROUND else self.model.bodies[body]
        given = shapes_of(element)
        if given:
            many = isinstance(element.shape, tuple)
            where = "ground.shape" if body == GROUND else f"bodies.{body}.shape"
            return [
                solid | ({"colour": shape.colour} if shape.colour else {})
                for i, shape in enumerate(given)
                for solid in self._given(body, shape, f"{where}[{i}]" if many else where)
            ]
        return [] if body == GROUND else self._derived(body)

    def vector(self, numbers) -> np.ndarray:
        """Three numbers."""
        return np.array([self.value(number) for number in numbers])

    def point(self, body: str, marker: str) -> np.ndarray:
        """A point marker, or the origin of a frame marker, in the frame of its body."""
        element = self.model.ground if body == GROUND else self.model.bodies[body]
        found = element.markers[marker]
        return self.vector(found.origin if hasattr(found, "origin") else found.position)

    def com(self, body: str) -> np.ndarray:
        """The centre of mass, without point masses; the origin for the ground."""
        return np.zeros(3) if body == GROUND else self.vector(self.model.bodies[body].com)

    # --- shapes of the model ---

    def _given(self, body: str, shape, where: str) -> list[dict]:
        at = None if getattr(shape, "at", None) is None else self.vector(shape.at)
        if isinstance(shape, Rod) or (isinstance(shape, Cylinder) and shape.between):
            ends = [self.point(body, name) for name in shape.between]
            radius = self.radius if shape.radius is None else self.value(shape.radius)
            if np.array_equal(*ends):
                raise KinegradError(f"{where}.between names two markers at the same place; it has no length there.")
            return _rod(*ends, radius) if isinstance(shape, Rod) else [_cylinder(*ends, radius)]
        middle = self.com(body) if at is None else at
        if isinstance(shape, Box):
            x, y, z = _frame(self.vector(shape.x_axis), self.vector(shape.z_axis))
            return [
                _solid(
                    "box", *(axis * edge for axis, edge in zip((x, y, z), self.vector(shape.size), strict=True)), middle
                )
            ]
        if isinstance(shape, Cylinder):
            half = _unit(self.vector(shape.axis)) * self.value(shape.length) / 2.0
            return [_cylinder(middle - half, middle + half, self.value(shape.radius))]
        if isinstance(shape, Mesh):
            return [self._mesh(shape, where)]
        return [_ball(middle, self.value(shape.radius))]

    def _mesh(self, shape: Mesh, where: str) -> dict:
        if shape.file is not None:
            vertices, triangles = read_mesh(self.folder / shape.file, f"{where}.file")
        else:
            vertices = np.array([self.vector(vertex) for vertex in shape.vertices])
            triangles = triangulated(shape.faces)
        scale = self.value(shape.scale)
        solid = _solid("mesh", *(scale * np.eye(3)), self.vector(shape.at))
        return solid | {"vertices": packed(vertices), "triangles": packed(triangles, "<u4")}

    # --- shapes derived from markers ---

    def _points(self, body: str) -> list[np.ndarray]:
        """Different points of a body that elements use; with all its other points when these are fewer than two."""
        names = list(self.used.get(body, ()))
        points = _different([self.point(body, name) for name in names])
        if len(points) < 2:
            element = self.model.bodies[body]
            more = [name for name, marker in element.markers.items() if not isinstance(marker, VectorMarker)]
            points = _different([*points, *(self.point(body, name) for name in more)])
        return points

    def _lengths(self, body: str) -> list[float]:
        points = [] if shapes_of(self.model.bodies[body]) else self._points(body)
        return [float(np.linalg.norm(points[i] - points[j])) for i, j in _tree(points)]

    def _derived(self, body: str) -> list[dict]:
        points, com, r = self._points(body), self.com(body), self.radius
        rail = self._rail(body)
        if rail is not None and all(np.linalg.norm(np.cross(p - points[0], rail)) < 4.0 * r for p in points):
            along = [float((p - points[0]) @ rail) for p in points] or [0.0]
            length, middle = max(max(along) - min(along), 8.0 * r), points[0] + rail * (max(along) + min(along)) / 2.0
            x, y, z = _frame(rail, np.eye(3)[np.abs(rail).argmin()])
            return [_solid("box", x * length, y * 5.0 * r, z * 5.0 * r, middle)]
        if len(points) > 1:
            edges = _tree(points)
            edges += [(0, 2), (0, 1), (1, 2)] if len(points) == 3 else []
            return [s for i, j in dict.fromkeys(tuple(sorted(e)) for e in edges) for s in _rod(points[i], points[j], r)]
        solids = [self._as_heavy(body, com)]
        if points and np.linalg.norm(points[0] - com) > r:
            solids += _rod(points[0], com, r)
        return solids

    def _rail(self, body: str) -> np.ndarray | None:
        """The axis, in the frame of the body, of a joint along which it slides."""
        for joint in self.model.joints.values():
            for k, name in enumerate(joint.between):
                if KINDS[joint.type].drawing.runner and name.partition(".")[0] == body:
                    return _unit(self.vector(joint.axis_pair[k]))
        return None

    def _as_heavy(self, body: str, com: np.ndarray) -> dict:
        """A box with the inertia of the body, or a ball when that has no volume."""
        element = self.model.bodies[body]
        if isinstance(element.inertia, AxisInertia):
            u = _unit(self.vector(element.inertia.axis))
            along, across = self.value(element.inertia.along), self.value(element.inertia.across)
            tensor = along * np.outer(u, u) + across * (np.eye(3) - np.outer(u, u))
        else:
            xx, yy, zz, xy, xz, yz = [*map(self.value, element.inertia), 0.0, 0.0, 0.0][:6]
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        moments, axes = np.linalg.eigh(tensor)
        axes[:, 2] = np.cross(axes[:, 0], axes[:, 1])
        mass = self.value(element.mass)
        squares = 6.0 / mass * (moments.sum() - 2.0 * moments) if mass > 0.0 else np.zeros(3)
        edges = np.sqrt(np.maximum(squares, 0.0))
        if edges.max() < 2.0 * self.radius:
            return _ball(com, 3.0 * self.radius)
        edges = np.maximum(edges, self.radius)
        return _solid("box", *(edges[k] * axes[:, k] for k in range(3)), com)


def corners(solids: list[dict]) -> np.ndarray:
    """(8 k, 3) corners of the boxes around solids, in the frame of their body."""
    found = [np.zeros((0, 3))]
    for solid in solids:
        x, y, z, origin = np.array(solid["matrix"]).reshape(4, 3)
        if solid["kind"] == "mesh":
            vertices = unpacked(solid["vertices"]).reshape(-1, 3)
            low, high = vertices.min(axis=0), vertices.max(axis=0)
        else:
            high = {"box": np.full(3, 0.5), "cylinder": np.array([1.0, 1.0, 0.5]), "sphere": np.ones(3)}[solid["kind"]]
            low = -high
        found += [
            [
                origin + a * x + b * y + c * z
                for a in (low[0], high[0])
                for b in (low[1], high[1])
                for c in (low[2], high[2])
            ]
        ]
    return np.concatenate(found)


def used_points(model) -> dict[str, dict[str, None]]:
    """For each body the point markers that joints, forces and constraints name, in the order of the file."""
    used: dict[str, dict[str, None]] = {}
    for section in (model.joints, model.forces, model.constraints):
        for element in section.values():
            names = [
                *(getattr(element, "between", None) or ()),
                getattr(element, "at", None),
                getattr(element, "marker", None),
            ]
            for name in filter(None, names):
                body, marker = model.marker(name)
                if not isinstance(marker, VectorMarker):
                    used.setdefault(body, {})[name.partition(".")[2]] = None
    return used


# --- small geometry ---


def _unit(v: np.ndarray) -> np.ndarray:
    v = v / np.abs(v).max()  # whose squares neither vanish nor overflow
    return v / np.linalg.norm(v)


def _frame(x: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Axes of a frame with its x axis along `x`, and z near `z`."""
    x = _unit(x)
    y = _unit(np.cross(z, x))
    return x, y, np.cross(x, y)


def _solid(kind: str, x, y, z, origin) -> dict:
    """A solid whose unit axes become x, y, z."""
    return {"kind": kind, "matrix": [float(v) for v in np.concatenate([x, y, z, origin])]}


def _cylinder(a: np.ndarray, b: np.ndarray, radius: float) -> dict:
    d = b - a
    z, x, y = _frame(d, np.eye(3)[np.abs(d).argmin()])
    return _solid("cylinder", radius * x, radius * y, d, (a + b) / 2.0)


def _ball(at: np.ndarray, radius: float) -> dict:
    return _solid("sphere", *(radius * np.eye(3)), at)


def _rod(a: np.ndarray, b: np.ndarray, radius: float) -> list[dict]:
    return [_cylinder(a, b, radius), _ball(a, radius), _ball(b, radius)]


def _different(points: list[np.ndarray]) -> list[np.ndarray]:
    """The points, each place once."""
    size = max((float(np.abs(p).max()) for p in points), default=0.0)
    kept: list[np.ndarray] = []
    for p in points:
        if all(np.abs(p - q).max() > SAME * size for q in kept):
            kept.append(p)
    return kept


def _tree(points: list[np.ndarray]) -> list[tuple[int, int]]:
    """Pairs of points that join all of them by the shortest rods."""
    joined, edges = [0], []
    rest = list(range(1, len(points)))
    while rest:
        i, j = min(((i, j) for i in joined for j in rest), key=lambda e: np.linalg.norm(points[e[0]] - points[e[1]]))
        edges.append((i, j))
        joined.append(j)
        rest.remove(j)
    return edges
