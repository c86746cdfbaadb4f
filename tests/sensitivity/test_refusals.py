"""What cannot be differentiated, or is not there, is refused in a sentence before memory runs out or numbers mean nothing."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad import memory

ARM = """\
kinegrad: 1
parameters: {m: 2.0, J: 0.1, u: [0, 1, 2, 0]}
design: [m]
ground: {markers: {O: [0, 0, 0]}}
bodies: {arm: {mass: m, com: [0.2, 0, 0], inertia: [0.1, 0.1, J - m/100], markers: {O: [0, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces: {motor: {type: spline, acts_on: hinge.angle, times: [0, 0.1, 0.2, 0.3], values: u}}
degrees_of_freedom: {hinge.angle: {position: 0.3}}
objectives: {turn: {final: hinge.angle}}
simulation: {t_end: 0.02, step: 0.002}
"""


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(ARM)), "index1", "newmark")


def test_directions_that_do_not_fit_into_memory(motion, monkeypatch):
    monkeypatch.setattr(memory, "LARGE", 0.0)
    monkeypatch.setattr(memory, "available", lambda: 500.0)
    with pytest.raises(
        kg.KinegradError, match=r"Direct differentiation by 4 parameters takes about .* take the discrete"
    ):
        motion.system.directions(motion.system.parameters.expand("u"))


def test_a_step_of_the_continuous_adjoint_that_is_too_small_or_too_large(motion):
    with pytest.raises(
        kg.KinegradError, match=r"continuous adjoint of 2e\+13 steps takes about .*; make its step larger"
    ):
        kg.gradient(motion, method=kg.ContinuousAdjoint(step=1e-15))
    with pytest.raises(kg.KinegradError, match=r"is 0\.03 s and the run ends at 0\.02 s"):
        kg.gradient(motion, method=kg.ContinuousAdjoint(step=0.03))
    assert kg.gradient(motion, method=kg.ContinuousAdjoint(step=0.02)).matrix.shape == (1, 1)


def test_names_that_a_result_does_not_have(motion):
    gradient = kg.gradient(motion)
    with pytest.raises(kg.KinegradError, match="There is no objective 'turns' in it; did you mean 'turn'"):
        gradient["turns", "m"]
    with pytest.raises(kg.KinegradError, match="There is no parameter 'k' in it; there are m"):
        gradient["turn", "k"]
    with pytest.raises(KeyError):
        gradient.check()["turn", "k"]
    with pytest.raises(kg.KinegradError, match="no parameter 'M'"):
        kg.hessian(motion)["turn", "m", "M"]
    with pytest.raises(kg.KinegradError, match="no signal 'hinge"):
        gradient.states(["hinge.angle"])["hinge.angle.velocity", "m"]
    found = motion.signals("hinge.angle")
    assert "hinge.distance" not in found and found.get("hinge.distance") is None
    assert "elbow" not in motion.reactions()


def test_what_is_no_name_and_no_number(motion):
    with pytest.raises(kg.KinegradError, match="3 is no name of a parameter; the parameters are: m, J, u"):
        kg.gradient(motion, wrt=[3])
    with pytest.raises(kg.KinegradError, match="memory is much MB; give a finite number"):
        kg.gradient(motion, memory="much")
    with pytest.raises(kg.KinegradError, match="The direction is 'up'; 1 finite numbers are needed"):
        kg.hessian_product(motion, "up")


def test_masses_and_inertias_that_no_body_has(motion):
    """By name, as a model refuses them; a parameter that is behind no mass is not looked at."""
    system = motion.system
    with pytest.raises(kg.KinegradError, match=r"bodies\.arm\.mass is 'm' \(= -1\); give zero or more"):
        system.with_parameters({"m": -1.0})
    with pytest.raises(
        kg.KinegradError, match=r"bodies\.arm\.inertia has the principal moments -0\.1, .* none may be negative"
    ):
        system.with_parameters({"m": 20.0})
    with pytest.raises(kg.KinegradError, match="none may be negative"):
        system.with_parameters({"J": 0.01})
    assert system.with_parameters({"m": 20.0, "J": 1.0}).rho[0] == 20.0
    assert np.array_equal(system.with_parameters({"u": [-1, -2, -3, -4]}).rho[2:], [-1, -2, -3, -4])
    stepper = kg.Stepper(system, "index1", "newmark")
    with pytest.raises(kg.KinegradError, match=r"bodies\.arm\.mass is 'm' \(= -1\)"):
        stepper.set(m=-1.0)
    assert stepper.parameters["m"] == 2.0
    stepper.set(m=20, J=1)
    assert stepper.parameters["m"] == 20.0


@pytest.mark.parametrize("wrt", [["m", "m"], ["u", "u[1]"]])
def test_parameters_that_are_named_twice(motion, wrt):
    with pytest.raises(kg.KinegradError, match="is named twice"):
        kg.gradient(motion, wrt=wrt)


def test_a_step_that_is_no_number():
    with pytest.raises(kg.KinegradError, match="step of the continuous adjoint is 'a'"):
        kg.ContinuousAdjoint(step="a")
