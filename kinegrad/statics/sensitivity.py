"""Derivatives of objectives at an equilibrium, direct and adjoint (STA-5 to STA-7)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.kernels.products import EVALUATE, LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kinematics.start import refined
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.direct import Direct
from kinegrad.sensitivity.discrete_adjoint import DiscreteAdjoint
from kinegrad.sensitivity.gradient import check_finite, labels_of
from kinegrad.sensitivity.method import Method
from kinegrad.sensitivity.methods import method_of
from kinegrad.sensitivity.result import Gradient, slots_with
from kinegrad.statics.equilibrium import Equilibrium, allowed, at_rest, definite, equilibrium, named
from kinegrad.statics.stiffness import INDEPENDENT, Stiffness

#: what methods are called at an equilibrium, where nothing is discrete
NAMES = {Direct: "direct", DiscreteAdjoint: "adjoint"}


@without_warnings
def gradient(
    found: Equilibrium, *, wrt: Sequence[str] | None = None, method: Method | str = "direct", every_slot: bool = False
) -> Gradient:
    """Gradient of the objectives at an equilibrium by the parameters `wrt` (default: the model's design).

    The equilibrium moves with the parameters. Methods are those of `kinegrad.gradient`, as objects or by name; the adjoint
    is called "adjoint" here. With `every_slot` it also gives the derivatives by every number of the model
    (`Gradient.by_number`).

    Directions that nothing holds (`Equilibrium.free`) do no harm as long as the objectives do not depend on them and the
    parameters do not push along them; by numbers of the model that do push, `by_number` gives NaN.
    """
    system = found.system
    chosen = method_of(method, "method of an equilibrium", NAMES.values(), every_slot=every_slot)
    if type(chosen) not in NAMES or getattr(chosen, "history", False):
        raise KinegradError(
            f"{chosen!r} needs a motion in time; at an equilibrium choose from {', '.join(NAMES.values())}."
        )
    method, every_slot = NAMES[type(chosen)], chosen.every_slot
    if not system.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    labels = labels_of(system, wrt, every_slot)
    clock = time.thread_time()
    s_rho = system.derivatives(labels)
    try:
        ds = system.directions(labels) if method == "direct" else None
        at = _Linearised(found, ds, None if every_slot else s_rho.moved())
        at.refuse_dependent_objectives()
        pushed = at.pushed() if found.free else None
        if pushed is not None:
            _refuse_pushing(found, at, pushed, labels, s_rho)
        if method == "direct":
            matrix, by_slot = at.direct(), None
        else:
            by_slot = at.adjoint()
            matrix = s_rho.pull(by_slot)
    except np.linalg.LinAlgError:
        raise KinegradError("The stiffness at the equilibrium is singular, so it has no derivative.") from None
    check_finite(system, labels, matrix, None)
    return EquilibriumGradient(
        method=method, values=dict(found.objectives), wrt=labels, matrix=matrix, motion=found,
        cpu_s=time.thread_time() - clock, simulation_cpu_s=0.0, by_slot=by_slot if every_slot else None, pushed=pushed,
    )  # fmt: skip


@dataclass(frozen=True)
class EquilibriumGradient(Gradient):
    """Derivatives of objectives at an equilibrium.

    Attributes
    ----------
    pushed : pair of arrays or None
        Where something is free: the force along each free direction by the slots (f, slots), and what is large for each.
    """

    pushed: tuple[np.ndarray, np.ndarray] | None = None

    def by_number(self) -> dict[str, dict[str, float]]:
        """Derivatives by every number of the model; NaN by those that push along a direction that nothing holds."""
        numbers = super().by_number()
        if self.pushed is None:
            return numbers
        system = self.motion.system
        J = system.slots.field_jacobian(system.rho)
        none = _counts(J.pull(self.pushed[0]), J.pull_sizes(self.pushed[1])).any(axis=0)
        return {
            name: {path: np.nan if missing else x for (path, x), missing in zip(row.items(), none, strict=True)}
            for name, row in numbers.items()
        }

    def objectives_with(self, rho: np.ndarray) -> np.ndarray:
        """The objectives at the equilibrium that the search finds with other values of the independent parameters."""
        found = self.motion
        again = equilibrium(found.system.with_parameters(rho), t=found.t, s=slots_with(found, rho))
        return np.array(list(again.objectives.values()), float)


def _counts(push: np.ndarray, scale: np.ndarray) -> np.ndarray:
    return np.abs(push) > INDEPENDENT * scale


def _refuse_pushing(found: Equilibrium, at: _Linearised, pushed, labels: Sequence[str], s_rho: Jacobian) -> None:
    """Raise where a parameter pushes along a direction that nothing holds."""
    push, scale = s_rho.pull(pushed[0]), s_rho.pull_sizes(pushed[1])
    for k in np.flatnonzero(_counts(push, scale).any(axis=0))[:1]:
        raise KinegradError(
            f"Parameter {labels[k]!r} pushes along {named(found.system, at.stiffness.pushes @ push[:, k])}, which nothing "
            "holds: with another value there is no equilibrium nearby, and so no derivative. Hold it by a spring or a "
            "driver, or leave the parameter out."
        )


class _Linearised:
    """The equations at an equilibrium after LINEARISE: J, R_q and the stiffness on the motions that the constraints allow."""

    def __init__(self, found: Equilibrium, ds: np.ndarray | None, wanted: np.ndarray | None):
        self.found, self.system = found, found.system
        self.work = work = self.system.workspace(ds=ds, s=found.s, wanted=wanted)
        n, m = self.system.n, self.system.m
        at_rest(work, found.t, found.q, found.lam)
        work.call(EVALUATE)
        M = work["M"].copy()
        work.call(LINEARISE)
        self.J = work["J"][:m].copy()
        self.K = work["R_q"].copy()
        self.g_q = work["g_q"].copy()
        Z = allowed(self.J, n)
        self.stiffness = Stiffness(Z, self.K, definite(Z.T @ M @ Z), bool(found.free))

    def refuse_dependent_objectives(self) -> None:
        """Raise where an objective changes along a direction that nothing holds."""
        motions = self.stiffness.motions
        problems = [
            f"Objective {name!r} has no derivative at this equilibrium: nothing holds "
            f"{named(self.system, motions @ (motions.T @ g))}, on which it depends. Hold it by a spring or a driver."
            for name, g, depends in zip(self.system.objectives, self.g_q, self.stiffness.depends(self.g_q), strict=True)
            if depends
        ]
        if problems:
            raise KinegradError(*problems)

    def direct(self) -> np.ndarray:
        """(o, p) derivatives by the directions of the workspace (STA-5)."""
        work, m = self.work, self.system.m
        Z = self.stiffness.Z
        closing = refined(self.J, -work["Phi_s"][:m])
        along = self.stiffness.solve(-Z.T @ (work["R_s"] + self.K @ closing))
        return self.g_q @ (closing + Z @ along) + work["g_s"]

    def adjoint(self) -> np.ndarray:
        """(o, slots) derivatives by the wanted slots (STA-6)."""
        g = self.g_q.T
        mu = self.stiffness.Z @ self.stiffness.solve_transposed(-self.stiffness.Z.T @ g)
        return self._pulled_back(mu, refined(self.J.T, -(g + self.K.T @ mu)), 1.0)

    def pushed(self) -> tuple[np.ndarray, np.ndarray]:
        """Forces along the free directions by the slots (f, slots), and what is large for each slot (STA-7)."""
        mu = self.stiffness.pushes
        y = refined(self.J.T, -self.K.T @ mu)
        rng = np.random.default_rng(0)
        others = [np.linalg.norm(x) * rng.uniform(-1.0, 1.0, (len(x), 3)) for x in (mu, y)]
        return (
            np.array([self._pulled_back(mu[:, [k]], y[:, [k]], 0.0)[0] for k in range(mu.shape[1])]),
            sum(np.abs(self._pulled_back(others[0][:, [k]], others[1][:, [k]], 0.0)[0]) for k in range(3)),
        )

    def _pulled_back(self, mu: np.ndarray, y: np.ndarray, weight: float) -> np.ndarray:
        """(c, slots) weight·g_s + μ·R_s + y·Phi_s for columns of mu and y; the k-th belongs to objective k."""
        work = self.work
        for name in ("eta_v", "eta_a", "yp", "yv", "ya", "psi_s"):
            work[name][:] = 0.0
        for k in range(mu.shape[1]):
            work["mu"][:] = mu[:, k]
            work["yp"][: self.system.m] = y[:, k]
            work["flag"][OBJECTIVE] = k
            work["par"][WEIGHT] = weight
            work.call(PULLBACK)
        return work["psi_s"].copy()
