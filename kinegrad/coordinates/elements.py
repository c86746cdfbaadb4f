"""Elements of a model as rows of tables: markers, scalars, springs, laws, constraint rows, freedoms, objectives.

This part of lowering is the same for every coordinate set; a set says which joint coordinates are entries of q
(`coordinate`).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.laws import Formula, LawTables, force_tapes, objective_tapes, row_tapes
from kinegrad.coordinates.system import Freedom, Row
from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.expressions import graph as algebra
from kinegrad.expressions.syntax import Expression
from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT, MEASURE
from kinegrad.laws import Law
from kinegrad.model import names
from kinegrad.model.bodies import FrameMarker, VectorMarker
from kinegrad.model.constraints import (
    Angle,
    Coincidence,
    Distance,
    Dot,
    FloatingStart,
    Guidance,
    Linear,
    SphericalStart,
)
from kinegrad.model.forces import Gravity, Spline, Spring, Torque
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
    """

    def __init__(self, model, parameters: Parameters, coordinate: Callable):
        self.model = model
        self.parameters = parameters
        self.slots = SlotBuilder(parameters)
        self.slots.scalars("zero", [self.slots.graph.constant(0.0)] * N_ZERO)
        self.coordinate = coordinate
        self.markers: dict[tuple, int] = {}
        self.marker_names: dict[str, int] = {}
        self.scalars: dict[tuple, int] = {}
        self.springs: list[tuple] = []
        self.rows: list[dict] = []
        self.implied: list[
            tuple[int, str]
        ] = []  # rows that follow from others by structure: the row before which, name
        self.facing: list[tuple[str, int, int, int]] = []  # joint, markers a, b, c: a × b = c where it closes
        self.row_laws: list[dict] = []
        self.row_names: list[str] = []
        self.laws: list[dict] = []
        self.objective_laws: list[dict] = []
        self.splines: list[tuple] = []
        self.times: list[float] = []
        self.tables = LawTables()
        self.freedoms: list[Freedom] = []
        self._dependent: list[tuple] = []

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
        """The marker ``body.marker``: a point, a vector, or the origin of a frame."""
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

    def vector(self, body: str, slot: int) -> int:
        """A marker that is a unit vector of a body, given by three slots."""
        return self._marker(body, slot, False)

    def axes(self, body: str) -> list[int]:
        """The three axes of a body's frame as markers."""
        return [
            self.vector(body, self.slots.scalars(f"axis {k}", list(map(self.slots.graph.constant, AXES[k]))))
            for k in range(3)
        ]

    def scalar(self, marker: int, component: int) -> int:
        """Component of a marker."""
        return self.scalars.setdefault((marker, component), len(self.scalars))

    def coordinate_scalar(self, k: int) -> int:
        """Entry k of q."""
        return self.scalars.setdefault((-1, k), len(self.scalars))

    # --- expressions ---

    def formula(self) -> Formula:
        return Formula(self._named)

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
        marker = self.marker(f"{reference.element}.{reference.part}")
        if reference.component is not None:
            return formula.scalar(self.scalar(marker, reference.component), reference.rate)
        return tuple(formula.scalar(self.scalar(marker, c), reference.rate) for c in range(3))

    def _coordinate(self, formula: Formula, reference: names.Reference):
        k = self.coordinate(reference.element, reference.part)
        if k is None:
            raise ExpressionError(
                f"names {reference.element}.{reference.part}, but joint {reference.element!r} is cut and has no "
                "coordinate in the tree; cut another joint of its loop."
            )
        return formula.scalar(self.coordinate_scalar(k), reference.rate)

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
        total = None
        for name, force in self.model.forces.items():
            if isinstance(force, Gravity):
                path = f"forces.{name}.acceleration"
                g = [self.slots.field(f"{path}.{c}", x) for c, x in zip("xyz", force.acceleration, strict=True)]
                total = g if total is None else [a + b for a, b in zip(total, g, strict=True)]
        return 0 if total is None else self.slots.scalars("gravity", total)

    def forces(self) -> None:
        """All forces but gravity."""
        for name, force in self.model.forces.items():
            path = f"forces.{name}"
            if isinstance(force, Gravity):
                continue
            if isinstance(force, Spring) and force.between:
                numbers = [
                    self.slots.number(f"{path}.{key}", getattr(force, key))
                    for key in ("stiffness", "damping", "natural_length")
                ]
                self.springs.append((self.marker(force.between[0]), self.marker(force.between[1]), *numbers))
            elif isinstance(force, Spline):
                self._add_law(name, *self._spline(path, force))
            elif getattr(force, "at", None):
                self._add_law(name, *(self._torque if isinstance(force, Torque) else self._force)(path, force))
            else:
                formula = self.formula()
                measure = self.measure(formula, force.acts_on)
                if isinstance(force, Spring):
                    value, stored = self._spring(formula, path, force, measure)
                else:
                    value, stored = self.value(formula, f"{path}.value", force.value, f"force {name!r}"), ()
                self._add_law(name, formula, self._on_measure(formula, measure, value), stored)

    def _spring(self, formula: Formula, path: str, force: Spring, measure) -> tuple:
        """The force of a spring on a measure; the energy it stores, and the power of its damper (LAW-8)."""
        k, c, m0 = (
            self.number(formula, f"{path}.{key}", getattr(force, key))
            for key in ("stiffness", "damping", "natural_value")
        )
        rate, pull = formula.rate(measure), k * (measure - m0)
        return -(pull + c * rate), (0.5 * pull * (measure - m0), -(c * rate * rate))

    def _add_law(self, name: str, formula: Formula, forces: dict, stored: tuple = ()) -> None:
        if any(u[2] in formula.moved_by(*forces.values()) for u in formula.scalars.values()):
            raise ModelError(
                Problem(
                    f"force {name!r} depends on an acceleration, which a force may not; use positions and velocities.",
                    f"forces.{name}",
                )
            )
        tapes, targets = force_tapes(formula, forces, stored)
        self.laws.append(self.tables.add(formula, tapes, targets))

    def _on_measure(self, formula: Formula, measure, value) -> dict:
        """Covectors -Q of a force `value` along a measure."""
        scalars = list(formula.scalars.items())
        partials = formula.graph.gradient(measure, [u[0] for _, u in scalars])
        zero = formula.graph.constant(0.0)
        return {k: -(p * value) for (k, _), p in zip(scalars, partials, strict=True) if p != zero}

    def _spline(self, path: str, force: Spline):
        formula = self.formula()
        measure = self.measure(formula, force.acts_on)
        times = np.array([self.parameters.evaluate(t) for t in force.times])
        if isinstance(force.values, str):
            labels = self.parameters.expand(force.values)
            fields = [self.slots.field(f"parameters.{label}", Expression.parse(label)) for label in labels]
        else:
            fields = [self.slots.field(f"{path}.values[{i}]", x) for i, x in enumerate(force.values)]
        slot = self.slots.linear(f"{path}.cubics", fields, natural_spline(times))
        formula.spline = len(self.splines)
        self.splines.append((len(self.times), len(self.times) + len(times), slot))
        self.times += times.tolist()
        return formula, self._on_measure(formula, measure, formula.w)

    def _components(self, formula: Formula, path: str, force, body: str) -> list:
        """The three components of a force or torque in global axes."""
        if isinstance(force.value, Law):
            value = formula.call(force.value, f"force {path.partition('.')[2]!r}", 3)
        else:
            value = [self.number(formula, f"{path}.value.{c}", x) for c, x in zip("xyz", force.value, strict=True)]
        if force.frame == "ground":
            return value
        axes = [[formula.scalar(self.scalar(m, c)) for c in range(3)] for m in self.axes(body)]
        return [sum((value[k] * axes[k][c] for k in range(1, 3)), value[0] * axes[0][c]) for c in range(3)]

    def _force(self, path: str, force):
        formula = self.formula()
        body = force.at.partition(".")[0]
        marker = self.marker(force.at)
        F = self._components(formula, path, force, body)
        scalars = [self.scalar(marker, c) for c in range(3)]
        for k in scalars:
            formula.scalar(k)
        return formula, {k: -x for k, x in zip(scalars, F, strict=True)}

    def _torque(self, path: str, force):
        """½ τ × e_k on the three axes of the frame (LAW-5)."""
        formula = self.formula()
        body = force.at.partition(".")[0]
        tau = self._components(formula, path, force, body)
        forces = {}
        for marker in self.axes(body):
            e = [formula.scalar(self.scalar(marker, c)) for c in range(3)]
            for c in range(3):
                i, j = (c + 1) % 3, (c + 2) % 3
                forces[self.scalar(marker, c)] = -0.5 * (tau[i] * e[j] - tau[j] * e[i])
        return formula, forces

    # --- rows ---

    def _row(self, name: str, kind: int, i=-1, j=-1, k=-1, *, comp: int = 0, n: int = -1, val: int = 0) -> None:
        operands = {"i": i, "j": j, "k": k, "comp": comp, "n": n, "val": val}
        self.rows.append({"type": kind, **operands, "row": len(self.row_names)})
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

    def distance(self, name: str, i: int, j: int, val: int) -> None:
        """One row |x_i - x_j|² = L²."""
        self._row(name, DISTANCE, -1, i, j, val=val)

    def norm(self, name: str, k: int) -> None:
        """One row p·p = 1 for the coordinates k to k + 3."""
        from kinegrad.kernels.records import NORM

        self._row(name, NORM, n=k)

    def expression_row(self, name: str, formula: Formula, Phi) -> None:
        """One row given by an expression in scalars and time."""
        self.row_laws.append(self.tables.add(formula, row_tapes(formula, Phi), row=len(self.row_names)))
        self.row_names.append(name)

    def constraints(self) -> None:
        """Rows of constraints and drivers."""
        for name, c in self.model.constraints.items():
            path = f"constraints.{name}"
            if isinstance(c, Coincidence):
                self.coincide(name, *map(self.marker, c.between))
            elif isinstance(c, Distance):
                self.distance(name, *map(self.marker, c.between), self.slots.number(f"{path}.distance", c.distance))
            elif isinstance(c, Dot):
                i, j = map(self.marker, c.between)
                self.perpendicular(name, i, j, val=self.slots.number(f"{path}.value", c.value))
            elif isinstance(c, Angle):
                i, j = map(self.marker, c.between)
                cosine = algebra.cos(self.slots.field(f"{path}.value", c.value))
                self.perpendicular(name, i, j, val=self.slots.add(f"cos {path}.value", cosine))
            elif isinstance(c, Linear):
                formula = self.formula()
                total = -self.number(formula, f"{path}.value", c.value)
                for measure, factor in c.terms.items():
                    term = self.number(formula, f"{path}.terms.{measure}", factor) * self.measure(formula, measure)
                    total = total + term
                self.expression_row(name, formula, total)
            elif isinstance(c, Guidance) and c.marker:
                for k, component in enumerate("xyz"):
                    self._guided(
                        f"{name}.{component}", f"{path}.value.{component}", f"{c.marker}.{component}", c.value[k]
                    )
            else:
                self._guided(name, f"{path}.value", c.measure, c.value)
        for name, driver in self.model.drivers.items():
            self._guided(name, f"drivers.{name}.value", driver.measure, driver.value)

    def _guided(self, name: str, path: str, measure: str, value) -> None:
        formula = self.formula()
        self.expression_row(name, formula, self.measure(formula, measure) - self.number(formula, path, value))

    # --- freedoms and objectives ---

    def start_freedoms(self, euler: Callable, slides: Callable, measured: Callable) -> None:
        """Rows that measure the degrees of freedom, after all constraint rows.

        Parameters
        ----------
        euler, slides : callables
            ``euler(joint)`` gives the first Euler parameter of a joint and +1 or -1 (conjugate); ``slides(joint)`` the
            three coordinates of its position.
        measured : callable
            ``measured(formula, joint, part)`` gives the Scalar of a coordinate of a cut joint, and whether it wraps.
        """
        for name, start in self.model.degrees_of_freedom.items():
            path = f"degrees_of_freedom.{name}"
            if isinstance(start, SphericalStart):
                self._joint_start(name, path, start, euler, slides)
                continue
            position = self.slots.number(f"{path}.position", start.position)
            velocity = self.slots.number(f"{path}.velocity", start.velocity)
            reference = names.resolve(self.model, name)
            row = len(self.row_names)
            wraps = False
            if reference.kind == "coordinate":
                k = self.coordinate(reference.element, reference.part)
                if k is None:
                    formula = self.formula()
                    value, wraps = measured(formula, reference.element, reference.part)
                    self.expression_row(name, formula, value)
                else:
                    self._row(name, MEASURE, n=self.coordinate_scalar(k))
            elif reference.kind == "marker":
                marker = self.marker(f"{reference.element}.{reference.part}")
                self._row(name, MEASURE, n=self.scalar(marker, reference.component))
            else:
                formula = self.formula()
                self.expression_row(name, formula, self.measure(formula, name))
            self.freedoms.append(Freedom(name, row, position, velocity, wraps))
        for entry in self._dependent:  # last, so that the independent ones are contiguous
            self._euler_freedom(*entry, independent=False)

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
            kind = self.model.joints[name].type
            raise ModelError(
                Problem(
                    f"joint {name!r} ({kind}) is cut, so its rotation is no coordinate, and degrees_of_freedom cannot give it; "
                    "cut another joint of its loop.",
                    path,
                )
            ) from None
        largest = int(np.argmax(np.abs(s.current(p))))
        for i in range(4):
            g = sign if i else 1.0
            position = s.add(f"{path} e{i}", g * p[i])
            velocity = s.add(f"{path} e{i} rate", g * pd[i])
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
                velocity = s.number(f"{path}.velocity.{c}", start.velocity[i])
                self.freedoms.append(Freedom(f"{name}.{c}", row, position, velocity))

    def _euler_freedom(self, name: str, scalar: int, position: int, velocity: int, independent: bool = True) -> None:
        row = len(self.row_names)
        self._row(name, MEASURE, n=scalar)
        self.freedoms.append(Freedom(name, row, position, velocity, independent=independent))

    def objectives(self) -> dict[str, str]:
        """Objectives by name, "integral" or "final"."""
        kinds = {}
        for row, (name, objective) in enumerate(self.model.objectives.items()):
            kinds[name] = "integral" if objective.integral is not None else "final"
            formula = self.formula()
            value = objective.integral if objective.integral is not None else objective.final
            try:
                g = self.value(formula, f"objectives.{name}", value, f"objective {name!r}")
            except ExpressionError as error:
                where = f"objectives.{name}"
                raise ModelError(Problem(f"objective {name!r} {error}", where)) from None
            self.objective_laws.append(self.tables.add(formula, objective_tapes(formula, g), row=row))
        return kinds


