"""Singular positions: where constraints lose rank, and a mechanism has more freedoms than elsewhere (KIN-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.kernels.products import EVALUATE, FREEDOMS, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.constrained import shared

NULL = 1e-9  # part of the longest row below which a row is none
REGULAR = 1e-6  # singular values of the weighted rows above this part of the largest count as rank
NEAR = 0.05  # of the largest: a value that counted before and is below this is about to be lost
MANY = 400  # coordinates beyond which singular values take too long to tell why a run stopped


def weighted_rows(system: System, work: Workspace, t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray | None:
    """Phi_q at a state, coordinates weighted by inertia; None where it cannot be computed."""
    work["q"][:], work["v"][:], work["par"][TIME] = q.real, v.real, t
    work["flag"][FREEDOMS] = 0
    if work.call(EVALUATE) != OK:
        return None
    rows = work["J"][: system.m].real * inertia_scale(work)[0]
    return rows if np.isfinite(rows).all() else None


def inertia_scale(work: Workspace) -> tuple[np.ndarray, float]:
    """(M_d/M_max)^(-1/2) in units of coordinates, with the largest in the place of inertias that are none; and the largest.

    Four Euler parameters have their mean inertia: what each of them moves changes with the orientation, down to nothing.
    """
    unit = work["unit"]
    inertia = shared(work.matrix("M"), work.system.alike) * unit**2
    heaviest = float(inertia.max(initial=0.0)) or 1.0
    return unit * np.where(inertia > 1e-12 * heaviest, inertia / heaviest, 1.0) ** -0.5, heaviest


def without_null(sizes: np.ndarray, per_row: np.ndarray) -> np.ndarray:
    """Sizes of rows; of those that are none but for rounding, in the units of rows, that of the largest."""
    told = per_row > 0.0
    per_row = np.where(told, per_row, 1.0)
    largest = (sizes * per_row)[told].max(initial=0.0)
    null = np.where(told, ~(sizes * per_row > NULL * largest), ~(sizes > 0.0))
    return np.where(null, (largest or 1.0) / per_row, sizes)


class Measure:
    """Singular values of the rows at a state, in units of the rows at the start (KIN-6)."""

    def __init__(self, system: System, work: Workspace, begin):
        self.system, self.work = system, work
        first = weighted_rows(system, work, *begin)
        self.known = first is not None
        if self.known:
            self.sizes = size = without_null(np.sqrt(np.square(first).sum(axis=1)), work["per_row"][: system.m])
            values = np.linalg.svd(first / size[:, None], compute_uv=False)
            self.rank = int((values > REGULAR * values[0]).sum())
            self.near = 0.2 * values[self.rank - 1] / values[0]

    def least(self, state) -> tuple[float, np.ndarray]:
        """The least singular value that counted at the start, of the largest, and its combination of the rows."""
        rows = weighted_rows(self.system, self.work, *state)
        if rows is None:
            return np.inf, np.zeros(0)
        U, values, _ = np.linalg.svd(rows / self.sizes[:, None])
        return float(values[self.rank - 1] / values[0]), U[:, self.rank - 1] / self.sizes


def is_near_singular(system: System, s, begin, last, h: float) -> bool:
    """Whether rows that hold at the state `begin` = (t, q, v) lose rank at the state `last`, or within a step h after it."""
    if system.m == 0 or system.n > MANY:
        return False
    measure = Measure(system, system.workspace(s=s), begin)
    t, q, v = last
    states = ((t + part * h, q + part * h * v, v) for part in (0.0, 0.5, 1.0))
    return measure.known and any(measure.least(state)[0] < min(NEAR, measure.near) for state in states)
