"""Elements of a model as rows of tables: markers, scalars, springs, laws, constraint rows, freedoms, objectives.

This part of lowering is the same for every coordinate set; a set says which joint coordinates are entries of q
(`coordinate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from operator import itemgetter

import numpy as np

from kinegrad.coordinates.constraint_forces import NotHere
from kinegrad.coordinates.constraints import LOWERINGS as CONSTRAINTS
from kinegrad.coordinates.coordinate_set import RADIAN, Coordinate, CoordinateSet
from kinegrad.coordinates.forces import LOWERINGS as FORCES
from kinegrad.coordinates.forces.gravity import acceleration
from kinegrad.coordinates.joints import KINDS as JOINTS
from kinegrad.coordinates.joints.base import Measured
from kinegrad.coordinates.laws import Formula, LawTables, objective_tapes, row_tapes, velocity_row_tapes
from kinegrad.coordinates.masses import whole_body
from kinegrad.coordinates.signals import add_signals, component, quantity
from kinegrad.coordinates.system import Freedom, Own, Row, System
from kinegrad.coordinates.tables import TableSlots
from kinegrad.coordinates.tables import lower as lower_table
from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.expressions import graph as algebra
from kinegrad.expressions.syntax import Expression
from kinegrad.expressions.tape import Tape
from kinegrad.kernels.elements.kinds import KINDS, empty_stages
from kinegrad.kernels.elements.layout import GRAVITY, N_COUNT
from kinegrad.kernels.jit import record
from kinegrad.kernels.records import COINCIDENCE, COLUMN, DISTANCE, DOT, MARKER, MEASURE, NORM, RECORDS, SCALAR
from kinegrad.laws import Law
from kinegrad.model import names
from kinegrad.model.bodies import FrameMarker, VectorMarker
from kinegrad.model.constraints import FloatingStart, SphericalStart
from kinegrad.model.parameters import Parameters
from kinegrad.model.slots import SlotBuilder

AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
N_ZERO = 9  # slots that hold zero, so that slot 0 stands for an absent vector, tensor or constant


class Elements:
    """Collects the tables of one model.

    Parameters
    ----------
    coordinate : callable
        ``coordinate(joint, part)`` gives the number of a coordinate of q, or None when it must be measured from markers.
    slots : SlotBuilder, optional
        One that has slots already, which are the same here.
    """

    def __init__(self, model, parameters: Parameters, coordinate: Callable, slots: SlotBuilder | None = None):
        self.model = model
        self.parameters = parameters
        self.slots = SlotBuilder(parameters) if slots is None else slots
        self.slots.scalars("zero", [self.slots.graph.constant(0.0)] * N_ZERO)
        self.coordinate = coordinate
        self.coordinates: list[Coordinate] = []  # those of the set, then those that elements own
        self.own: list[Own] = []
        self._angles: dict[tuple[str, str], int] = {}  # of joints that are not in the tree
        self._bound: list[tuple[int, str, Formula, object]] = []
        self._states: list[tuple[int, int]] = []
        self.again: list[bool] = []  # objectives with multipliers
        self.not_here: dict[str, str] = {}  # objectives that these coordinates cannot give, and why
        self.rows_of: dict[str, range] = {}  # by joint or constraint
        self.can_open: Collection[str] = ()  # joints without rows that can be opened (OBJ-6)
        self.opened: dict[
            str, tuple[int, float]
        ] = {}  # those that are: the first of six rows, sign of what these exert
        self.to_open: dict[str, None] = {}  # those whose reactions objectives use
        self.markers: dict[tuple, int] = {}
        self.marker_names: dict[str, int] = {}
        self.scalars: dict[tuple, int] = {}
        self.tables: dict[str, list[dict]] = {name: [] for kind in KINDS for name in kind.tables if name in RECORDS}
        self.owners: dict[str, list[str]] = {name: [] for name in self.tables}
        self.implied: list[
            tuple[int, str]
        ] = []  # rows that follow from others by structure: the row before which, name
        self.shared: dict[str, set[str]] = {}  # what joints hold by coordinates that their bodies share
        self.facing: list[tuple[str, int, int, int]] = []  # element, markers a, b, c: a × b = c where its rows hold
        self.either: list[tuple[str, int, int, int]] = []  # the same, where a × b = -c will do too
        self.divisors: dict[int, str] = {}  # slots that must not become zero, and what to say if one does
        self.starting: list[
            tuple[str, int, int, int]
        ] = []  # the same where a joint has the rotation that it starts with
        self.row_names: list[str] = []
        self.of_velocities = False  # whether there are rows of velocities
        self.times: list[float] = []
        self.packed = LawTables()
        self.freedoms: list[Freedom] = []
        self._dependent: list[tuple] = []
        self._tables: dict[str, TableSlots] = {}

    def add(self, table: str, owner: str, record: dict) -> int:
        """The number of a new row of a table of elements, which belongs to the element `owner` of the model."""
        self.tables[table].append(record)
        self.owners[table].append(owner)
        return len(self.tables[table]) - 1

    # --- markers and scalars ---

    def _marker(self, body: str, slot: int, point: bool) -> int:
        return self.markers.setdefault((body, slot, point), len(self.markers))

    def path(self, body: str) -> str:
        """Where the numbers of a body stand in the model."""
        return "ground" if body == names.GROUND else f"bodies.{body}"

    def position_slot(self, name: str) -> tuple[str, int]:
        """Body and first slot of the position of a point or frame marker ``body.marker``."""
        body, marker = names.find_marker(self.model, name)
        path = f"{self.path(body)}.markers.{name.partition('.')[2]}"
        if isinstance(marker, FrameMarker):
            return body, self.slots.vector(f"{path}.origin", marker.origin)
        return body, self.slots.vector(path, marker.position)

    def marker(self, name: str) -> int:
        """The marker ``body.marker``: a point, a vector, the origin of a frame; or ``body.com``, if no marker has that name."""
        body, _, own = name.partition(".")
        if own == names.COM and body in self.model.bodies and not names.has_marker(self.model, body, own):
            return self.point(body, self.masses(body)["com"])
        body, marker = names.find_marker(self.model, name)
        if isinstance(marker, VectorMarker):
            path = f"{self.path(body)}.markers.{name.partition('.')[2]}.vector"
            number = self._marker(body, self.slots.unit(path, marker.vector), False)
        else:
            number = self._marker(body, self.position_slot(name)[1], True)
        self.marker_names.setdefault(name, number)
        return number

    def name_every_marker(self) -> None:
        """Register all markers of the model, after those that elements use."""
        for body, element in {names.GROUND: self.model.ground, **self.model.bodies}.items():
            for name in element.markers:
                self.marker(f"{body}.{name}")

    def point(self, body: str, slot: int) -> int:
        """A marker that is a point of a body, given by three slots."""
        return self._marker(body, slot, True)

    def vector(self, body: str, slot: int) -> int:
        """A marker that is a unit vector of a body, given by three slots."""
        return self._marker(body, slot, False)

    def axes(self, body: str) -> list[int]:
        """The three axes of a body's frame as markers."""
        return [
            self.vector(body, self.slots.scalars(f"axis {k}", list(map(self.slots.graph.constant, AXES[k]))))
            for k in range(3)
        ]

    def frame(self, name: str) -> tuple[int, list[int]]:
        """The origin of the frame ``body.marker`` and its three axes, as markers."""
        body, marker = names.find_marker(self.model, name)
        path = f"{self.path(body)}.markers.{name.partition('.')[2]}"
        x = self.slots.unit_scalars(f"{path}.x_axis", marker.x_axis)
        z = self.slots.unit_scalars(f"{path}.z_axis", marker.z_axis)
        along = x[0] * z[0] + x[1] * z[1] + x[2] * z[2]
        z = [b - along * a for a, b in zip(x, z, strict=True)]
        size = algebra.sqrt(z[0] * z[0] + z[1] * z[1] + z[2] * z[2])
        z = [a / size for a in z]
        y = [z[i - 2] * x[i - 1] - z[i - 1] * x[i - 2] for i in range(3)]
        axes = (x, y, z)
        slots = [self.slots.scalars(f"{path} axis {c}", axis) for c, axis in zip("xyz", axes, strict=True)]
        return self.marker(name), [self.vector(body, slot) for slot in slots]

    def components(self, formula: Formula, marker: int, rate: int = 0) -> list:
        """The three Scalars of a marker, or of its velocity or acceleration."""
        return [formula.scalar(self.scalar(marker, c), rate) for c in range(3)]

    def masses(self, body: str) -> dict[str, int]:
        """Slots of the mass `m`, the centre `com` and the inertia `J` of a body with its point masses."""
        return whole_body(self.slots, self.path(body), self.model.bodies[body])

    def scalar(self, marker: int, component: int) -> int:
        """Component of a marker."""
        return self.scalars.setdefault((marker, component), len(self.scalars))

    def coordinate_scalar(self, k: int) -> int:
        """Entry k of q."""
        return self.scalars.setdefault((-1, k), len(self.scalars))

    def multiplier(self, formula: Formula, row: int):
        """The multiplier of a constraint row, for objectives."""
        return formula.scalar(self.scalars.setdefault((-1, -1 - row), len(self.scalars)))

    # --- expressions ---

    def formula(self) -> Formula:
        return Formula(self._named, self.table)

    def table(self, name: str) -> TableSlots:
        """The slots of a table of the model."""
        if name not in self._tables:
            self._tables[name] = lower_table(self, name)
        return self._tables[name]

    def _named(self, formula: Formula, name: str, index: int | None):
        """What a name in an expression stands for: scalars, slots, time, or the expression of a measure."""
        try:
            reference = names.resolve(self.model, name)
        except ModelError as error:
            raise ExpressionError(str(error)) from None
        if reference.kind == "time":
            return formula.t
        if reference.kind == "parameter":
            label = name if index is None else f"{name}[{index}]"
            return formula.slot(self.slots.number(f"parameters.{label}", Expression.parse(label)))
        if reference.kind == "measure":
            value = formula.parse(self.model.measures[reference.element])
            for _ in range(reference.rate):
                value = formula.rate(value)
            return value
        if reference.kind == "coordinate":
            return self._coordinate(formula, reference)
        if reference.kind == "signal":
            return quantity(self, formula, reference)
        marker = self.marker(f"{reference.element}.{reference.part}")
        if reference.component in (0, 1, 2):
            return formula.scalar(self.scalar(marker, reference.component), reference.rate)
        return component(tuple(self.components(formula, marker, reference.rate)), reference.component)

    def _coordinate(self, formula: Formula, reference: names.Reference):
        """A coordinate of a joint: an entry of q, or what markers tell; an angle that they tell becomes an entry of q."""
        name, part = reference.element, reference.part
        k = self.coordinate(name, part)
        if k is None:
            if not self._owned(name, part):
                value = self.measured(formula, name, part).value
                for _ in range(reference.rate):
                    value = formula.rate(value)
                return value
            k = self.angle(name, part)
        return formula.scalar(self.coordinate_scalar(k), reference.rate)

    # --- joints that are not in a tree, and coordinates of elements ---

    def close(self, name: str) -> None:
        """Write the rows that close a joint."""
        joint = self.model.joints[name]
        first = len(self.row_names)
        JOINTS[joint.type].close(self, name, joint)
        self.rows_of[name] = range(first, len(self.row_names))

    def measured(self, formula: Formula, name: str, part: str) -> Measured:
        """The Scalar of a coordinate of a joint, and whether it is an angle, known up to full turns."""
        joint = self.model.joints[name]
        return JOINTS[joint.type].measure(self, formula, name, joint, part)

    def _owned(self, name: str, part: str) -> bool:
        """Whether a coordinate that is none of the set has to become one."""
        return part in JOINTS[self.model.joints[name].type].own

    def angle(self, name: str, part: str) -> int:
        """The entry of q that is the angle of a joint with all its turns, bound to markers by a row (OWN-1)."""
        if (name, part) not in self._angles:
            k = self._angles[name, part] = self._new(Coordinate(name, part, RADIAN))
            formula = self.formula()
            angle = self.measured(formula, name, part)
            Phi = angle.value - formula.scalar(self.coordinate_scalar(k))
            Phi = algebra.wrap(Phi) if angle.wraps else Phi
            self._bound.append((k, f"{name}.{part} measured", formula, Phi))
        return self._angles[name, part]

    def own_state(self, coordinate: Coordinate, inertia: int, start: int) -> int:
        """A new entry of q with inertia of its own: that and its rate at the start are slots (OWN-2)."""
        k = self._new(coordinate)
        self.add("own", coordinate.owner, {"k": k, "slot": inertia})
        self.own.append(Own(k, inertia=inertia))
        self._states.append((k, start))
        return k

    def _new(self, coordinate: Coordinate) -> int:
        self.coordinates.append(coordinate)
        return len(self.coordinates) - 1

    def bind(self, signals: Collection[str] = ()) -> set[int]:
        """Write the rows of all angles that elements, degrees of freedom or signals use; their numbers."""
        for name, start in self.model.degrees_of_freedom.items():
            if not isinstance(start, SphericalStart):
                self._take_angles(name)
        add_signals(self, signals)  # last: what the system has without them stays where it is
        first = len(self.row_names)
        for k, name, formula, Phi in self._bound:
            self.own.append(Own(k, row=len(self.row_names)))
            self.expression_row(name, formula, Phi)
        return set(range(first, len(self.row_names)))

    def _take_angles(self, name: str) -> None:
        """Make entries of q of the angles that a degree of freedom is, or uses."""
        reference = names.resolve(self.model, name)
        if reference.kind != "coordinate":
            self.measure(self.formula(), name)
        elif self.coordinate(reference.element, reference.part) is None and self._owned(
            reference.element, reference.part
        ):
            self.angle(reference.element, reference.part)

    def number(self, formula: Formula, path: str, number):
        """The Scalar of a number of the model: a slot, or an expression with motion in it."""
        if isinstance(number, Expression):
            return formula.parse(number)
        return formula.slot(self.slots.number(path, number))

    def value(self, formula: Formula, path: str, value, owner: str):
        """The Scalar of a number, or of a law of functions, which belongs to `owner`."""
        return formula.call(value, owner, 1)[0] if isinstance(value, Law) else self.number(formula, path, value)

    def measure(self, formula: Formula, name: str):
        """The Scalar of a measure."""
        return formula.parse(Expression.parse(name))

    # --- forces ---

    def gravity(self) -> int:
        """First of three slots of the sum of all gravity elements; 0 without any."""
        return acceleration(self)

    def forces(self) -> None:
        """All forces but gravity."""
        for name, force in self.model.forces.items():
            FORCES[force.type](self, name, force)

    def watch(self, name: str, formula: Formula, outputs: list) -> None:
        """Have a run tell when it crosses a kink of these outputs, of the element `name`."""
        switches = formula.switches(*outputs)
        if switches and formula.called is None:
            record = self.packed.add(formula, [Tape.build(switches, formula.inputs())], row=len(switches), exact=None)
            self.add("kink", name, record)

    # --- rows ---

    def _row(self, name: str, kind: int, i=-1, j=-1, k=-1, *, comp: int = 0, n: int = -1, val: int = 0) -> None:
        operands = {"i": i, "j": j, "k": k, "comp": comp, "n": n, "val": val}
        self.add("row", name, {"type": kind, **operands, "row": len(self.row_names)})
        self.row_names.append(name)

    def imply(self, *names_: str) -> None:
        """Rows that follow from those written so far by structure, and are only counted."""
        self.implied += [(len(self.row_names), name) for name in names_]

    def coincide(self, name: str, i: int, j: int) -> None:
        """Three rows x_i = x_j."""
        for c in range(3):
            self._row(f"{name}.{'xyz'[c]}", COINCIDENCE, i, j, comp=c)

    def perpendicular(self, name: str, a: int, i: int, j: int = -1, val: int = 0) -> None:
        """One row a·(x_i - x_j) = value."""
        self._row(name, DOT, a, i, j, val=val)

    def hold(self, name: str, coordinates: range) -> int:
        """The first of rows that hold entries of q at zero."""
        first = len(self.row_names)
        for k in coordinates:
            self._row(f"{name} {self.coordinates[k].part}", MEASURE, n=self.coordinate_scalar(k))
        return first

    def distance(self, name: str, i: int, j: int, val: int) -> None:
        """One row |x_i - x_j|² = L²."""
        self._row(name, DISTANCE, -1, i, j, val=val)

    def norm(self, name: str, k: int) -> None:
        """One row p·p = 1 for the coordinates k to k + 3."""
        self._row(name, NORM, n=k)

    def expression_row(self, name: str, formula: Formula, Phi) -> None:
        """One row given by an expression in scalars and time."""
        tapes = self.packed.tapes(row_tapes, formula, Phi)
        record = self.packed.add(formula, tapes, row=len(self.row_names), exact=2)
        self.add("row_law", name, record | {"level": 0})
        self.row_names.append(name)

    def velocity_row(self, name: str, formula: Formula, Phid) -> None:
        """One row given by an expression that is linear in the rates of scalars, held at zero."""
        record = self.packed.add(formula, velocity_row_tapes(formula, Phid), row=len(self.row_names), exact=2)
        self.add("row_law", name, record | {"level": 1})
        self.of_velocities = True
        self.row_names.append(name)

    def constraints(self) -> None:
        """Rows of constraints and drivers."""
        for name, constraint in self.model.constraints.items():
            first = len(self.row_names)
            CONSTRAINTS[constraint.type](self, name, constraint)
            self.rows_of[name] = range(first, len(self.row_names))
        for name, driver in self.model.drivers.items():
            self.guide(name, f"drivers.{name}.value", driver.measure, driver.value)

    def guide(self, name: str, path: str, measure: str, value) -> None:
        """One row measure = value, which stands at `path` in the model."""
        formula = self.formula()
        self.expression_row(name, formula, self.measure(formula, measure) - self.number(formula, path, value))

    # --- freedoms and objectives ---

    def start_freedoms(self, euler: Callable, slides: Callable) -> None:
        """Rows that measure the degrees of freedom and the states of elements, after all constraint rows.

        Parameters
        ----------
        euler, slides : callables
            ``euler(joint)`` gives the first Euler parameter of a joint and +1 or -1 (conjugate); ``slides(joint)`` the
            three coordinates of its position; KeyError where these are no coordinates and markers tell them.
        """
        for name, start in self.model.degrees_of_freedom.items():
            path = f"degrees_of_freedom.{name}"
            if isinstance(start, SphericalStart):
                self._joint_start(name, path, start, euler, slides)
                continue
            position = self.slots.number(f"{path}.position", start.position)
            velocity = self._rate(start, "velocity", lambda: self.slots.number(f"{path}.velocity", start.velocity))  # noqa: B023
            reference = names.resolve(self.model, name)
            row = len(self.row_names)
            if reference.kind == "coordinate":
                part = reference.element, reference.part
                k = self._angles.get(part, self.coordinate(*part))
                if k is None:
                    formula = self.formula()
                    self.expression_row(name, formula, self.measured(formula, *part).value)
                else:
                    self._row(name, MEASURE, n=self.coordinate_scalar(k))
            elif reference.kind == "marker":
                marker = self.marker(f"{reference.element}.{reference.part}")
                self._row(name, MEASURE, n=self.scalar(marker, reference.component))
            else:
                formula = self.formula()
                self.expression_row(name, formula, self.measure(formula, name))
            self.freedoms.append(Freedom(name, row, position, velocity))
        for k, start in self._states:
            row = len(self.row_names)
            self._row(self.coordinates[k], MEASURE, n=self.coordinate_scalar(k))
            self.freedoms.append(Freedom(self.coordinates[k], row, 0, start, state=True))
        for entry in self._dependent:  # last, so that the independent ones are contiguous
            self._euler_freedom(*entry, independent=False)

    def _rate(self, start, key: str, slot: Callable[[], int]) -> int:
        """The slot of a rate at the start; -1 where none is given and rows of velocities let the start find it."""
        return -1 if self.of_velocities and key not in start.model_fields_set else slot()

    def _joint_start(self, name: str, path: str, start: SphericalStart, euler: Callable, slides: Callable) -> None:
        s = self.slots
        if start.rotation is not None:
            v = [s.field(f"{path}.rotation.{c}", x) for c, x in zip("xyz", start.rotation, strict=True)]
            size = algebra.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2] + 1e-60)  # away from 0/0 at no rotation
            ratio = algebra.sin(0.5 * size) / size
            p = [algebra.cos(0.5 * size), *(ratio * x for x in v)]
        else:
            e = [s.field(f"{path}.euler_parameters[{i}]", x) for i, x in enumerate(start.euler_parameters)]
            size = algebra.sqrt(e[0] * e[0] + e[1] * e[1] + e[2] * e[2] + e[3] * e[3])
            p = [x / size for x in e]
        o = [s.field(f"{path}.angular_velocity.{c}", x) for c, x in zip("xyz", start.angular_velocity, strict=True)]
        # pd = ½ E(p)ᵀ ω
        pd = [
            -0.5 * (p[1] * o[0] + p[2] * o[1] + p[3] * o[2]),
            0.5 * (p[0] * o[0] + p[3] * o[1] - p[2] * o[2]),
            0.5 * (-(p[3] * o[0]) + p[0] * o[1] + p[1] * o[2]),
            0.5 * (p[2] * o[0] - p[1] * o[1] + p[0] * o[2]),
        ]
        try:
            k, sign = euler(name)
        except KeyError:
            self._measured_start(name, path, start, p, o)
            return
        largest = int(np.argmax(np.abs(s.current(p))))
        for i in range(4):
            g = sign if i else 1.0
            position = s.add(f"{path} e{i}", g * p[i])
            velocity = self._rate(start, "angular_velocity", lambda: s.add(f"{path} e{i} rate", g * pd[i]))  # noqa: B023
            entry = (f"{name}.e{i}", self.coordinate_scalar(k + i), position, velocity)
            if i == largest:
                self._dependent.append(entry)
            else:
                self._euler_freedom(*entry)
        if isinstance(start, FloatingStart):
            for i, (c, j) in enumerate(zip("xyz", slides(name), strict=True)):
                row = len(self.row_names)
                self._row(f"{name}.{c}", MEASURE, n=self.coordinate_scalar(j))
                position = s.number(f"{path}.position.{c}", start.position[i])
                velocity = self._rate(start, "velocity", lambda: s.number(f"{path}.velocity.{c}", start.velocity[i]))  # noqa: B023
                self.freedoms.append(Freedom(f"{name}.{c}", row, position, velocity))

    def _measured_start(self, name: str, path: str, start: SphericalStart, p: list, o: list) -> None:
        """Rows of a joint whose rotation is no coordinate: axial(R0ᵀ A_aᵀ A_b), and its position along axes (RFP-11)."""
        s, joint = self.slots, self.model.joints[name]
        bodies = [marker.partition(".")[0] for marker in joint.between]
        R0 = rotation(p)
        u = [self.vector(bodies[0], s.scalars(f"{path} axis {c}", R0[c])) for c in range(3)]
        w = self.axes(bodies[1])
        self.starting += [(name, u[i], u[i - 2], w[i - 1]) for i in range(3)]
        for c in range(3):
            i, j = (c + 1) % 3, (c + 2) % 3
            formula, row = self.formula(), len(self.row_names)
            ui, uj, wi, wj = (
                [formula.scalar(self.scalar(marker, k)) for k in range(3)] for marker in (u[i], u[j], w[i], w[j])
            )
            twice = sum((uj[k] * wi[k] - ui[k] * wj[k] for k in range(1, 3)), uj[0] * wi[0] - ui[0] * wj[0])
            self.expression_row(f"{name}.rotation.{'xyz'[c]}", formula, 0.5 * twice)
            turn = R0[c][0] * o[0] + R0[c][1] * o[1] + R0[c][2] * o[2]
            velocity = self._rate(start, "angular_velocity", lambda: s.add(f"{path} turn {c}", turn))  # noqa: B023
            self.freedoms.append(Freedom(f"{name}.rotation.{'xyz'[c]}", row, 0, velocity))
        if isinstance(start, FloatingStart):
            for i, c in enumerate("xyz"):
                formula, row = self.formula(), len(self.row_names)
                self.expression_row(f"{name}.{c}", formula, self.measured(formula, name, c).value)
                position = s.number(f"{path}.position.{c}", start.position[i])
                velocity = self._rate(start, "velocity", lambda: s.number(f"{path}.velocity.{c}", start.velocity[i]))  # noqa: B023
                self.freedoms.append(Freedom(f"{name}.{c}", row, position, velocity))

    def _euler_freedom(self, name: str, scalar: int, position: int, velocity: int, independent: bool = True) -> None:
        row = len(self.row_names)
        self._row(name, MEASURE, n=scalar)
        self.freedoms.append(Freedom(name, row, position, velocity, independent=independent))

    def objectives(self) -> dict[str, str]:
        """Objectives by name, and what they are."""
        kinds = {}
        for row, (name, objective) in enumerate(self.model.objectives.items()):
            kinds[name] = objective.kind
            formula, known, self.to_open = self.formula(), self.to_open, {}
            try:
                g = self.value(formula, f"objectives.{name}", objective.expression, f"objective {name!r}")
            except NotHere as error:
                self.not_here[name] = f"objective {name!r} {error}"
                g = formula.graph.constant(math.nan)
            except ExpressionError as error:
                where = f"objectives.{name}"
                raise ModelError(Problem(f"objective {name!r} {error}", where)) from None
            elsewhere, self.to_open = bool(self.to_open), known | self.to_open
            if elsewhere:  # it is computed where the joints are opened
                formula = self.formula()
                g = formula.graph.constant(0.0)
            formula.forget_unused(g)
            self.add("objective", name, self.packed.add(formula, objective_tapes(formula, g), row=row))
            every = list(self.scalars)
            self.again.append(elsewhere or any(every[k][0] < 0 and every[k][1] < 0 for k in formula.scalars))
            if not self.again[-1]:
                self.watch(name, formula, [g])
        return kinds


