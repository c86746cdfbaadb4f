"""Forces at a point, or along a measure."""

from __future__ import annotations

from kinegrad.coordinates.forces.laws import add_law, components, lower_on_measure, signal_on_measure
from kinegrad.coordinates.joints.rows import dot


def lower(elements, name: str, force) -> None:
    if not force.at:
        lower_on_measure(elements, name, force)
        return
    formula = elements.formula()
    marker = elements.marker(force.at)
    F = components(elements, formula, name, force, force.at.partition(".")[0])
    scalars = [elements.scalar(marker, c) for c in range(3)]
    for k in scalars:
        formula.scalar(k)
    add_law(elements, name, formula, {k: -x for k, x in zip(scalars, F, strict=True)})


def signal(elements, formula, name: str, force, part: str):
    """The force, or its power."""
    if not force.at:
        return signal_on_measure(elements, formula, name, force, part)
    F = components(elements, formula, name, force, force.at.partition(".")[0])
    return tuple(F) if part == "force" else dot(F, elements.components(formula, elements.marker(force.at), 1))
