"""Balance and stiffness of large systems: matrices of the entries that exist, factored by fronts (STA-9)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.balance.search import evaluate_at_rest, linearise_at_rest
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.status import OK
from kinegrad.kinematics.constrained import row_weights, solve_constrained, squares_of
from kinegrad.kinematics.freedoms import first_rows
from kinegrad.kinematics.least_squares import STRONGER
from kinegrad.kinematics.start import close_position
from kinegrad.kinematics.units import units_of

if TYPE_CHECKING:
    from scipy.sparse import csr_array

MOST = 20  # steps of Newton's method: the search has left little to them
ROUNDS = 60
ENOUGH = 1e-15  # of a solution: what further rounds would change
LEFT = 1e-9  # of the forces: what may be left at an equilibrium
STRONG = 1e6  # of a row against the largest stiffness
SHIFT = 1e-8  # of the largest stiffness: what holds directions that nothing holds


@dataclass(frozen=True)
class LookByFronts:
    """Forces and stiffness at a closed position (STA-2), but for q and lam in units of the model.

    Attributes
    ----------
    g : (n,) array
        f + Phi_qᵀ lam, lam of least squares: what is left of the forces.
    K : (n, n) csr_array
        R_q.
    size : float
        The largest generalised force.
    """

    q: np.ndarray
    lam: np.ndarray
    unit: np.ndarray
    g: np.ndarray
    K: csr_array
    J: Rows
    size: float
    violation: float

    @property
    def force_residual(self) -> float:
        """The largest generalised force that is left."""
        return float(np.abs(self.g / self.unit).max(initial=0.0))

    @classmethod
    def at(cls, system: System, work: Workspace, t: float) -> LookByFronts:
        """The balance at q in the workspace."""
        m, q = system.m, work["q"].copy()
        evaluate_at_rest(system, work, t, q)
        J = first_rows(work, "J", m)
        units = units_of(work, J)
        f, J = units.columns * work["f"], units.of(J)
        violation = float(np.abs(work["Phi"][:m]).max(initial=0.0))
        T = J.fronts.diagonal(np.ones(system.n))
        weights = STRONGER * row_weights(T, J, 0.0, np.ones(m))
        status, x, lam = solve_constrained(T, J, 0.0, -f[:, None], np.zeros((m, 1)), weights=weights)
        if status != OK:
            raise np.linalg.LinAlgError("rows cannot be factored")
        lam = units.rows * lam[:, 0]
        linearise_at_rest(system, work, t, q, lam)
        K = units.square(work.matrix("R_q"))
        return cls(q, lam, units.columns, -x[:, 0], K, J, float(np.abs(f).max(initial=0.0)), violation)

    @classmethod
    def nearest(cls, system: System, work: Workspace, t: float, free: bool) -> tuple[LookByFronts, int]:
        """The equilibrium next to q in the workspace by Newton's method, as long as that makes forces smaller; steps taken."""
        look, steps = cls.at(system, work, t), 0
        while steps < MOST:
            dq = look.stiffness(free).moved(-look.g[:, None], np.zeros((system.m, 1)))[:, 0]
            work["q"][:] = look.q + look.unit * dq
            close_position(system, work, "at the equilibrium")
            better = cls.at(system, work, t)
            if not np.linalg.norm(better.g) < np.linalg.norm(look.g):
                break
            look, steps = better, steps + 1
        if not np.abs(look.g).max(initial=0.0) <= LEFT * max(look.size, np.abs(look.K.data).max(initial=0.0)):
            k = int(np.abs(look.g).argmax())
            raise KinegradError(
                f"The equilibrium was not found to all digits: {system.coordinates[k]!r} is still pushed by "
                f"{-look.g[k] / look.unit[k]:.3g}. "
                "Start nearer to it, or take joint coordinates."
            )
        return look, steps

    def stiffness(self, free: bool = False) -> StiffnessByFronts:
        """The stiffness there; where something is free, with a little of a unit matrix added to it."""
        K = self.K.copy()
        if free:
            K.data += self.J.fronts.diagonal(np.full(K.shape[0], SHIFT * np.abs(K.data).max())).data
        return StiffnessByFronts(K, self.J)


class StiffnessByFronts:
    """[K Φ_qᵀ; Φ_q 0] as a linear map, by the factors of K + Φ_qᵀ D Φ_q; nothing is free."""

    def __init__(self, K: csr_array, J: Rows):
        self.K, self.J = K, J
        self.motions = self.pushes = np.zeros((K.shape[0], 0))
        squares = squares_of(J).sum(axis=1)
        strong = STRONG * (np.abs(K.data).max(initial=0.0) or 1.0)
        self.D = np.divide(strong, squares, out=np.zeros(len(J)), where=squares > 0.0)[:, None]
        if J.fronts.factor(K.data, J, self.D[:, 0], symmetric=False)[0] != OK:
            raise np.linalg.LinAlgError("the stiffness is singular")

    def moved(self, forces: np.ndarray, gaps: np.ndarray) -> np.ndarray:
        """X (n, c) with K X + Φ_qᵀ Y = forces and Φ_q X = gaps."""
        return self._solved(forces, gaps, False)[0]

    def felt(self, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """mu (n, c), y (m, c) with Kᵀ mu + Φ_qᵀ y = -Q and Φ_q mu = 0."""
        return self._solved(-Q, np.zeros((len(self.J), Q.shape[1])), True)

    def _solved(self, R1: np.ndarray, R2: np.ndarray, transposed: bool) -> tuple[np.ndarray, np.ndarray]:
        """Rounds of the multiplier method, each of which leaves 1/STRONG of the gaps (LIN-3)."""
        K, J, D = (self.K.T if transposed else self.K), self.J, self.D
        X, Y = np.zeros_like(R1), np.zeros_like(R2)
        last = np.inf
        for _ in range(ROUNDS):
            z = R2 - J @ X
            W = J.fronts.solve_general(R1 - K @ X + J.T @ (D * z - Y), transposed)
            X += W
            Y += D * (J @ W - z)
            change = float(np.abs(W).max(initial=0.0))
            if change <= ENOUGH * np.abs(X).max(initial=0.0) or not change < 0.5 * last:
                break
            last = change
        if not np.isfinite(X).all():
            raise np.linalg.LinAlgError("the stiffness is singular")
        return X, Y

    def depends(self, g_q: np.ndarray, g: np.ndarray) -> np.ndarray:
        """(o,) nothing is free, so that no objective depends on it."""
        return np.zeros(len(g_q), bool)
