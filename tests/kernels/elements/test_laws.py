"""Forces given by expressions and splines, on markers and on coordinates of a double pendulum."""

import numpy as np
import pytest
from products_by_complex_step import (
    PRODUCTS,
    H,
    close,
    energy_changes_by_power,
    evaluated,
    forces_are_of_the_potential,
    name_of,
    random_case,
    tangent,
    uncompiled,
)
from small_mechanisms import HINGES, SLIDES, two_bodies

pytestmark = uncompiled

PARAMETERS = "k: 3, c: 0.8, tau: 1.5, u: [0.1, -0.4, 0.9, 0.2]"
MEASURES = 'measures: {reach: "norm(b.q.position) + jb.angle*a.q.x"}\n'
FORCES = {
    "force": "{type: force, at: b.q, value: [tau, 'jb.angle*k', 'b.q.position.y**2 - c*b.q.velocity.z*sin(t)']}",
    "force in the body": "{type: force, at: b.q, value: [1, 'tau*sin(2*t)', '-c*b.q.velocity.x'], frame: body}",
    "torque": "{type: torque, at: b.q, value: [tau, 0.2, '-c*jb.angle.velocity'], frame: body}",
    "torque on a joint": "{type: torque, acts_on: jb.angle, value: '-c*ja.angle.velocity + tau*tanh(jb.angle)'}",
    "spring on a joint": "{type: spring, acts_on: jb.angle, stiffness: k, damping: c, natural_value: tilt}",
    "spring on a measure": "{type: spring, acts_on: reach, stiffness: k, damping: c, natural_value: 0.5}",
    "spline": "{type: spline, acts_on: jb.angle, times: [0, 0.3, 0.5, 0.9], values: u}",
}


def case_of(force, more=MEASURES, joints=HINGES):
    case = random_case(two_bodies(f"{more}forces: {{it: {force}}}", PARAMETERS, joints))
    assert len(case.system.workspace()["law"]) == 1
    return case


@pytest.fixture(params=FORCES, scope="module")
def case(request):
    return case_of(FORCES[request.param])


@pytest.mark.parametrize("check", (*PRODUCTS, energy_changes_by_power), ids=name_of)
def test_products(case, check):
    check(case)


@pytest.mark.parametrize("name", [name for name in FORCES if name.startswith("spring")])
def test_energy(name):
    forces_are_of_the_potential(case_of(FORCES[name]))


# On bodies that slide markers are linear in q, and the tangent leaves nothing out.
SLIDING = {
    "force": "{type: force, at: b.q, value: [tau, 'jb.distance*k', 'b.q.position.y**2 - c*b.q.velocity.x']}",
    "force on a joint": "{type: force, acts_on: jb.distance, value: '-c*ja.distance.velocity + tau*ja.distance**2'}",
    "spring on a joint": "{type: spring, acts_on: jb.distance, stiffness: k, damping: c, natural_value: tilt}",
}


@pytest.mark.parametrize("name", SLIDING)
def test_tangent(name):
    """The symmetric part of wk f_q + wc f_v."""
    case = case_of(SLIDING[name], "", SLIDES)
    K = 0.0
    for vector, weight in (("q", 0.7), ("v", 0.4)):
        moved = [evaluated(case, **{vector: case.state[vector] + H * 1j * e})["f"].imag / H for e in np.eye(2)]
        K = K + weight * np.array(moved)
    close(tangent(case, 0.7, 0.4), 0.5 * (K + K.T), "K")
