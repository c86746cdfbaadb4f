"""Small models that go wrong, or nearly so, for the tests of starts and of failures."""

import numpy as np

from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model

FOUR_BAR = """
parameters: {crank: 0.3, coupler: 0.9, rocker: 0.6, span: 0.8}
ground: {markers: {A: [0, 0, 0], D: [span, 0, 0]}}
bodies:
  a: {pose: {origin: [0, 0, 0], x_axis: [0.2, 1, 0]}, mass: 1, com: [crank/2, 0, 0], inertia: [0, 0.01, 0.01],
      markers: {A: [0, 0, 0], B: [crank, 0, 0]}}
  b: {pose: {origin: [0, 0.3, 0], x_axis: [1, 0.4, 0]}, mass: 2, com: [coupler/2, 0, 0], inertia: [0, 0.1, 0.1],
      markers: {B: [0, 0, 0], C: [coupler, 0, 0]}}
  d: {pose: {origin: [0.9, 0.6, 0], x_axis: [-0.1, -1, 0]}, mass: 1, com: [rocker/2, 0, 0], inertia: [0, 0.05, 0.05],
      markers: {C: [0, 0, 0], D: [rocker, 0, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.A], axis: [0, 0, 1]}
  JB: {type: revolute, between: [a.B, b.B], axis: [0, 0, 1]}
  JC: {type: revolute, between: [b.C, d.C], axis: [0, 0, 1]}
  JD: {type: revolute, between: [d.D, ground.D], axis: [0, 0, 1]}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {JA.angle: {position: pi/2, velocity: 1}}
objectives: {path: {integral: norm2(b.C.position)}}
"""

SLIDER = """
parameters: {x0: 0.5, v0: 0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {P: [0, 0, 0]}}}
joints: {rail: {type: prismatic, between: [ground.O, block.P], axis: [1, 0, 0]}}
degrees_of_freedom: {rail.distance: {position: x0, velocity: v0}}
"""


def system(text, replace=(), **options):
    """The system of a model text, with pairs of texts replaced."""
    for old, new in replace:
        assert old in text
        text = text.replace(old, new)
    return joint(Model.from_yaml_text("kinegrad: 1\n" + text), **options)


def coupler_point(crank, coupler, rocker, span, angle, side=1.0):
    """Point C of a four-bar, from the crank angle; `side` chooses its branch."""
    B = np.array([crank * np.cos(angle), crank * np.sin(angle)])
    d = np.array([span, 0.0]) - B
    D = np.sqrt(d @ d)
    along = (coupler**2 - rocker**2 + D * D) / (2 * D)
    across = np.sqrt(coupler**2 - along**2)
    e = d / D
    return B + along * e + side * across * np.array([-e[1], e[0]])
