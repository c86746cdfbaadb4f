"""Gradient.check: differences that find a wrong gradient, know their noise, and tell where they cannot be formed."""

from dataclasses import replace

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sensitivity import end_time
from kinegrad.sensitivity.differences import by_differences, relative_differences

ARM = """\
kinegrad: 1
title: Arm
parameters: {m: 2.0, L: 0.5, k: 40, u: [1, 2], edge: 0}
ground: {markers: {O: [0, 0, 0], H: [0.6, 0.3, 0]}}
bodies:
  arm: {mass: m, com: [L/2, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.H, arm.tip], stiffness: k, damping: 0.5, natural_length: 0.2}
  motor: {type: torque, acts_on: hinge.angle, value: "u[0]*sin(t) + u[1] + edge**1.5"}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
objectives: {travel: {integral: norm2(arm.tip.velocity)}, height: {final: arm.tip.y}}
simulation: {t_end: 0.1, step: 0.002}
"""
WRT = ["m", "L", "u"]


@pytest.fixture(scope="module")
def system():
    return kg.joint(kg.Model.from_yaml_text(ARM))


@pytest.fixture(scope="module")
def gradient(system):
    return kg.gradient(kg.simulate(system), wrt=WRT)


def test_a_right_gradient_is_good(gradient):
    fractions = []
    found = gradient.check(progress=fractions.append)
    assert found.good and found.wrong == () and found.missing == ()
    table = found.as_dict()
    assert list(table) == ["travel", "height"] and list(table["travel"]) == WRT and len(table["travel"]["u"]) == 2
    assert found.relative.max() < 1e-8 and found["height", "L"] == table["height"]["L"]
    np.testing.assert_allclose(found.differences, gradient.matrix, rtol=1e-7)
    assert len(fractions) == 4 * 6 and fractions[-1] == 1.0 and fractions == sorted(fractions)
    assert repr(found).startswith("<GradientCheck: good") and "by u[1]" in str(found)


def test_a_wrong_gradient_is_found(gradient):
    """One entry, off by a part in ten thousand."""
    matrix = gradient.matrix.copy()
    matrix[1, 1] *= 1.0001
    found = replace(gradient, matrix=matrix).check()
    assert not found.good and found.wrong == (("height", "L"),)
    assert found["height", "L"] == pytest.approx(1e-4, rel=1e-3) and found["height", "m"] < 1e-8
    assert "NOT good" in repr(found) and "<td>1.0e-04</td>" in found._repr_html_()


@pytest.mark.parametrize("scheme", [("matrix-r", "rk4"), ("index1", "rk54")])
def test_other_schemes_and_the_adjoint(system, scheme):
    motion = kg.simulate(system, *scheme)
    assert kg.gradient(motion, wrt=["m", "k"], method="discrete-adjoint").check().good


def test_no_difference_where_the_model_does_not_run(system):
    """Below zero the torque is not defined: one side of every difference fails."""
    found = kg.gradient(kg.simulate(system), wrt=["edge", "m"]).check()
    assert not found.good and found.missing == ("edge",) and found.wrong == ()
    assert np.isnan(found["travel", "edge"]) and found["travel", "m"] < 1e-8
    assert "none" in str(found) and "no differences by edge" in repr(found)


def test_slots_that_were_given_are_kept(system):
    """A run whose numbers are others than those of the parameters is repeated with these."""
    s = system.s
    (place,) = (k for k, name in enumerate(system.slots.names) if name == "forces.coil.stiffness")
    s[place] = 400.0
    stiff = kg.gradient(kg.simulate(system, s=s), wrt=["m", "L"])
    plain = kg.gradient(kg.simulate(system), wrt=["m", "L"])
    assert np.abs(stiff.matrix / plain.matrix - 1.0).min() > 0.1
    assert stiff.check().good and not replace(plain, matrix=stiff.matrix).check().good


def test_a_start_on_another_branch_is_kept():
    """The loop closes in two ways; the run was started in the one that the model does not describe."""
    text = """\
kinegrad: 1
parameters: {p: 0.4, r: 0.45, m: 1}
ground: {markers: {A: [0, 0, 0], D: [0.6, 0, 0]}}
bodies:
  a: {pose: {origin: [0, 0, 0], x_axis: [0.5, 0.5, 0]}, mass: m, com: [p/2, 0, 0], inertia: [0, 0.1, 0.1],
      markers: {A: [0, 0, 0], B: [p, 0, 0]}}
  b: {pose: {origin: [0.6, 0, 0], x_axis: [-1, 0.1, 0]}, mass: 1, com: [r/2, 0, 0], inertia: [0, 0.1, 0.1],
      markers: {D: [0, 0, 0], B: [r, 0, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  JD: {type: revolute, between: [ground.D, b.D], axis: [0, 0, 1]}
constraints: {rod: {type: distance, between: [a.B, b.B], distance: 0.3}}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {JA.angle: {position: 0.8, velocity: 0}}
objectives: {end: {final: b.B.y}}
simulation: {t_end: 0.05}
"""
    system = kg.joint(kg.Model.from_yaml_text(text))
    here = kg.simulate(system)
    there = kg.simulate(system, guess=np.array([0.8, 1.7]))
    assert here.q[0] == pytest.approx([0.8, 3.11], abs=0.02) and there.q[0] == pytest.approx([0.8, 1.72], abs=0.02)
    for motion in (here, there):
        assert kg.gradient(motion, wrt=["p", "m"]).check().good


