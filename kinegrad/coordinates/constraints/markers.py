"""Constraints that are products of markers (CON-1)."""

from __future__ import annotations

from kinegrad.expressions import graph as algebra


def coincidence(elements, name: str, constraint) -> None:
    elements.coincide(name, *map(elements.marker, constraint.between))


def distance(elements, name: str, constraint) -> None:
    i, j = map(elements.marker, constraint.between)
    elements.distance(name, i, j, elements.slots.number(f"constraints.{name}.distance", constraint.distance))


def dot(elements, name: str, constraint) -> None:
    i, j = map(elements.marker, constraint.between)
    elements.perpendicular(name, i, j, val=elements.slots.number(f"constraints.{name}.value", constraint.value))


def angle(elements, name: str, constraint) -> None:
    """The dot product is the cosine of the angle."""
    i, j = map(elements.marker, constraint.between)
    path = f"constraints.{name}.value"
    cosine = algebra.cos(elements.slots.field(path, constraint.value))
    elements.perpendicular(name, i, j, val=elements.slots.add(f"cos {path}", cosine))
