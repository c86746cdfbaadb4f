"""The natural set as a system has it: entities, bases and frames, and its arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from kinegrad.coordinates.arrays import element_arrays, marker_arrays, records
from kinegrad.coordinates.coordinate_set import CoordinateSet
from kinegrad.coordinates.joint.poses import poses_of
from kinegrad.coordinates.moved_slots import MovedSlots, any_of
from kinegrad.coordinates.natural.conditions import mirrored, spoilt
from kinegrad.coordinates.natural.poses import coordinates_of, motion_of_bodies
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.natural.records import CROSS, GEOMETRY, INERTIA

PLANAR = ("auto", "on", "off")


@dataclass(frozen=True, eq=False)
class NaturalSet(CoordinateSet):
    """Points and unit vectors that bodies share at joints (NAT-1).

    Attributes
    ----------
    merge, planar : options
    plane : int or None
        The axis of the ground across the plane in which all moves.
    entities, frames, basis, masses : tuples of records
    names : tuple of str
        Of the entities.
    heads : tuple of str
        The body whose axes and origin each frame has, or comes next to.
    places : dict body -> its frame, and where it is in it
    known : dict (body, slot, whether it is a point) -> number of the entity that such a marker is
    """

    merge: bool
    planar: str
    plane: int | None
    entities: tuple[dict, ...]
    names: tuple[str, ...]
    frames: tuple[dict, ...]
    heads: tuple[str, ...]
    basis: tuple[dict, ...]
    places: dict[str, dict]
    masses: tuple[dict, ...]
    known: dict[tuple[str, int, bool], int]
    _poses: dict = field(default_factory=dict)

    kind = "natural"
    option_names = ("merge", "planar")
    linked = ("stage", "links")

    @classmethod
    def lower(cls, model, values: Mapping | None = None, *, merge: bool = True, planar: str = "auto") -> System:
        from kinegrad.coordinates.natural.lowering import Lowering

        if planar not in PLANAR:
            raise KinegradError(f"planar is {planar!r}; choose one of {', '.join(PLANAR)}.")
        if not isinstance(merge, bool):
            raise KinegradError(f"merge is {merge!r}; choose true or false.")
        system = Lowering(model, values, merge, planar).system()
        left = system.tables["not_here"]
        if not left:
            return system
        apart = Lowering(model, values, merge, "off", sharing=False)
        beside = apart.system()
        left |= beside.tables["not_here"]
        if left.keys() > beside.tables["not_here"].keys():
            system = Lowering(model, values, merge, planar, apart=apart).system()
            beside.tables.update(again=system.tables["again"], known={})
            made = {"opened": replace(beside, slots=system.slots), "not_here": beside.tables["not_here"], "known": {}}
            system = replace(system, tables=system.tables | made)
        return system

    @property
    def options(self) -> dict:
        return {"merge": self.merge, "planar": self.planar}

    @cached_property
    def functions(self) -> tuple:
        from kinegrad.kernels.natural.functions import FUNCTIONS

        return FUNCTIONS

    @property
    def layout(self):
        from kinegrad.kernels.natural.functions import LAYOUT

        return LAYOUT

    def link(self, which: int, arrays: dict) -> None:
        from kinegrad.kernels.natural.runs import link

        link(which, arrays)

    @property
    def numbers(self) -> dict[str, int]:
        """Bodies by name, with the numbers of their records."""
        return {body: i for i, body in enumerate(self.places)}

    def guess(self, system: System, s: np.ndarray, close=None) -> np.ndarray:
        """The poses that joint coordinates give, as points and vectors."""
        A, r = poses_of(self, system.model)(system.rho.real, close)
        still = np.zeros((len(r), 6))
        return coordinates_of(self, list(system.model.bodies), s, A, r, still, still)[0]

    def in_joints(self, system: System) -> System:
        return poses_of(self, system.model).system.with_parameters(system.rho.real)

    def bodies(self, system: System, work) -> tuple[np.ndarray, ...]:
        return motion_of_bodies(self, list(system.model.bodies), work)

    def from_bodies(self, system: System, work, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
        """Points and vectors as the bodies that they carry have them."""
        found = np.zeros((3, system.n))
        of_set = coordinates_of(self, list(system.model.bodies), work["s"].real, A, r, V, a)
        found[:, : of_set.shape[1]] = of_set
        return tuple(found)

    def check(self, system: System, s: np.ndarray) -> None:
        found = spoilt(self, s)
        if found is not None:
            body, columns, condition = found
            raise KinegradError(
                f"body {body!r}: {', '.join(columns)}, which carry it, have become dependent with these values of the "
                f"parameters (condition {condition:.2g}); build the system again with them, and it will choose others."
            )

    def mirrored(self, work) -> str:
        return mirrored(self, work)

    # --- arrays ---

    def arrays(self, system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> dict:
        from kinegrad.kernels import pattern
        from kinegrad.kernels.natural.functions import PARTS
        from kinegrad.kernels.natural.records import BASIS, ENTITY, FRAME, FRAME_COLUMN, FRAME_DUAL, LOCAL, MASS, PLACE

        n, tables = system.n, system.tables
        coordinates, basis = self._coordinates
        fcol = [k for i, own in enumerate(coordinates) if self.frames[i]["lead"] == i for k in own]
        touch = self.touched(ds)
        want = self.touched(wanted[None, :])[0]
        every = tables["every_marker" if every_marker else "markers"]
        frames, first = [], 0
        followed = {own["lead"] for own, wants in zip(self.frames, want, strict=True) if wants & GEOMETRY}
        for i, own in enumerate(self.frames):
            last = first + (len(coordinates[i]) if own["lead"] == i else 0)
            frames.append(own | {"y0": first, "y1": last, "want": int(want[i]) | GEOMETRY * (i in followed)})
            first = last
        frame = records(FRAME, frames, number)
        frame["T"][0, [0, 4, 8]] = 1.0  # the ground
        watch = self._watched(every, system.sizes["gravity"])
        return {
            "entity": records(ENTITY, self.entities, number),
            "basis": records(BASIS, basis, number),
            "frame": frame,
            "frame_dual": records(FRAME_DUAL, [{}] * len(frames), number),
            "fcol": records(FRAME_COLUMN, [{"k": k} for k in fcol], number),
            "place": records(PLACE, list(self.places.values()), number),
            "here": records(LOCAL, [{}] * len(every), number),
            "mass": records(MASS, self.masses, number),
            "watch": watch,
            "seen": np.full(len(watch), np.nan, number),
            "touch": touch,
            "zero": np.zeros(n, number),
            "M0": np.zeros(pattern.size(system.patterns["square"]), number),
            "f0": np.zeros(n, number),
            "dZ": np.zeros(16, number),
            "star": np.zeros(1, np.int64),
            "links": np.zeros(len(PARTS), np.int64),
            **self._markers(every, len(tables["markers"]), coordinates, ds, wanted, touch, n, number),
            **element_arrays(system, number, n + len(ds)),
        }

    def coupled(self, system: System) -> list[list[int]]:
        """The coordinates of each frame."""
        return self._coordinates[0]

    @cached_property
    def _coordinates(self) -> tuple[list[list[int]], list[dict]]:
        """The coordinates of each frame, those of its leader first, and the bases with places among these."""
        found: list[list[int]] = []
        basis = []
        for own in self.frames:
            lead = own["lead"]
            ks = list(found[lead]) if lead != len(found) else []
            for b in self.basis[own["b0"] : own["b1"]]:
                at = [-1, -1, -1]
                for i, k in enumerate(self.entities[b["e"]]["k"] if b["type"] != CROSS else ()):
                    if k >= 0:
                        if k not in ks:
                            ks.append(k)
                        at[i] = ks.index(k)
                basis.append(b | {"at": at})
            found.append(ks)
        return found, basis

    def _markers(self, every, used: int, coordinates, ds, wanted, touch, n: int, number: str) -> dict:
        """Markers and their columns; those behind the first `used` serve no element and need none."""
        markers, ks, axes, numbers, by_slot = [], [], [], self.numbers, MovedSlots(ds)
        for i, (body, loc, point) in enumerate(every):
            first, e = len(ks), self.known.get((body, loc, point))
            rot = off = 0
            if e is not None:
                entity, node = self.entities[e], -1 - e
                mine = [j for j, k in enumerate(entity["k"]) if k >= 0 and i < used]
                ks += [entity["k"][j] for j in mine]
                axes += mine
                moved = by_slot(*((slot, 1) for slot, k in zip(entity["val"], entity["k"], strict=True) if k < 0))
            else:
                node, place = numbers[body], self.places[body]
                lead, rot, off = self.frames[place["frame"]]["lead"], place["rot"], place["off"]
                if i < used:
                    ks += coordinates[place["frame"] if point else lead]
                moved = by_slot((loc, 3), (rot, 9 if rot else 0), (off, 3 * point))
                if len(ds) and i < used:
                    frames = (touch[:, [lead, place["frame"]]] & GEOMETRY).any(axis=1)
                    moved = sorted({*moved, *np.flatnonzero(frames).tolist()})
            middle = len(ks)
            if i < used:
                ks += [n + j for j in moved]
            axes += [3] * (len(ks) - len(axes))
            markers.append((node, loc, point, first, middle, len(ks), rot, off))
        *fields, rot, off = np.array(markers, np.int64).reshape(-1, 8).T
        made = marker_arrays(("node", "loc", "point", "c0", "c1", "c2"), fields, ks, axes, number)
        mk, turned = made["mk"], any_of(wanted, rot, np.where(rot, 9, 0))
        local = any_of(wanted, mk["loc"], 3) | turned | any_of(wanted, off, 3 * mk["point"])
        mk["want"] = (mk["node"] < 0) | local
        return made

    def _watched(self, every, gravity: int) -> np.ndarray:
        """All slots that frames, masses and markers are made of."""
        runs = [(b["loc"], 3) for b in self.basis if b["type"] != CROSS]
        runs += [(slot, 1) for entity in self.entities for slot in entity["val"]]
        runs += [run for mass in self.masses for run in ((mass["m"], 1), (mass["com"], 3), (mass["J"], 6))]
        runs += [run for place in self.places.values() for run in ((place["rot"], 9), (place["off"], 3))]
        runs += [(loc, 3) for _, loc, _ in every] + [(gravity, 3)]
        return np.array(sorted({first + i for first, count in runs for i in range(count)}), np.int64)

    def touched(self, ds: np.ndarray) -> np.ndarray:
        """(directions, frames) what each direction touches: geometry or inertia of a frame."""
        touch = np.zeros((len(ds), len(self.frames)), np.int64)
        for what, (frames, slots) in self._made_of.items():
            moved = ds[:, slots] != 0.0
            for own, which in zip(touch, moved, strict=True):
                own[frames[which]] |= what
        return touch

    @cached_property
    def _made_of(self) -> dict[int, np.ndarray]:
        """(2, k) frames, and slots that their geometry, or their inertia, is made of."""
        geometry, inertia = [], []
        for i, own in enumerate(self.frames):
            for b in self.basis[own["b0"] : own["b1"]]:
                if b["type"] != CROSS:
                    entity = self.entities[b["e"]]
                    geometry += [(i, b["loc"] + j) for j in range(3)]
                    geometry += [(i, slot) for slot, k in zip(entity["val"], entity["k"], strict=True) if k < 0]
        for mass in self.masses:
            runs = (mass["m"], 1), (mass["com"], 3), (mass["J"], 6)
            inertia += [(mass["frame"], first + j) for first, count in runs for j in range(count)]
        return {
            what: np.array(found, np.int64).reshape(-1, 2).T
            for what, found in ((GEOMETRY, geometry), (INERTIA, inertia))
        }
