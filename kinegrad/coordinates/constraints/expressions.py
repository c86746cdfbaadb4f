"""Expressions and functions that are held at zero: of positions (LAW-3), or linear in velocities (LAW-9, LAW-10)."""

from __future__ import annotations

from kinegrad.coordinates.constraints.functions import followed
from kinegrad.errors import ExpressionError, ModelError, Problem
from kinegrad.laws import Law


def position(elements, name: str, constraint) -> None:
    _add(elements, name, constraint.value, elements.expression_row)


def velocity(elements, name: str, constraint) -> None:
    _add(elements, name, constraint.value, elements.velocity_row)


def _add(elements, name: str, value, add_row) -> None:
    formula, path = elements.formula(), f"constraints.{name}.value"
    try:
        of_law = isinstance(value, Law)
        add_row(name, formula, followed(formula, value) if of_law else elements.number(formula, path, value))
    except ExpressionError as error:
        raise ModelError(Problem(f"{path} {error}", path)) from None
