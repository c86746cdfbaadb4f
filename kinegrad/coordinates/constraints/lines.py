"""Directions that stay parallel, points on lines and in planes: dot products with what is across a vector (CON-7, CON-8)."""

from __future__ import annotations

from kinegrad.coordinates.joints.rows import frame_of
from kinegrad.model import names


def parallel(elements, name: str, constraint) -> None:
    """The first vector times the second is zero, of whichever sense."""
    elements.either.append(_parallel(elements, name, constraint))


def same_direction(elements, name: str, constraint) -> None:
    """The same rows, and the sense in which the vectors coincide."""
    elements.facing.append(_parallel(elements, name, constraint))


def point_on_line(elements, name: str, constraint) -> None:
    i, j = map(elements.marker, constraint.between)
    for c, across in zip("xy", _across(elements, constraint.along), strict=True):
        elements.perpendicular(f"{name}.{c}", across, j, i)


def point_in_plane(elements, name: str, constraint) -> None:
    i, j = map(elements.marker, constraint.between)
    height = elements.slots.number(f"constraints.{name}.distance", constraint.distance)
    elements.perpendicular(name, elements.marker(constraint.normal), j, i, val=height)


def _parallel(elements, name: str, constraint) -> tuple[str, int, int, int]:
    """Writes the rows; name, and the markers a, b, c with a × b along c."""
    first, second = constraint.between
    across, vector = _across(elements, first), elements.marker(second)
    for c, marker in zip("xy", across, strict=True):
        elements.perpendicular(f"{name}.{c}", marker, vector)
    return name, *across, vector


def _across(elements, name: str) -> list[int]:
    """x and y of a frame of the body whose z is its vector ``body.marker``, as markers."""
    body, marker = names.find_marker(elements.model, name)
    path, slots = f"{elements.path(body)}.markers.{name.partition('.')[2]}.vector", elements.slots
    frame = frame_of(slots, slots.unit_scalars(path, marker.vector))
    return [
        elements.vector(body, slots.scalars(f"{path} across {c}", [frame[3 * r + j] for r in range(3)]))
        for j, c in enumerate("xy")
    ]
