"""Numbers of a model at the parameter values of a system: mass properties, markers, gravity.

They are read from the model, not from the tables of a coordinate set, so that what is computed from them holds in every
set.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.model import names
from kinegrad.model.bodies import AxisInertia, FrameMarker, VectorMarker
from kinegrad.model.forces import Gravity

TENSOR = ("xx", "yy", "zz", "xy", "xz", "yz")


@dataclass(frozen=True)
class MassProperties:
    """Mass (b,), centre of mass (b, 3) and inertia about it (b, 3, 3) of the bodies, in their own frames."""

    mass: np.ndarray
    com: np.ndarray
    J: np.ndarray


class Numbers:
    """Values of the numbers of a model, by their paths."""

    def __init__(self, system: System):
        self.system = system
        self.model = system.model
        self.known = dict(zip(system.slots.field_paths, system.slots.field_values(system.rho).real, strict=True))

    def number(self, path: str, number) -> float:
        """The value of the number that stands at `path`."""
        if path not in self.known:
            self.known[path] = self.system.parameters.evaluate(number, self.system.rho)
        return float(self.known[path])

    def vector(self, path: str, numbers) -> np.ndarray:
        """Three numbers."""
        return np.array([self.number(f"{path}.{c}", x) for c, x in zip("xyz", numbers, strict=True)])

    def unit(self, path: str, numbers) -> np.ndarray:
        """Three numbers, brought to length 1."""
        v = self.vector(path, numbers)
        return v / np.linalg.norm(v)

    def marker(self, name: str) -> tuple[str, np.ndarray]:
        """Body and local components of the marker ``body.marker``: a point, a unit vector, or the origin of a frame."""
        body, marker = names.find_marker(self.model, name)
        path = f"{'ground' if body == names.GROUND else f'bodies.{body}'}.markers.{name.partition('.')[2]}"
        if isinstance(marker, VectorMarker):
            return body, self.unit(f"{path}.vector", marker.vector)
        if isinstance(marker, FrameMarker):
            return body, self.vector(f"{path}.origin", marker.origin)
        return body, self.vector(path, marker.position)

    def gravity(self) -> np.ndarray:
        """The sum of all fields of gravity."""
        forces = self.model.forces.items()
        fields = [self.vector(f"forces.{n}.acceleration", f.acceleration) for n, f in forces if isinstance(f, Gravity)]
        return np.sum(fields, axis=0) if fields else np.zeros(3)

    def masses(self, bodies) -> MassProperties:
        """Mass properties of these bodies, point masses included."""
        found = [self._body(name) for name in bodies]
        return MassProperties(*(np.array(part) for part in zip(*found, strict=True)))

    def _body(self, name: str) -> tuple[float, np.ndarray, np.ndarray]:
        body, path = self.model.bodies[name], f"bodies.{name}"
        parts = [
            (self.number(f"{path}.mass", body.mass), self.vector(f"{path}.com", body.com), self._tensor(path, body))
        ]
        for label, point in body.point_masses.items():
            at = f"{path}.point_masses.{label}"
            parts.append((self.number(f"{at}.mass", point.mass), self.vector(f"{at}.at", point.at), np.zeros((3, 3))))
        mass = sum(m for m, _, _ in parts)
        com = sum(m * c for m, c, _ in parts) / mass if mass else parts[0][1]
        return mass, com, sum(J + m * _spread(c - com) for m, c, J in parts)

    def _tensor(self, path: str, body) -> np.ndarray:
        inertia, path = body.inertia, f"{path}.inertia"
        if isinstance(inertia, AxisInertia):
            u = self.unit(f"{path}.axis", inertia.axis)
            along, across = (self.number(f"{path}.{key}", getattr(inertia, key)) for key in ("along", "across"))
            return along * np.outer(u, u) + across * (np.eye(3) - np.outer(u, u))
        xx, yy, zz, xy, xz, yz = [
            *(self.number(f"{path}.{c}", x) for c, x in zip(TENSOR, inertia, strict=False)), *[0.0] * (6 - len(inertia)),
        ]  # fmt: skip
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def _spread(d: np.ndarray) -> np.ndarray:
    """The inertia of a unit mass at d."""
    return (d @ d) * np.eye(3) - np.outer(d, d)
