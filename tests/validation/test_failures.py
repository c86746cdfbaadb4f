"""Runs that cannot be done, or not to the end: one sentence on what, where, when and what to try, and the part done."""

from itertools import product
from pathlib import Path

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint, lower
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.kernels.status import NOT_FINITE
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, Newmark, RungeKutta4
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

SLIDER = """
kinegrad: 1
parameters: {x0: 0.5, v0: 0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {P: [0, 0, 0]}}}
joints: {rail: {type: prismatic, between: [ground.O, block.P], axis: [1, 0, 0]}}
degrees_of_freedom: {rail.distance: {position: x0, velocity: v0}}
objectives: {sum: {integral: rail.distance}}
"""
SCHEMES = [("ali3p", "newmark"), ("matrix-r", "newmark"), ("matrix-r", "rk4")]


def system(more="", **values):
    return joint(Model.from_yaml_text(SLIDER + more), values=values or None)


def stopped(sys, scheme, **options):
    """The error of a run that stops early."""
    with pytest.raises(SimulationError) as caught:
        simulate(sys, *scheme, **options)
    assert len(caught.value.problems) == 1
    return caught.value


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_expression_leaves_its_domain(scheme):
    """sqrt(0.25 - t) is no number after 0.25 s."""
    sys = system("forces: {push: {type: force, acts_on: rail.distance, value: sqrt(0.25 - t)}}\n")
    error = stopped(sys, scheme, t_end=1.0, step=1e-2)
    assert f"({scheme[0]}) stopped at t = 0.25 s: the value of force 'push' is infinite or not a number" in str(error)
    assert "check its expression" in str(error)
    assert error.motion.t[-1] == pytest.approx(0.25)
    assert len(error.motion.t) == len(error.motion.q) == 26
    assert np.isfinite(error.motion.q).all()
    # without gravity or friction: v = 2/3 (1/8 - (1/4 - t)^1.5)
    assert error.motion.qd[-1, 0] == pytest.approx(2 / 3 * 0.25**1.5, rel=2e-2)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_run_that_may_stop_returns_what_was_done(scheme):
    sys = system("forces: {push: {type: force, acts_on: rail.distance, value: log(0.1 - t)}}\n")
    motion = simulate(sys, *scheme, t_end=1.0, step=1e-2, throw=False)
    assert motion.status == NOT_FINITE
    assert 0.08 < motion.t[-1] < 0.11
    assert "sum" in motion.objectives


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_spring_reaches_length_zero(scheme):
    """Moving at a constant speed it meets the other end exactly: in binary numbers too."""
    sys = system(
        "forces: {coil: {type: spring, between: [ground.O, block.P], stiffness: 0, natural_length: 0.2}}\n",
        x0=0.5,
        v0=-1.0,
    )
    error = stopped(sys, scheme, t_end=1.0, step=2.0**-7)
    assert "spring 'coil', of a natural length above zero, reached length zero" in str(error)
    assert "move its markers apart or set natural_length to 0" in str(error)
    assert 0.45 < error.motion.t[-1] <= 0.5


def test_too_large_a_step():
    model = Model.from_yaml_text(
        SLIDER + "forces: {hard: {type: force, acts_on: rail.distance, value: -1.0e+4*tanh(50*rail.distance)}}\n"
    )
    error = stopped(joint(model), ("ali3p", "newmark"), t_end=10.0, step=0.5)
    assert "the Newton iterations did not converge; try a smaller step than 0.5 s, or more max_iterations" in str(error)
    assert error.motion.status != 0
    assert len(error.motion.t) >= 1


@pytest.mark.parametrize("scheme", SCHEMES)
def test_an_objective_that_is_not_a_number(scheme):
    model = Model.from_yaml_text(SLIDER.replace("integral: rail.distance", "integral: sqrt(rail.distance - 1)"))
    error = stopped(joint(model), scheme, t_end=0.1, step=1e-2)
    assert str(error).startswith("The objective 'sum' is infinite or not a number")


