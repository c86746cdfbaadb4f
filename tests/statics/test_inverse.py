"""Motions by drivers and the forces they need, against closed forms and against simulations fed back."""

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR, SLIDER, coupler_point, system
from whole_runs import CHAIN, DRIVEN

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.model.model import Model

DRIVER = "drivers: {turn: {measure: JA.angle, value: pi/2 + w*t + amp*t**2}}"
DRIVEN_BAR = FOUR_BAR.replace("span: 0.8}", "span: 0.8, w: 6, amp: 2}").replace(
    "degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}", DRIVER
)


def test_a_driven_four_bar_follows_its_crank_around():
    """Against the intersection of two circles, over more than a turn, on the branch of the poses."""
    motion = kg.drive(system(DRIVEN_BAR), t_end=1.0, step=0.01)
    angle = np.pi / 2 + 6 * motion.t + 2 * motion.t**2
    expected = [coupler_point(0.3, 0.9, 0.6, 0.8, a) for a in angle]
    assert np.abs(motion.marker("b.C").position[:, :2] - expected).max() < 1e-12
    assert motion.q[-1, 0] == pytest.approx(angle[-1], abs=1e-13)
    h = 1e-4
    near = np.array([[coupler_point(0.3, 0.9, 0.6, 0.8, a + d) for d in (-h, 0, h)] for a in angle])
    by_angle, second = (near[:, 2] - near[:, 0]) / (2 * h), (near[:, 2] - 2 * near[:, 1] + near[:, 0]) / h**2
    rate = (6 + 4 * motion.t)[:, None]
    assert np.abs(motion.marker("b.C").velocity[:, :2] - by_angle * rate).max() < 1e-5
    assert np.abs(motion.marker("b.C").acceleration[:, :2] - second * rate**2 - by_angle * 4).max() < 1e-4
    assert motion.constraint_violation.max() < 1e-11
    assert motion.objectives["path"] == pytest.approx(
        np.trapezoid((motion.marker("b.C").position ** 2).sum(axis=1), motion.t), rel=1e-12
    )


def test_the_torque_of_the_crank_does_the_work():
    """T + V changes by the integral of the power; to Simpson's rule."""
    found = kg.inverse(system(DRIVEN_BAR), t_end=0.4, step=0.002)
    energies = found.motion.energies
    power = found.powers["turn"]
    work = 0.002 / 3 * (power[0] + 4 * power[1:-1:2].sum() + 2 * power[2:-1:2].sum() + power[-1])
    gained = np.diff((energies.kinetic + energies.potential)[[0, -1]])[0]
    assert work == pytest.approx(gained, rel=1e-6)
    assert found.residual < 1e-12 and found.reactions.unique_forces == {"turn": True}
    row = found.motion.system.row_names.index("turn")
    assert np.abs(found.forces["turn"] + found.motion.lam[:, row]).max() < 1e-11


def test_a_slider_crank_at_constant_speed():
    """A massless crank and rod that push a block: torque = −m ẍ times dx/dangle."""
    text = """
parameters: {r: 0.1, L: 0.4, w: 20}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  crank: {pose: global, mass: 1.0e-9, inertia: [0, 1.0e-9, 1.0e-9], markers: {O: [0, 0, 0], P: [r, 0, 0]}}
  rod: {pose: global, mass: 1.0e-9, inertia: [0, 1.0e-9, 1.0e-9], markers: {P: [r, 0, 0], Q: [r + L, 0, 0]}}
  block: {pose: global, mass: 3, com: [r + L, 0, 0], inertia: [1, 1, 1], markers: {Q: [r + L, 0, 0]}}
joints:
  main: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  wrist: {type: revolute, between: [rod.Q, block.Q], axis: [0, 0, 1]}
  slide: {type: prismatic, between: [ground.O, block.Q], axis: [1, 0, 0]}
drivers: {turn: {measure: main.angle, value: w*t}}
"""
    found = kg.inverse(system(text), t_end=0.3, step=0.005)
    r, L, w, m = 0.1, 0.4, 20.0, 3.0
    a = w * found.t
    s, c = np.sin(a), np.cos(a)
    root = np.sqrt(L * L - r * r * s * s)
    slope = -r * s - r * r * s * c / root
    bend = -r * c - r * r * ((c * c - s * s) / root + (r * s * c) ** 2 / root**3)
    torque = m * bend * w * w * slope
    assert np.abs(found.forces["turn"] - torque).max() < 1e-6 * np.abs(torque).max()
    side = found.reactions.force("slide")[:, 1]  # the rod pushes the block sideways
    assert np.abs(side - m * bend * w * w * (-r * s / root) * -1).max() < 1e-6 * np.abs(side).max()
    assert np.abs(found.reactions.force("slide")[:, 0]).max() < 1e-9