def natural_spline(times: np.ndarray) -> np.ndarray:
    """Matrix from ordinates to the cubic coefficients c0 c1 c2 c3 of each interval: a natural cubic spline (LAW-6)."""
    n = len(times)
    h = np.diff(times)
    A = np.eye(n)
    B = np.zeros((n, n))
    for i in range(1, n - 1):
        A[i, i - 1 : i + 2] = h[i - 1], 2.0 * (h[i - 1] + h[i]), h[i]
        B[i, i - 1 : i + 2] = 6.0 / h[i - 1], -6.0 / h[i - 1] - 6.0 / h[i], 6.0 / h[i]
    second = np.linalg.solve(A, B)
    C = np.zeros((4 * (n - 1), n))
    one = np.eye(n)
    for i in range(n - 1):
        C[4 * i] = one[i]
        C[4 * i + 1] = (one[i + 1] - one[i]) / h[i] - h[i] * (2.0 * second[i] + second[i + 1]) / 6.0
        C[4 * i + 2] = 0.5 * second[i]
        C[4 * i + 3] = (second[i + 1] - second[i]) / (6.0 * h[i])
    return C


def rows_of(names_: list[str], implied: list[tuple[int, str]], closures: int) -> tuple[Row, ...]:
    """Named rows with their numbers, of which the first `closures` belong to joints, and those that follow where they stand."""
    rows = [(k, 1, Row(name, k, k < closures)) for k, name in enumerate(names_)]
    rows += [(k, 0, Row(name, -1, True)) for k, name in implied]
    return tuple(row for *_, row in sorted(rows, key=lambda entry: entry[:2]))
