"""Bodies as solids the page can draw: those the model gives, else rods between the markers that elements use.

A solid is a unit box, cylinder (radius 1, from -1/2 to 1/2 along z), sphere (radius 1) or mesh, and a 3 x 4 matrix that
puts it into the frame of its body.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.model.bodies import VectorMarker
from kinegrad.model.shapes import Box, Cylinder, Mesh, Rod, shapes_of
from kinegrad.page.geometry import ball, cylinder, different, frame, rod, solid, tree, unit
from kinegrad.page.guessed import Guess
from kinegrad.page.meshes import read_mesh, triangulated
from kinegrad.page.packing import packed, unpacked

GROUND = "ground"
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
    travel : dict of name to (float, float), optional
        How far joints go along their axis.
    """

    def __init__(self, model, value: Callable, size: float, folder: Path, travel: dict | None = None):
        self.model, self.value, self.folder = model, value, folder
        self.travel = travel or {}
        self.used = used_points(model, (model.joints, model.forces, model.constraints))
        self.jointed = used_points(model, (model.joints, model.constraints))
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
                one | ({"colour": shape.colour} if shape.colour else {})
                for i, shape in enumerate(given)
                for one in self._given(body, shape, f"{where}[{i}]" if many else where)
            ]
        return [] if body == GROUND else Guess(self, body).solids()

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
            return rod(*ends, radius) if isinstance(shape, Rod) else [cylinder(*ends, radius)]
        middle = self.com(body) if at is None else at
        if isinstance(shape, Box):
            x, y, z = frame(self.vector(shape.x_axis), self.vector(shape.z_axis))
            return [
                solid(
                    "box", *(axis * edge for axis, edge in zip((x, y, z), self.vector(shape.size), strict=True)), middle
                )
            ]
        if isinstance(shape, Cylinder):
            half = unit(self.vector(shape.axis)) * self.value(shape.length) / 2.0
            return [cylinder(middle - half, middle + half, self.value(shape.radius))]
        if isinstance(shape, Mesh):
            return [self._mesh(shape, where)]
        return [ball(middle, self.value(shape.radius))]

    def _mesh(self, shape: Mesh, where: str) -> dict:
        if shape.file is not None:
            vertices, triangles = read_mesh(self.folder / shape.file, f"{where}.file")
        else:
            vertices = np.array([self.vector(vertex) for vertex in shape.vertices])
            triangles = triangulated(shape.faces)
        scale = self.value(shape.scale)
        put = solid("mesh", *(scale * np.eye(3)), self.vector(shape.at))
        return put | {"vertices": packed(vertices), "triangles": packed(triangles, "<u4")}

    # --- shapes derived from markers ---

    def points(self, body: str) -> list[np.ndarray]:
        """Different points of a body that elements use; with all its other points when these are fewer than two."""
        names = list(self.used.get(body, ()))
        points = different([self.point(body, name) for name in names])
        if len(points) < 2:
            element = self.model.bodies[body]
            more = [name for name, marker in element.markers.items() if not isinstance(marker, VectorMarker)]
            points = different([*points, *(self.point(body, name) for name in more)])
        return points

    def _lengths(self, body: str) -> list[float]:
        points = [] if shapes_of(self.model.bodies[body]) else self.points(body)
        return [float(np.linalg.norm(points[i] - points[j])) for i, j in tree(points)]


def corners(solids: list[dict]) -> np.ndarray:
    """(8 k, 3) corners of the boxes around solids, in the frame of their body."""
    found = [np.zeros((0, 3))]
    for one in solids:
        x, y, z, origin = np.array(one["matrix"]).reshape(4, 3)
        if one["kind"] == "mesh":
            vertices = unpacked(one["vertices"]).reshape(-1, 3)
            low, high = vertices.min(axis=0), vertices.max(axis=0)
        else:
            high = {"box": np.full(3, 0.5), "cylinder": np.array([1.0, 1.0, 0.5]), "sphere": np.ones(3)}[one["kind"]]
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


def used_points(model, sections) -> dict[str, dict[str, None]]:
    """For each body the point markers that the elements of some sections name, in the order of the file."""
    used: dict[str, dict[str, None]] = {}
    for section in sections:
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
