"""Measures, or the three components of a marker, that follow a course in time (LAW-3)."""

from __future__ import annotations


def lower(elements, name: str, constraint) -> None:
    path = f"constraints.{name}.value"
    if not constraint.marker:
        elements.guide(name, path, constraint.measure, constraint.value)
        return
    for c, value in zip("xyz", constraint.value, strict=True):
        elements.guide(f"{name}.{c}", f"{path}.{c}", f"{constraint.marker}.{c}", value)
