"""How positions, velocities and accelerations of the start move with the slots, direct and adjoint (KIN-4, KIN-5)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kernels.status import OK, WORDS
from kinegrad.kinematics import compiled
from kinegrad.kinematics.freedoms import first_rows, of_rates
from kinegrad.kinematics.start import weigh_rows
from kinegrad.kinematics.units import units_of


@dataclass
class StartDerivatives:
    """What the derivatives of the start need, at the start.

    Attributes
    ----------
    held : bool
        The degrees of freedom and their rates are constants, not slots.
    rest : RestDerivatives or None
        How the position moves with the slots, where it does not follow from degrees of freedom.
    """

    system: System
    work: Workspace
    compliance: float = 0.0
    held: bool = False
    rest: object | None = None

    def __post_init__(self):
        self.compiled = (
            self.rest is None
            and compiled.serves(self.system, self.compliance)
            and compiled.linearised(self.work, self.compliance)
        )
        if self.compiled:
            return
        for name in ("dv", "da", "sv", "sa"):
            self.work[name][:] = 0.0
        self.work["flag"][FREEDOMS] = 1
        self.work.call(EVALUATE)
        weigh_rows(self.system, self.work)
        self.work.call(LINEARISE)

    def _constrained(self, R1, R2):
        J = first_rows(self.work, "J", self.system.m).copy()
        right = np.ascontiguousarray(R1), np.ascontiguousarray(R2)
        solve = units_of(self.work, J).solve_constrained
        status, X, Y = solve(self.work.matrix("M"), J, self.compliance, *right, self.system.alike)
        if status != OK:
            raise KinegradError(f"The derivatives of the start cannot be solved: {WORDS[status]}.")
        return X, Y

    def direct(self):
        """q', v', a' (n, p) by the directions of the workspace (KIN-4)."""
        w, m = self.work, self.system.m
        found = compiled.direct(w, self.held) if self.compiled else None
        if found is not None:
            return found
        A = w.matrix
        right = -w["Phi_s"]
        right_v = -w["Phid_s"]
        for i, freedom in enumerate(() if self.held else self.system.freedoms):
            right[m + i] += w["ds"][:, freedom.position]
            right_v[m + i] += w["ds"][:, freedom.velocity] if freedom.velocity >= 0 else 0.0
        units = units_of(w, A("J"))
        q = units.refined(A("Phi_q"), right) if self.rest is None else self.rest.position()
        v = units.refined(of_rates(self.system, A("J")), of_rates(self.system, right_v - A("Phid_q") @ q))
        R1 = -(A("R_q") @ q + A("C") @ v + w["R_s"])
        R2 = -((A("Phidd_q") @ q)[:m] + (A("Phidd_v") @ v)[:m] + w["Phidd_s"][:m])
        return q, v, self._constrained(R1, R2)[0]

    def adjoint(self, Q, V, A, rows, weights) -> None:
        """Adds to psi_s what adjoints at the start give (KIN-5, SRT-4): Q, V, A (n, o) of q, v, a, and `rows` (3, r, o) of
        Phi_s, Phid_s, Phidd_s."""
        w, m = self.work, self.system.m
        if self.compiled and compiled.adjoint(w, self.held, Q, V, A, rows, weights):
            return
        for o, weight in enumerate(weights):
            Q[:, o] += weight * w["g_q"][o]
            V[:, o] += weight * w["g_v"][o]
            A[:, o] += weight * w["g_a"][o]
        U, B = self._constrained(A, np.zeros((m, A.shape[1]), A.dtype))
        V = V - w.matrix("C").T @ U - first_rows(w, "Phidd_v", m).T @ B
        Q = Q - w.matrix("R_q").T @ U - first_rows(w, "Phidd_q", m).T @ B
        units = units_of(w, w.matrix("J"))
        D = units.refined_transposed(of_rates(self.system, w.matrix("J")), V)
        Q = Q - w.matrix("Phid_q").T @ D
        P = np.zeros((len(w["Phi"]), Q.shape[1]))
        if self.rest is None:
            P = units.refined_transposed(w.matrix("Phi_q"), Q)
        if self.rest is not None:
            w["psi_s"][: Q.shape[1]] += self.rest.pulled_back(Q)[: Q.shape[1]]
        w["eta_v"][:] = 0.0
        w["eta_a"][:] = 0.0
        w["ya"][:] = 0.0
        w["ys"][:] = 0.0
        for o, weight in enumerate(weights):
            w["mu"][:] = -U[:, o]
            w["yp"][:] = rows[0][:, o] - P[:, o]
            w["yv"][:] = rows[1][:, o] - D[:, o]
            w["ya"][:] = rows[2][:, o]
            w["ya"][:m] -= B[:, o]
            w["flag"][OBJECTIVE] = o
            w["par"][WEIGHT] = weight
            w.call(PULLBACK)
            for i, freedom in enumerate(() if self.held else self.system.freedoms):
                w["psi_s"][o, freedom.position] += P[m + i, o]
                if freedom.velocity >= 0:
                    w["psi_s"][o, freedom.velocity] += D[m + i, o]
