"""Motion about centres of mass: M and f, and their derivatives by complex step, are those about the origin."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, evaluated, random_case, uncompiled
from small_mechanisms import NODE_TYPES, two_bodies_with

FORCES = """
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
  twist: {type: torque, at: b.q, value: [1, 0.2, -0.5]}
"""


def model(name):
    """With a point mass beside the mass of a body."""
    model = two_bodies_with(name, FORCES)
    model.bodies["b"] = model.bodies["b"].with_(point_masses={"tip": {"mass": 0.2, "at": [0.1, 0.3, "L"]}})
    return model


@uncompiled
@pytest.mark.parametrize("name", NODE_TYPES)
def test_the_same_mass_matrix_and_forces(name):
    about = {point: random_case(model(name), body_point=point) for point in ("com", "origin")}
    assert about["com"].system.set.functions is not about["origin"].system.set.functions
    case, rng = about["com"], np.random.default_rng(2)
    assert np.array_equal(case.system.s, about["origin"].system.s)
    q, v = (case.state[key] + H * 1j * rng.normal(size=case.system.n) for key in "qv")
    s = case.system.s + H * 1j * (rng.normal(size=len(case.ds)) @ case.ds)
    found, expected = (evaluated(about[point], s, q=q, v=v) for point in ("com", "origin"))
    for array in ("M", "f", "Phi", "J"):
        assert_close(found[array].real, expected[array].real)
        assert_close(found[array].imag / H, expected[array].imag / H)