def rotation(p: list) -> list[list]:
    """The three columns of the rotation matrix of unit Euler parameters, Scalars all."""
    e0, e1, e2, e3 = p
    return [
        [e0 * e0 + e1 * e1 - e2 * e2 - e3 * e3, 2.0 * (e1 * e2 + e0 * e3), 2.0 * (e1 * e3 - e0 * e2)],
        [2.0 * (e1 * e2 - e0 * e3), e0 * e0 - e1 * e1 + e2 * e2 - e3 * e3, 2.0 * (e2 * e3 + e0 * e1)],
        [2.0 * (e1 * e3 + e0 * e2), 2.0 * (e2 * e3 - e0 * e1), e0 * e0 - e1 * e1 - e2 * e2 + e3 * e3],
    ]


def lowered(
    elements: Elements, coordinates: CoordinateSet, values: Mapping | None, euler: Callable, slides: Callable
) -> System:
    """The system of a set that has its coordinates, and the rows of its own and of its joints, in `elements`.

    Parameters
    ----------
    values : mapping or None
        Values of independent parameters that replace those of the model.
    euler, slides : callables
        As `Elements.start_freedoms` takes them.
    """
    from kinegrad.coordinates.null_rows import without_null_rows

    e, gravity = elements, elements.gravity()
    closures = set(range(len(e.row_names)))
    e.constraints()
    e.forces()
    objectives = e.objectives()
    closures |= e.bind(e.model.watched)
    m = len(e.row_names)
    e.start_freedoms(euler, slides)
    used = tuple(e.markers)
    e.name_every_marker()
    tables = {
        "markers": used, "every_marker": tuple(e.markers), "scalars": tuple(e.scalars),
        "facing": tuple(e.facing), "either": tuple(e.either), "starting": tuple(e.starting), "divisors": e.divisors,
        "elements": {name: tuple(rows) for name, rows in e.tables.items()},
        "owners": {name: tuple(owners) for name, owners in e.owners.items()}, "times": tuple(e.times), "packed": e.packed,
        "tables": {slots.first: name for name, slots in e._tables.items()},
        "known": {}, "again": tuple(e.again), "not_here": e.not_here,
    }  # fmt: skip
    system = System(
        model=e.model, set=coordinates, tables=tables,
        sizes={"n": len(e.coordinates), "m": m, "gravity": gravity, "signals": len(e.model.watched)},
        parameters=e.parameters, slots=e.slots.build(), rho=e.parameters.values(values), coordinates=tuple(e.coordinates),
        rows=rows_of(e.row_names[:m], e.implied, closures), freedoms=tuple(e.freedoms), objectives=objectives,
        markers=dict(e.marker_names), own=tuple(e.own),
    )  # fmt: skip
    return without_null_rows(system)


