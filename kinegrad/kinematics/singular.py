"""Singular positions: where constraints lose rank, and a mechanism has more freedoms than elsewhere (KIN-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.kernels.products import EVALUATE, FREEDOMS, TIME
from kinegrad.kernels.status import OK

REGULAR = 1e-6  # singular values of the weighted rows above this part of the largest count as rank
NEAR = 0.05  # of the largest: a value that counted before and is below this is about to be lost
MANY = 400  # coordinates beyond which singular values take too long to tell why a run stopped


def weighted_rows(system: System, s: np.ndarray, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Phi_q at a state, coordinates weighted by inertia; None where it cannot be computed."""
    work = system.workspace(s=s)
    work["q"][:], work["v"][:], work["par"][TIME] = q.real, v.real, t
    work["flag"][FREEDOMS] = 0
    if work.call(EVALUATE) != OK:
        return None
    inertia = work["M"].diagonal()
    heaviest = max(inertia.max(initial=0.0), 1e-300)
    rows = work["J"][: system.m] * np.where(inertia > 1e-12 * heaviest, inertia, heaviest) ** -0.5
    return rows if np.isfinite(rows).all() else None


def is_near_singular(system: System, s, begin, last, h: float) -> bool:
    """Whether rows that hold at the state `begin` = (t, q, v) lose rank at the state `last`, or within a step h after it."""
    if system.m == 0 or system.n > MANY:
        return False
    first = weighted_rows(system, s, *begin)
    if first is None:
        return False
    size = np.linalg.norm(first, axis=1)
    size[size <= 1e-9 * size.max()] = size.max() or 1.0
    values = np.linalg.svd(first / size[:, None], compute_uv=False)
    rank = int((values > REGULAR * values[0]).sum())
    least = min(NEAR, 0.2 * values[rank - 1] / values[0])
    t, q, v = last
    for part in (0.0, 0.5, 1.0):
        rows = weighted_rows(system, s, t + part * h, q + part * h * v, v)
        if rows is not None:
            now = np.linalg.svd(rows / size[:, None], compute_uv=False)
            if now[rank - 1] < least * now[0]:
                return True
    return False
