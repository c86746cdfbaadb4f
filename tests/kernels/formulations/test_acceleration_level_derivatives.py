"""Derivatives of steps at acceleration level, direct and adjoint, by complex step of the same steps."""

import pytest
from products_by_complex_step import uncompiled

from kinegrad.model.simulation import (
    HHT,
    GeneralizedAlpha,
    Index1,
    Newmark,
    Penalty,
    Recursive,
    RungeKutta4,
    RungeKutta54,
)

from .short_runs import assert_gradients, short_run

INDEX1, PENALTY = Index1(frequency=15.0, damping=0.8), Penalty(penalty=1e5, frequency=15.0)
RECURSIVE = Recursive(frequency=15.0, damping=0.8)
RUNS = {
    "four-bar, index1, newmark": ("four-bar", INDEX1, Newmark(beta=0.3025, gamma=0.6)),
    "four-bar, index1, rk4": ("four-bar", INDEX1, RungeKutta4()),
    "four-bar, index1, rk54": ("four-bar", INDEX1, RungeKutta54(tolerance=1e-7)),
    "four-bar, penalty, hht": ("four-bar", PENALTY, HHT(alpha=-0.2)),
    "four-bar, penalty, generalized-alpha": ("four-bar", PENALTY, GeneralizedAlpha(rho_inf=0.3)),
    "four-bar, penalty, rk4": ("four-bar", PENALTY, RungeKutta4()),
    "ball, index1, newmark": ("ball", INDEX1, Newmark()),
    "ball, penalty, rk4": ("ball", PENALTY, RungeKutta4()),
}
BY_SWEEPS = {
    "four-bar, rk4": ("four-bar", RECURSIVE, RungeKutta4()),
    "four-bar, rk54": ("four-bar", RECURSIVE, RungeKutta54(tolerance=1e-7)),
    "four-bar, newmark": ("four-bar", RECURSIVE, Newmark(beta=0.3025, gamma=0.6)),
    "ball, rk4": ("ball", RECURSIVE, RungeKutta4()),
    "ball, newmark": ("ball", RECURSIVE, Newmark()),
}


@uncompiled
@pytest.mark.parametrize("name", RUNS)
def test_gradient(name):
    assert_gradients(short_run(*RUNS[name], steps=2))


@uncompiled
@pytest.mark.parametrize("name", BY_SWEEPS)
def test_gradient_of_recursive_steps(name):
    assert_gradients(short_run(*BY_SWEEPS[name], steps=2, step=0.005))
