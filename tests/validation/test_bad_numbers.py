"""Numbers beyond the range of doubles, and inputs that take long to refuse: one sentence, no warning, no fault."""

import contextlib
import warnings

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.errors import KinegradError, ModelError

BODY = """\
kinegrad: 1
parameters: {m: 1, J: 0.1}
design: [m, J]
ground: {markers: {O: [ORIGIN, 0, 0], A: [2, 0, 0], z: {vector: [0, 0, 1]}}}
bodies:
  b: {mass: MASS, com: [COM, 0, 0], inertia: [J, J, J], markers: {O: [0, 0, 0], P: [POINT, 0, 0], v: {vector: [0, 0, 1]}}}
joints: {j: JOINT}
MORE
objectives: {o: {final: norm2(b.P.position)}}
simulation: {t_end: 0.02, step: 1.0e-3}
"""
PLAIN = {"ORIGIN": "0", "MASS": "m", "COM": "0.1", "POINT": "1"}
HINGE = "{type: revolute, between: [ground.O, b.O], axis: [0, 0, 1]}"
TURNS = "degrees_of_freedom: {j.angle: {position: 0.1}}"


@pytest.fixture(autouse=True)
def no_warning():
    """What is warned of names places inside kinegrad."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        yield


def system(joint=HINGE, more=TURNS, **values):
    text = BODY.replace("JOINT", joint).replace("MORE", more)
    for name, value in (PLAIN | values).items():
        text = text.replace(name, str(value))
    return kg.joint(kg.Model.from_yaml_text(text))


FLOATING = "{type: floating, between: [ground.O, b.O]}"
BALL = "{type: spherical, between: [ground.O, b.O]}"
PLANAR = "{type: planar, between: [ground.O, b.O], axis: [0, 1, 0], x_axis: [1, 0, 0]}"
FALLS = """\
forces: {g: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {j: {position: [0, 0, 0], rotation: [0, 0, 0]}}
"""
GUIDED = """\
constraints: {a: {type: angle, between: [ground.z, b.v], value: 0.3}}
drivers: {d: {measure: b.P.y, value: 0.1*t}}
degrees_of_freedom: {b.P.z: {position: 0.2}}
"""
TIED = """\
constraints: {c: {type: distance, between: [ground.A, b.P], distance: 1}}
degrees_of_freedom: {j.y: {position: 0}, j.angle: {position: 0}}
"""


@pytest.mark.parametrize(
    ("act", "joint", "more", "values", "words"),
    [
        (kg.equilibrium, FLOATING, FALLS, {"COM": "1.0e+149"}, r"equilibrium"),
        (
            kg.simulate,
            BALL,
            GUIDED,
            {"ORIGIN": "1.7976931348623157e+308"},
            r"The derivatives of '.*' at the start are infinite",
        ),
        (kg.simulate, PLANAR, TIED, {"POINT": "1.0e+150"}, r"'j.angle' moves without inertia"),
    ],
    ids=["masses", "positions", "squares"],
)
def test_numbers_beyond_all_others(act, joint, more, values, words):
    with pytest.raises(KinegradError, match=words):
        act(system(joint, more, **values))


def test_a_force_without_a_value_at_rest():
    more = f"forces: {{f: {{type: torque, acts_on: j.angle, value: 1/t}}}}\n{TURNS}"
    found = system(more=more)
    with pytest.raises(KinegradError, match=r"a number is infinite or not a number \(force 'f'\)"):
        kg.equilibrium(found)
    with pytest.raises(KinegradError, match="check force 'f' at t = 0"):
        kg.simulate(found)


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_derivatives_that_are_no_numbers(method):
    """sqrt has no derivative where it is zero."""
    model = system().model.copy()
    model.objectives = {"o": {"final": "sqrt(b.O.x*J)"}, "fine": {"final": "b.P.x*J"}}
    motion = kg.simulate(kg.joint(model))
    with pytest.raises(KinegradError, match="The derivative of the objective 'o' by 'J' is infinite or not a number"):
        kg.gradient(motion, wrt=["J"], method=method)
    del model.objectives["o"]
    found = kg.gradient(kg.simulate(kg.joint(model)), wrt=["J"], method=method)
    assert found["fine", "J"] == pytest.approx(np.cos(0.1), rel=1e-12)


def test_more_iterations_than_there_are_numbers():
    with pytest.raises(ModelError, match=r"max_iterations is 1000000000000000000000000000000; give at most 1000000\.$"):
        kg.ALI3P(max_iterations=10**30)
    assert kg.ALI3P(max_iterations=10**6).max_iterations == 10**6


@pytest.mark.parametrize("output_step", [1e300, 1.0, 0.0207])
def test_an_output_step_beyond_the_end_keeps_the_start_and_the_end(output_step):
    motion = kg.simulate(system(), output_step=output_step)
    assert motion.t.tolist() == [0.0, 0.02] and len(motion.hs) == 20
    np.testing.assert_array_equal(motion.q[-1], kg.simulate(system()).q[-1])


@pytest.mark.parametrize("output_step", [0.0, -1.0, float("nan"), float("inf"), 1e-300])
@pytest.mark.parametrize("integrator", ["rk4", "rk54"])
def test_output_steps_that_make_no_sense(output_step, integrator):
    with pytest.raises(KinegradError, match="output_step"):
        kg.simulate(system(), "recursive", integrator, output_step=output_step)


def spline(times):
    return system(
        more=f"forces: {{k: {{type: spline, acts_on: j.angle, times: {times}, values: [0, 1, m, 0]}}}}\n{TURNS}"
    )


def test_times_of_a_spline_that_lie_too_near():
    with pytest.raises(ModelError, match=r"forces\.k\.times\[1\] is 1e-300, too soon after 0"):
        spline([0, 1e-300, 2, 3])
    named = r"^forces\.k\.cubics\[\d+\] cannot be computed .* from .*forces\.k\.values\[1\] = 1"
    with pytest.raises(ModelError, match=named):
        kg.simulate(spline([0, 1e-200, 2e-200, 3e-200]))
    assert kg.simulate(spline([0, 1e-9, 2, 3])).t[-1] == 0.02


@pytest.mark.parametrize("size", ["1.0e+308", "1.0e+200", "1.0e-200", "1.0e-308", "5.0e-324"])
@pytest.mark.parametrize("place", PLAIN)
def test_any_size_is_simulated_or_refused(place, size):
    """Nothing but kinegrad's own errors, and no number that is none comes out."""
    try:
        found = system(more="forces: {g: {type: gravity, acceleration: [0, -9.81, 0]}}\n" + TURNS, **{place: size})
        motion = kg.simulate(found)
        assert np.isfinite(motion.q).all()
        kg.gradient(motion)
        kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    except KinegradError as error:
        assert len(str(error)) < 2000 and "\n" not in error.problems[0].sentence
    for act in (kg.equilibrium, kg.drive):
        with contextlib.suppress(KinegradError):
            act(found, **({"max_iterations": 30} if act is kg.equilibrium else {}))


@pytest.mark.parametrize("size", ["1.0e+200", "1.0e-200", "1.7e+308", "5.0e-324"])
def test_directions_whose_squares_are_no_numbers(size):
    """Made a unit vector, such a one would be zero or infinite."""
    with pytest.raises(ModelError, match=r"^line 7: joints\.j\.axis is .* whose length cannot be computed; scale it"):
        system(HINGE.replace("[0, 0, 1]", f"[0, 0, {size}]"))
    fine = system(HINGE.replace("[0, 0, 1]", "[0, 0, 1.0e+100]"))
    np.testing.assert_allclose(kg.simulate(fine).q, kg.simulate(system()).q, rtol=1e-14)


def test_everything_driven_and_nothing_with_mass():
    model = system(more="drivers: {d: {measure: j.angle, value: sin(t)}}").model
    model.bodies["b"] = model.bodies["b"].with_(mass="5.0e-324", inertia=(0, 0, 0), com=(0, 0, 0))
    with contextlib.suppress(KinegradError):
        kg.simulate(kg.joint(model))


def test_errors_of_functions_are_passed_on():
    def fails(angle):
        raise np.linalg.LinAlgError("mine")

    model = system().model
    model.forces["f"] = kg.Torque(acts_on="j.angle", value=kg.law(fails, ["j.angle"]))
    with pytest.raises(np.linalg.LinAlgError, match="mine"):
        kg.simulate(kg.joint(model))
