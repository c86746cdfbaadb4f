"""Derivatives of a driven motion and of the forces it needs by parameters, at each instant (DRV-4)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.patterns import DENSE
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.formulations.driven import BRIDGED
from kinegrad.kernels.formulations.objectives import Kinds
from kinegrad.kernels.products import FREEDOMS, LINEARISE, POSITION, PULLBACK, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.least_squares import TOO_LARGE
from kinegrad.motion import Motion
from kinegrad.objectives import at_end
from kinegrad.sensitivity.gradient import labels_of
from kinegrad.sensitivity.pulled_apart import refuse_apart
from kinegrad.sensitivity.sweeps import size_of_pieces
from kinegrad.statics.drive import drive, factors_at

if TYPE_CHECKING:
    from kinegrad.statics.actuators import Actuators


@dataclass(frozen=True, eq=False, repr=False)
class DrivenSensitivity:
    """Total derivatives at k times by p parameters.

    Attributes
    ----------
    wrt : tuple of str
    q, qd, qdd : (k, n, p) arrays
    forces : dict of driver, or actuator, to (k, p) array
    """

    t: np.ndarray
    wrt: tuple[str, ...]
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    forces: dict[str, np.ndarray]


def sensitivity(
    motion: Motion, wrt: Sequence[str] | None = None, actuators: Actuators | None = None
) -> DrivenSensitivity:
    """Derivatives of a motion that `kinegrad.drive` gave, and of the forces of its drivers, or of actuators in their place."""
    system = motion.system
    if not motion.is_driven:
        raise KinegradError(
            "Only a motion by drivers has derivatives at each instant; make it by kg.drive or kg.inverse."
        )
    labels = labels_of(system, wrt)
    refuse_apart(motion, labels)
    with Instants(motion, system.directions(labels)) as instants:
        found = instants.along()
    if actuators is not None:
        forces = actuators.sensitivity(motion, found, labels)
        return DrivenSensitivity(motion.t, labels, found.q, found.qd, found.qdd, forces)
    rows = {name: system.row_names.index(name) for name in system.model.drivers if name in system.row_names}
    forces = {name: -found.lam[:, row] for name, row in rows.items()}
    return DrivenSensitivity(motion.t, labels, found.q, found.qd, found.qdd, forces)


def put_state(work, t: float, q, qd, qdd, lam) -> None:
    """Leave a state in a workspace."""
    work["par"][TIME] = t
    work["q"][:], work["lam"][: len(lam)] = q, lam
    work["v"][:] = work["vp"][:] = qd
    work["a"][:] = work["ap"][:] = qdd


def whole(motion: Motion) -> Motion:
    """The motion by drivers with all its instants kept."""
    if motion.stride == 1:
        return motion
    again = drive(motion.system, t_end=motion.t_end, step=motion.step, output_step=motion.step, s=motion.s)
    return replace(again, follows=motion.follows)


@dataclass(frozen=True, eq=False)
class Along:
    """Derivatives at some instants by p directions: of states (k, n, p), multipliers (k, m, p) and integrands (k, o, p)."""

    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    lam: np.ndarray
    g: np.ndarray


class Instants:
    """The instants of a motion by drivers that were kept, as compiled code differentiates them.

    ``with Instants(...) as instants:`` leaves their arrays to the next caller at the end.

    Parameters
    ----------
    ds : (p, slots) array, optional
        Directions.
    wanted : (slots,) array of bool, optional
        Slots that adjoints are wanted of; all.
    """

    def __init__(self, motion: Motion, ds: np.ndarray | None = None, wanted: np.ndarray | None = None):
        from kinegrad.kernels.formulations import driven_derivatives

        self.kernels, self.motion, system = driven_derivatives, motion, motion.system
        self.kept = np.arange(len(motion.t))
        if motion.stride > 1 and (np.asarray(motion.flags) & BRIDGED).any():  # ends of bridges are not kept
            self.motion = whole(motion)
            self.kept = np.searchsorted(self.motion.t, motion.t - 1e-6 * np.diff(self.motion.t).min())
        self.work = work = system.with_solver(DENSE).workspace(ds=ds, s=motion.s, wanted=wanted)
        work["par"][TIME], work["q"][:] = motion.t[0], motion.q[0]
        work["flag"][FREEDOMS] = 0
        work.call(POSITION)
        self.factors = factors_at(system, work)
        self.fn = work.functions(LINEARISE, PULLBACK)

    def __enter__(self) -> Instants:
        return self

    def __exit__(self, kind, *_) -> None:
        if kind is None:
            self.work.give_back()

    def along(self, rows: Sequence[int] | None = None) -> Along:
        """Derivatives at the states of the motion with these numbers, or at all (DRV-4, DRV-9)."""
        system, p, number = self.motion.system, len(self.work["ds"]), self.work["q"].dtype
        instants = self.kept if rows is None else self.kept[np.asarray(rows, np.int64)]
        states = np.zeros((len(instants), 3, system.n, p), number)
        lam = np.zeros((len(instants), system.m, p), number)
        slopes = np.zeros((len(instants), len(system.objectives), p), number)
        segment = self._segment(at_end(len(system.objectives)))
        self._run(self.kernels.along, segment, instants, self._columns(), states, lam, slopes)
        return Along(states[:, 0], states[:, 1], states[:, 2], lam, slopes)

    def direct(self, kinds: Kinds, progress: Callable[[float], None] | None) -> np.ndarray:
        """(o, p) derivatives of the objectives (DRV-9)."""
        grad = np.zeros((len(kinds.kind), len(self.work["ds"])), self.work["q"].dtype)
        self._in_pieces(self.kernels.direct, kinds, progress, self._columns(), grad)
        return grad

    def adjoint(self, kinds: Kinds, progress: Callable[[float], None] | None) -> np.ndarray:
        """(o, slots) derivatives of the objectives by all wanted slots (DRV-10)."""
        held = np.zeros((3, len(kinds.kind), self.motion.system.n), self.work["q"].dtype)
        self._in_pieces(self.kernels.adjoint, kinds, progress, held)
        return self.work["psi_s"].copy()

    def _columns(self) -> np.ndarray:
        """Room for derivatives of states at an instant and at the ends of its bridge."""
        return np.zeros((3, 3, self.motion.system.n, len(self.work["ds"])), self.work["q"].dtype)

    def _segment(self, kinds: Kinds) -> Segment:
        motion = self.motion
        flags = np.asarray(motion.flags, np.int64)
        return Segment(motion.t, np.diff(motion.t), 0.0, 0.0, kinds, np.ascontiguousarray(motion.traj), flags)

    def _in_pieces(self, kernel, kinds: Kinds, progress, *more) -> None:
        """All instants, some at a time when progress is asked for."""
        segment, count = self._segment(kinds), len(self.motion.t)
        segment = segment._replace(hs=np.asarray(self.motion.hs, float))
        size = size_of_pieces(count, progress)
        for first in range(0, count, size):
            last = min(first + size, count)
            self._run(kernel, segment, first, last, *more)
            if progress:
                progress(last / count)

    def _run(self, kernel, *arguments) -> None:
        """Call a kernel; raises when derivatives are no numbers."""
        status, instant = kernel(self.fn, self.work.pointer, self.factors, *arguments)
        self.work.check_calls()
        if status != OK:
            raise KinegradError(f"Derivatives at t = {self.motion.t[instant]:g} s: {TOO_LARGE}")
