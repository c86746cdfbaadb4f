"""Solvers of NLopt: moving asymptotes, sequential quadratic programming, and a quasi-Newton method of little memory."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from kinegrad.optimize.solvers.base import Ended, Solver, split

CODES = {
    1: "converged",
    2: "value reached",
    3: "the value changes no more",
    4: "the variables change no more",
    5: "limit of evaluations",
}


class NLopt(Solver):
    """What the three have in common."""

    needs = ("nlopt", "opt")
    algorithm: ClassVar[str]

    def solve(self, task, tolerance, max_evaluations):
        nlopt = self.library()
        search = nlopt.opt(getattr(nlopt, self.algorithm), task.n)
        search.set_lower_bounds(task.lower)
        search.set_upper_bounds(task.upper)
        raised: list[BaseException] = []

        def guarded(function):
            """The library tells an exception of a function as one of its own, so it is kept and raised again."""

            def call(*arguments):
                try:
                    return function(*arguments)
                except BaseException as error:
                    raised.append(error)
                    raise nlopt.ForcedStop from None

            return call

        @guarded
        def objective(x, gradient):
            x = np.array(x)
            if gradient.size:
                gradient[:] = task.gradient(x)
            return task.value(x)

        search.set_min_objective(objective)
        low, high = task.constraint_limits
        equal, below, above = split(task)
        for add, which, limit, sign in (
            (search.add_equality_mconstraint, equal, low, 1.0),
            (search.add_inequality_mconstraint, below, low, -1.0),
            (search.add_inequality_mconstraint, above, high, 1.0),
        ):
            if which.any():

                @guarded
                def constraint(result, x, gradient, which=which, limit=limit, sign=sign):
                    x = np.array(x)
                    if gradient.size:
                        gradient[:] = sign * task.jacobian(x)[which]
                    result[:] = sign * (task.constraints(x)[which] - limit[which])

                add(constraint, np.full(int(which.sum()), 0.1 * tolerance))
        search.set_xtol_rel(0.01 * tolerance)
        search.set_xtol_abs(0.01 * tolerance)
        search.set_ftol_rel(tolerance**2)
        search.set_maxeval(10 * max_evaluations)
        inside = np.clip(task.start, task.lower, task.upper)
        try:
            x = search.optimize(inside)
        except Exception as error:  # the library has its own, which differ between versions
            if raised:
                raise raised[0] from None
            return Ended(inside, f"NLopt stopped: {' '.join(str(error).split()) or type(error).__name__}")
        code = search.last_optimize_result()
        return Ended(
            x,
            f"NLopt: {CODES.get(code, f'code {code}')}",
            limited=code in (nlopt.MAXEVAL_REACHED, nlopt.MAXTIME_REACHED),
        )


class MMA(NLopt):
    name = "nlopt-mma"
    algorithm = "LD_MMA"
    constrained = True
    epigraph = False  # it goes astray along a variable in which nothing is curved
    equations = False


class NLoptSLSQP(NLopt):
    name = "nlopt-slsqp"
    algorithm = "LD_SLSQP"
    constrained = True


class NLoptLBFGS(NLopt):
    name = "nlopt-lbfgs"
    algorithm = "LD_LBFGS"
