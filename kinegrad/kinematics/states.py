"""States of elements: whether something determines them, and where only a position is looked for."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError, SimulationError


def refuse_states(system: System, what: str) -> None:
    """Raises by the name of the first element that has a state of its own, which `what` has no equation for."""
    for name in system.states:
        kind = system.model.forces[name].type
        raise KinegradError(
            f"The {kind} {name!r} has a state of its own, which follows from a motion in time: {what} does not tell it. "
            "Simulate the model, or write a force in its place."
        )


def check_states(system: System, s: np.ndarray) -> None:
    """Raises when a coordinate that an element owns is determined by nothing: it has no row, and its inertia is none."""
    for own in system.own:
        if own.inertia >= 0 and not s[own.inertia].real > 0.0:
            name = system.coordinates[own.k]
            raise SimulationError(
                f"Nothing determines {name!r}, a coordinate that {name.owner!r} owns: {system.slots.names[own.inertia]} is "
                f"{s[own.inertia].real:g}; give it a value above zero."
            )


def refuse_velocity_rows(system: System, what: str, remedy: str) -> None:
    """Raises by the name of the first row of velocities, which `what` does not take."""
    found = np.flatnonzero(system.levels)
    if len(found):
        name = system.row_names[found[0]]
        raise KinegradError(f"{what} takes rows of positions only, and {name!r} is a row of velocities; {remedy}.")
