"""Forces of named actuators along a motion that is given: which balance it, and their derivatives (INV-2 to INV-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE
from kinegrad.kernels.status import OK, WORDS
from kinegrad.kinematics.least_squares import RANK_TOLERANCE
from kinegrad.kinematics.start import row_sizes, usual_moves
from kinegrad.kinematics.units import units_of
from kinegrad.model.element import closest
from kinegrad.motion import Motion
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.solve import Balance
from kinegrad.statics.instants import Along, put_state

UNBALANCED = 1e-7  # of the sizes of the generalised forces that cancel: what is left is not balanced


@dataclass(frozen=True, eq=False)
class Actuators:
    """Forces on measures, and drivers, of a model that are to balance a motion; all other drivers carry nothing.

    Attributes
    ----------
    names : tuple of str
    acting : System
        With drivers in the place of the forces, so that what these have to give is an unknown, and without other drivers.
    """

    names: tuple[str, ...]
    acting: System

    @classmethod
    def of(cls, system: System, names: Sequence[str]) -> Actuators:
        names = (names,) if isinstance(names, str) else tuple(dict.fromkeys(names))
        model = system.model.copy()
        drivers, model.drivers, model.degrees_of_freedom, model.objectives = model.drivers, {}, {}, {}
        known = [*(name for name, force in model.forces.items() if getattr(force, "acts_on", None)), *drivers]
        for name in names:
            if name not in known:
                what = "acts on no measure" if name in model.forces else "is no force and no driver of the model"
                near = closest(name, known)
                raise KinegradError(f"The actuator {name!r} {what}{near}; choose from {', '.join(known) or 'none'}.")
            if name in drivers:
                model.drivers[name] = drivers[name]
            else:
                model.drivers[name] = {"measure": model.forces.pop(name).acts_on, "value": 0}
        return cls(names, lower(model, system.kind, values=_values(system), **system.set.options))

    def balanced(self, states: Sequence[np.ndarray]) -> Reactions:
        """Forces of the actuators and all reactions at k states (t, q, qd, qdd) of the acting system."""
        balance = Balance(self.acting)
        found = balance.told(states[0], balance.run(*states))
        if all(found.unique_forces[name] for name in self.names):
            return found
        return self._shared(found, states)

    def _shared(self, found: Reactions, states: Sequence[np.ndarray]) -> Reactions:
        """The same where actuators share the load: their forces have the least norm, and reactions follow (INV-3)."""
        instants = _Instants(self)
        forces, rates = (np.array(x) for x in zip(*map(instants.shared, *states), strict=True))
        loaded = self._loaded()
        places = [loaded.slots.names.index(f"forces.{name}.value") for name in self.names]
        balance, parts = Balance(loaded), []
        for k in range(len(forces)):
            balance.work["s"][places] = forces[k]
            one = [x[k : k + 1] for x in states]
            parts.append(balance.told(one[0], balance.run(*one)))
        known = {name: np.concatenate([part.forces[name] for part in parts]) for name in parts[0].forces}
        known |= dict(zip(self.names, forces.T, strict=True))
        return replace(
            found,
            wrenches={name: np.concatenate([part[name] for part in parts]) for name in found},
            unique={name: np.all([part.unique[name] for part in parts], axis=0) for name in found},
            forces={name: known[name] for name in found.forces},
            powers=found.powers | dict(zip(self.names, (forces * rates).T, strict=True)),
            residual=np.concatenate([part.residual for part in parts]),
        )

    def _loaded(self) -> System:
        """The acting system with the actuators as forces of given values."""
        model = self.acting.model.copy()
        for name in self.names:
            model.forces[name] = {"type": "force", "acts_on": model.drivers.pop(name).measure, "value": 1.0}
        return lower(model, self.acting.kind, values=_values(self.acting), **self.acting.set.options)

    def sensitivity(self, motion: Motion, path: Along, labels: Sequence[str]) -> dict[str, np.ndarray]:
        """(k, p) derivatives of the force of each actuator along a motion by drivers whose own are `path` (INV-4)."""
        order = [motion.system.number_of[name] for name in self.acting.coordinates]
        instants = _Instants(self, self.acting.directions(labels))
        states = (motion.t, *(x[:, order] for x in (motion.q, motion.qd, motion.qdd)))
        moved = [x[:, order] for x in (path.q, path.qd, path.qdd)]
        rows = [instants.moved(labels, *at) for at in zip(*states, *moved, strict=True)]
        return dict(zip(self.names, np.moveaxis(np.array(rows), 1, 0), strict=True))


class Share(NamedTuple):
    """What an instant asks of the actuators, and what they can give: `b = A τ` in the motions Z of the mechanism (INV-2)."""

    Z: np.ndarray  # (n, d) motions that the constraints allow, in the units of their usual moves
    A: np.ndarray  # (d, a)
    b: np.ndarray  # (d,)
    size: float  # of what cancels in b
    inverse: np.ndarray  # (a, d) of A, of least squares and least norm
    loose: np.ndarray  # (f, a) an orthonormal basis of what actuators may give without moving anything


class _Instants:
    """Instants of a motion in a workspace of the acting system, one after the other."""

    def __init__(self, actuators: Actuators, ds: np.ndarray | None = None):
        self.names, self.system = actuators.names, actuators.acting
        self.work = self.system.with_solver(DENSE).workspace(ds=ds)
        self.work["flag"][FREEDOMS] = 0
        self.rows = [self.system.row_names.index(name) for name in self.names]
        self.others = np.setdiff1d(np.arange(self.system.m), self.rows)
        self.moves = None

    def shared(self, t: float, q, qd, qdd) -> tuple[np.ndarray, np.ndarray]:
        """Forces of least norm of the actuators, and the rates of their measures."""
        share = self._share(t, q, qd, qdd)
        rates = self.work["J"][self.rows] @ qd + self.work["Phi_t"][self.rows]
        return share.inverse @ share.b, rates

    def moved(self, labels: Sequence[str], t: float, q, qd, qdd, q_rho, qd_rho, qdd_rho) -> np.ndarray:
        """(a, p) derivatives of the forces, by those of the state (n, p)."""
        work, share = self.work, self._share(t, q, qd, qdd)
        tau = share.inverse @ share.b
        self._refuse_left(t, share.b - share.A @ tau, share.size, "the motion")
        held, acting = work["J"][self.others], work["J"][self.rows]
        left = acting.T @ tau - _whole(work["M"]) @ qdd - work["f"]
        units = units_of(work, held, self.others)
        work["lam"][self.rows] = -tau
        work["lam"][self.others] = units.refined_transposed(held, left) if len(held) else 0.0
        work.call(LINEARISE)
        terms = work["R_s"], work["R_q"] @ q_rho, work["C"] @ qd_rho, _whole(work["M"]) @ qdd_rho
        needed, sizes = share.Z.T @ sum(terms), np.abs(share.Z).T @ sum(map(np.abs, terms))
        tau_rho = share.inverse @ needed
        for label, rest, size in zip(labels, (needed - share.A @ tau_rho).T, sizes.T, strict=True):
            self._refuse_left(t, rest, max(size), f"what {label!r} changes in the motion")
        if len(share.loose):
            u = share.Z @ (share.inverse.T @ tau)
            turned = self._turned(u, q_rho) - self._turned(0.0, q_rho)
            direct = turned[self.rows]
            if len(held):
                direct -= acting @ units.refined(held, turned[self.others])
            tau_rho += share.loose.T @ (share.loose @ direct)
        return tau_rho

    def _share(self, t: float, q, qd, qdd) -> Share:
        """The balance of an instant, which stays in the workspace."""
        work = self.work
        put_state(work, t, q, qd, qdd, np.zeros(self.system.m))
        status = work.call(EVALUATE)
        if status != OK:
            raise KinegradError(f"The state at t = {t:g} s cannot be evaluated: {WORDS[status]}.")
        if self.moves is None:
            self.moves = usual_moves(self.system, work)
            self.sizes = row_sizes(self.system, work, self.system.m)
        J = work["J"][: self.system.m] * self.moves
        Z = self.moves[:, None] * _null(J[self.others] / self.sizes[self.others, None])
        A = Z.T @ work["J"][self.rows].T
        f, M = work["f"], _whole(work["M"])
        size = (np.abs(Z).T @ (np.abs(M) @ np.abs(qdd) + np.abs(f))).max(initial=0.0)
        lengths = np.linalg.norm(A, axis=0)
        rank = _rank(A / np.where(lengths > 0.0, lengths, 1.0))
        U, values, V = np.linalg.svd(A)
        inverse = (V[:rank].T / values[:rank]) @ U[:, :rank].T
        return Share(Z, A, Z.T @ (M @ qdd + f), size, inverse, V[rank:])

    def _turned(self, u: np.ndarray | float, q_rho: np.ndarray) -> np.ndarray:
        """(m, p) derivatives of the rates of the rows at velocities u that are held, which are left in the workspace."""
        work, m = self.work, self.system.m
        work["vp"][:] = u
        work.call(LINEARISE)
        return work["Phid_q"][:m] @ q_rho + work["Phid_s"][:m]

    def _refuse_left(self, t: float, left: np.ndarray, size: float, what: str) -> None:
        """Raise where the actuators do not balance everything."""
        if np.abs(left).max(initial=0.0) > UNBALANCED * size:
            raise KinegradError(
                f"The actuators {', '.join(self.names)} cannot balance {what} at t = {t:.6g} s, so that their forces have no "
                "derivatives; name as many as the mechanism has degrees of freedom, or name drivers that carry too."
            )


def _null(rows: np.ndarray) -> np.ndarray:
    """(n, d) an orthonormal basis of what scaled rows do not see."""
    if not len(rows):
        return np.eye(rows.shape[1])
    values, V = np.linalg.svd(rows)[1:]
    return V[int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum()) :].T


def _rank(A: np.ndarray) -> int:
    values = np.linalg.svd(A, compute_uv=False)
    return int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())


def _whole(M: np.ndarray) -> np.ndarray:
    """A symmetric matrix of which kernels need the lower triangle alone."""
    return np.tril(M) + np.tril(M, -1).T


def _values(system: System) -> dict[str, float]:
    return dict(zip(system.parameters.independent, system.rho.tolist(), strict=True))
