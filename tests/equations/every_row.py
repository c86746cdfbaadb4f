"""A model with every kind of row, and a state of it in each set."""

import numpy as np
from products_by_complex_step import Case
from small_mechanisms import two_bodies

import kinegrad as kg
from kinegrad.coordinates.natural.lowering import Lowering

#: Every kind of row on two bodies, whether they can be met together or not: at a state nothing has to be assembled.
JOINTS = """
  c1: {type: revolute, between: [ground.S, b.q], axis: [0, tilt, 1], cut: true}
  c2: {type: screw, between: [ground.S, b.q], axis: [1, tilt, 0.2], pitch: 0.3*L, cut: true}
  c3: {type: cylindrical, between: [a.p, b.q], axis: [1, 0, 0.2], cut: true}
  c4: {type: prismatic, between: [b.q, ground.O], axis: [1, tilt, 0.2], cut: true}
  c5: {type: cardan, between: [ground.S, b.q], axes: [[0, 1, 0], [1, 0, tilt]], cut: true}
  c6: {type: planar, between: [a.s, b.q], axis: [0, 0, 1], x_axis: [1, 0, 0], cut: true}
  c7: {type: fixed, between: [a.s, b.q], cut: true}
  c8: {type: spherical, between: [ground.S, b.q], cut: true}
  c9: {type: link, between: [ground.S, b.q], length: d}
"""
ROWS = """
constraints:
  coincidence: {type: coincidence, between: [b.q, ground.S]}
  distance: {type: distance, between: [a.s, b.q], distance: d}
  dot: {type: dot, between: [a.v, b.v], value: tilt}
  angle: {type: angle, between: [ground.n, b.v], value: 1 + tilt}
  parallel: {type: parallel, between: [a.v, b.v]}
  same: {type: same-direction, between: [ground.n, b.v]}
  line: {type: point-on-line, between: [a.p, b.q], along: a.v}
  plane: {type: point-in-plane, between: [ground.S, b.q], normal: ground.n, distance: d*tilt}
  gear: {type: linear, terms: {c1.angle: 2, b.q.x: -tilt}, value: 0.1}
  sway: {type: guidance, measure: reach, value: "0.6 + 0.05*sin(3*t)"}
  path: {type: guidance, marker: b.q, value: [t, "L*t**2", tilt]}
  bowl: {type: position, value: "b.q.y - 0.5*t*b.q.x**2 - sin(t)"}
  skate: {type: velocity, value: "dot(b.v.position, b.q.velocity) + t*a.p.x.velocity - t**2"}
measures:
  reach: norm(b.q.position - a.s.position)
  along: dot(a.v.position, b.q.position - a.s.position)
drivers:
  absolute: {measure: a.s.z, value: 0.2*t + tilt*t**3}
  apart: {measure: reach, value: d + 0.1*t}
  slide: {measure: along, value: cos(2*t)}
  turn: {measure: c1.angle, value: 3*t + 0.1*t**2}
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 9, damping: 0.4, natural_length: 0.1}
  push: {type: force, at: b.q, value: [1, "sin(2*t)*b.q.x", "-d*b.q.velocity.x"], frame: body}
degrees_of_freedom:
  a.p.x: {position: 0.1, velocity: 0.2}
  b.q.y: {position: 0.1, velocity: 0.2}
"""


def alone(model):
    """In natural coordinates that no body shares: joints that contradict each other cannot be held by one and the same."""
    return Lowering(model, None, merge=True, planar="off", sharing=False).system()


def every_row(kind) -> Case:
    """All rows in the coordinates `kind`, at a random state."""
    model = two_bodies(JOINTS + ROWS, "d: 1.1", ("type: floating", "type: spherical"))
    system = kg.lower(model, kind) if kind != "natural" else alone(model)
    rng = np.random.default_rng(5)
    state = {name: rng.normal(size=system.n) for name in ("v", "a")}
    q = system.set.guess(system, system.s)
    state["q"] = np.concatenate([q, np.zeros(system.n - len(q))]) + 0.2 * rng.normal(size=system.n)
    return Case(system, system.s, state | {"vp": state["v"], "ap": 0.0 * q[0]}, system.directions(()), 0.37)
