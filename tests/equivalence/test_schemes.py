"""Formulations and integrators converge to one motion and one gradient, whatever the model is made of."""

from functools import cache

import numpy as np
import pytest
import whole_runs
from whole_runs import CHAIN_WRT, DRIVEN_WRT, FIVE_BAR

from kinegrad.coordinates.sets import joint
from kinegrad.model.simulation import ALI3P, HHT, GeneralizedAlpha, MatrixR
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

T_END = 0.5
MODELS = {
    "five-bar": (whole_runs.five_bar, FIVE_BAR),
    "five-bar by point 2": (whole_runs.point_driven_five_bar, FIVE_BAR[:-3]),
    "open chain": (whole_runs.open_chain, CHAIN_WRT),
    "driven": (whole_runs.driven_crank, DRIVEN_WRT),
}
SCHEMES = {
    "ali3p": (ALI3P(penalty=1e8, projection_scale=1e-2), "newmark"),
    "matrix-r": ("matrix-r", "newmark"),
    "rk4": ("matrix-r", "rk4"),
    "hht": (ALI3P(penalty=1e8, projection_scale=1e-2), HHT(alpha=-0.1)),
    "generalized-alpha": ("index1", GeneralizedAlpha(rho_inf=0.7)),
}

SECOND_ORDER = [name for name in SCHEMES if name != "rk4"]


@cache
def motion(model, scheme, step):
    return simulate(joint(MODELS[model][0]()), *SCHEMES[scheme], step=step, t_end=T_END, output_step=1e-2)


@cache
def matrix(model, scheme, step, method="discrete-adjoint"):
    return gradient(motion(model, scheme, step), wrt=MODELS[model][1], method=method).matrix


def positions(*args):
    """(times, markers, 3) positions of all markers."""
    return motion(*args).marker_array()[:, :, 0]


@pytest.mark.parametrize("scheme", SECOND_ORDER)
@pytest.mark.parametrize("model", MODELS)
def test_newmark_converges_to_runge_kutta(model, scheme):
    exact = positions(model, "rk4", 2.5e-3)
    assert np.abs(positions(model, "rk4", 5e-3) - exact).max() < 1e-5
    errors = [np.abs(positions(model, scheme, step) - exact).max() for step in (2.5e-3, 1.25e-3)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("scheme", SECOND_ORDER)
@pytest.mark.parametrize("model", MODELS)
def test_gradients_converge_to_those_of_runge_kutta(model, scheme):
    exact = matrix(model, "rk4", 2.5e-3)
    scale = np.abs(exact).max(axis=1, keepdims=True)
    errors = [(np.abs(matrix(model, scheme, step) - exact) / scale).max() for step in (2.5e-3, 1.25e-3)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.15)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("model", MODELS)
def test_adjoint_is_direct(model, scheme):
    direct, adjoint = (matrix(model, scheme, 2.5e-3, method) for method in ("direct", "discrete-adjoint"))
    scale = np.maximum(np.abs(direct), 1e-3 * np.abs(direct).max(axis=1, keepdims=True))
    assert (np.abs(adjoint - direct) / scale).max() < 1e-10


@pytest.mark.parametrize("cut", ["JA", "J1", "J2", "J3", "JB"])
def test_the_five_bar_with_every_cut(cut):
    """Joints whose coordinates are the degrees of freedom can be cut too: they are measured from markers then, and what is
    integrated stays the same."""
    model = whole_runs.five_bar()
    del model.objectives["last"]  # it names joint angles
    run, reference = (
        simulate(joint(model, cut=names), MatrixR(reselect_below=0.0), "rk4", step=2.5e-3, t_end=T_END)
        for names in ((cut,), ())
    )
    assert run.system.set.tree.cut == (cut,)
    for name in run.system.markers:
        difference = run.marker(name).position - reference.marker(name).position
        assert np.abs(difference).max() < 1e-11
    found, expected = (gradient(x, wrt=FIVE_BAR, method="discrete-adjoint").matrix for x in (run, reference))
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
