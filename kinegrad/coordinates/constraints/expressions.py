"""Rows that hold an expression or a function (LAW-10, LAW-11) at zero: of positions (LAW-3) or linear in velocities (LAW-9)."""

from __future__ import annotations

from kinegrad.coordinates.constraints.functions import function_value
from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.laws import Law
from kinegrad.model.signals import unit_of


def position(elements, name: str, constraint) -> None:
    _add(elements, name, constraint.value, 0, elements.expression_row)


def velocity(elements, name: str, constraint) -> None:
    _add(elements, name, constraint.value, 1, elements.velocity_row)


def _add(elements, name: str, value, level: int, add_row) -> None:
    formula, path = elements.formula(), f"constraints.{name}.value"
    try:
        if isinstance(value, Law):
            scalar = function_value(formula, value, f"constraint {name!r}", level)
        else:
            scalar = elements.number(formula, path, value)
        add_row(name, formula, scalar, unit_of(elements.model, value))
    except ExpressionError as error:
        raise ModelError(Problem(f"{path} {error}", path)) from None
