"""Rows of markers, each type alone on a double pendulum; normalisation on a ball, measures as degrees of freedom."""

import pytest
from products_by_complex_step import ROWS, name_of, random_case, uncompiled
from small_mechanisms import HINGES, two_bodies

from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT, MEASURE, NORM

pytestmark = uncompiled

BALL = (HINGES[0], "type: spherical")
LOOP = "  x: {type: prismatic, between: [ground.S, b.q], axis: [1, tilt, 0.2], cut: true}"
FREEDOMS = "degrees_of_freedom: {jb.angle: {position: d, velocity: 1}, b.q.y: {position: L, velocity: d}}"


def constraint(text):
    return f"constraints: {{x: {text}}}"


#: text, and the type of its rows
MODELS = {
    "coincidence": (constraint("{type: coincidence, between: [b.q, ground.S]}"), COINCIDENCE),
    "coincidence of bodies": (constraint("{type: coincidence, between: [a.p, b.q]}"), COINCIDENCE),
    "distance": (constraint("{type: distance, between: [ground.S, b.q], distance: d}"), DISTANCE),
    "distance of bodies": (constraint("{type: distance, between: [b.q, a.p], distance: d}"), DISTANCE),
    "dot": (constraint("{type: dot, between: [a.v, b.v], value: tilt*d}"), DOT),
    "dot with the ground": (constraint("{type: dot, between: [b.v, ground.n], value: tilt}"), DOT),
    "dot with a difference": (LOOP, DOT),
    "parallel": (constraint("{type: parallel, between: [a.v, b.v]}"), DOT),
    "same direction": (constraint("{type: same-direction, between: [ground.n, b.v]}"), DOT),
    "point on a line": (constraint("{type: point-on-line, between: [a.p, b.q], along: a.v}"), DOT),
    "point in a plane": (
        constraint("{type: point-in-plane, between: [ground.S, b.q], normal: ground.n, distance: d*tilt}"),
        DOT,
    ),
    "norm": ("", NORM),
    "measures": (FREEDOMS, MEASURE),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    text, kind = MODELS[request.param]
    case = random_case(two_bodies(text, "d: 1.1", BALL if kind == NORM else HINGES))
    rows = case.system.workspace()["row"]
    assert set(rows["type"].tolist()) == {kind}
    if request.param == "dot with a difference":
        assert rows["k"].max() >= 0
    return case


@pytest.mark.parametrize("check", ROWS, ids=name_of)
def test_products(case, check):
    check(case)
