"""Functions of users as laws, on a marker, on a joint and in an objective of a pendulum."""

import numpy as np
import pytest
from products_by_complex_step import (
    PRODUCTS,
    close,
    energy_changes_by_power,
    name_of,
    products,
    random_case,
    tangent,
    uncompiled,
)

import kinegrad as kg

pytestmark = uncompiled

TEXT = """
kinegrad: 1
parameters: {L: 0.5, k: 3.0, c: 0.3}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1.2, com: [0, L, 0], inertia: [0.1, 0.08, 0.1], markers: {o: [0, 0, 0], q: [0.1, L, 0]}}
joints: {j: {type: cardan, between: [ground.O, a.o], axes: [[1, 0, 0.2], [0, 1, 0]]}}
forces:
  motor: {type: torque, acts_on: j.angle1, value: "-k*j.angle1 - 0.1*j.angle2.velocity**3 + 0.2*sin(3*t)"}
  drag: {type: force, at: a.q, value: ["-c*a.q.velocity.x", "k*a.q.velocity.y*a.q.position.z", "0.1*L*cos(t)"]}
objectives: {effort: {integral: "k*j.angle1**2 + c*a.q.acceleration.x**2*j.angle2.velocity"}}
"""


def by_functions():
    """The same laws, given as functions."""
    model = kg.Model.from_yaml_text(TEXT)
    model.forces["motor"] = kg.Torque(
        acts_on="j.angle1",
        value=kg.law(
            lambda half, rate, t, k: -2.0 * k * half - 0.1 * (rate - 1.5) ** 3 + 0.2 * np.sin(3.0 * t),
            ["0.5*j.angle1", "j.angle2.velocity + 1.5", "t"],  # expressions, with constants of their own
            ["k"],
        ),
    )
    model.forces["drag"] = kg.Force(
        at="a.q",
        value=kg.law(
            lambda vx, vy, z, t, k, c, L: (-c * vx, k * vy * z / 3.0, 0.1 * L * np.cos(t)),
            ["a.q.velocity.x", "a.q.velocity.y", "3*a.q.position.z", "t"],
            ["k", "c", "L"],
        ),
    )
    model.objectives["effort"] = kg.Objective(
        integral=kg.law(
            lambda angle, a, rate, k, c: k * angle**2 + c * a**2 * rate,
            ["j.angle1", "a.q.acceleration.x", "j.angle2.velocity"],
            ["k", "c"],
        )
    )
    return model


@pytest.fixture(scope="module")
def case():
    case = random_case(by_functions())
    assert case.system.workspace()["law"]["fn"].min() >= 0
    return case


@pytest.mark.parametrize("check", (*PRODUCTS, energy_changes_by_power), ids=name_of)
def test_products(case, check):
    check(case)


def test_the_same_as_expressions(case):
    plain = random_case(kg.Model.from_yaml_text(TEXT))
    expected = products(plain)
    for name, value in products(case).items():
        close(value.real, expected[name].real, name)
    close(tangent(case), tangent(plain), "K")
