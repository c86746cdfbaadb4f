"""Which points and unit vectors carry which bodies: joints share theirs, the rest of each basis is a body's own (NAT-3)."""

from __future__ import annotations

from collections import deque

import numpy as np

from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.rows import bodies_of, frame_slots
from kinegrad.coordinates.natural.basis import FULL, Basis, Column, Entity
from kinegrad.coordinates.natural.groups import Place
from kinegrad.model.names import GROUND

SAME = 1e-9  # of the size of a body, or of a unit vector: what is nearer is one
DIGITS = 6  # in which sines are compared, so that rounding chooses nothing


class Sharing:
    """The entities of a model and the bases of its bodies.

    Points carry bodies that are welded together, vectors all that turn as one; local coordinates are those in the axes of the
    leader, from the origin of the head.

    Parameters
    ----------
    masses : dict of slots
        m, com and J of each body.
    merge : bool
        Whether points that coincide in a body, and parallel vectors, are one entity where no parameter can part them.
    sharing : bool
        Whether joints share anything; without, every body stands alone and rows hold all joints.

    Attributes
    ----------
    bases : dict of Basis
        By the names of heads.
    entities : list of Entity
    known : dict (body, slot, whether it is a point) -> Entity
        The markers that are entities.
    held : list of str
        Paths of the numbers by which nothing can be differentiated, since what they move is merged with something else.
    """

    def __init__(self, elements, places: dict[str, Place], masses: dict[str, dict], merge: bool, sharing: bool):
        self.elements, self.slots, self.model = elements, elements.slots, elements.model
        self.places, self.masses, self.merge = places, masses, merge
        self.entities: list[Entity] = []
        self.known: dict[tuple[str, int, bool], Entity] = {}
        self.held: list[str] = []
        self.joints_of: dict[str, list[str]] = {body: [] for body in places}
        for name, joint in self.model.joints.items():
            for body in bodies_of(joint):
                self.joints_of[places[body].head].append(name)
        self.bodies_of: dict[str, list[str]] = {}  # by head
        for body, place in places.items():
            self.bodies_of.setdefault(place.head, []).append(body)
        heads = dict.fromkeys(place.head for place in places.values())
        self.turning: dict[str, list[str]] = {}  # joints of all heads that have the axes of a leader
        for head in heads:
            self.turning.setdefault(places[head].leader, []).extend(self.joints_of[head])
        self.bases = {head: Basis(self._size(head), places[head].follows) for head in heads}
        if sharing:
            for name in self._from_the_ground():
                self._share(name)
        for head in self.bases:
            if head != GROUND:
                self._complete(head)

    # --- what bodies have ---

    def _size(self, head: str) -> float:
        """The largest distance of points and centres of mass from their mean, or the radius of gyration."""
        points, radius = [], 0.0
        for body in self.bodies_of[head]:
            place = self.places[body]
            points += [
                place.point(self.slots.at(self.elements.position_slot(marker)[1]))
                for name in self.joints_of[head]
                for marker in self.model.joints[name].between
                if marker.partition(".")[0] == body
            ]
            if body != GROUND:
                mass = self.masses[body]
                points.append(place.point(self.slots.at(mass["com"])))
                m, *trace = self.slots.current([*self.slots.at(mass["m"], 1), *self.slots.at(mass["J"])])
                radius = max(radius, np.sqrt(max(sum(trace), 0.0) / (2.0 * m)) if m > 0.0 else 0.0)
        if not points:
            return 1.0
        x = np.array([self.slots.current(p) for p in points])
        return float(max(np.linalg.norm(x - x.mean(axis=0), axis=1).max(), radius)) or 1.0

    def _from_the_ground(self) -> list[str]:
        """Joints, those nearest to the ground first, so that what is fixed is handed on."""
        pairs = {name: bodies_of(joint) for name, joint in self.model.joints.items()}
        of_body: dict[str, list[str]] = {}
        for name, pair in pairs.items():
            for body in pair:
                of_body.setdefault(body, []).append(name)
        ordered: dict[str, None] = {}
        seen = set()
        for first in (GROUND, *self.places):
            queue = deque([first] if first not in seen else ())
            seen.add(first)
            while queue:
                for name in of_body.get(queue.popleft(), ()):
                    if name not in ordered:
                        ordered[name] = None
                        new = [other for other in pairs[name] if other not in seen]
                        seen.update(new)
                        queue += new
        return list(ordered)

    def carrier(self, body: str, point: bool) -> str:
        """The head whose basis has the points, or the vectors, of a body."""
        place = self.places[body]
        return place.head if point else place.leader

    def local(self, body: str, slot: int, point: bool) -> list:
        """Local coordinates of a point or a vector of a body that is given by its first slot."""
        scalars, place = self.slots.at(slot), self.places[body]
        return place.point(scalars) if point else place.direction(scalars)

    # --- joints ---

    def _share(self, name: str) -> None:
        """The point and the axis of a joint become columns of both bodies, where both take them."""
        joint = self.model.joints[name]
        kind, bodies = KINDS[joint.type], bodies_of(joint)
        held = self.elements.shared.setdefault(name, set())
        if "point" in kind.shares and "point" not in held:
            slots = [self.elements.position_slot(marker)[1] for marker in joint.between]
            moving = joint.between[0] if bodies[0] != GROUND else joint.between[1]
            if self.carrier(bodies[0], True) != self.carrier(bodies[1], True) and self._unite(
                moving, bodies, slots, True
            ):
                held.add("point")
        if "axis" in kind.shares:
            frames = kind.frames(self.slots, f"joints.{name}", joint)
            slots = [own[0] for own in frame_slots(self.slots, name, joint, frames, "z")]
            if self.carrier(bodies[0], False) != self.carrier(bodies[1], False) and self._unite(
                f"{name} axis", bodies, slots, False
            ):
                held.add("axis")

    def _unite(self, name: str, bodies: list[str], slots: list[int], point: bool) -> bool:
        """Whether a point or a vector of two bodies is one entity of both."""
        first, second = (self._found(name, body, slot, point) for body, slot in zip(bodies, slots, strict=True))
        if first and second:
            return first == second
        if first or second:
            entity, sign = first or second
            other = 1 if first else 0
            return self._added(bodies[other], slots[other], entity, sign)
        entity = Entity(name, point)
        taken = [self._added(body, slot, entity, 1.0) for body, slot in zip(bodies, slots, strict=True)]
        if any(taken):
            self.entities.append(entity)
        return all(taken)

    def _found(self, name: str, body: str, slot: int, point: bool) -> tuple[Entity, float] | None:
        """The entity that a point or a vector of a body is, with the sign of a vector; the ground has any, fixed."""
        carrier, local = self.carrier(body, point), self.local(body, slot, point)
        at = np.array(self.slots.current(local))
        found = self._like(self.bases[carrier], local, at, point)
        if found is None and carrier == GROUND:
            entity = Entity(name, point, value=local)
            self.entities.append(entity)
            self.bases[GROUND].columns.append(Column(entity, local, at, slot if local == self.slots.at(slot) else 0))
            found = entity, 1.0
        if found is not None and found[1] > 0.0:
            self.known[body, slot, point] = found[0]
        return found

    def _like(self, basis: Basis, local: list, at: np.ndarray, point: bool) -> tuple[Entity, float] | None:
        """A column of the same numbers; or one at the same place, if none of the two has a parameter."""
        columns = [column for column in basis.columns if column.entity.point == point]
        for column in columns:
            if column.local == local:
                return column.entity, 1.0
        if not self.merge or self.slots.parameters(local):
            return None
        near = SAME * (basis.size if point else 1.0)
        for column in columns:
            for sign in (1.0,) if point else (1.0, -1.0):
                if np.abs(column.at - sign * at).max() < near and not self.slots.parameters(column.local):
                    self.held += self.slots.paths([*local, *column.local])
                    return column.entity, sign
        return None

    def _added(self, body: str, slot: int, entity: Entity, sign: float) -> bool:
        """Whether a body takes an entity into its basis."""
        basis = self.bases[self.carrier(body, entity.point)]
        local = self.local(body, slot, entity.point)
        if sign < 0.0:
            local = [-x for x in local]
        at = np.array(self.slots.current(local))
        if not basis.accepts(entity.point, at):
            return False
        basis.columns.append(Column(entity, local, at, slot if local == self.slots.at(slot) else 0))
        if sign > 0.0:
            self.known[body, slot, entity.point] = entity
        return True

    # --- what is left to a body ---

    def _complete(self, head: str) -> None:
        """Own points and vectors, until the basis spans the body."""
        basis = self.bases[head]
        if basis.origin is None:
            self._own_point(head)
        if basis.only_point:
            return
        for name in self._joints_that_turn(head):
            self._own_vectors(name, head)
        while not basis.complete:
            sines = [round(basis.apart(axis), DIGITS) for axis in np.eye(FULL)]
            k = int(np.argmax(sines))
            local = [self.slots.graph.constant(float(i == k)) for i in range(FULL)]
            self._own(head, f"{head} axis {'xyz'[k]}", False, local)

    def _own_point(self, head: str) -> None:
        """The marker of its first joint that holds something, or its centre of mass."""
        for name in self.joints_of[head]:
            joint = self.model.joints[name]
            if KINDS[joint.type].shares:
                marker = next(m for m in joint.between if self.places[m.partition(".")[0]].head == head)
                body, slot = self.elements.position_slot(marker)
                self.known[body, slot, True] = self._own(head, marker, True, self.local(body, slot, True))
                return
        self._own(head, f"{head} centre", True, self.slots.at(self.masses[head]["com"]))

    def _joints_that_turn(self, head: str) -> list[str]:
        """Joints of all bodies that have the axes of this one."""
        return self.turning.get(head, [])

    def _own_vectors(self, name: str, head: str) -> None:
        """Vectors that the rows of a joint compare, as far as they are good columns."""
        joint = self.model.joints[name]
        vectors = KINDS[joint.type].vectors(self.slots, f"joints.{name}", joint)
        for k, body in enumerate(bodies_of(joint)):
            if vectors is None or self.carrier(body, False) != head:
                continue
            local = self.local(body, vectors[k], False)
            if self.bases[head].accepts(False, np.array(self.slots.current(local))):
                self.known[body, vectors[k], False] = self._own(head, f"{name} axis {k + 1}", False, local)

    def _own(self, head: str, name: str, point: bool, local: list) -> Entity:
        entity = Entity(name, point)
        self.entities.append(entity)
        self.bases[head].columns.append(Column(entity, local, np.array(self.slots.current(local))))
        return entity
