"""Joints that close the right way round.

Closure rows of directions are dot products, a joint's own number of them and no more (CLO-1).  They vanish too where a
direction points the other way: a position far from such a solution is turned towards the right one first (CLO-2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from kinegrad.coordinates.system import System, Workspace

NEAR = 0.5  # cosine of the angle within which rows alone find the right solution
ROUNDS = 40
STEP = 1e-7  # of the differences that turn directions


def gaps(system: System, work: Workspace) -> np.ndarray:
    """(directions, 3) what each direction of a cut joint lacks of facing its partner, at the position in the workspace."""
    x = work["mk"]["x"].real
    return np.array([np.cross(x[a], x[b]) - x[c] for _, a, b, c in system.tables["facing"]]).reshape(-1, 3)


def turned_over(system: System, work: Workspace) -> str:
    """The joint whose directions face each other least, if they are not near; empty if all are."""
    size = (gaps(system, work) ** 2).sum(axis=1)  # 2 (1 - cos) where the rows hold
    if not len(size) or size.max() < 2.0 * (1.0 - NEAR):
        return ""
    return system.tables["facing"][int(size.argmax())][0]


def turn(system: System, work: Workspace, residual: Callable[[], np.ndarray]) -> None:
    """Moves q in the workspace towards a position where rows hold and directions face each other: Gauss and Newton's method
    on both, the derivatives of the directions by differences (CLO-2)."""
    n, q = system.n, work["q"]

    def both() -> np.ndarray:
        rows = residual().real
        return np.concatenate([rows, gaps(system, work).ravel()])

    now = both()
    for _ in range(ROUNDS):
        rows = len(now) - 3 * len(system.tables["facing"])
        K, here = np.zeros((len(now), n)), q.copy()
        K[:rows] = work["J"][:rows].real
        for k in range(n):
            q[k] = here[k] + STEP
            K[rows:, k] = (both()[rows:] - now[rows:]) / STEP
            q[k] = here[k]
        if not np.isfinite(K).all():
            return
        step, factor = np.linalg.lstsq(K, -now, rcond=1e-9)[0], 1.0
        while True:
            q[:] = here + factor * step
            then = both()
            if np.linalg.norm(then) < np.linalg.norm(now) or factor < 1e-3:
                break
            factor *= 0.5
        if not np.linalg.norm(then) < (1.0 - 1e-3) * np.linalg.norm(now):
            break
        now = then
