"""Signals as formulas: what a quantity of an element is, and the tables of those that a system computes along (SIG-1)."""

from __future__ import annotations

from collections.abc import Sequence

from kinegrad.coordinates.body_signals import of_body, of_system
from kinegrad.coordinates.constraint_forces import of_constraint
from kinegrad.coordinates.forces import SIGNALS as FORCES
from kinegrad.coordinates.joints.rows import dot
from kinegrad.coordinates.laws import Formula
from kinegrad.errors import ExpressionError
from kinegrad.expressions import graph as algebra
from kinegrad.laws import Law
from kinegrad.model.names import Reference
from kinegrad.model.quantities import NORM

SHARED = ""
AXIS = "axis of"
"""Begins the names of components of the axes of a body, which are watched and not listed."""


def axes_names(body: str) -> list[str]:
    """Names of the nine components of the axes of a body, axis by axis."""
    return [f"{AXIS} {body} {k} {c}" for k in range(3) for c in range(3)]


def quantity(elements, formula: Formula, reference: Reference):
    """The Scalar, or the three, of a quantity of an element; an ExpressionError where no formula gives it."""
    if reference.quantity.use == "result":
        name = f"{reference.element}.{reference.part}".strip(".")
        raise ExpressionError(
            f"uses {name!r}, an integral over a whole motion; integrate the power of a force, {{integral: FORCE.power}}."
        )
    model, element, part = elements.model, reference.element, reference.part
    if reference.quantity.use == "solved":
        value = of_constraint(elements, formula, reference)
    elif not element:
        value = of_system(elements, formula, part)
    elif element in model.bodies:
        value = of_body(elements, formula, element, part)
    else:
        force = model.forces[element]
        value = FORCES[force.type](elements, formula, element, force, part)
    return component(value, reference.component)


def component(vector: Sequence, which: int | None):
    """A component of a vector, its norm, or all of it."""
    if which is None:
        return vector
    return algebra.sqrt(dot(vector, vector)) if which == NORM else vector[which]


def add_signals(elements, names: Sequence[str]) -> None:
    """Rows of the table of signals: one law for all that need neither a function nor a spline, one for each other owner."""
    groups: dict[str, tuple[Formula, list, list[int]]] = {}
    for column, name in enumerate(names):
        owner = _alone(elements.model, name)
        formula, outputs, columns = groups.setdefault(owner, (elements.formula(), [], []))
        outputs.append(_value(elements, formula, name))
        columns.append(column)
    for owner, (formula, outputs, columns) in groups.items():
        elements.add("signal", owner, elements.packed.add(formula, formula.tapes(outputs), columns, exact=None))


def _alone(model, name: str) -> str:
    """The owner whose signals need a law of their own, if it does."""
    owner = name.split(".")[0]
    force = model.forces.get(owner)
    calls = force is not None and (force.type == "spline" or isinstance(getattr(force, "value", None), Law))
    return owner if calls or owner in model.objectives else SHARED


def _value(elements, formula: Formula, name: str):
    if name.startswith(AXIS):
        body, k, c = name.removeprefix(AXIS).split()
        return elements.components(formula, elements.axes(body)[int(k)])[int(c)]
    objective = elements.model.objectives.get(name)
    if objective is None:
        return elements.measure(formula, name)
    return elements.value(formula, f"objectives.{name}", objective.expression, f"objective {name!r}")
