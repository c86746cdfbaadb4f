"""The joint coordinate set as a system has it: its tree, where its coordinates stand, and its arrays."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from weakref import WeakValueDictionary

import numpy as np

from kinegrad.coordinates.arrays import element_arrays, records
from kinegrad.coordinates.coordinate_set import CoordinateSet
from kinegrad.coordinates.joint.initial_guess import initial_guess
from kinegrad.coordinates.joint.spanning_tree import SpanningTree, spanning_tree
from kinegrad.coordinates.moved_slots import MovedSlots
from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.joint.records import CARRIED, GEOMETRY, INERTIA, MARKERS, SCREW, SLIDE, TURN, WEIGHT
from kinegrad.model.simulation import BODY_POINTS

LOWERED = "_in_joints"  # what a model notes of what it held when it was lowered
_known: WeakValueDictionary[int, System] = (
    WeakValueDictionary()
)  # by the number of the model, which the system keeps alive


@dataclass(frozen=True, eq=False)
class JointSet(CoordinateSet):
    """Relative coordinates of a spanning tree.

    Attributes
    ----------
    tree : SpanningTree
    body_point : "origin" or "com"
        The point at which the motion of each body is taken: the global origin, or its centre of mass, which keeps digits far
        from the origin and takes a little longer.
    index : dict (joint, part) -> number of the coordinate
    euler : dict joint -> number of its first Euler parameter, and -1.0 where the tree runs against it (conjugate)
    nodes, screws, masses : tuples of records
    place : dict body -> its node, and the slot of its reference point
    """

    tree: SpanningTree
    body_point: str
    index: dict[tuple[str, str], int]
    euler: dict[str, tuple[int, float]]
    nodes: tuple[dict, ...]
    screws: tuple[dict, ...]
    masses: tuple[dict, ...]
    place: dict[str, tuple[int, int]]

    kind = "joint"
    option_names = ("cut", "body_point")
    linked = ("stage", "links")

    @classmethod
    def lower(
        cls, model, values: Mapping | None = None, *, cut: Collection[str] = (), body_point: str = "origin"
    ) -> System:
        from kinegrad.coordinates.joint.lowering import Lowering
        from kinegrad.coordinates.joint.opened import with_opened

        if body_point not in BODY_POINTS:
            raise KinegradError(f"body_point is {body_point!r}; choose one of {', '.join(BODY_POINTS)}.")
        lowering = Lowering(model, spanning_tree(model, cut), values, body_point)
        system = lowering.system()
        if any(system.tables["again"]):
            system = with_opened(system, lowering)
        if values is None and not cut and body_point == BODY_POINTS[0]:
            _remember(model, system)
        return system

    @property
    def options(self) -> dict:
        return {"cut": self.tree.cut, "body_point": self.body_point}

    @cached_property
    def functions(self) -> tuple:
        from kinegrad.kernels.joint import com, functions

        return (com if self.body_point == "com" else functions).FUNCTIONS

    @property
    def layout(self):
        from kinegrad.kernels.joint.functions import LAYOUT

        return LAYOUT

    def link(self, which: int, arrays: dict) -> None:
        from kinegrad.kernels.joint.runs import link

        link(which, arrays)

    def guess(self, system: System, s: np.ndarray, close=None) -> np.ndarray:
        return initial_guess(system, s)

    def spanning_tree(self) -> SpanningTree:
        return self.tree

    def in_joints(self, system: System) -> System:
        return system.with_solver(DENSE)

    def joint_coordinate(self, joint: str, part: str) -> int | None:
        return self.index.get((joint, part))

    def remark(self, system: System, work) -> str:
        from kinegrad.coordinates.joint.far import remark

        return remark(system, work)

    def bodies(self, system: System, work) -> tuple[np.ndarray, ...]:
        place = [self.place[body] for body in system.model.bodies]
        tips, s = [tip for tip, _ in place], work["s"]
        A, r, V, a = (work["node"][name][tips] for name in ("A", "r", "V", "a"))
        A = A.reshape(-1, 3, 3)
        back = np.array([s[ref : ref + 3] for _, ref in place])
        return A, r - np.einsum("bij,bj->bi", A, back), V, a

    def from_bodies(self, system: System, work, A, r, V, a, near: np.ndarray) -> tuple[np.ndarray, ...]:
        from kinegrad.coordinates.joint.given_bodies import from_bodies

        return from_bodies(system, work, A, r, V, a, near)

    def arrays(self, system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool) -> dict:
        from kinegrad.kernels.joint.functions import PARTS
        from kinegrad.kernels.joint.records import CENTRED, CENTRED_SCREW, COORDINATE, MASS, NODE, NODE_DUAL
        from kinegrad.kernels.records import COLUMN, MARKER

        tables, sizes = system.tables, system.sizes
        n, p = sizes["n"], len(ds)
        nodes = self.nodes
        touch = self.touched(system, ds)
        ends = np.array(
            [len(nodes) if x[0] & WEIGHT else 1 + np.flatnonzero(x).max(initial=0) for x in touch], np.int64
        )
        want = self.wanted_nodes(system, wanted)
        markers, columns, moved, wants = [], [], MovedSlots(ds), wanted.tolist()
        used = len(tables["markers"])  # the first ones; what no element uses needs no columns
        for i, (body, loc, point) in enumerate(tables["every_marker" if every_marker else "markers"]):
            node, ref = self.place[body]
            first = len(columns)
            k = _last(nodes[node]) if i < used else -1
            while k >= 0:
                columns.append({"k": k})
                k = self.screws[k]["up"]
            middle = len(columns)
            if p and i < used:
                own = (touch[:, node] & CARRIED) != 0
                own[moved((loc, 3), (ref, 3 * point))] = True
                columns += [{"k": n + j} for j in np.flatnonzero(own).tolist()]
                touch[own, 0] |= MARKERS
                ends[own] = np.maximum(ends[own], node + 1)
            own = any(wants[loc : loc + 3]) or (point and any(wants[ref : ref + 3]))
            record = {"node": node, "loc": loc, "ref": ref, "point": int(point), "want": int(own)}
            markers.append(record | {"c0": first, "c1": middle, "c2": len(columns)})
        result = {
            "node": records(NODE, nodes, number),
            "node_dual": records(NODE_DUAL, [{}] * len(nodes), number),
            "coord": records(COORDINATE, [*self.screws, *[{"node": -1, "up": -1}] * (n - len(self.screws))], number),
            "mass": records(MASS, self.masses, number),
            "centred": records(CENTRED, [{}] * len(nodes), number),
            "centred_b": records(CENTRED_SCREW, [{}] * n, number),
            "mk": records(MARKER, markers, number),
            "col": records(COLUMN, columns, number),
            "links": np.zeros(len(PARTS), np.int64),
            "star": np.zeros(1, np.int64),
            "touch": touch,
            "ends": ends,
            "want": want,
            "zero": np.zeros(n, number),
            **element_arrays(system, number, n + p),
        }
        result["node"]["A"][0] = np.eye(3).ravel()
        return result

    def coupled(self, system: System) -> list[list[int]]:
        """The coordinates between each end of the tree and the ground."""
        inner = {screw["up"] for screw in self.screws}
        paths = []
        for k in range(len(self.screws)):
            if k not in inner:
                path = []
                while k >= 0:
                    path.append(k)
                    k = self.screws[k]["up"]
                paths.append(path)
        return paths

    def touched(self, system: System, ds: np.ndarray) -> np.ndarray:
        """What each direction touches at each node; entry 0 tells whether it touches anything of the tree, or gravity."""
        nodes = self.nodes
        touch, moved = np.zeros((len(ds), len(nodes)), np.int64), MovedSlots(ds)
        for i, node in enumerate(nodes[1:], 1):
            runs = [(node["off"], 3), (node["ref"], 3)]
            if node["rot"]:
                runs.append((node["rot"], 9))
            if node["type"] in (TURN, SLIDE, SCREW):
                runs += [(node["axis"], 3), (node["pitch"], 1)]
            sizes = (("m", 1), ("com", 3), ("ref", 3), ("J", 6))
            masses = self.masses[node["m0"] : node["m1"]]
            inertia = moved(*((mass[key], count) for mass in masses for key, count in sizes))
            if node["parent"]:
                touch[:, i] = touch[:, node["parent"]] & CARRIED
            for directions, what in ((moved(*runs), GEOMETRY), (inertia, INERTIA)):
                if directions:
                    touch[directions, i] |= what | (CARRIED if what == GEOMETRY else 0)
                    touch[directions, 0] |= what
        if system.sizes["gravity"]:
            touch[moved((system.sizes["gravity"], 3)), 0] |= WEIGHT
        return touch

    def wanted_nodes(self, system: System, wanted: np.ndarray) -> np.ndarray:
        """What a pullback of the wanted slots is asked for at each node; CARRIED where the node's wrenches are needed by
        itself or further down, by all for gravity."""
        want = self.touched(system, wanted[None, :])[0] & ~CARRIED
        gravity = system.sizes["gravity"]
        want[0] = CARRIED if gravity > 0 and wanted[gravity : gravity + 3].any() else 0
        for i, node in enumerate(self.nodes[1:], 1):
            below = want[node["parent"]] & CARRIED
            if want[i] & GEOMETRY or below:
                want[i] |= CARRIED
        return want


def _remember(model, system: System) -> None:
    """Note the system of a model with the options of the set as they are, for as long as somebody has it."""
    _known[id(model)] = system
    model._keep(LOWERED)


def remembered(model) -> System | None:
    """The system that was made of the model as it is, with the options as they are, if somebody still has it."""
    system = _known.get(id(model))
    return system if system is not None and system.model is model and model._is_as(LOWERED) else None


def _last(node: dict) -> int:
    return node["k"] + node["nk"] - 1 if node["nk"] else node["up"]
