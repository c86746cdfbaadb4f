"""trust-ncg of scipy: Newton steps by conjugate gradients within a trust region, with products of second derivatives."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.solvers.base import Ended, Solver

ITERATIONS = 1  # the status that scipy gives


class TrustNCG(Solver):
    name = "trust-ncg"
    bounded = False
    second = True

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import minimize

        found = minimize(
            task.value, task.start, jac=task.gradient, hessp=lambda x, v: task.hessian_product(x, v, None),
            method="trust-ncg", options={"gtol": tolerance * np.sqrt(task.n), "maxiter": max_evaluations},
        )  # fmt: skip
        return Ended(found.x, str(found.message), limited=found.status == ITERATIONS)
