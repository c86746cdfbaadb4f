"""States that are given or driven rather than integrated, in the form in which a Motion keeps them."""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.dynamics.integrator import trapezoidal


class GivenStates:
    """What a Motion asks of a scheme, for rows that are q, qd, qdd, lam."""

    def __init__(self, system: System):
        self.system = system
        self.options: dict = {}

    @property
    def row_size(self) -> int:
        return 3 * self.system.n + self.system.m

    def motion(self, traj: np.ndarray) -> dict[str, np.ndarray]:
        n = self.system.n
        return {"q": traj[:, :n], "qd": traj[:, n : 2 * n], "qdd": traj[:, 2 * n : 3 * n], "lam": traj[:, 3 * n :]}

    def integrals(self, ts, hs, traj, integrand) -> np.ndarray:
        return trapezoidal(hs, integrand(ts, self.motion(traj)))
