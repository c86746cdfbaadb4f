"""Derivatives of recursive steps, direct and adjoint, by complex step of the same steps."""

import pytest
from products_by_complex_step import uncompiled

from kinegrad.model.simulation import Newmark, Recursive, RungeKutta4, RungeKutta54

from .short_runs import assert_gradients, short_run

RUNS = {
    "four-bar, rk4": ("four-bar", RungeKutta4()),
    "four-bar, rk54": ("four-bar", RungeKutta54(tolerance=1e-7)),
    "four-bar, newmark": ("four-bar", Newmark(beta=0.3025, gamma=0.6)),
    "ball, rk4": ("ball", RungeKutta4()),
    "ball, newmark": ("ball", Newmark()),
}


@uncompiled
@pytest.mark.parametrize("name", RUNS)
def test_gradient(name):
    model, integrator = RUNS[name]
    assert_gradients(short_run(model, Recursive(frequency=15.0, damping=0.8), integrator, steps=2, step=0.005))
