"""What runs say of their own accuracy: energy from nowhere, and rows that have drifted."""

import warnings
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kernels.jit import JIT
from kinegrad.motion import Energies

EXAMPLES = sorted(path.parent.name for path in (Path(__file__).parents[2] / "examples").glob("*/model.yaml"))
STEPS = 60

WHEELS = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  hub: {mass: 100, inertia: [8, 9, 10], markers: {O: [0, 0, 0], W: [0.1, 0, 0]}}
  wheel: {mass: 1, inertia: [0.002, 0.001, 0.001], markers: {C: [0, 0, 0]}}
joints:
  free: {type: floating, between: [ground.O, hub.O]}
  j: {type: revolute, between: [hub.W, wheel.C], axis: [1, 0, 0]}
forces: {m: {type: torque, acts_on: j.angle, value: 0.02*sin(t)}}
degrees_of_freedom:
  free: {position: [0, 0, 0], velocity: [0, 0, 0], angular_velocity: [0.05, 0.02, 0.1]}
  j.angle: {position: 0, velocity: 100}
simulation: {t_end: 5, step: 0.01}
"""
PENDULUM = """
kinegrad: 1
ground: {markers: {O: [0, 0, HEIGHT]}}
bodies:
  bar: {mass: 1, com: [0, 0, -0.5], inertia: [0.0833, 0.0833, 0], markers: {O: [0, 0, 0], P: [0, 0, -1]},
    pose: {origin: [0, 0, HEIGHT]}}
joints: {j: {type: revolute, between: [ground.O, bar.O], axis: [0, 1, 0]}}
forces:
  g: {type: gravity, acceleration: [0, 0, -9.81]}
  d: {type: spring, acts_on: j.angle, stiffness: 0, damping: DAMPING}
degrees_of_freedom: {j.angle: {position: START}}
simulation: {t_end: 10, step: 0.01}
"""


def told(*arguments, **options) -> list[str]:
    """What a run says of energy and drift."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kg.simulate(*arguments, **options)
    said = [str(w.message) for w in caught if issubclass(w.category, kg.AccuracyWarning)]
    return [text for text in said if "nowhere" in text or "have drifted" in text]


def pendulum(height=0.0, damping=0.0, start=1.0):
    text = PENDULUM.replace("HEIGHT", str(height)).replace("DAMPING", str(damping)).replace("START", str(start))
    return kg.joint(kg.Model.from_yaml_text(text))


compiled = pytest.mark.skipif(not JIT, reason="runs of many steps need the compiler")

# --- the measure ---


def test_the_drift_is_judged_by_what_moves():
    """Not by the potential energy, whose zero is arbitrary, but for its rounding."""
    t = np.linspace(0.0, 1.0, 11)
    swing = Energies(5.0 * np.sin(3.0 * t) ** 2, 1e4 + 5.0 * np.cos(3.0 * t) ** 2 + 0.1 * t, 0.0 * t)
    assert swing.drift == pytest.approx(0.1) and swing.drift_part == pytest.approx(0.1 / 5.0, rel=0.05)
    wheel = Energies(7.0 + 0.07 * t, 0.0 * t, 0.0 * t)
    assert wheel.drift_part == pytest.approx(0.01, rel=0.02)
    rest = Energies(1e-20 * t, 100.0 + 1e-12 * t, 0.0 * t)
    assert rest.drift_part == 0.0
    braked = Energies(5.0 * np.exp(-50.0 * t), 0.0 * t, 5.0 * (np.exp(-50.0 * t) - 1.0))
    assert braked.drift_part < 1e-12
    assert "2 % of the 4.97 J that move" in swing.drift_in_words


# --- runs ---


@compiled
def test_energy_from_nowhere_is_told_with_its_part_and_what_helps():
    """A wheel turns a radian a step, too far for natural coordinates with rk4; in joint coordinates all is well."""
    model = kg.Model.from_yaml_text(WHEELS)
    (said,) = [text for text in told(kg.natural(model), "index1", "rk4") if "nowhere" in text]
    assert "% of the" in said and "J that move" in said and "joint coordinates" in said
    assert told(kg.joint(model), "index1", "rk4") == []
    assert told(kg.natural(model), "index1", "rk54") == []


@compiled
@pytest.mark.parametrize("damping", [0.0, 0.02])
def test_the_sample_sees_what_all_steps_show(damping):
    """Numerical damping of a pendulum, with and without forces that do work: told from the step on at which it is 1 %."""
    system = pendulum(damping=damping, start=2.5)
    for step in (0.002, 0.005, 0.01, 0.02, 0.04, 0.08):
        options = {"formulation": "index1", "integrator": kg.GeneralizedAlpha(rho_inf=0.0), "step": step}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            part = kg.simulate(system, **options).energies.drift_part
        assert bool(told(system, **options)) == (part > 0.01), (step, part)


@compiled
@pytest.mark.parametrize("height", [0.0, 1e4, -1e4])
def test_what_comes_to_rest_is_not_accused(height):
    """Little moves at the end, or all the time; how high it hangs makes no difference."""
    assert told(pendulum(height, damping=2.0), "ali3p", "newmark") == []
    assert told(pendulum(height, start=0.0), "ali3p", "newmark") == []
    assert told(pendulum(height, start=1e-3, damping=0.5), "index1", "rk4") == []


@compiled
def test_a_jump_of_energy_between_steps_that_keep_a_state():
    """Work is summed over all steps where not all are kept, and their energies balance with it."""
    model = kg.Model.from_yaml_text(WHEELS)
    (said,) = [text for text in told(kg.natural(model), "index1", "rk4", output_step=0.1) if "nowhere" in text]
    assert "% of the" in said
    assert told(kg.joint(model), "index1", "rk4", output_step=0.1) == []


@compiled
def test_rows_that_have_drifted_are_told_in_their_own_lengths():
    """Also where stabilisation pulls them back, and whatever the size of the mechanism."""
    for size in (1e-6, 1.0, 1e3):
        text = PENDULUM.replace("HEIGHT", "0").replace("DAMPING", "0").replace("START", "2.0")
        for number in ("-0.5", "-1]"):
            text = text.replace(number, number.replace("0.5", f"{0.5 * size}").replace("1]", f"{size}]"))
        text = text.replace("0.0833", f"{0.0833 * size**2}").replace("-9.81", f"{-9.81 * size}")
        system = kg.natural(kg.Model.from_yaml_text(text))
        (said,) = [x for x in told(system, "index1", "rk4", t_end=2.0, step=0.1) if "have drifted" in x]
        assert "% of what it changes by" in said
        assert not [x for x in told(system, "index1", "rk4", t_end=2.0, step=0.01) if "have drifted" in x]


@compiled
@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_balance_at_their_usual_steps(name):
    model = kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / name / "model.yaml")
    system = kg.joint(model)
    step = model.simulation.step
    step = step if isinstance(step, float) else 1e-3
    for scheme in (None, None), ("matrix-r", "rk4"), ("index1", "rk4"):
        try:
            said = told(system, *scheme, step=step, t_end=STEPS * step)
        except kg.KinegradError:  # another formulation is asked for
            continue
        assert said == []
