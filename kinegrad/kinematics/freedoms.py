"""Degrees of freedom and rates at the start: whether they are as many as the mechanism has, and independent of each other."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import AssemblyError
from kinegrad.kinematics.decoupled import null_space
from kinegrad.kinematics.instead import measures_instead
from kinegrad.kinematics.least_squares import RANK_TOLERANCE, alike, least_entry, rank
from kinegrad.kinematics.units import units_of

MOST_SUGGESTED = 3  # degrees of freedom, to a model that gives too few


def first_rows(work: Workspace, name: str, count: int):
    """The first rows of a matrix of rows by coordinates."""
    A = work.matrix(name)
    return A.first(count) if isinstance(A, Rows) else A[:count]


def without(A, rows: np.ndarray):
    """A, or a right-hand side, with zero in the rows that a mask tells."""
    if isinstance(A, Rows):
        return A.without(rows)
    return np.where(rows.reshape(-1, *[1] * (A.ndim - 1)), 0.0, A)


def of_positions(system: System, J):
    """Rows J, or derivatives by positions, of which those of velocities are zero."""
    levels = system.levels[: len(J)]
    return without(J, levels != 0) if levels.any() else J


def of_rates(system: System, A):
    """Rows A, constraints and freedoms, of which those of freedoms without a given rate are zero."""
    found = [system.m + i for i, freedom in enumerate(system.freedoms) if freedom.velocity < 0]
    if not found:
        return A
    mask = np.zeros(len(A), bool)
    mask[found] = True
    return without(A, mask)


def refuse_infinite(system: System, J, when: str) -> None:
    """Raises when a derivative is no number, by the name of the row."""
    bad = J.of_row[~np.isfinite(J.values)] if isinstance(J, Rows) else np.flatnonzero(~np.isfinite(J).all(axis=1))
    if len(bad):
        name = [*system.row_names, *(f.name for f in system.freedoms)][bad[0]]
        raise AssemblyError(
            f"The derivatives of {name!r} {when} are infinite or not numbers; look for lengths or positions that are too large "
            "or too small, and for expressions outside their domain."
        )


def _suggestion(system: System, J) -> str:
    """A few joint coordinates that may be added to the freedoms given; empty when none are missing or in q."""
    among = [
        k
        for k, name in enumerate(system.coordinates)
        if name.part in getattr(system.model.joints.get(name.owner), "coordinates", ())
    ]
    if isinstance(J, Rows):
        J = alike(J)
        found = J.fronts.open_coordinates(J, least_entry(J), among, MOST_SUGGESTED)
    else:
        found = _open_coordinates(J, among)
    return f", such as {', '.join(system.coordinates[k] for k in found)}" if found else ""


def _open_coordinates(J: np.ndarray, among: list[int]) -> list[int]:
    """The first of these coordinates that rows leave free, each with those before it held."""
    motions, found = null_space(J, RANK_TOLERANCE), []
    for k in among:
        size = np.linalg.norm(motions[k])
        if size > RANK_TOLERANCE:
            motions -= np.outer(motions @ motions[k], motions[k]) / size**2  # hold this coordinate too
            found.append(k)
            if len(found) == MOST_SUGGESTED:
                break
    return found


def check_freedoms(system: System, work: Workspace) -> None:
    """Raises when degrees_of_freedom are too few, too many or dependent at the assembled position."""
    m = system.m
    J = work.matrix("J")
    refuse_infinite(system, J, "at the start")
    J = units_of(work, J).of(J)
    dof = system.n - len(system.states) - rank(of_positions(system, J.first(m) if isinstance(J, Rows) else J[:m]))
    given = [f for f in system.freedoms if f.independent and not f.state]
    names = ", ".join(f.name for f in given) or "none"
    if len(given) != dof:
        instead = measures_instead(system, work, dof) if len(given) > dof else ""
        more = f"{'add' if len(given) < dof else 'remove'} {abs(dof - len(given))}{_suggestion(system, J)}"
        raise AssemblyError(
            f"The mechanism has {dof} degrees of freedom and degrees_of_freedom gives {len(given)} ({names}); "
            f"{instead or more}."
        )
    if dof and rank(of_positions(system, J)) < system.n:
        raise AssemblyError(
            f"The degrees of freedom {names} depend on each other at the start; choose others, such as joint coordinates "
            "that can move independently."
        )


def check_rates(system: System, work: Workspace) -> None:
    """Raises when the rates given at the start are not as many as there are freedoms of velocity, or depend on each other."""
    m, J = system.m, work.matrix("J")
    if not system.levels.any():
        return
    J = units_of(work, J).of(J)
    dof = system.n - len(system.states) - rank(J.first(m) if isinstance(J, Rows) else J[:m])
    given = [f for f in system.freedoms if f.independent and not f.state and f.velocity >= 0]
    names = ", ".join(f.name for f in given) or "none"
    if len(given) != dof:
        positions = sum(f.independent and not f.state for f in system.freedoms)
        raise AssemblyError(
            f"The mechanism has {positions} freedoms of position and {dof} of velocity, and degrees_of_freedom gives the "
            f"velocity of {len(given)} ({names}); {'add' if len(given) < dof else 'remove'} {abs(dof - len(given))}."
        )
    if rank(of_rates(system, J)) < system.n:
        raise AssemblyError(f"The velocities given at the start ({names}) depend on each other; give others.")
