"""Rows of joints that are cut: as many as freedoms are taken away, independent, and closed the right way round."""

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.errors import AssemblyError
from kinegrad.kernels.products import EVALUATE, OBSERVE, POSITION
from kinegrad.kinematics import facing
from kinegrad.kinematics.start import close_position, start
from kinegrad.model.model import Model

AXIS = "axis: [[0.3, 1, 0.4], [1, 0.2, -0.5]], zero: [[1, 0, 0.1], [0, 0, 1]]"
JOINTS = {
    "fixed": "",
    "revolute": AXIS,
    "prismatic": AXIS,
    "screw": AXIS + ", pitch: 0.1",
    "cylindrical": AXIS,
    "cardan": "axes: [[1, 0, 0], [0, 1, 0.2]]",
    "planar": "axis: [[0.3, 1, 0.4], [1, 0.2, -0.5]], x_axis: [[0.4, 0, -0.3], [0.5, 0, 1]]",
    "spherical": "",
}
HELD = {
    "fixed": 6,
    "revolute": 5,
    "prismatic": 5,
    "screw": 5,
    "cylindrical": 4,
    "cardan": 4,
    "planar": 3,
    "spherical": 3,
}

TWO_BODIES = """
kinegrad: 1
ground: {{markers: {{O: [0, 0, 0], S: [1, 0, 0]}}}}
bodies:
  a: {{mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {{o: [0, 0, 0], p: [0.3, 0.2, 0.1]}}}}
  b: {{mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {{o: [0, 0, 0], p: [-0.2, 0.1, 0.4]}}}}
joints:
  one: {{type: floating, between: [ground.O, a.o]}}
  two: {{type: floating, between: [ground.S, b.o]}}
  held: {{type: {kind}, between: [a.p, b.p], cut: true{more}}}
"""

# A loop whose hinge J is cut; the pose of the last bar is turned by TURN about a line across the axes.
LOOP = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], R: [0.9, -0.3, 0.2]}}
bodies:
  a: {pose: global, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0], P: [0.3, 0.1, 0.2]}}
  b: {pose: global, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {P: [0.3, 0.1, 0.2], Q: [0.5, -0.2, 0.5]}}
  d: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {Q: [0.5, -0.2, 0.5], R: [0.9, -0.3, 0.2]},
      pose: {origin: [0, 0, 0], x_axis: [1, 0, 0], z_axis: [0, sin(TURN), cos(TURN)]}}
joints:
  ball: {type: spherical, between: [ground.O, a.O]}
  hinge: {type: revolute, between: [a.P, b.P], axis: [0.2, 1, 0.3]}
  J: {type: cylindrical, between: [b.Q, d.Q], axis: [1, 0.3, -0.4]}
  post: {type: spherical, between: [d.R, ground.R]}
