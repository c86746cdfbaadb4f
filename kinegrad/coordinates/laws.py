"""Expressions of the model as tapes over scalars: force laws, rows and objectives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from kinegrad.errors import ExpressionError
from kinegrad.expressions import graph as algebra
from kinegrad.expressions.graph import Graph, Scalar, scalarise
from kinegrad.expressions.syntax import Expression
from kinegrad.expressions.tape import Tape
from kinegrad.laws import Law

ARGUMENTS = 3  # number of the tape of the arguments of a law
ROUNDING = 1e-12  # of its largest knot: so near to a knot the argument of a table is on neither side


class Formula:
    """One expression element while it is built: a graph, the scalars it reads and the slots it uses.

    Inputs of the graph are u, ud, udd of each scalar, t, w (the value of a spline) and slots.

    Parameters
    ----------
    names : callable
        ``names(formula, name, index)`` gives the Scalar, or the three Scalars, that a name of the model stands for.
    tables : callable
        ``tables(name)`` gives the slots of a table of the model.
    """

    def __init__(self, names: Callable, tables: Callable):
        self.graph = Graph()
        self.t = self.graph.input("t")
        self.w = self.graph.input("w")
        self._names, self._tables = names, tables
        self.scalars: dict[int, tuple[Scalar, Scalar, Scalar]] = {}
        self.slots: dict[int, Scalar] = {}
        self.places: dict[Scalar, Scalar] = {}  # coefficients of tables, and which slots they are
        self._kinked: dict[Scalar, Scalar] = {}  # pieces of tables whose slope jumps, and their numbers, 0 at a knot
        self.jumps: list[Scalar] = []  # numbers that change sign where what is computed jumps
        self._rates: dict[Scalar, Scalar] = {}
        self.spline = -1
        self.called: Called | None = None

    def scalar(self, index: int, rate: int = 0) -> Scalar:
        """u, ud or udd of a scalar of the system."""
        if index not in self.scalars:
            u = tuple(self.graph.input(f"{letter}{index}") for letter in ("u", "ud", "udd"))
            self.scalars[index] = u
            self._rates |= {u[0]: u[1], u[1]: u[2]}
        return self.scalars[index][rate]

    def slot(self, index: int) -> Scalar:
        """A number of the model."""
        return self.slots.setdefault(index, self.graph.input(f"s{index}"))

    def value_of_spline(self, index: int, pieces: Callable) -> Scalar:
        """The value of a spline: w, for which there is room once, or a polynomial of its `pieces` (LAW-12)."""
        if self.spline not in (-1, index):
            return self.polynomial(self.t, pieces())
        self.spline = index
        return self.w

    def parse(self, number: float | Expression):
        """The Scalar (or three) of an expression."""
        if not isinstance(number, Expression):
            return self.graph.constant(number)
        return scalarise(number, self.graph, lambda name, index: self._names(self, name, index), self.table)

    def table(self, x: Scalar, name: str) -> Scalar:
        """The polynomial of the piece of a table that x lies in (LAW-12)."""
        return self.polynomial(x, self._tables(name))

    def polynomial(self, x: Scalar, table) -> Scalar:
        """The same, of the slots of a table."""
        piece = self.graph.find(x, table.first)
        if table.kinked:
            low, high = (self.graph.find(x + side * ROUNDING * table.largest, table.first) for side in (-1.0, 1.0))
            self._kinked[piece] = (low + 1.0) * algebra.below(high, low)
        beyond, y = x - self.graph.slot(piece + float(table.knots)), self.graph.constant(0.0)
        for k in reversed(range(table.degree + 1)):
            place = piece * float(table.degree + 1) + float(table.coefficients + k)
            c = self.graph.slot(place)
            self.places[c] = place
            y = c + beyond * y
        return y

    def switches(self, *outputs: Scalar) -> list[Scalar]:
        """What tells on which side of their kinks the outputs are (LAW-13): for each kink a number that is 0 there, its sign or
        the number of a piece, and derivatives of the first by u, u̇, ü of all scalars, and by t."""
        graph, moved = self.graph, self.moved_by(*outputs)
        found = [(jump, algebra.sign(jump)) for jump in self.jumps if moved.issuperset(self.moved_by(jump))]
        for i in graph.needed(outputs):
            operands = [graph[k] for k in graph.operands[i]]
            if graph.operations[i] == "abs":
                found.append((operands[0], algebra.sign(*operands)))
            elif graph.operations[i] in ("min", "max"):
                found.append((operands[0] - operands[1], algebra.sign(operands[0] - operands[1])))
            elif graph[i] in self._kinked:
                found.append((graph.constant(1.0), self._kinked[graph[i]]))
        by = [*(u[k] for k in range(3) for u in self.scalars.values()), self.t]
        return [x for beyond, side in found for x in (beyond, side, *graph.gradient(beyond, by))]

    @property
    def numbers(self) -> list[Scalar]:
        """What derivatives by slots are taken by: slots, then coefficients of tables."""
        return [*self.slots.values(), *self.places]

    def call(self, law: Law, owner: str, count: int, orders: int = 1) -> list[Scalar]:
        """The `count` values of a law of functions; `owner` is the element it belongs to, for people.

        Derivatives up to that order are inputs of the graph; those of orders above 1 belong to one value.
        """
        if self.called is not None and self.called.law is not law:
            raise ExpressionError(f"uses two functions, the second of them that of {owner}; an expression takes one.")
        if self.called is not None and len(self.called.y) == count:
            return self.called.y
        x = [self.parse(argument) for argument in law.inputs]
        y = [self.graph.input(f"y{i}") for i in range(count)]
        partials, last = {}, y
        for _ in range(orders):
            for Y in last:
                partials[Y] = [self.graph.input(f"{self.graph.payload[Y.index]}_{j}") for j in range(len(x))]
            last = [z for Y in last for z in partials[Y]]
        self.called = Called(law, owner, x, y, partials)
        return y

    def gradient(self, F: Scalar, inputs: Sequence[Scalar]) -> list[Scalar]:
        """dF/dx for each x of `inputs`, through the arguments of a law too (LAW-7)."""
        total = self.graph.gradient(F, inputs)
        if self.called is not None:
            c = self.called
            F_y = self.graph.gradient(F, list(c.partials))
            for j, x in enumerate(c.x):
                rows = zip(F_y, c.partials.values(), strict=True)
                weight = sum((f * row[j] for f, row in rows), self.graph.constant(0.0))
                total = [a + weight * b for a, b in zip(total, self.graph.gradient(x, inputs), strict=True)]
        return total

    def moved_by(self, *outputs: Scalar) -> set[Scalar]:
        """All inputs that the outputs, or the arguments of a law, depend on."""
        return set(self.graph.inputs_of(*outputs, *(self.called.x if self.called else ())))

    def forget_unused(self, *outputs: Scalar) -> None:
        """Keep those scalars alone that the outputs depend on."""
        used = self.moved_by(*outputs)
        self.scalars = {k: u for k, u in self.scalars.items() if used.intersection(u)}

    def rate(self, x: Scalar) -> Scalar:
        """The total derivative of x by time."""
        inputs = self.graph.inputs_of(x, *(self.called.x if self.called else ()))
        moving = [y for y in inputs if y in self._rates or y == self.t]
        total = self.graph.constant(0.0)
        for y, partial in zip(moving, self.gradient(x, moving), strict=True):
            total = total + (partial if y == self.t else partial * self._rates[y])
        return total

    @property
    def u(self) -> list[Scalar]:
        return [u for u, _, _ in self.scalars.values()]

    def inputs(self) -> list[Scalar]:
        """All inputs in the order of the registers."""
        levels = [u[k] for k in range(3) for u in self.scalars.values()]
        return [*levels, self.t, self.w, *self.slots.values()]

    def shape(self, *outputs: Scalar) -> tuple | None:
        """What formulas of the same tapes have in common, whatever scalars and slots they read; None with laws or tables."""
        if self.called is not None or self.places:
            return None
        graph, place = self.graph, {x.index: k for k, x in enumerate(self.inputs())}
        payload = [x.hex() if isinstance(x, float) else place.get(i, x) for i, x in enumerate(graph.payload)]
        nodes = tuple(graph.operations), tuple(graph.operands), tuple(payload)
        return len(self.scalars), len(self.slots), nodes, tuple(x.index for x in outputs)

    def tapes(self, *outputs: Sequence[Scalar]) -> list[Tape]:
        """A tape for each list of outputs."""
        inputs = [*self.inputs(), *(self.called.registers if self.called else ())]
        return [Tape.build(x, inputs) for x in outputs]


@dataclass(frozen=True)
class Called:
    """A law of functions in a formula: its arguments x, and the inputs that stand for its values y and their partials by x.

    `partials` has those of y and, where higher derivatives are given, those of partials.
    """

    law: Law
    owner: str
    x: list[Scalar]
    y: list[Scalar]
    partials: dict[Scalar, list[Scalar]]

    @property
    def registers(self) -> list[Scalar]:
        """What a call fills: the values, then their derivatives order by order."""
        return [*self.y, *(z for row in self.partials.values() for z in row)]


def _partials(formula: Formula, outputs: Sequence[Scalar], inputs: Sequence[Scalar]) -> list[Scalar]:
    """∂outputs/∂inputs by rows."""
    return [x for y in outputs for x in formula.gradient(y, inputs)]


def force_tapes(formula: Formula, *outputs: Scalar, stored: int = 0) -> list[Tape]:
    """Tapes of a force with covectors on scalars (LAW-2).

    The last `stored` outputs, none or two, are the energy that the force stores and the power of the rest of it (LAW-8).
    """
    F = outputs[: len(outputs) - stored]
    ud = [u[1] for u in formula.scalars.values()]
    groups = (formula.u, ud, [formula.w], formula.numbers)
    all_ = [*F, *(x for group in groups for x in _partials(formula, F, group)), *formula.places.values()]
    return formula.tapes(F, all_, *([outputs[len(F) :]] if stored else []))


def row_tapes(formula: Formula, Phi: Scalar) -> list[Tape]:
    """Tapes of a row of positions Phi(u, t) (LAW-3)."""
    Phid = formula.rate(Phi)
    y = formula.gradient(Phi, formula.u)
    return _row_tapes(formula, Phi, formula.gradient(Phi, [formula.t])[0], y, Phid)


def velocity_row_tapes(formula: Formula, Phid: Scalar) -> list[Tape]:
    """Tapes of a row of velocities Phid(u, ud, t), linear in ud (LAW-9); an ExpressionError where it is not."""
    ud, udd = ([u[k] for u in formula.scalars.values()] for k in (1, 2))
    y = formula.gradient(Phid, ud)
    if formula.moved_by(Phid) & set(udd):
        raise ExpressionError("depends on an acceleration; a row of velocities uses positions and velocities.")
    if set(formula.graph.inputs_of(*y)) & set(ud):
        raise ExpressionError(
            "is not linear in velocities; write it as a sum of velocities times functions of positions."
        )
    if formula.called is None:
        still = formula.graph.substitute(Phid, dict.fromkeys(ud, 0.0))
    else:  # the same, since it is linear
        still = Phid - sum((a * b for a, b in zip(y, ud, strict=True)), formula.graph.constant(0.0))
    return _row_tapes(formula, formula.graph.constant(0.0), still, y, Phid)


def _row_tapes(formula: Formula, Phi: Scalar, Phi_t: Scalar, y: list[Scalar], Phid: Scalar) -> list[Tape]:
    """Tapes of a row: its value, its part that velocities do not change, y = Phid_ud, and Phid."""
    u, slots = formula.u, formula.numbers
    ud = [scalar[1] for scalar in formula.scalars.values()]
    Phidd = formula.rate(Phid)
    by = formula.gradient
    exact = [*y, *by(Phid, u), *by(Phidd, u), *by(Phidd, ud), *_partials(formula, y, u)]
    exact += [*by(Phi, slots), *by(Phid, slots), *by(Phidd, slots), *_partials(formula, y, slots)]
    return formula.tapes([Phi, Phi_t, *y], [Phidd], [*exact, *formula.places.values()])


def objective_tapes(formula: Formula, g: Scalar) -> list[Tape]:
    """Tapes of an objective g(u, ud, udd, w, t), w the value of a spline (LAW-4)."""
    levels = [u[k] for k in range(3) for u in formula.scalars.values()]
    exact = [g, *formula.gradient(g, [*levels, formula.w, *formula.numbers])]
    return formula.tapes([g], [*exact, *formula.places.values()])


@dataclass
class LawTables:
    """Expression elements packed into the tables that kernels read."""

    code: list = field(default_factory=list)
    const: list = field(default_factory=list)
    outs: list = field(default_factory=list)
    ins: list = field(default_factory=list)
    slots: list = field(default_factory=list)
    targets: list = field(default_factory=list)
    calls: list[tuple[Law, str, int]] = field(default_factory=list)
    registers: int = 1
    filled: int = 0  # by a call, at most
    inputs: int = 1
    known: dict[tuple, list[Tape]] = field(default_factory=dict)  # by what makes them
    places: dict[int, tuple[Tape, dict]] = field(default_factory=dict)  # of tapes in the tables

    def tapes(self, make: Callable[..., list[Tape]], formula: Formula, *outputs: Scalar, **options: int) -> list[Tape]:
        """The tapes that ``make(formula, *outputs, **options)`` gives, made once for all formulas of one shape."""
        shape = formula.shape(*outputs)
        if shape is None:
            return make(formula, *outputs, **options)
        key = make, shape, tuple(options.items())
        if key not in self.known:
            self.known[key] = make(formula, *outputs, **options)
        return self.known[key]

    def _placed(self, tape: Tape) -> dict:
        """Where a tape begins and ends in the tables; it is there once."""
        if id(tape) not in self.places:
            places = {"c": len(self.code), "q": len(self.const), "o": len(self.outs)}
            self.code += tape.code.tolist()
            self.const += tape.constants.tolist()
            self.outs += tape.outputs.tolist()
            self.registers = max(self.registers, tape.n_registers)
            self.places[id(tape)] = tape, places | {"e": len(self.code), "r": len(self.const)}
        return self.places[id(tape)][1]

    def add(
        self, formula: Formula, tapes: Sequence[Tape], targets: Sequence[int] = (), row: int = -1, exact: int | None = 1
    ) -> dict:
        """A record of the table of laws; tape `exact`, if there is one, has derivatives and then the slots of tables."""
        record = {
            "in0": len(self.ins),
            "sl0": len(self.slots),
            "t0": len(self.targets),
            "row": row,
            "w": formula.spline,
            "fn": -1,
        }
        if formula.called is not None:
            c = formula.called
            record |= {"fn": len(self.calls), "na": len(c.x), "nc": len(c.y), "nr": len(c.registers)}
            self.calls.append((c.law, c.owner, len(c.y)))
            self.filled = max(self.filled, len(c.registers))
            tapes = [*tapes, *[Tape.build([], [])] * (ARGUMENTS - len(tapes)), Tape.build(c.x, formula.inputs())]
        self.ins += list(formula.scalars)
        self.slots += list(formula.slots)
        last = len(tapes[exact].outputs) if exact is not None else len(formula.places)
        self.slots += [-1 - k for k in range(last - len(formula.places), last)]
        self.targets += list(targets)
        record |= {"in1": len(self.ins), "sl1": len(self.slots), "t1": len(self.targets)}
        for k, tape in enumerate(tapes):
            record |= {f"{letter}{k}": place for letter, place in self._placed(tape).items()}
        self.inputs = max(self.inputs, len(formula.scalars))
        return record

    def arrays(self, number: str) -> dict[str, np.ndarray]:
        """The tables as arrays, with scratch for n columns made elsewhere."""
        from kinegrad.kernels.elements.callbacks import N_JOB

        arguments = max((len(law.inputs) for law, _, _ in self.calls), default=0)
        return {
            "code": np.array(self.code, np.int64).reshape(-1, 4),
            "const": np.array(self.const, number),
            "outs": np.array(self.outs, np.int64),
            "ins": np.array(self.ins, np.int64),
            "slots": np.array(self.slots, np.int64),
            "targets": np.array(self.targets, np.int64),
            "reg": np.zeros(self.registers, number),
            "callback": np.zeros(len(self.calls), np.int64),
            "job": np.zeros(N_JOB, np.int64),
            "call_x": np.zeros(arguments, number),
            "call_y": np.zeros(self.filled, number),
        }
