"""trust-constr of scipy: an interior point method with a trust region.

It ends when the Lagrangian is stationary, however large the barrier still is, so it is begun again with smaller ones.
"""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.optimize.solvers.base import Ended, Solver, split

BARRIERS = (1e-1, 1e-4, 1e-7, 1e-10)


class TrustConstr(Solver):
    name = "trust-constr"
    constrained = True
    second = True

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import BFGS, Bounds, NonlinearConstraint, minimize
        from scipy.sparse.linalg import LinearOperator

        low, high = task.constraint_limits
        none = np.zeros(len(low))

        def products(function) -> LinearOperator:
            return LinearOperator((task.n, task.n), matvec=lambda v: function(np.ravel(v)), dtype=float)

        def of_value(x):
            return products(lambda v: task.hessian_product(x, v, none))

        def of_constraints(x, multipliers):
            return products(lambda v: task.hessian_product(x, v, multipliers) - task.hessian_product(x, v, none))

        hessian, bent = (of_value, of_constraints) if self.exact else (BFGS(), BFGS())
        constraints = (
            [NonlinearConstraint(task.constraints, low, high, jac=task.jacobian, hess=bent)] if len(low) else []
        )
        bounded = np.isfinite(task.lower).any() or np.isfinite(task.upper).any()
        _, below, above = split(task)
        x, barriers = task.start, BARRIERS if bounded or below.any() or above.any() else BARRIERS[:1]
        for barrier in barriers:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", "delta_grad == 0.0")  # of functions that are linear
                warnings.filterwarnings("ignore", "Singular Jacobian matrix")
                found = minimize(
                    task.value, x, jac=task.gradient, hess=hessian, method="trust-constr", constraints=constraints,
                    bounds=Bounds(task.lower, task.upper, keep_feasible=True) if bounded else None,
                    options={"gtol": tolerance, "xtol": 0.01 * tolerance, "barrier_tol": 0.01 * tolerance,
                             "maxiter": 2 * max_evaluations, "initial_barrier_parameter": barrier,
                             "initial_barrier_tolerance": barrier, "initial_tr_radius": min(1.0, 10.0 * barrier**0.5)},
                )  # fmt: skip
            x = np.clip(found.x, task.lower, task.upper)
            if found.status == 0:
                break
        return Ended(x, str(found.message), limited=found.status == 0)
