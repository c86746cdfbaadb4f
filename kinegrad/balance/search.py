"""A position at rest where all forces balance: the search for it, and how stable it is (STA-1 to STA-4)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, LINEARISE, TIME
from kinegrad.kernels.status import NOT_FINITE, OK
from kinegrad.kinematics.culprits import culprit, force_without_derivative, told
from kinegrad.kinematics.least_squares import RANK_TOLERANCE, row_lengths
from kinegrad.kinematics.start import close_position
from kinegrad.kinematics.units import units_of

MAX_ITERATIONS = 400
LARGEST_STEP = 0.3  # of a coordinate in one iteration, in its unit
NEUTRAL = 1e-9  # a stiffness below this part of the largest is none
SMALL = 1e-11  # a Newton step below this, in units of coordinates, ends the iterations
UNDAMPED = 1e-9  # of the largest eigenvalue: a damping that is none
FAR_APART = 1e-60  # inertias of which the larger one hides the forces on the smaller one
POLISH = 4  # Newton steps after that, as long as they still help


def at_rest(work: Workspace, t: float, q: np.ndarray, lam: np.ndarray) -> None:
    """Leaves a position without motion in the workspace."""
    for name in ("v", "a", "vp", "ap", "dv", "da", "sv", "sa", "lam"):
        work[name][:] = 0.0
    work["par"][:] = 0.0
    work["par"][TIME] = t
    work["flag"][FREEDOMS] = 0
    work["q"][:] = q
    work["lam"][: len(lam)] = lam


def evaluate_at_rest(system: System, work: Workspace, t: float, q: np.ndarray) -> None:
    """Leaves forces, rows and inertia at a position without motion in the workspace; raises where one has no value."""
    at_rest(work, t, q, np.zeros(0))
    status = work.call(EVALUATE)
    if status == OK and not all(np.isfinite(work.arrays[name]).all() for name in ("f", "J", "M")):
        status = NOT_FINITE
    if status != OK:
        who = culprit(system, work, status)
        raise KinegradError(
            "The forces cannot be evaluated on the way to the equilibrium: "
            + told(work, status, who, "Start from another position, or look for numbers that are too large.")
        )


def linearise_at_rest(system: System, work: Workspace, t: float, q: np.ndarray, lam: np.ndarray) -> None:
    """Leaves the derivatives there in the workspace; raises where a force has none."""
    at_rest(work, t, q, lam)
    work.call(LINEARISE)
    if not np.isfinite(work.arrays["R_q"]).all():
        who = force_without_derivative(system, work)
        raise KinegradError(
            f"{f'Force {who!r}' if who else 'A force'} has no derivative at rest, which an equilibrium needs; avoid "
            "norm() of a velocity that vanishes, such as by sqrt(norm2(v) + 1e-12)."
        )


@dataclass(frozen=True)
class Look:
    """Forces and stiffness at a closed position (STA-2), but for q and lam in units of the model.

    Attributes
    ----------
    unit : (n,) array
        Units of the coordinates.
    R : (n,) array
        f + Phi_qᵀ lam, lam of least squares.
    Z : (n, d) array
        Orthonormal motions that the constraints allow.
    g, H, W : (d,), (d, d), (d, d) arrays
        Zᵀ R, Zᵀ R_q Z, and the mass matrix on these motions, made definite.
    """

    q: np.ndarray
    lam: np.ndarray
    unit: np.ndarray
    R: np.ndarray
    Z: np.ndarray
    g: np.ndarray
    H: np.ndarray
    W: np.ndarray
    size: float
    violation: float

    @property
    def force_residual(self) -> float:
        """The largest generalised force that is left."""
        return float(np.abs(self.R / self.unit).max(initial=0.0))

    @cached_property
    def modes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues of the symmetric part of the stiffness beside the inertia, and its motions, of inertia 1."""
        import scipy.linalg

        return scipy.linalg.eigh(0.5 * (self.H + self.H.T), self.W)


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
        evaluate_at_rest(system, work, self.t, q)
        units = units_of(work, work["J"][:m])
        unit, J, M = units.columns, units.of(work["J"][:m]), units.square(work["M"])
        f = unit * work["f"]
        lam, Z = multipliers(J, f)
        violation = float(np.abs(work["Phi"][:m]).max(initial=0.0))
        linearise_at_rest(system, work, self.t, q, units.rows * lam)
        R, K = f + J.T @ lam, units.square(work["R_q"])
        H, W = Z.T @ K @ Z, definite(Z.T @ M @ Z)
        if not np.isfinite(H).all() or not np.isfinite(W).all():
            raise np.linalg.LinAlgError("stiffness or inertia beyond the range of numbers")
        self.scale = max(self.scale, np.abs(f).max(initial=0.0))
        size = np.abs(K).max(initial=0.0)
        return Look(q, units.rows * lam, unit, R, Z, Z.T @ R, H, W, size, violation)

    def newton(self, look: Look) -> tuple[np.ndarray, float]:
        """The full step as far as there is stiffness, and the largest force where there is none."""
        u = -np.linalg.lstsq(look.H, look.g, rcond=NEUTRAL)[0]
        return u, float(np.abs(look.H @ u + look.g).max(initial=0.0))

    def settled(self, look: Look) -> bool:
        """Whether no force is left, but for what a tiny step would remove."""
        step, force = SMALL * np.abs(look.q / look.unit).max(initial=1.0), 1e-10 * max(self.scale, look.size)
        most = np.linalg.norm(look.H) * np.sqrt(len(look.q)) * step + np.sqrt(len(look.g)) * force
        if np.linalg.norm(look.g) > most:  # more than such a step and such a force can be: nothing has to be solved
            return False
        u, rest = self.newton(look)
        return bool(np.abs(look.Z @ u).max(initial=0.0) <= step and rest <= force)

    def step(self, look: Look, mu: float) -> tuple[np.ndarray, float]:
        """A step of the overdamped motion (STA-3), in units, and its damping; downhill too along motions whose stiffness is
        negative."""
        values, motions = look.modes
        size = np.abs(values)
        largest = size.max(initial=0.0)
        if mu == 0.0 and largest == 0.0:
            mu = float(np.abs(np.linalg.solve(look.W, look.g)).max()) / LARGEST_STEP or 1.0
        if values.min(initial=np.inf) > NEUTRAL * largest:
            dq = look.Z @ -np.linalg.solve(mu * look.W + look.H, look.g)
        else:
            moved = look.Z @ (motions * (-(motions.T @ look.g) / (np.maximum(size, NEUTRAL * largest) + mu)))
            longest = np.abs(moved).max(axis=0, initial=0.0)
            part = np.divide(LARGEST_STEP, longest, out=np.ones_like(longest), where=longest > LARGEST_STEP)
            dq = (moved * part).sum(axis=1)
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
            self.work["q"][:] = look.q + look.unit * dq
            try:
                close_position(self.system, self.work, "on the way to the equilibrium")
                trial = self.look()
            except KinegradError:
                trial = None
            if trial is not None and trial.R @ ((trial.q - look.q) / look.unit) <= 0.5 * abs(look.g @ (look.Z.T @ dq)):
                look, mu = trial, 0.25 * damping if damping > UNDAMPED * np.abs(look.modes[0]).max() else 0.0
            else:
                mu = 4.0 * max(damping, 1e-3 * np.abs(look.modes[0]).max(initial=0.0))
        raise KinegradError(self._failed(look, dq, max_iterations))

    def polished(self, look: Look) -> Look:
        """The same after a few more steps, as long as they make forces smaller."""
        for _ in range(POLISH):
            self.work["q"][:] = look.q + look.unit * (look.Z @ self.newton(look)[0])
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
            f"by {-look.R[k] / look.unit[k]:.3g}). Hold it by a spring, a driver or a constraint, or start nearer to an "
            "equilibrium."
        )


