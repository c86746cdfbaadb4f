"""Mechanisms that drivers move, for the tests of kinematic analysis."""

import math

import kinegrad as kg

RSUR = """
kinegrad: 1
title: Spatial four-bar
parameters: {w: 6}
ground: {markers: {A: [0, 0, 0], D: [0.7, -0.4, 0.4]}}
bodies:
  crank: {pose: global, mass: 1, com: [0.1, 0, 0], inertia: [0.01, 0.01, 0.01], markers: {A: [0, 0, 0], B: [0.2, 0, 0]}}
  coupler: {pose: global, mass: 2, com: [0.4, 0.1, 0.4], inertia: [0.1, 0.1, 0.1],
            markers: {B: [0.2, 0, 0], C: [0.7, 0.3, 0.9]}}
  rocker: {pose: global, mass: 1, com: [0.7, 0, 0.6], inertia: [0.02, 0.02, 0.02],
           markers: {C: [0.7, 0.3, 0.9], D: [0.7, -0.4, 0.4]}}
joints:
  A: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  B: {type: spherical, between: [crank.B, coupler.B]}
  C: {type: cardan, between: [coupler.C, rocker.C], axes: [[0, 1, 0], [1, 0, 0]]}
  D: {type: revolute, between: [rocker.D, ground.D], axis: [1, 0, 0]}
forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}
drivers: {turn: {measure: A.angle, value: w*t}}
objectives: {path: {integral: norm2(coupler.C.position)}}
"""

SCREW = """
kinegrad: 1
title: Slider-crank on a thread
parameters: {w: 5}
ground: {markers: {O: [0, 0, 0], S: [0, 0, 0.1]}}
bodies:
  crank: {pose: global, mass: 1, inertia: [0.01, 0.01, 0.01], markers: {O: [0, 0, 0], P: [0.1, 0, 0]}}
  rod: {pose: global, mass: 1, com: [0.3, 0, 0.05], inertia: [0.02, 0.02, 0.02],
        markers: {P: [0.1, 0, 0], Q: [0.5, 0.05, 0.1]}}
  nut: {pose: global, mass: 2, com: [0.5, 0, 0.1], inertia: [0.05, 0.05, 0.05],
        markers: {S: [0.5, 0, 0.1], Q: [0.5, 0.05, 0.1]}}
joints:
  main: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: spherical, between: [crank.P, rod.P]}
  wrist: {type: cardan, between: [rod.Q, nut.Q], axes: [[0, 1, 0], [0, 0, 1]]}
  thread: {type: screw, between: [ground.S, nut.S], axis: [1, 0, 0], pitch: 0.15}
drivers: {turn: {measure: main.angle, value: w*t + 0.3*sin(2*t)}}
"""

_BASE = [(1.0, 0.2), (-0.3, 1.0), (-0.7, 0.8), (-0.7, -0.8), (-0.3, -1.0), (1.0, -0.2)]
_TOP = [(0.5, 0.45), (0.2, 0.6), (-0.6, 0.2), (-0.6, -0.2), (0.2, -0.6), (0.5, -0.45)]
_LEGS = [((x - X) ** 2 + (y - Y) ** 2 + 1.0) ** 0.5 for (X, Y), (x, y) in zip(_BASE, _TOP, strict=True)]


def stewart() -> kg.Model:
    """A platform on six legs whose lengths are driven; it starts at height 1, level."""
    model = kg.Model(title="Stewart platform")
    model.ground = {"markers": {f"B{k}": [x, y, 0] for k, (x, y) in enumerate(_BASE)} | {"O": [0, 0, 0]}}
    markers = {f"P{k}": [x, y, 0] for k, (x, y) in enumerate(_TOP)} | {"O": [0, 0, 0]}
    model.bodies["top"] = {
        "mass": 3, "inertia": [0.3, 0.3, 0.5], "markers": markers, "pose": {"origin": [0, 0, 1], "x_axis": [1, 0, 0]},
    }  # fmt: skip
    model.joints["free"] = {"type": "floating", "between": ["ground.O", "top.O"]}
    model.forces["weight"] = {"type": "gravity", "acceleration": [0, 0, -9.81]}
    for k, length in enumerate(_LEGS):
        model.measures[f"leg{k}"] = f"norm(top.P{k}.position - ground.B{k}.position)"
        model.drivers[f"push{k}"] = {"measure": f"leg{k}", "value": f"{length!r} + 0.1*(1 + 0.3*{k})*sin({2 + k}*t)"}
    return model


def text_model(text: str, *replace: tuple[str, str]) -> kg.Model:
    """The model of a text, with pairs of texts replaced."""
    for old, new in replace:
        assert old in text
        text = text.replace(old, new)
    return kg.Model.from_yaml_text(text)


PARALLELOGRAM = """
kinegrad: 1
title: Parallelogram
parameters: {r: 0.2, L: 0.5, a: START, w: 10}
ground: {markers: {A: [0, 0, 0], B: [L, 0, 0]}}
bodies:
  crank: {pose: {origin: [0, 0, 0], x_axis: [COS, SIN, 0]}, mass: 1, com: [r/2, 0, 0], inertia: [0.01, 0.01, 0.01],
          markers: {A: [0, 0, 0], P: [r, 0, 0]}}
  coupler: {pose: {origin: [0.2*COS, 0.2*SIN, 0], x_axis: [1, 0, 0]}, mass: 1, com: [L/2, 0, 0],
            inertia: [0.01, 0.01, 0.01], markers: {P: [0, 0, 0], Q: [L, 0, 0]}}
  rocker: {pose: {origin: [0.5, 0, 0], x_axis: [COS, SIN, 0]}, mass: 1, com: [r/2, 0, 0], inertia: [0.01, 0.01, 0.01],
           markers: {B: [0, 0, 0], Q: [r, 0, 0]}}
joints:
  A: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  P: {type: revolute, between: [crank.P, coupler.P], axis: [0, 0, 1]}
  Q: {type: revolute, between: [coupler.Q, rocker.Q], axis: [0, 0, 1]}
  B: {type: revolute, between: [ground.B, rocker.B], axis: [0, 0, 1]}
drivers: {turn: {measure: A.angle, value: a + w*t}}
"""


def parallelogram(start: float) -> kg.Model:
    """A parallelogram whose crank turns at 10 rad/s from an angle; it changes at 0 and at half turns."""
    values = {"COS": math.cos(start), "SIN": math.sin(start), "START": start}
    return text_model(PARALLELOGRAM, *((name, repr(value)) for name, value in values.items()))
