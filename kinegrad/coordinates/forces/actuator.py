"""Actuators: a force on a measure that follows its value with a delay of first order (OWN-3).

With y the force and σ its integral, τ ẏ + y = u is the equation of a coordinate σ with the inertia τ, on which σ̇ - u acts: the
state of the actuator is an entry of q, and y = σ̇ is a velocity like any other.
"""

from __future__ import annotations

from kinegrad.coordinates.coordinate_set import Coordinate
from kinegrad.coordinates.forces.laws import add_law, force_or_power, on_measure

STATE = "impulse"


def lower(elements, name: str, force) -> None:
    path = f"forces.{name}"
    inertia = elements.slots.number(f"{path}.time_constant", force.time_constant)
    start = elements.slots.number(f"{path}.start", force.start)
    k = elements.own_state(Coordinate(name, STATE, "N s"), inertia, start)
    scalar = elements.coordinate_scalar(k)
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    add_law(elements, name, formula, on_measure(formula, measure, formula.scalar(scalar, 1)))
    formula = elements.formula()
    rate = formula.scalar(scalar, 1)
    u = elements.value(formula, f"{path}.value", force.value, f"force {name!r}")
    add_law(elements, name, formula, {scalar: rate - u}, idle=True)


def signal(elements, formula, name: str, force, part: str):
    """The force, which is the rate of the state, or its power."""
    k = elements.coordinates.index(f"{name}.{STATE}")
    value = formula.scalar(elements.coordinate_scalar(k), 1)
    return force_or_power(elements, formula, force, value, part)
