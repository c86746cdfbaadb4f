"""Newmark's method with accelerations from sweeps: the equations at the end of each step."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.model.simulation import HHT, Newmark, Recursive

from .short_runs import accelerations, assert_motion, assert_newmark, assert_trapezoidal_objectives, short_run

FREQUENCY, RATIO = 15.0, 0.8
FORMULATION = Recursive(frequency=FREQUENCY, damping=RATIO)


def run(model, integrator):
    case = short_run(model, FORMULATION, integrator, step=0.005)
    return case.run(case.system(), 1e-15, 60)


@pytest.mark.parametrize("model", ["four-bar", "ball"])
@pytest.mark.parametrize("integrator", [Newmark(beta=0.3025, gamma=0.6), HHT(alpha=-0.2)], ids=lambda x: x.type)
def test_steps(model, integrator):
    """a is that of the stabilised equations at the end of the step."""
    motion = run(model, integrator)
    assert_motion(motion)
    assert_trapezoidal_objectives(motion)
    for k in range(1, len(motion.t)):
        a = accelerations(
            motion.system, motion.q[k], motion.qd[k], motion.t[k], FREQUENCY**2, 2.0 * RATIO * FREQUENCY
        )  # fmt: skip
        assert_close(motion.qdd[k], a, 1e-9)
    if integrator.type == "newmark":
        assert_newmark(motion, 0.3025, 0.6)


def test_auxiliary_acceleration():
    """HHT: the formulas hold with â = (1 + α) a - α a⁻ in the place of a."""
    motion, alpha = run("four-bar", HHT(alpha=-0.2)), -0.2
    beta, gamma = 0.25 * (1.0 - alpha) ** 2, 0.5 - alpha
    before = motion.qdd[0]
    for k, h in enumerate(motion.hs):
        now = (1.0 + alpha) * motion.qdd[k + 1] - alpha * motion.qdd[k]
        assert_close(
            motion.q[k + 1], motion.q[k] + h * motion.qd[k] + h * h * ((0.5 - beta) * before + beta * now)
        )  # fmt: skip
        assert_close(motion.qd[k + 1], motion.qd[k] + h * ((1.0 - gamma) * before + gamma * now))
        assert_close(motion.traj[k + 1][-motion.system.n :], now)
        before = now
    assert np.abs(before - motion.qdd[-1]).max() > 1e-3
