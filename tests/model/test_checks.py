"""Each kind of wrong model: the sentence names the element, the value found and the remedy, and the line is right."""

import warnings

import pytest
from bad_models import SOUND, assert_one_problem, problems_of, spoil

import kinegrad.model.joints as joints
from kinegrad.errors import ModelError, ModelWarning
from kinegrad.model.bodies import Body
from kinegrad.model.model import Model

CUP = "  cup: {type: spherical, between: [arm.B, ball.C]}"
CUP_START = "  cup: {rotation: [0, 0, 0.1]}\n"
SQUARE = "  square: {type: dot, between: [ground.up, arm.side]}"


def test_the_sound_model_has_no_problem():
    assert problems_of(SOUND) == ()
    assert Model.from_yaml_text(SOUND).problems() == []


REFERENCES = {
    "unknown body": (
        ("[ground.O, arm.A]", "[ground.O, arn.A] #!\n  , axis: [0, 0, 1]}\n  #"),
        "joints.hinge.between[1]",
        "'arn'",
        "did you mean 'arm'",
    ),
    "unknown marker": (
        ("[arm.B, ball.C]}", "[arm.X, ball.C]} #!"),
        "joints.cup.between[0]",
        "'X'",
        "its markers: A, B",
    ),
    "unknown measure": (("reach**2}", "reech**2} #!"), "objectives.effort.integral", "'reech'", "did you mean 'reach'"),
    "unknown joint": (
        ("acts_on: hinge.angle, value: -0.1*hinge.angle.velocity}", "acts_on: hing.angle, value: 1} #!"),
        "forces.brake.acts_on",
        "'hing'",
        "did you mean 'hinge'",
    ),
    "unknown parameter": (("stiffness: 10,", "stiffness: k, #!\n "), "forces.spring.stiffness", "'k'", "define it"),
    "unknown parameter in a parameter": (("m*L**2/12", "M*L**2/12 #!"), "'J'", "'M'"),
    "body in a number": (
        ("stiffness: 10,", "stiffness: arm.B.x, #!\n "),
        "forces.spring.stiffness",
        "'arm.B.x'",
        "only parameters may be used here",
    ),
    "time in a number": (("mass: 1\n", "mass: t #!\n"), "bodies.ball.mass", "'t'", "only parameters"),
    "acceleration in a force": (
        ("-0.1*hinge.angle.velocity}", "hinge.angle.acceleration} #!"),
        "forces.brake.value",
        "'hinge.angle.acceleration'",
        "a force uses",
    ),
    "velocity in a measure": (
        ("norm(arm.B.position)", "norm(arm.B.velocity) #!"),
        "measures.reach",
        "'arm.B.velocity'",
        "a measure uses",
    ),
    "time in a measure": (("norm(arm.B.position)", "arm.B.x + t #!"), "measures.reach", "'t'", "a measure uses"),
    "vector as a number": (
        ("norm(arm.B.position)", "2*arm.B.position #!"),
        "measures.reach",
        "'2*arm.B.position'",
        "vector",
    ),
    "number and vector": (
        ("reach**2}", "norm(arm.B.position + 1)} #!"),
        "objectives.effort.integral",
        "adds a number and a vector",
    ),
    "part of a parameter": (("stiffness: 10,", "stiffness: m.x, #!\n "), "forces.spring.stiffness", "'m.x'", "write m"),
    "list as a number": (("stiffness: 10,", "stiffness: u, #!\n "), "forces.spring.stiffness", "'u'", "u[0]"),
    "index beyond the list": (
        ("stiffness: 10,", 'stiffness: "u[4]", #!\n '),
        "forces.spring.stiffness",
        "u[4]",
        "4 entries",
    ),
    "index of a number": (
        ("stiffness: 10,", 'stiffness: "m[0]", #!\n '),
        "forces.spring.stiffness",
        "m[0]",
        "single number",
    ),
    "index of a measure": (("reach**2}", '"reach[1]"} #!'), "objectives.effort.integral", "reach[1]", "no entries"),
    "coordinate a joint does not have": (
        ("  hinge.angle: {position: 0.1}", "  hinge.distance: {position: 0.1} #!"),
        "degrees_of_freedom.hinge.distance",
        "'hinge.distance'",
        "hinge.angle",
    ),
    "coordinate of a spherical joint": (
        ("reach**2}", "cup.angle} #!"),
        "objectives.effort.integral",
        "'cup.angle'",
        "spherical joint has no coordinate",
    ),
    "body without marker": (("reach**2}", "arm.x} #!"), "objectives.effort.integral", "'x'", "its markers"),
    "marker without quantity": (
        ("reach**2}", "norm(arm.B)} #!"),
        "objectives.effort.integral",
        "'arm.B'",
        "arm.B.position",
    ),
    "rate of a rate": (
        ("reach**2}", "hinge.angle.velocity.velocity} #!"),
        "objectives.effort.integral",
        "only .velocity or .acceleration",
    ),
    "vector as a measure": (
        ("acts_on: hinge.angle, value: -0.1*hinge.angle.velocity}", "acts_on: arm.B.position, value: 1} #!"),
        "forces.brake.acts_on",
        "a vector",
        "body.marker.x",
    ),
    "parameter as a measure": (
        ("acts_on: hinge.angle, value: -0.1*hinge.angle.velocity}", "acts_on: m, value: 1} #!"),
        "forces.brake.acts_on",
        "a parameter",
        "joint.angle",
    ),
    "vector where a point is needed": (
        ("[arm.B, ball.C]}", "[arm.side, ball.C]} #!"),
        "joints.cup.between[0]",
        "'arm.side'",
        "a vector; name a point",
    ),
    "point where a vector is needed": (
        ("[ground.up, arm.side]}", "[ground.up, arm.B]} #!"),
        "constraints.square.between[1]",
        "'arm.B'",
        "a point; name a vector",
    ),
    "frame where a vector is needed": (
        ("[ground.up, arm.side]}", "[ground.up, arm.tool]} #!"),
        "constraints.square.between[1]",
        "'arm.tool'",
        "a frame; name a vector",
    ),
    "joint of a body with itself": (
        ("[arm.B, ball.C]}", "[arm.B, arm.A]} #!"),
        "joints.cup.between",
        "'arm' twice",
        "two bodies",
    ),
    "constraint of a body with itself": (
        ("[ground.up, arm.side]}", "[arm.side, arm.side]} #!"),
        "constraints.square.between",
        "'arm' twice",
        "two bodies",
    ),
    "spline by an unknown list": (("values: u}", "values: v} #!"), "forces.motor.values", "'v'", "list"),
    "spline by a number": (("values: u}", "values: m} #!"), "forces.motor.values", "'m'", "list of numbers"),
}


