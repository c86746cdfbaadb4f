"""Models with coordinates that elements own: angles of cut joints, and actuators."""

from kinegrad.model.model import Model

FOUR_BAR = """
kinegrad: 1
parameters: {k: 4.0, c: 0.05, a: 0.4, b: 0.9, turn: 0.9, spin: 3.0, tau: 0.06, u: 1.5, y0: 0.4}
design: [k, c, a, b, spin]
ground: {markers: {A: [0, 0, 0], D: [1, 0, 0]}}
bodies:
  crank: {mass: 1, com: [a/2, 0, 0], inertia: [0, 0.01, 0.01], markers: {A: [0, 0, 0], B: [a, 0, 0]},
          pose: {origin: [0, 0, 0], x_axis: [0.6, 0.8, 0]}}
  rod: {mass: 1, com: [b/2, 0, 0], inertia: [0, 0.05, 0.05], markers: {B: [0, 0, 0], C: [b, 0, 0]},
        pose: {origin: [0.24, 0.32, 0], x_axis: [1, 0.3, 0]}}
  rocker: {mass: 1, com: [0.35, 0, 0], inertia: [0, 0.05, 0.05], markers: {D: [0, 0, 0], C: [0.7, 0, 0]},
           pose: {origin: [1, 0, 0], x_axis: [0.2, 1, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  JB: {type: revolute, between: [crank.B, rod.B], axis: [0, 0, 1]}
  JC: {type: revolute, between: [rod.C, rocker.C], axis: [0, 0, 1]}
  JD: {type: revolute, between: [ground.D, rocker.D], axis: [0, 0, 1]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  sa: {type: spring, acts_on: JA.angle, stiffness: k, damping: c, natural_value: 1}
  sb: {type: spring, acts_on: JB.angle, stiffness: k, damping: c, natural_value: -1}
  sc: {type: spring, acts_on: JC.angle, stiffness: 2*k, damping: c, natural_value: 2}
  sd: {type: torque, acts_on: JD.angle, value: "3*sin(5*t) + 0.1*JC.angle"}
degrees_of_freedom: {JA.angle: {position: turn, velocity: spin}}
objectives:
  x: {final: "norm2(rod.C.position)"}
  y: {integral: "JC.angle*JB.angle.velocity"}
  z: {integral: "norm2(rod.C.acceleration)/100 + JC.angle.acceleration**2/1000"}
"""

# A loop with a spherical joint, cut at a Cardan, cylindrical or planar joint whose angles the model uses.
SPATIAL = """
kinegrad: 1
parameters: {m: 0.8, k: 3.0, c: 0.1, L: 0.3, tilt: 0.3, turn: -0.02, spin: 0.5}
ground: {markers: {O: [0, 0, 0], R: [0.9, -0.3, 0.2]}}
bodies:
  a: {pose: global, mass: 0.9, com: [0.1, 0.05, 0.1], inertia: [0.03, 0.04, 0.02, 0.004, -0.003, 0.005],
      markers: {O: [0, 0, 0], P: [L, 0.1, 0.2]}}
  b: {pose: global, mass: m, com: [0.4, 0, 0.35], inertia: [0.05, 0.04, 0.06], markers: {P: [L, 0.1, 0.2], Q: [0.5, -0.2, 0.5]}}
  d: {pose: global, mass: 1.2, com: [0.7, -0.2, 0.4], inertia: [0.05, 0.07, 0.06, 0.01, 0, 0.02],
      markers: {Q: [0.5, -0.2, 0.5], R: [0.9, -0.3, 0.2], E: [0.8, 0.1, 0.6]}}
joints:
  ball: {type: spherical, between: [ground.O, a.O]}
  knee: {type: cardan, between: [a.P, b.P], axes: [[1, 0, tilt], [0, 1, 0]]}
  tube: {type: cylindrical, between: [b.Q, d.Q], axis: [1, tilt, -0.4]}
  post: {type: revolute, between: [d.R, ground.R], axis: [0, 0.4, 1]}
forces:
  gravity: {type: gravity, acceleration: [0.5, -2, -9.81]}
  twist: {type: spring, acts_on: knee.angle1, stiffness: k, damping: c, natural_value: 0.2}
  bend: {type: torque, acts_on: knee.angle2, value: "-k*knee.angle2 + 0.3*sin(4*t)"}
  roll: {type: spring, acts_on: tube.angle, stiffness: k, damping: c, natural_value: tilt}
  push: {type: spring, acts_on: tube.distance, stiffness: 20*k, damping: c, natural_value: 0.02}
degrees_of_freedom:
  post.angle: {position: turn, velocity: spin}
  tube.angle: {position: 0.01, velocity: 0.2}
objectives:
  shake: {integral: "norm2(b.Q.acceleration)/100 + knee.angle2.velocity**2"}
  last: {final: "dot(b.Q.velocity, d.E.position) + knee.angle1*tube.angle"}
"""


def four_bar(actuator: bool = False) -> Model:
    """Every joint coordinate is used; with an actuator in the place of the torque on JD."""
    model = Model.from_yaml_text(FOUR_BAR)
    if actuator:
        model.forces["sd"] = {
            "type": "actuator", "acts_on": "JD.angle", "value": "u*(1 - JC.angle/3) + sin(9*t) - c*JB.angle.velocity",
            "time_constant": "tau", "start": "y0",
        }  # fmt: skip
    return model


def spatial() -> Model:
    """A spatial loop with springs on all angles."""
    return Model.from_yaml_text(SPATIAL)


def motor(value="u0") -> Model:
    """A rod turned by an actuator alone: a closed form."""
    return Model.from_yaml_text(f"""
kinegrad: 1
parameters: {{m: 2.0, L: 0.5, tau: 0.08, u0: 3.0, y0: 0.5}}
design: [m, L, tau, u0, y0]
ground: {{markers: {{O: [0, 0, 0]}}}}
bodies:
  rod: {{mass: m, com: [L/2, 0, 0], inertia: [0, m*L**2/12, m*L**2/12], markers: {{O: [0, 0, 0], tip: [L, 0, 0]}}}}
joints:
  hinge: {{type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {{motor: {{type: actuator, acts_on: hinge.angle, value: {value}, time_constant: tau, start: y0}}}}
degrees_of_freedom: {{hinge.angle: {{position: 0, velocity: 0}}}}
objectives: {{angle: {{final: hinge.angle}}, rate: {{final: hinge.angle.velocity}}, path: {{integral: hinge.angle}}}}
""")
