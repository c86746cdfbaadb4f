"""What a solver is told of a design that does not work: never nan, never infinite, and the way back (OPT-6).

From the nearest design that works one goes towards the failed one as far as it can be assembled.  From there,
at y, with d = x - y,

    f(y) + g(y)·d + b |d| + b |d|²,   b = 100 max(1, |g(y)|)

is what shall be small, and constraints go on linearly.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.optimize.evaluation import Evaluation
    from kinegrad.optimize.problem import StudyProblem

STEEP = 100.0


class Substitute(NamedTuple):
    """Scaled goals, and residuals, of a design that does not work, and their derivatives."""

    goals: np.ndarray
    jacobian: np.ndarray
    d: np.ndarray
    steep: np.ndarray  # (g,) b of what is minimised, zeros for constraints
    residuals: np.ndarray | None = None
    residual_jacobian: np.ndarray | None = None

    def bend(self, v: np.ndarray) -> np.ndarray:
        """(g, n) second derivatives along v; of residuals, without those of their own."""
        length = float(np.linalg.norm(self.d))
        found = 2.0 * v
        if length > 0.0:
            found = found + (v - self.d * (self.d @ v) / length**2) / length
        rows = np.outer(self.steep, found)
        if self.residual_jacobian is not None:
            rows[0] = self.residual_jacobian.T @ (self.residual_jacobian @ v)
        return rows


def continued(problem: StudyProblem, failed: Evaluation) -> Substitute:
    """The continuation to a failed design."""
    near = problem.nearest(failed.x)
    if near is None:
        raise KinegradError(f"The start of the study does not work: {failed.problem}")
    found = problem.evaluate(near.x + failed.reached * (failed.x - near.x), gradient=True)
    if not found.ok or found.jacobian is None:
        found = problem.evaluate(near.x, gradient=True)
    if not found.ok:
        raise KinegradError(f"No design near {failed.parameters} has derivatives: {found.problem}")
    goals, jacobian = found.goals / problem.scales, problem.scaled_jacobian(found)
    d = failed.x - found.x
    length = float(np.linalg.norm(d))
    goals, slopes = goals + jacobian @ d, jacobian.copy()
    steep = np.zeros(len(goals))
    for k in range(problem.n_goals):
        b = steep[k] = STEEP * max(1.0, float(np.linalg.norm(jacobian[k])))
        goals[k] += b * length + b * length**2
        slopes[k] += (b / length + 2.0 * b) * d if length > 0.0 else 0.0
    if found.residuals is None:
        return Substitute(goals, slopes, d, steep)
    return _of_squares(problem, found, d, length, goals, slopes, steep)


def _of_squares(
    problem: StudyProblem, found: Evaluation, d: np.ndarray, length: float, goals, slopes, steep
) -> Substitute:
    """Residuals go on linearly, and one more has as its square what is added: half the sum of squares is the goal."""
    rows = problem.scaled_residual_jacobian(found)
    r = np.append(found.residuals, 0.0) / np.sqrt(problem.scales[0]) + rows @ d
    b = steep[0]
    if length > 0.0:
        r[-1] = np.sqrt(2.0 * (b * length + b * length**2))
        rows[-1] = (b / length + 2.0 * b) * d / r[-1]
    goals[0], slopes[0] = 0.5 * r @ r, r @ rows
    return Substitute(goals, slopes, d, steep, r, rows)
