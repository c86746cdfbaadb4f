"""Models with bushings for the derivatives of products and of whole runs."""

from kinegrad.model.model import Model

OPEN = """
kinegrad: 1
parameters: {L: 0.6, k: 40, c: 0.7, kt: 5, ct: 0.2, tilt: 0.3, off: 0.05, turn: 0.2, spin: 1.1, shot: 0.3, m: 1.2}
ground: {markers: {O: [0, 0, 0.1], F: {origin: [0.5, -0.2, tilt], x_axis: [1, tilt, 0.1], z_axis: [0.2, 0, L]}}}
bodies:
  a: {mass: m, com: [0.1, 0.1, -0.2], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
      markers: {p: [0, 0.1, 0], q: [L, 0.1, 0.2], F: {origin: [0.1, L, 0], x_axis: [1, 0, tilt], z_axis: [0, L, 1]}}}
  b: {mass: 0.8, com: [0.2, 0, 0.1], inertia: [0.2, 0.3, 0.25],
      markers: {p: [-0.1, 0.2, tilt], F: {origin: [L, 0.3, -0.2], x_axis: [0.9, tilt, 0]}}}
  e: {mass: 0.6, com: [0.1, 0, 0], inertia: [0.1, 0.12, 0.15],
      markers: {p: [0, 0.1, 0.1], F: {origin: [0.2, L, 0.3], x_axis: [1, 0.2, 0], z_axis: [tilt, 0, 1]}}}
joints:
  ball: {type: spherical, between: [ground.O, a.p]}
  hinge: {type: revolute, between: [a.q, b.p], axis: [1, tilt, 0.4]}
  air: {type: floating, between: [ground.O, e.p]}
forces:
  gravity: {type: gravity, acceleration: [0.3, -9.81, 1]}
  mount: {type: bushing, between: [ground.F, e.F], stiffness: [k, 2*k, 30], damping: [c, 0.3, c/2], natural: [off, 0.1, 0],
          rotational_stiffness: [kt, 3, 4], rotational_damping: [0.1, ct, 0.3], natural_rotation: [0.1, tilt, -0.2]}
  mate: {type: bushing, between: [b.F, e.F], stiffness: [10, k, 20], damping: [0.1, c, 0.2], rotational_stiffness: [1, kt, 2],
         rotational_damping: [ct, 0, 0.1]}
degrees_of_freedom:
  ball: {rotation: [turn, 0.1, -0.2], angular_velocity: [0.5, spin, -0.3]}
  hinge.angle: {position: turn, velocity: spin}
  air: {position: [0.1, shot, 0.2], velocity: [shot, 0.3, 0.1], rotation: [0.3, turn, 0.1], angular_velocity: [0.1, 0, spin]}
objectives:
  path: {integral: "norm2(e.F.position - b.F.position) + tilt*t"}
  rush: {integral: "norm2(e.F.acceleration)/100"}
  end: {final: "e.F.position.x*b.F.velocity.y + hinge.angle"}
"""

LOOP = """
kinegrad: 1
parameters: {L: 0.5, k: 60, c: 0.9, kt: 6, ct: 0.3, spin: 2, skew: 0.1, off: 0.02}
ground: {markers: {O: [0, 0, 0], Q: [1.1, 0, 0]}}
bodies:
  crank: {mass: 0.7, com: [L/2, 0, 0], inertia: [0.01, 0.03, 0.03], markers: {A: [0, 0, 0], B: [L, 0, 0]}}
  rod: {mass: 0.9, com: [0.4, 0, 0], inertia: [0.01, 0.05, 0.05], markers: {B: [0, 0, 0], C: [0.9, 0, 0],
        F: {origin: [0.4, 0.1, 0], x_axis: [1, skew, 0.1], z_axis: [0, skew, 1]}}}
  lever: {mass: 0.8, com: [0, 0.3, 0], inertia: [0.04, 0.01, 0.04], markers: {Q: [0, 0, 0], C: [0, 0.7, 0]}}
  load: {mass: 0.5, com: [0, 0.02, 0], inertia: [0.02, 0.03, 0.04], markers: {P: [0, 0, 0],
         F: {origin: [0, 0, 0.05], x_axis: [1, 0, skew]}}}
joints:
  A: {type: revolute, between: [ground.O, crank.A], axis: [0, 0, 1]}
  B: {type: revolute, between: [crank.B, rod.B], axis: [0, 0, 1]}
  C: {type: revolute, between: [rod.C, lever.C], axis: [0, 0, 1]}
  Q: {type: revolute, between: [ground.Q, lever.Q], axis: [0, 0, 1]}
  air: {type: floating, between: [ground.O, load.P]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0.5]}
  mount: {type: bushing, between: [rod.F, load.F], stiffness: [k, 50, 2*k], damping: [c, c, 0.5], natural: [0, off, 0],
          rotational_stiffness: [kt, 5, 4], rotational_damping: [ct, 0.2, 0.1], natural_rotation: [0, skew, 0]}
degrees_of_freedom:
  A.angle: {position: 0.9, velocity: spin}
  air: {position: [0.7, 0.6, 0.02], velocity: [0, 0.1, 0], rotation: [0.1, 0.2, 0.3], angular_velocity: [0, 0.2, 0.1]}
objectives:
  path: {integral: "norm2(load.F.position - rod.F.position)"}
  end: {final: "load.F.position.x*load.F.velocity.y + A.angle"}
"""


def open_tree() -> Model:
    """Bushings to the ground and between two bodies, on spherical, floating and hinged joints."""
    return Model.from_yaml_text(OPEN)


def loop() -> Model:
    """A four-bar linkage with a load on its coupler."""
    return Model.from_yaml_text(LOOP)
