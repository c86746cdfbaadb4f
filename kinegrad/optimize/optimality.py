"""Whether a point is an optimum: multipliers, and what they leave of the gradient (OPT-8)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kinegrad.optimize.solvers.base import Task, split

ACTIVE = 1e-6  # scaled distance from a limit


@dataclass(frozen=True, eq=False)
class Optimality:
    """First-order conditions at a point.

    Attributes
    ----------
    residual : float
        The largest entry of the gradient that neither constraints nor bounds hold.
    violation : float
        The largest violation of a constraint, scaled.
    multipliers : (c,) array
        Of the constraints; zero where one is not active, positive at an upper limit.
    at_lower, at_upper : (n,) arrays of bool
    """

    residual: float
    violation: float
    multipliers: np.ndarray
    bound_multipliers: np.ndarray
    at_lower: np.ndarray
    at_upper: np.ndarray


def violation_of(c: np.ndarray, low: np.ndarray, high: np.ndarray) -> float:
    """The largest violation of limits."""
    return float(np.maximum(np.maximum(low - c, c - high), 0.0).max(initial=0.0))


def optimality(task: Task, x: np.ndarray, near: float = ACTIVE) -> Optimality:
    """The conditions of a task at x; limits nearer than `near` are active."""
    from scipy.optimize import lsq_linear

    g, J, c = task.gradient(x), task.jacobian(x).reshape(-1, task.n), task.constraints(x)
    low, high = task.constraint_limits
    equal, below, above = split(task)
    at_low, at_high = below & (c - low <= near), above & (high - c <= near)
    at_lower, at_upper = x - task.lower <= near, task.upper - x <= near
    free = ~(at_lower | at_upper)
    active = equal | at_low | at_high
    multipliers = np.zeros(len(c))
    if active.any():
        A = J[active].T
        least = np.where(equal | at_low, -np.inf, 0.0)[active]
        most = np.where(equal | at_high, np.inf, 0.0)[active]
        # rows of variables at a bound count as far as their sign is wrong: first without them, then with those that are
        use = free.copy()
        for _ in range(3):
            found = (
                lsq_linear(A[use], -g[use], bounds=(least, most), tol=1e-14).x if use.any() else np.zeros(active.sum())
            )
            rest = g + A @ found
            wrong = (at_lower & (rest < -1e-12)) | (at_upper & (rest > 1e-12))
            if not (wrong & ~use).any():
                break
            use |= wrong
        multipliers[active] = found
    rest = g + J.T @ multipliers
    held = np.where(at_lower & ~at_upper, np.minimum(rest, 0.0), rest)
    held = np.where(at_upper & ~at_lower, np.maximum(held, 0.0), held)
    held = np.where(at_lower & at_upper, 0.0, held)
    return Optimality(
        float(np.abs(held).max(initial=0.0)), violation_of(c, low, high), multipliers, rest - held, at_lower, at_upper
    )
