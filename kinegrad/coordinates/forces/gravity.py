"""Gravity: no element of its own; a set lets its ground accelerate by the sum of all fields."""

from __future__ import annotations


def lower(elements, name: str, force) -> None:
    """Nothing to add: see `acceleration`."""


def acceleration(elements) -> int:
    """First of three slots of the sum of all gravity elements; 0 without any."""
    total = None
    for name, force in elements.model.forces.items():
        if force.type == "gravity":
            path = f"forces.{name}.acceleration"
            g = [elements.slots.field(f"{path}.{c}", x) for c, x in zip("xyz", force.acceleration, strict=True)]
            total = g if total is None else [a + b for a, b in zip(total, g, strict=True)]
    return 0 if total is None else elements.slots.scalars("gravity", total)
