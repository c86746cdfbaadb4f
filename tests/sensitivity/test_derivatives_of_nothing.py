"""Derivatives that are zero to rounding, beside others of their kind: no disagreement, at any size."""

from dataclasses import replace

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sensitivity.rounding import rounding_of

TRUSS = """kinegrad: 1
parameters: {{m: 1.0, e: 0, c: 0, L: {size}}}
design: [m, e, c]
ground: {{markers: {{A: [0, 0, 0], B: [L, 0, 0]}}}}
bodies:
  l: {{mass: m, com: [L/2, 0, e], inertia: [0.1*L**2, 0.1*L**2, 0.1*L**2], markers: {{A: [0, 0, 0], B: [L, 0, 0]}},
       pose: {{origin: [0, 0, 0], x_axis: [0.5, 0, 0.8660254037844386], z_axis: [-0.8660254037844386, 0, 0.5]}}}}
  r: {{mass: m, com: [L/2, 0, 0], inertia: [0.1*L**2, 0.1*L**2, 0.1*L**2], markers: {{A: [0, 0, 0], B: [L, 0, 0]}},
       pose: {{origin: [{size}, 0, 0], x_axis: [-0.5, 0, 0.8660254037844386], z_axis: [-0.8660254037844386, 0, -0.5]}}}}
joints:
  p: {{type: revolute, between: [ground.A, l.A], axis: [0, 1, 0]}}
  q: {{type: revolute, between: [l.B, r.B], axis: [0, 1, 0]}}
  w: {{type: revolute, between: [ground.B, r.A], axis: [0, 1, 0]}}
forces:
  g: {{type: gravity, acceleration: [0, 0, -9.81]}}
  drag: {{type: torque, acts_on: p.angle, value: -c*p.angle.velocity}}
objectives:
  height: {{final: l.B.z}}
  side: {{final: l.B.y}}
  square: {{integral: l.B.y**2}}
  rate: {{final: l.B.z.velocity}}
simulation: {{t_end: 0.05, step: 0.01}}
"""
CASES = [
    ("joint", "ali3p", "newmark"), ("joint", "recursive", "rk4"), ("natural", "index1", "rk4"),
    ("reference-point", "ali3p", "newmark"), ("reference-point", "udwadia-kalaba", "newmark"),
]  # fmt: skip


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize(("coordinates", "formulation", "integrator"), CASES)
@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_a_certificate_of_nothing(coordinates, formulation, integrator, method, size):
    """Nothing is free in a truss: no objective depends on a mass, on a drag, or on where a centre of mass is."""
    model = kg.Model.from_yaml_text(TRUSS.format(size=size))
    motion = kg.simulate(kg.lower(model, coordinates), formulation, integrator)
    gradient = kg.gradient(motion, method=method)
    assert (np.abs(gradient.matrix) <= rounding_of(gradient)).all()
    found = kg.check_gradient(gradient, methods=True, sets=formulation != "recursive")
    assert found.good and not found.useless, str(found)
    assert gradient.check().good


def test_what_is_wrong_is_told_all_the_same():
    """A derivative that should be zero and is not, by a billionth of what it could be."""
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(TRUSS.format(size=1.0))), "ali3p", "newmark")
    gradient = kg.gradient(motion, wrt=["m", "e"])
    for k in range(2):
        matrix = gradient.matrix.copy()
        matrix[0, k] += 1e4 * rounding_of(gradient)[0, k]
        found = kg.check_gradient(replace(gradient, matrix=matrix), methods=True)
        assert not found.good and found.numbers["methods"] > 0.9


def test_gradients_of_nothing_agree_in_a_comparison():
    model = kg.Model.from_yaml_text(TRUSS.format(size=1.0))
    found = kg.compare(model, gradient=True, quick=True, coordinates=["joint"], objectives=["height", "side"])
    assert found.agrees and max(row.error for row in found.rows if row.agrees) < 1e-9


def test_gradients_of_rest_and_of_assemblies_of_nothing():
    model = kg.Model.from_yaml_text(TRUSS.format(size=1.0))
    for lower in (kg.joint, kg.natural, kg.reference_point):
        for found in (kg.assemble(lower(model)), kg.equilibrium(lower(model)), kg.drive(lower(model))):
            gradient = kg.gradient(found) if isinstance(found, kg.Motion) else found.gradient()
            assert gradient.check().good