def definite(W: np.ndarray) -> np.ndarray:
    """The inertia on the allowed motions with a little more where it has none, such as about the axis of a slender bar."""
    sizes = W.diagonal()[W.diagonal() > 0.0]
    if sizes.size and sizes.min() < FAR_APART * sizes.max():
        raise np.linalg.LinAlgError("inertias are too far apart")
    return W + 1e-13 * (np.trace(W) or 1.0) * np.eye(len(W))


def named(system: System, motion: np.ndarray) -> str:
    """The coordinates that move most in a motion, in their units."""
    size = np.abs(motion)
    return " and ".join(system.coordinates[k] for k in np.flatnonzero(size > 0.5 * size.max()))


def multipliers(J: np.ndarray, f: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """lam with the least |f + Jᵀ lam|, and the motions that J allows.

    All coordinates count alike: away from an equilibrium forces are left, and weights of coordinates, such as those that
    make the columns of J alike, would move lam and with it the stiffness from one position to the next.
    """
    Z, (U, values, V), sizes = _parted(J)
    return -(U @ ((V @ f) / values)) / sizes, Z


def allowed(J: np.ndarray) -> np.ndarray:
    """(n, d) orthonormal basis of the motions with J v = 0."""
    return _parted(J)[0]


def _parted(J: np.ndarray):
    """Motions that J allows, singular values and vectors of what it holds with rows of length 1, and their lengths."""
    sizes = row_lengths(J)
    U, values, V = np.linalg.svd(J / sizes[:, None])
    rank = int((values > RANK_TOLERANCE * values.max(initial=0.0)).sum())
    return V[rank:].T, (U[:, :rank], values[:rank], V[:rank]), sizes


def apart(motions: np.ndarray) -> np.ndarray:
    """The same motions (n, f) recombined: each alone moves one of f coordinates, those that tell them apart best."""
    import scipy.linalg

    _, _, order = scipy.linalg.qr(motions.T, mode="economic", pivoting=True)
    return motions @ np.linalg.inv(motions[order[: motions.shape[1]]])


def stability(look: Look) -> tuple[np.ndarray, np.ndarray, bool]:
    """Eigenvalues, motions (n, f) without stiffness, and whether all eigenvalues are real and positive (STA-4)."""
    values, vectors = np.linalg.eig(np.linalg.solve(look.W, look.H))
    largest = np.abs(values).max(initial=0.0)
    neutral = np.abs(values) <= NEUTRAL * largest
    # a real basis of what they span: eigenvectors of one eigenvalue are any mixture, and may come in conjugate pairs
    vectors = vectors[:, neutral]
    U, _, _ = np.linalg.svd(np.hstack([vectors.real, vectors.imag]))
    real = np.abs(values.imag) <= 1e-6 * largest
    order = np.argsort(values.real)
    stable = not neutral.any() and bool(real.all() and (values.real > 0.0).all())
    return (values.real if real.all() else values)[order], look.Z @ U[:, : neutral.sum()], stable


def names_of(system: System, motions: np.ndarray) -> tuple[str, ...]:
    """What moves in motions (n, f) without stiffness, told apart as well as can be."""
    return tuple(dict.fromkeys(named(system, x) for x in apart(motions).T)) if motions.shape[1] else ()
