"""All equations of a system at one state: M, Q, K, C, Phi and its derivatives, R and S of Matrix R."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.equations.named import NamedArray, Tables
from kinegrad.equations.products import Products, vector
from kinegrad.errors import KinegradError
from kinegrad.kinematics.units import units_of


class Equations(Tables):
    """The equations of a system at a state (t, q, qd): what `System.at` gives.

    Signs and letters are those of the page on notation: ``M qdd + Phi_qᵀ lam = Q``, ``Phi_q qd = nu``, ``Phi_q qdd = gamma``.
    Each attribute is a `NamedArray`; what needs derivatives is computed when it is asked for.

    Attributes
    ----------
    t, q, qd
        The state.
    M, Q
        Mass matrix (n, n), and forces (n,) with the terms of velocities.
    K, C
        Stiffness and damping (n, n): minus Q by q and by qd, at fixed accelerations and multipliers of zero.
    Ma_q
        (M qdd) by q, with the qdd given to `System.at` held fixed.
    Phi, Phi_q, Phi_t, nu, gamma
        Constraint rows (m,), their derivatives (m, n) and (m,), and the right sides of velocities and accelerations.
    gamma_q, gamma_qd
        gamma by q and by qd (m, n).
    PhiqTlam_q
        (Phi_qᵀ lam) by q (n, n), with the lam given to `System.at` held fixed.
    R, S, b
        ``qd = R zd + S b`` (MR-1): motions (n, d) of the degrees of freedom, (n, m) of the constraints, and ``b = -Phi_t``.
    """

    def __init__(self, system: System, q, qd=None, t: float = 0.0, *, qdd=None, lam=None):
        self.system, self.t = system, float(t)
        names, rows = system.coordinates, system.row_names
        self.q, self.qd, qdd_ = (vector(system, k, x, names) for k, x in (("q", q), ("qd", qd), ("qdd", qdd)))
        self._given = {"qdd": qdd is not None, "lam": lam is not None}
        self._products = Products(system, self.t, self.q, self.qd, qdd_, vector(system, "lam", lam, rows))

    def _square(self, name: str, values: np.ndarray) -> NamedArray:
        return NamedArray(name, values, self.system.coordinates, self.system.coordinates)

    def _rows(self, name: str, values: np.ndarray) -> NamedArray:
        return NamedArray(name, values, self.system.row_names, self.system.coordinates if values.ndim == 2 else ())

    def _need(self, given: str, for_: str) -> None:
        if not self._given[given]:
            raise KinegradError(f"{for_} holds {given} fixed; give it: system.at(q, qd, t, {given}=...).")

    # --- motion ---

    @cached_property
    def M(self) -> NamedArray:
        return self._square("M", self._products.values.M)

    @cached_property
    def Q(self) -> NamedArray:
        return NamedArray("Q", self._products.values.Q, self.system.coordinates)

    @cached_property
    def K(self) -> NamedArray:
        return self._square("K", self._products.partials.K)

    @cached_property
    def C(self) -> NamedArray:
        return self._square("C", self._products.partials.C)

    @cached_property
    def Ma_q(self) -> NamedArray:
        self._need("qdd", "Ma_q")
        return self._square("Ma_q", self._products.partials.Ma_q)

    # --- rows ---

    @cached_property
    def Phi(self) -> NamedArray:
        return self._rows("Phi", self._products.values.Phi)

    @cached_property
    def Phi_q(self) -> NamedArray:
        return self._rows("Phi_q", self._products.values.J[: self.system.m])

    @cached_property
    def Phi_t(self) -> NamedArray:
        return self._rows("Phi_t", self._products.values.Phi_t)

    @cached_property
    def nu(self) -> NamedArray:
        return self._rows("nu", -self._products.values.Phi_t)

    @cached_property
    def gamma(self) -> NamedArray:
        return self._rows("gamma", self._products.values.gamma)

    @cached_property
    def gamma_q(self) -> NamedArray:
        return self._rows("gamma_q", self._products.partials.gamma_q)

    @cached_property
    def gamma_qd(self) -> NamedArray:
        return self._rows("gamma_qd", self._products.partials.gamma_qd)

    @cached_property
    def PhiqTlam_q(self) -> NamedArray:
        self._need("lam", "PhiqTlam_q")
        return self._square("PhiqTlam_q", self._products.partials.PhiqTlam_q)

    # --- Matrix R ---

    @cached_property
    def _inverse(self) -> tuple[np.ndarray, list[str]]:
        """K⁺ (n, m + d) of the rows of the constraints and of the independent degrees of freedom, and names of the latter."""
        system, J = self.system, self._products.values.J
        free = [(system.m + i, f.name) for i, f in enumerate(system.freedoms) if f.independent]
        numbers = [*range(system.m), *(k for k, _ in free)]
        K = np.ascontiguousarray(J[numbers])
        units, one = units_of(system.workspace(), K, numbers), np.eye(len(K))
        X, rank = units.least_squares(K, one)
        if rank < system.n:
            raise KinegradError(
                f"R and S do not exist at t = {self.t:g}: constraints and degrees of freedom "
                f"({', '.join(name for _, name in free) or 'none'}) determine {rank} of {system.n} velocities. Give "
                "degrees_of_freedom that can move independently there."
            )
        return X + units.least_squares(K, one - K @ X)[0], [name for _, name in free]

    @cached_property
    def R(self) -> NamedArray:
        X, names = self._inverse
        return NamedArray("R", X[:, self.system.m :], self.system.coordinates, names)

    @cached_property
    def S(self) -> NamedArray:
        X, _ = self._inverse
        return NamedArray("S", X[:, : self.system.m], self.system.coordinates, self.system.row_names)

    @cached_property
    def b(self) -> NamedArray:
        return self._rows("b", -self._products.values.Phi_t)

    # --- for people ---

    def _title(self) -> str:
        system = self.system
        size = f"n = {system.n}, m = {system.m}"
        return f"{system.model.title or 'Equations'} in {system.kind} coordinates at t = {self.t:g} s: {size}"

    def _shown(self) -> list[NamedArray]:
        rows = [self.Phi, self.Phi_q, self.nu, self.gamma] if self.system.m else []
        return [self.M, self.Q, *rows]
