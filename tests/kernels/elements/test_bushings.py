"""Bushings on an open tree and on the coupler of a four-bar linkage."""

import bushing_models
import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import (
    PRODUCTS,
    Case,
    H,
    by_slots,
    close,
    evaluated,
    forces_are_of_the_potential,
    name_of,
    random_case,
    tangent,
    uncompiled,
)

from kinegrad.kernels.elements.bushings import NEAR, stretch
from kinegrad.model.model import Model

pytestmark = uncompiled


@pytest.fixture(params=["open_tree", "loop"], scope="module")
def case(request) -> Case:
    return random_case(getattr(bushing_models, request.param)(), 11, near_start=True)


@pytest.mark.parametrize("check", (*PRODUCTS, by_slots, forces_are_of_the_potential), ids=name_of)
def test_products(case, check):
    check(case)


AT_EASE = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], F: {origin: [0.5, -0.2, 0.3], x_axis: [1, 0.3, 0.1], z_axis: [0.2, 0, 0.6]}}}
bodies:
  b: {mass: 1.2, com: [0, 0, 0], inertia: [0.3, 0.4, 0.5],
      markers: {o: [0, 0, 0], F: {origin: [0.5, -0.2, 0.3], x_axis: [1, 0.3, 0.1], z_axis: [0.2, 0, 0.6]}}}
joints: {j: {type: floating, between: [ground.O, b.o]}}
forces:
  mount: {type: bushing, between: [ground.F, b.F], stiffness: [10, 20, 30], damping: [1, 2, 3],
          rotational_stiffness: [4, 5, 6], rotational_damping: [0.4, 0.5, 0.6]}
"""


def test_tangent():
    """At rest and without force, nothing is left out of wk f_q + wc f_v."""
    case = random_case(Model.from_yaml_text(AT_EASE))
    state = {name: np.zeros_like(x) for name, x in case.state.items()}
    case = case._replace(state=state | {"q": case.system.set.guess(case.system, case.system.s)})
    one = np.eye(case.system.n)
    f_q, f_v = (
        np.array([evaluated(case, **{name: case.state[name] + H * 1j * e})["f"].imag / H for e in one]).T
        for name in ("q", "v")
    )
    close(tangent(case, 0.7, 0.4), 0.7 * f_q + 0.4 * f_v, "K")


@pytest.mark.parametrize("angle", [0.0, 1e-3, 0.3, 0.63, 0.65, 1.2, 2.0, 2.9])
def test_stretch(angle):
    """G = φ/(2 sin φ) of τ = 1 + 2 cos φ with its derivatives, by the series near zero and by the formula beyond."""
    t = 1.0 + 2.0 * np.cos(angle)
    G, G1, G2 = stretch(t)
    assert_close(G, 0.5 * angle / np.sin(angle) if angle else 0.5, 1e-14)
    assert_close(stretch(t + H * 1j)[0].imag / H, G1, 1e-13)
    assert_close(stretch(t + H * 1j)[1].imag / H, G2, 1e-12)


def test_stretch_is_smooth_where_the_series_ends():
    """G, G' and G'' by both ways."""
    t = 3.0 - 4.0 * NEAR
    assert_close(stretch(t + 1e-14), stretch(t - 1e-14), 1e-12)
