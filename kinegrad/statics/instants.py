"""Derivatives of a driven motion and of the forces it needs by parameters, at each instant (DRV-4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels.products import FREEDOMS, LINEARISE, TIME
from kinegrad.kinematics.start import refined
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
    n, m, k, p = system.n, system.m, len(motion.t), len(labels)
    work = system.workspace(ds=system.directions(labels), s=motion.s)
    q, qd, qdd, lam = np.zeros((k, n, p)), np.zeros((k, n, p)), np.zeros((k, n, p)), np.zeros((k, m, p))
    work["flag"][FREEDOMS] = 0
    for i in range(k):
        work["par"][TIME] = motion.t[i]
        work["q"][:], work["lam"][:m] = motion.q[i], motion.lam[i]
        work["v"][:] = work["vp"][:] = motion.qd[i]
        work["a"][:] = work["ap"][:] = motion.qdd[i]
        work.call(LINEARISE)
        J = work["Phi_q"][:m]
        q[i] = refined(J, -work["Phi_s"][:m])
        qd[i] = refined(J, -(work["Phid_q"][:m] @ q[i] + work["Phid_s"][:m]))
        qdd[i] = refined(J, -(work["Phidd_q"][:m] @ q[i] + work["Phidd_v"][:m] @ qd[i] + work["Phidd_s"][:m]))
        lam[i] = refined(J.T, -(work["R_q"] @ q[i] + work["C"] @ qd[i] + work["M"] @ qdd[i] + work["R_s"]))
    rows = {name: system.row_names.index(name) for name in system.model.drivers if name in system.row_names}
    return DrivenSensitivity(motion.t, labels, q, qd, qdd, {name: -lam[:, row] for name, row in rows.items()})
