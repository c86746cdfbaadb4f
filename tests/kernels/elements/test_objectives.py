"""Objectives: expressions in positions, velocities and accelerations of a double pendulum."""

import pytest
from products_by_complex_step import PRODUCTS, name_of, random_case, uncompiled
from small_mechanisms import two_bodies

pytestmark = uncompiled

OBJECTIVES = {
    "positions": "{final: 'dot(b.q.position, a.v.position)*L + jb.angle**3'}",
    "velocities": "{integral: 'norm2(b.q.velocity)*c + jb.angle.velocity*ja.angle'}",
    "accelerations": "{integral: 'norm2(b.q.acceleration - vec(L, 0, t)) + jb.angle.acceleration**2*tilt'}",
}


@pytest.fixture(params=OBJECTIVES, scope="module")
def case(request):
    return random_case(two_bodies(f"objectives: {{it: {OBJECTIVES[request.param]}}}", "c: 0.8"))


@pytest.mark.parametrize("check", PRODUCTS, ids=name_of)
def test_products(case, check):
    check(case)
