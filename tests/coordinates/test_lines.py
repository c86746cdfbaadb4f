"""Parallel vectors, vectors that coincide, points on lines and in planes: what joints do, senses, reactions, mistakes."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.coordinates.sets import SETS, joint, lower
from kinegrad.errors import AssemblyError, ModelError
from kinegrad.model.model import Model

#: A body with a joint, or with constraints that hold the same freedoms; the axes are n of the ground and v of the body.
BODY = """
kinegrad: 1
parameters: {L: 0.4, e: 0.3}
ground: {markers: {O: [0.1, -0.2, 0.3], n: {vector: [e, 2, -0.5]}, m: {vector: [1, 0, 0.6]}}}
bodies:
  a: {mass: 1.3, com: [0.1, L/3, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05], POSE
      markers: {p: [0.05, L, 0.1], q: [0.3, 0.2, L], v: {vector: [1, e, 0.2]}, w: {vector: [-e, 1, 0]}}}
  b: {mass: 0.4, inertia: [0.1, 0.1, 0.2], markers: {p: [0, 0.1, 0], q: [0.4, 0, 0.1], u: {vector: [1, 0, 0]}}}
joints:
  tie: {type: revolute, between: [a.q, b.p], axis: [0.2, 0.1, 1]}
HOLD
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.O, b.q], stiffness: 9, damping: 0.4, natural_length: 0.1}
degrees_of_freedom:
  tie.angle: {position: 0.2, velocity: 0.7}
STARTS
"""
JOINT = "axis: [[e, 2, -0.5], [1, e, 0.2]], ZERO: [[1, 0, 0.6], [-e, 1, 0]]"
POINT = "pin: {type: coincidence, between: [ground.O, a.p]}"
AXIS = "axis: {type: same-direction, between: [ground.n, a.v]}"
LINE = "line: {type: point-on-line, between: [ground.O, a.p], along: ground.n}"
PLANE = "plane: {type: point-in-plane, between: [ground.O, a.p], normal: ground.n}"
#: type, its starts, rows, measures of the same starts
PAIRS = {
    "revolute": ("revolute", "zero", {"angle": (0.6, 1.1)}, (POINT, AXIS), {"lean": (0.6, 1.1)}),
    "cylindrical": (
        "cylindrical", "zero", {"angle": (0.6, 1.1), "distance": (0.2, -0.3)}, (LINE, AXIS),
        {"lean": (0.6, 1.1), "along": (0.2, -0.3)},
    ),
    "planar": (
        "planar", "x_axis", {"angle": (0.6, 1.1), "x": (0.2, -0.3), "y": (-0.1, 0.2)}, (PLANE, AXIS),
        {"lean": (0.6, 1.1), "ahead": (0.2, -0.3), "aside": (-0.1, 0.2)},
    ),
}  # fmt: skip
MEASURES = """
measures:
  lean: atan2(dot(a.w.position, cross(ground.n.position, ground.m.position)), dot(a.w.position, ground.m.position))
  along: dot(a.p.position - ground.O.position, ground.n.position)
  ahead: dot(a.p.position - ground.O.position, ground.m.position)
  aside: dot(a.p.position - ground.O.position, cross(ground.n.position, ground.m.position))
