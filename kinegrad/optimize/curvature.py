"""Whether a point that keeps first-order conditions is a minimum: curvature along what limits leave free (OPT-18)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kinegrad.errors import KinegradError
from kinegrad.optimize.minimax import Epigraph
from kinegrad.optimize.optimality import ACTIVE, optimality
from kinegrad.optimize.problem import StudyProblem
from kinegrad.optimize.solvers.base import split

MOST = 40  # directions that are all looked along; of more, the most and least curved are found by Lanczos' method
FLAT = 1e-6  # of the largest curvature
ROUNDING = 1e-11  # in scaled units: what differences of gradients of size 1 may be off by
RANK = 1e-10


@dataclass(frozen=True)
class Curvature:
    """Second derivatives of the Lagrangian along the directions that neither bounds nor constraints hold.

    Attributes
    ----------
    free : int
        Such directions.
    least, largest : float
        Curvatures, in scaled units.
    error : float
        What they may be off by.
    direction : dict variable -> change
        That of the least, in units of the parameters, the largest part of a scale being one.
    """

    free: int
    least: float
    largest: float
    error: float
    direction: dict[str, float]

    @property
    def verdict(self) -> str:
        """ "minimum", also where limits leave nothing free; "saddle" where something falls; "flat" where it cannot be told."""
        if self.free == 0 or self.least > self._doubt:
            return "minimum"
        return "saddle" if self.least < -self._doubt else "flat"

    @property
    def _doubt(self) -> float:
        return max(self.error, FLAT * max(abs(self.least), abs(self.largest)), ROUNDING)

    def __str__(self) -> str:
        if self.free == 0:
            return "A minimum: limits hold every direction."
        said = {"minimum": "A minimum", "saddle": "No minimum but a saddle", "flat": "Flat, or nearly so"}[self.verdict]
        found = (
            f"{said}: curvatures along {self.free} free directions are {self.least:.3g} to {self.largest:.3g} (scaled)"
        )
        if self.verdict == "minimum":
            return f"{found}."
        parts = sorted(self.direction.items(), key=lambda one: -abs(one[1]))[:4]
        return f"{found}; the least is along {', '.join(f'{name} {change:+.3g}' for name, change in parts)}."

    def to_dict(self) -> dict:
        """What the command line prints."""
        return {"verdict": self.verdict, "free": self.free, "least": self.least, "largest": self.largest,
                "error": self.error, "direction": self.direction}  # fmt: skip


def curvature(plan, scales: np.ndarray | None = None) -> Curvature:
    """The curvature of a study at its start."""
    problem = StudyProblem(plan, scales=scales)
    x = problem.start
    found = problem.evaluate(x, gradient=True)
    if not found.ok:
        raise KinegradError(f"The design does not work: {found.problem}")
    task = problem if problem.n_goals == 1 else Epigraph(problem, x)
    x = x if task is problem else task.start
    near = max(np.sqrt(plan.solver.tolerance), ACTIVE)
    held = optimality(task, x, near)
    Z, leaves = _free(task, x, held, near)
    k = Z.shape[1]
    if k == 0:
        return Curvature(0, 0.0, 0.0, 0.0, {})

    def product(v: np.ndarray) -> np.ndarray:
        return Z.T @ task.hessian_product(x, Z @ v, held.multipliers)

    if k <= MOST:
        H = np.array([product(unit) for unit in np.eye(k)])
        error = 0.5 * float(np.abs(H - H.T).sum(axis=1).max())
        sizes, vectors = np.linalg.eigh(0.5 * (H + H.T))
        least, largest, v = float(sizes[0]), float(sizes[-1]), vectors[:, 0]
    else:
        least, largest, error, v = _ends(product, k)
    ways = [way for way in (Z @ v, -Z @ v) if leaves(way)]
    if least < 0.0 and not ways:
        error = max(error, -least)  # it falls where limits are in the way, and may rise where they are not
    change = (ways or [Z @ v])[0][: problem.n]
    change = change / np.abs(change).max() if np.any(change) else change
    moved = change * problem.variables.slopes(found.values)
    return Curvature(k, least, largest, error, dict(zip(problem.variables.labels, moved.tolist(), strict=True)))


def _free(task, x: np.ndarray, held, near: float) -> tuple[np.ndarray, Callable[[np.ndarray], bool]]:
    """(n, k) an orthonormal basis of what bounds and active constraints with multipliers do not hold; and whether the others
    let a direction go."""
    low, high = task.constraint_limits
    equal, below, above = split(task)
    c, J = task.constraints(x), task.jacobian(x).reshape(-1, task.n)
    at_low, at_high = below & (c - low <= near), above & (high - c <= near)
    pressed = np.abs(held.multipliers) > ACTIVE
    firm = (held.at_lower & held.at_upper) | (np.abs(held.bound_multipliers) > ACTIVE)

    def leaves(d: np.ndarray) -> bool:
        ahead, size = J @ d, ACTIVE * np.abs(d).max(initial=0.0)
        within = np.where(held.at_lower, d, 0.0).min() >= -size and np.where(held.at_upper, d, 0.0).max() <= size
        kept = ahead[at_low & ~pressed].min(initial=0.0) >= -size and ahead[at_high & ~pressed].max(initial=0.0) <= size
        return bool(within and kept)

    active = equal | ((at_low | at_high) & pressed)
    loose = np.flatnonzero(~firm)
    basis = np.eye(task.n)[:, loose]
    if not active.any() or not len(loose):
        return basis, leaves
    _, sizes, V = np.linalg.svd(J[np.ix_(active, loose)])
    rank = int((sizes > RANK * sizes.max(initial=0.0)).sum())
    return basis @ V[rank:].T, leaves


def _ends(product, k: int) -> tuple[float, float, float, np.ndarray]:
    """The least and the largest curvature of many, what they may be off by, and the direction of the least."""
    from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

    operator = LinearOperator((k, k), matvec=lambda v: product(np.ravel(v)), dtype=float)
    begin = np.random.default_rng(1).normal(size=k)
    try:
        sizes, vectors = eigsh(operator, 2, which="BE", v0=begin, tol=1e-4, maxiter=10)
    except ArpackNoConvergence as found:
        sizes, vectors = found.eigenvalues, found.eigenvectors
        if len(sizes) < 2:
            raise KinegradError(
                f"The least of the curvatures along {k} free directions was not found; they lie too near to each other."
            ) from None
    v = vectors[:, 0]
    return float(sizes[0]), float(sizes[-1]), float(np.linalg.norm(product(v) - sizes[0] * v)), v
