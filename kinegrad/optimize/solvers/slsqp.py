"""SLSQP of scipy: quadratic models of the function and linear ones of its constraints."""

from __future__ import annotations

from kinegrad.optimize.solvers.base import Ended, Solver, split

ITERATIONS = 9  # the status that scipy gives


class SLSQP(Solver):
    name = "slsqp"
    constrained = True

    def solve(self, task, tolerance, max_evaluations):
        from scipy.optimize import Bounds, minimize

        low, high = task.constraint_limits
        equal, below, above = split(task)
        constraints = []
        for kind, which, limit, sign in (
            ("eq", equal, low, 1.0),
            ("ineq", below, low, 1.0),
            ("ineq", above, high, -1.0),
        ):
            if which.any():
                constraints.append({
                    "type": kind,
                    "fun": lambda x, which=which, limit=limit, sign=sign: sign * (task.constraints(x)[which] - limit[which]),
                    "jac": lambda x, which=which, sign=sign: sign * task.jacobian(x)[which],
                })  # fmt: skip
        found = minimize(
            task.value, task.start, jac=task.gradient, method="SLSQP", bounds=Bounds(task.lower, task.upper),
            constraints=constraints, options={"ftol": tolerance**1.5, "maxiter": max_evaluations},
        )  # fmt: skip
        return Ended(found.x, str(found.message), limited=found.status == ITERATIONS)
