"""Springs between points: a double pendulum, one spring to the ground and one between its bodies."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import (
    ENERGIES,
    PRODUCTS,
    H,
    close,
    evaluated,
    linearised,
    name_of,
    random_case,
    tangent,
    uncompiled,
)
from small_mechanisms import two_bodies

from kinegrad.model.model import Model

pytestmark = uncompiled

FORCES = """
forces:
  out: {type: spring, between: [ground.S, b.q], stiffness: k, damping: c, natural_length: l0}
  within: {type: spring, between: [b.q, a.s], stiffness: 12, damping: 0.4, natural_length: 0.3}
"""
SPRINGS = (("ground.S", "b.q", 30.0, 0.8), ("b.q", "a.s", 12.0, 0.4))


@pytest.fixture(scope="module")
def case():
    return random_case(two_bodies(FORCES, "k: 30, c: 0.8, l0: 0.4"))


@pytest.mark.parametrize("check", (*PRODUCTS, *ENERGIES), ids=name_of)
def test_products(case, check):
    check(case)


def test_tangent(case):
    """(wk k + wc c) l_qᵀ l_q of every spring."""
    markers, q = case.system.markers, case.state["q"]
    expected = 0.0
    for i, j, k, c in SPRINGS:
        l_q = np.zeros(case.system.n)
        for n, e in enumerate(np.eye(case.system.n)):
            x = evaluated(case, q=q + H * 1j * e)["mk"]["x"]
            d = x[markers[i]] - x[markers[j]]
            l_q[n] = np.sqrt(d @ d).imag / H
        expected = expected + (0.7 * k + 0.4 * c) * np.outer(l_q, l_q)
    close(tangent(case, 0.7, 0.4), expected, "K")


ZERO = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], S: [0, 0.5, 0.25]}}
bodies: {a: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {o: [0, 0, 0], s: [0, 0.5, 0.25]}}}
joints: {j: {type: cardan, between: [ground.O, a.o], axes: [[1, 0, 0], [0, 0, 1]]}}
forces: {s: {type: spring, between: [ground.S, a.s], stiffness: 30, natural_length: 0}}
"""


def test_without_length_and_natural_length():
    """The force k d needs no direction: at length zero R_q is k x_qᵀ x_q."""
    case = random_case(Model.from_yaml_text(ZERO))
    case = case._replace(state={name: np.zeros_like(x) for name, x in case.state.items()})
    i, j = (case.system.markers[name] for name in ("ground.S", "a.s"))
    x = evaluated(case)["mk"]["x"]
    assert np.array_equal(x[i], x[j])
    x_q = np.array([evaluated(case, q=H * 1j * e)["mk"]["x"][j].imag / H for e in np.eye(2)])
    assert_close(linearised(case)["R_z"], 30.0 * x_q @ x_q.T)


@pytest.mark.parametrize("check", PRODUCTS, ids=name_of)
def test_products_with_a_damper_without_length(check):
    """Where points coincide while they part the damper gives c dd: all partials of F = k d + c dd (SPR-3)."""
    case = random_case(Model.from_yaml_text(ZERO.replace("stiffness: 30", "stiffness: 30, damping: 0.8")))
    state = {name: 0.0 * x if name == "q" else x for name, x in case.state.items()}
    check(case._replace(state=state))
