"""Inertia of coordinates that elements own: the state of an actuator on a rod."""

import pytest
from helpers import assert_close
from own_models import motor
from products_by_complex_step import PRODUCTS, evaluated, name_of, random_case, uncompiled

pytestmark = uncompiled


@pytest.fixture(scope="module")
def case():
    return random_case(motor("u0*(1 - hinge.angle) - 0.1*hinge.angle.velocity"))


@pytest.mark.parametrize("check", PRODUCTS, ids=name_of)
def test_products(case, check):
    check(case)


def test_mass_matrix(case):
    """m L²/3 of the rod about its hinge, and the own inertia beside it."""
    (own,) = case.system.own
    M = evaluated(case)["M"].real
    expected = [[2.0 * 0.5**2 / 3.0, 0.0], [0.0, case.system.s[own.inertia]]]
    assert own.k == 1
    assert case.system.s[own.inertia] > 0.0
    assert_close(M, expected)
