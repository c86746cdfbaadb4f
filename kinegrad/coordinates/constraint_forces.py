"""Forces of constraints as formulas with multipliers, for objectives (OBJ-3)."""

from __future__ import annotations

from kinegrad.coordinates.laws import Formula
from kinegrad.errors import ExpressionError
from kinegrad.model.names import Reference


def of_constraint(elements, formula: Formula, reference: Reference):
    """The Scalar of the force of a driver or of a row of a measure, or of the power of a driver."""
    model, name = elements.model, reference.element
    if name not in elements.row_names:
        raise ExpressionError(f"uses the force of {name!r}, which has no row of its own in these coordinates.")
    force = -elements.multiplier(formula, elements.row_names.index(name))
    if reference.part == "power":
        return force * formula.rate(elements.measure(formula, model.drivers[name].measure))
    return force
