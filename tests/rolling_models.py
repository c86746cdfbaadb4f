"""Models with rows of velocities: a skate on an incline, Chaplygin's sleigh, a rolling disk."""

from kinegrad.model.model import Model

SKATE = """
kinegrad: 1
parameters: {m: 1.3, J: 0.2, g: 4.0, w: 2.0, v0: 0.3, tilt: 0.0}
design: [m, J, g, w, v0]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  skate: {mass: m, com: [0, 0, 0], inertia: [J, J, J],
          markers: {C: [0, 0, 0], T: [0.3, 0, 0], n: {vector: [0, 1, tilt]}}}
joints:
  P: {type: planar, between: [ground.O, skate.C], axis: [0, 0, 1], x_axis: [1, 0, 0]}
forces: {gravity: {type: gravity, acceleration: [g, 0, -9]}}
constraints:
  edge: {type: velocity, value: "dot(skate.n.position, skate.C.velocity)"}
degrees_of_freedom: {P.x: {position: 0, velocity: v0}, P.y: {position: 0}, P.angle: {position: 0, velocity: w}}
objectives:
  x: {final: skate.C.x}
  y: {final: skate.C.y}
  rush: {integral: "norm2(skate.T.acceleration)"}
"""

SLEIGH = """
kinegrad: 1
parameters: {m: 1.2, J: 0.3, a: 0.4, w: 1.5}
design: [m, J, a, w]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  sleigh: {mass: m, com: [a, 0, 0], inertia: [0.1, 0.1, J], markers: {C: [0, 0, 0], G: [a, 0, 0]}}
joints:
  P: {type: planar, between: [ground.O, sleigh.C], axis: [0, 0, 1], x_axis: [1, 0, 0]}
constraints:
  edge: {type: velocity, value: "cos(P.angle)*P.y.velocity - sin(P.angle)*P.x.velocity"}
degrees_of_freedom: {P.x: {position: 0, velocity: 0}, P.y: {position: 0}, P.angle: {position: 0, velocity: w}}
objectives:
  speed: {final: "cos(P.angle)*P.x.velocity + sin(P.angle)*P.y.velocity"}
  turn: {final: P.angle.velocity}
  path: {integral: "norm2(sleigh.G.velocity)"}
"""

DISK = """
kinegrad: 1
parameters: {m: 0.8, r: 0.25, lean: 0.3, rate: 1.5, spin: -20.0, push: 0.0}
design: [m, r, lean, rate, spin]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bx: {mass: 0, markers: {o: [0, 0, 0]}}
  by: {mass: 0, markers: {o: [0, 0, 0]}}
  bz: {mass: 0, markers: {o: [0, 0, 0]}}
  fork: {mass: 0, markers: {o: [0, 0, 0]}}
  hub: {mass: 0, markers: {o: [0, 0, 0]}}
  disk: {mass: m, inertia: [m*r**2/4, m*r**2/2, m*r**2/4],
         markers: {C: [0, 0, 0], e: {vector: [1, 0, 0]}, f: {vector: [0, 0, 1]}, P: [r, 0, 0]}}
joints:
  X: {type: prismatic, between: [ground.O, bx.o], axis: [1, 0, 0]}
  Y: {type: prismatic, between: [bx.o, by.o], axis: [0, 1, 0]}
  Z: {type: prismatic, between: [by.o, bz.o], axis: [0, 0, 1]}
  yaw: {type: revolute, between: [bz.o, fork.o], axis: [0, 0, 1]}
  tip: {type: revolute, between: [fork.o, hub.o], axis: [1, 0, 0]}
  roll: {type: revolute, between: [hub.o, disk.C], axis: [0, 1, 0]}
measures:
  cosine: "cos(tip.angle)"
forces:
  gravity: {type: gravity, acceleration: [0, 0, -9.81]}
  wind: {type: force, at: disk.C, value: [push, 0, 0]}
constraints:
  floor: {type: position, value: "disk.C.z - r*cosine"}
  slip_x: {type: velocity, value: "disk.C.velocity.x - r*(disk.e.z*disk.e.velocity.x + disk.f.z*disk.f.velocity.x)/cosine"}
  slip_y: {type: velocity, value: "disk.C.velocity.y - r*(disk.e.z*disk.e.velocity.y + disk.f.z*disk.f.velocity.y)/cosine"}
degrees_of_freedom:
  X.distance: {position: 0}
  Y.distance: {position: 0}
  yaw.angle: {position: 0, velocity: rate}
  tip.angle: {position: lean, velocity: 0}
  roll.angle: {position: 0, velocity: spin}
objectives:
  x: {final: disk.C.x}
  y: {integral: "disk.C.velocity.y*disk.C.x"}
  rush: {integral: "norm2(disk.P.acceleration)/1000"}
"""


def skate() -> Model:
    return Model.from_yaml_text(SKATE)


def sleigh() -> Model:
    return Model.from_yaml_text(SLEIGH)


def disk() -> Model:
    return Model.from_yaml_text(DISK)
