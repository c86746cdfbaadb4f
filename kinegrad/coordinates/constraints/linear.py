"""Linear combinations of measures (LAW-3)."""

from __future__ import annotations

from kinegrad.model.signals import unit_of_name


def lower(elements, name: str, constraint) -> None:
    path, formula = f"constraints.{name}", elements.formula()
    total = -elements.number(formula, f"{path}.value", constraint.value)
    for measure, factor in constraint.terms.items():
        term = elements.number(formula, f"{path}.terms.{measure}", factor) * elements.measure(formula, measure)
        total = total + term
    unit = unit_of_name(elements.model, next(iter(constraint.terms)))
    elements.expression_row(name, formula, total, unit)
