"""A driven double pendulum with a spring: objectives of every kind, with forces of constraints in them."""

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
