"""Objectives of reactions of joints in the tree: against those of the motion, other coordinates, and differences."""

from pathlib import Path

import joint_roles as roles
import numpy as np
import pytest
from constraint_force_models import BODIES, OF_DRIVER, OF_JOINTS, SIMULATION
from helpers import assert_close
from soak.mechanisms import generate

import kinegrad as kg
from kinegrad.errors import KinegradError

EXAMPLES = Path(__file__).parents[2] / "examples"
FIVE_BAR = EXAMPLES / "five_bar" / "model.yaml"
WRENCH = [f"reaction.{what}.{c}" for what in ("force", "moment") for c in "xyz"]


def of_every_joint(description):
    """The description with each component of the reaction of each joint as an objective."""
    names = [f"{joint}.{part}" for joint in description["joints"] for part in WRENCH]
    objectives = {name.replace(".", "_"): {"final": name} for name in names}
    return kg.Model.from_dict(description | {"objectives": objectives})


def assert_those_of_the_motion(motion, tolerance=1e-9):
    wrenches = motion.reactions()
    expected = np.concatenate([wrenches[name][-1] for name in motion.system.model.joints])
    assert_close(np.array(list(motion.objectives.values())), expected, tolerance)


@pytest.mark.parametrize("kind", roles.KINDS)
def test_every_kind_of_joint_in_every_role(kind):
    """In the tree, reversed in it, and cut: six numbers of each joint are those of the balance of the bodies."""
    model = of_every_joint(roles.closed(kind))
    for cut in ("rail", "base", "it"):
        point = "com" if cut == "base" else "origin"
        system = kg.joint(model, cut=(cut,), body_point=point)
        assert system.beside.n == system.n + 6 * (len(model.joints) - 1) and len(system.beside.slots) == len(
            system.slots
        )
        assert_those_of_the_motion(kg.simulate(system, "index1", "rk4", t_end=1e-3, step=1e-3))


FREE_BASE = """
kinegrad: 1
parameters: {m: 1.4, k: 3.0, tilt: 0.4, c: 0.2}
design: [m, k, tilt, c]
ground: {markers: {O: [0, 0, 0], S: [0.4, 0.8, -0.3]}}
bodies:
  base: {mass: 2, com: [0.1, 0, 0], inertia: [0.2, 0.3, 0.25], markers: {O: [0, 0, 0], P: [0.3, 0.2, 0.1], R: [0, 0.2, 0]}}
  arm: {mass: m, com: [0.2, 0.1, 0], inertia: [0.05, 0.04, 0.06], markers: {P: [0, 0, 0], Q: [0.5, 0, 0.1]}}
  nut: {mass: 0.4, com: [0, 0.1, 0], inertia: [0.01, 0.02, 0.01], markers: {R: [0, 0, 0], Q: [0.2, 0.1, 0]}}
  tip: {mass: 0.3, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01], markers: {Q: [0, 0, 0], E: [0.3, 0.1, 0]}}
joints:
  air: {type: floating, between: [ground.O, base.O]}
  knee: {type: cardan, between: [base.P, arm.P], axes: [[1, tilt, 0], [0, 0, 1]]}
  thread: {type: screw, between: [nut.R, base.R], axis: [0, 1, tilt], pitch: 0.05}
  weld: {type: fixed, between: [arm.Q, tip.Q]}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
  twist: {type: spring, acts_on: knee.angle1, stiffness: k, damping: c, natural_value: 0.2}
  push: {type: torque, acts_on: thread.angle, value: "k*sin(9*t) - c*thread.angle.velocity"}
  coil: {type: spring, between: [ground.S, tip.E], stiffness: 20, damping: c, natural_length: 0.3}
drivers: {motor: {measure: knee.angle2, value: "0.2 + 3*t"}}
degrees_of_freedom:
  air: {position: [0, 0.1, 0.2], velocity: [0.3, 0, 0], rotation: [0.2, 0.1, 0], angular_velocity: [0.4, 1, 0.2]}
  knee.angle1: {position: 0.3, velocity: 1}
  thread.angle: {position: 0.1, velocity: 2}
simulation: {t_end: 0.02, step: 0.002}
"""


@pytest.mark.parametrize("formulation, integrator", [("ali3p", "newmark"), ("recursive", "rk4")])
def test_a_free_base_with_loads_on_coordinates(formulation, integrator):
    """What acts on a coordinate, springs, torques and drivers, is no part of a reaction; one joint runs against the tree."""
    model = of_every_joint(kg.Model.from_yaml_text(FREE_BASE).to_dict())
    system = kg.joint(model)
    assert [edge.joint for edge in system.set.tree.edges if edge.reversed] == ["thread"]
    motion = kg.simulate(system, formulation, integrator)
    assert_those_of_the_motion(motion, 1e-9 if formulation == "recursive" else 1e-5)  # of the error of a step
    assert not any(motion.objectives[name] for name in motion.objectives if name.startswith("air"))
    direct, adjoint = (kg.gradient(motion, method=method) for method in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-10)
    if formulation == "recursive":
        assert direct.check().good


