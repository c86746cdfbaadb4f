"""angular_rates: a motion by drivers, solved in angular velocities and accelerations (ANG-1)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, TIME
from kinegrad.kernels.records import NORM
from kinegrad.kinematics.units import units_of
from kinegrad.motion import Motion
from kinegrad.quiet import without_warnings
from kinegrad.rotations import G_of


@dataclass(frozen=True, eq=False, repr=False)
class AngularRates:
    """Angular velocities and accelerations at k instants, and the coordinates' rates that follow.

    Attributes
    ----------
    t : (k,) array
    owners : tuple of str
        Bodies, or joints, whose orientation is given by Euler parameters: g of them.
    omega, omegad : (k, g, 3) arrays
        In the axes of the body that turns; relative to the other body where a joint is the owner.
    qd, qdd : (k, n) arrays
        Rates of all coordinates of the system.
    """

    t: np.ndarray
    owners: tuple[str, ...]
    omega: np.ndarray
    omegad: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray

    def __repr__(self) -> str:
        return f"<AngularRates of {', '.join(self.owners)} at {len(self.t)} times>"


@without_warnings
def angular_rates(motion: Motion) -> AngularRates:
    """Velocities and accelerations of a motion that `kinegrad.drive` gave, solved anew at its positions in angular velocities.

    Three columns take the place of four Euler parameters, and their normalisation is left out.  The results are those of the
    motion, to rounding.
    """
    if not motion.is_driven:
        raise KinegradError("Only a motion by drivers is determined by its positions; make it by kg.drive.")
    system, work = motion.system, motion.system.workspace(s=motion.s)
    groups = system.alike
    k, g, n = len(motion.t), len(groups), system.n
    found = AngularRates(
        motion.t,
        tuple(system.coordinates[group[0]].owner for group in groups),
        *(np.zeros((k, g, 3)) for _ in range(2)),
        *(np.zeros((k, n)) for _ in range(2)),
    )
    rows = _without_norms(system)
    work["flag"][FREEDOMS] = 0
    for i in range(k):
        work["par"][TIME], work["q"][:] = motion.t[i], motion.q[i]
        _solve(system, work, rows, found, i)
    return found


def _without_norms(system: System) -> np.ndarray:
    """Numbers of the rows that do not normalise Euler parameters."""
    norms = {int(row["row"]) for row in system.tables["elements"]["row"] if row["type"] == NORM}
    return np.array([l for l in range(system.m) if l not in norms], np.int64)


def _solve(system: System, work: Workspace, rows: np.ndarray, found: AngularRates, i: int) -> None:
    """Fills instant i from the position in the workspace (ANG-1)."""
    groups, q, n = system.alike, work["q"], system.n
    others = np.setdiff1d(np.arange(n), groups)
    G = [G_of(q[group]) for group in groups]

    def parts(x):
        return x[: len(others)], x[len(others) :].reshape(-1, 3)

    work["v"][:] = work["vp"][:] = work["ap"][:] = 0.0
    work.call(EVALUATE)
    J = work["J"][rows]
    K = np.hstack([J[:, others], *(0.5 * J[:, group] @ g.T for group, g in zip(groups, G, strict=True))])
    units = units_of(work, J, rows)
    units = units._replace(columns=np.append(units.columns[others], np.ones(3 * len(groups))))
    rate, omega = parts(units.refined(K, -work["Phi_t"][rows]))
    qd, qdd = found.qd[i], found.qdd[i]
    qd[others], found.omega[i] = rate, omega
    for group, g, w in zip(groups, G, omega, strict=True):
        qd[group] = 0.5 * g.T @ w
    work["v"][:] = work["vp"][:] = qd
    work.call(EVALUATE)
    work.call(BIAS)
    right = -work["c"][rows]
    for group, w in zip(groups, omega, strict=True):
        right += 0.25 * (w @ w) * (J[:, group] @ q[group])
    second, omegad = parts(units.refined(K, right))
    qdd[others], found.omegad[i] = second, omegad
    for group, g, w, wd in zip(groups, G, omega, omegad, strict=True):
        qdd[group] = 0.5 * g.T @ wd - 0.25 * (w @ w) * q[group]
