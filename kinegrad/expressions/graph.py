"""Graphs of numbers: built by ordinary arithmetic, differentiated exactly, evaluated for floats or complex numbers.

Equal sub-expressions are one node of a graph, so derivatives stay small: the gradient of a product of n factors has
of the order of n nodes, not n². Operands have smaller indices than the results made of them, so that the order of the
indices is an order of evaluation.
"""

from __future__ import annotations

import functools
import math
import numbers
import operator
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from kinegrad.errors import ExpressionError
from kinegrad.expressions import syntax
from kinegrad.expressions.arithmetic import OPERATIONS, finite, powi
from kinegrad.expressions.syntax import Expression

MAX_INTEGER_EXPONENT = 1_000_000


def _operator(name: str) -> tuple[Callable, Callable]:
    """A binary operator of scalars, and the same with its operands exchanged."""

    def forward(self, other):
        known = type(other) is Scalar or isinstance(other, numbers.Real)
        return getattr(self.graph, name)(self, other) if known else NotImplemented

    def reflected(self, other):
        known = isinstance(other, numbers.Real)
        return getattr(self.graph, name)(other, self) if known else NotImplemented

    return forward, reflected


class Scalar:
    """A number that a graph computes; `+ - * / **` with scalars and plain numbers make new ones.

    There is one for each node, which its graph makes; `value` is that of a constant, else None.
    """

    __slots__ = ("graph", "index", "value")
    __array_ufunc__ = None  # a NumPy number on the left leaves the operation to us

    def __init__(self, graph: Graph, index: int, value: float | None = None):
        self.graph = graph
        self.index = index
        self.value = value

    def __repr__(self) -> str:
        graph, i = self.graph, self.index
        if graph.operation(self) in ("input", "constant"):
            return f"<Scalar {graph.payload[i]}>"
        return f"<Scalar {graph.operations[i]}{graph.operands[i]}>"

    __add__, __radd__ = _operator("add")
    __sub__, __rsub__ = _operator("subtract")
    __mul__, __rmul__ = _operator("multiply")
    __truediv__, __rtruediv__ = _operator("divide")
    __pow__, __rpow__ = _operator("power")

    def __neg__(self):
        return self.graph.negate(self)

    def __pos__(self):
        return self


