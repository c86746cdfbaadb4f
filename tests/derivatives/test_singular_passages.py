"""Gradients of motions through singular positions: those that exist, and those that mean nothing (SEN-1)."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from switching_models import rocker

import kinegrad as kg
from kinegrad.bench.windows import windows
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="long runs need the compiler")
SCHEMES = [("ali3p", "newmark"), ("index1", "rk4"), ("recursive", "rk4"), ("matrix-r", "rk4")]
PASSED = 0.714  # s: the first time at which all rods lie on one line
STEPS = {"m0": 1e-4, "g": 1e-4, "v": 1e-4, "L": 1e-5}


def two_windows():
    """Two windows; parameters are the mass of one crank, gravity, the speed at the start, all lengths, and those of one bar."""
    model = windows(2)
    model.parameters |= {"m0": 1.0, "g": 9.81, "bar": 1.0}
    rod = {"com": ["L/2", 0, 0], "inertia": [0, "m*L**2/12", "m*L**2/12"]}
    model.bodies["crank_0"] = rod | {
        "mass": "m0", "markers": {"A": [0, 0, 0], "B": ["L", 0, 0]}, "pose": {"origin": [0, 0, 0], "x_axis": [0, 1, 0]},
    }  # fmt: skip
    model.bodies["bar_1"] = rod | {
        "mass": "m", "markers": {"left": [0, 0, 0], "right": ["bar*L", 0, 0]},
        "pose": {"origin": [0, 1, 0], "x_axis": [1, 0, 0]},
    }  # fmt: skip
    model.forces["gravity"] = {"type": "gravity", "acceleration": [0, "-g", 0]}
    model.objectives = {"x": {"final": "crank_0.B.position.x"}, "path": {"integral": "norm2(crank_0.B.velocity)"}}
    return model


@pytest.fixture(scope="module")
def system():
    return kg.joint(two_windows())


def motion(system, scheme, t_end=2.0, **values):
    formulation = kg.ALI3P(tolerance=1e-14) if scheme[0] == "ali3p" else scheme[0]
    return kg.simulate(system.with_parameters(values), formulation, scheme[1], t_end=t_end, step=1e-3)


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
@pytest.mark.parametrize("scheme", SCHEMES[:3], ids="-".join)
def test_derivatives_that_exist_go_through(system, scheme, method):
    """By a mass, gravity, the speed and by all lengths together; three passages in two seconds."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = kg.gradient(motion(system, scheme), wrt=list(STEPS), method=method)
    assert gradient.no_meaning == {}
    rho = dict(zip(system.parameters.independent, system.rho, strict=True))
    for k, (name, h) in enumerate(STEPS.items()):
        more, less = (motion(system, scheme, **{name: rho[name] + s * h}).objectives for s in (1.0, -1.0))
        difference = np.array([(more[o] - less[o]) / (2.0 * h) for o in more])
        size = np.maximum(np.abs(difference), 1e-3 * np.abs(gradient.matrix[:, k]).max())
        assert (np.abs(gradient.matrix[:, k] - difference) / size).max() < 1e-5, name


def test_matrix_r_tells_that_it_loses_digits(system):
    with pytest.warns(
        kg.DerivativeWarning, match="near which the independent coordinates of matrix-r keep half of their digits"
    ):
        found = kg.gradient(motion(system, SCHEMES[3]), wrt=list(STEPS)).matrix
    expected = kg.gradient(motion(system, SCHEMES[1]), wrt=list(STEPS)).matrix
    assert (np.abs(found - expected) / np.abs(expected).max(axis=1)[:, None]).max() < 1e-3


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
def test_a_derivative_by_what_would_not_pass_is_marked(system, scheme, method):
    with pytest.warns(
        kg.DerivativeWarning, match=r"by 'bar' means nothing: at t = 0\.7\d* s the mechanism passes a singular"
    ):
        gradient = kg.gradient(motion(system, scheme), wrt=["m0", "bar"], method=method)
    assert list(gradient.no_meaning) == ["bar"]
    assert gradient.no_meaning["bar"] == pytest.approx(PASSED, abs=0.02)


