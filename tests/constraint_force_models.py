"""Objectives with forces of constraints: those of a driven double pendulum with a spring, and of a body on one constraint."""

from kinegrad.model.model import Model

BODIES = """
kinegrad: 1
parameters: {T: 0.012, m: 2.0, L: 0.5, k: 40, w: 3.0, gy: -9.81, start: 0.3, spin: 0.5, y0: [0, 0.1, 0.4], J: m*L**2/12}
design: [m, L, k, w, gy, start, spin, y0]
tables: {course: {x: [0, 0.01, 0.02], y: y0, interpolation: linear, outside: hold}}
ground: {markers: {O: [0, 0, 0], H: [0.6, 0.3, 0]}}
bodies:
  arm: {mass: m, com: [L/2, 0.02, 0], inertia: [0.01, J, J], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
  rod: {mass: 1.0, com: [0.45, 0, 0], inertia: [0.01, 0.07, 0.07], pose: {origin: [0.5, 0, 0]},
        markers: {A: [0, 0, 0], B: [0.9, 0, 0.1]}}
joints:
  hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}
  pin: {type: spherical, between: [arm.tip, rod.A]}
forces:
  gravity: {type: gravity, acceleration: [0, gy, 0.3]}
  coil: {type: spring, between: [ground.H, rod.B], stiffness: k, damping: 0.5, natural_length: 0.2}
drivers:
  motor: {measure: hinge.angle, value: "w*t + 5*t**2"}
degrees_of_freedom: {pin: {rotation: [0, 0, start], angular_velocity: [0, spin, 0.2]}}
"""
OF_DRIVER = """
objectives:
  effort: {integral: motor.force**2}
  power: {final: motor.power + rod.B.acceleration.x}
  some: {sum: "rod.B.y*table(t, course) + coil.force", times: [0, 0.006, 0.0085]}
  top: {maximum: rod.B.y.velocity, sharpness: 30}
  low: {minimum: motor.force + kinetic_energy, sharpness: 0.5}
"""
OF_JOINTS = """
  peak: {maximum: pin.reaction.force.norm, sharpness: 0.5}
  bearing: {integral: "hinge.reaction.force.x*pin.reaction.force.y + hinge.reaction.moment.x"}
"""
SIMULATION = "simulation: {t_end: T, step: 0.003}\n"
#: A body that nothing but one constraint and its weight act on.
CONSTRAINED = """
kinegrad: 1
parameters: {m: 1.7, px: 0.2, s: 1}
design: [m, px, s]
ground: {markers: {O: [0.1, 0.2, -0.1]}}
bodies:
  arm: {mass: 2, com: [0.3, 0, 0.1], inertia: [0.1, 0.2, 0.3],
        markers: {O: [0, 0, 0], A: [0.6, 0.1, 0.2], u: {vector: [0.2, 0.1, s]}, w: {vector: [s, 0.2, 0.1]}}}
  tool: {pose: {origin: [0.6, 0.3, 0.9]}, mass: m, com: [0.1, 0.05, -0.02],
         inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05],
         markers: {C: [0, 0, 0], P: [px, -0.1, 0.3], x: {vector: [1, 0, 0]}, y: {vector: [0, 1, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0.1, 0.3, 1]}}
forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}
constraints: {it: {type: KIND}}
degrees_of_freedom: {hinge.angle: {position: 0.3, velocity: 1.2}, FREE}
objectives:
  force: {integral: it.reaction.force.x + 2*it.reaction.force.y - it.reaction.force.z}
  moment: {final: it.reaction.moment.x + 2*it.reaction.moment.y - it.reaction.moment.z}
simulation: {t_end: 0.004, step: 0.002, formulation: {type: index1}, integrator: {type: rk4}}
"""
GIVEN = {
    "C.x": (0.6, 0.3), "C.y": (0.3, -0.2), "C.z": (0.9, 0.5), "x.y": (0.1, 0.7), "x.z": (0.05, -0.8), "y.z": (-0.1, 0.6),
}  # fmt: skip
#: Each kind: what it says, and the components of markers that it leaves to be given.
CONSTRAINTS = {
    "coincidence": ("between: [arm.A, tool.P]", "x.y x.z y.z"),
    "distance": ("between: [arm.A, tool.P], distance: 1.1*s", "C.x C.y x.y x.z y.z"),
    "dot": ("between: [arm.u, tool.x], value: 0.2*s", "C.x C.y C.z x.y y.z"),
    "angle": ("between: [arm.u, tool.x], value: 1.3*s", "C.x C.y C.z x.y y.z"),
    "parallel": ("between: [arm.w, tool.x]", "C.x C.y C.z y.z"),
    "same-direction": ("between: [arm.w, tool.x]", "C.x C.y C.z y.z"),
    "point-on-line": ("between: [arm.A, tool.P], along: arm.u", "C.z x.y x.z y.z"),
    "point-in-plane": ("between: [arm.A, tool.P], normal: arm.u, distance: 0.4*s", "C.x C.y x.y x.z y.z"),
    "guidance": ('marker: tool.P, value: ["0.6 + t*s", "0.3 - t**2", "0.9 + sin(t)"]', "x.y x.z y.z"),
}


def constrained(kind):
    """The model with a constraint of this kind, and its reaction in objectives."""
    text, free = CONSTRAINTS[kind]
    starts = ", ".join("tool.{}: {{position: {}, velocity: {}}}".format(name, *GIVEN[name]) for name in free.split())
    return Model.from_yaml_text(CONSTRAINED.replace("KIND", f"{kind}, {text}").replace("FREE", starts))
