"""Derivatives of objectives of a driven motion, and of those at an assembly, direct and adjoint (DRV-9, DRV-10)."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np

from kinegrad.errors import DerivativeWarning, KinegradError
from kinegrad.kernels.formulations.driven import BRIDGED
from kinegrad.kinematics.start_derivatives import StartDerivatives
from kinegrad.motion import Motion
from kinegrad.objectives import kinds_of, weighed
from kinegrad.quiet import without_warnings
from kinegrad.sensitivity.direct import Direct
from kinegrad.sensitivity.discrete_adjoint import DiscreteAdjoint
from kinegrad.sensitivity.end_time import end_terms
from kinegrad.sensitivity.gradient import check_finite, check_held, labels_of
from kinegrad.sensitivity.method import Method
from kinegrad.sensitivity.methods import method_of
from kinegrad.sensitivity.pulled_apart import combinations, refuse_apart
from kinegrad.sensitivity.result import Gradient, end_with, slots_with
from kinegrad.statics.assembly import Assembly, assemble
from kinegrad.statics.drive import drive
from kinegrad.statics.instants import Instants, put_state, whole

#: what methods are called where nothing is discrete
NAMES = {Direct: "direct", DiscreteAdjoint: "adjoint"}


class DrivenGradient(Gradient):
    """Derivatives of objectives of a motion by drivers."""

    def objectives_with(self, rho: np.ndarray) -> np.ndarray:
        """The objectives of the motion that the drivers prescribe with other values of the independent parameters."""
        motion = self.motion
        again = drive(
            motion.system.with_parameters(rho), t_end=end_with(motion, rho), step=motion.step,
            output_step=len(motion.hs) * motion.step, s=slots_with(motion, rho), guess=motion.q[0],
        )  # fmt: skip
        return np.array(list(again.objectives.values()), float)

    def with_steps(self, factor: float) -> Gradient:
        """The gradient of the same motion with steps of `factor` times theirs."""
        motion = self.motion
        again = drive(
            motion.system, t_end=motion.t_end, step=factor * motion.step, s=motion.s, guess=motion.q[0]
        )  # fmt: skip
        again.follows = motion.follows
        return driven_gradient(again, wrt=self.wrt, method=self.method)


class AssemblyGradient(Gradient):
    """Derivatives of objectives at an assembly."""

    def objectives_with(self, rho: np.ndarray) -> np.ndarray:
        """The objectives at the assembly with other values of the independent parameters."""
        found = self.motion
        again = assemble(found.system.with_parameters(rho), s=slots_with(found, rho), guess=found.q)
        return np.array(list(again.objectives.values()), float)


@without_warnings
def driven_gradient(
    motion: Motion,
    *,
    wrt: Sequence[str] | None = None,
    method: Method | str = "direct",
    progress: Callable[[float], None] | None = None,
    every_slot: bool = False,
) -> Gradient:
    """Gradient of the objectives of a motion by drivers: exact at each instant, and so for their sums.

    Methods are "direct" and "adjoint", or their objects; with `every_slot` the adjoint gives the derivatives by every number
    of the model too.
    """
    system, clock = motion.system, time.thread_time()
    name, labels, every_slot = _chosen(system, "a motion by drivers", wrt, method, every_slot)
    if not every_slot:
        refuse_apart(motion, labels)
    motion = whole(motion)  # objectives are sums over all instants
    _tell_singular(motion)
    times = motion.follows or {}
    check_held(system, labels, times)
    s_rho = system.derivatives(labels)
    kinds = weighed(kinds_of(system, motion.ts), list(motion.objectives.values()), motion.t_end)
    by_slot = None
    if name == "direct":
        with Instants(motion, system.directions(labels)) as instants:
            matrix = instants.direct(kinds, progress)
    else:
        with Instants(motion, None, None if every_slot else s_rho.moved()) as instants:
            by_slot = instants.adjoint(kinds, progress)
        matrix = s_rho.pull(by_slot)
    more = end_terms(motion, times, labels)
    matrix = matrix if more is None else matrix + more
    check_finite(system, labels, matrix, None)
    return DrivenGradient(
        method=name, values=dict(motion.objectives), wrt=labels, matrix=matrix, motion=motion,
        cpu_s=time.thread_time() - clock + motion.cpu_s, simulation_cpu_s=motion.cpu_s,
        by_slot=by_slot if every_slot else None, apart=combinations(motion) if every_slot else None,
    )  # fmt: skip


@without_warnings
def assembly_gradient(
    found: Assembly, *, wrt: Sequence[str] | None = None, method: Method | str = "direct", every_slot: bool = False
) -> Gradient:
    """Gradient of the objectives at an assembly (their integrand, or final value, there) by parameters."""
    system, clock = found.system, time.thread_time()
    name, labels, every_slot = _chosen(system, "an assembly", wrt, method, every_slot)
    if not every_slot:
        refuse_apart(found, labels)
    s_rho = system.derivatives(labels)
    ds = system.directions(labels) if name == "direct" else None
    work = system.workspace(s=found.s, ds=ds, wanted=None if every_slot else s_rho.moved())
    put_state(work, 0.0, found.q, found.qd, found.qdd, found.lam)
    start, count = StartDerivatives(system, work), len(system.objectives)
    if name == "direct":
        q, v, a = start.direct()
        matrix, by_slot = work["g_q"] @ q + work["g_v"] @ v + work["g_a"] @ a + work["g_s"], None
    else:
        state = (np.zeros((system.n, count)) for _ in range(3))
        start.adjoint(*state, np.zeros((3, system.m + len(system.freedoms), count)), np.ones(count))
        by_slot = work["psi_s"].copy()
        matrix = s_rho.pull(by_slot)
    check_finite(system, labels, matrix, None)
    return AssemblyGradient(
        method=name, values=dict(found.objectives), wrt=labels, matrix=matrix, motion=found,
        cpu_s=time.thread_time() - clock, simulation_cpu_s=0.0, by_slot=by_slot if every_slot else None,
        apart=combinations(found) if every_slot else None,
    )  # fmt: skip


def _chosen(system, where: str, wrt, method, every_slot: bool) -> tuple[str, tuple[str, ...], bool]:
    """The name of the method, the labels of the parameters, and whether every slot is wanted; refuses what does not go."""
    chosen = method_of(method, f"method of {where}", NAMES.values(), every_slot=every_slot)
    if type(chosen) not in NAMES or getattr(chosen, "history", False):
        raise KinegradError(f"{chosen!r} does not go with {where}; choose from {', '.join(NAMES.values())}.")
    if not system.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    return NAMES[type(chosen)], labels_of(system, wrt, chosen.every_slot), chosen.every_slot


def _tell_singular(motion: Motion) -> None:
    """Warns of singular positions on the way, and of one at the end."""
    for place in motion.extra["singular"][:1]:
        warnings.warn(
            f"The motion passes a singular position at t = {place['t']:.6g} s: derivatives by numbers with other values of "
            "which it would not pass there mean nothing.",
            DerivativeWarning,
            stacklevel=6,
        )
    if len(motion.flags) and motion.flags[-1] & BRIDGED:
        warnings.warn(
            f"The last instant, at t = {motion.t[-1]:.6g} s, is a singular position, where derivatives cannot be solved for: "
            "what objectives take from it has none. End a step earlier or later.",
            DerivativeWarning,
            stacklevel=6,
        )
