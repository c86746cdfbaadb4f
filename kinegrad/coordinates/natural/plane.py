"""Mechanisms that stay in a plane: coordinates across it are constant, and left out (NAT-8).

Every body turns about one axis of the ground, and a chain of joints keeps it at a constant height over the plane.  What decides
this must not depend on parameters, so that no value of theirs leads out of the plane.
"""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.rows import bodies_of, frame_slots
from kinegrad.coordinates.natural.sharing import Sharing
from kinegrad.errors import KinegradError
from kinegrad.model.names import GROUND

STRAIGHT = 1e-14  # the component of a local axis that is rounding


class Leaves(Exception):
    """Why a mechanism has no plane that it stays in."""


class Plane:
    """The plane that a mechanism stays in.

    Attributes
    ----------
    axis : int
        The axis of the ground across it.
    held : list of str
        Paths of the numbers that would lead out of it.
    """

    def __init__(self, sharing: Sharing):
        self.sharing, self.slots = sharing, sharing.slots
        self.held: list[str] = []
        self.normals = {head: self._normal(head) for head in sharing.bases if head != GROUND}
        axes = {axis for axis, _ in self.normals.values()} - {None}
        if len(axes) != 1:
            raise Leaves("its bodies turn about different axes" if axes else "none of its bodies turns")
        (self.axis,) = axes
        self.heights = self._heights()

    def component(self, head: str, point: bool, local: list):
        """The Scalar that an entity has across the plane, in the basis of a head."""
        across = self._across(head, local)
        return across + self.heights[head] if point else across

    def _normal(self, head: str) -> tuple[int | None, np.ndarray]:
        """The axis of the ground that is fixed in a body, and its local components; None where every axis is."""
        leader = self.sharing.places[head].leader
        if leader == GROUND:
            return None, np.zeros(3)
        column = self.sharing.bases[leader].fixed_vector
        if column is None:
            raise Leaves(f"body {head!r} has no axis that is fixed in the ground")
        self._parameter_free([*column.local, *column.entity.value], f"the axis of body {head!r}")
        value = np.array(self.slots.current(column.entity.value))
        axis = int(np.abs(value).argmax())
        if np.delete(value, axis).any():
            raise Leaves(f"body {head!r} turns about no axis of the ground")
        self.held += self.slots.paths([*column.local, *column.entity.value])
        return axis, np.sign(value[axis]) * column.at

    def _across(self, head: str, local: list):
        """The component across the plane of a vector in the axes of a head's leader."""
        own = np.eye(3)[self.axis] if self.sharing.places[head].leader == GROUND else self.normals[head][1]
        total = self.slots.graph.constant(0.0)
        for x, c in zip(local, own.tolist(), strict=True):
            if abs(c) > STRAIGHT:
                total = total + c * x
        return total

    def _heights(self) -> dict:
        """The height of the origin of each head over that of the ground, handed on from body to body."""
        heights, left = {GROUND: self.slots.graph.constant(0.0)}, self._level_joints()
        while True:
            ready = next((ends for ends in left if (ends[0][0] in heights) != (ends[1][0] in heights)), None)
            if ready is None:
                break
            (known, x), (new, y) = ready if ready[0][0] in heights else ready[::-1]
            heights[new] = heights[known] + x - y
        for head in self.sharing.bases:
            if head not in heights:
                raise Leaves(f"body {head!r} can move across it")
        return heights

    def _level_joints(self) -> list[list[tuple]]:
        """Of each joint whose markers are at one height: the heads of its bodies, and how high its markers are over them."""
        places, elements, found = self.sharing.places, self.sharing.elements, []
        for name, joint in elements.model.joints.items():
            if self._keeps_height(name, joint):
                ends = []
                for marker in joint.between:
                    body, slot = elements.position_slot(marker)
                    height = self._across(places[body].head, self.sharing.local(body, slot, True))
                    self._parameter_free([height], f"the height of {marker!r}")
                    self.held += self.slots.paths([height])
                    ends.append((places[body].head, height))
                found.append(ends)
        return found

    def _keeps_height(self, name: str, joint) -> bool:
        """Whether the markers of a joint are at one height."""
        kind = KINDS[joint.type]
        if "point" in kind.shares:
            return True
        if not kind.apart:
            return False
        frames = kind.frames(self.slots, f"joints.{name}", joint)
        slot = frame_slots(self.slots, name, joint, frames, "z")[0][0]
        body = bodies_of(joint)[0]
        local = self.sharing.local(body, slot, False)
        if self.slots.parameters([self._across(self.sharing.places[body].head, local)]):
            return False
        along = abs(self.slots.current([self._across(self.sharing.places[body].head, local)])[0])
        return along < STRAIGHT if kind.apart == "along" else along > 1.0 - STRAIGHT

    def _parameter_free(self, scalars: list, what: str) -> None:
        names = self.slots.parameters(scalars)
        if names:
            raise Leaves(f"the parameter {names[0]!r} changes {what}")


def plane_of(sharing: Sharing, planar: str) -> Plane | None:
    """The plane of a mechanism, by the option `planar`: auto, on or off."""
    if planar == "off":
        return None
    try:
        return Plane(sharing)
    except Leaves as reason:
        if planar == "on":
            raise KinegradError(
                "The mechanism does not stay in a plane across an axis of the ground, as natural coordinates with "
                f"planar: on ask for: {reason}. "
                "Use planar: auto."
            ) from None
        return None