@pytest.mark.parametrize("case", REFERENCES)
def test_references(case):
    change, *words = REFERENCES[case]
    assert_one_problem(spoil(change), *words)


NAMES = {
    "joint with the name of a body": (
        ("  hinge: {type", "  ball: {type: fixed, between: [ground.O, ball.C]} #!\n  hinge: {type"),
        "joints.ball",
        "the name of a body",
        "rename",
    ),
    "force with the name of a parameter": (
        ("  weight:", "  m: {type: gravity, acceleration: [0, 0, 0]} #!\n  weight:"),
        "forces.m",
        "a parameter",
        "rename",
    ),
    "objective with the name of a measure": (
        ("  effort:", "  reach: {final: t} #!\n  effort:"),
        "objectives.reach",
        "a measure",
        "rename",
    ),
    "reserved name": (
        ("  weight:", "  lambda: {type: gravity, acceleration: [0, 0, 0]} #!\n  weight:"),
        "forces.lambda",
        "reserved",
        "choose another",
    ),
    "body called ground": (
        ("  ball:\n", "  ground: {mass: 1} #!\n  ball:\n"),
        "bodies.ground",
        "reserved",
        "choose another",
    ),
    "parameter called t": (("  L: 0.5", "  t: 1 #!\n  L: 0.5"), "parameters.t", "reserved", "choose another"),
    "no identifier": (
        ("  weight:", "  free fall: {type: gravity, acceleration: [0, 0, 0]} #!\n  weight:"),
        "forces.free fall",
        "not a name",
        "letters, digits",
    ),
    "marker that is no identifier": (
        ("      A: [0, 0, 0]", "      A: [0, 0, 0]\n      A-1: [0, 0, 0] #!"),
        "bodies.arm.markers.A-1",
        "not a name",
    ),
    "marker with a word of Python": (
        ("      A: [0, 0, 0]", "      A: [0, 0, 0]\n      in: [0, 0, 0] #!"),
        "bodies.arm.markers.in",
        "reserved",
    ),
    "variant that is no identifier": (
        ("  heavy:", "  very heavy: {m: 3} #!\n  heavy:"),
        "variants.very heavy",
        "not a name",
    ),
}


