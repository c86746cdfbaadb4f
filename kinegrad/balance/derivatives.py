"""How a position at rest moves with the slots, direct and adjoint (STA-5, STA-6)."""

from __future__ import annotations

import numpy as np

from kinegrad.balance.by_fronts import StiffnessByFronts
from kinegrad.balance.search import at_rest
from kinegrad.balance.stiffness import Stiffness
from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.system import System
from kinegrad.kernels.products import EVALUATE, LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.units import units_of
from kinegrad.memory import require

FULL = 40  # matrices where something is free


class RestDerivatives:
    """The equations at an equilibrium after LINEARISE: J, R_q and the stiffness on the motions that the constraints allow, in
    units of the model.

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
        if free and system.solver != DENSE:
            what = f"Derivatives by {system.n} coordinates of an equilibrium in which nothing holds {free[0]}"
            require(FULL * 8.0 * float(system.n) ** 2, what, "hold it by a spring or a driver")
            system = system.with_solver(DENSE)  # what is free is told by singular values
        self.system = system
        self.work = work = self.system.workspace(ds=ds, s=s, wanted=wanted)
        at_rest(work, t, q, lam)
        work.call(EVALUATE)
        J = first_rows(work, "J", system.m)
        self.units = units_of(work, J)
        M = self.units.square(work.matrix("M"))
        work.call(LINEARISE)
        self.J, self.K = self.units.of(J), self.units.square(work.matrix("R_q"))
        if self.system.solver == DENSE:
            self.stiffness = Stiffness(self.J, self.K, M, bool(free))
        else:
            self.stiffness = StiffnessByFronts(self.K, self.J)

    def position(self) -> np.ndarray:
        """(n, p) derivatives of q by the directions of the workspace (STA-5)."""
        work, (rows, unit, _) = self.work, self.units
        forces, gaps = unit[:, None] * -work["R_s"], rows[:, None] * -work["Phi_s"][: self.system.m]
        return unit[:, None] * self.stiffness.moved(forces, gaps)

    def pulled_back(self, Q: np.ndarray, weight: float = 0.0) -> np.ndarray:
        """(c, slots) weight·g_s + Q·q_s for adjoints Q (n, c) of q; the k-th belongs to objective k (STA-6)."""
        return self.by_slots(*self.stiffness.felt(self.units.columns[:, None] * Q), weight)

    def by_slots(self, mu: np.ndarray, y: np.ndarray, weight: float = 0.0) -> np.ndarray:
        """(c, slots) weight·g_s + μ·R_s + y·Phi_s for columns of mu and y, in units."""
        work, (rows, unit, _) = self.work, self.units
        for name in ("eta_v", "eta_a", "yp", "yv", "ya", "ys", "psi_s"):
            work[name][:] = 0.0
        for k in range(mu.shape[1]):
            work["mu"][:] = unit * mu[:, k]
            work["yp"][: self.system.m] = rows * y[:, k]
            work["flag"][OBJECTIVE] = k
            work["par"][WEIGHT] = weight
            work.call(PULLBACK)
        return work["psi_s"].copy()
