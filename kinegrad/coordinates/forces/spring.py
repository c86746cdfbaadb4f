"""Springs: between two points a row of the table of springs, on a measure a law that stores energy."""

from __future__ import annotations

from kinegrad.coordinates.forces.laws import add_law, force_or_power, on_measure
from kinegrad.coordinates.joints.rows import dot
from kinegrad.expressions import graph as algebra

NONE = 1e-30  # of a metre, or of one a second: away from 0/0 where a length is zero, or its rate


def lower(elements, name: str, force) -> None:
    if force.between:
        _between(elements, name, force)
    else:
        _on_measure(elements, name, force)


def _between(elements, name: str, force) -> None:
    i, j = map(elements.marker, force.between)
    k, c, l0 = (
        elements.slots.number(f"forces.{name}.{key}", getattr(force, key))
        for key in ("stiffness", "damping", "natural_length")
    )
    elements.add("spring", name, {"i": i, "j": j, "k": k, "c": c, "l0": l0})


def _on_measure(elements, name: str, force) -> None:
    """The force -k (m - m0) - c ṁ; the energy it stores, and the power of its damper (LAW-8)."""
    formula = elements.formula()
    measure = elements.measure(formula, force.acts_on)
    k, c, m0 = _numbers(elements, formula, name, force)
    rate, pull = formula.rate(measure), k * (measure - m0)
    stored = (0.5 * pull * (measure - m0), -(c * rate * rate))
    add_law(elements, name, formula, on_measure(formula, measure, -(pull + c * rate)), stored)


def _numbers(elements, formula, name: str, force) -> list:
    """Stiffness, damping, and the length or value without force."""
    keys = ("stiffness", "damping", "natural_length" if force.between else "natural_value")
    return [elements.number(formula, f"forces.{name}.{key}", getattr(force, key)) for key in keys]


def _length(elements, formula, force) -> tuple:
    """Length and its rate, which where it is zero is the speed at which the points part (SPR-3)."""
    a, b = ([elements.components(formula, elements.marker(end), k) for k in range(2)] for end in force.between)
    d, dd = ([y - x for x, y in zip(a[k], b[k], strict=True)] for k in range(2))
    length, speed = (algebra.sqrt(dot(x, x) + NONE * NONE) for x in (d, dd))
    return length, (dot(d, dd) + NONE * speed) / length


def signal(elements, formula, name: str, force, part: str):
    """Force, length, rate or power (SIG-2)."""
    k, c, rest = _numbers(elements, formula, name, force)
    if not force.between:
        measure = elements.measure(formula, force.acts_on)
        value = -(k * (measure - rest) + c * formula.rate(measure))
        return force_or_power(elements, formula, force, value, part)
    length, rate = _length(elements, formula, force)
    if part in ("length", "rate"):
        return length if part == "length" else rate
    tension = k * (length - rest) + c * rate
    return tension if part == "force" else -(tension * rate)


def stored(elements, formula, name: str, force):
    """The energy of the spring."""
    k, _, rest = _numbers(elements, formula, name, force)
    value = _length(elements, formula, force)[0] if force.between else elements.measure(formula, force.acts_on)
    return 0.5 * k * (value - rest) * (value - rest)
