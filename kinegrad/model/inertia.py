"""Inertias of simple solids about their centres of mass, for ``Body(inertia=...)``.

Sizes and masses are numbers or expressions (also as texts), so that an inertia follows its parameters:
``kg.rod("m", "L")`` is ``(0, m*L**2/12, m*L**2/12)``.
"""

from __future__ import annotations

from typing import Any

from kinegrad.errors import ModelError
from kinegrad.expressions.syntax import Expression
from kinegrad.model.values import to_number

Value = float | Expression
Moments = tuple[Value, Value, Value]


def rod(mass: Any, length: Any, axis: str = "x") -> Moments:
    """Principal moments of a slender rod along `axis`: none about the axis, ``m L²/12`` across it."""
    return _about(axis, 0.0, _formula("{m}*{L}**2/12", m=mass, L=length))


def box(mass: Any, size: tuple[Any, Any, Any]) -> Moments:
    """Principal moments of a solid box with the edges `size` along x, y, z."""
    edges = [_number("size", edge) for edge in size]
    if len(edges) != 3:
        raise ModelError(f"size has {len(edges)} entries; give three edges (along x, y, z).")
    pairs = ((1, 2), (0, 2), (0, 1))
    return tuple(_formula("{m}*({a}**2 + {b}**2)/12", m=mass, a=edges[i], b=edges[j]) for i, j in pairs)


def cylinder(mass: Any, radius: Any, length: Any, axis: str = "z", inner_radius: Any = 0.0) -> Moments:
    """Principal moments of a cylinder along `axis`, a tube when it has an inner radius; of a disc when length is 0."""
    sizes = {"m": mass, "R": radius, "L": length, "r": inner_radius}
    if _number("inner_radius", inner_radius) == 0.0:
        along, across = "{m}*{R}**2/2", "{m}*(3*{R}**2 + {L}**2)/12"
    else:
        along, across = "{m}*({R}**2 + {r}**2)/2", "{m}*(3*({R}**2 + {r}**2) + {L}**2)/12"
    return _about(axis, _formula(along, **sizes), _formula(across, **sizes))


def sphere(mass: Any, radius: Any, inner_radius: Any = 0.0) -> Moments:
    """Principal moments of a ball, hollow when it has an inner radius; of a thin shell when both radii are equal."""
    if _number("inner_radius", inner_radius) == 0.0:
        moment = _formula("2*{m}*{R}**2/5", m=mass, R=radius)
    else:  # (R⁵ − r⁵)/(R³ − r³) divided out, so that a thin shell is no 0/0
        moment = _formula(
            "2*{m}*({R}**4 + {R}**3*{r} + {R}**2*{r}**2 + {R}*{r}**3 + {r}**4)/(5*({R}**2 + {R}*{r} + {r}**2))",
            m=mass, R=radius, r=inner_radius,
        )  # fmt: skip
    return (moment, moment, moment)


def _about(axis: str, along: Value, across: Value) -> Moments:
    if axis not in ("x", "y", "z"):
        raise ModelError(f"axis is {axis!r}; give 'x', 'y' or 'z', or AxisInertia for another direction.")
    return tuple(along if name == axis else across for name in "xyz")


def _number(name: str, value: Any) -> Value:
    try:
        return to_number(value)
    except ValueError as error:
        raise ModelError(f"{name} {error}") from None


def _formula(text: str, **sizes: Any) -> Value:
    """The formula with sizes put in: a float when all are, else an expression."""
    numbers = {name: _number(name, value) for name, value in sizes.items()}
    expression = Expression.parse(text.format(**{name: f"({value})" for name, value in numbers.items()}))
    if expression.names:
        return expression
    from kinegrad.expressions.graph import Graph, evaluate, scalarise_number

    return evaluate([scalarise_number(expression, Graph(), None)], {})[0]
