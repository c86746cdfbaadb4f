"""Bushings between two frames: a row of the table of bushings (BSH-1)."""

from __future__ import annotations

SLOTS = {
    "k": "stiffness",
    "c": "damping",
    "n": "natural",
    "kt": "rotational_stiffness",
    "ct": "rotational_damping",
    "nt": "natural_rotation",
}


def lower(elements, name: str, force) -> None:
    row = {}
    for letter, frame in zip("ab", force.between, strict=True):
        row[letter], axes = elements.frame(frame)
        row |= {f"{letter}{k}": axis for k, axis in enumerate(axes, 1)}
    row |= {slot: elements.slots.vector(f"forces.{name}.{key}", getattr(force, key)) for slot, key in SLOTS.items()}
    elements.add("bushing", name, row)
