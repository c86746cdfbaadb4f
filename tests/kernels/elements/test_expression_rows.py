"""Rows given by expressions: a guided double pendulum, with the guide a function of markers, coordinates and time."""

import pytest
from products_by_complex_step import ROWS, name_of, random_case, uncompiled
from small_mechanisms import two_bodies

pytestmark = uncompiled

MEASURES = """
measures:
  reach: "norm(b.q.position - a.p.position)*L + jb.angle**2*ja.angle"
  swing: "atan2(dot(a.v.position, ground.n.position), L + b.q.position.y)"
"""
MODELS = {
    "guided measure": "constraints: {k: {type: guidance, measure: reach, value: 'L + tilt*sin(w*t)'}}",
    "guided marker": "constraints: {k: {type: guidance, marker: b.q, value: [t, 'L*t**2', tilt]}}",
    "driver": "drivers: {go: {measure: swing, value: 'w*t + tilt*t**3'}}",
    "linear": "constraints: {k: {type: linear, terms: {ja.angle: 2*w, jb.angle: -tilt}, value: L}}",
    "degree of freedom": "degrees_of_freedom: {reach: {position: L, velocity: tilt}, swing: {position: w}}",
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    case = random_case(two_bodies(MEASURES + MODELS[request.param], "w: 2.0"))
    assert len(case.system.workspace()["row_law"]) > 0
    return case


@pytest.mark.parametrize("check", ROWS, ids=name_of)
def test_products(case, check):
    check(case)