def test_gradients_are_those_of_reference_point_coordinates():
    """Two sets, one motion: gradients of peaks and integrals of reactions agree as steps become small."""
    model = kg.Model.from_yaml_text(BODIES + OF_DRIVER.replace("some:", "some_:") + OF_JOINTS + SIMULATION)
    found = []
    for lower in (kg.joint, kg.reference_point):
        motion = kg.simulate(lower(model), "index1", "rk4", t_end=0.05, step=5e-4)
        found.append(kg.gradient(motion, wrt=["m", "L", "k", "w", "spin"], method="adjoint"))
    assert_close(found[0].matrix, found[1].matrix, 1e-8)
    check = found[0].check()
    assert max(check[name, by] for name in ("peak", "bearing") for by in "mLkw") < 1e-6


def test_five_bar_and_what_is_not_unique():
    """In the plane of a mechanism reactions are unique; across it they are shared, and refused."""
    model = kg.Model.from_yaml(FIVE_BAR)
    model.objectives = {"peak": {"maximum": "sqrt(J1.reaction.force.x**2 + J1.reaction.force.y**2)", "sharpness": 0.5}}
    motion = kg.simulate(kg.joint(model), "matrix-r", "rk4", t_end=0.1, step=2e-3)
    x = np.linalg.norm(motion.reactions().force("J1")[:, :2], axis=1)
    expected = np.log(np.trapezoid(np.exp(0.5 * (x - x.max())), motion.t) / motion.t[-1]) / 0.5 + x.max()
    assert_close(motion.objectives["peak"], expected, 1e-9)
    direct, adjoint = (kg.gradient(motion, wrt=["L_s1", "m_A1", "L_A1"], method=m) for m in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-10)
    check = direct.check()
    assert max(check["peak", by] for by in ("L_s1", "m_A1", "L_A1")) < 1e-6
    for side in (
        "J1.reaction.force.z",
        "J2.reaction.moment.x*J1.reaction.force.x",
        "J1.reaction.force.norm + JA.reaction.force.z",
    ):
        model.objectives = {"side": {"final": side}}
        with pytest.raises(KinegradError, match="'side' uses a force that is not unique"):
            kg.simulate(kg.joint(model), "matrix-r", "rk4", t_end=0.1, step=2e-3)


@pytest.mark.parametrize("name", ["five_bar", "windows", "parallelogram"])
@pytest.mark.parametrize("kind", ["joint", "reference-point"])
def test_sizes_of_reactions_of_planar_linkages(name, kind):
    """Hinges that are redundant bear nothing across the plane: the size of a reaction is that in the plane."""
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    joints = [joint for joint, one in model.joints.items() if one.type == "revolute"][:6]
    model.objectives = {f"size_{joint}": {"final": f"{joint}.reaction.force.norm"} for joint in joints}
    model.objectives["sum"] = {
        "maximum": " + ".join(f"norm({joint}.reaction.force)" for joint in joints),
        "sharpness": 1.0,
    }
    motion = kg.simulate(kg.lower(model.check(), kind), "index1", "rk4", t_end=0.02, step=2e-3)
    expected = [np.linalg.norm(motion.reactions().force(joint)[-1]) for joint in joints]
    assert_close([motion.objectives[f"size_{joint}"] for joint in joints], expected, 1e-8)
    direct, adjoint = (kg.gradient(motion, method=method) for method in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-9)
    assert direct.check().good


def test_what_redundant_joints_really_share_is_refused():
    """The thread of the lift twists it, and the hinges of a Bennett linkage bear forces through its only state of stress."""
    for name, joint in (("scissor_lift", "foot_a"), ("bennett", "J2")):
        for kind in ("joint", "reference-point"):
            model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
            model.objectives = {"size": {"final": f"{joint}.reaction.force.norm"}}
            with pytest.raises(KinegradError, match="'size' uses a force that is not unique"):
                kg.simulate(kg.lower(model.check(), kind), "index1", "rk4", t_end=0.02, step=2e-3)


def test_a_load_across_the_plane_that_begins_later_is_told():
    """Nothing across the plane at the start, then a force: the run ends with the sentence, not with a number."""
    model = kg.Model.from_yaml(FIVE_BAR)
    model.forces["late"] = kg.Force(at="bar_12.P2", value=[0, 0, "10*t"])
    model.objectives = {"size": {"final": "J1.reaction.force.norm"}}
    with pytest.raises(KinegradError, match="'size' uses a force that is not unique"):
        kg.simulate(kg.joint(model.check()), "index1", "rk4", t_end=0.02, step=2e-3)


