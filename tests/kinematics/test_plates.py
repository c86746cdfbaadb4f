"""Bodies as flat as can be: a moment of inertia that is the sum of the two others, up to rounding, in natural coordinates."""

from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg

ENDS = (0.8, 0.1, 0.1), (1.1, 0.3, 0.2)
MODEL = """
kinegrad: 1
parameters: {{a: {a}, b: {b}}}
ground: {{markers: {{O: [0.5, 0, 0.1], T: [1.2, 0.1, 0.2]}}}}
bodies:
  plate: {{pose: global, mass: 0.7, com: [0.6, 0, 0.1], inertia: [a, a + b, b],
          markers: {{O: [0.5, 0, 0.1], E: {E}, F: [0.6, 0.1, 0.3]}}}}
  cart: {{pose: global, mass: 1.1, com: [1.2, 0.1, 0.2], inertia: [0.02, 0.025, 0.01], markers: {{T: [1.2, 0.1, 0.2], P: {P}}}}}
joints:
  ball: {{type: spherical, between: [ground.O, plate.O]}}
  rail: {{type: prismatic, between: [ground.T, cart.T], axis: [1, 0.1, 0]}}
  rod: {{type: link, between: [plate.E, cart.P], length: {L!r}}}
forces: {{gravity: {{type: gravity, acceleration: [0.3, -9.81, 1]}}}}
degrees_of_freedom:
  rail.distance: {{position: 0, velocity: 0.3}}
  plate.E.z: {{position: 0.1, velocity: 0.2}}
  plate.F.z: {{position: 0.3, velocity: -0.4}}
"""


def plate(a: float, b: float) -> kg.Model:
    E, P = ENDS
    return kg.Model.from_yaml_text(
        MODEL.format(a=a, b=b, E=list(E), P=list(P), L=float(np.linalg.norm(np.subtract(E, P))))
    )


@pytest.mark.parametrize(("a", "b"), [(0.02, 0.01), (0.1, 0.2), (0.03, 0.07), (0.7, 0.1), (1e-5, 3e-5)])
def test_a_plate_moves_as_in_joint_coordinates(a, b):
    """What rounding leaves of the inertia across it is none: rows are not weighed by it."""
    found = {}
    for kind in ("joint", "natural"):
        motion = kg.simulate(kg.lower(plate(a, b), kind), "index1", "rk4", t_end=0.01, step=1e-3)
        marker = motion.marker("plate.E")
        found[kind] = marker.acceleration[0], marker.position[-1]
    for one, other, tolerance in zip(*found.values(), (1e-10, 1e-8), strict=True):  # steps have errors of their own
        assert_close(one, other, tolerance)


def test_a_solution_that_leaves_rows_unsatisfied_is_told(monkeypatch):
    from kinegrad.kinematics import constrained, start

    solved = constrained.solve_constrained

    def wrong(*given, **options):
        status, X, Y = solved(*given, **options)
        return status, 1.5 * X, Y

    monkeypatch.setattr(constrained, "solve_constrained", wrong)
    system = kg.natural(plate(0.02, 0.01))
    with pytest.warns(kg.AccuracyWarning, match="The accelerations at the start leave '.*' off by"):
        work = system.workspace()
        start.place(system, work)
        start.solve_position(system, work)
        start.start_from_position(system, work)


@pytest.mark.parametrize("kind", ["joint", "reference-point", "natural"])
def test_rows_off_by_rounding_are_not_told(kind, recwarn):
    """The buggy starts at rest on its springs, and most of its rows have accelerations of nothing."""
    model = kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / "buggy" / "model.yaml")
    kg.simulate(kg.lower(model, kind), "ali3p", "newmark", t_end=2e-3, step=1e-3)
    assert not [w for w in recwarn if "leave" in str(w.message)]
