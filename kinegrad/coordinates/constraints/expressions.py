"""Expressions that are held at zero: of positions (LAW-3), or linear in velocities (LAW-9)."""

from __future__ import annotations

from kinegrad.errors import ExpressionError, ModelError, Problem


def position(elements, name: str, constraint) -> None:
    formula = elements.formula()
    elements.expression_row(name, formula, _value(elements, formula, name, constraint))


def velocity(elements, name: str, constraint) -> None:
    formula = elements.formula()
    value = _value(elements, formula, name, constraint)
    try:
        elements.velocity_row(name, formula, value)
    except ExpressionError as error:
        raise ModelError(Problem(f"constraints.{name}.value {error}", f"constraints.{name}.value")) from None


def _value(elements, formula, name: str, constraint):
    return elements.number(formula, f"constraints.{name}.value", constraint.value)
