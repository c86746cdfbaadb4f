"""Elements of a model as rows of tables: markers, scalars, springs, laws, constraint rows, objectives.

This part of lowering is the same for every coordinate set; a set says which joint coordinates are entries of q
(`coordinate`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence

from kinegrad.coordinates.constraint_forces import NotHere
from kinegrad.coordinates.constraints import LOWERINGS as CONSTRAINTS
from kinegrad.coordinates.coordinate_set import RADIAN, Coordinate
from kinegrad.coordinates.forces import LOWERINGS as FORCES
from kinegrad.coordinates.forces.gravity import acceleration
from kinegrad.coordinates.joints import KINDS as JOINTS
from kinegrad.coordinates.joints.base import Measured
from kinegrad.coordinates.laws import Formula, LawTables, objective_tapes, row_tapes, velocity_row_tapes
from kinegrad.coordinates.masses import whole_body
from kinegrad.coordinates.signals import add_signals, component, quantity
from kinegrad.coordinates.system import Freedom, Own
from kinegrad.coordinates.tables import TableSlots
from kinegrad.coordinates.tables import lower as lower_table
from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.expressions import graph as algebra
from kinegrad.expressions.syntax import Expression
from kinegrad.expressions.tape import Tape
from kinegrad.kernels.elements.kinds import KINDS
from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT, MEASURE, NORM, RECORDS, UNTOLD
from kinegrad.laws import Law
from kinegrad.model import names, units
from kinegrad.model.bodies import FrameMarker, VectorMarker
from kinegrad.model.constraints import SphericalStart
from kinegrad.model.parameters import Parameters
from kinegrad.model.signals import unit_of_name
from kinegrad.model.slots import SlotBuilder
from kinegrad.model.units import Unit

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
        self.angles: dict[tuple[str, str], int] = {}  # of joints that are not in the tree
        self._bound: list[tuple[int, str, Formula, object]] = []
        self.states: list[tuple[int, int]] = []
        self.again: list[bool] = []  # objectives with multipliers
        self.asks_reactions = False  # whether some of these are in reactions
        self.apart: Sequence[tuple] | None = None  # markers that are the coordinates of the system beside (OBJ-8)
        self.linear: list[int] = []  # the first slot of derivatives of an objective that is linear in these, else -1
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
        self.rigid = 0  # rows, the first ones, that keep bodies rigid
        self.of_velocities = False  # whether there are rows of velocities
        self.times: list[float] = []
        self.packed = LawTables()
        self.freedoms: list[Freedom] = []
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
        if (name, part) not in self.angles:
            k = self.angles[name, part] = self._new(Coordinate(name, part, RADIAN))
            formula = self.formula()
            angle = self.measured(formula, name, part)
            Phi = angle.value - formula.scalar(self.coordinate_scalar(k))
            Phi = algebra.wrap(Phi) if angle.wraps else Phi
            self._bound.append((k, f"{name}.{part} measured", formula, Phi))
        return self.angles[name, part]

    def bound_row(self, name: str, part: str) -> int | None:
        """The row, to be written behind all others, that binds a coordinate of a joint to markers, if there is one."""
        k = self.angles.get((name, part))
        return next((len(self.row_names) + i for i, own in enumerate(self._bound) if own[0] == k), None)

    def own_state(self, coordinate: Coordinate, inertia: int, start: int) -> int:
        """A new entry of q with inertia of its own: that and its rate at the start are slots (OWN-2)."""
        k = self._new(coordinate)
        self.add("own", coordinate.owner, {"k": k, "slot": inertia})
        self.own.append(Own(k, inertia=inertia))
        self.states.append((k, start))
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
            self.expression_row(name, formula, Phi, units.RADIAN)
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
            tape = Tape.build(switches, formula.inputs())
            count = len(switches) // (3 * len(formula.scalars) + 3)
            record = self.packed.add(formula, [tape], row=count, exact=None)
            self.add("kink", name, record)

    # --- rows ---

    def row(self, name: str, kind: int, i=-1, j=-1, k=-1, *, comp: int = 0, n: int = -1, val: int = 0) -> None:
        """One row of a kind, of markers i, j, k, a scalar or coordinate n, and the slot of a constant."""
        operands = {"i": i, "j": j, "k": k, "comp": comp, "n": n, "val": val}
        self.add("row", name, {"type": kind, **operands, "row": len(self.row_names)})
        self.row_names.append(name)

    def imply(self, *names_: str) -> None:
        """Rows that follow from those written so far by structure, and are only counted."""
        self.implied += [(len(self.row_names), name) for name in names_]

    def coincide(self, name: str, i: int, j: int) -> None:
        """Three rows x_i = x_j."""
        for c in range(3):
            self.row(f"{name}.{'xyz'[c]}", COINCIDENCE, i, j, comp=c)

    def perpendicular(self, name: str, a: int, i: int, j: int = -1, val: int = 0) -> None:
        """One row a·(x_i - x_j) = value."""
        self.row(name, DOT, a, i, j, val=val)

    def hold(self, name: str, coordinates: range) -> int:
        """The first of rows that hold entries of q at zero."""
        first = len(self.row_names)
        for k in coordinates:
            self.row(f"{name} {self.coordinates[k].part}", MEASURE, n=self.coordinate_scalar(k))
        return first

    def distance(self, name: str, i: int, j: int, val: int) -> None:
        """One row |x_i - x_j|² = L²."""
        self.row(name, DISTANCE, -1, i, j, val=val)

    def norm(self, name: str, k: int) -> None:
        """One row p·p = 1 for the coordinates k to k + 3."""
        self.row(name, NORM, n=k)

    def expression_row(self, name: str, formula: Formula, Phi, unit: Unit | None) -> None:
        """One row given by an expression in scalars and time, with its unit where that is known."""
        tapes = self.packed.tapes(row_tapes, formula, Phi)
        record = self.packed.add(formula, tapes, row=len(self.row_names), exact=2)
        self.add("row_law", name, record | {"level": 0, "metres": _metres(unit)})
        self.row_names.append(name)

    def velocity_row(self, name: str, formula: Formula, Phid, unit: Unit | None) -> None:
        """One row given by an expression that is linear in the rates of scalars, held at zero."""
        record = self.packed.add(formula, velocity_row_tapes(formula, Phid), row=len(self.row_names), exact=2)
        self.add("row_law", name, record | {"level": 1, "metres": _metres(unit)})
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
        Phi = self.measure(formula, measure) - self.number(formula, path, value)
        self.expression_row(name, formula, Phi, unit_of_name(self.model, measure))

    # --- objectives ---

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
            every = list(self.scalars)
            self.again.append(elsewhere or any(every[k][0] < 0 and every[k][1] < 0 for k in formula.scalars))
            self.linear.append(-1)
            if self.apart is not None and (self.again[-1] or name in self.not_here):
                self.not_here.pop(name, None)
                self.again[-1] = True
                formula, g = self._linear(name)
            self.add("objective", name, self.packed.add(formula, objective_tapes(formula, g), row=row))
            if not self.again[-1]:
                self.watch(name, formula, [g])
        return kinds

    def _linear(self, name: str) -> tuple[Formula, object]:
        """The objective as a linear one in the coordinates of the system beside and their rates: its derivatives by these are
        slots, which are filled where it is differentiated (OBJ-8)."""
        formula, numbers, n = self.formula(), self.beside_scalars(), len(self.apart)
        first = self.slots.scalars(f"{name} by coordinates beside", [self.slots.graph.constant(0.0)] * (2 * n))
        self.linear[-1] = first
        g = formula.graph.constant(0.0)
        for i, number in enumerate(numbers):
            for rate in range(2):
                g = g + formula.slot(first + n * rate + i) * formula.scalar(number, rate)
        return formula, g

    def beside_scalars(self) -> list[int]:
        """Numbers of the scalars that are the coordinates of the system beside."""
        numbers = []
        for what in self.apart:
            if isinstance(what, Coordinate):
                k = next((k for k, own in enumerate(self.coordinates) if own == what), None)
                numbers.append(self.coordinate_scalar(self.angle(what.owner, what.part) if k is None else k))
            else:
                body, slot, point, component = what
                numbers.append(self.scalar(self._marker(body, slot, point), component))
        return numbers


def _metres(unit: Unit | None) -> int:
    """The power of length in a unit."""
    return UNTOLD if unit is None or unit.m.denominator != 1 else int(unit.m)
