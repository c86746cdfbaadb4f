"""The five-bar linkage: converged motion and gradients, published gradients, orders of convergence, energy, closure.

The converged values come from runs of several integrators at steps so small that all digits given agree.  The published
gradients are those of the tables 7.4 to 7.6 (rows "ALI3-P: DDM") of the thesis the example is taken from.
"""

from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

MODEL = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
SCHEMES = {
    "ali3p": (None, "newmark"),  # the formulation of the file
    "matrix-r": ("matrix-r", "newmark"),
    "rk4": ("matrix-r", "rk4"),
}
POINT_2 = np.array([0.884031681698, -2.303783444225, 0.0])  # at 5 s [m]
VALUES = np.array([0.72687746131, 7.34228779279, 304.920693206])
GRADIENT = np.array(
    [
        [-4.2288108552, 3.2116041030, 0.3186566756, 0.4423506782, 3.3598099204],
        [-15.452069070, 50.308784851, 0.9701235491, 0.7456023208, -27.359239952],
        [221.64006823, 2436.6073476, -32.497522711, -85.656718512, -2546.5902029],
    ]
)
PUBLISHED = [
    ["-4.228", "3.212", "0.3186", "0.4423", "3.359"],
    ["-15.45", "50.32", "0.9700", "0.7454", "-27.37"],
    ["221.7", "2437", "-32.51", "-85.70", "-2547"],
]


@cache
def system(variant=None):
    model = Model.from_yaml(MODEL)
    return joint(model.with_variant(variant) if variant else model)


@cache
def motion(scheme, step=1e-3, t_end=5.0, variant=None):
    return simulate(system(variant), *SCHEMES[scheme], step=step, t_end=t_end)


@cache
def matrix(scheme, step=1e-3, method="direct", variant=None):
    return gradient(motion(scheme, step, variant=variant), method=method).matrix


def error_at_end(scheme, step):
    return np.abs(motion(scheme, step).at_end()["bar_12.P2"].position - POINT_2).max()


def four_digits(x):
    """x with four significant digits, as a table prints it."""
    return f"{x:#.4g}".rstrip(".")


# --- motion ---


def test_the_formulations_agree_at_all_times():
    a, b = (motion(scheme).marker("bar_12.P2").position for scheme in ("ali3p", "matrix-r"))
    assert len(a) == len(b) == 5001
    assert np.abs(a - b).max() < 2e-6


@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_newmark_converges_with_order_2(scheme):
    errors = [error_at_end(scheme, step) for step in (2e-3, 1e-3, 5e-4)]
    assert errors[1] < 3e-5
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.02)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(2.0, abs=0.02)


def test_runge_kutta_converges_with_order_4():
    errors = [error_at_end("rk4", step) for step in (8e-3, 4e-3, 2e-3)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(4.0, abs=0.05)
    assert np.log2(errors[1] / errors[2]) == pytest.approx(4.0, abs=0.05)
    assert error_at_end("rk4", 1e-3) < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_over_50_s(scheme):
    energies = motion(scheme, t_end=50.0).energies
    assert np.ptp(energies.kinetic) > 1.0
    assert not energies.work.any()
    assert energies.drift < (5e-5 if scheme != "rk4" else 1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_loops_stay_closed(scheme):
    violation = motion(scheme).constraint_violation
    assert violation.shape == (5001, 3)
    assert violation[:, 0].max() < 1e-10
    assert violation[:, 1].max() < 1e-9
    assert violation[:, 2].max() < 1e-8


@pytest.mark.parametrize(("scheme", "tolerance"), [("ali3p", 5e-6), ("matrix-r", 5e-6), ("rk4", 1e-10)])
def test_objectives(scheme, tolerance):
    values = np.array(list(motion(scheme).objectives.values()))
    assert np.abs(values / VALUES - 1.0).max() < tolerance


# --- gradients ---


@pytest.mark.parametrize("scheme", SCHEMES)
def test_adjoint_is_direct(scheme):
    direct, adjoint = matrix(scheme), matrix(scheme, method="discrete-adjoint")
    scale = np.maximum(np.abs(direct), 1e-3 * np.abs(direct).max(axis=1, keepdims=True))
    assert (np.abs(adjoint - direct) / scale).max() < 1e-11  # 1e-8 is what is promised


@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_gradients_of_newmark_converge_with_order_2(scheme):
    errors = [np.abs(matrix(scheme, step) / GRADIENT - 1.0) for step in (2e-3, 1e-3, 5e-4)]
    assert errors[1].max() < 5e-4
    for coarse, fine in pairwise(errors):
        assert np.abs(np.log2(coarse / fine) - 2.0).max() < 0.05


def test_gradients_of_runge_kutta():
    assert np.abs(matrix("rk4") / GRADIENT - 1.0).max() < 1e-8
    errors = [np.abs(matrix("rk4", step) / GRADIENT - 1.0).max() for step in (8e-3, 4e-3)]
    assert 3.8 < np.log2(errors[0] / errors[1]) < 4.5


def test_published_gradients():
    found = matrix("ali3p", variant="printed")
    assert [[four_digits(x) for x in row] for row in found.tolist()] == PUBLISHED


def test_derivatives_by_every_number():
    """The adjoint knows all numbers: those of parameters that are one number of the model are the same derivatives."""
    result = gradient(motion("ali3p"), method="discrete-adjoint", every_slot=True)
    numbers = result.by_number()
    for objective, parameter, path in (
        ("psi1", "m_A1", "bodies.bar_A1.mass"),
        ("psi2", "r_G", "bodies.bar_A1.com.x"),
        ("psi3", "L_s1", "forces.spring_1.natural_length"),
        ("psi3", "L_A1", "bodies.bar_A1.markers.P1.x"),
    ):
        assert numbers[objective][path] == pytest.approx(result[objective, parameter], rel=1e-12)
