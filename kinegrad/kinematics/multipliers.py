"""Multipliers of redundant rows, brought to least norm where they are shown (KIN-7)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.patterns import FRONTS
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.kernels.constrained import STRENGTH
from kinegrad.kernels.products import FREEDOMS, POSITION, TIME
from kinegrad.kinematics.constrained import solve_constrained, squares_of
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.units import Units, units_of

REDUNDANT = 1e-7  # singular values, of the largest, of unit rows below which a direction has no force of its own
AT_ONCE = 10**7  # numbers in the rows of as many states


def least_norm(system: System, s: np.ndarray, t: np.ndarray, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """(k, m) multipliers of least norm with the forces Phi_qᵀ lam at the positions q (k, n): lam where rows are independent.

    The norm is that of forces of rows in units of the model.
    """
    if not lam.size or not np.isfinite(lam).all():
        return lam
    work = system.workspace(s=s)
    units = units_of(work, _rows(system, work, t[0], q[0]))
    if system.solver == FRONTS:
        return _by_fronts(system, work, units, t, q, lam)
    rows = units.of(_rows(system, work, t[0], q[0]))
    size = np.linalg.norm(rows, axis=1)
    unit = rows[size > 0.0] / size[size > 0.0][:, None]
    values = np.linalg.svd(unit, compute_uv=False) if unit.size else np.ones(1)
    if len(unit) == system.m <= system.n and values[-1] > REDUNDANT * values[0]:
        return lam
    out, lam = np.empty_like(lam), lam / units.rows
    count = max(1, AT_ONCE // rows.size)
    for first in range(0, len(t), count):
        part = slice(first, first + count)
        J = np.array([units.of(_rows(system, work, *state)) for state in zip(t[part], q[part], strict=True)])
        forces = np.einsum("kmn,km->kn", J, lam[part])
        out[part] = np.einsum("kmn,kn->km", np.linalg.pinv(J.transpose(0, 2, 1), rcond=REDUNDANT), forces)
    return out * units.rows


def _rows(system: System, work, t: float, q: np.ndarray) -> np.ndarray | Rows:
    work["q"][:], work["par"][TIME] = q, t
    work["flag"][FREEDOMS] = 0
    work.call(POSITION)
    return first_rows(work, "J", system.m).real.copy()


def _by_fronts(system: System, work, units: Units, t: np.ndarray, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """The same without matrices of all rows: rounds with equal weights of all rows end at multipliers of least norm (LIN-3)."""
    given, out, lam = lam, np.empty_like(lam), lam / units.rows
    unit = work.fronts.diagonal(np.ones(system.n))
    for k, (time, position) in enumerate(zip(t, q, strict=True)):
        J = units.of(_rows(system, work, time, position))
        size = squares_of(J).sum(axis=1)
        if k == 0:
            long = np.sqrt(np.where(size > 0.0, size, 1.0))
            if work.fronts.independent(J.scaled(1.0 / long, np.ones(system.n)), REDUNDANT).all():
                return given
        right = (J.T @ lam[k])[:, None], np.zeros((len(J), 1))
        weights = np.full(len(J), STRENGTH / max(size.max(initial=0.0), 1e-300))
        out[k] = solve_constrained(unit, J, 0.0, *right, weights=weights)[2][:, 0]
    return out * units.rows
