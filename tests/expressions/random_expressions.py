"""Random texts of the language, and an independent reading of them by Python's own parser."""

import re
from types import SimpleNamespace

import numpy as np

from kinegrad.expressions import graph as scalars

NAMES = ("a", "b", "k_1", "u[0]", "u[2]", "bar.P.x", "t")
LITERALS = ("1", "2", "3", "0.5", ".25", "1.5", "2e-1", "12", "7.0E+0", "0")
ONE = ("sqrt", "sin", "cos", "tan", "asin", "acos", "atan", "exp", "log", "tanh", "deg")
SMOOTH = {"smooth_abs": 1, "smooth_step": 1, "smooth_max": 2, "smooth_min": 2}
KINKED = ("abs({one})", "min({one}, {two})", "max({one}, 0.2, {two})", "sign(t - 0.3)*({one})", "step({one} + t)")


def random_text(rng, depth=5):
    """A number-valued text that uses the whole grammar."""
    pick = rng.integers
    if depth == 0 or pick(8) == 0:
        return str(rng.choice(("pi", *NAMES, *NAMES, *LITERALS)))
    space = " " * pick(2)
    one = random_text(rng, depth - 1)
    kind = pick(14)
    if kind < 5:
        operator = rng.choice(("+", "-", "*", "/", "+", "-", "*"))
        return f"{one}{space}{operator}{space}{random_text(rng, depth - 1)}"
    if kind == 5:
        exponent = rng.choice(("2", "3", "-1", "-2", "0.5", "b", "(1/3)", "-a**2", "0", "1"))
        return f"({one})**{exponent}" if pick(2) else f"{rng.choice(NAMES)}**{exponent}"
    if kind == 6:
        return f"{rng.choice(('-', '+', '--'))}{one}"
    if kind == 7:
        return f"({space}{one})"
    if kind == 8:
        return f"atan2({one},{space}{random_text(rng, depth - 1)})"
    if kind == 9:
        function = rng.choice(("norm", "norm2"))
        return f"{function}({random_vector(rng, depth - 1)})"
    if kind == 10:
        return f"dot({random_vector(rng, depth - 2)}, {random_vector(rng, depth - 1)})"
    if kind == 11:
        function = str(rng.choice(list(SMOOTH)))
        more = [random_text(rng, depth - 1) for _ in range(SMOOTH[function] - 1)]
        return f"{function}({', '.join([one, *more, '0.3'])})"
    if kind == 12:
        return str(rng.choice(KINKED)).format(one=one, two=random_text(rng, depth - 1))
    return f"{rng.choice(ONE)}({one})"


def random_vector(rng, depth):
    """A vector-valued text."""
    pick = rng.integers
    if depth <= 0 or pick(3) == 0:
        return str(rng.choice(("bar.P.position", "v", "vec(1, -a, .5)")))
    one = random_vector(rng, depth - 1)
    kind = pick(6)
    if kind < 2:
        return f"{one} {rng.choice(('+', '-'))} {random_vector(rng, depth - 1)}"
    if kind == 2:
        return f"({random_text(rng, depth - 1)})*({one})"
    if kind == 3:
        return f"({one})/({random_text(rng, depth - 1)})"
    if kind == 4:
        return f"cross({one}, -({random_vector(rng, depth - 1)}))"
    return f"vec({', '.join(random_text(rng, depth - 1) for _ in range(3))})"


def smooth_text(rng, depth=5):
    """A text in a, b, t that has a moderate value and a moderate derivative everywhere."""
    if depth == 0:
        return str(rng.choice(("a", "b", "t", "a", "b", "t", "0.7", "pi")))
    one, two = smooth_text(rng, depth - 1), smooth_text(rng, depth - 1)
    forms = (
        f"({one})*sin({two})",
        f"cos({one}) - 0.3*({two})",
        f"atan2({one}, 2 + tanh({two}))",
        f"sqrt(1 + ({one})**2)/(2 + cos({two}))",
        f"exp(-({one})**2/4) + ({two})/3",
        f"log(1.5 + ({one})**2)*(1 + tanh({two}))",
        f"asin(0.8*sin({one})) - acos(0.5*tanh({two}))",
        f"tan(0.5*atan({one})) + ({two})/2",
        f"(1.2 + sin({one}))**(0.5 + 0.3*cos({two}))",
        f"-(tanh({one}) - 2)**3/(3 + sin({two}))**-1.5/8",
        f"norm(vec({one}, 1, {two}))",
        f"(sin({one}) + 2)**-2*({two})",
        f"0.5*abs({one}) + 0.1*max({two}, 0.3, t)",
        f"min({one}, {two}, 1.1)*step(t - 0.4)",
    )
    return forms[rng.integers(len(forms))]


class Vector(tuple):
    """A vector for Python's operators."""

    def __add__(self, other):
        return Vector(x + y for x, y in zip(self, other, strict=True))

    def __sub__(self, other):
        return Vector(x - y for x, y in zip(self, other, strict=True))

    def __mul__(self, other):
        return Vector(x * other for x in self)

    def __rmul__(self, other):
        return Vector(other * x for x in self)

    def __truediv__(self, other):
        return Vector(x / other for x in self)

    def __neg__(self):
        return Vector(-x for x in self)


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def cross(a, b):
    return Vector((a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]))


def resolver(graph):
    """Names to inputs of `graph`; `v` and `bar.P.position` are vectors."""

    def resolve(dotted, index):
        if dotted in ("v", "bar.P.position"):
            return tuple(graph.input(f"{dotted}.{c}") for c in "xyz")
        return graph.input(dotted if index is None else f"{dotted}[{index}]")

    return resolve


def by_python(text, graph):
    """The scalar that Python's own parser makes of a text whose numbers are constants of `graph`."""
    resolve = resolver(graph)
    names = {name: getattr(scalars, name) for name in (*ONE, *SMOOTH, "atan2")}
    names |= {"abs": scalars.absolute, "min": scalars.smallest, "max": scalars.largest}
    names |= {name: getattr(scalars, name) for name in ("sign", "step")}
    names |= {name: graph.input(name) for name in ("a", "b", "k_1", "t")}
    names |= {
        "c": graph.constant,
        "pi": graph.constant(np.pi),
        "u": [graph.input(f"u[{i}]") for i in range(3)],
        "v": Vector(resolve("v", None)),
        "bar": SimpleNamespace(
            P=SimpleNamespace(x=graph.input("bar.P.x"), position=Vector(resolve("bar.P.position", None)))
        ),
        "vec": lambda x, y, z: Vector((x, y, z)),
        "dot": dot,
        "cross": cross,
        "norm2": lambda a: dot(a, a),
        "norm": lambda a: scalars.sqrt(dot(a, a)),
    }
    numbered = re.sub(r"(?<![\w.\[])(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", r"c(\g<0>)", text)
    return eval(numbered, {"__builtins__": {}}, names)


def random_values(rng, graph):
    """A value between -2 and 2 for each input of `graph`."""
    names = [graph.payload[i] for i in range(len(graph)) if graph.operations[i] == "input"]
    return {name: rng.uniform(-2.0, 2.0) for name in names}
