"""Splines in time on a measure: a law whose value is that of a cubic (LAW-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.cubics import CubicSpline
from kinegrad.coordinates.forces.laws import add_law, force_or_power, on_measure
from kinegrad.coordinates.tables import spline_slots
from kinegrad.expressions.syntax import Expression


def lower(elements, name: str, force) -> None:
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    times = np.array(elements.parameters.evaluate_all(force.times))
    slots, path = elements.slots, f"forces.{name}"
    if isinstance(force.values, str):
        labels = elements.parameters.expand(force.values)
        fields = [slots.field(f"parameters.{label}", Expression.parse(label)) for label in labels]
    else:
        fields = [slots.field(f"{path}.values[{i}]", x) for i, x in enumerate(force.values)]
    slot = slots.linear(f"{path}.cubics", fields, CubicSpline(times))
    first = len(elements.times)
    formula.spline = elements.add("spline", name, {"t0": first, "t1": first + len(times), "slot": slot})
    elements.times += times.tolist()
    add_law(elements, name, formula, on_measure(formula, measure, formula.w))


def signal(elements, formula, name: str, force, part: str):
    """The value of the spline, or its power."""
    number = elements.owners["spline"].index(name)
    value = formula.value_of_spline(number, lambda: spline_slots(elements, name, elements.tables["spline"][number]))
    return force_or_power(elements, formula, force, value, part)