@pytest.mark.parametrize("scheme", SCHEMES[:2], ids="-".join)
def test_before_the_position_every_derivative_means_something(system, scheme):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = kg.gradient(motion(system, scheme, t_end=0.5), wrt=["m0", "bar"])
    assert gradient.no_meaning == {}
    assert gradient["x", "bar"] != 0.0


def test_a_near_miss_has_derivatives(system):
    """With one bar a little shorter the cranks turn back before the line, or pass it, with room for a derivative."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = kg.gradient(motion(system, SCHEMES[0], t_end=0.69, bar=0.97), wrt=["bar"])
    assert gradient.no_meaning == {}


def test_by_every_number(system):
    gradient = kg.gradient(motion(system, SCHEMES[0]), wrt=["m0"], method="discrete-adjoint", every_slot=True)
    numbers = gradient.by_number()["x"]
    assert np.isnan(numbers["bodies.bar_2.markers.right.x"]) and np.isnan(numbers["ground.markers.A1.x"])
    assert np.isfinite(numbers["bodies.bar_2.mass"]) and np.isfinite(numbers["forces.gravity.acceleration.x"])


@pytest.mark.parametrize("cut", ["pivot", "universal", "rail"])
def test_an_euler_parameter_that_begins_to_move_inertia_is_no_singular_position(cut):
    model = kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / "slider_crank" / "model.yaml")
    motion = kg.simulate(kg.joint(model, cut=[cut]), "matrix-r", "rk4", t_end=0.03, step=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gradient = kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    assert gradient.no_meaning == {} and np.isfinite([*gradient.by_number()["psi1"].values()]).all()


@pytest.mark.parametrize(
    "scheme", [("index1", "rk4"), ("index1", "newmark"), ("recursive", "rk4"), ("ali3p", "newmark")], ids="-".join
)
def test_euler_parameters_that_start_without_inertia_are_no_singular_position(scheme):
    """Unturned, e0 has no inertia, and a little as soon as the body turns: that is no loss of rank."""
    motion = kg.simulate(kg.joint(rocker(1.0)), *scheme, step=0.01, t_end=0.1)
    gradient = kg.gradient(motion, wrt=[], method="discrete-adjoint", every_slot=True)
    assert np.isfinite([list(row.values()) for row in gradient.by_number().values()]).all()


@pytest.mark.parametrize("integrator", ["newmark", "hht", "generalized-alpha"])
@pytest.mark.parametrize("which", ["joint", "reference_point", "natural"])
def test_in_all_sets(which, integrator):
    """Rows become dependent in the last two, and none of them vanishes: derivatives that exist go through, by the lengths of
    all rods too, and the one that does not is marked."""
    found = kg.simulate(getattr(kg, which)(two_windows()), "ali3p", integrator, t_end=1.3, step=1e-3)
    with pytest.warns(kg.DerivativeWarning) as told:
        direct, adjoint = (kg.gradient(found, wrt=[*STEPS, "bar"], method=m) for m in ("direct", "discrete-adjoint"))
    assert all("by 'bar' means nothing" in str(warning.message) for warning in told)
    assert direct.no_meaning == adjoint.no_meaning == {"bar": pytest.approx(PASSED, abs=0.02)}
    those, size = slice(0, len(STEPS)), np.abs(direct.matrix[:, : len(STEPS)]).max(axis=1, keepdims=True)
    assert (np.abs(direct.matrix - adjoint.matrix)[:, those] / size).max() < 1e-10
    scheme, rho = ("ali3p", integrator), dict(zip(found.system.parameters.independent, found.system.rho, strict=True))
    for k, (name, h) in enumerate(STEPS.items()):
        more, less = (motion(found.system, scheme, 1.3, **{name: rho[name] + s * h}).objectives for s in (1.0, -1.0))
        difference = np.array([(more[o] - less[o]) / (2.0 * h) for o in more])
        assert (np.abs(direct.matrix[:, k] - difference) / size[:, 0]).max() < 1e-6, name
