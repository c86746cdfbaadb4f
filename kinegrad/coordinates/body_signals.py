"""What bodies have as signals, made of markers: their axes and their centres of mass (SIG-3 to SIG-6)."""

from __future__ import annotations

from kinegrad.coordinates.forces.gravity import acceleration
from kinegrad.coordinates.joints.rows import cross, dot
from kinegrad.coordinates.masses import PAIRS
from kinegrad.coordinates.turning import along, angular, rotation, turning


def of_body(elements, formula, body: str, part: str) -> tuple:
    """Rotation, angular velocity or acceleration."""
    if part == "rotation":
        return tuple(rotation(elements, formula, body))
    return tuple(angular(elements, formula, body, {"angular_velocity": 1, "angular_acceleration": 2}[part]))


class Mass:
    """Mass, centre and inertia of a body with its point masses, in a formula."""

    def __init__(self, elements, formula, body: str):
        slots = elements.masses(body)
        self.m = formula.slot(slots["m"])
        self.J = {pair: formula.slot(slots["J"] + i) for i, pair in enumerate(PAIRS)}
        self.x, self.v = (elements.components(formula, elements.point(body, slots["com"]), k) for k in range(2))
        self.axes, self.turn = turning(elements, formula, body)
        self.spin = [
            sum((self._J(i, j) * self.turn[j] for j in (1, 2)), self._J(i, 0) * self.turn[0]) for i in range(3)
        ]

    def _J(self, i: int, j: int):
        return self.J[min(i, j), max(i, j)]

    def kinetic_energy(self):
        """½ m v² + ½ ωᵀJω (SIG-4)."""
        return 0.5 * (self.m * dot(self.v, self.v) + dot(self.turn, self.spin))

    def momentum(self) -> list:
        """m v (SIG-5)."""
        return [self.m * v for v in self.v]

    def angular_momentum(self) -> list:
        """x × m v + Jω about the global origin (SIG-5)."""
        return [a + b for a, b in zip(cross(self.x, self.momentum()), along(self.axes, self.spin), strict=True)]


def of_system(elements, formula, part: str):
    """Energies and momenta of all bodies."""
    if part == "potential_energy":
        return _potential(elements, formula)
    found = [getattr(Mass(elements, formula, body), part)() for body in elements.model.bodies]
    if part == "kinetic_energy":
        return _sum(formula, found)
    return tuple(_sum(formula, [x[c] for x in found]) for c in range(3))


def _potential(elements, formula):
    """−m g·x of all bodies, and what forces store (SIG-6)."""
    from kinegrad.coordinates.forces import STORED

    parts, gravity = [], acceleration(elements)
    if gravity:
        g = [formula.slot(gravity + c) for c in range(3)]
        for body in elements.model.bodies:
            slots = elements.masses(body)
            x = elements.components(formula, elements.point(body, slots["com"]))
            parts.append(-(formula.slot(slots["m"]) * dot(g, x)))
    for name, force in elements.model.forces.items():
        if force.type in STORED:
            parts.append(STORED[force.type](elements, formula, name, force))
    return _sum(formula, parts)


def _sum(formula, parts: list):
    return sum(parts, formula.graph.constant(0.0))
