"""States of elements, where a position alone is looked for."""

from __future__ import annotations

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError


def refuse_states(system: System, what: str) -> None:
    """Raises by the name of the first element that has a state of its own, which `what` has no equation for."""
    for name in system.states:
        kind = system.model.forces[name].type
        raise KinegradError(
            f"The {kind} {name!r} has a state of its own, which follows from a motion in time: {what} does not tell it. "
            "Simulate the model, or write a force in its place."
        )
