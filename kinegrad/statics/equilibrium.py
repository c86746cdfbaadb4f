"""equilibrium: a position where all forces balance, how stable it is, and its derivatives (STA-1 to STA-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.balance.found import balance
from kinegrad.balance.search import MAX_ITERATIONS, at_rest
from kinegrad.coordinates.patterns import lean
from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.given import given_motion
from kinegrad.kernels.products import EVALUATE, OBSERVE
from kinegrad.motion import MarkerMotion, Motion, markers_of
from kinegrad.quiet import without_warnings
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.solve import reactions
from kinegrad.starts import AtEquilibrium, near_position
from kinegrad.statics.still import Still


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium(Still):
    """A position at rest.

    Attributes
    ----------
    q, lam : (n,), (m,) arrays
        Coordinates, and multipliers of the constraint rows.
    eigenvalues : array
        Of the stiffness on the motions that the constraints allow, by the mass matrix [1/s2], smallest first.
    stable : bool
        All eigenvalues are real and larger than zero.
    free : tuple of str
        Directions without stiffness, told by the coordinates that move most.
    residual, force_residual : float
        Largest violation of a constraint row, and largest generalised force left.
    objectives : dict of name to value
        The integrand, or the final value, at the equilibrium.
    """

    system: System
    t: float
    s: np.ndarray
    q: np.ndarray
    lam: np.ndarray
    iterations: int
    residual: float
    force_residual: float
    eigenvalues: np.ndarray
    stable: bool
    free: tuple[str, ...]
    objectives: dict[str, float]

    def __repr__(self) -> str:
        kind = "stable" if self.stable else "free" if self.free else "unstable"
        return (
            f"<Equilibrium of {self.system.model.title or 'a model'!r}: {kind}, found in {self.iterations} iterations>"
        )

    def _as_motion(self) -> Motion:
        still = np.zeros((2, 1, self.system.n))
        states = (self.q[None], *still, self.lam[None])
        return given_motion(self.system, [self.t], states, s=self.s, objectives=dict(self.objectives))

    @property
    def coordinates(self) -> dict[str, float]:
        """Values of the coordinates by name."""
        return dict(zip(self.system.coordinates, self.q.tolist(), strict=True))

    @property
    def frequencies(self) -> np.ndarray:
        """Natural frequencies of small motions [Hz], without dampers; of positive eigenvalues only."""
        values = self.eigenvalues
        return np.sqrt(values[values > 0.0]) / (2.0 * np.pi)

    def markers(self) -> dict[str, MarkerMotion]:
        """All markers, at rest."""
        work = self.system.workspace(s=self.s, every_marker=True)
        at_rest(work, self.t, self.q, self.lam)
        work.call(EVALUATE)
        work.call(OBSERVE)
        return markers_of(work)

    def as_start(self, system: System):
        """The start of a motion of `system` from its equilibrium near this one."""
        if self.t != 0.0:
            raise KinegradError(
                f"The equilibrium is that of t = {self.t:g} s, and a motion starts at t = 0; give the equilibrium of t = 0."
            )
        return AtEquilibrium(), near_position(self, system)

    def reactions(self) -> Reactions:
        """Reactions of all joints and constraints, (1, 6) each."""
        rest = np.zeros((1, self.system.n))
        return reactions(self.system, [self.t], self.q[None, :], rest, rest, s=self.s)

    def gradient(self, *, wrt: Sequence[str] | None = None, method="direct", every_slot: bool = False):
        """Derivatives of the objectives at the equilibrium by parameters; see `kinegrad.statics.sensitivity`."""
        from kinegrad.statics.sensitivity import gradient

        return gradient(self, wrt=wrt, method=method, every_slot=every_slot)


@without_warnings
def equilibrium(
    system: System,
    *,
    t: float = 0.0,
    max_iterations: int = MAX_ITERATIONS,
    s: np.ndarray | None = None,
    guess: np.ndarray | None = None,
) -> Equilibrium:
    """The equilibrium of `system` that an overdamped motion from the assembled position leads to.

    Velocities are zero; drivers are held at time t; degrees of freedom start at their values and are not held.

    Parameters
    ----------
    t : float
        The time at which drivers and forces are taken [s].
    s : array, optional
        Values of all slots in place of those of the parameters.
    guess : array, optional
        Coordinates to start from, in place of the assembled position.
    """
    system = lean(system)
    work = system.workspace(s=s)
    found = balance(system, work, t, max_iterations, guess)
    look = found.look
    at_rest(work, t, look.q, look.lam)
    work.call(EVALUATE)
    work.call(OBSERVE)
    return Equilibrium(
        system=system, t=t, s=work["s"].copy(), q=look.q, lam=look.lam, iterations=found.iterations, residual=look.violation,
        force_residual=look.force_residual, eigenvalues=found.eigenvalues, stable=found.stable,
        free=found.free, objectives=dict(zip(system.objectives, work["g"].tolist(), strict=True)),
    )  # fmt: skip
