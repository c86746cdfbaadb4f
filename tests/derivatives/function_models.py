"""One model with force laws and objectives given twice: by expressions, and by functions of the same values."""

import numpy as np

import kinegrad as kg

TEXT = """
kinegrad: 1
parameters: {L: 0.5, k: 3.0, m: 1.2, c: 0.3}
design: [L, k, m, c]
ground: {markers: {O: [0, 0, 0], S: [0.4, 0.6, 0.1]}}
bodies:
  a: {mass: m, com: [0, L, 0], inertia: [0.1, 0.08, 0.1], markers: {o: [0, 0, 0], q: [0.1, L, 0]}}
  b: {mass: 0.6, com: [0.1, 0.1, 0], inertia: [0.02, 0.03, 0.02], markers: {p: [0, 0, 0], e: [0.2, 0.1, L]}}
joints:
  j: {type: revolute, between: [ground.O, a.o], axis: [1, 0, 0.2]}
  i: {type: revolute, between: [a.q, b.p], axis: [0, 1, 0.5]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  motor: {type: torque, acts_on: j.angle, value: "-k*j.angle - 0.1*j.angle.velocity**3 + 0.2*sin(3*t)"}
  drag: {type: force, at: b.e, frame: body,
         value: ["-c*b.e.velocity.x", "-k*0.2*b.e.velocity.y*b.e.position.y", "0.1*L*cos(t)"]}
  jet: {type: torque, at: a.q, value: ["c*i.angle", "0.1*exp(-t)", "k*0.01*i.angle.velocity"]}
degrees_of_freedom:
  j.angle: {position: 0.3, velocity: 1}
  i.angle: {position: -0.2, velocity: 2}
objectives:
  effort: {integral: "k*j.angle**2 + c*b.e.acceleration.x**2"}
  end: {final: "i.angle*L*b.e.velocity.y"}
simulation: {t_end: 0.1}
"""


def by_expressions():
    return kg.Model.from_yaml_text(TEXT)


def motor(angle, speed, t, k):
    return -k * angle - 0.1 * speed**3 + 0.2 * np.sin(3.0 * t)


def by_functions(function=motor, **options):
    """The same model with functions in the place of its expressions."""
    model = by_expressions()
    arguments = ["j.angle", "j.angle.velocity", "t"]
    model.forces["motor"] = kg.Torque(acts_on="j.angle", value=kg.law(function, arguments, ["k"], **options))
    model.forces["drag"] = kg.Force(
        at="b.e",
        frame="body",
        value=kg.law(
            lambda vx, vy, y, t, k, c, L: (-c * vx, -k * 0.2 * vy * y, 0.1 * L * np.cos(t)),
            ["b.e.velocity.x", "b.e.velocity.y", "b.e.position.y", "t"],
            ["k", "c", "L"],
        ),
    )
    model.forces["jet"] = kg.Torque(
        at="a.q",
        value=kg.law(
            lambda angle, speed, t, k, c: [c * angle, 0.1 * np.exp(-t), k * 0.01 * speed],
            ["i.angle", "i.angle.velocity", "t"],
            ["k", "c"],
        ),
    )
    model.objectives["effort"] = kg.Objective(
        integral=kg.law(lambda angle, a, k, c: k * angle**2 + c * a**2, ["j.angle", "b.e.acceleration.x"], ["k", "c"])
    )
    model.objectives["end"] = kg.Objective(
        final=kg.law(lambda angle, L, v: angle * L * v, ["i.angle", "L", "b.e.velocity.y"])
    )
    return model


def assert_same(found, expected, tolerance):
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    assert (np.abs(found - expected) / scale).max() < tolerance
