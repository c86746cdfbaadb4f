"""equilibrium: a position where all forces balance, how stable it is, and its derivatives (STA-1 to STA-5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System, Workspace
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE, OBSERVE, TIME
from kinegrad.kernels.status import NOT_FINITE, OK, WORDS
from kinegrad.kinematics.culprits import culprit, force_without_derivative
from kinegrad.kinematics.start import RANK_TOLERANCE, close_position, place, refined, solve_position
from kinegrad.kinematics.states import refuse_states, refuse_velocity_rows
from kinegrad.motion import MarkerMotion, markers_of
from kinegrad.quiet import without_warnings
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.solve import reactions

LARGEST_STEP = 0.3  # of a coordinate in one iteration [m, rad]
NEUTRAL = 1e-9  # a stiffness below this part of the largest is none
SMALL = 1e-11  # a Newton step below this ends the iterations [m, rad]
POLISH = 4  # Newton steps after that, as long as they still help


@dataclass(frozen=True, eq=False, repr=False)
class Equilibrium:
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

    def reactions(self) -> Reactions:
        """Reactions of all joints and constraints, (1, 6) each."""
        rest = np.zeros((1, self.system.n))
        return reactions(self.system, [self.t], self.q[None, :], rest, rest, s=self.s)

    def gradient(self, *, wrt: Sequence[str] | None = None, method="direct", every_slot: bool = False):
        """Derivatives of the objectives at the equilibrium by parameters; see `kinegrad.statics.sensitivity`."""
        from kinegrad.statics.sensitivity import gradient

        return gradient(self, wrt=wrt, method=method, every_slot=every_slot)


def at_rest(work: Workspace, t: float, q: np.ndarray, lam: np.ndarray) -> None:
    """Leaves a position without motion in the workspace."""
    for name in ("v", "a", "vp", "ap", "dv", "da", "sv", "sa", "lam"):
        work[name][:] = 0.0
    work["par"][:] = 0.0
    work["par"][TIME] = t
    work["flag"][FREEDOMS] = 0
    work["q"][:] = q
    work["lam"][: len(lam)] = lam


@dataclass(frozen=True)
class Look:
    """Forces and stiffness at a closed position (STA-2).

    Attributes
    ----------
    R : (n,) array
        f + Phi_qᵀ lam, lam of least squares.
    Z : (n, d) array
        Orthonormal motions that the constraints allow.
    g, H, W : (d,), (d, d), (d, d) arrays
        Zᵀ R, Zᵀ R_q Z, and the mass matrix on these motions, made definite.
    """

    q: np.ndarray
    lam: np.ndarray
    R: np.ndarray
    Z: np.ndarray
    g: np.ndarray
    H: np.ndarray
    W: np.ndarray
    size: float
    violation: float


class Search:
    """The way from a position to an equilibrium."""

    def __init__(self, system: System, work: Workspace, t: float):
        self.system, self.work, self.t = system, work, t
        self.scale = 0.0  # of generalised forces met so far

    def look(self) -> Look:
        """The balance at q in the workspace, which is closed."""
        system, work = self.system, self.work
        m = system.m
        q = work["q"].copy()
        at_rest(work, self.t, q, np.zeros(0))
        status = work.call(EVALUATE)
        if status == OK and not all(np.isfinite(work[name]).all() for name in ("f", "J", "M")):
            status = NOT_FINITE
        if status != OK:
            who = culprit(system, work, status)
            raise KinegradError(
                f"The forces cannot be evaluated on the way to the equilibrium: {WORDS[status]}{who and f' ({who})'}. Start "
                "from another position, or look for numbers that are too large."
            )
        f, J, M = work["f"].copy(), work["J"][:m].copy(), work["M"].copy()
        lam = refined(J.T, -f) if m else np.zeros(0)
        violation = float(np.abs(work["Phi"][:m]).max(initial=0.0))
        at_rest(work, self.t, q, lam)
        work.call(LINEARISE)
        if not np.isfinite(work["R_q"]).all():
            who = force_without_derivative(system, work)
            raise KinegradError(
                f"{f'Force {who!r}' if who else 'A force'} has no derivative at rest, which an equilibrium needs; avoid "
                "norm() of a velocity that vanishes, such as by sqrt(norm2(v) + 1e-12)."
            )
        R, K, Z = f + J.T @ lam, work["R_q"].copy(), allowed(J, system.n)
        W = definite(Z.T @ M @ Z)
        self.scale = max(self.scale, np.abs(f).max(initial=0.0))
        return Look(q, lam, R, Z, Z.T @ R, Z.T @ K @ Z, W, np.abs(K).max(initial=0.0), violation)

    def newton(self, look: Look) -> tuple[np.ndarray, float]:
        """The full step as far as there is stiffness, and the largest force where there is none."""
        u = -np.linalg.lstsq(look.H, look.g, rcond=NEUTRAL)[0]
        return u, float(np.abs(look.H @ u + look.g).max(initial=0.0))

    def settled(self, look: Look) -> bool:
        """Whether no force is left, but for what a tiny step would remove."""
        u, rest = self.newton(look)
        near = np.abs(look.Z @ u).max(initial=0.0) <= SMALL * max(1.0, np.abs(look.q).max(initial=0.0))
        return bool(near and rest <= 1e-10 * max(self.scale, look.size))

    def step(self, look: Look, mu: float) -> tuple[np.ndarray, float]:
        """A step of the overdamped motion (STA-3), and its damping, at least what makes it go downhill."""
        values = np.linalg.eigvals(np.linalg.solve(look.W, 0.5 * (look.H + look.H.T))).real
        lowest, largest = values.min(), np.abs(values).max()
        if lowest <= NEUTRAL * largest:
            mu = max(mu, 1.5 * abs(lowest), 1e-6 * largest)
        if mu == 0.0 and largest == 0.0:
            mu = float(np.abs(np.linalg.solve(look.W, look.g)).max()) / LARGEST_STEP or 1.0
        dq = look.Z @ -np.linalg.solve(mu * look.W + look.H, look.g)
        size = np.abs(dq).max()
        return dq * min(1.0, LARGEST_STEP / size) if size > 0.0 else dq, mu

    def run(self, max_iterations: int) -> tuple[Look, int]:
        """The equilibrium, and the iterations it took."""
        look = self.look()
        mu, dq = 0.0, np.zeros(self.system.n)
        for iteration in range(max_iterations):
            if self.settled(look):
                return self.polished(look), iteration
            dq, damping = self.step(look, mu)
            self.work["q"][:] = look.q + dq
            try:
                close_position(self.system, self.work, "on the way to the equilibrium")
                trial = self.look()
            except KinegradError:
                trial = None
            if trial is not None and trial.R @ (trial.q - look.q) <= 0.5 * abs(look.g @ (look.Z.T @ dq)):
                look, mu = trial, 0.25 * damping if damping > 1e-6 else 0.0
            else:
                mu = 4.0 * max(damping, 1e-3 * _stiffness(look))
        raise KinegradError(self._failed(look, dq, max_iterations))

    def polished(self, look: Look) -> Look:
        """The same after a few more steps, as long as they make forces smaller."""
        for _ in range(POLISH):
            self.work["q"][:] = look.q + look.Z @ self.newton(look)[0]
            close_position(self.system, self.work, "at the equilibrium")
            better = self.look()
            if not np.linalg.norm(better.g) < np.linalg.norm(look.g):
                break
            look = better
        return look

    def _failed(self, look: Look, dq: np.ndarray, iterations: int) -> str:
        k = int(np.abs(dq).argmax()) if np.any(dq) else int(np.abs(look.R).argmax())
        name = self.system.coordinates[k]
        return (
            f"No equilibrium was found in {iterations} iterations: {name!r} keeps moving (it is at {look.q[k]:.4g}, pushed "
            f"by {-look.R[k]:.3g}). Hold it by a spring, a driver or a constraint, or start nearer to an equilibrium."
        )


def _stiffness(look: Look) -> float:
    return float(np.abs(np.linalg.eigvals(np.linalg.solve(look.W, look.H))).max()) or 1.0


def definite(W: np.ndarray) -> np.ndarray:
    """The inertia on the allowed motions with a little more where it has none, such as about the axis of a slender bar."""
    return W + 1e-13 * max(np.trace(W), 1e-30) * np.eye(len(W))


def named(system: System, motion: np.ndarray) -> str:
    """The coordinates that move most in a motion."""
    size = np.abs(motion)
    return " and ".join(system.coordinates[k] for k in np.flatnonzero(size > 0.5 * size.max()))


def allowed(J: np.ndarray, n: int) -> np.ndarray:
    """(n, d) orthonormal basis of the motions with J v = 0."""
    if not len(J):
        return np.eye(n)
    _, values, rows = np.linalg.svd(J)
    rank = int((values > RANK_TOLERANCE * max(values[0], 1e-300)).sum())
    return rows[rank:].T


@without_warnings
def equilibrium(
    system: System, *, t: float = 0.0, max_iterations: int = 400, s: np.ndarray | None = None
) -> Equilibrium:
    """The equilibrium of `system` that an overdamped motion from the assembled position leads to.

    Velocities are zero; drivers are held at time t; degrees of freedom start at their values and are not held.

    Parameters
    ----------
    t : float
        The time at which drivers and forces are taken [s].
    s : array, optional
        Values of all slots in place of those of the parameters.
    """
    refuse_states(system, "an equilibrium")
    refuse_velocity_rows(system, "An equilibrium", "simulate the model")
    work = system.workspace(s=s)
    work["par"][:] = 0.0
    work["par"][TIME] = t
    place(system, work)
    try:
        solve_position(system, work)
    except AssemblyError:
        close_position(system, work, "at the start")
    search = Search(system, work, t)
    try:
        look, iterations = search.run(max_iterations)
        values, free, stable = stability(system, look)
    except np.linalg.LinAlgError:
        raise KinegradError(
            "The stiffness and the mass of the model are so far apart that its equilibrium cannot be computed; look for "
            "masses, lengths or stiffnesses that are too large or too small."
        ) from None
    at_rest(work, t, look.q, look.lam)
    work.call(EVALUATE)
    work.call(OBSERVE)
    return Equilibrium(
        system=system, t=t, s=work["s"].copy(), q=look.q, lam=look.lam, iterations=iterations, residual=look.violation,
        force_residual=float(np.abs(look.g).max(initial=0.0)), eigenvalues=values, stable=stable, free=free,
        objectives=dict(zip(system.objectives, work["g"].tolist(), strict=True)),
    )  # fmt: skip


def stability(system: System, look: Look) -> tuple[np.ndarray, tuple[str, ...], bool]:
    """Eigenvalues, names of directions without stiffness, and whether all eigenvalues are real and positive (STA-4)."""
    values, vectors = np.linalg.eig(np.linalg.solve(look.W, look.H))
    largest = np.abs(values).max(initial=0.0)
    free = []
    for value, vector in zip(values, vectors.T, strict=True):
        if abs(value) <= NEUTRAL * largest or largest == 0.0:
            free.append(named(system, look.Z @ vector))
    real = np.abs(values.imag) <= 1e-6 * largest
    order = np.argsort(values.real)
    stable = not free and bool(real.all() and (values.real > 0.0).all())
    return (values.real if real.all() else values)[order], tuple(dict.fromkeys(free)), stable