def rows_of(names_: list[str], implied: list[tuple[int, str]], closures: Collection[int]) -> tuple[Row, ...]:
    """Named rows with their numbers, of which `closures` belong to joints, and those that follow where they stand."""
    rows = [(k, 1, Row(name, k, k in closures)) for k, name in enumerate(names_)]
    rows += [(k, 0, Row(name, -1, True)) for k, name in implied]
    return tuple(row for *_, row in sorted(rows, key=lambda entry: entry[:2]))


# --- arrays of a workspace ---


def records(fields, rows, number) -> np.ndarray:
    """An array of records, from dicts; what they do not give is zero."""
    out = np.zeros(len(rows), record(fields, number))
    alike: dict[tuple[str, ...], list[int]] = {}  # rows by what they give
    for i, keys in enumerate(map(tuple, rows)):
        alike.setdefault(keys, []).append(i)
    for keys, at in alike.items():
        chosen = rows if len(at) == len(rows) else [rows[i] for i in at]
        for key in keys:
            out[key][at if len(at) < len(rows) else slice(None)] = list(map(itemgetter(key), chosen))
    return out


def marker_arrays(
    names: Sequence[str], fields: Iterable[np.ndarray], columns: Sequence[int], axes: Sequence[int], number: str
) -> dict[str, np.ndarray]:
    """Markers, by the fields that are given, and the coordinates of their columns.

    `axes` tells along which global axis a column moves its marker with 1 at any position; 3 where it does not.
    """
    fields = list(fields)
    mk, col = np.zeros(len(fields[0]), record(MARKER, number)), np.zeros(len(columns), record(COLUMN, number))
    for name, values in zip(names, fields, strict=True):
        mk[name] = values
    col["k"], col["xq"] = columns, np.eye(4, 3)[axes] if len(axes) else 0.0
    return {"mk": mk, "col": col}


