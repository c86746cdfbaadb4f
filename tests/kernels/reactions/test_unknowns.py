"""Reactions of every kind of joint: in the tree and cut, named from either side, with loads on coordinates."""

import numpy as np
import pytest
from body_motions import body_motions

import kinegrad as kg
from kinegrad import rotations
from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.reactions.solve import reactions

TEXT = """
kinegrad: 1
ground: {markers: {O: [0.3, -0.2, 0.5], S: [1, 1, 0.4], E: {vector: [0.2, 1, 0.1]}}}
bodies:
  arm: {mass: 1.3, com: [0.1, 0.2, -0.1], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05], markers: {p: [0.2, -0.1, 0.3]}}
  tool: {mass: 0.8, com: [0.2, 0, 0.1], inertia: [0.2, 0.3, 0.25], markers: {p: [-0.1, 0.2, 0.3], q: [0.7, 0.3, -0.2]}}
joints:
  base: {type: spherical, between: [ground.O, arm.p]}
  it: {type: KIND, between: BETWEEN, OPTIONS}
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, tool.q], stiffness: 40, damping: 0.7, natural_length: 0.3}
degrees_of_freedom:
  base: {rotation: [0.1, 0.2, -0.3], angular_velocity: [0.2, 0.7, 0.1]}
  FREE
"""
KINDS = {
    "revolute": ("axis: [1, 0.3, 0.2]", "it.angle: {position: 0.2, velocity: 0.5}"),
    "revolute pair": (
        "axis: [[1, 0.3, 0.2], [0, 1, 0.3]], zero: [[0, 0, 1], [1, 0, 0]]",
        "it.angle: {position: 0.2, velocity: 0.5}",
    ),
    "prismatic": ("axis: [1, 0.3, 0.2]", "it.distance: {position: 0.2, velocity: -0.4}"),
    "cylindrical": (
        "axis: [1, 0.3, 0.2]",
        "it.distance: {position: 0.2, velocity: 0.3}\n  it.angle: {position: 0.7, velocity: 1}",
    ),
    "cardan": (
        "axes: [[0, 0, 1], [1, 0.3, 0]]",
        "it.angle1: {position: 0.2, velocity: 0.6}\n  it.angle2: {position: 0.7, velocity: -1}",
    ),
    "planar": (
        "axis: [0, 0.3, 1], x_axis: [1, 0, 0]",
        "it.x: {position: 0.2, velocity: 0.4}\n  it.y: {position: 0.7, velocity: -0.2}\n  it.angle: {position: 0.3}",
    ),
    "spherical": ("cut: false", "it: {rotation: [0.3, 0.2, 0.1], angular_velocity: [0.4, 0.1, -0.2]}"),
    "fixed": ("cut: false", ""),
}


def built(kind, turned=False):
    options, free = KINDS[kind]
    between = "[tool.p, arm.p]" if turned else "[arm.p, tool.p]"
    text = TEXT.replace("KIND", kind.split()[0]).replace("BETWEEN", between).replace("OPTIONS", options)
    return Model.from_yaml_text(text.replace("FREE", free))


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_joint_has_the_same_reaction_in_the_tree_and_cut(kind, turned):
    """Cut: the tool hangs on a floating joint, from the ground, and rows hold it; the state is the same."""
    model = built(kind, turned)
    motion = kg.simulate(joint(model), "index1", t_end=1e-3, step=1e-3)
    found = motion.reactions()
    assert found.residual[0] < 1e-11 and found.unique["it"].all()
    model.joints["air"] = {"type": "floating", "between": ["ground.S", "tool.q"]}
    model.joints["it"] = model.joints["it"].with_(cut=True)
    if kind == "spherical":  # its start is given by an orientation, which needs it in the tree
        model.degrees_of_freedom.pop("it")
    cut = joint(model, cut=("it",))
    assert "it" in cut.set.tree.cut
    other = reactions(cut, motion.t[:1], *same_state(motion, cut))
    assert other.residual.max() < 1e-9
    for name in ("base", "it"):
        assert np.abs(other[name][0] - found[name][0]).max() < 1e-9
        assert other.unique[name].all()


def same_state(motion, cut):
    """Coordinates of the cut system at the first state of a motion, from the motion of its bodies."""
    states = body_motions(motion, slice(1))
    q, qd, qdd = (np.zeros((1, cut.n)) for _ in range(3))
    for name in cut.coordinates:
        if name in motion.system.coordinates:
            k, j = cut.coordinates.index(name), motion.system.coordinates.index(name)
            q[0, k], qd[0, k], qdd[0, k] = motion.q[0, j], motion.qd[0, j], motion.qdd[0, j]
    A, w, alpha = states.A[0, 1], states.V[0, 1, 3:], states.a[0, 1, 3:]
    x = states.r[0, 1] + A @ [0.7, 0.3, -0.2]
    xd = states.V[0, 1, :3] + np.cross(w, x)
    xdd = states.a[0, 1, :3] + np.cross(alpha, x) + np.cross(w, xd)
    first = [cut.set.index["air", c] for c in "xyz"]
    q[0, first], qd[0, first], qdd[0, first] = x - [1, 1, 0.4], xd, xdd
    p = np.asarray(rotations.p_from_A(A))
    E = np.array([[-p[1], p[0], -p[3], p[2]], [-p[2], p[3], p[0], -p[1]], [-p[3], -p[2], p[1], p[0]]])
    pd = 0.5 * E.T @ w
    e = cut.set.euler["air"][0]
    q[0, e : e + 4], qd[0, e : e + 4] = p, pd
    qdd[0, e : e + 4] = 0.5 * E.T @ alpha - (pd @ pd) * p
    return q, qd, qdd


@pytest.mark.parametrize(("kind", "part"), [("planar", "x"), ("planar", "y"), ("prismatic", "distance")])
def test_a_force_on_a_coordinate_is_a_force_at_the_second_marker(kind, part):
    """Both move the tool alike, and neither is part of the reaction; the arm is fixed and parallel to the ground."""
    normal = np.array([0, 0.3, 1]) / np.linalg.norm([0, 0.3, 1])
    axis = {"x": [1, 0, 0], "y": np.cross(normal, [1, 0, 0]), "distance": [1, 0.3, 0.2]}[part]
    loads = (
        {"type": "force", "acts_on": f"it.{part}", "value": 5},
        {"type": "force", "at": "tool.p", "value": (5 * np.array(axis) / np.linalg.norm(axis)).tolist()},
    )
    found = []
    for load in loads:
        model = built(kind)
        model.joints["base"] = {"type": "fixed", "between": ["ground.O", "arm.p"]}
        model.degrees_of_freedom.pop("base")
        model.forces["push"] = load
        motion = kg.simulate(joint(model), "index1", t_end=1e-3, step=1e-3)
        found.append((motion.qdd[0], motion.reactions("it")[0], motion.reactions("base")[0]))
    (a, it, base), (b, other, rest) = found
    assert np.abs(a - b).max() < 1e-10 and np.abs(it - other).max() < 1e-10
    force = np.array(loads[1]["value"])  # the arm is pushed back by a force on the coordinate only
    assert np.abs(base[:3] - rest[:3] - force).max() < 1e-10
