"""Springs: between two points a row of the table of springs, on a measure a law that stores energy."""

from __future__ import annotations

from kinegrad.coordinates.forces.laws import add_law, on_measure


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
    k, c, m0 = (
        elements.number(formula, f"forces.{name}.{key}", getattr(force, key))
        for key in ("stiffness", "damping", "natural_value")
    )
    rate, pull = formula.rate(measure), k * (measure - m0)
    stored = (0.5 * pull * (measure - m0), -(c * rate * rate))
    add_law(elements, name, formula, on_measure(formula, measure, -(pull + c * rate)), stored)
