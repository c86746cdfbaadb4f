"""Derivatives of a driven motion and of the forces it needs by parameters, at each instant (DRV-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels.products import FREEDOMS, LINEARISE, OBJECTIVE, PULLBACK, TIME, WEIGHT
from kinegrad.kinematics.least_squares import refined
from kinegrad.motion import Motion
from kinegrad.sensitivity.gradient import labels_of


@dataclass(frozen=True, eq=False, repr=False)
class DrivenSensitivity:
    """Total derivatives at k times by p parameters.

    Attributes
    ----------
    wrt : tuple of str
    q, qd, qdd : (k, n, p) arrays
    forces : dict of driver to (k, p) array
    """

    t: np.ndarray
    wrt: tuple[str, ...]
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    forces: dict[str, np.ndarray]


def sensitivity(motion: Motion, wrt: Sequence[str] | None = None) -> DrivenSensitivity:
    """Derivatives of a motion that `kinegrad.drive` gave, and of the forces of its drivers."""
    system = motion.system
    if not motion.is_driven:
        raise KinegradError(
            "Only a motion by drivers has derivatives at each instant; make it by kg.drive or kg.inverse."
        )
    labels = labels_of(system, wrt)
    at = Instants(motion, system.directions(labels), None)
    found = []
    for i in range(len(motion.t)):
        at.go(i, motion.lam[i])
        found.append((*at.states(), at.multipliers()))
    q, qd, qdd, lam = (np.array(part) for part in zip(*found, strict=True))
    rows = {name: system.row_names.index(name) for name in system.model.drivers if name in system.row_names}
    return DrivenSensitivity(motion.t, labels, q, qd, qdd, {name: -lam[:, row] for name, row in rows.items()})


def put_state(work, t: float, q, qd, qdd, lam) -> None:
    """Leave a state in a workspace."""
    work["par"][TIME] = t
    work["q"][:], work["lam"][: len(lam)] = q, lam
    work["v"][:] = work["vp"][:] = qd
    work["a"][:] = work["ap"][:] = qdd


class Instants:
    """The instants of a motion by drivers, at one of which everything is linearised."""

    def __init__(self, motion: Motion, ds: np.ndarray | None, wanted: np.ndarray | None):
        self.motion, self.m = motion, motion.system.m
        self.work = motion.system.workspace(ds=ds, s=motion.s, wanted=wanted)
        for name in ("dv", "da", "sv", "sa", "mu", "eta_v", "eta_a", "yp", "yv", "ya", "ys"):
            self.work[name][:] = 0.0
        self.none = np.zeros(self.m)

    def go(self, i: int, lam: np.ndarray | None = None) -> None:
        """Linearise at instant i; where multipliers matter they are given."""
        motion, work, m = self.motion, self.work, self.m
        put_state(work, motion.t[i], motion.q[i], motion.qd[i], motion.qdd[i], self.none if lam is None else lam)
        work["flag"][FREEDOMS] = 0
        work.call(LINEARISE)
        self.J, self.Phid_q = work["Phi_q"][:m], work["Phid_q"][:m]
        self.Phidd_q, self.Phidd_v = work["Phidd_q"][:m], work["Phidd_v"][:m]

    def states(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q', v', a' (n, p) by the directions (DRV-4)."""
        work, m = self.work, self.m
        q = refined(self.J, -work["Phi_s"][:m])
        v = refined(self.J, -(self.Phid_q @ q + work["Phid_s"][:m]))
        a = refined(self.J, -(self.Phidd_q @ q + self.Phidd_v @ v + work["Phidd_s"][:m]))
        self.found = q, v, a
        return self.found

    def multipliers(self) -> np.ndarray:
        """lam' (m, p) after `states` (DRV-4)."""
        work, (q, v, a) = self.work, self.found
        return refined(self.J.T, -(work["R_q"] @ q + work["C"] @ v + work["M"] @ a + work["R_s"]))

    def direct(self) -> np.ndarray:
        """(o, p) derivatives of the integrands or final values here (DRV-9)."""
        q, v, a = self.states()
        work = self.work
        return work["g_q"] @ q + work["g_v"] @ v + work["g_a"] @ a + work["g_s"]

    def adjoint(self, weights: np.ndarray) -> None:
        """psi_s gains `weights` (o) times the derivatives here, by all wanted slots (DRV-10)."""
        work, m, JT = self.work, self.m, np.ascontiguousarray(self.J.T)
        Q, V, A = (weights * work[name].T for name in ("g_q", "g_v", "g_a"))
        ya = refined(JT, A)
        yv = refined(JT, V - self.Phidd_v.T @ ya)
        yp = refined(JT, Q - self.Phidd_q.T @ ya - self.Phid_q.T @ yv)
        for o, weight in enumerate(weights):
            if weight != 0.0:
                work["yp"][:m], work["yv"][:m], work["ya"][:m] = -yp[:, o], -yv[:, o], -ya[:, o]
                work["flag"][OBJECTIVE], work["par"][WEIGHT] = o, weight
                work.call(PULLBACK)