class Graph:
    """The owner of nodes: for node i, `operations[i]`, the indices `operands[i]`, and `payload[i]`.

    The payload is the value of a constant, the name of an input, the exponent of an integer power or the first slot of a table;
    else None.
    """

    def __init__(self):
        self.operations: list[str] = []
        self.operands: list[tuple[int, ...]] = []
        self.payload: list = []
        self._scalars: list[Scalar] = []
        self._known: dict[tuple, Scalar] = {}
        self._constants: dict[float | str, Scalar] = {}
        self._derivatives: dict[tuple[int, int], Scalar] = {}

    def __len__(self) -> int:
        return len(self.operations)

    def __getitem__(self, index: int) -> Scalar:
        """The scalar of a node."""
        return self._scalars[index]

    def _node(self, operation: str, operands: tuple[int, ...] = (), payload=None) -> Scalar:
        key = (operation, operands, payload)
        scalar = self._known.get(key)
        if scalar is None:
            scalar = self._known[key] = self._new(operation, operands, payload)
        return scalar

    def _new(self, operation: str, operands: tuple[int, ...], payload, value: float | None = None) -> Scalar:
        scalar = Scalar(self, len(self._scalars), value)
        self._scalars.append(scalar)
        self.operations.append(operation)
        self.operands.append(operands)
        self.payload.append(payload)
        return scalar

    # --- leaves and looks ---

    def constant(self, value: float) -> Scalar:
        """The node of a plain number."""
        value = float(value)
        key = value if value and value == value else value.hex()  # zeros have signs, and nan is not itself
        scalar = self._constants.get(key)
        if scalar is None:
            scalar = self._constants[key] = self._new("constant", (), value, value)
        return scalar

    def input(self, name: str) -> Scalar:
        """The node of a number that is given at evaluation; one for each name."""
        return self._node("input", payload=name)

    def operation(self, x: Scalar) -> str:
        """The name of the operation that makes x: "input", "constant", "add"..."""
        return self.operations[x.index]

    def constant_value(self, x: Scalar) -> float | None:
        """The value when x is a constant, else None."""
        return x.value

    def needed(self, outputs: Iterable[Scalar], known: Collection[int] = ()) -> list[int]:
        """The indices of the outputs and all they are made of, in order of evaluation, but for what is known."""
        operands, seen = self.operands, set()
        stack = [x.index for x in outputs]
        while stack:
            i = stack.pop()
            if i not in seen and i not in known:
                seen.add(i)
                stack += operands[i]
        return sorted(seen)

    def inputs_of(self, *outputs: Scalar) -> list[Scalar]:
        """The inputs that the outputs depend on, in the order in which they were made."""
        return [self._scalars[i] for i in self.needed(outputs) if self.operations[i] == "input"]

    def complete(self, known: dict[int, complex], outputs: Iterable[Scalar], given: Callable[[str], complex]) -> None:
        """Adds the numbers of the outputs, and of all they are made of, to those that are known; `given` has the inputs."""
        for i in self.needed(outputs, known):
            operation, payload = self.operations[i], self.payload[i]
            if operation == "constant":
                known[i] = payload
            elif operation == "input":
                value = given(payload)
                known[i] = complex(value) if isinstance(value, complex) else float(value)
            else:
                arguments = [known[k] for k in self.operands[i]]
                known[i] = OPERATIONS[operation](*arguments, *(() if payload is None else (payload,)))

    # --- operations ---

    def _scalar(self, x) -> Scalar:
        if type(x) is Scalar:
            if x.graph is not self:
                raise ValueError("scalars of two graphs cannot be combined")
            return x
        return self.constant(x)

    def _apply(self, operation: str, *arguments) -> Scalar:
        """A node of `operation`, or a constant when all arguments are and the result is finite."""
        scalars = [self._scalar(x) for x in arguments]
        if all(x.value is not None for x in scalars):
            result = OPERATIONS[operation](*(x.value for x in scalars))
            if finite(result):
                return self.constant(result)
        return self._node(operation, tuple([x.index for x in scalars]))

    def _two(self, a, b) -> tuple[Scalar, Scalar, float | None, float | None]:
        a, b = self._scalar(a), self._scalar(b)
        return a, b, a.value, b.value

    def _either(self, operation: str, a: Scalar, b: Scalar) -> Scalar:
        """A node whose operands may be exchanged."""
        if a.value is not None and b.value is not None:
            return self._apply(operation, *((a, b) if a.index <= b.index else (b, a)))
        return self._node(operation, (a.index, b.index) if a.index <= b.index else (b.index, a.index))

    def add(self, a, b) -> Scalar:
        """a + b"""
        a, b, x, y = self._two(a, b)
        if x == 0.0:
            return b
        if y == 0.0:
            return a
        return self._either("add", a, b)

    def subtract(self, a, b) -> Scalar:
        """a - b"""
        a, b, x, y = self._two(a, b)
        if y == 0.0:
            return a
        return self.negate(b) if x == 0.0 else self._apply("subtract", a, b)

    def multiply(self, a, b) -> Scalar:
        """a * b"""
        a, b, x, y = self._two(a, b)
        if x is None and y is None:
            return self._either("multiply", a, b)
        if x == 0.0 or y == 0.0:
            return self.constant(0.0)
        for value, other in ((x, b), (y, a)):
            if value == 1.0:
                return other
            if value == -1.0:
                return self.negate(other)
        return self._either("multiply", a, b)

    def divide(self, a, b) -> Scalar:
        """a / b"""
        a, b, x, y = self._two(a, b)
        if y == 1.0:
            return a
        if y == -1.0:
            return self.negate(a)
        if x == 0.0 and y != 0.0:
            return a
        return self._apply("divide", a, b)

    def negate(self, a) -> Scalar:
        """-a"""
        a = self._scalar(a)
        if self.operation(a) == "negate":
            return self._scalars[self.operands[a.index][0]]
        return self._apply("negate", a)

    def power(self, a, b) -> Scalar:
        """a ** b; a constant whole exponent becomes products, so that a may be negative."""
        a, b, x, y = self._two(a, b)
        if y is None:
            return self.constant(1.0) if x == 1.0 else self._apply("power", a, b)
        if y == 0.5:
            return self._apply("sqrt", a)
        if not y.is_integer() or abs(y) > MAX_INTEGER_EXPONENT:
            return self._apply("power", a, b)
        n = int(y)
        if n == 0:
            return self.constant(1.0)
        if n == 1:
            return a
        if n == 2:
            return a * a
        if n == -1:
            return self.divide(1.0, a)
        if x is not None and finite(powi(x, n)):
            return self.constant(powi(x, n))
        return self._node("powi", (a.index,), n)

    def find(self, x: Scalar, table: int) -> Scalar:
        """The number of the piece of a table that x is in; the numbers of the table begin at that slot."""
        return self._node("find", (x.index,), table)

    def slot(self, place: Scalar) -> Scalar:
        """The number in the slot whose number is `place`."""
        return self._node("slot", (place.index,))

    # --- derivatives ---

    def substitute(self, y: Scalar, values: Mapping[Scalar, float]) -> Scalar:
        """y with numbers in the place of some inputs."""
        new = {x.index: self.constant(value) for x, value in values.items()}
        for i in self.needed([y]):
            if i not in new:
                operation, operands = self.operations[i], [new[k] for k in self.operands[i]]
                new[i] = self._again(operation, operands, self.payload[i]) if operands else self._scalars[i]
        return new[y.index]

    def _again(self, operation: str, operands: list[Scalar], payload) -> Scalar:
        """A node of that operation on other operands, simplified where it can be."""
        if operation == "powi":
            return operands[0] ** payload
        if operation in ("find", "slot"):
            return self._node(operation, tuple(x.index for x in operands), payload)
        simple = {"add": self.add, "subtract": self.subtract, "multiply": self.multiply, "divide": self.divide}
        simple |= {"negate": self.negate, "power": self.power}
        return simple[operation](*operands) if operation in simple else self._apply(operation, *operands)

    def derivative(self, y: Scalar, x: Scalar) -> Scalar:
        """dy/dx by an input x."""
        key = (y.index, x.index)
        if key not in self._derivatives:
            self._derivatives[key] = self.gradient(y, [x])[0]
        return self._derivatives[key]

    def gradient(self, y: Scalar, inputs: Sequence[Scalar]) -> list[Scalar]:
        """dy/dx for each x of `inputs`, by one reverse sweep."""
        y = self._scalar(y)
        order = self.needed([y])
        moved = {x.index for x in inputs}
        for i in order:
            if any(k in moved for k in self.operands[i]):
                moved.add(i)
        adjoint = {y.index: self.constant(1.0)}
        for i in reversed(order):
            if i not in adjoint:
                continue
            for position, k in enumerate(self.operands[i]):
                if k in moved:
                    term = adjoint[i] * self._partial(self._scalars[i], position)
                    adjoint[k] = adjoint[k] + term if k in adjoint else term
        zero = self.constant(0.0)
        return [adjoint.get(x.index, zero) for x in inputs]

    def _partial(self, y: Scalar, position: int) -> Scalar:
        """The partial of y by its operand at `position`."""
        arguments = [self._scalars[k] for k in self.operands[y.index]]
        if self.operation(y) == "powi":
            n = self.payload[y.index]
            return n * arguments[0] ** (n - 1)
        return PARTIALS[self.operation(y)][position](y, *arguments)


