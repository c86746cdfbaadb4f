"""The start of a mechanism in two coordinate sets: the same positions, velocities and accelerations of markers and bodies."""

import json

import numpy as np
from helpers import assert_close
from joint_roles import KINDS as JOINTS

import kinegrad as kg
from kinegrad.kernels.products import OBSERVE
from kinegrad.kinematics.start import start

# A chain of two bodies; the second hangs on a joint of any kind, whose coordinates or rotation are degrees of freedom.
LOOP = """
kinegrad: 1
parameters: {L: 0.7}
ground: {markers: {O: [0.1, -0.2, 0.3], Q: [0.5, 0.1, -0.2]}}
bodies:
  a: {mass: 1.3, com: [0.1, 0.2, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0.05, 0.4, 0.1], q: [0.3, 0.2, L]}, point_masses: {tip: {mass: 0.4, at: [0.3, 0.2, L]}},
      pose: {origin: [0.1, 0.2, 0.1], x_axis: [1, 0.2, 0.1]}}
  b: {mass: 0.8, com: [0, 0.1, 0.2], inertia: [0.1, 0.2, 0.2], markers: {p: [-0.1, 0.2, 0.1], s: [0.4, 0.3, -0.2]},
      pose: {origin: [0.4, 0.3, 0.6], z_axis: [0.3, 0.1, 1]}}
joints:
  first: {type: cardan, between: [ground.O, a.p], axes: [[1, 0, 0], [0, 1, 0]]}
  it: JOINT
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.Q, b.s], stiffness: 30, damping: 0.8, natural_length: 0.4}
degrees_of_freedom: {first.angle1: {position: 0.3, velocity: 1.1}, first.angle2: {position: -0.2, velocity: 0.7}, STARTS}
"""
STARTS = {
    "revolute": "it.angle: {position: 7, velocity: 1.3}",
    "prismatic": "it.distance: {position: 0.4, velocity: -0.3}",
    "cylindrical": "it.angle: {position: -3, velocity: 2}, it.distance: {position: 0.2, velocity: 0.1}",
    "screw": "it.angle: {position: 8, velocity: -2}",
    "cardan": "it.angle1: {position: 0.8, velocity: 1}, it.angle2: {position: 4, velocity: -1}",
    "planar": "it.x: {position: 0.3, velocity: 1}, it.y: {position: -0.2, velocity: 0.2}, it.angle: {position: 2, velocity: 3}",
    "spherical": "it: {rotation: [0.3, -2.5, 1.2], angular_velocity: [1, 2, -1]}",
    "floating": "it: {euler_parameters: [0.1, 1, -2, 0.3], angular_velocity: [1, 2, -1], "
    "position: [0.1, 0.4, 0.2], velocity: [1, 0, 2]}",
    "fixed": "",
}
NAMES = [*(name for name in JOINTS if "without" not in name), "floating"]


def chain(name, turned=False):
    """The chain with a joint of that name: angles with turns, and rotations near half a turn."""
    kind = name.split()[0]
    entries = {"type": kind, "between": ["a.q", "b.p"][:: -1 if turned else 1], **JOINTS.get(name, {})}
    return kg.Model.from_yaml_text(LOOP.replace("JOINT", json.dumps(entries)).replace("STARTS", STARTS[kind]))


def started(system):
    """Position, velocity and acceleration of all markers, and the motion of the bodies, at the start."""
    work = system.workspace(every_marker=True)
    start(system, work)
    work.call(OBSERVE)
    markers = [work["mk"][name][[system.markers[k] for k in sorted(system.markers)]] for name in ("x", "xd", "xdd")]
    return [*markers, *system.set.bodies(system, work)]


def assert_same_start(one, other, tolerance=1e-9):
    """Equal freedoms, and markers and bodies with equal positions, velocities and accelerations, in two systems."""
    assert kg.mobility(one).dof == kg.mobility(other).dof
    for x, y in zip(started(one), started(other), strict=True):
        assert_close(y, x, tolerance, max(1.0, np.abs(x).max(initial=0.0)))
