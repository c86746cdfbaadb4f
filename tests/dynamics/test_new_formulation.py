"""A formulation from outside: one class, one line of the table; every integrator of its families and all derivatives follow."""

from typing import Literal

import numpy as np
import pytest
from helpers import assert_close
from whole_runs import five_bar

import kinegrad as kg
from kinegrad.dynamics import schemes
from kinegrad.dynamics.acceleration_level import AccelerationLevel
from kinegrad.dynamics.runge_kutta import RungeKutta
from kinegrad.kernels.formulations.objectives import INTEGRAL
from kinegrad.kernels.products import BIAS, EVALUATE, OBSERVE, TIME
from kinegrad.kernels.status import OK
from kinegrad.model.simulation import Stabilised


class Gauss(Stabilised):
    """Its options."""

    type: Literal["gauss"] = "gauss"


class LeastConstraint(AccelerationLevel):
    """Accelerations of least constraint by NumPy, in steps of fixed size; rows and derivatives are those of index1."""

    families = (RungeKutta,)
    why_not = "it has no steps of that sort"

    def call(self, work, fn, method, steps, objectives):
        return self.stepping, (work, method.tableau, steps, objectives)

    def stepping(self, work, tableau, steps, objectives):
        n, m = self.system.n, self.system.m
        for k, h in enumerate(steps.hs):
            q, v = work["q"].copy(), work["v"].copy()
            rates = [(v, work["a"].copy())]
            integral = objectives.kinds.kind == INTEGRAL
            objectives.psi[integral] += (h * tableau.b[0] * objectives.g_last)[integral]
            for i in range(1, tableau.stages + 1):
                part = tableau.A[i] if i < tableau.stages else tableau.b
                work["q"][:] = q + h * sum(x * rate[0] for x, rate in zip(part, rates, strict=False))
                work["v"][:] = work["vp"][:] = v + h * sum(x * rate[1] for x, rate in zip(part, rates, strict=False))
                work["par"][TIME] = steps.ts[k] + h * tableau.c[i] if i < tableau.stages else steps.ts[k + 1]
                for function in (EVALUATE, BIAS):
                    work.call(function)
                J = work["J"][:m]
                K = np.block([[work["M"], J.T], [J, np.zeros((m, m))]])
                rows = (
                    work["c"][:m] + self.opts[2] * (J @ work["v"] + work["Phi_t"][:m]) + self.opts[1] * work["Phi"][:m]
                )
                found = np.linalg.solve(K, -np.concatenate([work["f"], rows]))
                work["a"][:], work["lam"][:m] = found[:n], found[n:]
                work["ap"][:] = work["a"]
                rates.append((work["v"].copy(), work["a"].copy()))
                work.call(OBSERVE)
                if i < tableau.stages:
                    self.keep(work, steps.traj[k + 1][i * self.size :])
                    objectives.psi[integral] += (h * tableau.b[i] * work["g"])[integral]
            objectives.g_last[:] = work["g"]
            objectives.psi[~integral] = work["g"][~integral]
            self.keep(work, steps.traj[k + 1])
        return OK, len(steps.hs)


@pytest.fixture
def added(monkeypatch):
    table = {**schemes.BY_FORMULATION, "gauss": LeastConstraint}
    monkeypatch.setattr(schemes, "BY_FORMULATION", table)
    monkeypatch.setattr(schemes, "SCHEMES", schemes.pairs(table, schemes.BY_INTEGRATOR))


def test_it_goes_with_all_of_its_family_and_no_others(added):
    assert [i for f, i in schemes.SCHEMES if f == "gauss"] == ["rk4", "rk54"]
    with pytest.raises(
        kg.KinegradError, match=r"gauss with newmark: it has no steps of that sort\. Use rk4, rk54 with gauss"
    ):
        kg.simulate(kg.joint(five_bar()), Gauss(), "newmark", t_end=0.01, step=1e-3)


def test_runs_and_gradients_are_those_of_index1(added):
    """Rows of the trajectory with all stages, objectives, the gradient by both methods."""
    system, run = kg.joint(five_bar()), {"integrator": "rk4", "t_end": 0.02, "step": 2e-3}
    found, expected = kg.simulate(system, Gauss(), **run), kg.simulate(system, kg.Index1(), **run)
    assert_close(found.traj[1:], expected.traj[1:], 1e-12)
    assert_close(list(found.objectives.values()), list(expected.objectives.values()), 1e-12)
    for method in ("direct", "discrete-adjoint"):
        assert_close(kg.gradient(found, method=method).matrix, kg.gradient(expected, method=method).matrix, 1e-10)