BAD_TIMES = [
    ({"t_end": 1.0, "step": 0.0}, "step is 0; it must be a finite number larger than zero."),
    ({"t_end": 1.0, "step": -1e-3}, "step is -0.001; it must be a finite number larger than zero."),
    ({"t_end": 1.0, "step": float("nan")}, "step is nan; it must be a finite number larger than zero."),
    ({"t_end": 0.0, "step": 1e-3}, "t_end is 0; it must be a finite number larger than zero."),
    ({"t_end": float("inf"), "step": 1e-3}, "t_end is inf; it must be a finite number larger than zero."),
    (
        {"step": 1e-3},
        "t_end is not given; give --t-end (t_end=... in Python), or write it under simulation in the model.",
    ),
    ({"t_end": 1.0, "step": 2.0}, "The step is 2 s and the span 1 s; choose a step that is not larger than t_end."),
    ({"t_end": 1.0, "step": 1e-12}, "A step of 1e-12 s over 1 s makes 1e+12 steps; at most 1e9 are allowed."),
    (
        {"t_end": 1.0, "step": 1e-2, "output_step": 1.5e-2},
        "output_step is 0.015 s, which is not a whole number of steps of 0.01 s.",
    ),
]


@pytest.mark.parametrize(("options", "sentence"), BAD_TIMES)
def test_times_that_make_no_sense(options, sentence):
    with pytest.raises(KinegradError) as caught:
        simulate(system(), **options)
    assert str(caught.value) == sentence


@pytest.mark.parametrize(
    ("formulation", "integrator", "words"),
    [
        ("ali3p", "rk4", "needs an implicit integrator. Use newmark, hht, generalized-alpha with ali3p"),
        ("ali4", "rk4", "'ali4' is no formulation; choose from ali3p, matrix-r"),
        ("ali3p", "euler", "'euler' is no integrator; choose from newmark"),
    ],
)
def test_combinations_that_do_not_exist(formulation, integrator, words):
    with pytest.raises(KinegradError, match=words):
        simulate(system(), formulation, integrator, t_end=1.0)


def test_the_last_step_is_shortened():
    for scheme, step in product(SCHEMES, (0.3, 0.07)):
        motion = simulate(system(v0=0.2), *scheme, t_end=1.0, step=step)
        assert motion.t[-1] == 1.0
        assert motion.q[-1, 0] == pytest.approx(0.7, abs=1e-13)
        assert motion.objectives["sum"] == pytest.approx(0.6, abs=1e-13)


def test_gradients_that_make_no_sense():
    motion = simulate(system(), t_end=0.1, step=1e-2)
    with pytest.raises(KinegradError, match="'backwards' is no method; choose from direct, discrete-adjoint"):
        gradient(motion, wrt=["x0"], method="backwards")
    with pytest.raises(KinegradError, match="No parameters to differentiate by"):
        gradient(motion)
    plain = Model.from_yaml_text(SLIDER.replace("objectives: {sum: {integral: rail.distance}}", ""))
    with pytest.raises(KinegradError, match="no objectives"):
        gradient(simulate(joint(plain), t_end=0.1, step=1e-2), wrt=["x0"])


def test_options_may_be_objects_or_names():
    by_name = simulate(system(v0=0.3), "ali3p", "newmark", t_end=0.1, step=1e-2)
    by_object = simulate(system(v0=0.3), ALI3P(), Newmark(), t_end=0.1, step=1e-2)
    assert np.array_equal(by_name.q, by_object.q)
    with pytest.raises(KinegradError, match="implicit"):
        simulate(system(), ALI3P(), RungeKutta4(), t_end=0.1)


@pytest.mark.parametrize("coordinates", ["joint", "reference-point", "natural"])
@pytest.mark.parametrize("formulation", ["index1", "matrix-r"])
def test_a_run_that_blows_up_is_at_no_singular_position(coordinates, formulation):
    """The coupler spring of the governor is far too stiff for this step of an explicit scheme."""
    governor = Model.from_yaml(Path(__file__).parents[2] / "examples" / "flyball_governor" / "model.yaml")
    error = stopped(lower(governor, coordinates), (formulation, "rk4"), t_end=0.1, step=5e-4)
    assert "it blew up, its energy has grown by" in str(error) and "an implicit integrator" in str(error)
    assert "singular" not in str(error) and error.motion.t[-1] < 0.02


def test_a_singular_position_is_told_where_energy_is_kept():
    parallelogram = Model.from_yaml(Path(__file__).parents[2] / "examples" / "parallelogram" / "model.yaml")
    error = stopped(lower(parallelogram, "joint"), ("index1", "newmark"), t_end=0.5, step=1e-3)
    assert "reaches a singular position" in str(error) and "blew up" not in str(error)
