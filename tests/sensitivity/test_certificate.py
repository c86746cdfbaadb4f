"""check_gradient: what is right, wrong, a kink, drift or chaos is called by its name (CER-1 to CER-4)."""

from dataclasses import replace
from pathlib import Path

import pytest
from kinematics.small_models import FOUR_BAR

import kinegrad as kg
from kinegrad.sensitivity.certificate import drift_of_rows

EXAMPLES = Path(__file__).parents[2] / "examples"
PENDULUM = """
kinegrad: 1
parameters: {L: 0.4, m: 0.6, low: 0.0}
design: [L, m]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1, com: [L/2, 0, 0], inertia: [0, 0.02, 0.02], markers: {O: [0, 0, 0], P: [L, 0, 0]}}
  b: {mass: m, com: [0.2, 0, 0], inertia: [0, 0.01, 0.01], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.P, b.P], axis: [0, 0, 1]}
forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {one.angle: {position: 1.5, velocity: 0}, two.angle: {position: 1, velocity: 0}}
objectives: {end: {final: b.Q.position.x}}
simulation: {t_end: 20, step: 0.002}
"""


@pytest.fixture(scope="module")
def five_bar():
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"))
    return kg.gradient(kg.simulate(system, t_end=2.0, step=2e-3), method="discrete-adjoint")


def test_the_five_bar_is_good(five_bar):
    found = kg.check_gradient(five_bar, methods=True, sets=True)
    assert found.good and not found.useless and found.entries is None, found.problems
    assert list(found.numbers) == ["half the step", "directions", "constraints", "methods", "sets"]
    assert found.numbers["directions"] < 1e-8 and found.numbers["methods"] < 1e-10
    assert found.numbers["constraints"] < 1e-10 and found.numbers["half the step"] < 1e-3
    assert found.as_dict()["good"] and "Nothing was found" in str(found) and "<td>sets</td>" in found._repr_html_()


def test_a_wrong_entry_is_named(five_bar):
    matrix = five_bar.matrix.copy()
    matrix[1, 2] *= 1.001
    found = kg.check_gradient(replace(five_bar, matrix=matrix), methods=True)
    assert not found.good and not found.useless
    objective, label = list(five_bar.values)[1], five_bar.wrt[2]
    assert found.problems[0].startswith(
        f"The derivative of {objective!r} by {label!r} differs from differences by 0.001 of itself."
    )
    assert any("is another one by the method 'direct'" in sentence for sentence in found.problems)
    assert len(found.problems) == 2


def test_a_broken_partial_is_named(monkeypatch):
    """L moves the marker of a body and its centre of mass; without the latter all derivatives are formed consistently, at
    every step and by both methods, and only differences find what lacks."""
    system = kg.joint(kg.Model.from_yaml_text(PENDULUM))
    motion, right = kg.simulate(system, t_end=0.5), type(system).directions

    def without(self, labels):
        ds = right(self, labels)
        ds[list(labels).index("L"), list(self.slots.names).index("bodies.a.com.x")] = 0.0
        return ds

    monkeypatch.setattr(type(system), "directions", without)
    found = kg.check_gradient(kg.gradient(motion))
    assert [("'end'" in x and "'L'" in x) for x in found.problems] == [True] and "kink" not in found.problems[0]


def test_a_kink_is_called_one():
    """A magnitude next to zero: a slope of its own to each side, and a derivative that is that of one of them."""
    text = PENDULUM.replace("{final: b.Q.position.x}", "{final: 'sqrt((low - 0.9999999)**2) + b.Q.position.x'}")
    text = text.replace("low: 0.0", "low: 1.0")
    gradient = kg.gradient(kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), t_end=0.2), wrt=["low", "m"])
    found = kg.check_gradient(gradient)
    assert len(found.problems) == 1 and "by 'low'" in found.problems[0] and "there is a kink" in found.problems[0]


def test_chaos_is_called_useless():
    system = kg.joint(kg.Model.from_yaml_text(PENDULUM))
    found = kg.check_gradient(kg.gradient(kg.simulate(system), method="adjoint"))
    assert found.useless and not found.good and "is useless to an optimiser" in found.problems[0]
    early = kg.check_gradient(kg.gradient(kg.simulate(system, t_end=1.0), method="adjoint"))
    assert early.good and not early.useless


def test_large_steps_are_no_chaos():
    gradient = kg.gradient(
        kg.simulate(kg.joint(kg.Model.from_yaml_text(PENDULUM)), t_end=1.2, step=0.02), method="adjoint"
    )
    found = kg.check_gradient(gradient)
    assert not found.useless and "it is that of the steps, not of the motion" in found.problems[0]


def test_drift_is_told():
    """Without stabilisation rows of the derivatives drift with the steps; pulled back they do not."""
    linkage = kg.joint(kg.Model.from_yaml_text("kinegrad: 1\n" + FOUR_BAR))
    numbers = {}
    for frequency in (0.0, 10.0):
        formulation = kg.Index1(frequency=frequency)
        motion = kg.simulate(linkage, formulation, "rk4", t_end=10.0, step=0.01)
        found = kg.check_gradient(kg.gradient(motion, wrt=["crank", "coupler"]))
        numbers[frequency] = found.numbers["constraints"]
        told = any("have drifted off the constraints" in x for x in found.problems)
        assert told == (frequency == 0.0)
    assert numbers[0.0] > 1e-3 and numbers[10.0] < 3e-5
    whole, thin = (
        kg.simulate(linkage, kg.Index1(frequency=0.0), "rk4", t_end=2.0, step=0.01, output_step=x) for x in (0.01, 0.4)
    )
    drifts = [drift_of_rows(kg.gradient(motion, wrt=["crank"])) for motion in (whole, thin)]
    assert drifts[0] == pytest.approx(drifts[1], rel=1e-12) and drifts[0][0] > 1e-6


def test_refused_by_name():
    with pytest.raises(kg.KinegradError, match="takes a gradient of a simulated motion by parameters; use its check"):
        kg.check_gradient(kg.assemble(kg.joint(kg.Model.from_yaml_text(PENDULUM))).gradient())


@pytest.mark.parametrize("start", ["equilibrium", "state"])
def test_another_set_starts_where_the_motion_did(start):
    """A pendulum held by a spring: neither at its equilibrium nor in a state that it reached is it where the model starts."""
    model = kg.Model.from_yaml_text(PENDULUM)
    model.forces["coil"] = {"type": "spring", "acts_on": "one.angle", "stiffness": 20, "natural_value": 1}
    model.degrees_of_freedom["two.angle"] = {"position": 1, "velocity": 2}
    system = kg.joint(model.check())
    times = {"t_end": 0.1, "step": 0.005}
    motion = kg.simulate(system, start=kg.simulate(system, **times) if start == "state" else start, **times)
    found = kg.check_gradient(kg.gradient(motion), sets=True)
    assert found.good and found.numbers["sets"] < 1e-3, found.problems
