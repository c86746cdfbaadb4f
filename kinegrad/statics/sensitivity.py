"""Derivatives of objectives at an equilibrium, direct and adjoint (STA-5 to STA-7)."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.balance.derivatives import RestDerivatives
from kinegrad.balance.search import named
from kinegrad.balance.stiffness import INDEPENDENT
from kinegrad.errors import KinegradError
from kinegrad.expressions.maps import Jacobian
from kinegrad.kinematics.least_squares import refined
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.direct import Direct
from kinegrad.sensitivity.discrete_adjoint import DiscreteAdjoint
from kinegrad.sensitivity.gradient import check_finite, labels_of
from kinegrad.sensitivity.method import Method
from kinegrad.sensitivity.methods import method_of
from kinegrad.sensitivity.pulled_apart import combinations, refuse_apart
from kinegrad.sensitivity.result import Gradient, slots_with
from kinegrad.statics.equilibrium import Equilibrium, equilibrium

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
    if not every_slot:
        refuse_apart(found, labels)
    clock = time.thread_time()
    s_rho = system.derivatives(labels)
    try:
        ds = system.directions(labels) if method == "direct" else None
        wanted = None if every_slot else s_rho.moved()
        at = _AtEquilibrium(system, found.s, found.t, found.q, found.lam, found.free, ds, wanted)
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
        apart=combinations(found) if every_slot else None,
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


def _refuse_pushing(found: Equilibrium, at: _AtEquilibrium, pushed, labels: Sequence[str], s_rho: Jacobian) -> None:
    """Raise where a parameter pushes along a direction that nothing holds."""
    push, scale = s_rho.pull(pushed[0]), s_rho.pull_sizes(pushed[1])
    for k in np.flatnonzero(_counts(push, scale).any(axis=0))[:1]:
        raise KinegradError(
            f"Parameter {labels[k]!r} pushes along {named(found.system, at.stiffness.pushes @ push[:, k])}, which nothing "
            "holds: with another value there is no equilibrium nearby, and so no derivative. Hold it by a spring or a "
            "driver, or leave the parameter out."
        )


class _AtEquilibrium(RestDerivatives):
    """The same with objectives."""

    def refuse_dependent_objectives(self) -> None:
        """Raise where an objective changes along a direction that nothing holds."""
        motions, g_q = self.stiffness.motions, self.g_q * self.units.columns
        problems = [
            f"Objective {name!r} has no derivative at this equilibrium: nothing holds "
            f"{named(self.system, motions @ (motions.T @ g))}, on which it depends. Hold it by a spring or a driver."
            for name, g, depends in zip(
                self.system.objectives, g_q, self.stiffness.depends(g_q, self.work["g"]), strict=True
            )
            if depends
        ]
        if problems:
            raise KinegradError(*problems)

    @property
    def g_q(self) -> np.ndarray:
        return self.work["g_q"]

    def direct(self) -> np.ndarray:
        """(o, p) derivatives by the directions of the workspace (STA-5)."""
        return self.g_q @ self.position() + self.work["g_s"]

    def adjoint(self) -> np.ndarray:
        """(o, slots) derivatives by the wanted slots (STA-6)."""
        return self.pulled_back(self.g_q.T, 1.0)

    def pushed(self) -> tuple[np.ndarray, np.ndarray]:
        """Forces along the free directions by the slots (f, slots), and what is large for each slot (STA-7)."""
        mu = self.stiffness.pushes
        y = refined(self.J.T, -self.K.T @ mu)
        rng = np.random.default_rng(0)
        others = [np.linalg.norm(x) * rng.uniform(-1.0, 1.0, (len(x), 3)) for x in (mu, y)]
        return (
            np.array([self.by_slots(mu[:, [k]], y[:, [k]])[0] for k in range(mu.shape[1])]),
            sum(np.abs(self.by_slots(others[0][:, [k]], others[1][:, [k]])[0]) for k in range(3)),
        )