@pytest.mark.parametrize("pitch", [0.05, 0.0])
@pytest.mark.parametrize("kind", ["reference-point", "natural"])
def test_a_free_base_in_other_coordinates(kind, pitch):
    """The same joints held by rows, or shared: a screw with a torque on its angle, a weld, a Cardan joint with a driver."""
    description = kg.Model.from_yaml_text(FREE_BASE).to_dict()
    description["joints"]["thread"]["pitch"] = pitch
    model = of_every_joint(description)
    motion = kg.simulate(kg.lower(model, kind), "index1", "rk4")
    assert_those_of_the_motion(motion, 1e-8)
    in_joints = kg.simulate(kg.joint(model), "recursive", "rk4")
    assert_close(list(motion.objectives.values()), list(in_joints.objectives.values()), 1e-6)
    direct, adjoint = (kg.gradient(motion, method=method) for method in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-9)
    assert_close(direct.matrix, kg.gradient(in_joints).matrix, 1e-5)
    assert direct.check().good


@pytest.mark.parametrize("kind", roles.KINDS)
@pytest.mark.parametrize("lower", [kg.reference_point, kg.natural])
def test_every_kind_of_joint_in_absolute_coordinates(kind, lower):
    """Six numbers of each joint, held by rows or shared by coordinates, are those of the balance of the bodies."""
    system = lower(of_every_joint(roles.closed(kind)))
    assert_those_of_the_motion(kg.simulate(system, "index1", "rk4", t_end=1e-3, step=1e-3), 1e-8)


BODY = {"mass": 1.5, "com": [0.3, 0.1, 0], "inertia": [0.03, 0.04, 0.05]}
GRAVITY = {"gravity": {"type": "gravity", "acceleration": [1, 0.5, -9.81]}}


def small(joints, bodies, **more):
    """The description of a mechanism whose joints carry markers of their own: (type, first, place, second, place, keys)."""
    d = {"kinegrad": 1, "ground": {"markers": {}}, "bodies": {name: BODY | {"markers": {}} for name in bodies}}
    d |= {"joints": {}, "forces": GRAVITY, **more}
    for name, (kind, first, x, second, y, keys) in joints.items():
        for body, end, at in ((first, "a", x), (second, "b", y)):
            (d["ground"] if body == "ground" else d["bodies"][body])["markers"][name + end] = at
        d["joints"][name] = {"type": kind, "between": [f"{first}.{name}a", f"{second}.{name}b"]} | keys
    return d


@pytest.mark.parametrize("lower", [kg.joint, kg.reference_point, kg.natural])
def test_where_nothing_moves(lower):
    """A body welded to the ground, without a coordinate of its own."""
    d = small({"weld": ("fixed", "ground", [0, 0, 0], "beam", [0, 0, 0.1], {})}, ["beam"])
    assert_those_of_the_motion(kg.simulate(lower(of_every_joint(d)), "index1", "rk4", t_end=1e-3, step=1e-3))


def test_bodies_that_turn_as_one_in_natural_coordinates():
    """A slide between frames that are not parallel: in one system the bodies have common axes, beside it their own."""
    slide = {"axis": [[1, 0, 0], [0.6, 0.8, 0]], "zero": [[0, 0, 1], [0, 0, 1]]}
    joints = {"pin": ("revolute", "ground", [0, 0, 0], "arm", [0.1, 0, 0], {"axis": [0, 1, 0]})}
    joints |= {"slide": ("prismatic", "arm", [0.4, 0, 0], "rod", [0, 0.2, 0.1], slide)}
    start = {name: {"position": 0.2, "velocity": 1.0} for name in ("pin.angle", "slide.distance")}
    model = of_every_joint(small(joints, ["arm", "rod"], degrees_of_freedom=start))
    motions = [kg.simulate(lower(model), "matrix-r", "rk4", t_end=0.01, step=2e-3) for lower in (kg.natural, kg.joint)]
    assert_those_of_the_motion(motions[0])
    assert_close(*(list(motion.objectives.values()) for motion in motions), 1e-9)


def doubled_ball():
    """A body on two balls, which hold their distance twice."""
    balls = {"one": [0.1, 0.2, 0.3], "two": [0.4, 0.6, -0.2]}
    d = small({name: ("spherical", "ground", x, "arm", x, {}) for name, x in balls.items()}, ["arm"])
    d["bodies"]["arm"]["markers"]["tip"] = [0.7, 0.1, 0.2]
    return d | {"degrees_of_freedom": {"arm.tip.z": {"position": 0.2, "velocity": 1.0}}}


