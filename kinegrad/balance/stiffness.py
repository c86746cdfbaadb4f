"""The stiffness at an equilibrium as a linear map: solved where it holds, and asked where it does not (STA-7)."""

from __future__ import annotations

import numpy as np

from kinegrad.balance.search import NEUTRAL, allowed, definite
from kinegrad.kinematics.least_squares import refined

ROUNDING = 1e-13  # of a value: its change with a coordinate by 1 that counts as none
INDEPENDENT = 1e-8  # part of a derivative along a free direction that counts as none


class Stiffness:
    """H = Zᵀ R_q Z on the motions Z that the constraints allow, measured by the inertia W there.

    Attributes
    ----------
    motions : (n, f) array
        Motions without stiffness: H x = 0.
    pushes : (n, f) array
        Motions along which no displacement makes a force: xᵀ H = 0. The same as `motions` where forces have a potential.
    """

    def __init__(self, J: np.ndarray, K: np.ndarray, M: np.ndarray, free: bool):
        Z = allowed(J)
        W = definite(Z.T @ M @ Z)
        self.J, self.K, self.Z, self.H, self.free = J, K, Z, Z.T @ K @ Z, free
        self.motions = self.pushes = np.zeros((len(Z), 0))
        if not free:
            return
        self.back = np.linalg.inv(np.linalg.cholesky(W))  # displacements by their size in W
        U, values, V = np.linalg.svd(self.back @ self.H @ self.back.T)
        held = values > NEUTRAL * values.max(initial=0.0)
        self.parts = U[:, held], values[held], V[held]
        self.motions, self.pushes = (Z @ self.back.T @ X for X in (V[~held].T, U[:, ~held]))

    def moved(self, forces: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """X (n, c) with K X + Φ_qᵀ Y = forces and Φ_q X = gaps."""
        closing = refined(self.J, gaps)
        return closing + self.Z @ self.solve(self.Z.T @ (forces - self.K @ closing))

    def felt(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """mu (n, c), y (m, c) with Kᵀ mu + Φ_qᵀ y = -Q and Φ_q mu = 0."""
        mu = self.Z @ self.solve_transposed(-self.Z.T @ Q)
        return mu, refined(self.J.T, -(Q + self.K.T @ mu))

    def solve(self, b: np.ndarray) -> np.ndarray:
        """u with H u = b, at rest along what is free."""
        if not self.free:
            return np.linalg.solve(self.H, b)
        U, values, V = self.parts
        return self.back.T @ (V.T @ ((U.T @ (self.back @ b)) / values[:, None]))

    def solve_transposed(self, b: np.ndarray) -> np.ndarray:
        """w with Hᵀ w = b, without a part that no displacement feels."""
        if not self.free:
            return np.linalg.solve(self.H.T, b)
        U, values, V = self.parts
        return self.back.T @ (U @ ((V @ (self.back @ b)) / values[:, None]))

    def depends(self, g_q: np.ndarray, g: np.ndarray) -> np.ndarray:
        """(o,) whether objectives g (o,) with the derivatives g_q (o, n) change along a free direction, by more than rounding:
        of a potential energy, which is stationary at an equilibrium, g_q is nothing else."""
        sizes = np.maximum(INDEPENDENT * np.linalg.norm(g_q, axis=1), ROUNDING * np.abs(g))
        return (np.abs(g_q @ self.motions) > np.outer(sizes, np.linalg.norm(self.motions, axis=0))).any(axis=1)
