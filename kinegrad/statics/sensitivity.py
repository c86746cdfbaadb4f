"""Derivatives of objectives at an equilibrium, direct and adjoint (STA-5, STA-6)."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.kernels.products import LINEARISE, OBJECTIVE, PULLBACK, WEIGHT
from kinegrad.kinematics.start import refined
from kinegrad.sensitivity.gradient import Gradient, labels_of
from kinegrad.statics.equilibrium import Equilibrium, allowed, at_rest

METHODS = ("direct", "adjoint")


def gradient(
    found: Equilibrium, *, wrt: Sequence[str] | None = None, method: str = "direct", every_slot: bool = False
) -> Gradient:
    """Gradient of the objectives at an equilibrium by the parameters `wrt` (default: the model's design).

    The equilibrium moves with the parameters. With `every_slot` an adjoint also gives the derivatives by every number of
    the model (`Gradient.by_number`).
    """
    system = found.system
    if method not in METHODS:
        raise KinegradError(f"{method!r} is no method of an equilibrium; choose from {', '.join(METHODS)}.")
    if not system.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    if found.free:
        raise KinegradError(
            f"The equilibrium is not isolated: nothing holds {found.free[0]}, so it has no derivative. Hold it by a spring "
            "or a driver."
        )
    labels = labels_of(system, wrt, every_slot)
    clock = time.thread_time()
    ds = system.directions(labels)
    if method == "direct":
        matrix, by_slot = _direct(found, ds), None
    else:
        by_slot = _adjoint(found, None if every_slot else ds.any(axis=0))
        matrix = by_slot @ ds.T
    return Gradient(
        method=method, values=dict(found.objectives), wrt=labels, matrix=matrix, motion=found,
        cpu_s=time.thread_time() - clock, simulation_cpu_s=0.0, by_slot=by_slot if every_slot else None,
    )  # fmt: skip


def _linearised(found: Equilibrium, ds: np.ndarray | None, wanted: np.ndarray | None):
    """Workspace at the equilibrium after LINEARISE, with J, R_q and the motions that the constraints allow."""
    system = found.system
    work = system.workspace(ds=ds, s=found.s, wanted=wanted)
    at_rest(work, found.t, found.q, found.lam)
    work.call(LINEARISE)
    n = system.n
    J = np.ascontiguousarray(work["Phi_z"][: system.m, :n])
    return work, J, work["R_z"][:, :n], allowed(J, n)


def _direct(found: Equilibrium, ds: np.ndarray) -> np.ndarray:
    """(o, p) derivatives by the directions ds (STA-5)."""
    work, J, K, Z = _linearised(found, ds, None)
    n, m = found.system.n, found.system.m
    closing = refined(J, -work["Phi_z"][:m, n:])
    along = np.linalg.solve(Z.T @ K @ Z, -Z.T @ (work["R_z"][:, n:] + K @ closing))
    return work["g_z"][:, :n] @ (closing + Z @ along) + work["g_z"][:, n:]


def _adjoint(found: Equilibrium, wanted: np.ndarray | None) -> np.ndarray:
    """(o, slots) derivatives by the wanted slots, or by all (STA-6)."""
    work, J, K, Z = _linearised(found, None, wanted)
    g_q = work["g_z"][:, : found.system.n].T.copy()
    mu = Z @ np.linalg.solve((Z.T @ K @ Z).T, -Z.T @ g_q)
    y = refined(J.T, -(g_q + K.T @ mu))
    for name in ("eta_v", "eta_a", "yp", "yv", "ya"):
        work[name][:] = 0.0
    for o in range(g_q.shape[1]):
        work["mu"][:] = mu[:, o]
        work["yp"][: found.system.m] = y[:, o]
        work["flag"][OBJECTIVE] = o
        work["par"][WEIGHT] = 1.0
        work.call(PULLBACK)
    return work["psi_s"].copy()
