"""Least squares of scipy: residuals with their Jacobian, within bounds, by a trust region."""

from __future__ import annotations

from kinegrad.optimize.solvers.base import Ended, Solver


class LeastSquares(Solver):
    name = "least-squares"
    squares = True

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import least_squares

        found = least_squares(
            task.residuals, task.start, jac=task.residual_jacobian, bounds=(task.lower, task.upper), method="trf",
            ftol=max(tolerance**2, 1e-15), xtol=max(0.01 * tolerance, 1e-15), gtol=max(0.1 * tolerance, 1e-15),
            max_nfev=max_evaluations,
        )  # fmt: skip
        return Ended(found.x, str(found.message), limited=found.status == 0)