@pytest.mark.parametrize(("formulation", "integrator"), [("matrix-r", "rk4"), ("index1", "rk4")])
def test_a_simulation_fed_back_gives_the_torque_it_was_made_with(formulation, integrator):
    with_motor = FOUR_BAR.replace(
        "forces: {", "forces: {motor: {type: torque, acts_on: JA.angle, value: 3*sin(4*t) + 0.2*JA.angle.velocity}, "
    )
    motion = kg.simulate(system(with_motor), formulation, integrator, t_end=0.2, step=0.002)
    found = kg.inverse(system(FOUR_BAR), motion)
    k = motion.system.coordinates.index("JA.angle")
    assert np.abs(found.forces["JA.angle"] - 3 * np.sin(4 * motion.t) - 0.2 * motion.qd[:, k]).max() < 1e-10
    assert np.abs(found.powers["JA.angle"] - found.forces["JA.angle"] * motion.qd[:, k]).max() < 1e-10
    arrays = kg.inverse(system(FOUR_BAR), t=motion.t, q=motion.q, qd=motion.qd, qdd=motion.qdd)
    assert np.array_equal(arrays.forces["JA.angle"], found.forces["JA.angle"])
    for name in found.reactions:  # the torque acts on the coordinate, reactions are the same
        assert np.abs(found.reactions[name] - motion.reactions(name)).max() < 1e-9


def test_forces_of_orientations_and_drivers_together():
    """Nothing is needed along a motion of the system itself; a torque left out is found at its joint."""
    chain = Model.from_yaml_text(CHAIN)
    motion = kg.simulate(joint(chain), "index1", "rk4", t_end=0.004, step=1e-3)
    assert {name: f.shape for name, f in kg.inverse(joint(chain), motion).forces.items()} == {
        "hinge.angle": (5,), "ball": (5, 3), "tail": (5, 3), "air": (5, 6),
    }  # fmt: skip
    assert max(np.abs(f).max() for f in kg.inverse(joint(chain), motion).forces.values()) < 1e-9
    without = chain.copy()
    without.forces["drag"] = {"type": "force", "at": "e.q", "value": [0, 0, 0]}
    found = kg.inverse(joint(without), motion).forces["air"]
    v, t = motion.marker("e.q").velocity, motion.t
    drag = np.stack([-0.9 * v[:, 0], 0.9 * np.sin(5 * t), -v[:, 2]], axis=1)
    arm = motion.marker("e.q").position - motion.marker("e.p").position
    local = np.hstack([drag, np.cross(arm, drag)])  # the first body is the ground: its axes are the global ones
    assert np.abs(found - local).max() < 1e-9
    driven = Model.from_yaml_text(DRIVEN)
    motion = kg.simulate(joint(driven), "index1", "rk4", t_end=0.004, step=1e-3)
    found = kg.inverse(joint(driven), motion)
    assert found.forces["turn"] == pytest.approx(motion.reactions().forces["turn"], abs=1e-8)
    assert max(np.abs(found.forces[name]).max() for name in driven.degrees_of_freedom) < 1e-8