"""


def model(hold, starts, pose="", more=""):
    lines = "\n".join(f"  {name}: {{position: {x}, velocity: {v}}}" for name, (x, v) in starts.items())
    return Model.from_yaml_text(BODY.replace("HOLD", hold).replace("STARTS", lines + more).replace("POSE", pose))


@pytest.mark.parametrize("coordinates", list(SETS))
@pytest.mark.parametrize("name", PAIRS)
def test_rows_hold_what_a_joint_in_the_tree_holds(name, coordinates):
    """Accelerations at the start, and the sum of the reactions: the rows share no code with the motion of a tree."""
    kind, zero, starts, rows, measures = PAIRS[name]
    in_tree = f"  j: {{type: {kind}, between: [ground.O, a.p], {JOINT.replace('ZERO', zero)}}}"
    first = joint(model(in_tree, {f"j.{part}": x for part, x in starts.items()}))
    near = "pose: {origin: [0.2, 0.1, 0.2], x_axis: [0.2, 1, -0.4], z_axis: [0.4, 0.3, 1]},"
    constraints = "constraints: {" + ", ".join(rows) + "}" + MEASURES
    second = lower(model(constraints, measures, near), coordinates)
    motions = [kg.simulate(system, "index1", "rk4", t_end=1e-3, step=1e-3) for system in (first, second)]
    for marker in ("a.p", "a.q", "b.q"):
        found, expected = (motion.marker(marker) for motion in motions[::-1])
        for level in ("position", "velocity", "acceleration"):
            x, y = getattr(found, level)[0], getattr(expected, level)[0]
            assert np.abs(x - y).max() < 1e-11 * max(1.0, np.abs(y).max()), (marker, level)
    expected, found = (motion.reactions() for motion in motions)
    total = sum(found[row.partition(":")[0]][0] for row in rows)
    assert np.abs(total - expected["j"][0]).max() < 1e-10 * np.abs(expected["j"][0]).max()
    force, moment = np.split(found[rows[0].partition(":")[0]][0], 2)  # a force at the point of the body
    arm = motions[1].marker("a.p").position[0] - [0.1, -0.2, 0.3]
    assert np.abs(moment - np.cross(arm, force)).max() < 1e-12
    assert found.residual.max() < 1e-11


BALL = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], n: {vector: [1, 0.3, 0.1]}}}
bodies:
  a: {mass: 2, com: [0.2, 0, 0], inertia: [0.1, 0.4, 0.4], pose: {origin: [0, 0, 0], x_axis: XAXIS},
      markers: {p: [0, 0, 0], q: [0.1, 0.3, 0.1], v: {vector: [1, 0, 0]}}}
joints: {j: {type: spherical, between: [ground.O, a.p]}}
constraints: {k: {type: TYPE, between: [ground.n, a.v]}}
degrees_of_freedom: {a.q.z: {position: 0}}
"""
N = np.array([1, 0.3, 0.1]) / np.linalg.norm([1, 0.3, 0.1])


def held(kind, x_axis, coordinates="joint"):
    system = lower(
        Model.from_yaml_text(BALL.replace("XAXIS", str(np.asarray(x_axis).tolist())).replace("TYPE", kind)), coordinates
    )
    return kg.assemble(system).markers()["a.v"].position


@pytest.mark.parametrize("coordinates", list(SETS))
@pytest.mark.parametrize("degrees", [0, 40, 70, 85, 89.9, 90.1, 95, 110, 140, 179])
def test_parallel_takes_the_sense_of_the_poses(degrees, coordinates):
    across = np.cross(N, [0.3, -0.2, 1.0])
    across /= np.linalg.norm(across)
    angle = np.radians(degrees)
    v = held("parallel", np.cos(angle) * N + np.sin(angle) * across, coordinates)
    assert np.abs(v - (N if degrees < 90 else -N)).max() < 1e-12


@pytest.mark.parametrize("x_axis", [[1, 0, 0], [0.2, 1, 0], [-0.1, 0.5, 0.7], [-0.3, 1, 0]])
def test_the_same_direction_has_one_sense(x_axis):
    assert np.abs(held("same-direction", x_axis) - N).max() < 1e-12


def test_senses_that_cannot_be_found_are_told():
    with pytest.raises(AssemblyError, match="constraint 'k' holds with its vectors opposite to each other"):
        held("same-direction", -N)
    fixed = BALL.replace("spherical, between: [ground.O, a.p]", "revolute, between: [ground.O, a.p], axis: [0, 0, 1]")
    fixed = fixed.replace("[1, 0.3, 0.1]", "[0, 1, 0]").replace("TYPE", "parallel").replace("XAXIS", "[1, 0, 0]")
    fixed = fixed.replace("degrees_of_freedom: {a.q.z: {position: 0}}", "")
    with pytest.raises(AssemblyError, match=r"vectors of constraint 'k' are perpendicular .* neither sense is nearer"):
        kg.assemble(joint(Model.from_yaml_text(fixed)))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{type: point-on-line, between: [ground.O, a.p], along: a.v}", "names 'a.v', a vector of 'a'; name a vector of"),
        ("{type: point-in-plane, between: [ground.O, a.p], normal: ground.O}", "names 'ground.O', which is a point; name"),
        ("{type: parallel, between: [ground.O, a.v]}", "names 'ground.O', which is a point; name a vector"),
        ("{type: same-direction, between: [a.v, a.w]}", "names the body 'a' twice"),
        ("{type: point-on-line, between: [ground.n, a.p], along: ground.n}", "names 'ground.n', which is a vector; name"),
        ("{type: point-on-line, between: [ground.O, a.p]}", "along"),
    ],
)  # fmt: skip
def test_mistakes_are_told_by_name(text, sentence):
    with pytest.raises(ModelError, match=r"constraints\.k") as error:
        joint(model(f"constraints: {{k: {text}}}", {}))
    assert sentence in str(error.value)
