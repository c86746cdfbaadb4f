"""Torques on a body, or about a measure."""

from __future__ import annotations

from kinegrad.coordinates.forces.laws import add_law, components, lower_on_measure, signal_on_measure
from kinegrad.coordinates.joints.rows import dot
from kinegrad.coordinates.turning import angular


def lower(elements, name: str, force) -> None:
    """½ τ × e_k on the three axes of the frame of the body (LAW-5)."""
    if not force.at:
        lower_on_measure(elements, name, force)
        return
    formula = elements.formula()
    body = force.at.partition(".")[0]
    tau = components(elements, formula, name, force, body)
    forces = {}
    for marker in elements.axes(body):
        e = [formula.scalar(elements.scalar(marker, c)) for c in range(3)]
        for c in range(3):
            i, j = (c + 1) % 3, (c + 2) % 3
            forces[elements.scalar(marker, c)] = -0.5 * (tau[i] * e[j] - tau[j] * e[i])
    add_law(elements, name, formula, forces)


def signal(elements, formula, name: str, force, part: str):
    """The torque, or its power."""
    if not force.at:
        return signal_on_measure(elements, formula, name, force, part)
    body = force.at.partition(".")[0]
    tau = components(elements, formula, name, force, body)
    return tuple(tau) if part == "force" else dot(tau, angular(elements, formula, body))