def test_actuators_are_found_where_they_act():
    """A motor and a ram of the model are left out; their values come back, though neither is a degree of freedom."""
    text = FOUR_BAR.replace(
        "forces: {",
        "forces: {motor: {type: torque, acts_on: JD.angle, value: 2*cos(5*t)}, ram: {type: force, acts_on: reach, value: 4}, ",
    ).replace("objectives:", "measures: {reach: norm(b.C.position - ground.A.position)}\nobjectives:")
    sys = system(text)
    motion = kg.simulate(sys, "matrix-r", "rk4", t_end=0.1, step=0.002)
    found = kg.inverse(sys, motion, actuators=["motor"])
    assert list(found.forces) == ["motor"] and found.residual < 1e-11
    assert np.abs(found.forces["motor"] - 2 * np.cos(5 * motion.t)).max() < 1e-11
    k = motion.system.coordinates.index("JD.angle")
    assert np.abs(found.powers["motor"] - found.forces["motor"] * motion.qd[:, k]).max() < 1e-10
    assert np.abs(kg.inverse(sys, motion, actuators=["ram"]).forces["ram"] - 4).max() < 1e-11
    with pytest.warns(kg.ModelWarning, match="motor, ram are more than the motion needs"):
        both = kg.inverse(sys, motion, actuators=["motor", "ram"])  # one freedom: they share the work
    assert both.reactions.unique_forces == {"motor": False, "ram": False} and both.residual < 1e-11
    with pytest.raises(KinegradError, match="'weight' acts on no measure; choose from motor, ram"):
        kg.inverse(sys, motion, actuators=["weight"])


def test_what_is_refused():
    free, motion = system(FOUR_BAR), kg.simulate(system(FOUR_BAR), t_end=0.002, step=1e-3)
    with pytest.raises(AssemblyError, match="The drivers leave 1 degrees of freedom"):
        kg.drive(free, t_end=1.0)
    with pytest.raises(KinegradError, match="lacks qd and qdd"):
        kg.inverse(free, t=motion.t, q=motion.q)
    with pytest.raises(KinegradError, match="a motion and arrays"):
        kg.inverse(free, motion, t=motion.t)
    with pytest.raises(KinegradError, match="a given motion has its own times"):
        kg.inverse(free, motion, t_end=1.0)
    with pytest.raises(KinegradError, match=r"qd has the shape \(3, 2\); \(3, 3\) is needed"):
        kg.inverse(free, t=motion.t, q=motion.q, qd=motion.qd[:, :2], qdd=motion.qdd)
    with pytest.raises(KinegradError, match="is not assembled at t = 0 s"):
        kg.inverse(free, t=motion.t, q=motion.q + 0.01, qd=motion.qd, qdd=motion.qdd)
    with pytest.raises(KinegradError, match=r"has no coordinate 'rail\.distance'"):
        kg.inverse(system(SLIDER), motion)
    far = DRIVEN_BAR.replace("coupler: 0.9, rocker: 0.6", "coupler: 0.5, rocker: 0.5")  # a crank that cannot go around
    with pytest.raises(AssemblyError, match=r"at t = 0\.\d+ s"):
        kg.drive(system(far.replace("pi/2 + w*t", "1.2 + w*t")), t_end=1.0, step=0.01)
    with pytest.raises(KinegradError, match="cannot be differentiated"):
        kg.gradient(kg.inverse(free, motion).motion)


def test_output_steps_change_what_is_kept_only():
    every = kg.drive(system(DRIVEN_BAR), t_end=0.105, step=0.01)
    some = kg.drive(system(DRIVEN_BAR), t_end=0.105, step=0.01, output_step=0.05)
    assert some.t.tolist() == pytest.approx([0, 0.05, 0.1, 0.105])
    assert np.array_equal(some.q, every.q[[0, 5, 10, 11]]) and some.objectives == every.objectives
    assert some.iterations.sum() == every.iterations.sum()
