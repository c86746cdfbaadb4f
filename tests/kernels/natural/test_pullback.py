"""PULLBACK: slots one by one and all numbers of the model, for bodies that are carried in every way."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, by_every_number, by_slots, random_case, uncompiled

from kinegrad.coordinates.sets import natural
from kinegrad.kernels.natural.inertia import add_moments, six_at
from kinegrad.kernels.natural.pullback import constant_slots, local_slots, moment_slots

from .carried import FEW, model

pytestmark = uncompiled


@pytest.mark.parametrize("kind", [*FEW, "slides", "balls"])
def test_every_number(kind):
    by_every_number(random_case(model(kind), lower=natural))


@pytest.mark.parametrize("kind", ["hinges", "weld on a slide"])
def test_single_slots(kind):
    by_slots(random_case(model(kind), lower=natural))


def test_slots_of_moments(rng):
    """tr(F Z Gᵀ) by mass, centre and inertia, for four F."""
    s, A, B = rng.normal(size=10), rng.normal(size=(12, 4)), rng.normal(size=12)
    found = np.zeros((10, 4))
    moment_slots({"m": 0, "com": 1, "J": 4}, s, A, 0, B, 0, found)
    F, G, expected = A.reshape(4, 3, 4).T, B.reshape(4, 3).T, np.zeros((10, 4))
    for k in range(10):
        z, Z = s + H * 1j * np.eye(10)[k], np.zeros(16, complex)
        add_moments(Z, z[0], z[1:4], six_at(z, 4))
        expected[k] = np.trace(F @ Z.reshape(4, 4) @ G.T, axis1=1, axis2=2).imag / H
    assert_close(found, expected)


def test_slots_of_constant_components():
    found, x = np.zeros((8, 4)), np.arange(12.0).reshape(3, 4)
    constant_slots({"k": [3, -1, -1], "val": [0, 5, 7]}, x, found)
    assert np.array_equal(found[[5, 7]], x[1:]) and not found[[0, 1, 2, 3, 4, 6]].any()


def test_slots_of_a_place(rng):
    """y·(off + R x)."""
    s, y = rng.normal(size=18), rng.normal(size=(3, 4))
    found = np.zeros((18, 4))
    local_slots({"rot": 3, "off": 12}, {"loc": 15, "point": 1}, tuple(y), s, found)
    for c in range(4):
        turned = np.outer(y[:, c], s[15:]).ravel(), y[:, c], s[3:12].reshape(3, 3).T @ y[:, c]
        assert_close(found[:, c], np.concatenate([np.zeros(3), *turned]))
