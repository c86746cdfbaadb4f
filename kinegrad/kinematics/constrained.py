"""Constrained linear systems outside time loops: few enough of them not to be compiled."""

from __future__ import annotations

import numpy as np

from kinegrad.kernels.formulations.blocks import ENOUGH, MOST_ROUNDS, PENALTY_FACTOR
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR

FEWEST, MOST = 4, 2 + MOST_ROUNDS  # rounds of refinement, two more than a time loop makes
TINY = (
    8.0 * 2.0**-52
)  # the inverse of a condition number, of a matrix with a unit diagonal, that leaves no correct digit


def solve_constrained(T, J, eps, R1, R2):
    """Status, X, Y with [T Jᵀ; J -ε] [X; Y] = [R1; R2] for any number of columns; redundant rows do no harm (LIN-3)."""
    n, m = len(T), len(J)
    X, Y = np.zeros_like(R1), np.zeros_like(R2)
    scale = np.trace(T).real / n
    rows = (np.abs(J) ** 2).sum(axis=1)
    alpha = PENALTY_FACTOR * scale * n / rows.sum() if rows.any() else 0.0
    if eps > 0.0:
        alpha = min(alpha, 1.0 / eps)
    A = T + alpha * J.T @ J
    if not np.isfinite(A).all():
        return NOT_FINITE, X, Y
    inverse = _inverse(A)
    if inverse is None:
        return SINGULAR, X, Y
    shrinks = scale / (alpha * rows[rows > 1e-20 * rows.max()].min()) if alpha > 0.0 else 0.0
    rounds = MOST if shrinks >= 0.1 else int(np.clip(2.0 + np.log(ENOUGH) / np.log(max(shrinks, ENOUGH)), FEWEST, MOST))
    for _ in range(rounds if m else 2):
        z = R2 - J @ X + eps * Y
        W = inverse @ (R1 - T @ X - J.T @ Y + alpha * J.T @ z)
        X += W
        Y += alpha * (J @ W - z)
    return OK, X, Y


def _inverse(A):
    """The inverse of a matrix, good enough to be refined, or None when it is singular."""
    size = np.sqrt(np.abs(np.diag(A)))
    size[size == 0.0] = 1.0
    scaled = A / np.outer(size, size)
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(scaled).sum(axis=1).max() * np.abs(inverse).sum(axis=1).max()
    return inverse / np.outer(size, size) if condition < 1.0 / TINY else None
