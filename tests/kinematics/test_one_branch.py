"""Bodies without poses, far from closed: every set of coordinates assembles the same position."""

import numpy as np
import pytest

import kinegrad as kg

LOOP = """
kinegrad: 1
parameters: {{a: {a}, b: {b}, c: {c}, d: {d}}}
ground: {{markers: {{A: [0, 0, 0], D: [d, 0, 0]}}}}
bodies:
  crank: {{mass: 1, com: [a/2, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {{A: [0, 0, 0], B: [a, 0, 0]}}}}
  coupler: {{mass: 1, com: [b/2, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {{B: [0, 0, 0], C: [b, 0, 0], E: [0, b, 0]}}}}
  rocker: {{mass: 1, com: [c/2, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {{D: [0, 0, 0], C: [c, 0, 0]}}}}
joints:
  JA: {{type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}}
  JB: {{type: revolute, between: [crank.B, coupler.B], axis: [0, 0, 1]}}
  JC: {{type: revolute, between: [coupler.C, rocker.C], axis: [0, 0, 1]}}
  JD: {{type: revolute, between: [ground.D, rocker.D], axis: [0, 0, 1]}}
{start}
"""
DRIVEN = "drivers: {{motor: {{measure: JA.angle, value: {angle} + t}}}}"
FREE = "degrees_of_freedom: {{JA.angle: {{position: {angle}}}}}"


def coupler(system, driven):
    """Where a point of the coupler is at the start."""
    if driven:
        return kg.drive(system, t_end=1e-3, step=1e-3).marker("coupler.E").position[0]
    return kg.simulate(system, t_end=1e-3, step=1e-3).marker("coupler.E").position[0]


@pytest.mark.parametrize("start", [DRIVEN, FREE], ids=["driven", "free"])
def test_four_bars_without_poses(start):
    rng = np.random.default_rng(5)
    for _ in range(8):
        a, b, c, d = 0.3, *rng.uniform(0.9, 1.1, 3)  # any angle of the crank can be reached
        angle = rng.uniform(-3, 3)
        text = LOOP.format(a=a, b=b, c=c, d=d, start=start.format(angle=angle))
        model = kg.Model.from_yaml_text(text)
        sets = (kg.joint, kg.reference_point, kg.natural)
        joint, *others = (coupler(lower(model), start is DRIVEN) for lower in sets)
        for other in others:
            assert np.abs(other - joint).max() < 1e-9, text
