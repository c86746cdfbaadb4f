"""A mechanism whose forces, driver, guided row and objectives use tables, kinks and jumps, in a tree and in a loop."""

from kinegrad.model.model import Model

TEXT = """
kinegrad: 1
parameters: {m: 1.2, L: 0.5, k: 30, road: [0, 0.02, 0.06, 0.03, 0.01], stiff: [-4, 0, 1, 6], late: 0.1, bend: 0.3}
tables:
  bump: {x: [-0.1, 0.01, 0.03, 0.06, 0.2], y: road}
  held: {x: [0, 0.5, 1, 1.4], y: [0.1, bend, 0.5, k/50], outside: hold}
  bite: {x: [-1, 0, 0.3, 3], y: stiff, interpolation: linear, outside: extrapolate}
ground: {markers: {O: [0, 0, 0], Q: [1.1, 0.1, 0]}}
bodies:
  cart: {pose: global, mass: 1, inertia: [0.1, 0.1, 0.1], markers: {C: [0, 0, 0]}}
  crank: {pose: {x_axis: [0.6, 0.8, 0]}, mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.03, 0.03],
          markers: {A: [0, 0, 0], B: [L, 0, 0]}}
  rod: {pose: {origin: [0.3, 0.4, 0]}, mass: 0.9, com: [0.4, 0, 0], inertia: [0.01, 0.05, 0.05],
        markers: {B: [0, 0, 0], C: [0.9, 0, 0]}}
  lever: {pose: {origin: [1.1, 0.1, 0]}, mass: 0.8, com: [0, 0.3, 0], inertia: [0.04, 0.01, 0.04],
          markers: {Q: [0, 0, 0], C: [0, 0.5, 0]}}
  slider: {pose: global, mass: 0.4, com: [0.1, 0.2, 0], inertia: [0.01, 0.01, 0.01], markers: {S: [0, 0, 0]}}
joints:
  slide: {type: prismatic, between: [ground.O, cart.C], axis: [1, 0.1, 0]}
  A: {type: revolute, between: [cart.C, crank.A], axis: [0, 0, 1]}
  B: {type: revolute, between: [crank.B, rod.B], axis: [0, 0, 1]}
  C: {type: revolute, between: [rod.C, lever.C], axis: [0, 0, 1]}
  Q: {type: revolute, between: [ground.Q, lever.Q], axis: [0, 0, 1]}
  track: {type: prismatic, between: [ground.O, slider.S], axis: [0, 1, 0]}
measures:
  lift: table(crank.B.x, held)
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0.5]}
  stop: {type: torque, acts_on: A.angle, value: "-table(A.angle - 1, bite) - k/100*max(A.angle.velocity - late, 0, -1)"}
  air: {type: force, at: rod.C, value: ["-abs(rod.C.velocity.x)", "table(t, bump)*table(table(t, bump), held)", "min(L, t)"]}
  push: {type: force, at: lever.C, value: ["3*step(t - 0.016)", "m*sign(sin(200*t))", 0]}
  lifted: {type: force, acts_on: lift, value: "2 - table(lift, bite)"}
constraints:
  follow: {type: position, value: "slider.S.y - table(crank.B.y, held)*table(t, bump) - lift/3"}
drivers:
  go: {measure: slide.distance, value: "table(t, bump) + 0.01*sin(9*t)"}
degrees_of_freedom:
  A.angle: {position: 0.9, velocity: 2}
objectives:
  path: {integral: "norm2(rod.C.position)*table(crank.B.x, held) + max(rod.C.x, L, t)*step(t - 0.016)"}
  rush: {integral: "table(slider.S.acceleration.y/50, bite)**2 + abs(A.angle.acceleration)/50"}
  end: {final: "A.angle + table(t, bump) + table(lift + rod.C.velocity.x, held)"}
"""


def tables() -> Model:
    """Tables of every kind, also of one another, and of time, positions, velocities and accelerations."""
    return Model.from_yaml_text(TEXT)
