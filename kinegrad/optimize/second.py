"""Second derivatives of a study's goals along a direction: differences of exact gradients (OPT-17)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.optimize.problem import StudyProblem

STEPS = (1e-4, 1e-5, 1e-6)  # of scaled variables; shorter ones where a design beside does not work


def symmetric(product: Callable[[np.ndarray], np.ndarray], n: int) -> np.ndarray:
    """(n, n) the matrix of a product with vectors, made symmetric."""
    H = np.array([product(unit) for unit in np.eye(n)]).reshape(n, n)
    return 0.5 * (H + H.T)


class SecondDerivatives:
    """Of the goals of a problem, and the last that were asked for."""

    def __init__(self, problem: StudyProblem):
        self.problem = problem
        self._last: tuple[tuple[bytes, bytes], np.ndarray] | None = None

    def along(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        """(g, n) derivatives of the scaled derivatives of the goals, along v."""
        x, v = np.array(x, float), np.array(v, float)
        key = x.tobytes(), v.tobytes()
        if self._last is None or self._last[0] != key:
            self._last = key, self._computed(x, v)
        return self._last[1]

    def _computed(self, x: np.ndarray, v: np.ndarray) -> np.ndarray:
        problem, size = self.problem, float(np.linalg.norm(v))
        found = problem.evaluate(x, gradient=True)
        if not found.ok:
            return problem.substitute(found).bend(v)
        if size == 0.0:
            return np.zeros((len(found.goals), problem.n))
        failure = None
        for step in STEPS:
            try:
                return size * self._difference(found, v / size, step)
            except KinegradError as error:
                failure = error
        text = failure.problems[0].sentence
        raise KinegradError(f"No second derivatives with {found.parameters}: designs beside do not work. {text}")

    def _difference(self, found, u: np.ndarray, h: float) -> np.ndarray:
        """Central where bounds allow it; entries that would leave them on one side go to the other."""
        problem, x = self.problem, found.x
        ahead, back = ((problem.lower <= x + e * u) & (x + e * u <= problem.upper) for e in (2.0 * h, -2.0 * h))
        if (ahead & back).all():
            return (problem.slopes_beside(x + h * u, found) - problem.slopes_beside(x - h * u, found)) / (2.0 * h)
        here, total = problem.scaled_jacobian(found), 0.0
        for side, which in ((h, ahead), (-h, ~ahead)):
            if np.any(u[which]):
                one, two = (problem.slopes_beside(x + k * side * np.where(which, u, 0.0), found) for k in (1.0, 2.0))
                total = total + (4.0 * one - two - 3.0 * here) / (2.0 * side)
        return total
