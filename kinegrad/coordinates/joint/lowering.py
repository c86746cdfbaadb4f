"""A model lowered to joint coordinates: a tree of nodes, its masses, closure rows and elements."""

from __future__ import annotations

from collections.abc import Mapping

from kinegrad.coordinates.coordinate_set import METRE, Coordinate
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.joint.joint_set import JointSet
from kinegrad.coordinates.joint.spanning_tree import GROUND, SpanningTree, TreeEdge
from kinegrad.coordinates.joints import KINDS
from kinegrad.coordinates.joints.base import Motion
from kinegrad.coordinates.joints.rows import frame_axis
from kinegrad.coordinates.lowered import lowered
from kinegrad.coordinates.masses import inertia
from kinegrad.coordinates.opened_joints import OPENED
from kinegrad.coordinates.system import System
from kinegrad.kernels.joint.records import EULER, RIGID, SLIDE, TURN
from kinegrad.model.parameters import Parameters

NODE_DEFAULTS = {"rot": 0, "axis": 0, "sgn": 1, "pitch": 0, "off": 0, "ref": 0, "m0": 0, "m1": 0}


class Lowering:
    """One model on its way to a System.

    Parameters
    ----------
    beside : Lowering, optional
        That of the same model, whose objectives use the reactions of joints: these are opened here (OBJ-6).
    """

    def __init__(
        self, model, tree: SpanningTree, values: Mapping | None, body_point: str, beside: Lowering | None = None
    ):
        self.model = model
        self.body_point = body_point
        self.tree = tree
        self.values = values
        self.nodes: list[dict] = [NODE_DEFAULTS | {"parent": -1, "type": RIGID, "k": 0, "nk": 0, "up": -1}]
        self.screws: list[dict] = []
        self.tip = {GROUND: 0}
        self.reference = {GROUND: 0}
        self.index: dict[tuple[str, str], int] = {}
        self.euler: dict[str, tuple[int, float]] = {}
        self.masses: list[dict] = []
        self.elements = Elements(
            model,
            Parameters(model.parameters) if beside is None else beside.elements.parameters,
            lambda j, c: self.index.get((j, c)),
            None if beside is None else beside.slots,
        )
        self.elements.can_open = {edge.joint for edge in tree.edges}
        self.first = beside is None
        self.to_open = {} if beside is None else beside.elements.to_open
        self.held: dict[str, tuple[int, float]] = {}  # opened joints: the first of six coordinates, sign
        self.slots, self.coordinates = self.elements.slots, self.elements.coordinates

    def system(self) -> System:
        e = self.elements
        for edge in self.tree.edges:
            self._edge(edge)
        for edge in self.tree.edges:
            self._masses(edge.child)
        self._sort_masses()
        for name, k in self.euler.items():
            e.norm(f"{name} norm", k[0])
        for name in (*self.tree.cut, *self.tree.links):
            e.close(name)
        for name, (k, sign) in self.held.items():
            e.opened[name] = e.hold(name, range(k, k + len(OPENED))), sign
        coordinates = JointSet(
            tree=self.tree, body_point=self.body_point, index=dict(self.index), euler=dict(self.euler), nodes=tuple(self.nodes),
            screws=tuple(self.screws), masses=tuple(self.masses),
            place={body: (self.tip[body], self.reference[body]) for body in self.tip},
        )  # fmt: skip
        return lowered(e, coordinates, self.values, self.euler.__getitem__, self._slides, idle=self.first)

    def opened(self) -> Lowering:
        """That of the same model, with the joints of `elements.to_open` opened."""
        return Lowering(self.model, self.tree, self.values, self.body_point, self)

    def joints_in_loops(self) -> list[str]:
        """Joints of the tree on the ways around which cut joints, links and constraints close loops."""
        constraints = self.model.constraints.values()
        ends = [self.model.joints[name].between for name in (*self.tree.cut, *self.tree.links)]
        ends += [constraint.between for constraint in constraints if hasattr(constraint, "between")]
        ends += [(GROUND, c.marker) for c in constraints if getattr(c, "marker", None)]
        pairs = [tuple(marker.partition(".")[0] for marker in pair) for pair in ends]
        return [name for name in self.tree.on_ways(pairs) if name in self.model.joints]

    # --- nodes ---

    def _edge(self, edge: TreeEdge) -> None:
        """Nodes of a joint: its sequence of motions, or the inverse sequence when the tree runs the other way."""
        parent, child = (edge.parent, edge.child)
        joint_, path, joint_kind = self.model.joints.get(edge.joint), f"joints.{edge.joint}", KINDS[edge.type]
        motions = joint_kind.motions(self.slots, path, joint_)
        before, after = joint_kind.frames(self.slots, path, joint_)
        ends = (0, 0)
        if joint_ is not None:  # a joint that ties a free chain to the ground has no markers
            ends = tuple(self.elements.position_slot(name)[1] for name in joint_.between)
        sign = 1
        if edge.reversed:
            motions, before, after, ends, sign = motions[::-1], after, before, ends[::-1], -1
        rot = self.slots.scalars(f"{edge.joint} frame before", before) if before else 0
        off, ref = ends[0], self.reference[parent]
        node = self.tip[parent]
        up = self._last_coordinate(node)
        place = {"off": off, "ref": ref}
        if edge.joint in self.to_open and not edge.reversed:
            node, up = self._open(edge, node, up, place)
            place = {}
        place["rot"] = rot
        for part, kind, axis, pitch in motions or [Motion("", RIGID)]:
            count, k = {RIGID: 0, EULER: 4}.get(kind, 1), len(self.screws)
            names = [f"{part}{i}" if kind == EULER else part for i in range(count)]
            record = {"type": kind, "axis": axis, "sgn": sign, "pitch": pitch} | place
            coordinates = [Coordinate(edge.joint, name, joint_kind.coordinates[name]) for name in names]
            node, up = self._node(node, up, record, coordinates)
            if kind == EULER:
                self.euler[edge.joint] = (k, float(sign))
            elif count:
                self.index[edge.joint, part] = k
            place = {}
        if after:
            back = [after[3 * j + i] for i in range(3) for j in range(3)]
            rot = self.slots.scalars(f"{edge.joint} frame after", back)
            node, up = self._node(node, up, {"type": RIGID, "rot": rot}, [])
        if edge.joint in self.to_open and edge.reversed:
            node, up = self._open(edge, node, up, {})
        self.tip[child] = node
        self.reference[child] = ends[1]

    def _node(self, parent: int, up: int, record: dict, coordinates: list[Coordinate]) -> tuple[int, int]:
        """A new node with its coordinates: its number, and that of the last coordinate up to it."""
        record = record | {"parent": parent, "k": len(self.screws), "nk": len(coordinates), "up": up}
        self.nodes.append(NODE_DEFAULTS | record)
        for coordinate in coordinates:
            self.screws.append({"node": len(self.nodes) - 1, "up": up})
            self.coordinates.append(coordinate)
            up = len(self.screws) - 1
        return len(self.nodes) - 1, up

    def _open(self, edge: TreeEdge, node: int, up: int, place: dict) -> tuple[int, int]:
        """Three slides and three turns at the first marker, along and about the axes of the first body (OBJ-6)."""
        self.held[edge.joint] = len(self.screws), -1.0 if edge.reversed else 1.0
        for i, (part, unit) in enumerate(OPENED.items()):
            kind = SLIDE if unit == METRE else TURN
            record = {"type": kind, "axis": frame_axis(self.slots, i % 3)} | place
            node, up = self._node(node, up, record, [Coordinate(edge.joint, part, unit)])
            place = {}
        return node, up

    def _last_coordinate(self, node: int) -> int:
        record = self.nodes[node]
        return record["k"] + record["nk"] - 1 if record["nk"] else record["up"]

    def _slides(self, name: str) -> list[int]:
        return [self.index[name, c] for c in "xyz"]

    # --- masses ---

    def _masses(self, body: str) -> None:
        b = self.model.bodies[body]
        path = f"bodies.{body}"
        m = self.slots.number(f"{path}.mass", b.mass)
        com = self.slots.vector(f"{path}.com", b.com)
        base = {"node": self.tip[body], "ref": self.reference[body]}
        J = self.slots.scalars(f"{path}.inertia tensor", inertia(self.slots, path, b.inertia))
        self.masses.append(base | {"m": m, "com": com, "J": J})
        for name, point in b.point_masses.items():
            at = f"{path}.point_masses.{name}"
            m = self.slots.number(f"{at}.mass", point.mass)
            self.masses.append(base | {"m": m, "com": self.slots.vector(f"{at}.at", point.at), "J": 0})

    def _sort_masses(self) -> None:
        """Masses in the order of their nodes, each node with its range."""
        self.masses.sort(key=lambda mass: mass["node"])
        for i, mass in enumerate(self.masses):
            node = self.nodes[mass["node"]]
            if node["m1"] == 0:
                node["m0"] = i
            node["m1"] = i + 1
