"""The spatial slider-crank: formulations and cuts converge to one motion and one gradient; free motion keeps its energy."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.model.simulation import MatrixR
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

MODEL = Path(__file__).parents[2] / "examples" / "slider_crank" / "model.yaml"
SCHEMES = {
    "ali3p": (None, "newmark"),  # the formulation of the file
    "matrix-r": (MatrixR(tolerance=1e-13), "newmark"),
    "rk4": ("matrix-r", "rk4"),
}
VARIANTS = [None, "thin_rod"]
CUTS = ("pivot", "ball", "universal", "rail")
T_END = 2.0


@cache
def system(variant=None, cut=()):
    model = Model.from_yaml(MODEL)
    return joint(model.with_variant(variant) if variant else model, cut=cut)


@cache
def motion(scheme, variant, step, cut=()):
    return simulate(system(variant, cut), *SCHEMES[scheme], step=step, t_end=T_END, output_step=1e-3)


@cache
def matrix(scheme, variant, step, method="direct", cut=()):
    return gradient(motion(scheme, variant, step, cut), method=method).matrix


def slider(*args, **kwargs):
    """x of the slider at every millisecond."""
    return motion(*args, **kwargs).marker("slider.D").position[:, 0]


def by_row(difference, reference):
    """The largest error of each row, as a part of the row's largest entry."""
    return np.abs(difference).max(axis=1) / np.abs(reference).max(axis=1)


@pytest.mark.parametrize("variant", VARIANTS)
def test_formulations_agree_at_a_tenth_of_a_millisecond(variant):
    ali3p, matrix_r = slider("ali3p", variant, 1e-4), slider("matrix-r", variant, 1e-4)
    assert np.ptp(ali3p) > 0.1
    assert np.abs(ali3p - matrix_r).max() < 2e-5


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_motion_converges_with_order_2(scheme, variant):
    exact = slider("rk4", variant, 2.5e-4)
    errors = [np.abs(slider(scheme, variant, step) - exact).max() for step in (5e-4, 2.5e-4)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_gradients_converge_with_order_2(scheme, variant):
    exact = matrix("rk4", variant, 2.5e-4)
    errors = [by_row(matrix(scheme, variant, step) - exact, exact) for step in (5e-4, 2.5e-4)]
    assert np.abs(np.log2(errors[0] / errors[1]) - 2.0).max() < 0.1
    assert errors[1].max() < 2e-3


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_adjoint_is_direct(scheme, variant):
    direct, adjoint = (matrix(scheme, variant, 5e-4, method) for method in ("direct", "discrete-adjoint"))
    scale = np.maximum(np.abs(direct), 1e-3 * np.abs(direct).max(axis=1, keepdims=True))
    assert (np.abs(adjoint - direct) / scale).max() < 1e-9


@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_gives_the_same_independent_motion(cut):
    """The crank angle is integrated whichever joint is cut: only rounding differs."""
    assert system(cut=(cut,)).set.tree.cut == (cut,)
    for variant in VARIANTS:
        assert np.abs(slider("rk4", variant, 1e-3, (cut,)) - slider("rk4", variant, 1e-3)).max() < 1e-11
        found = matrix("rk4", variant, 1e-3, "discrete-adjoint", (cut,))
        assert by_row(found - matrix("rk4", variant, 1e-3), matrix("rk4", variant, 1e-3)).max() < 1e-10


@pytest.mark.parametrize("cut", CUTS)
def test_every_cut_converges_to_one_motion(cut):
    """ALI3-P integrates the coordinates of the tree, which differ: its errors are those of the step."""
    exact, gradient_ = slider("rk4", "thin_rod", 2.5e-4), matrix("rk4", "thin_rod", 2.5e-4)
    assert np.abs(slider("ali3p", "thin_rod", 1e-4, (cut,)) - exact).max() < 2e-5
    assert by_row(matrix("ali3p", "thin_rod", 1e-4, cut=(cut,)) - gradient_, gradient_).max() < 1e-3


@pytest.mark.parametrize("scheme", SCHEMES)
def test_free_motion_keeps_its_energy(scheme):
    coarse, fine = (motion(scheme, "benchmark", step).energies for step in (1e-3, 5e-4))
    assert np.ptp(fine.kinetic) > 0.1
    assert not fine.work.any()
    order = 4.0 if scheme == "rk4" else 2.0
    assert np.log2(coarse.drift / fine.drift) == pytest.approx(order, abs=0.1)
    assert fine.drift < (1e-9 if scheme == "rk4" else 1e-4)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_damper_takes_what_is_lost(scheme):
    """E - E0 is the work of the damper; its power is summed by the trapezoidal rule at the states that are kept."""
    run = simulate(system(), *SCHEMES[scheme], step=2.5e-4, t_end=T_END)
    energies = run.energies
    assert energies.work[-1] < -0.01
    assert energies.drift < 1e-5