@pytest.mark.parametrize("lower", [kg.joint, kg.reference_point, kg.natural])
def test_moments_about_balls_are_zero_however_forces_are_shared(lower):
    """Rounding is left of them, which changes with multipliers that add up to nothing, and asks for nothing that is shared."""
    d = doubled_ball()
    names = {f"{joint}_{c}": f"{joint}.reaction.moment.{c}" for joint in d["joints"] for c in "xyz"}
    names |= {c: f"one.reaction.force.{c} + two.reaction.force.{c}" for c in "xyz"}
    model = kg.Model.from_dict(d | {"objectives": {name: {"final": value} for name, value in names.items()}})
    motion = kg.simulate(lower(model), "matrix-r", "rk4", t_end=0.01, step=2e-3)
    found, reactions = np.array(list(motion.objectives.values())), motion.reactions()
    assert_close(found[6:], reactions.force("one")[-1] + reactions.force("two")[-1], 1e-9)
    assert np.abs(found[:6]).max() < 1e-12 * np.abs(found[6:]).max()
    model.objectives = {"shared": {"final": "one.reaction.force.x"}}
    with pytest.raises(KinegradError, match="not unique"):
        kg.simulate(lower(model), "matrix-r", "rk4", t_end=0.01, step=2e-3)


def test_reactions_of_balls_leave_the_tree_as_it_is():
    """What two balls exert gives no orientation at the start: their loop is cut as without objectives."""
    d = doubled_ball()
    cut = kg.joint(kg.Model.from_dict(d)).set.tree.cut
    d["objectives"] = {"both": {"final": "one.reaction.force.x + two.reaction.force.x"}}
    model = kg.Model.from_dict(d)
    assert model.used_joints == frozenset() and kg.joint(model).set.tree.cut == cut


@pytest.mark.parametrize("lower", [kg.joint, kg.reference_point, kg.natural])
def test_a_plane_that_is_none_of_the_frames_of_bodies(lower):
    """What keeps bodies rigid is no part of what joints share: sizes in a plane whose normal no body has as an axis."""
    n, x, y = [0, 0.6, 0.8], np.array([1, 0, 0]), np.array([0, 0.8, -0.6])
    pins = [0 * x, 0.4 * x + 0.7 * y, 1.7 * x + 1.3 * y, 2 * x]
    bars, joints = ["ground", "crank", "rod", "arm", "ground"], {}
    for name, *pair, at in zip("ABCD", bars, bars[1:], pins, strict=False):
        joints[name] = ("revolute", pair[0], at.tolist(), pair[1], at.tolist(), {"axis": n})
    gravity = {"gravity": {"type": "gravity", "acceleration": (x - 9 * y).tolist()}}
    start = {"A.angle": {"position": 0.0, "velocity": 2.0}}
    d = small(joints, bars[1:4], degrees_of_freedom=start) | {"forces": gravity}
    for k, name in enumerate(bars[1:4]):
        d["bodies"][name] |= {"com": (0.5 * (pins[k] + pins[k + 1])).tolist(), "inertia": [0.1, 0.1, 0.1]}
    d["objectives"] = {f"size_{name}": {"final": f"{name}.reaction.force.norm"} for name in joints}
    motion = kg.simulate(lower(kg.Model.from_dict(d)), "matrix-r", "rk4", t_end=0.02, step=2e-3)
    expected = [np.linalg.norm(motion.reactions().force(name)[-1]) for name in joints]
    assert_close(list(motion.objectives.values()), expected, 1e-9)
    d["forces"]["across"] = {"type": "gravity", "acceleration": [0, 3, 4]}
    for name, objective in d[
        "objectives"
    ].items():  # also of the joint that is cut, whose rows alone see nothing of the load
        model = kg.Model.from_dict(d | {"objectives": {name: objective}})
        with pytest.raises(KinegradError, match=f"'{name}' uses a force that is not unique"):
            kg.simulate(lower(model), "matrix-r", "rk4", t_end=0.02, step=2e-3)


@pytest.mark.parametrize(
    "seed, kind, name", [(139, "natural", "j2.reaction.moment.y"), (157, "joint", "j1.reaction.force.norm")]
)
def test_what_is_shared_is_seen_in_millimetres_and_beside_rows_that_vanish(seed, kind, name):
    """Multipliers of squared lengths of small bodies, and of rows of rounding, are large, and hide no others."""
    mechanism = generate(seed)
    model = kg.Model.from_dict(mechanism.document | {"objectives": {"shared": {"final": name}}})
    with pytest.raises(KinegradError, match="'shared' uses a force that is not unique"):
        kg.simulate(kg.lower(model, kind), "matrix-r", "rk4", t_end=mechanism.step, step=mechanism.step)
