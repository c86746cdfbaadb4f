"""The joint coordinate set: a model lowered to a tree of nodes, its masses, closure rows and elements."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from kinegrad.coordinates.closures import Closures, joint_frames
from kinegrad.coordinates.elements import Elements, element_arrays, records, rows_of
from kinegrad.coordinates.joint.initial_guess import initial_guess
from kinegrad.coordinates.joint.spanning_tree import GROUND, SpanningTree, TreeEdge, spanning_tree
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.joint.records import CARRIED, EULER, GEOMETRY, INERTIA, MARKERS, RIGID, SCREW, SLIDE, TURN
from kinegrad.model.bodies import AxisInertia
from kinegrad.model.parameters import Parameters
from kinegrad.model.simulation import BODY_POINTS
from kinegrad.quiet import without_warnings

NODE_DEFAULTS = {"rot": 0, "axis": 0, "sgn": 1, "pitch": 0, "off": 0, "ref": 0, "m0": 0, "m1": 0}


@without_warnings
def joint(model, *, cut: Collection[str] = (), values: Mapping | None = None, body_point: str | None = None) -> System:
    """`model` in joint coordinates of a spanning tree.

    Parameters
    ----------
    cut : names of joints to cut, before the rule chooses
    values : mapping, optional
        Values of independent parameters that replace those of the model.
    body_point : "origin" or "com", optional
        The point at which the motion of each body is taken: the global origin, or its centre of mass, which keeps digits
        far from the origin and takes a little longer.  The model's simulation section says which by default.
    """
    model.check()
    body_point = model.simulation.body_point if body_point is None else body_point
    if body_point not in BODY_POINTS:
        raise KinegradError(f"body_point is {body_point!r}; choose one of {', '.join(BODY_POINTS)}.")
    return Lowering(model, spanning_tree(model, cut), values, body_point).system()


class Lowering:
    """One model on its way to a System."""

    def __init__(self, model, tree: SpanningTree, values: Mapping | None, body_point: str):
        self.model = model
        self.body_point = body_point
        self.tree = tree
        self.parameters = Parameters(model.parameters)
        self.rho = self.parameters.values(values)
        self.nodes: list[dict] = [NODE_DEFAULTS | {"parent": -1, "type": RIGID, "k": 0, "nk": 0, "up": -1}]
        self.coordinates: list[dict] = []
        self.names: list[str] = []
        self.tip = {GROUND: 0}
        self.reference = {GROUND: 0}
        self.index: dict[tuple[str, str], int] = {}
        self.euler: dict[str, tuple[int, float]] = {}
        self.masses: list[dict] = []
        self.elements = Elements(
            model,
            self.parameters,
            lambda body: (self.tip[body], self.reference[body]),
            lambda j, c: self.index.get((j, c)),
        )
        self.slots = self.elements.slots

    def system(self) -> System:
        from kinegrad.kernels.joint import com, functions, runs

        e = self.elements
        for edge in self.tree.edges:
            self._edge(edge)
        for edge in self.tree.edges:
            self._masses(edge.child)
        self._sort_masses()
        gravity = e.gravity()
        closures = Closures(self.model, e)
        for name, k in self.euler.items():
            e.norm(f"{name} norm", k[0])
        for name in (*self.tree.cut, *self.tree.links):
            closures.close(name)
        n_closures = len(e.row_names)
        e.constraints()
        m = len(e.row_names)
        e.forces()
        e.start_freedoms(self.euler.__getitem__, self._slides, closures.measured)
        objectives = e.objectives()
        used = tuple(e.markers)
        e.name_every_marker()
        slots = e.slots.build()
        tables = {
            "nodes": tuple(self.nodes), "coordinates": tuple(self.coordinates), "masses": tuple(self.masses),
            "markers": used, "every_marker": tuple(e.markers), "scalars": tuple(e.scalars), "facing": tuple(e.facing),
            "elements": {name: tuple(rows) for name, rows in e.tables.items()},
            "owners": {name: tuple(owners) for name, owners in e.owners.items()}, "times": tuple(e.times), "packed": e.packed,
            "place": {body: (self.tip[body], self.reference[body]) for body in self.tip}, "known": {},
        }  # fmt: skip
        sizes = {"n": len(self.coordinates), "m": m, "gravity": gravity}
        system = System(
            model=self.model, kind="joint", functions=(com if self.body_point == "com" else functions).FUNCTIONS,
            layout=functions.LAYOUT, tables=tables, sizes=sizes, body_point=self.body_point,
            parameters=self.parameters, slots=slots, rho=self.rho, coordinates=tuple(self.names),
            rows=rows_of(e.row_names[:m], e.implied, n_closures), freedoms=tuple(e.freedoms), objectives=objectives,
            markers=dict(e.marker_names), arrays=arrays, guess=initial_guess, link=runs.link, cut=self.tree.cut, tree=self.tree,
            index=dict(self.index), euler=dict(self.euler), bodies=body_motion,
        )  # fmt: skip
        from kinegrad.coordinates.null_rows import without_null_rows

        return without_null_rows(system)

    # --- nodes ---

    def _edge(self, edge: TreeEdge) -> None:
        """Nodes of a joint: its sequence of motions, or the inverse sequence when the tree runs the other way."""
        parent, child = (edge.parent, edge.child)
        if edge.joint in self.tree.free:
            motions, before, after, ends = _free(self, edge.joint, None), None, None, (0, 0)
        else:
            joint_ = self.model.joints[edge.joint]
            motions = MOTIONS[joint_.type](self, edge.joint, joint_)
            before, after = joint_frames(self.slots, f"joints.{edge.joint}", joint_)
            ends = tuple(self.elements.position_slot(name)[1] for name in joint_.between)
        sign = 1
        if edge.reversed:
            motions, before, after, ends, sign = motions[::-1], after, before, ends[::-1], -1
        rot = self.slots.scalars(f"{edge.joint} frame before", before) if before else 0
        off, ref = ends[0], self.reference[parent]
        node = self.tip[parent]
        up = self._last_coordinate(node)
        first = True
        for part, kind, axis in motions or [("", RIGID, 0)]:
            count = {RIGID: 0, EULER: 4}.get(kind, 1)
            k = len(self.coordinates)
            record = {"parent": node, "type": kind, "k": k, "nk": count, "up": up, "axis": axis, "sgn": sign}
            if first:
                record |= {"off": off, "ref": ref, "rot": rot}
            if kind == SCREW:
                record["pitch"] = self.slots.number(f"joints.{edge.joint}.pitch", joint_.pitch)
            self.nodes.append(NODE_DEFAULTS | record)
            node = len(self.nodes) - 1
            for i in range(count):
                self.coordinates.append({"node": node, "up": up})
                up = len(self.coordinates) - 1
                self.names.append(f"{edge.joint}.{part}{i if kind == EULER else ''}")
            if kind == EULER:
                self.euler[edge.joint] = (k, float(sign))
            elif count:
                self.index[edge.joint, part] = k
            first = False
        if after:
            back = [after[3 * j + i] for i in range(3) for j in range(3)]
            rot = self.slots.scalars(f"{edge.joint} frame after", back)
            record = {"parent": node, "type": RIGID, "k": len(self.coordinates), "nk": 0, "up": up, "rot": rot}
            self.nodes.append(NODE_DEFAULTS | record)
            node = len(self.nodes) - 1
        self.tip[child] = node
        self.reference[child] = ends[1]

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
        self.masses.append(base | {"m": m, "com": com, "J": self._inertia(path, b.inertia)})
        for name, point in b.point_masses.items():
            at = f"{path}.point_masses.{name}"
            m = self.slots.number(f"{at}.mass", point.mass)
            self.masses.append(base | {"m": m, "com": self.slots.vector(f"{at}.at", point.at), "J": 0})

    def _inertia(self, path: str, inertia) -> int:
        """First of six slots xx yy zz xy xz yz."""
        s = self.slots
        path = f"{path}.inertia"
        if isinstance(inertia, AxisInertia):
            u = s.unit_scalars(f"{path}.axis", inertia.axis)
            along, across = s.field(f"{path}.along", inertia.along), s.field(f"{path}.across", inertia.across)
            pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
            tensor = [(along - across) * (u[i] * u[j]) + (across if i == j else 0.0) for i, j in pairs]
        else:
            labels = ("xx", "yy", "zz", "xy", "xz", "yz")
            tensor = [s.field(f"{path}.{c}", x) for c, x in zip(labels, inertia, strict=False)]
            tensor += [s.graph.constant(0.0)] * (6 - len(tensor))
        return s.scalars(f"{path} tensor", tensor)

    def _sort_masses(self) -> None:
        """Masses in the order of their nodes, each node with its range."""
        self.masses.sort(key=lambda mass: mass["node"])
        for i, mass in enumerate(self.masses):
            node = self.nodes[mass["node"]]
            if node["m1"] == 0:
                node["m0"] = i
            node["m1"] = i + 1


# --- the motions of each joint: (coordinate, kind of node, first slot of its axis) ---


def _frame_axis(lowering: Lowering, k: int) -> int:
    """Slots of axis k of a joint frame."""
    return lowering.slots.scalars(f"axis {k}", [lowering.slots.graph.constant(float(i == k)) for i in range(3)])


def _axis(lowering: Lowering, name: str, joint_) -> int:
    """The axis of a joint: z of its frames, or the given direction when it is the same in both bodies."""
    from kinegrad.model.joints import is_pair

    if is_pair(joint_.axis):
        return _frame_axis(lowering, 2)
    return lowering.slots.unit(f"joints.{name}.axis", joint_.axis)


def _revolute(lowering, name, joint_):
    return [("angle", TURN, _axis(lowering, name, joint_))]


def _prismatic(lowering, name, joint_):
    return [("distance", SLIDE, _axis(lowering, name, joint_))]


def _cylindrical(lowering, name, joint_):
    axis = _axis(lowering, name, joint_)
    return [("distance", SLIDE, axis), ("angle", TURN, axis)]


def _screw(lowering, name, joint_):
    return [("angle", SCREW, _axis(lowering, name, joint_))]


def _cardan(lowering, name, joint_):
    first, second = (lowering.slots.unit(f"joints.{name}.axes[{i}]", joint_.axes[i]) for i in range(2))
    return [("angle1", TURN, first), ("angle2", TURN, second)]


def _spherical(lowering, name, joint_):
    return [("e", EULER, 0)]


def _planar(lowering, name, joint_):
    x, y, z = (_frame_axis(lowering, k) for k in range(3))
    return [("x", SLIDE, x), ("y", SLIDE, y), ("angle", TURN, z)]


def _free(lowering, name, joint_):
    return [(c, SLIDE, _frame_axis(lowering, k)) for k, c in enumerate("xyz")] + [("e", EULER, 0)]


def _fixed(lowering, name, joint_):
    return []


MOTIONS = {
    "revolute": _revolute, "prismatic": _prismatic, "cylindrical": _cylindrical, "screw": _screw, "cardan": _cardan,
    "spherical": _spherical, "planar": _planar, "floating": _free, "fixed": _fixed,
}  # fmt: skip


# --- arrays of a workspace ---


def arrays(
    system: System, ds: np.ndarray, wanted: np.ndarray, number: str, every_marker: bool
) -> dict[str, np.ndarray]:
    """Tables and scratch of a workspace, with columns of the markers for the directions ds; `wanted`: slots of a pullback."""
    from kinegrad.kernels.joint.functions import PARTS
    from kinegrad.kernels.joint.records import CENTRED, CENTRED_SCREW, COORDINATE, MASS, NODE
    from kinegrad.kernels.records import COLUMN, MARKER

    tables, sizes = system.tables, system.sizes
    n, p = sizes["n"], len(ds)
    nodes = tables["nodes"]
    touch = touched(system, ds)
    want = wanted_nodes(system, wanted)
    markers, columns = [], []
    used = len(tables["markers"])  # the first ones; what no element uses needs no columns
    for i, (body, loc, point) in enumerate(tables["every_marker" if every_marker else "markers"]):
        node, ref = tables["place"][body]
        first = len(columns)
        k = _last(nodes[node]) if i < used else -1
        while k >= 0:
            columns.append({"k": k})
            k = tables["coordinates"][k]["up"]
        middle = len(columns)
        for j in range(p if i < used else 0):
            own = ds[j, loc : loc + 3].any() or (point and ds[j, ref : ref + 3].any())
            if own or touch[j, node] & CARRIED:
                columns.append({"k": n + j})
                touch[j, 0] |= MARKERS
        own = wanted[loc : loc + 3].any() or (point and wanted[ref : ref + 3].any())
        record = {"node": node, "loc": loc, "ref": ref, "point": int(point), "want": int(own)}
        markers.append(record | {"c0": first, "c1": middle, "c2": len(columns)})
    result = {
        "node": records(NODE, nodes, number),
        "coord": records(COORDINATE, tables["coordinates"], number),
        "mass": records(MASS, tables["masses"], number),
        "centred": records(CENTRED, [{}] * len(nodes), number),
        "centred_b": records(CENTRED_SCREW, [{}] * n, number),
        "mk": records(MARKER, markers, number),
        "col": records(COLUMN, columns, number),
        "links": np.zeros(len(PARTS), np.int64),
        "star": np.zeros(1, np.int64),
        "touch": touch,
        "want": want,
        "zero": np.zeros(n, number),
        **element_arrays(system, number, n + p),
    }
    result["node"]["A"][0] = np.eye(3).ravel()
    return result


def body_motion(system: System, work) -> tuple[np.ndarray, ...]:
    """A (b, 3, 3), r (b, 3), V (b, 6), a (b, 6) of the bodies, from the nodes that carry them."""
    place = [system.tables["place"][body] for body in system.model.bodies]
    tips, s = [tip for tip, _ in place], work["s"]
    A, r, V, a = (work["node"][name][tips] for name in ("A", "r", "V", "a"))
    A = A.reshape(-1, 3, 3)
    back = np.array([s[ref : ref + 3] for _, ref in place])
    return A, r - np.einsum("bij,bj->bi", A, back), V, a


def _last(node: dict) -> int:
    return node["k"] + node["nk"] - 1 if node["nk"] else node["up"]


def touched(system: System, ds: np.ndarray) -> np.ndarray:
    """What each direction touches at each node; entry 0 tells whether it touches anything of the tree."""
    nodes = system.tables["nodes"]
    touch = np.zeros((len(ds), len(nodes)), np.int64)

    def moved(slot: int, count: int) -> np.ndarray:
        return ds[:, slot : slot + count].any(axis=1)

    for i, node in enumerate(nodes[1:], 1):
        geometry = moved(node["off"], 3) | moved(node["ref"], 3)
        if node["rot"]:
            geometry |= moved(node["rot"], 9)
        if node["type"] in (TURN, SLIDE, SCREW):
            geometry |= moved(node["axis"], 3) | moved(node["pitch"], 1)
        inertia = np.zeros(len(ds), bool)
        for mass in system.tables["masses"][node["m0"] : node["m1"]]:
            for key, count in (("m", 1), ("com", 3), ("ref", 3), ("J", 6)):
                inertia |= moved(mass[key], count)
        carried = geometry | ((touch[:, node["parent"]] & CARRIED) != 0 if node["parent"] else False)
        touch[:, i] = GEOMETRY * geometry + INERTIA * inertia + CARRIED * carried
        touch[:, 0] |= GEOMETRY * geometry + INERTIA * inertia
    touch[:, 0] |= INERTIA * moved(system.sizes["gravity"], 3)
    return touch


def wanted_nodes(system: System, wanted: np.ndarray) -> np.ndarray:
    """What a pullback of the wanted slots is asked for at each node; CARRIED where the node's wrenches are needed by itself or
    further down, by all for gravity."""
    want = touched(system, wanted[None, :])[0] & ~CARRIED
    gravity = system.sizes["gravity"]
    want[0] = CARRIED if gravity > 0 and wanted[gravity : gravity + 3].any() else 0
    for i, node in enumerate(system.tables["nodes"][1:], 1):
        below = want[node["parent"]] & CARRIED
        if want[i] & GEOMETRY or below:
            want[i] |= CARRIED
    return want
