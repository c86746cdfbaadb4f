"""Tables of the balance of a model: bodies, joints, what is unknown, and which of it meets in which joint of the tree.

They are made once for all states, from the numbers of the model and not from the tables of a coordinate set, so that what
follows from them holds in every set.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np

from kinegrad.coordinates.arrays import records
from kinegrad.coordinates.joint.spanning_tree import GROUND, spanning_tree
from kinegrad.coordinates.joints import FREE, KINDS
from kinegrad.coordinates.system import System
from kinegrad.kernels import pattern
from kinegrad.kernels.joint.records import SLIDE
from kinegrad.kernels.reactions import records as r
from kinegrad.kernels.reactions.motion import Topology
from kinegrad.model.constraints import (
    Angle,
    Coincidence,
    Distance,
    Dot,
    Guidance,
    Parallel,
    PointInPlane,
    PointOnLine,
    SameDirection,
    SphericalStart,
)
from kinegrad.reactions.numbers import Numbers
from kinegrad.reactions.rows import ExpressionRow, expression_rows

BETWEEN_POINTS = {Coincidence: (r.POINT, 3), Distance: (r.LINE, 1)}
BETWEEN_VECTORS = {
    Dot: (r.MOMENT_OF_TWO, 1),
    Angle: (r.MOMENT_OF_TWO, 1),
    Parallel: (r.MOMENTS_ACROSS, 2),
    SameDirection: (r.MOMENTS_ACROSS, 2),
}


class Unknown:
    """What an element can exert: its record, and the bodies that each of its wrenches acts on, with signs.

    `columns` are its places among the unknowns.
    """

    def __init__(self, name: str, kind: int, size: int, **fields):
        self.name, self.size = name, size
        self.record = {"kind": kind, "n": size, "law": -1, "rate": -1, **fields}
        self.acts: list[tuple[int, int, tuple[tuple[int, float], ...]]] = []  # wrench, column (both from 0 on), bodies
        self.on_directions: dict[int, list[dict]] = {}  # terms that are entries of q, by their directions
        self.columns = slice(0)

    @property
    def rate(self) -> int:
        """The place of its rate, or -1."""
        return self.record["rate"]

    @property
    def is_force(self) -> bool:
        """Whether it acts on a measure or on coordinates, and is no reaction."""
        return self.record["kind"] in (r.MEASURE, r.DIRECTIONS)


class Tables:
    """The tables of a system, and the names of what is in them.

    Attributes
    ----------
    bodies : dict name -> number
        The ground is 0; the others follow as the tree leads to them.
    joints : dict name -> number
    unknowns : list of Unknown
    elements : list of str
        Joints, then constraints that have a reaction.
    """

    def __init__(self, system: System, held: bool):
        self.system, self.model, self.numbers = system, system.model, Numbers(system)
        self.tree = system.set.spanning_tree() or spanning_tree(self.model)
        self.edges = {edge.joint: i for i, edge in enumerate(self.tree.edges, 1)}
        self.bodies = {GROUND: 0} | {edge.child: i for i, edge in enumerate(self.tree.edges, 1)}
        self.masses = self.numbers.masses(list(self.bodies)[1:])
        self.angles = {own.k: system.coordinates[own.k] for own in system.own if own.row >= 0}
        self._place_joints()
        self.rates: list[ExpressionRow] = []
        self.terms: list[dict] = []
        self.wrenches = 0
        self.unknowns = self._unknowns(expression_rows(system, held), held)
        self.width = sum(u.size for u in self.unknowns)
        closed = {u.name for u in self.unknowns if not u.is_force}
        self.elements = [*self.model.joints, *(name for name in self.model.constraints if name in closed)]

    # --- bodies, markers and joints ---

    def _point(self, name: str) -> tuple[int, np.ndarray]:
        """Body of a marker that is a point, and the way from its centre of mass to it."""
        body, local = self.numbers.marker(name)
        number = self.bodies[body]
        return number, local - self.masses.com[number - 1] if number else local

    def _vector(self, name: str) -> tuple[int, np.ndarray]:
        """Body of a marker that is a vector, and its components there."""
        body, local = self.numbers.marker(name)
        return self.bodies[body], local

    def _place_joints(self) -> None:
        """Joints of the tree, then those that are cut: points, and free directions."""
        self.joint_records: list[dict] = []
        self.directions: list[dict] = []
        self.parts: list[tuple[str, str]] = []  # joint and coordinate of each direction
        others = [name for name in self.model.joints if name not in self.edges]
        self.joints = {name: i for i, name in enumerate([*self.edges, *others])}
        for name in self.joints:
            element = self.model.joints.get(name)
            if element is None:  # a floating joint that was added for a chain without ground
                child = self.edges[name]
                ends = {"second": child, "p2": -self.masses.com[child - 1]}
            else:
                (first, p1), (second, p2) = map(self._point, element.between)
                ends = {"first": first, "second": second, "p1": p1, "p2": p2, "tells": 1}
            kind = FREE if element is None else KINDS[element.type]
            d0 = len(self.directions)
            for free in kind.free_directions(self.numbers, f"joints.{name}", element):
                k = self.system.set.joint_coordinate(name, free.part) if name in self.edges else None
                record = {"type": free.node, "frame": free.frame, "axis": free.axis, "pitch": free.pitch}
                self.directions.append(record | {"k": -1 if k is None else k})
                self.parts.append((name, free.part))
            self.joint_records.append(ends | {"d0": d0, "d1": len(self.directions)})
        self.rows = sum(joint["d1"] - joint["d0"] for joint in self.joint_records[: len(self.edges)])

    @cached_property
    def _direction(self) -> dict[tuple[str, str], int]:
        return {part: i for i, part in enumerate(self.parts)}

    @cached_property
    def _of_coordinate(self) -> dict[int, int]:
        """Directions that are entries of q."""
        return {direction["k"]: i for i, direction in enumerate(self.directions) if direction["k"] >= 0}

    def _pair(self, joint: str) -> tuple[tuple[int, float], tuple[int, float]]:
        """The bodies of a joint, with the signs of a wrench on the second."""
        record = self.joint_records[self.joints[joint]]
        return (record["second"], 1.0), (record.get("first", 0), -1.0)

    # --- unknowns ---

    def _unknowns(self, rows: list[ExpressionRow], held: bool) -> list[Unknown]:
        closed = (*self.tree.cut, *self.tree.links)
        found = [self._cut(name) for name in closed if KINDS[self.model.joints[name].type].n_rows]
        found += [u for name, c in self.model.constraints.items() if (u := self._constraint(name, c))]
        apart = {name for name, c in self.model.constraints.items() if isinstance(c, Guidance) and c.marker}
        free = [name for name, start in self.model.degrees_of_freedom.items() if isinstance(start, SphericalStart)]
        found += [self._row(row) for row in rows if row.owner not in apart and row.owner not in free]
        if held:
            found += [self._turned(name) for name in free]
        column = 0
        for unknown in found:
            unknown.columns = slice(column, column + unknown.size)
            unknown.record["c0"] = column
            column += unknown.size
        return found

    def _new(self, unknown: Unknown, bodies: Iterable[tuple[int, float]]) -> Unknown:
        """An unknown with a column for each of its wrenches, all on the same bodies."""
        unknown.record["w0"] = self.wrenches
        unknown.acts = [(i, i, tuple(bodies)) for i in range(unknown.size)]
        self.wrenches += unknown.size
        return unknown

    def _cut(self, name: str) -> Unknown:
        joint = self.joint_records[self.joints[name]]
        size = 6 - joint["d1"] + joint["d0"]
        return self._new(Unknown(name, r.CUT, size, joint=self.joints[name]), self._pair(name))

    def _constraint(self, name: str, c) -> Unknown | None:
        if isinstance(c, Guidance):
            if not c.marker:
                return None
            body, p = self._point(c.marker)
            return self._new(Unknown(name, r.POINT, 3, body1=body, p1=p, body2=body, p2=p), [(body, 1.0)])
        for kinds, find, (one, of_one), (two, of_two) in (
            (BETWEEN_POINTS, self._point, ("p1", "body1"), ("p2", "body2")),
            (BETWEEN_VECTORS, self._vector, ("a", "of_a"), ("b", "of_b")),
        ):
            if type(c) in kinds:
                kind, size = kinds[type(c)]
                (first, a), (second, b) = map(find, c.between)
                fields = {one: a, of_one: first, two: b, of_two: second}
                return self._new(Unknown(name, kind, size, **fields), [(second, 1.0), (first, -1.0)])
        if isinstance(c, PointOnLine | PointInPlane):
            kind, size = (r.ACROSS_LINE, 2) if isinstance(c, PointOnLine) else (r.ALONG_VECTOR, 1)
            (first, p1), (second, p2) = map(self._point, c.between)
            of_a, a = self._vector(c.along if isinstance(c, PointOnLine) else c.normal)
            unknown = Unknown(name, kind, size, body1=first, p1=p1, body2=second, p2=p2, of_a=of_a, a=a)
            return self._new(unknown, [(second, 1.0), (first, -1.0)])
        return None

    def _row(self, row: ExpressionRow) -> Unknown:
        """The force along a measure; on a coordinate of a cut joint that which it would be in the tree, however measured."""
        fields = {"law": row.law, "rate": len(self.rates), "i0": len(self.terms)}
        self.rates.append(row)
        if row.owner in self.tree.cut and row.number >= self.system.m:
            direction = self._direction[row.owner, row.name.rpartition(".")[2]]
            unknown = Unknown(row.name, r.DIRECTIONS, 1, joint=self.joints[row.owner], dir=direction, **fields)
            self._new(unknown, self._pair(row.owner))
            self.terms += [self._term(i, scalar) for i, scalar in enumerate(row.scalars)]
        else:
            unknown = Unknown(row.name, r.MEASURE, 1, w0=self.wrenches, **fields)
            for i, scalar in enumerate(row.scalars):
                self.terms.append(self._acting(unknown, self._term(i, scalar)))
        unknown.record["i1"] = len(self.terms)
        return unknown

    def _term(self, i: int, scalar: int) -> dict:
        """A scalar of a measure of which only the rate counts."""
        return {"input": i, "scalar": scalar, "marker": -1, "dir": -1, "w": -1, "at": -1}

    def _acting(self, unknown: Unknown, term: dict) -> dict:
        """The same, with what a force along the measure does there."""
        marker, component = self.system.tables["scalars"][term["scalar"]]
        if marker >= 0:
            body, _, point = self.system.tables["markers"][marker]
            bodies: tuple = ((self.bodies[body], 1.0),)
            term |= {"marker": marker, "comp": component, "point": int(point)}
        elif component in self.angles:
            angle = self.angles[component]
            bodies = self._pair(angle.owner)
            term |= {"dir": self._direction[angle.owner, angle.part], "joint": self.joints[angle.owner]}
        else:
            d = self._of_coordinate.get(component)
            if d is not None:
                unknown.on_directions.setdefault(d, []).append(term)
            return term
        term["w"] = self.wrenches
        unknown.acts.append((self.wrenches - unknown.record["w0"], 0, bodies))
        self.wrenches += 1
        return term

    def _turned(self, name: str) -> Unknown:
        """Force and moment on a joint that starts with an orientation: all that it leaves free."""
        joint = self.joint_records[self.joints[name]]
        size = joint["d1"] - joint["d0"]
        unknown = Unknown(name, r.DIRECTIONS, size, joint=self.joints[name], dir=joint["d0"])
        return self._new(unknown, self._pair(name))

    # --- units ---

    def units(self, per_row: np.ndarray, length: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Units of the unknowns and of their wrenches, by which moments are forces times the length of the model; and 1 over
        those of the directions of the tree, rows of the balance.  `per_row`: 1 over the units of rows, or 0."""

        def of_direction(d: int) -> float:
            return 1.0 if self.directions[d]["type"] == SLIDE else length

        of_unknowns, of_wrenches = np.ones(self.width), np.ones(self.wrenches)
        for unknown in self.unknowns:
            if unknown.record["kind"] == r.DIRECTIONS:
                first = unknown.record["dir"]
                of_unknowns[unknown.columns] = [of_direction(first + i) for i in range(unknown.size)]
            elif unknown.record["kind"] == r.MEASURE:
                per = per_row[self.rates[unknown.rate].number]
                of_unknowns[unknown.columns] = length * per if per > 0.0 else 1.0
            for w, column, _ in unknown.acts:
                of_wrenches[unknown.record["w0"] + w] = of_unknowns[unknown.columns.start + column]
        return of_unknowns, of_wrenches, np.array([1.0 / of_direction(d) for d in range(self.rows)])

    # --- which directions of the tree a column meets ---

    @cached_property
    def _joint_of(self) -> list[dict]:
        """The joint that leads to each body; none to the ground."""
        return [{}, *(self.joint_records[self.joints[edge.joint]] for edge in self.tree.edges)]

    @cached_property
    def _parent(self) -> list[int]:
        return [0, *(self.bodies[edge.parent] for edge in self.tree.edges)]

    def _way(self, bodies: tuple[tuple[int, float], ...]) -> dict[int, float]:
        """Bodies at whose edges a wrench counts, with its sign: what acts on both ends of a way cancels before it."""
        ends = {}
        for body, sign in bodies:
            ends[body] = ends.get(body, 0.0) + sign
        way: dict[int, float] = {}
        # a body has a larger number than its parent, so that the largest of those left is never before another
        left = {body: sign for body, sign in ends.items() if body and sign}
        while left:
            body = max(left)
            sign = left.pop(body)
            if sign:
                way[body] = sign
                if self._parent[body]:
                    left[self._parent[body]] = left.get(self._parent[body], 0.0) + sign
        return way

    @cached_property
    def columns(self) -> list[list[int]]:
        """The directions of the tree that each unknown meets, in increasing order."""
        columns = []
        for unknown in self.unknowns:
            met: list[set[int]] = [set(unknown.on_directions) for _ in range(unknown.size)]
            for _, column, bodies in unknown.acts:
                for body in self._way(bodies):
                    met[column].update(range(self._joint_of[body]["d0"], self._joint_of[body]["d1"]))
            columns += [sorted(directions) for directions in met]
        return columns

    def made(self, wide: np.ndarray, markers: int) -> Topology:
        """The tables, for a balance of this pattern; the four markers of body 1 are those from number `markers` on."""
        at = PlaceIn(wide, self.columns)
        hits, members = [], []
        for unknown in self.unknowns:
            for w, column, bodies in unknown.acts:
                l = unknown.columns.start + column
                for body, sign in self._way(bodies).items():
                    if self._joint_of[body]["d1"] > self._joint_of[body]["d0"]:
                        place = at(l, self._joint_of[body]["d0"])
                        hits.append({"body": body, "w": unknown.record["w0"] + w, "at": place, "sign": sign})
                members += [
                    {"body": body, "w": unknown.record["w0"] + w, "column": l, "sign": sign}
                    for body, sign in bodies
                    if body
                ]
            for d, terms in unknown.on_directions.items():
                for term in terms:
                    term["at"] = at(unknown.columns.start, d)
        number = {u.name: i for i, u in reversed(list(enumerate(self.unknowns)))}
        elements = [
            {"body": self.edges[name]} if name in self.edges else {"unknown": number.get(name, -1)}
            for name in self.elements
        ]
        tables = {
            "body": self._body_records(markers),
            "joint": self.joint_records,
            "direction": self.directions,
            "unknown": [u.record for u in self.unknowns],
            "term": self.terms,
            "hit": hits,
            "member": members,
            "load": [
                {"marker": i, "body": self.bodies[body], "point": int(point)}
                for i, (body, _, point) in enumerate(self.system.tables["markers"])
                if body != GROUND
            ],
            "angle": [
                {"k": k, "dir": self._direction[angle.owner, angle.part], "joint": self.joints[angle.owner]}
                for k, angle in self.angles.items()
            ],
            "element": elements,
        }
        arrays = {name: records(r.RECORDS[name], rows, "f8") for name, rows in tables.items()}
        arrays["body"]["A"][0] = np.eye(3).ravel()
        return Topology(**arrays, wide=wide, gravity=self.numbers.gravity())

    def _body_records(self, markers: int) -> list[dict]:
        found = [{}]
        for i, edge in enumerate(self.tree.edges):
            J = self.masses.J[i]
            found.append(
                {
                    "mark": markers + 4 * i,
                    "parent": self.bodies[edge.parent],
                    "joint": self.joints[edge.joint],
                    "sign": -1.0 if edge.reversed else 1.0,
                    "m": self.masses.mass[i],
                    "J": [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]],
                }
            )
        return found


class PlaceIn:
    """Where the entry of a column of unknowns and a direction is, in an array of a pattern."""

    def __init__(self, wide: np.ndarray, columns: list[list[int]]):
        self.n, self.dense = int(wide[pattern.COLUMNS]), bool(wide[pattern.DENSE])
        self.first = np.cumsum([0, *(len(column) for column in columns)])
        self.local = None if self.dense else [{d: i for i, d in enumerate(column)} for column in columns]

    def __call__(self, column: int, direction: int) -> int:
        if self.dense:
            return column * self.n + direction
        return int(self.first[column]) + self.local[column][direction]