def test_an_equilibrium(system):
    found = kg.equilibrium(system).gradient(wrt=["m", "L", "k"], method="adjoint")
    check = found.check()
    assert check.good and check.relative.max() < 1e-7 and check["height", "k"] < 1e-7
    matrix = found.matrix.copy()
    matrix[1, 2] *= 1.0001
    assert replace(found, matrix=matrix).check().wrong == (("height", "k"),)


def test_nothing_to_check(system):
    found = kg.gradient(kg.simulate(system, t_end=0.01), wrt=[], method="discrete-adjoint", every_slot=True)
    with pytest.raises(kg.KinegradError, match="nothing to check"):
        found.check()


def test_relative_differences_measure_small_entries_by_their_row():
    matrix = np.array([[1.0, 1e-9, 0.0], [0.0, 0.0, 0.0]])
    reference = matrix + np.array([[1e-6, 1e-9, 0.0], [1e-9, 0.0, np.nan]])
    found = relative_differences(matrix, reference)
    assert found[0] == pytest.approx([1e-6, 1e-6, 0.0]) and found[1, :2] == pytest.approx([1e-9, 0.0])
    assert np.isnan(found[1, 2])


def test_what_noise_may_make_is_never_told(rng):
    matrix, reference = rng.normal(size=(2, 40, 50))
    noise = np.abs(matrix - reference)
    assert relative_differences(matrix, reference, noise).max() <= 1e-5  # a quotient of the two may be rounded up
    assert relative_differences(matrix, reference, 0.999 * noise).min() > 1e-5


def test_differences_are_those_of_a_closed_form():
    """Free fall: the end of a floating body is z0 + v t + g t²/2, exact in the trapezoidal rule."""
    model = kg.Model(
        parameters={"g": -9.81, "v": 2.0},
        bodies={"ball": kg.Body(mass=1.0, inertia=(1.0, 1.0, 1.0), markers={"c": (0, 0, 0)})},
        joints={"free": kg.Floating(between=("ground.o", "ball.c"))},
        ground={"markers": {"o": (0, 0, 0)}},
        forces={"gravity": kg.Gravity(acceleration=(0, 0, "g"))},
        degrees_of_freedom={
            "free": {
                "position": [0, 0, 0],
                "velocity": [0, 0, "v"],
                "rotation": [0, 0, 0],
                "angular_velocity": [0, 0, 0],
            }
        },
        objectives={"height": {"final": "ball.c.z"}},
    )
    motion = kg.simulate(kg.joint(model), t_end=0.4, step=0.01)
    found = by_differences(motion, ["g", "v"], kg.gradient(motion, wrt=["g"]).objectives_with)
    assert found.matrix[0] == pytest.approx([0.08, 0.4], rel=1e-9)
    assert (np.abs(found.matrix - [[0.08, 0.4]]) < found.noise).all() and found.noise.max() < 1e-9


def test_a_gradient_by_the_end_is_good_up_to_the_error_of_the_steps(system, monkeypatch):
    """The last step is not a whole one, and differences are those of another last step.  A wrong slope is found."""
    model = system.model.copy()
    model.parameters["T"] = 0.0913
    model.objectives = {"lift": {"integral": "(arm.tip.y + 0.35)**2"}, "speed": {"final": "arm.tip.y.velocity"}}
    model.simulation = {"t_end": "T", "step": 0.005}
    motion = kg.simulate(kg.joint(model.check()))
    gradient = kg.gradient(motion, wrt=["k", "T"])
    raw = by_differences(motion, ("k", "T"), gradient.objectives_with)
    assert (relative_differences(gradient.matrix, *raw)[:, 1] > 1e-5).all()
    found = gradient.check()
    assert found.good and (found.noise[:, 0] == raw.noise[:, 0]).all() and found["speed", "k"] < 1e-8
    assert kg.check_gradient(gradient, methods=True, sets=True).good
    monkeypatch.setattr(end_time, "by_end", lambda motion, right=end_time.by_end: 1.01 * right(motion))
    assert kg.gradient(motion, wrt=["k", "T"]).check().wrong == (("lift", "T"), ("speed", "T"))


def test_a_slope_of_zero_with_error_control_is_good_and_a_wrong_one_is_found():
    """Steps follow the parameters smoothly, so that differences have an error that no scatter shows."""
    model = kg.Model.from_yaml_text(ARM)
    model.parameters["h"] = 0.0
    model.objectives = {"miss": {"integral": "(arm.tip.y - h)**2"}}
    system = kg.joint(model.check())

    def at(h):
        motion = kg.simulate(
            system.with_parameters({"h": h}), "index1", kg.RungeKutta54(tolerance=1e-6), t_end=0.5, step=0.01
        )
        return kg.gradient(motion, wrt=["k", "h"], tighten=False)

    zero, one = at(0.0).matrix[0, 0], at(1.0).matrix[0, 0]
    gradient, h = at(0.0), 0.0
    for _ in range(3):  # to where the slope by k is zero: it is linear in h, but for steps that follow the objective
        h += gradient.matrix[0, 0] / (zero - one)
        gradient = at(h)
    raw = by_differences(gradient.motion, ("k", "h"), gradient.objectives_with)
    assert abs(gradient.matrix[0, 0]) < 1e-12 and (relative_differences(gradient.matrix, *raw)[0, 0] > 1e-5)
    assert gradient.check().good
    matrix = gradient.matrix.copy()
    matrix[0, 0] += 1e-3 * np.abs(matrix).max()
    assert replace(gradient, matrix=matrix).check().wrong == (("miss", "k"),)
