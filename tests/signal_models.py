"""A mechanism with a signal of each kind, and its signals written out with NumPy from the motion of the bodies."""

from __future__ import annotations

import numpy as np

from kinegrad.kernels.products import FREEDOMS, OBSERVE, POSITION, TIME

MODEL = """
kinegrad: 1
title: A signal of each kind
parameters: {k: 40, c: 0.7, L: 0.9, push: 2.5, u: [0.1, 0.5, -0.3, 0.4]}
ground:
  markers: {O: [0, 0, 0], P: [1.5, 0.2, 0], Q: [0.2, -1, 0.4], F: {origin: [0.3, 0.2, 0.4], x_axis: [1, 1, 0]}}
bodies:
  crank:
    mass: 1.2
    com: [0.2, 0.03, 0.01]
    inertia: [0.03, 0.03, 0.05, 0.002, 0.001, -0.003]
    point_masses: {lump: {mass: 0.4, at: [0.1, 0.1, 0.2]}}
    markers: {o: [0, 0, 0], p: [0.4, 0, 0], side: {vector: [0, 1, 1]}, F: {origin: [0.3, 0.1, 0.3], z_axis: [0.1, 0, 1]}}
  rod:
    mass: 0.8
    com: [0.5, 0, 0.02]
    inertia: [0.01, 0.08, 0.08]
    markers: {p: [0, 0, 0], b: [1.1, 0, 0], rotation: [0.3, 0.2, 0.1]}
  slider:
    mass: 0.6
    inertia: [0.01, 0.01, 0.01]
    markers: {b: [0, 0, 0], s: [0.1, 0.2, 0]}
  ball:
    mass: 0.5
    com: [0, 0, -0.3]
    inertia: [0.02, 0.03, 0.01]
    markers: {o: [0, 0, 0], e: [0.1, 0, -0.4]}
  drum: {mass: 0.3, inertia: [0.01, 0.01, 0.02], markers: {o: [0, 0, 0], r: [0.2, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, crank.o], axis: [0, 0, 1]}
  knee: {type: revolute, between: [crank.p, rod.p], axis: [0, 0, 1]}
  pin: {type: revolute, between: [rod.b, slider.b], axis: [0, 0, 1]}
  rail: {type: prismatic, between: [ground.P, slider.b], axis: [1, 0, 0], cut: true}
  socket: {type: spherical, between: [slider.s, ball.o]}
  shaft: {type: revolute, between: [ground.P, drum.o], axis: [0, 0, 1]}
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 0.2]}
  strut: {type: spring, between: [ground.Q, rod.b], stiffness: k, damping: c, natural_length: L}
  coil: {type: spring, acts_on: hinge.angle, stiffness: 2*k, damping: 0.1, natural_value: 0.3}
  bush: {type: bushing, between: [ground.F, crank.F], stiffness: [30, 20, 10], damping: [1, 2, 3],
    rotational_stiffness: [1, 2, 3], rotational_damping: [0.1, 0.2, 0.3], natural: [0.1, 0, 0], natural_rotation: [0, 0, 0.1]}
  wind: {type: force, at: rod.b, value: [push, "-rod.b.y.velocity", t], frame: ground}
  jet: {type: force, at: ball.e, value: [0.3, 0.1*t, 0.2], frame: body}
  twist: {type: torque, at: rod.b, value: [0.1, 0.2, sin(t)], frame: body}
  pull: {type: force, acts_on: slider.b.x, value: "-3*slider.b.x.velocity + push"}
  motor: {type: torque, acts_on: knee.angle, value: 0.2*cos(3*t)}
  course: {type: spline, acts_on: hinge.angle, times: [0, 0.1, 0.3, 1], values: u}
  servo: {type: actuator, acts_on: hinge.angle, value: 2 - hinge.angle.velocity, time_constant: 0.05, start: 0.3}
measures:
  camber: atan2(crank.side.x, crank.side.y)
  reach: norm(rod.b.position - ground.Q.position)
drivers:
  feed: {measure: shaft.angle, value: 20*t + 4*t**2}
degrees_of_freedom:
  hinge.angle: {position: 0.7, velocity: 3}
  socket: {rotation: [0.2, -0.1, 0.3], angular_velocity: [1, 2, -1]}
objectives:
  tension: {integral: strut.force**2}
  squared: {final: norm2(rod.angular_velocity)}
simulation: {t_end: 0.3, step: 0.005}
"""


class Bodies:
    """A (k, 3, 3), r, v, a (k, 3) of the origin, omega and its rate (k, 3) of each body, at some states of a motion."""

    def __init__(self, motion, rows):
        system, work = motion.system, motion.system.workspace(s=motion.s)
        self.t = motion.t[rows]
        found = []
        for i in rows:
            work["par"][TIME], work["flag"][FREEDOMS] = motion.t[i], 0
            work["q"][:], work["vp"][:], work["ap"][:] = motion.q[i], motion.qd[i], motion.qdd[i]
            work.call(POSITION)
            work.call(OBSERVE)
            found.append([np.array(x) for x in system.set.bodies(system, work)])
        A, r, V, a = (np.array([state[j] for state in found]) for j in range(4))
        self.of = {}
        for b, name in enumerate(system.model.bodies):
            w, wd = V[:, b, 3:], a[:, b, 3:]
            v = V[:, b, :3] + np.cross(w, r[:, b])
            acceleration = a[:, b, :3] + np.cross(wd, r[:, b]) + np.cross(w, v)
            self.of[name] = A[:, b], r[:, b], v, acceleration, w, wd
        still, k = np.zeros((len(rows), 3)), len(rows)
        self.of["ground"] = np.broadcast_to(np.eye(3), (k, 3, 3)), still, still, still, still, still

    def vector(self, body, local):
        """A direction of a body, its rate and its second rate."""
        A, _, _, _, w, wd = self.of[body]
        d = A @ np.asarray(local, float)
        dd = np.cross(w, d)
        return d, dd, np.cross(wd, d) + np.cross(w, dd)

    def point(self, body, local):
        """A point of a body, its velocity and its acceleration."""
        _, *origin = self.of[body]
        return tuple(x + y for x, y in zip(origin[:3], self.vector(body, local), strict=True))