def _function(operation: str, doc: str) -> Callable[[Scalar], Scalar]:
    def function(x: Scalar) -> Scalar:
        return x.graph._apply(operation, x)

    function.__name__ = function.__qualname__ = operation
    function.__doc__ = doc
    return function


sqrt = _function("sqrt", "The square root of x.")
sin = _function("sin", "The sine of x.")
cos = _function("cos", "The cosine of x.")
tan = _function("tan", "The tangent of x.")
asin = _function("asin", "The angle in [-π/2, π/2] whose sine is x.")
acos = _function("acos", "The angle in [0, π] whose cosine is x.")
atan = _function("atan", "The angle in (-π/2, π/2) whose tangent is x.")
exp = _function("exp", "e to the power x.")
log = _function("log", "The natural logarithm of x.")
tanh = _function("tanh", "The hyperbolic tangent of x.")
absolute = _function("abs", "x or -x, the one that is not negative.")
sign = _function("sign", "1, 0 or -1.")
wrap = _function("wrap", "x less the nearest whole number of turns: an angle near 0, not part of the language.")
sech2 = _function("sech2", "1 - tanh(x)**2: the derivative of tanh, not part of the language.")


def atan2(y: Scalar | float, x: Scalar | float) -> Scalar:
    """The angle of the point (x, y) in (-π, π]; one of the two is a Scalar."""
    graph = (y if isinstance(y, Scalar) else x).graph
    return graph._apply("atan2", y, x)


def deg(x: Scalar) -> Scalar:
    """x degrees in radians."""
    return x * (math.pi / 180.0)


def smooth_abs(x: Scalar, width: Scalar) -> Scalar:
    """√(x² + width²): |x| but for the neighbourhood of 0, where it is the width."""
    return sqrt(x * x + width * width)


def smooth_max(a: Scalar, b: Scalar, width: Scalar) -> Scalar:
    """The larger of a and b, and half a width more where they are equal."""
    return 0.5 * (a + b + smooth_abs(a - b, width))