"""


def closure(kind):
    """The system of two free bodies with a joint between them, which is cut."""
    more = f", {JOINTS[kind]}" if JOINTS[kind] else ""
    return joint(Model.from_yaml_text(TWO_BODIES.format(kind=kind, more=more)))


@pytest.mark.parametrize("kind", JOINTS)
def test_rows_are_independent_wherever_they_are_evaluated(kind):
    system = closure(kind)
    work, rng = system.workspace(), np.random.default_rng(5)
    rows = [k for k, name in enumerate(system.row_names) if name.startswith("held")]
    assert len(rows) == HELD[kind]
    for size in (1e-2, 1e-4, 1e-6):  # of what the rows lack
        work["q"][:] = 0.0
        for first, _ in system.set.euler.values():
            work["q"][first] = 1.0
        close_position(system, work, "here")
        work["q"][:] += size * rng.normal(size=system.n)
        work.call(EVALUATE)
        values = np.linalg.svd(work["J"][rows], compute_uv=False)
        assert values[-1] > 0.02 * values[0], (size, values)


@pytest.mark.parametrize("turn", np.linspace(0.0, 2.0 * np.pi, 12, endpoint=False))
def test_a_joint_closes_with_its_axes_in_one_direction(turn):
    """Poses that are far off, by up to half a turn, do not leave a joint turned over."""
    system = joint(Model.from_yaml_text(LOOP.replace("TURN", repr(float(turn)))), cut=("J",))
    work = system.workspace()
    work["q"][:] = system.set.guess(system, work["s"])
    close_position(system, work, "here")
    frames = {name: k for k, name in enumerate(system.model.bodies)}
    work.call(OBSERVE)
    A = system.set.bodies(system, work)[0]
    axis = np.array([1, 0.3, -0.4]) / np.linalg.norm([1, 0.3, -0.4])
    assert (A[frames["b"]] @ axis) @ (A[frames["d"]] @ axis) == pytest.approx(1.0, abs=1e-12)


def test_a_joint_that_only_closes_turned_over_is_refused_by_name():
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], R: [1, 0, 0]}}
bodies:
  a: {pose: global, mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0], P: [1, 0, 0]}}
joints:
  one: {type: cardan, between: [ground.O, a.O], axes: [[0, 0, 1], [1, 0, 0]]}
  two: {type: revolute, between: [ground.R, a.P], axis: [[0, 0, 1], [0, 0, -1]], cut: true}
degrees_of_freedom: {one.angle2: {position: 0, velocity: 0}}
"""
    system = joint(Model.from_yaml_text(text))
    with pytest.raises(AssemblyError, match="joint 'two' closes with its axis turned over"):
        start(system, system.workspace())


def test_directions_are_not_turned_by_full_matrices_in_large_systems(monkeypatch):
    system = joint(Model.from_yaml_text(LOOP.replace("TURN", "3.0")), cut=("J",))
    work = system.workspace()
    q = work["q"][:] = system.set.guess(system, work["s"])

    def residual():
        work.call(POSITION)
        return work["Phi"][: system.m].copy()

    senses = np.ones(len(facing.facing(system, False)))
    monkeypatch.setattr(facing, "MOST", system.n - 1)
    facing.turn(system, work, senses, False, residual)
    assert np.array_equal(work["q"], q)
    monkeypatch.setattr(facing, "MOST", system.n)
    facing.turn(system, work, senses, False, residual)
    assert np.abs(work["q"] - q).max() > 0.1


def test_a_row_that_parameters_wake_up_is_kept():
    """The axis of the pin that closes a square of bars: across the plane its rows say nothing until it is tilted."""
    from kinegrad.kinematics.mobility import mobility

    bars = {
        "crank": ("[0, 0, 0]", "[0, 1, 0]"),
        "coupler": ("[0, 0, 0]", "[1, 0, 0]"),
        "rocker": ("[0, 0, 0]", "[0, 1, 0]"),
    }
    text = "kinegrad: 1\nparameters: {tilt: 0}\nground: {markers: {O: [0, 0, 0], R: [1, 0, 0]}}\nbodies:\n"
    for name, (a, b) in bars.items():
        place = {"crank": "[0, 0, 0]", "coupler": "[0, 1, 0]", "rocker": "[1, 0, 0]"}[name]
        text += f"  {name}: {{mass: 1, inertia: [1, 1, 1], pose: {{origin: {place}}}, markers: {{a: {a}, b: {b}}}}}\n"
    text += """joints:
  one: {type: revolute, between: [ground.O, crank.a], axis: [0, 0, 1]}
  two: {type: revolute, between: [crank.b, coupler.a], axis: [0, 0, 1]}
  three: {type: revolute, between: [coupler.b, rocker.b], axis: [0, tilt, 1], cut: true}
  four: {type: revolute, between: [ground.R, rocker.a], axis: [0, 0, 1]}
"""
    model = Model.from_yaml_text(text)
    system = joint(model)
    assert "three axis.y" in system.row_names and "three.z" not in system.row_names
    assert (mobility(system).dof, mobility(system.with_parameters({"tilt": 0.3})).dof) == (1, 0)
