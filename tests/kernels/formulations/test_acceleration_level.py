"""Formulations at acceleration level: steps against the equations, written with dense matrices."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.kernels.formulations.runge_kutta import RK4
from kinegrad.model.simulation import Index1, Newmark, Penalty, RungeKutta4

from .short_runs import (
    accelerations,
    assert_motion,
    assert_newmark,
    assert_objectives,
    assert_trapezoidal_objectives,
    at_state,
    observed,
    runge_kutta_4,
    short_run,
)

FREQUENCY, RATIO, PENALTY = 15.0, 0.8, 1e6
STABILISED = {"stiffness": FREQUENCY**2, "damping": 2.0 * RATIO * FREQUENCY}
FORMULATIONS = {
    "index1": (Index1(frequency=FREQUENCY, damping=RATIO), 0.0),
    "penalty": (Penalty(penalty=PENALTY, frequency=FREQUENCY, damping=RATIO), 1.0 / PENALTY),
}


@pytest.mark.parametrize("model", ["four-bar", "ball"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_runge_kutta(name, model):
    formulation, compliance = FORMULATIONS[name]
    case = short_run(model, formulation, RungeKutta4())
    motion = case.run(case.system(), 1e-14, 40)
    system, n = motion.system, motion.system.n
    assert RK4.stages == 4

    def rate(y, t):
        """Of q, v and the integrals of objectives."""
        q, v = y[:n], y[n : 2 * n]
        a = accelerations(system, q, v, t, compliance=compliance, **STABILISED)
        return np.concatenate([v, a, observed(system, q, v, a, t)])

    integrals = np.zeros(len(motion.objectives))
    for k, h in enumerate(motion.hs):
        y = runge_kutta_4(rate, np.concatenate([motion.q[k], motion.qd[k], integrals]), motion.t[k], h)
        assert_close(motion.q[k + 1], y[:n], 1e-11)
        assert_close(motion.qd[k + 1], y[n : 2 * n], 1e-11)
        assert_close(motion.qdd[k + 1], rate(y, motion.t[k + 1])[n : 2 * n], 1e-9)
        integrals = y[2 * n :]
    assert_objectives(motion, integrals)
    assert_motion(motion)


@pytest.mark.parametrize("model", ["four-bar", "ball"])
@pytest.mark.parametrize("name", FORMULATIONS)
def test_newmark(name, model):
    """M a + f + Phi_qᵀ lam = 0 and Psi = ε lam at the end of each step."""
    formulation, compliance = FORMULATIONS[name]
    case = short_run(model, formulation, Newmark(beta=0.3025, gamma=0.6))
    motion = case.run(case.system(), 1e-14, 40)
    m = motion.system.m
    assert_newmark(motion, 0.3025, 0.6)
    assert_trapezoidal_objectives(motion)
    assert_motion(motion, tolerance=1e-10)
    for k in range(1, len(motion.t)):
        work, v, a = at_state(motion, k), motion.qd[k], motion.qdd[k]
        J = work["J"][:m]
        Psi = J @ a + work["c"][:m] + STABILISED["stiffness"] * work["Phi"][:m]
        Psi += STABILISED["damping"] * (J @ v + work["Phi_t"][:m])
        assert_close(Psi, compliance * motion.lam[k], 1e-10, np.abs(a).max())
