"""TNC of scipy: truncated Newton steps within bounds, no constraints."""

from __future__ import annotations

from kinegrad.optimize.solvers.base import Ended, Solver

MAX_EVALUATIONS = 3  # the status that scipy gives


class TNC(Solver):
    name = "tnc"

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import Bounds, minimize

        found = minimize(
            lambda x: (task.value(x), task.gradient(x)), task.start, jac=True, method="TNC",
            bounds=Bounds(task.lower, task.upper),
            options={"ftol": tolerance**2, "gtol": tolerance, "xtol": 0.0, "maxfun": 10 * max_evaluations},
        )  # fmt: skip
        return Ended(found.x, str(found.message), limited=found.status == MAX_EVALUATIONS)
