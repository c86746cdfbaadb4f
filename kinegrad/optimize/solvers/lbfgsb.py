"""L-BFGS-B of scipy: many variables with bounds, no constraints."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.solvers.base import Ended, Solver


class LBFGSB(Solver):
    name = "l-bfgs-b"

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import Bounds, minimize

        found = minimize(
            lambda x: (task.value(x), task.gradient(x)), task.start, jac=True, method="L-BFGS-B",
            bounds=Bounds(task.lower, task.upper),
            options={"ftol": max(tolerance**2, 4.0 * np.finfo(float).eps), "gtol": tolerance, "maxfun": 10 * max_evaluations,
                     "maxiter": max_evaluations, "maxcor": 20},
        )  # fmt: skip
        return Ended(found.x, str(found.message), limited=found.status == 1)
