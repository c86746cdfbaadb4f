"""Directions that face each other the right way round: of joints that are closed by rows, and of constraints.

Rows of directions are dot products, as many as are independent and no more (CLO-1, CON-7).  They vanish too where a direction
points the other way: a position far from such a solution is turned towards the right one first (CLO-2).  Where either sense
will do, the right one is that of the first guess.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kinematics.units import units_of

NEAR = 0.5  # cosine of the angle within which rows alone find the right solution
ACROSS = 1e-6  # cosine of directions that are perpendicular, so that neither sense is nearer
ROUNDS = 40
MOST = 1000  # coordinates of which full matrices of derivatives are made
STEP = 1e-7  # of the differences that turn directions, in units of the coordinates


def facing(system: System, starts: bool) -> tuple[tuple[str, int, int, int], ...]:
    """Elements with markers a, b, c for which a × b is to be c: where they are closed, and where joints have given starts."""
    return system.tables["facing"] + (system.tables["starting"] if starts else ())


def wanted_senses(system: System, work: Workspace, starts: bool) -> np.ndarray:
    """(facing + either,) 1 or -1: the sense each direction should have, that of the position in the workspace where either
    will do; 0 where that does not tell."""
    cosines = _cosines(work, system.tables["either"])
    return np.concatenate(
        [np.ones(len(facing(system, starts))), np.where(np.abs(cosines) > ACROSS, np.sign(cosines), 0.0)]
    )


def undecided(system: System, senses: np.ndarray, starts: bool) -> str:
    """The first constraint of which no sense is nearer; empty if there is none."""
    names = [name for name, *_ in (*facing(system, starts), *system.tables["either"])]
    return next((name for name, sense in zip(names, senses, strict=True) if sense == 0.0), "")


def _cosines(work: Workspace, directions) -> np.ndarray:
    x = work["mk"]["x"].real
    return np.array([np.cross(x[a], x[b]) @ x[c] for _, a, b, c in directions])


def gaps(system: System, work: Workspace, senses: np.ndarray, starts: bool) -> np.ndarray:
    """(directions, 3) what each direction lacks of facing its partner, at the position in the workspace."""
    directions = zip((*facing(system, starts), *system.tables["either"]), senses, strict=True)
    return np.array([_gap(work, direction, sense) for direction, sense in directions]).reshape(-1, 3)


def _gap(work: Workspace, direction, sense: float) -> np.ndarray:
    x, (_, a, b, c) = work["mk"]["x"].real, direction
    return abs(sense) * np.cross(x[a], x[b]) - sense * x[c]


def turned_over(system: System, work: Workspace, starts: bool) -> str:
    """The element whose directions face each other least, if they are not near; empty if all are."""
    directions = facing(system, starts)
    size = [(_gap(work, direction, 1.0) ** 2).sum() for direction in directions]  # 2 (1 - cos) where rows hold
    if not size or max(size) < 2.0 * (1.0 - NEAR):
        return ""
    return directions[size.index(max(size))][0]


def changed_sense(system: System, work: Workspace, senses: np.ndarray) -> bool:
    """Whether a direction that may have either sense has the other one than it should."""
    wanted = senses[len(senses) - len(system.tables["either"]) :]
    return bool((wanted * _cosines(work, system.tables["either"]) < 0.0).any())


def turn(system: System, work: Workspace, senses: np.ndarray, starts: bool, residual: Callable[[], np.ndarray]) -> None:
    """Moves q in the workspace towards a position where rows hold and directions face each other: Gauss and Newton's method
    on both, the derivatives of the directions by differences (CLO-2).  Nothing where coordinates are more than `MOST`."""
    n, q, unit = system.n, work["q"], work["unit"].real
    if n > MOST:
        return
    count = len(residual())
    units = units_of(work, work["J"][:count])

    def both() -> np.ndarray:
        """Rows and directions, in units of the model."""
        return np.concatenate([units.right(residual().real), gaps(system, work, senses, starts).ravel()])

    now = both()
    for _ in range(ROUNDS):
        rows = len(now) - 3 * len(senses)
        K, here = np.zeros((len(now), n)), q.copy()
        K[:rows] = units.of(work["J"][:rows].real)
        for k in range(n):
            q[k] = here[k] + STEP * unit[k]
            K[rows:, k] = (both()[rows:] - now[rows:]) / STEP
            q[k] = here[k]
        if not np.isfinite(K).all():
            return
        step, factor = np.linalg.lstsq(K, -now, rcond=1e-9)[0], 1.0
        while True:
            q[:] = here + factor * unit * step
            then = both()
            if np.linalg.norm(then) < np.linalg.norm(now) or factor < 1e-3:
                break
            factor *= 0.5
        if not np.linalg.norm(then) < (1.0 - 1e-3) * np.linalg.norm(now):
            break
        now = then
