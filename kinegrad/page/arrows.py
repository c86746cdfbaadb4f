"""Arrows of a page: weights, forces, torques and reactions at the points where they act, by frame, in global components.

An arrow is ``{name, kind, unit, ends, y}``: of one end the vector `y` acts there; of two ends, `y` are numbers along the line
between them, positive where they pull. Not drawn are bushings, forces on measures that are neither a coordinate of a joint with
an axis nor a component of a point, and reactions that the equations leave open.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from kinegrad.model.bodies import VectorMarker
from kinegrad.model.forces import AtOrActsOn, Gravity, Torque
from kinegrad.model.names import resolve
from kinegrad.page.packing import brief
from kinegrad.page.replay import Frames

AXIAL = ("revolute", "prismatic", "cylindrical")
GROUND = "ground"
OPEN = 1e-6  # of a reaction, what may be open in it


class Arrows:
    """The arrows of one motion at chosen rows; `value` gives numbers of expressions, `ends` the places of markers."""

    def __init__(self, motion, rows: np.ndarray, frames: Frames, value: Callable, ends: Callable):
        self.motion, self.rows, self.frames = motion, rows, frames
        self.value, self.ends = value, ends
        self.model = motion.system.model
        self.bodies = list(self.model.bodies)

    def document(self) -> list[dict]:
        """All that are not zero throughout."""
        found = [*self._weights(), *self._forces(), *self._reactions()]
        return [arrow for arrow in found if arrow["y"] is not None]

    def _arrow(self, name: str, kind: str, ends: list[dict], values: np.ndarray) -> dict:
        unit = "N m" if kind.endswith("moment") else "N"
        return {"name": name, "kind": kind, "unit": unit, "ends": ends, "y": brief(values)}

    def _weights(self) -> Iterator[dict]:
        for force in self.model.forces.values():
            if isinstance(force, Gravity):
                g = np.array([self.value(number) for number in force.acceleration])
                for k, (name, body) in enumerate(self.model.bodies.items(), 1):
                    end = {"body": k, "at": [self.value(number) for number in body.com]}
                    yield self._arrow(f"weight of {name}", "weight", [end], self.value(body.mass) * g[None])

    # --- forces ---

    def _forces(self) -> Iterator[dict]:
        for name, force in self.model.forces.items():
            if isinstance(force, AtOrActsOn) and force.at is not None:
                body, marker = self.model.marker(force.at)
                kind = "moment" if isinstance(force, Torque) else "force"
                at = self._origin(body) if isinstance(marker, VectorMarker) else self.ends([force.at])
                yield self._arrow(name, kind, at, self._signals([f"{name}.force.{axis}" for axis in "xyz"]))
            elif force.drawn_length is not None:
                yield self._arrow(name, "force", self.ends(force.between), self._signals([f"{name}.force"]))
            elif getattr(force, "acts_on", None) is not None:
                yield from self._along(name, force.acts_on)
        for name, driver in self.model.drivers.items():
            yield from self._along(name, driver.measure)

    def _along(self, name: str, measure: str) -> Iterator[dict]:
        """The force on a coordinate of a joint, on its second body, or on a component of a point."""
        reference = resolve(self.model, measure)
        if reference.kind == "marker" and reference.component in (0, 1, 2) and not reference.rate:
            marker = f"{reference.element}.{reference.part}"
            if not isinstance(self.model.marker(marker)[1], VectorMarker):
                axis = np.eye(3)[reference.component]
                yield self._arrow(name, "force", self.ends([marker]), self._signals([f"{name}.force"]) * axis)
        elif reference.kind == "coordinate" and self.model.joints[reference.element].type in AXIAL:
            joint = self.model.joints[reference.element]
            kind = "moment" if reference.part == "angle" else "force"
            body = joint.between[0].partition(".")[0]
            axis = np.array([self.value(number) for number in joint.axis_pair[0]])
            turned = self._turned(body, axis / np.linalg.norm(axis))
            yield self._arrow(name, kind, self.ends(joint.between[1:]), self._signals([f"{name}.force"]) * turned)

    def _turned(self, body: str, axis: np.ndarray) -> np.ndarray:
        return axis[None] if body == GROUND else self.frames.axes[:, self.bodies.index(body)] @ axis

    def _origin(self, body: str) -> list[dict]:
        return [{"body": self.bodies.index(body) + 1 if body != GROUND else 0, "at": [0.0, 0.0, 0.0]}]

    def _signals(self, names: list[str]) -> np.ndarray:
        return self.motion.signals(*names, rows=self.rows).values

    # --- reactions ---

    def _reactions(self) -> Iterator[dict]:
        """Force and moment of each joint on its second body, at its first marker."""
        found = self.motion.reactions(rows=self.rows)
        for name, joint in self.model.joints.items():
            if name not in found:
                continue
            for kind, part in (("reaction", slice(0, 3)), ("reaction moment", slice(3, 6))):
                x, unique = found[name][:, part], found.unique[name][part]
                if np.abs(x[:, ~unique]).max(initial=0.0) <= OPEN * np.abs(x).max(initial=0.0):
                    yield self._arrow(name, kind, self.ends(joint.between[:1]), x)
