"""Arrays of a workspace at one state: the one place that reads them for people."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, LINEARISE, TIME
from kinegrad.kernels.status import OK, WORDS
from kinegrad.kinematics.culprits import culprit


class Values(NamedTuple):
    """What EVALUATE and BIAS give: rows of constraints, and below them those of the degrees of freedom in J."""

    M: np.ndarray
    Q: np.ndarray
    Phi: np.ndarray
    Phi_t: np.ndarray
    J: np.ndarray
    gamma: np.ndarray


class Partials(NamedTuple):
    """What LINEARISE gives: by coordinates, and by rates."""

    K: np.ndarray
    C: np.ndarray
    Ma_q: np.ndarray
    PhiqTlam_q: np.ndarray
    gamma_q: np.ndarray
    gamma_qd: np.ndarray


class Products:
    """The arrays of a system at a state, computed when they are asked for.

    Parameters
    ----------
    q, qd, qdd : (n,) arrays
    lam : (m,) array
        Multipliers.
    """

    def __init__(self, system: System, t: float, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray, lam: np.ndarray):
        self.system, self.t, self.q, self.qd, self.qdd, self.lam = system, t, q, qd, qdd, lam

    def _workspace(self) -> Workspace:
        work = self.system.workspace()
        work["q"][:] = self.q
        work["v"][:] = work["vp"][:] = self.qd
        work["par"][TIME] = self.t
        work["flag"][FREEDOMS] = 1
        return work

    def _run(self, work: Workspace, which: int) -> None:
        status = work.call(which)
        if status != OK:
            who = culprit(self.system, work, status)
            raise SimulationError(
                f"The equations cannot be evaluated at t = {self.t:g}: {WORDS[status]}{who and f' ({who})'}. "
                "Ask for them at another state."
            )

    @cached_property
    def values(self) -> Values:
        work, m = self._workspace(), self.system.m
        self._run(work, EVALUATE)
        work.call(BIAS)
        return Values(
            M=_whole(work["M"]), Q=-work["f"], Phi=work["Phi"][:m].copy(), Phi_t=work["Phi_t"][:m].copy(), J=work["J"].copy(),
            gamma=-work["c"][:m],
        )  # fmt: skip

    @cached_property
    def partials(self) -> Partials:
        """With a and lam zero R is f; lam and qdd stand in the places of a projection's multipliers and correction."""
        work, m = self._workspace(), self.system.m
        work["sv"][:m] = self.lam
        work["da"][:] = self.qdd
        self._run(work, LINEARISE)
        return Partials(
            K=work["R_q"].copy(), C=work["C"].copy(), Ma_q=work["Na_q"].copy(),
            PhiqTlam_q=work["Nv_q"].copy(), gamma_q=-work["Phidd_q"][:m], gamma_qd=-work["Phidd_v"][:m],
        )  # fmt: skip


def _whole(M: np.ndarray) -> np.ndarray:
    """A symmetric matrix of which kernels need the lower triangle alone."""
    return np.tril(M) + np.tril(M, -1).T


def vector(system: System, what: str, value, names) -> np.ndarray:
    """`value` as an array with a number for each name; zeros for None."""
    if value is None:
        return np.zeros(len(names))
    try:
        array = np.atleast_1d(np.asarray(value, float))
    except (TypeError, ValueError):
        raise KinegradError(f"{what} is {value!r}; give {len(names)} numbers: {_listed(names)}.") from None
    if array.shape != (len(names),):
        shape = "x".join(map(str, array.shape))
        raise KinegradError(
            f"{what} has {shape} numbers; in {system.kind} coordinates the model has {len(names)}: {_listed(names)}."
        )
    if not np.isfinite(array).all():
        bad = names[int(np.flatnonzero(~np.isfinite(array))[0])]
        raise KinegradError(f"{what} is not finite at {bad!r}; give numbers.")
    return array


def _listed(names) -> str:
    few = list(names)[:8]
    return (", ".join(few) + (", ..." if len(names) > len(few) else "")) or "none"
