"""Multipliers of redundant rows, brought to least norm where they are shown (KIN-7)."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.kernels.products import FREEDOMS, POSITION, TIME

REDUNDANT = 1e-7  # singular values, of the largest, of unit rows below which a direction has no force of its own
AT_ONCE = 4096


def least_norm(system: System, s: np.ndarray, t: np.ndarray, q: np.ndarray, lam: np.ndarray) -> np.ndarray:
    """(k, m) multipliers of least norm with the forces Phi_qᵀ lam at the positions q (k, n): lam where rows are independent."""
    if not lam.size or not np.isfinite(lam).all():
        return lam
    work = system.workspace(s=s)
    rows = _rows(system, work, t[0], q[0])
    size = np.linalg.norm(rows, axis=1)
    unit = rows[size > 0.0] / size[size > 0.0][:, None]
    values = np.linalg.svd(unit, compute_uv=False) if unit.size else np.ones(1)
    if len(unit) == system.m <= system.n and values[-1] > REDUNDANT * values[0]:
        return lam
    out = np.empty_like(lam)
    for first in range(0, len(t), AT_ONCE):
        part = slice(first, first + AT_ONCE)
        J = np.array([_rows(system, work, *state) for state in zip(t[part], q[part], strict=True)])
        forces = np.einsum("kmn,km->kn", J, lam[part])
        out[part] = np.einsum("kmn,kn->km", np.linalg.pinv(J.transpose(0, 2, 1), rcond=REDUNDANT), forces)
    return out


def _rows(system: System, work, t: float, q: np.ndarray) -> np.ndarray:
    work["q"][:], work["par"][TIME] = q, t
    work["flag"][FREEDOMS] = 0
    work.call(POSITION)
    return work["J"][: system.m].real.copy()
