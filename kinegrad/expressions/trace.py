"""Python functions as graphs: a function called with nodes in the place of numbers leaves behind the formula it computes.

Arithmetic and NumPy's functions pass, also on arrays of nodes, since NumPy asks the elements of such an array for methods of
the names of its functions.  What needs a number at once (a comparison, `math.sin`, `abs`, a table) cannot be followed and says
so.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence

import numpy as np

from kinegrad.expressions import graph as nodes
from kinegrad.expressions.graph import Graph, Scalar


class Untraceable(TypeError):
    """Something that a function does and a formula cannot say; the text follows "a function, which"."""


def _binary(name: str, swapped: bool = False) -> Callable:
    def operator(self, other):
        if not isinstance(other, Traced | numbers.Real):
            return NotImplemented
        a, b = self.node, other.node if isinstance(other, Traced) else float(other)
        return Traced(getattr(self.node.graph, name)(*((b, a) if swapped else (a, b))))

    return operator


def _unary(function: Callable[[Scalar], Scalar]) -> Callable:
    return lambda self: Traced(function(self.node))


def _refused(what: str) -> Callable:
    def refuse(self, *_):
        raise Untraceable(what)

    return refuse


_compares = _refused("compares its arguments")
_converts = _refused("turns its arguments into plain numbers, as math.sin does")
_breaks = _refused("uses abs, round, // or %")


class Traced:
    """A number that is not known yet: what is done with it becomes nodes of its graph."""

    __slots__ = ("node",)
    __hash__ = None

    def __init__(self, node: Scalar):
        self.node = node

    __add__, __radd__ = _binary("add"), _binary("add", swapped=True)
    __sub__, __rsub__ = _binary("subtract"), _binary("subtract", swapped=True)
    __mul__, __rmul__ = _binary("multiply"), _binary("multiply", swapped=True)
    __truediv__, __rtruediv__ = _binary("divide"), _binary("divide", swapped=True)
    __pow__, __rpow__ = _binary("power"), _binary("power", swapped=True)

    def __neg__(self):
        return Traced(-self.node)

    def __pos__(self):
        return self

    sqrt, exp, log, tanh = (_unary(f) for f in (nodes.sqrt, nodes.exp, nodes.log, nodes.tanh))
    sin, cos, tan = (_unary(f) for f in (nodes.sin, nodes.cos, nodes.tan))
    arcsin, arccos, arctan = (_unary(f) for f in (nodes.asin, nodes.acos, nodes.atan))

    def arctan2(self, x):
        """np.arctan2(self, x)"""
        return Traced(nodes.atan2(self.node, x.node if isinstance(x, Traced) else self.node.graph.constant(x)))

    def hypot(self, other):
        """np.hypot(self, other)"""
        return (self * self + other * other).sqrt()

    __bool__ = __eq__ = __ne__ = __lt__ = __le__ = __gt__ = __ge__ = _compares
    __float__ = __int__ = __complex__ = __index__ = _converts
    __abs__ = __round__ = __floor__ = __ceil__ = __trunc__ = _breaks
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __divmod__ = __rdivmod__ = _breaks


def trace(function: Callable, inputs: Sequence[Scalar], graph: Graph) -> list[Scalar]:
    """The nodes that `function(*inputs)` computes; Untraceable, or what it raises itself, when it cannot be followed."""
    result = np.atleast_1d(np.asarray(function(*map(Traced, inputs)), object))
    out = []
    for value in result.ravel():
        if not isinstance(value, Traced | numbers.Real):
            raise Untraceable(f"returned {value!r}, which is not a number")
        out.append(value.node if isinstance(value, Traced) else graph.constant(float(value)))
    return out
