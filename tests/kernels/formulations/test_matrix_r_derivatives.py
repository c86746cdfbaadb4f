"""Derivatives of steps of Matrix R, direct and adjoint, by complex step of the same steps, across a change of coordinates."""

import pytest
from products_by_complex_step import uncompiled

from kinegrad.model.simulation import HHT, GeneralizedAlpha, MatrixR, Newmark, RungeKutta4, RungeKutta54

from .short_runs import assert_gradients, short_run

EAGER = MatrixR(reselect_below=0.5)
RUNS = {
    "four-bar, newmark": ("four-bar", MatrixR(), Newmark()),
    "four-bar, rk54": ("four-bar", MatrixR(), RungeKutta54(tolerance=1e-6)),
    "four-bar by a point, generalized-alpha": ("four-bar by a point", MatrixR(), GeneralizedAlpha(rho_inf=0.5)),
    "four-bar by a point, rk4": ("four-bar by a point", MatrixR(), RungeKutta4()),
    "ball, hht": ("ball", MatrixR(), HHT(alpha=-0.2)),
    "ball, rk4": ("ball", MatrixR(), RungeKutta4()),
}


@uncompiled
@pytest.mark.parametrize("name", RUNS)
def test_gradient(name):
    assert_gradients(short_run(*RUNS[name], steps=2))


@uncompiled
@pytest.mark.parametrize("integrator", [HHT(alpha=-0.2), RungeKutta4()], ids=lambda x: x.type)
def test_gradient_across_a_change_of_coordinates(integrator):
    motion = assert_gradients(short_run("four-bar", EAGER, integrator, steps=4, step=0.04))
    assert motion.flags.max() > 0
