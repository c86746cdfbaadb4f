"""Bushings between two frames: a row of the table of bushings (BSH-1)."""

from __future__ import annotations

from kinegrad.coordinates.joints.rows import dot
from kinegrad.coordinates.turning import rotation_vector

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


def _deflection(elements, formula, force) -> tuple[list, list]:
    """Place of the second origin and rotation vector of the second frame, in the first frame (BSH-1, BSH-3)."""
    (a, e), (b, g) = map(elements.frame, force.between)
    x, y, *axes = (elements.components(formula, marker) for marker in (a, b, *e, *g))
    e, g = axes[:3], axes[3:]
    d = [q - p for p, q in zip(x, y, strict=True)]
    return [dot(e[k], d) for k in range(3)], rotation_vector(e, g)[0]


def _vector(elements, formula, name: str, force, key: str) -> list:
    return [
        elements.number(formula, f"forces.{name}.{key}.{c}", x) for c, x in zip("xyz", getattr(force, key), strict=True)
    ]


def _springs(elements, formula, name: str, force) -> list[tuple]:
    """(elongations, stiffnesses) of lengths and angles."""
    u, theta = _deflection(elements, formula, force)
    found = []
    for values, stiffness, natural in (
        (u, "stiffness", "natural"),
        (theta, "rotational_stiffness", "natural_rotation"),
    ):
        rest = _vector(elements, formula, name, force, natural)
        found.append(
            ([x - y for x, y in zip(values, rest, strict=True)], _vector(elements, formula, name, force, stiffness))
        )
    return found


def signal(elements, formula, name: str, force, part: str):
    """What the bushing exerts on the second body along the first frame, deflections, or power (BSH-4)."""
    if part in ("deflection", "rotation"):
        return tuple(_deflection(elements, formula, force)[part == "rotation"])
    exerted, power = [], formula.graph.constant(0.0)
    for (x, k), key in zip(_springs(elements, formula, name, force), ("damping", "rotational_damping"), strict=True):
        c, rates = _vector(elements, formula, name, force, key), [formula.rate(y) for y in x]
        F = [-(a * b + p * q) for a, b, p, q in zip(k, x, c, rates, strict=True)]
        exerted.append(tuple(F))
        power = power + dot(F, rates)
    return power if part == "power" else exerted[part == "torque"]


def stored(elements, formula, name: str, force):
    """The energy of its springs."""
    total = formula.graph.constant(0.0)
    for x, k in _springs(elements, formula, name, force):
        total = total + 0.5 * sum((a * y * y for a, y in zip(k[1:], x[1:], strict=True)), k[0] * x[0] * x[0])
    return total