@pytest.mark.parametrize("case", NAMES)
def test_names(case):
    change, *words = NAMES[case]
    assert_one_problem(spoil(change), *words)


PARAMETERS = {
    "cycle": (("  L: 0.5", "  L: L2 #!\n  L2: 2*L"), "L -> L2 -> L", "give one of them a number"),
    "itself": (("  L: 0.5", "  L: L + 1 #!"), "'L'", "depends on itself"),
    "no finite value": (("  L: 0.5", "  L: 0.5\n  w: sqrt(-1) #!"), "'w'", "sqrt(-1)", "finite"),
    "derived in design": (("design: [m, L]", "design: [m, J] #!"), "design[1]", "'J'", "derived"),
    "unknown in design": (("design: [m, L]", "design: [m, LL] #!"), "design[1]", "'LL'", "did you mean 'L'"),
    "twice in design": (("design: [m, L]", "design: [m, m] #!"), "design[1]", "'m'", "once"),
    "derived in a variant": (("{m: 20}", "{J: 20} #!"), "variants.heavy.J", "derived", "set these instead"),
    "unknown in a variant": (("{m: 20}", "{mm: 20} #!"), "variants.heavy.mm", "'mm'", "did you mean 'm'"),
    "list of another length": (("{m: 20}", "{u: [1, 2]} #!"), "variants.heavy.u", "list of 4", "found 2"),
    "number for a list": (("{m: 20}", "{u: 1} #!"), "variants.heavy.u", "list of 4"),
    "parameter in a variant": (("{m: 20}", "{m: 2*L} #!"), "variants.heavy.m", "'2*L'", "only constants"),
    "empty list": (("  L: 0.5", "  L: 0.5\n  w: [] #!"), "'w'", "empty"),
    "measures in a circle": (
        ("  reach: norm(arm.B.position)", "  reach: 2*far #!\n  far: reach + 1"),
        "reach -> far -> reach",
        "markers",
    ),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_parameters_design_variants(case):
    change, *words = PARAMETERS[case]
    assert_one_problem(spoil(change), *words)


VALUES = {
    "negative mass by parameters": (
        ("mass: 1\n", "mass: L - m #!\n"),
        "bodies.ball.mass",
        "'L - m' (= -1.5)",
        "zero or more",
    ),
    "mass that a variant spoils": (
        ("mass: 1\n", "mass: 10 - m #!\n"),
        "in variant 'heavy'",
        "bodies.ball.mass",
        "(= -10)",
    ),
    "mass without a value": (
        ("mass: 1\n", "mass: 1/(m - 2) #!\n"),
        "bodies.ball.mass",
        "'1/(m - 2)'",
        "no finite value",
    ),
    "point mass": (
        ("{mass: 0.1, at", "{mass: -0.1, at: [0, 0, 1]} #!\n      other: {mass: 1, at"),
        "bodies.ball.point_masses.tip.mass",
        "-0.1",
        "larger than zero",
    ),
    "negative inertia": (
        ("[0.1, 0.1, 0.1]", "[0.1, -0.1, 0.1] #!"),
        "bodies.ball.inertia",
        "-0.1, 0.1, 0.1",
        "negative",
    ),
    "indefinite inertia": (("[0.1, 0.1, 0.1]", "[1, 1, 1, 2, 0, 0] #!"), "bodies.ball.inertia", "-1, 1, 3", "negative"),
    "zero vector": (
        ("    up: {vector: [0, 0, 1]}", "    up: {vector: [0, 0, 0]} #!"),
        "ground.markers.up.vector",
        "[0, 0, 0]",
        "not zero",
    ),
    "zero axis": (
        ("arm.A], axis: [0, 0, 1]}", "arm.A], axis: [m - 2, 0, 0]} #!"),
        "joints.hinge.axis",
        "[0, 0, 0]",
        "not zero",
    ),
    "frame axes along each other": (
        ("x_axis: [1, 0, 0], z_axis: [0, 0, 1]}", "x_axis: [1, 0, 0], z_axis: [-2, 0, 0]} #!"),
        "bodies.arm.markers.tool.x_axis",
        "[1, 0, 0]",
        "z_axis",
    ),
    "pose along z": (
        ("x_axis: [1, 0, 0]}\n", "x_axis: [0, 0, 3]} #!\n"),
        "bodies.arm.pose.x_axis",
        "[0, 0, 3]",
        "z_axis",
    ),
    "dot beyond one": (
        ("[ground.up, arm.side]}", "[ground.up, arm.side], value: 1.5} #!"),
        "constraints.square.value",
        "1.5",
        "-1 to 1",
    ),
    "angle beyond pi": (
        (SQUARE, "  square: {type: angle, between: [ground.up, arm.side], value: 2*pi} #!"),
        "constraints.square.value",
        "'2*pi' (= 6.28319)",
        "3.14159",
    ),
    "distance of zero": (
        (SQUARE, "  square: {type: distance, between: [ground.O, ball.C], distance: 0} #!"),
        "constraints.square.distance",
        "is 0",
        "larger than zero",
    ),
    "negative natural length": (
        ("natural_length: 1}", "natural_length: -1} #!"),
        "forces.spring.natural_length",
        "-1",
        "zero or more",
    ),
    "empty combination": ((SQUARE, "  square: {type: linear, terms: {}} #!"), "constraints.square.terms", "empty"),
    "step of zero": (("step: 1.0e-3", "step: 0 #!"), "simulation.step", "is 0", "larger than zero"),
    "negative t_end": (("t_end: 1", "t_end: -m #!"), "simulation.t_end", "(= -2)", "larger than zero"),
    "penalty of zero": (
        ("step: 1.0e-3", "formulation: {type: ali3p, penalty: 0} #!"),
        "simulation.formulation.penalty",
        "is 0",
        "larger than zero",
    ),
    "no iterations": (
        ("step: 1.0e-3", "formulation: {type: ali3p, max_iterations: 0} #!"),
        "simulation.formulation.max_iterations",
        "is 0",
        "larger than zero",
    ),
    "negative frequency": (
        ("step: 1.0e-3", "formulation: {type: index1, frequency: -1} #!"),
        "simulation.formulation.frequency",
        "-1",
        "zero or more",
    ),
    "quality": (
        ("step: 1.0e-3", "formulation: {type: matrix-r, reselect_below: 1.5} #!"),
        "simulation.formulation.reselect_below",
        "1.5",
        "0 to 1",
    ),
    "gamma": (
        ("step: 1.0e-3", "integrator: {type: newmark, gamma: 0.4} #!"),
        "simulation.integrator.gamma",
        "0.4",
        "0.5 to 1",
    ),
    "alpha of hht": (
        ("step: 1.0e-3", "integrator: {type: hht, alpha: 0.1} #!"),
        "simulation.integrator.alpha",
        "0.1",
        "-0.333333 to 0",
    ),
    "rho_inf": (
        ("step: 1.0e-3", "integrator: {type: generalized-alpha, rho_inf: 2} #!"),
        "simulation.integrator.rho_inf",
        "is 2",
        "0 to 1",
    ),
    "tolerance of rk54": (
        ("step: 1.0e-3", "integrator: {type: rk54, tolerance: 0} #!"),
        "simulation.integrator.tolerance",
        "is 0",
        "larger than zero",
    ),
    "times that do not increase": (
        ("times: [0, 1, 2, 3]", "times: [0, 1, 1, 3] #!\n   "),
        "forces.motor.times[2]",
        "is 1 after 1",
        "increase",
    ),
    "other number of values": (
        ("values: u}", "values: [1, 2, 3, 4, 5]} #!"),
        "forces.motor.values",
        "has 5 entries and times has 4",
    ),
}


@pytest.mark.parametrize("case", VALUES)
def test_values(case):
    change, *words = VALUES[case]
    text = spoil(change)
    assert_one_problem(text, *words)


def test_short_spline():
    text = spoil(("times: [0, 1, 2, 3], values: u}", "times: [0, 1, 2], values: [1, 2, 3]} #!"))
    assert_one_problem(text, "forces.motor.times", "3 entries", "at least 4")


JOINTS = {
    "cardan": (
        "{type: cardan, between: [arm.B, ball.C], axes: [[1, 0, 0], [1, 1, 0]]}",
        "joints.cup.axes",
        "45 degrees",
        "perpendicular",
    ),
    "zero cardan axis": (
        "{type: cardan, between: [arm.B, ball.C], axes: [[1, 0, 0], [0, 0, 0]]}",
        "joints.cup.axes[1]",
        "[0, 0, 0]",
        "not zero",
    ),
    "planar": (
        "{type: planar, between: [arm.B, ball.C], axis: [0, 0, 1], x_axis: [1, 0, 1]}",
        "joints.cup.x_axis",
        "45 degrees",
        "perpendicular",
    ),
    "planar pair": (
        "{type: planar, between: [arm.B, ball.C], axis: [[0, 0, 1], [1, 0, 0]], x_axis: [[1, 0, 0], [1, 0, 0]]}",
        "joints.cup.x_axis[1]",
        "0 degrees",
        "perpendicular",
    ),
    "zero along the axis": (
        "{type: revolute, between: [arm.B, ball.C], axis: [[0, 0, 1], [1, 0, 0]], zero: [[1, 0, 0], [2, 0, 0]]}",
        "joints.cup.zero[1]",
        "[2, 0, 0]",
        "across",
    ),
    "zero without a pair": (
        "{type: revolute, between: [arm.B, ball.C], axis: [0, 0, 1], zero: [[1, 0, 0], [1, 0, 0]]}",
        "joints.cup",
        "zero",
        "pair",
    ),
    "prismatic pair without zero": (
        "{type: prismatic, between: [arm.B, ball.C], axis: [[0, 0, 1], [1, 0, 0]]}",
        "joints.cup",
        "lacks zero",
        "add zero",
    ),
    "screw pair without zero": (
        "{type: screw, pitch: 0.1, between: [arm.B, ball.C], axis: [[0, 0, 1], [1, 0, 0]]}",
        "joints.cup",
        "lacks zero",
        "add zero",
    ),
    "link of no length": (
        "{type: link, length: 0, between: [arm.B, ball.C]}",
        "joints.cup.length",
        "is 0",
        "larger than zero",
    ),
}


@pytest.mark.parametrize("case", JOINTS)
def test_joints(case):
    joint, *words = JOINTS[case]
    assert_one_problem(spoil((CUP, f"  cup: {joint} #!"), (CUP_START, "")), *words)


def test_angle_of_an_axis_pair_needs_zero():
    pair = "axis: [[0, 0, 1], [0, 1, 0]]"
    text = spoil(
        (CUP, f"  cup: {{type: revolute, between: [arm.B, ball.C], {pair}}}"),
        (CUP_START, "  cup.angle: {position: 0} #!\n"),
    )
    assert_one_problem(text, "degrees_of_freedom.cup.angle", "'cup'", "add zero")
    sound = text.replace(pair, pair + ", zero: [[1, 0, 0], [1, 0, 0]]")
    assert problems_of(sound) == ()


@pytest.mark.parametrize(
    ("joint", "start", "words"),
    [
        (CUP, "cup: {position: 1}", ("spherical joint 'cup'", "rotation")),
        (CUP, "cup: {position: [0, 0, 0], rotation: [0, 0, 1]}", ("spherical joint 'cup'", "rotation")),
        (CUP.replace("spherical", "floating"), "cup: {position: 1}", ("floating joint 'cup'", "position")),
        (CUP, "cup: {rotation: [0, 0, 1], euler_parameters: [1, 0, 0, 0]}", ("both rotation and euler_parameters",)),
        (CUP, "ball.rotation.x: {position: 0}", ("which is for objectives and results; name a joint coordinate",)),
        (
            CUP,
            "hinge: {rotation: [0, 0, 1]}",
            ("start of a spherical joint", "revolute joint", "position and velocity"),
        ),
        (CUP, "cup: {euler_parameters: [0, 0, 0, 0]}", ("euler_parameters", "not zero")),
    ],
)
def test_starts_of_joints(joint, start, words):
    assert_one_problem(spoil((CUP, joint), (CUP_START, f"  {start} #!\n")), "degrees_of_freedom", *words)


def test_a_measure_is_driven_once():
    drivers = "drivers:\n  a: {measure: reach, value: t}\n  b: {measure: reach, value: 2*t} #!\nobjectives:"
    assert_one_problem(spoil(("objectives:", drivers)), "drivers.b", "'reach'", "'a'", "keep one")


def test_a_driven_measure_is_not_free():
    drivers = "drivers:\n  a: {measure: hinge.angle, value: t}\nobjectives:"
    text = spoil(("objectives:", drivers), ("{position: 0.1}", "{position: 0.1} #!"))
    assert_one_problem(text, "degrees_of_freedom.hinge.angle", "driven by 'a'", "remove one")


@pytest.mark.parametrize("value", ["hinge.angle", "arm.B.x", "reach"])
def test_a_driver_uses_time_and_parameters_only(value):
    drivers = f"drivers:\n  a: {{measure: arm.B.x, value: {value}}} #!\nobjectives:"
    assert_one_problem(spoil(("objectives:", drivers)), "drivers.a.value", value, "only t and parameters")


def test_massless_body_with_point_masses_is_legal():
    text = spoil(("mass: 1\n", "mass: 0\n"), ("[0.1, 0.1, 0.1]", "[0, 0, 0]"), ("mass: 0.1, at", "mass: 3, at"))
    assert len(problems_of(text)) == 0


def test_slender_and_flat_bodies_are_legal():
    for inertia in ("[0, 0.1, 0.1]", "[0, 0, 0]", "[0.1, 0.2, 0.3]", "{axis: [1, 2, 3], along: 2*J, across: J}"):
        assert problems_of(spoil(("[0.1, 0.1, 0.1]", inertia))) == ()


def test_all_problems_are_told_at_once():
    text = spoil(
        ("  L: 0.5", "  L: 0.5\n  w: L+"),
        ("mass: 1\n", "mas: -1\n"),
        ("[ground.O, arm.A]", "[ground.P, arm.A]"),
        ("stiffness: 10", "stiffness: k"),
        ("step: 1.0e-3", "step: -1"),
        ("reach**2", "__import__('os').system('true')"),
        ("[m, L]", "[m, J]"),
    )
    found = problems_of(text)
    assert [problem.line for problem in found] == sorted(problem.line for problem in found)
    assert [problem.where for problem in found] == [
        "parameters.w",
        "design[1]",
        "bodies.ball.mass",
        "bodies.ball.mas",
        "joints.hinge.between[0]",
        "forces.spring.stiffness",
        "objectives.effort.integral",
        "simulation.step",
    ]


def test_a_broken_element_is_reported_once_and_not_where_it_is_used():
    text = spoil(("    mass: m\n", "    mass: [1] #!\n"))
    assert_one_problem(text, "bodies.arm.mass", "not a number")
    assert_one_problem(spoil(("  m: 2.0", "  m: 2.0.0 #!")), "parameters.m", "'2.0.0'")
    assert_one_problem(
        spoil(("  reach: norm(arm.B.position)", "  reach: norm(arm.B.position #!")), "measures.reach", "not closed"
    )
    assert [p.where for p in problems_of(SOUND.replace("bodies:", "bodies: 3\nx:"))] == ["bodies", "x"]
    wheres = [p.where for p in problems_of("kinegrad: 1\njoints: {J: {type: revolute}}\nobjectives: 3\n")]
    assert wheres == ["bodies", "joints.J.between", "joints.J.axis", "objectives"]


def test_python_models_are_checked_alike():
    model = Model()
    model.bodies["bar"] = Body(mass="m", markers={"A": (0, 0, 0)})
    model.joints["J"] = joints.Revolute(between=("ground.O", "bar.A"), axis=(0, 0, 1))
    found = model.problems()
    assert [problem.where for problem in found] == ["joints.J.between[0]", "bodies.bar.mass"]
    with pytest.raises(ModelError) as error:
        model.check()
    assert error.value.problems == tuple(found)


def test_poses_that_turn_an_axis_over_are_told():
    """Both poses are near closed positions by themselves; the axis of the hinge points up in one and down in the other."""
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bar: {mass: 1, com: [0.5, 0, 0], inertia: [0.01, 0.1, 0.1], markers: {O: [0, 0, 0]},
        pose: {x_axis: [-1.1, 0, 0.48], z_axis: [0.48, 0, 1.1]}}
joints: {hinge: {type: revolute, between: [ground.O, bar.O], axis: [0, 1, 0]}}
degrees_of_freedom: {hinge.angle: {position: 0, velocity: 0}}
"""
    with pytest.warns(
        ModelWarning, match=r"joints.hinge has an axis that the poses of 'ground' and 'bar' turn 180 degrees"
    ):
        Model.from_yaml_text(text).check()
    for good in (
        text.replace("[0.48, 0, 1.1]", "[-0.48, 0, -1.1]"),
        text.replace("axis: [0, 1, 0]", "axis: [[0, 1, 0], [0, -1, 0]], zero: [[1, 0, 0], [1, 0, 0]]"),
    ):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            Model.from_yaml_text(good).check()


def test_a_model_is_checked_again_when_an_element_has_changed():
    """What was found sound once is not looked at again, until it is another."""
    model = Model.from_dict(
        {
            "kinegrad": 1,
            "parameters": {"m": 1.0},
            "bodies": {"a": {"mass": "m", "markers": {"P": [0, 0, 0]}}},
            "joints": {"J": {"type": "spherical", "between": ["ground.O", "a.P"]}},
            "ground": {"markers": {"O": [0, 0, 0]}},
        }
    )
    assert model.problems() == [] and model.check() is model
    model.parameters["m"] = -1.0
    assert "mass" in model.problems()[0].sentence
    with pytest.raises(ModelError, match="mass"):
        model.check()
    model.parameters["m"] = 2.0
    assert model.check() is model
    del model.bodies["a"]
    with pytest.raises(ModelError, match="bodies"):
        model.check()