def element_arrays(system: System, number: str, columns: int) -> dict[str, np.ndarray]:
    """Tables and scratch of the elements, for `columns` coordinates and directions; markers and their columns are the set's."""
    tables, packed = system.tables, system.tables["packed"]
    count = np.zeros(N_COUNT, np.int64)
    count[GRAVITY] = system.sizes["gravity"]
    for kind in KINDS:
        if kind.count is not None:
            count[kind.count] = sum(row["row"] < system.m for row in tables["elements"][kind.table])
    rows = max(packed.inputs, *(kind.scratch for kind in KINDS if tables["elements"].get(kind.table)), 0)
    scalars = [
        {"marker": a, "comp": b} if a >= 0 else {"marker": -1, "k": max(b, 0), "lam": max(-b, 0)}
        for a, b in tables["scalars"]
    ]
    return {
        **{name: records(RECORDS[name], rows, number) for name, rows in tables["elements"].items()},
        "sc": records(SCALAR, scalars, number),
        "times": np.array(tables["times"], "f8"),
        "count": count,
        "stage": empty_stages(),
        "seen_signals": np.zeros(system.sizes.get("signals", 0), number),
        "multipliers": np.array([k for k, scalar in enumerate(scalars) if scalar.get("lam")], np.int64),
        "pos": np.full(columns, -1, np.int64),
        "idx": np.zeros(2 * columns, np.int64),
        "val": np.zeros(2 * columns, number),
        **{name: np.zeros((rows, columns), number) for name in ("U", "Ud", "Udd")},
        **packed.arrays(number),
    }
