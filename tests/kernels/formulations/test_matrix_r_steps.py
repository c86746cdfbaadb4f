"""Steps of Matrix R: Newmark's formulas and Runge-Kutta stages hold for the independent coordinates."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.kernels.formulations.matrix_r import SELECTED
from kinegrad.kernels.products import POSITION, TIME
from kinegrad.model.simulation import MatrixR, Newmark, RungeKutta4

from .short_runs import (
    accelerations,
    assert_constraints,
    assert_motion,
    assert_objectives,
    assert_trapezoidal_objectives,
    observed,
    runge_kutta_4,
    short_run,
)


def run(model, integrator, steps=3, **options):
    case = short_run(model, MatrixR(**options), integrator, steps, 0.02)
    return case.run(case.system(), 1e-15, 50)


def independent(motion):
    """The coordinate that is integrated, of a motion that keeps it."""
    (k,) = {motion.system.coordinate_of(f) for f in motion.system.freedoms}
    assert not motion.flags.any()
    return k


@pytest.mark.parametrize("model", ["four-bar", "four-bar by a point", "ball"])
@pytest.mark.parametrize("integrator", [Newmark(), RungeKutta4()], ids=lambda x: x.type)
def test_states(model, integrator):
    motion = run(model, integrator)
    assert_constraints(motion, tolerance=1e-11)
    assert_motion(motion)


def test_newmark_of_the_independent_coordinate():
    motion = run("four-bar", Newmark(beta=0.3025, gamma=0.6), reselect_below=0.0)
    k = independent(motion)
    assert_trapezoidal_objectives(motion)
    for i, h in enumerate(motion.hs):
        q, v, (a, b) = motion.q[i, k], motion.qd[i, k], motion.qdd[i : i + 2, k]
        assert_close(motion.q[i + 1, k], q + h * v + h * h * (0.1975 * a + 0.3025 * b))
        assert_close(motion.qd[i + 1, k], v + h * (0.4 * a + 0.6 * b))


def closed(system, q, k, z, zd, t):
    """q and v of the closed loop at one coordinate and its rate."""
    work, q, m = system.workspace(), q.copy(), system.m
    q[k] = z
    B = np.eye(system.n)[k]
    for _ in range(20):
        work["q"][:], work["par"][TIME] = q, t
        work.call(POSITION)
        K = np.vstack([work["J"][:m], B])
        q -= np.linalg.lstsq(K, np.append(work["Phi"][:m], 0.0), rcond=1e-12)[0]
    return q, np.linalg.lstsq(K, np.append(-work["Phi_t"][:m], zd), rcond=1e-12)[0]


def test_runge_kutta_of_the_independent_coordinate():
    motion = run("four-bar", RungeKutta4(), reselect_below=0.0)
    system, k = motion.system, independent(motion)

    integrals = np.zeros(len(motion.objectives))
    for i, h in enumerate(motion.hs):

        def rate(y, t, i=i):
            """Of z, its rate and the integrals of objectives."""
            q, v = closed(system, motion.q[i], k, *y[:2], t)
            a = accelerations(system, q, v, t)
            return np.array([y[1], a[k], *observed(system, q, v, a, t)])

        y = runge_kutta_4(rate, np.array([motion.q[i, k], motion.qd[i, k], *integrals]), motion.t[i], h)
        assert_close([motion.q[i + 1, k], motion.qd[i + 1, k]], y[:2], 1e-11)
        integrals = y[2:]
    assert_objectives(motion, integrals)


def test_a_change_of_coordinates_is_flagged():
    """The rocker comes to a dead point; the states go on satisfying all equations."""
    motion = run("four-bar", RungeKutta4(), steps=8, reselect_below=0.5)
    assert set(motion.flags.tolist()) == {0, SELECTED}
    assert_constraints(motion, tolerance=1e-11)
    assert_motion(motion)
