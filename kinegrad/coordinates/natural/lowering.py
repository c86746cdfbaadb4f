"""A model lowered to natural coordinates: entities and their coordinates, bases, masses, rigid rows, and rows of joints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kinegrad.coordinates.coordinate_set import METRE, ONE, Coordinate
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.lowered import lowered
from kinegrad.coordinates.masses import PAIRS, whole_body
from kinegrad.coordinates.natural.basis import Basis, Column, Entity
from kinegrad.coordinates.natural.groups import Place, groups, minus, product, transposed
from kinegrad.coordinates.natural.natural_set import NaturalSet
from kinegrad.coordinates.natural.plane import Plane, plane_of
from kinegrad.coordinates.natural.rigid import write_rigid_rows
from kinegrad.coordinates.natural.sharing import Sharing
from kinegrad.coordinates.system import System
from kinegrad.kernels.natural.records import CROSS, POINT, VECTOR
from kinegrad.model.names import GROUND
from kinegrad.model.parameters import Parameters


class Lowering:
    """One model on its way to a System.

    Parameters
    ----------
    sharing : bool
        Whether joints share anything; without, every body is left alone and all joints to rows.
    apart : Lowering, optional
        One without, of the same model, in which objectives find the forces of joints that are shared here (OBJ-8).
    """

    def __init__(
        self, model, values: Mapping | None, merge: bool, planar: str, sharing: bool = True, apart: Lowering | None = None
    ):  # fmt: skip
        self.model, self.values, self.merge, self.planar = model, values, merge, planar
        parameters, slots = Parameters(model.parameters), None
        if apart is not None:
            parameters, slots = apart.elements.parameters, apart.elements.slots
        self.elements = Elements(model, parameters, lambda joint, part: None, slots)
        if apart is not None:
            self.elements.apart = apart.markers()
        self.slots, self.coordinates = self.elements.slots, self.elements.coordinates
        self.masses = {name: whole_body(self.slots, f"bodies.{name}", body) for name, body in model.bodies.items()}
        self.places = groups(self.elements, sharing)
        self.axes = "axes" if sharing else "own axes"  # of one body: slots of both systems are in one table
        self.sharing = Sharing(self.elements, self.places, self.masses, merge, sharing)
        self.entities: list[Entity] = []
        self.frames: list[dict] = []
        self.basis: list[dict] = []

    def system(self) -> System:
        e, plane = self.elements, plane_of(self.sharing, self.planar)
        self._keep_local_coordinates()
        self._number_entities(plane)
        self._frames()
        write_rigid_rows(e, self.sharing)
        e.rigid = len(e.row_names)
        for name in self.model.joints:
            e.close(name)
        e.implied.clear()  # what follows from shared coordinates was never written
        number = {id(entity): i for i, entity in enumerate(self.entities)}
        coordinates = NaturalSet(
            merge=self.merge, planar=self.planar, plane=None if plane is None else plane.axis,
            entities=tuple(self._entity(entity) for entity in self.entities),
            names=tuple(entity.name for entity in self.entities), frames=tuple(self.frames),
            heads=tuple(self.frame_of), basis=tuple(self.basis), places=self._places(), masses=self._masses(),
            known={key: number[id(entity)] for key, entity in self.sharing.known.items()},
        )  # fmt: skip
        system = lowered(e, coordinates, self.values, _no_coordinates, _no_coordinates)
        held = dict.fromkeys(self.sharing.held + (plane.held if plane else []))
        rows = tuple(row for row in system.rows if row.number >= 0 or not row.closure)
        return replace(system, held=tuple(held), rows=rows)

    def markers(self) -> list[tuple | Coordinate]:
        """What each coordinate is: body, slot, whether it is a point, and component of a marker; or one of an element."""
        found: list[tuple | Coordinate] = list(self.coordinates)
        for head, basis in self.sharing.bases.items():
            for column in basis.columns:
                for i, (kind, k) in enumerate(column.entity.components):
                    if kind == "q":
                        found[k] = (head, column.slot, column.entity.point, i)
        return found

    # --- entities ---

    def _keep_local_coordinates(self) -> None:
        """Slots of the local coordinates of every column, which then is a marker of its head."""
        for head, basis in self.sharing.bases.items():
            for column in basis.columns:
                if not column.slot:
                    name = f"{head}: {column.entity.name} in its {self.axes}"
                    column.slot = self.slots.scalars(name, column.local)
                if self.places[head].leader == head:
                    self.sharing.known[head, column.slot, column.entity.point] = column.entity

    def _number_entities(self, plane: Plane | None) -> None:
        """The coordinate or the slot of each component of each entity."""
        first: dict[int, tuple[str, Column]] = {}
        for head, basis in self.sharing.bases.items():
            for column in basis.columns:
                first.setdefault(id(column.entity), (head, column))
        for entity in self.sharing.entities:
            if id(entity) not in first:
                continue
            head, column = first[id(entity)]
            self.entities.append(entity)
            if entity.fixed:
                entity.components = [("s", column.slot + i) for i in range(3)]
                continue
            for i, c in enumerate("xyz"):
                if plane is not None and i == plane.axis:
                    height = plane.component(head, entity.point, column.local)
                    entity.components.append(("s", self.slots.add(f"{entity.name}.{c} in the plane", height)))
                else:
                    entity.components.append(("q", len(self.coordinates)))
                    self.coordinates.append(Coordinate(entity.name, c, METRE if entity.point else ONE))

    @staticmethod
    def _entity(entity: Entity) -> dict:
        return {
            "point": int(entity.point),
            "k": [number if kind == "q" else -1 for kind, number in entity.components],
            "val": [number if kind == "s" else 0 for kind, number in entity.components],
        }

    # --- frames ---

    def _frames(self) -> None:
        """The ground, then the bases of leaders, then those of bodies that follow."""
        self.frame_of = {GROUND: 0}
        self.frames.append({"lead": 0, "b0": 0, "b1": 0})
        heads = sorted((head for head in self.sharing.bases if head != GROUND), key=lambda h: self.places[h].follows)
        number = {id(entity): i for i, entity in enumerate(self.entities)}
        for head in heads:
            basis, first = self.sharing.bases[head], len(self.basis)
            own = self.frame_of[head] = len(self.frames)
            for column in (basis.origin, *basis.others):
                kind = POINT if column.entity.point else VECTOR
                self.basis.append({"type": kind, "e": number[id(column.entity)], "loc": column.slot})
            if not basis.only_point and len(basis.others) == 2:
                self.basis.append(self._closing(basis, first))
            leader = self.places[head].leader
            lead = own if leader == head else self.frame_of[leader]
            self.frames.append({"lead": lead, "b0": first, "b1": len(self.basis)})

    @staticmethod
    def _closing(basis: Basis, first: int) -> dict:
        """The column n × d."""
        others = basis.others
        n = others.index(basis.fixed_vector)
        return {"type": CROSS, "e": -1, "n": first + 1 + n, "d": first + 1 + (1 - n)}

    def _places(self) -> dict[str, dict]:
        """The frame of each body, and where the body is in it: slots of a rotation and of an offset, 0 for none."""
        found = {}
        for body, place in self.places.items():
            t = self._offset(place)
            found[body] = {
                "frame": self.frame_of[place.head],
                "rot": 0 if place.R is None else self.slots.scalars(f"{body}: rotation in its group", place.R),
                "off": 0 if t is None else self.slots.scalars(f"{body}: place in its group", t),
            }
        return found

    def _offset(self, place: Place) -> list | None:
        """From the origin of its frame: that of the head, or the point that carries a body that follows."""
        if not place.follows:
            return place.t
        start = self.sharing.bases[place.head].origin.local
        return [-x for x in start] if place.t is None else minus(place.t, start)

    def _masses(self) -> tuple[dict, ...]:
        """Mass, centre and inertia of each body, in its frame."""
        found = []
        for body, own in self.masses.items():
            place = self.places[body]
            t = self._offset(place)
            com, J = own["com"], own["J"]
            if place.R is not None or t is not None:
                centre = place.direction(self.slots.at(com))
                centre = centre if t is None else [a + b for a, b in zip(centre, t, strict=True)]
                com = self.slots.scalars(f"{body}: centre in its group", centre)
            if place.R is not None:
                J = self.slots.scalars(f"{body}: inertia in its group", _turned(place.R, self.slots.at(J, 6)))
            found.append({"frame": self.frame_of[place.head], "m": own["m"], "com": com, "J": J})
        return tuple(sorted(found, key=lambda mass: mass["frame"]))


def _turned(R: list, J: list) -> list:
    """R J Rᵀ of six Scalars."""
    full = [J[PAIRS.index((min(i, j), max(i, j)))] for i in range(3) for j in range(3)]
    turned = product(product(R, full), transposed(R))
    return [turned[3 * i + j] for i, j in PAIRS]


def _no_coordinates(joint: str):
    """No joint has coordinates of the set."""
    raise KeyError(joint)
