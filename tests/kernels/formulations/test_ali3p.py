"""ALI3-P: its steps satisfy their equations."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.errors import IterationWarning
from kinegrad.model.simulation import ALI3P, HHT, Newmark

from .short_runs import assert_constraints, assert_motion, assert_trapezoidal_objectives, short_run

EXACT = ALI3P(penalty=1e8, projection_method="augmented-lagrangian")


@pytest.mark.parametrize("name", ["four-bar", "ball"])
def test_steps(name):
    """Equations of motion at (q, v, a) before the projections, which leave Phid = Phidd = 0, and Newmark's formulas."""
    case = short_run(name, EXACT, Newmark())
    motion = case.run(case.system(), 1e-14, 40)
    n, m = motion.system.n, motion.system.m
    lam = motion.traj[:, 5 * n : 5 * n + m]
    v, a, vp, ap = (motion.traj[:, k * n : (k + 1) * n] for k in range(1, 5))
    assert np.array_equal(vp, motion.qd)
    assert np.array_equal(ap, motion.qdd)
    assert_constraints(motion, tolerance=1e-11)
    assert_trapezoidal_objectives(motion)
    assert_motion(motion, a, lam, tolerance=1e-10, v=v)  # positions to 1e-14, accelerations to that over βh²
    for k, h in enumerate(motion.hs):
        assert_close(motion.q[k + 1], motion.q[k] + h * vp[k] + 0.25 * h * h * (ap[k] + a[k + 1]))
        assert_close(v[k + 1], vp[k] + 0.5 * h * (ap[k] + a[k + 1]))


@pytest.mark.parametrize("name", ["four-bar", "ball"])
def test_one_iteration_to_rounding(name):
    """Accelerations extrapolated from four steps leave rounding: one iteration then gives what ten give."""
    case = short_run(name, EXACT, Newmark(), steps=12, step=3e-4)
    motion = case.run(case.system(), 1e-16, 40)
    with pytest.warns(IterationWarning):
        expected = case.run(case.system(), 0.0, 10)
    assert (motion.iterations[4:] == 1).all()
    assert (expected.iterations == 10).all()
    for found, right, tolerance in (
        (motion.q, expected.q, 1e-15), (motion.qd, expected.qd, 1e-12), (motion.qdd, expected.qdd, 1e-9),
    ):  # fmt: skip
        assert_close(found, right, tolerance, np.abs(right).max())
    assert_close(motion.lam, expected.lam, 1e-9, max(1.0, np.abs(expected.lam).max()))


def test_auxiliary_acceleration():
    """HHT: a step starts from â = (1 + α) a - α a⁻ of the projected accelerations, which its row keeps."""
    case, alpha = short_run("four-bar", EXACT, HHT(alpha=-0.2)), -0.2
    motion = case.run(case.system(), 1e-14, 40)
    n, m = motion.system.n, motion.system.m
    kept = motion.traj[:, 5 * n + 3 * m :]
    a, beta = motion.traj[:, 2 * n : 3 * n], 0.25 * (1.0 - alpha) ** 2
    assert kept.shape[1] == n
    for k, h in enumerate(motion.hs):
        rest = (1.0 + alpha) * a[k + 1] - alpha * motion.qdd[k]  # before the projection
        expected = motion.q[k] + h * motion.qd[k] + h * h * ((0.5 - beta) * kept[k] + beta * rest)
        assert_close(motion.q[k + 1], expected)
        assert_close(kept[k + 1], (1.0 + alpha) * motion.qdd[k + 1] - alpha * motion.qdd[k])
