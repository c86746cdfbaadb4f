"""Masses of bodies as slots: the inertia of a body, and a body with its point masses as one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegrad.model.bodies import AxisInertia

if TYPE_CHECKING:
    from kinegrad.expressions.graph import Scalar
    from kinegrad.model.slots import SlotBuilder

PAIRS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
NO_MASS = 1e-300  # beside the square of a mass: keeps a body that has none from dividing by zero


def inertia(slots: SlotBuilder, path: str, given) -> list[Scalar]:
    """Six Scalars xx yy zz xy xz yz of the inertia of the body at `path`."""
    path = f"{path}.inertia"
    if isinstance(given, AxisInertia):
        u = slots.unit_scalars(f"{path}.axis", given.axis)
        along, across = slots.field(f"{path}.along", given.along), slots.field(f"{path}.across", given.across)
        return [(along - across) * (u[i] * u[j]) + (across if i == j else 0.0) for i, j in PAIRS]
    labels = ("xx", "yy", "zz", "xy", "xz", "yz")
    tensor = [slots.field(f"{path}.{c}", x) for c, x in zip(labels, given, strict=False)]
    return tensor + [slots.graph.constant(0.0)] * (6 - len(tensor))


def whole_body(slots: SlotBuilder, path: str, body) -> dict[str, int]:
    """Slots of mass `m`, centre `com` (first of three) and inertia `J` (first of six), with point masses (RFP-10)."""
    J = inertia(slots, path, body.inertia)
    if not body.point_masses:
        return {
            "m": slots.number(f"{path}.mass", body.mass),
            "com": slots.vector(f"{path}.com", body.com),
            "J": slots.scalars(f"{path}.inertia tensor", J),
        }
    parts = [(slots.field(f"{path}.mass", body.mass), _components(slots, f"{path}.com", body.com))]
    for name, point in body.point_masses.items():
        at = f"{path}.point_masses.{name}"
        parts.append((slots.field(f"{at}.mass", point.mass), _components(slots, f"{at}.at", point.at)))
    first, m = parts[0][1], sum((mass for mass, _ in parts[1:]), parts[0][0])
    share = m / (m * m + NO_MASS)
    c = list(first)
    for mass, place in parts[1:]:
        c = [x + share * (mass * (y - x0)) for x, y, x0 in zip(c, place, first, strict=True)]
    for mass, place in parts:
        d = [y - x for x, y in zip(c, place, strict=True)]
        square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2]
        J = [x + mass * ((square if i == j else 0.0) - d[i] * d[j]) for x, (i, j) in zip(J, PAIRS, strict=True)]
    return {
        "m": slots.add(f"{path} with point masses: mass", m),
        "com": slots.scalars(f"{path} with point masses: com", c),
        "J": slots.scalars(f"{path} with point masses: inertia", J),
    }


def _components(slots: SlotBuilder, path: str, numbers) -> list[Scalar]:
    return [slots.field(f"{path}.{c}", x) for c, x in zip("xyz", numbers, strict=True)]
