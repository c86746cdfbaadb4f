"""Mechanisms that pass positions in which the coordinates they start with lose them, and one that never has any other."""

from kinegrad.model.model import Model

FOUR_BAR = """
kinegrad: 1
parameters: {crank: 0.3, coupler: 0.8, rocker: 0.6, m: 1.2, swing: 1.8, lean: 1.74, k: 5.0}
ground: {markers: {A: [0, 0, 0], D: [0.9, 0, 0]}}
bodies:
  a: {mass: m, com: [crank/2, 0, 0], inertia: [0, 0.01, 0.01], markers: {A: [0, 0, 0], B: [crank, 0, 0]},
      pose: {x_axis: [0.92, 0.39, 0]}}
  b: {mass: 0.8, com: [coupler/2, 0.05, 0], inertia: [0, 0.04, 0.04],
      markers: {B: [0, 0, 0], C: [coupler, 0, 0], P: [0.3, 0.3, 0]},
      pose: {origin: [0.276, 0.117, 0], x_axis: [0.79, 0.61, 0]}}
  c: {mass: 1.0, com: [rocker/2, 0, 0], inertia: [0, 0.03, 0.03], markers: {D: [0, 0, 0], C: [rocker, 0, 0]},
      pose: {origin: [0.9, 0, 0], x_axis: [0.01, 1, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  JB: {type: revolute, between: [a.B, b.B], axis: [0, 0, 1]}
  JC: {type: revolute, between: [b.C, c.C], axis: [0, 0, 1]}
  JD: {type: revolute, between: [ground.D, c.D], axis: [0, 0, 1]}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.D, b.P], stiffness: k, damping: 0.3, natural_length: 0.2}
degrees_of_freedom: {JD.angle: {position: lean, velocity: swing}}
objectives:
  path: {integral: "norm2(b.P.position) + JA.angle.velocity**2/100"}
  effort: {integral: "norm2(b.P.acceleration)"}
  last: {final: "dot(b.P.position, c.C.velocity) + JA.angle.acceleration/100"}
"""

PENDULUM = """
kinegrad: 1
parameters: {L: 0.7, m: 1.3, spin: 9.0, wx: 0.8, J: 0.02, push: 0.4, tilt: 0.3}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bob: {mass: m, com: [0, 0, -L], inertia: [J, 0.03, 0.015], markers: {O: [0, 0, 0], G: [0, 0, -L], P: [0.1, 0.2, -L]}}
joints: {ball: {type: spherical, between: [ground.O, bob.O]}}
forces:
  weight: {type: gravity, acceleration: [0, 0, -9.81]}
  jet: {type: force, at: bob.P, frame: body, value: [push, 0.1, "0.2*sin(3*t)"]}
degrees_of_freedom: {ball: {rotation: [0.2, tilt, 0.1], angular_velocity: [wx, spin, 0.6]}}
objectives:
  path: {integral: "norm2(bob.P.position - vec(0.3, 0.1, 0))"}
  effort: {integral: "norm2(bob.P.acceleration)"}
  last: {final: "dot(bob.P.position, bob.P.velocity) + bob.P.acceleration.x/10"}
"""


def four_bar() -> Model:
    """A crank that turns all the way, started by the angle of the rocker, which turns back at its two dead points."""
    return Model.from_yaml_text(FOUR_BAR)


def point_four_bar() -> Model:
    """The same, started by the height of the coupler's end, whose row varies with q."""
    document = Model.from_yaml_text(FOUR_BAR).to_dict()
    document["degrees_of_freedom"] = {"b.C.x": {"position": "0.9 + rocker*cos(lean)", "velocity": "-swing*rocker"}}
    return Model.from_dict(document)


def pendulum() -> Model:
    """A body on a spherical joint that goes over the top: each Euler parameter passes zero."""
    return Model.from_yaml_text(PENDULUM)


FOUR_BAR_WRT = ("crank", "rocker", "swing", "k")
PENDULUM_WRT = ("L", "spin", "tilt", "push")


def rocker(size):
    """A rod on a ball joint, held by two links: rows of links are of size², those of Euler parameters of 1; starts unturned."""
    rod = {
        "mass": 1, "com": [0.3 * size, 0.1 * size, 0], "inertia": [0.02 * size**2, 0.05 * size**2, 0.06 * size**2],
        "markers": {"O": [0, 0, 0], "P": [size, 0, 0], "Q": [0.4 * size, 0.7 * size, 0.1 * size]},
    }  # fmt: skip
    ground = {"O": [0, 0, 0], "A": [0.9 * size, 0.2 * size, 0.8 * size], "B": [-0.3 * size, 0.6 * size, 0.9 * size]}
    return Model.from_dict(
        {
            "kinegrad": 1, "ground": {"markers": ground}, "bodies": {"rod": rod},
            "joints": {
                "ball": {"type": "spherical", "between": ["ground.O", "rod.O"]},
                "a": {"type": "link", "between": ["ground.A", "rod.P"], "length": 0.69**0.5 * size},
                "b": {"type": "link", "between": ["ground.B", "rod.Q"], "length": 1.14**0.5 * size},
            },
            "forces": {"gravity": {"type": "gravity", "acceleration": [0, 0, -9.81 * size]}},
            "degrees_of_freedom": {"rod.P.y": {"position": 0, "velocity": 0}},
            "objectives": {
                "shake": {"integral": "norm2(rod.P.acceleration)"}, "pull": {"final": "rod.Q.acceleration.x"},
            },
        }
    )  # fmt: skip
