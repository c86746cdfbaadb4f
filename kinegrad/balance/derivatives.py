"""How a position at rest moves with the slots, direct and adjoint (STA-5, STA-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.balance.search import allowed, at_rest, definite
from kinegrad.balance.stiffness import Stiffness
from kinegrad.coordinates.system import System
from kinegrad.kernels.products import EVALUATE, LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kinematics.least_squares import refined


class RestDerivatives:
    """The equations at an equilibrium after LINEARISE: J, R_q and the stiffness on the motions that the constraints allow.

    Parameters
    ----------
    s, t, q, lam : slots, time, position and multipliers of the equilibrium
    free : tuple of str
        Directions without stiffness, by name.
    ds : (p, slots) array or None
        Directions of the direct derivative.
    wanted : (slots,) array of bool or None
        Slots that the adjoint serves; all without.
    """

    def __init__(self, system: System, s, t: float, q, lam, free: tuple[str, ...], ds, wanted):
        self.system = system
        self.work = work = system.workspace(ds=ds, s=s, wanted=wanted)
        m = system.m
        at_rest(work, t, q, lam)
        work.call(EVALUATE)
        M = work["M"].copy()
        work.call(LINEARISE)
        self.J = work["J"][:m].copy()
        self.K = work["R_q"].copy()
        Z = allowed(self.J)
        self.stiffness = Stiffness(Z, self.K, definite(Z.T @ M @ Z), bool(free))

    def position(self) -> np.ndarray:
        """(n, p) derivatives of q by the directions of the workspace (STA-5)."""
        work, m = self.work, self.system.m
        Z = self.stiffness.Z
        closing = refined(self.J, -work["Phi_s"][:m])
        return closing + Z @ self.stiffness.solve(-Z.T @ (work["R_s"] + self.K @ closing))

    def pulled_back(self, Q: np.ndarray, weight: float = 0.0) -> np.ndarray:
        """(c, slots) weight·g_s + Q·q_s for adjoints Q (n, c) of q; the k-th belongs to objective k (STA-6)."""
        Z = self.stiffness.Z
        mu = Z @ self.stiffness.solve_transposed(-Z.T @ Q)
        return self.by_slots(mu, refined(self.J.T, -(Q + self.K.T @ mu)), weight)

    def by_slots(self, mu: np.ndarray, y: np.ndarray, weight: float = 0.0) -> np.ndarray:
        """(c, slots) weight·g_s + μ·R_s + y·Phi_s for columns of mu and y."""
        work = self.work
        for name in ("eta_v", "eta_a", "yp", "yv", "ya", "ys", "psi_s"):
            work[name][:] = 0.0
        for k in range(mu.shape[1]):
            work["mu"][:] = mu[:, k]
            work["yp"][: self.system.m] = y[:, k]
            work["flag"][OBJECTIVE] = k
            work["par"][WEIGHT] = weight
            work.call(PULLBACK)
        return work["psi_s"].copy()
