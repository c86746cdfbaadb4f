"""assemble: the position a mechanism starts from, with the velocities and accelerations that belong to it (KIN-1 to KIN-3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.given import ConvertedStates, given_motion
from kinegrad.kernels.products import EVALUATE, OBSERVE
from kinegrad.kinematics.distances import Distances, distances, tell_branch
from kinegrad.kinematics.start import start
from kinegrad.motion import MarkerMotion, Motion, markers_of
from kinegrad.quiet import without_warnings
from kinegrad.starts import Assembled, near_position
from kinegrad.statics.still import Still

if TYPE_CHECKING:
    from kinegrad.sensitivity.result import Gradient


@dataclass(frozen=True, eq=False, repr=False)
class Assembly(Still):
    """Where a mechanism starts.

    Attributes
    ----------
    q, qd, qdd : (n,) arrays
        Coordinates, velocities and accelerations.
    iterations : int
        Of the position problem.
    residual : float
        Largest violation of a constraint row.
    lam : (m,) array
        Multipliers of the constraint rows.
    objectives : dict of name to value
        The integrand, or the final value, at the start.
    """

    system: System
    s: np.ndarray
    q: np.ndarray
    qd: np.ndarray
    qdd: np.ndarray
    iterations: int
    residual: float
    lam: np.ndarray
    objectives: dict[str, float]

    def __repr__(self) -> str:
        return f"<Assembly of {self.system.model.title or 'a model'!r}: found in {self.iterations} iterations>"

    def _as_motion(self) -> Motion:
        lam = np.zeros((1, self.system.m))  # which an assembly does not know
        states = (self.q[None], self.qd[None], self.qdd[None], lam)
        return given_motion(self.system, [0.0], states, s=self.s, scheme=ConvertedStates(self.system))

    @property
    def coordinates(self) -> dict[str, float]:
        """Values of the coordinates by name."""
        return dict(zip(self.system.coordinates, self.q.tolist(), strict=True))

    @cached_property
    def distances(self) -> Distances:
        """How far bodies are from their poses, and drivers and degrees of freedom from these and from what is asked."""
        return distances(self.system, self.s, self.q)

    def as_start(self, system: System):
        """The start of a motion of `system`, looked for near this position."""
        return Assembled(), near_position(self, system)

    def gradient(
        self, *, wrt: Sequence[str] | None = None, method: str = "direct", every_slot: bool = False
    ) -> Gradient:
        """Gradient of the objectives here by the parameters `wrt` (default: the model's design), "direct" or "adjoint"."""
        from kinegrad.statics.kinematic_gradient import assembly_gradient

        return assembly_gradient(self, wrt=wrt, method=method, every_slot=every_slot)

    def markers(self) -> dict[str, MarkerMotion]:
        """All markers, each quantity a vector of three."""
        work = self.system.workspace(s=self.s, every_marker=True)
        work["par"][:] = 0.0
        work["q"][:] = self.q
        work["v"][:] = work["vp"][:] = self.qd
        work["a"][:] = work["ap"][:] = self.qdd
        work.call(EVALUATE)
        work.call(OBSERVE)
        return markers_of(work)


@without_warnings
def assemble(system: System, *, s: np.ndarray | None = None, guess: np.ndarray | None = None) -> Assembly:
    """The start of `system`: all loops closed, with the degrees of freedom at their values.

    Parameters
    ----------
    s : array, optional
        Values of all slots in place of those of the parameters.
    guess : array, optional
        Coordinates from which those of the start are found, in place of what the model says.

    Raises
    ------
    AssemblyError
        When there is no such position, by the name of what does not close.
    """
    work = system.workspace(s=s)
    iterations = start(system, work, guess=guess)
    if guess is None:
        tell_branch(system, work, stacklevel=4)
    work.call(EVALUATE)
    residual = float(np.abs(work["Phi"][: system.m]).max(initial=0.0))
    work.call(OBSERVE)
    return Assembly(
        system=system, s=work["s"].copy(), q=work["q"].copy(), qd=work["v"].copy(), qdd=work["a"].copy(),
        iterations=iterations, residual=residual, lam=work["lam"][: system.m].copy(),
        objectives=dict(zip(system.objectives, work["g"].tolist(), strict=True)),
    )  # fmt: skip
