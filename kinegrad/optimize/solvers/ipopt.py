"""Ipopt through CasADi: an interior point method, with quasi-Newton matrices of little memory or with second derivatives."""

from __future__ import annotations

import numpy as np

from kinegrad.optimize.second import symmetric
from kinegrad.optimize.solvers.base import Ended, Solver

LIMITS = ("Maximum_Iterations_Exceeded", "User_Requested_Stop")


class Ipopt(Solver):
    name = "ipopt"
    constrained = True
    second = True
    needs = ("casadi", "opt")

    def solve(self, task, tolerance, max_evaluations):
        casadi = self.library()
        low, high = task.constraint_limits
        rows, raised, kept = 1 + len(low), [], []

        def outputs(x: np.ndarray) -> np.ndarray:
            return np.concatenate([[task.value(x)], task.constraints(x)])

        def derivatives(x: np.ndarray) -> np.ndarray:
            return np.vstack([task.gradient(x)[None, :], task.jacobian(x).reshape(-1, task.n)])

        def bent(x: np.ndarray, of_value: np.ndarray, multipliers: np.ndarray) -> np.ndarray:
            none = np.zeros(rows - 1)
            if of_value[0] == 1.0:
                return np.triu(symmetric(lambda v: task.hessian_product(x, v, multipliers), task.n))
            return np.triu(symmetric(
                lambda v: task.hessian_product(x, v, multipliers) + (of_value[0] - 1.0) * task.hessian_product(x, v, none),
                task.n,
            ))  # fmt: skip

        def guarded(function, shape, *given):
            """Zeros once something was raised: an exception does not pass through the library, which is stopped next."""
            if not raised:
                try:
                    return function(*(np.array(one).ravel() for one in given))
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
                return [casadi.DM(guarded(derivatives, (rows, task.n), arguments[0]))]

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
                return [casadi.DM(guarded(outputs, rows, arguments[0]))]

            def has_jacobian(self):
                return True

            def get_jacobian(self, name, inames, onames, options):
                kept.append(Jacobian())  # the library does not own it
                return kept[-1]

        class Hessian(casadi.Callback):
            """The upper half of the second derivatives of of_value·f + multipliers·g."""

            def __init__(self):
                casadi.Callback.__init__(self)
                self.construct("hess_lag", {})

            def get_n_in(self):
                return 4

            def get_n_out(self):
                return 1

            def get_name_in(self, i):
                return ("x", "p", "lam_f", "lam_g")[i]

            def get_name_out(self, i):
                return "triu_hess_gamma_x_x"

            def get_sparsity_in(self, i):
                size = (task.n, 0, 1, rows - 1)[i]
                return casadi.Sparsity.dense(size, 1) if size else casadi.Sparsity(0, 0 if i == 1 else 1)

            def get_sparsity_out(self, i):
                return casadi.Sparsity.upper(task.n)

            def eval(self, arguments):
                x, _, of_value, multipliers = arguments
                found = guarded(bent, (task.n, task.n), x, of_value, multipliers)
                return [casadi.DM(found)[casadi.Sparsity.upper(task.n)]]

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
        if self.exact:
            kept.append(Hessian())
            options |= {"hess_lag": kept[-1], "ipopt.hessian_approximation": "exact"}
        solver = casadi.nlpsol("solver", "ipopt", problem, options)
        found = solver(x0=task.start, lbx=task.lower, ubx=task.upper, lbg=low, ubg=high)
        if raised:
            raise raised[0]
        status = solver.stats()["return_status"]
        return Ended(np.array(found["x"]).ravel(), f"Ipopt: {status}", limited=status in LIMITS)
