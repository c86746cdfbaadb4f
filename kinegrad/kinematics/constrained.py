"""Constrained linear systems outside time loops: few enough of them not to be compiled."""

from __future__ import annotations

import numpy as np

from kinegrad.kernels.formulations.blocks import ENOUGH, MOST_ROUNDS, PENALTY_FACTOR
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR

FEWEST, MOST = 4, 2 + MOST_ROUNDS  # rounds of refinement, two more than a time loop makes
TINY = 8.0 * 2.0**-52  # a pivot this part of what it was subtracted from has no correct digit


def solve_constrained(T, J, eps, R1, R2):
    """Status, X, Y with [T Jᵀ; J -ε] [X; Y] = [R1; R2] for any number of columns; redundant rows do no harm (LIN-3)."""
    from scipy.linalg import get_lapack_funcs

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
    factor, solve = get_lapack_funcs(("getrf", "getrs"), (A,))
    LU, pivots, _ = factor(A.T)
    if (np.abs(np.diag(LU)) <= TINY * np.abs(np.triu(LU)).max(axis=0)).any():
        return SINGULAR, X, Y
    shrinks = scale / (alpha * rows[rows > 1e-20 * rows.max()].min()) if alpha > 0.0 else 0.0
    rounds = MOST if shrinks >= 0.1 else int(np.clip(2.0 + np.log(ENOUGH) / np.log(max(shrinks, ENOUGH)), FEWEST, MOST))
    for _ in range(rounds if m else 2):
        z = R2 - J @ X + eps * Y
        W, _ = solve(LU, pivots, R1 - T @ X - J.T @ Y + alpha * J.T @ z, trans=1)
        X += W
        Y += alpha * (J @ W - z)
    return OK, X, Y
