"""Motions in other coordinates: cuts of the joint set, and a set of the tests."""

from __future__ import annotations

import numpy as np
import pytest
from own_models import FOUR_BAR
from toy_set import CARRIAGES, register

import kinegrad as kg

EXACT = kg.MatrixR(tolerance=1e-15)

# Bodies that hang on a free one, by joints along the tree and against it.
SPATIAL = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], W: [0.4, 0.1, 0.2]}}
bodies:
  buoy: {mass: 2, com: [0.1, 0, 0.05], inertia: [0.1, 0.2, 0.15], markers: {B: [0.2, 0.1, 0], S: [0, 0.3, 0]},
         pose: {origin: [0.3, 0.2, 0.1], x_axis: [1, 0.2, 0.1]}}
  ball: {mass: 1, com: [0, 0.1, 0.2], inertia: [0.05, 0.06, 0.07], markers: {B: [0, 0, 0], N: [0.1, 0, 0.3]},
         pose: {origin: [0.5, 0.3, 0.1]}}
  nut: {mass: 0.6, com: [0.05, 0, 0], inertia: [0.02, 0.03, 0.03], markers: {N: [0, 0, 0], U: [0, 0.2, 0]},
        pose: {origin: [0.6, 0.3, 0.4]}}
  fork: {mass: 0.5, com: [0.1, 0.05, 0], inertia: [0.02, 0.02, 0.02], markers: {U: [0, 0, 0], E: [0.2, 0, 0]},
         pose: {origin: [0.6, 0.5, 0.4]}}
  swing: {mass: 0.5, com: [0, 0.2, 0], inertia: [0.02, 0.02, 0.02], markers: {S: [0, 0, 0], E: [0, 0.4, 0.1]},
          pose: {origin: [0.3, 0.5, 0.1]}}
joints:
  air: {type: floating, between: [ground.O, buoy.B]}
  socket: {type: spherical, between: [ball.B, buoy.B]}
  thread: {type: screw, between: [ball.N, nut.N], axis: [0.1, 0.2, 1], pitch: 0.01}
  joiner: {type: cardan, between: [fork.U, nut.U], axes: [[1, 0, 0], [0, 1, 0.2]]}
  plate: {type: planar, between: [buoy.S, swing.S], axis: [0, 0, 1], x_axis: [1, 0, 0]}
forces:
  weight: {type: gravity, acceleration: [0, 0, -9.81]}
  tie: {type: spring, between: [ground.W, fork.E], stiffness: 40, natural_length: 0.2}
  hold: {type: spring, between: [buoy.S, swing.E], stiffness: 60, natural_length: 0.1}
degrees_of_freedom:
  air: {rotation: [0.1, 0.4, -0.2], angular_velocity: [3, -9, 14], position: [0.1, 0, 0.2], velocity: [0.3, 0, 1]}
  socket: {rotation: [-0.5, 0.1, 0.3], angular_velocity: [8, 5, -6]}
  thread.angle: {position: 7.5, velocity: 30}
  joiner.angle1: {position: 0.3, velocity: 12}
  joiner.angle2: {position: -0.2, velocity: 1}
  plate.x: {position: 0.1, velocity: 0.2}
  plate.y: {position: -0.1, velocity: 0}
  plate.angle: {position: 0.4, velocity: 25}