def smooth_min(a: Scalar, b: Scalar, width: Scalar) -> Scalar:
    """The smaller of a and b, and half a width less where they are equal."""
    return 0.5 * (a + b - smooth_abs(a - b, width))


def smooth_step(x: Scalar, width: Scalar) -> Scalar:
    """From 0 to 1 about x = 0: (1 + tanh(x/width))/2."""
    return 0.5 * (1.0 + tanh(x / width))


def step(x: Scalar) -> Scalar:
    """0 below 0, 1 above, and a half at 0."""
    return 0.5 + 0.5 * sign(x)


def smallest(*x: Scalar) -> Scalar:
    """The smallest of several."""
    return functools.reduce(lambda a, b: a.graph._apply("min", a, b), x)


def largest(*x: Scalar) -> Scalar:
    """The largest of several."""
    return functools.reduce(lambda a, b: a.graph._apply("max", a, b), x)


def below(a: Scalar, b: Scalar) -> Scalar:
    """1 where a is at most b, else 0; not part of the language."""
    return a.graph._apply("below", a, b)


COMPOSED: dict[str, Callable[..., Scalar]] = {
    **{f.__name__: f for f in (deg, smooth_abs, smooth_max, smooth_min, smooth_step, step)},
    "min": smallest,
    "max": largest,
}
"""Functions of the language that are made of others."""

PARTIALS: dict[str, tuple[Callable[..., Scalar], ...]] = {
    "add": (lambda y, a, b: y.graph.constant(1.0), lambda y, a, b: y.graph.constant(1.0)),
    "subtract": (lambda y, a, b: y.graph.constant(1.0), lambda y, a, b: y.graph.constant(-1.0)),
    "multiply": (lambda y, a, b: b, lambda y, a, b: a),
    "divide": (lambda y, a, b: 1.0 / b, lambda y, a, b: -(y / b)),
    "negate": (lambda y, a: y.graph.constant(-1.0),),
    "power": (lambda y, a, b: b * a ** (b - 1.0), lambda y, a, b: y * log(a)),
    "sqrt": (lambda y, a: 0.5 / y,),
    "sin": (lambda y, a: cos(a),),
    "cos": (lambda y, a: -sin(a),),
    "tan": (lambda y, a: 1.0 + y * y,),
    "asin": (lambda y, a: 1.0 / sqrt((1.0 - a) * (1.0 + a)),),
    "acos": (lambda y, a: -1.0 / sqrt((1.0 - a) * (1.0 + a)),),
    "atan": (lambda y, a: 1.0 / (1.0 + a * a),),
    "exp": (lambda y, a: y,),
    "log": (lambda y, a: 1.0 / a,),
    "tanh": (lambda y, a: sech2(a),),
    "wrap": (lambda y, a: y.graph.constant(1.0),),
    "abs": (lambda y, a: sign(a),),
    "min": (lambda y, a, b: below(a, b), lambda y, a, b: 1.0 - below(a, b)),
    "max": (lambda y, a, b: below(b, a), lambda y, a, b: 1.0 - below(b, a)),
    **{flat: (lambda y, a: y.graph.constant(0.0),) for flat in ("sign", "find", "slot")},
    "below": (lambda y, a, b: y.graph.constant(0.0), lambda y, a, b: y.graph.constant(0.0)),
    "sech2": (lambda y, a: -2.0 * tanh(a) * y,),
    "atan2": (lambda y, a, b: b / (a * a + b * b), lambda y, a, b: -a / (a * a + b * b)),
}
"""The partials of each operation by its operands, as functions of its result y and the operands."""


def evaluate(outputs: Sequence[Scalar], values: Mapping[Scalar | str, complex]) -> list:
    """The numbers of `outputs`, floats or complex, for `values` of the inputs (keys are scalars or names)."""
    if not outputs:
        return []
    graph = outputs[0].graph
    given = {graph.payload[k.index] if isinstance(k, Scalar) else k: v for k, v in values.items()}
    result: dict[int, complex] = {}
    graph.complete(result, outputs, given.__getitem__)
    return [result[x.index] for x in outputs]


# --- from syntax to scalars -------------------------------------------------------------------------------------------

Vector = tuple[Scalar, Scalar, Scalar]
Resolve = Callable[[str, int | None], Scalar | Vector]
Tables = Callable[[Scalar, str], Scalar]


def no_tables(x: Scalar, name: str) -> Scalar:
    """Refuses a table, where nothing says what it is."""
    raise ExpressionError(
        f"The table {name!r} cannot be used here; tables serve in measures, forces, constraints, drivers and objectives."
    )


