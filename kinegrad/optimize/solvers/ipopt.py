"""Ipopt through CasADi: an interior point method, here with quasi-Newton matrices of little memory."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.solvers.base import Ended, Solver

LIMITS = ("Maximum_Iterations_Exceeded", "User_Requested_Stop")


class Ipopt(Solver):
    name = "ipopt"
    constrained = True
    needs = ("casadi", "opt")

    def solve(self, task, tolerance, max_evaluations):
        casadi = self.library()
        low, high = task.constraint_limits
        rows, raised, kept = 1 + len(low), [], []

        def outputs(x: np.ndarray) -> np.ndarray:
            return np.concatenate([[task.value(x)], task.constraints(x)])

        def derivatives(x: np.ndarray) -> np.ndarray:
            return np.vstack([task.gradient(x)[None, :], task.jacobian(x).reshape(-1, task.n)])

        def guarded(function, x, shape):
            """Zeros once something was raised: an exception does not pass through the library, which is stopped next."""
            if not raised:
                try:
                    return function(np.array(x).ravel())
                except BaseException as error:
                    raised.append(error)
            return np.zeros(shape)

        class Jacobian(casadi.Callback):
            def __init__(self):
                casadi.Callback.__init__(self)
                self.construct("derivatives", {})

            def get_n_in(self):
                return 2

            def get_n_out(self):
                return 1

            def get_sparsity_in(self, i):
                return casadi.Sparsity.dense(task.n if i == 0 else rows, 1)

            def get_sparsity_out(self, i):
                return casadi.Sparsity.dense(rows, task.n)

            def eval(self, arguments):
                return [casadi.DM(guarded(derivatives, arguments[0], (rows, task.n)))]

        class Function(casadi.Callback):
            def __init__(self):
                casadi.Callback.__init__(self)
                self.construct("goals", {})

            def get_n_in(self):
                return 1

            def get_n_out(self):
                return 1

            def get_sparsity_in(self, i):
                return casadi.Sparsity.dense(task.n, 1)

            def get_sparsity_out(self, i):
                return casadi.Sparsity.dense(rows, 1)

            def eval(self, arguments):
                return [casadi.DM(guarded(outputs, arguments[0], rows))]

            def has_jacobian(self):
                return True

            def get_jacobian(self, name, inames, onames, options):
                kept.append(Jacobian())  # the library does not own it
                return kept[-1]

        class Stop(casadi.Callback):
            """Asked after each iteration: whether something was raised."""

            def __init__(self):
                casadi.Callback.__init__(self)
                self.construct("stop", {})

            def get_n_in(self):
                return casadi.nlpsol_n_out()

            def get_n_out(self):
                return 1

            def get_name_in(self, i):
                return casadi.nlpsol_out(i)

            def get_sparsity_in(self, i):
                sizes = {"f": 1, "x": task.n, "lam_x": task.n, "g": rows - 1, "lam_g": rows - 1}
                size = sizes.get(casadi.nlpsol_out(i), 0)
                return casadi.Sparsity.dense(size, 1) if size else casadi.Sparsity(0, 0)

            def eval(self, arguments):
                return [1 if raised else 0]

        function, stop = Function(), Stop()
        x = casadi.MX.sym("x", task.n)
        all_goals = function(x)
        problem = {"x": x, "f": all_goals[0], "g": all_goals[1:]}
        options = {
            "print_time": False, "error_on_fail": False, "iteration_callback": stop, "ipopt.print_level": 0, "ipopt.sb": "yes",
            "ipopt.hessian_approximation": "limited-memory", "ipopt.tol": tolerance,
            "ipopt.constr_viol_tol": 0.1 * tolerance, "ipopt.acceptable_iter": 0, "ipopt.max_iter": max_evaluations,
            "ipopt.bound_relax_factor": 0.0, "ipopt.honor_original_bounds": "yes",
        }  # fmt: skip
        solver = casadi.nlpsol("solver", "ipopt", problem, options)
        found = solver(x0=task.start, lbx=task.lower, ubx=task.upper, lbg=low, ubg=high)
        if raised:
            raise raised[0]
        status = solver.stats()["return_status"]
        return Ended(np.array(found["x"]).ravel(), f"Ipopt: {status}", limited=status in LIMITS)