simulation: {t_end: 0.4, step: 0.004}
"""


def same(a, b, bound):
    for name in ("q", "qd", "qdd"):
        x, y = getattr(a, name), getattr(b, name)
        assert np.abs(x - y).max() <= bound * max(1.0, np.abs(y).max()), name


def markers_alike(a, b, bound):
    for what in ("position", "velocity", "acceleration"):
        x, y = (np.array([getattr(m.marker(name), what) for name in b.system.markers]) for m in (a, b))
        assert np.abs(x - y).max() <= bound * max(1.0, np.abs(y).max()), what


@pytest.fixture(scope="module")
def four_bar():
    model = kg.Model.from_yaml_text(FOUR_BAR).with_values(k=0.1)
    model.degrees_of_freedom["JA.angle"] = kg.Freedom(position=0.9 + 4 * np.pi, velocity=30.0)
    return kg.simulate(kg.joint(model), EXACT, "rk4", t_end=1.0, step=2e-3)


@pytest.mark.parametrize("cut", ["JA", "JB", "JD"])
def test_other_cut_and_back(four_bar, cut):
    there = four_bar.in_coordinates(cut=[cut])
    assert there.system.set.tree.cut == (cut,)
    assert (there.constraint_violation.max(axis=0) <= [1e-14, 1e-12, 1e-10]).all()
    markers_alike(there, four_bar, 1e-12)
    same(there.in_coordinates(four_bar.system), four_bar, 1e-12)
    k = there.system.number_of["JA.angle"]
    assert there.q[0, k] == pytest.approx(0.9 + 4 * np.pi, abs=1e-14)
    assert there.q[-1, k] - there.q[0, k] > 2 * np.pi  # it turns on


def test_turns_that_nothing_in_the_other_system_keeps(four_bar):
    """JB.angle is used by no element: cut there, no coordinate tells its turns."""
    model = four_bar.system.model.copy()
    for name in ("sb", "sc", "sd"):
        del model.forces[name]
    for name in ("y", "z"):
        del model.objectives[name]
    model.degrees_of_freedom["JB.angle"] = model.degrees_of_freedom.pop("JA.angle")
    model.degrees_of_freedom["JB.angle"] = kg.Freedom(position=-0.6 + 6 * np.pi, velocity=2.0)
    motion = kg.simulate(kg.joint(model, cut=["JA"]), EXACT, "rk4", t_end=0.1, step=2e-3)
    del model.degrees_of_freedom["JB.angle"]
    model.degrees_of_freedom["JA.angle"] = kg.Freedom(position=0.9)
    there = motion.in_coordinates(kg.joint(model, cut=["JB"]))
    assert "JB.angle" not in there.system.coordinates
    same(there.in_coordinates(motion.system), motion, 1e-12)


def test_reactions_convert_and_multipliers_do_not(four_bar):
    there = four_bar.in_coordinates(cut=["JA"])
    with pytest.raises(kg.KinegradError, match=r"do not convert; reactions\(\)"):
        _ = there.lam
    for name, values in four_bar.reactions().items():
        unique = four_bar.reactions().unique[name]
        assert np.abs(there.reactions()[name] - values)[:, unique].max() <= 1e-10 * np.abs(values).max(), name
    assert np.abs(there.energies.kinetic - four_bar.energies.kinetic).max() < 1e-11
    assert np.array_equal(there.energies.work, four_bar.energies.work)
    assert there.objectives == four_bar.objectives


def test_all_joints_and_euler_parameters():
    """Against the tree, with Euler parameters that pass through both signs and a thread whose slide tells its turns."""
    system = kg.joint(kg.Model.from_yaml_text(SPATIAL))
    motion = kg.simulate(system, EXACT, "rk4")
    assert np.ptp(motion.q[:, system.number_of["thread.angle"]]) > 6.0
    again = motion.in_coordinates(body_point="com")
    same(again, motion, 2e-13)
    markers_alike(again, motion, 1e-12)
    four = system.alike
    assert (np.abs(np.diff(again.q, axis=0)) < 0.3).all()
    norms = (again.q[:, four] * again.qdd[:, four] + again.qd[:, four] ** 2).sum(axis=2)
    assert np.abs(norms).max() < 1e-10


def test_the_reference_point_set_and_back(four_bar):
    """Angles with all turns from own coordinates, spins from Euler parameters; rows hold there to rounding."""
    spatial = kg.simulate(kg.joint(kg.Model.from_yaml_text(SPATIAL)), EXACT, "rk4")
    for motion, cut in ((four_bar, "JA"), (spatial, None)):
        there = motion.in_coordinates("reference-point")
        largest = np.maximum(1.0, np.abs(there.qdd).max())
        assert (there.constraint_violation.max(axis=0) <= np.array([1e-14, 1e-13, 2e-14]) * largest).all()
        markers_alike(there, motion, 1e-12)
        same(there.in_coordinates(motion.system), motion, 1e-12)
        four = there.system.alike
        assert (np.abs(np.diff(there.q[:, four], axis=0)) < 0.2).all()  # no sign is changed on the way
        if cut:
            via = there.in_coordinates("joint", cut=[cut])
            same(via.in_coordinates(motion.system), motion, 1e-12)


def test_actuators_and_another_set(monkeypatch):
    register(monkeypatch)
    model = kg.Model.from_yaml_text(CARRIAGES)
    motion = kg.simulate(kg.joint(model), EXACT, "rk4")
    there = motion.in_coordinates("gantry")
    assert there.system.kind == "gantry"
    assert (there.constraint_violation.max(axis=0) <= [1e-14, 1e-13, 1e-12]).all()
    k, j = (m.system.number_of["winch.impulse"] for m in (motion, there))
    for name in ("q", "qd", "qdd"):
        assert np.array_equal(getattr(there, name)[:, j], getattr(motion, name)[:, k])
    markers_alike(there, motion, 1e-13)
    same(there.in_coordinates("joint"), motion, 1e-12)


def test_refusals(four_bar):
    with pytest.raises(kg.KinegradError, match=r"'k' is 0\.1 and 5"):
        four_bar.in_coordinates(four_bar.system.with_parameters({"k": 5.0}))
    other = kg.Model.from_yaml_text(SPATIAL)
    with pytest.raises(kg.KinegradError, match=r"'k' is 0\.1 and missing"):
        four_bar.in_coordinates(kg.joint(other))
    model = four_bar.system.model.copy()
    model.bodies = {"crank": model.bodies["crank"]}
    model.joints = {"JA": model.joints["JA"]}
    model.forces, model.objectives = {}, {}
    with pytest.raises(kg.KinegradError, match="body 'rod' is in one of them only"):
        four_bar.in_coordinates(kg.joint(model))
    with pytest.raises(kg.KinegradError, match="leave cut out"):
        four_bar.in_coordinates(four_bar.system, cut=["JA"])