def scalarise(expression: Expression, graph: Graph, resolve: Resolve, tables: Tables = no_tables) -> Scalar | Vector:
    """The scalar, or the three scalars of a vector, that `expression` computes.

    Parameters
    ----------
    resolve : callable
        ``resolve(dotted_name, index)`` gives a Scalar or a 3-tuple of Scalars, or raises an ExpressionError. Suffixes
        such as ``.x`` are part of the name; ``t`` is a name, ``pi`` is not.
    tables : callable
        ``tables(x, name)`` gives the value of a table at x.
    """
    return _scalarise(expression.tree, graph, resolve, tables)


def scalarise_number(expression: Expression, graph: Graph, resolve: Resolve, tables: Tables = no_tables) -> Scalar:
    """The scalar that `expression` computes; an ExpressionError when it is a vector."""
    scalar = scalarise(expression, graph, resolve, tables)
    if isinstance(scalar, tuple):
        raise ExpressionError(f"{_quoted(expression.tree)} is a vector where a number is needed.")
    return scalar


def _scalarise(node: syntax.Node, graph: Graph, resolve: Resolve, tables: Tables) -> Scalar | Vector:
    match node:
        case syntax.Number(value):
            return graph.constant(value)
        case syntax.Pi():
            return graph.constant(math.pi)
        case syntax.Name(dotted, index):
            return resolve(dotted, index)
        case syntax.Negative(operand):
            result = _scalarise(operand, graph, resolve, tables)
            return tuple(-x for x in result) if isinstance(result, tuple) else -result
        case syntax.Power(base, exponent):
            left, right = _scalarise(base, graph, resolve, tables), _scalarise(exponent, graph, resolve, tables)
            return _number(node, left) ** _number(node, right)
        case syntax.Sum(parts) | syntax.Product(parts):
            result = _scalarise(parts[0][1], graph, resolve, tables)
            for sign, part in parts[1:]:
                result = _combine(node, sign, result, _scalarise(part, graph, resolve, tables))
            return result
    if node.function == "table":
        x, name = node.arguments
        return tables(_number(node, _scalarise(x, graph, resolve, tables)), name.name)
    arguments = []
    for argument in node.arguments:
        arguments.append(_scalarise(argument, graph, resolve, tables))
    return _call(node, graph, arguments)


def _combine(node: syntax.Node, sign: str, a: Scalar | Vector, b: Scalar | Vector) -> Scalar | Vector:
    """a sign b for numbers and vectors."""
    operation = {"+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv}[sign]
    vectors = (isinstance(a, tuple), isinstance(b, tuple))
    if vectors == (False, False):
        return operation(a, b)
    if sign in "+-" and vectors == (True, True):
        return tuple(operation(x, y) for x, y in zip(a, b, strict=True))
    if sign in "*/" and vectors == (True, False):
        return tuple(operation(x, b) for x in a)
    if sign == "*" and vectors == (False, True):
        return tuple(operation(a, y) for y in b)
    text = _quoted(node)
    if sign in "+-":
        raise ExpressionError(f"{text} adds a number and a vector; both must be numbers or both vectors.")
    if sign == "/":
        raise ExpressionError(f"{text} divides by a vector; only numbers divide.")
    raise ExpressionError(f"{text} multiplies two vectors; write dot(a, b) or cross(a, b).")


def _call(node: syntax.Call, graph: Graph, arguments: list[Scalar | Vector]) -> Scalar | Vector:
    if node.function in ("dot", "cross", "norm", "norm2"):
        for argument, written in zip(arguments, node.arguments, strict=True):
            if not isinstance(argument, tuple):
                raise ExpressionError(
                    f"{_quoted(node)} needs vectors, but {_quoted(written)} is a number; "
                    "a vector is a marker's position, velocity or acceleration, or vec(x, y, z)."
                )
        a, b = arguments[0], arguments[-1]
        if node.function == "cross":
            return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
        product = a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
        return sqrt(product) if node.function == "norm" else product
    components = [_number(node, argument) for argument in arguments]
    if node.function in COMPOSED:
        return COMPOSED[node.function](*components)
    return tuple(components) if node.function == "vec" else graph._apply(node.function, *components)


def _number(node: syntax.Node, x: Scalar | Vector) -> Scalar:
    """x, when it is a number; an ExpressionError about `node` when it is a vector."""
    if isinstance(x, tuple):
        raise ExpressionError(
            f"{_quoted(node)} uses a vector where a number is needed; take a component such as .x, dot or norm."
        )
    return x


def _quoted(node: syntax.Node) -> str:
    """The text of a node for a sentence, cut when it is long."""
    text = syntax.to_text(node)
    return repr(text if len(text) <= 80 else text[:77] + "...")
