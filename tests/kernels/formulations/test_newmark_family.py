"""The Newmark family: formulas of a step, its derivative by complex step, and the transpose of that."""

import numpy as np
import pytest
from helpers import assert_close, complex_step
from products_by_complex_step import uncompiled

from kinegrad.dynamics.newmark_family import constants
from kinegrad.kernels.formulations.newmark_family import (
    by_acceleration,
    complete,
    complete4,
    complete_transposed4,
    predict,
    predict4,
    predict_transposed4,
)

pytestmark = uncompiled
N, STEP = 2, 0.1
FAMILIES = {
    "newmark": {"integrator": "newmark", "beta": 0.3025, "gamma": 0.6},
    "hht": {"integrator": "hht", "alpha": -0.2},
    "generalized-alpha": {"integrator": "generalized-alpha", "rho_inf": 0.3},
}


@pytest.fixture(params=FAMILIES)
def family(request):
    return constants(FAMILIES[request.param])


def step(family, y, new):
    """q, v, â after a step from y = (q, v, a, â) to the acceleration `new`."""
    q, v, a, auxiliary = (x.copy() for x in y)
    qt, vt = np.zeros((2, N), complex)
    predict(family, STEP, q, v, a, auxiliary, qt, vt)
    b, gh = by_acceleration(family, STEP)
    complete(family, new, auxiliary)
    return np.array([qt + b * new, vt + gh * new, auxiliary])


def test_step(family, rng):
    beta, gamma, c1, c2, c3 = family
    (q, v, a, auxiliary), new = rng.normal(size=(4, N)), rng.normal(size=N)
    expected = c1 * new + c2 * a + c3 * auxiliary
    found = step(family, np.array([q, v, a, auxiliary], complex), new).real
    assert_close(found[0], q + STEP * v + STEP**2 * ((0.5 - beta) * auxiliary + beta * expected), 1e-14)
    assert_close(found[1], v + STEP * ((1.0 - gamma) * auxiliary + gamma * expected), 1e-14)
    assert_close(found[2], expected, 1e-14)
    assert c1 + c2 + c3 == pytest.approx(1.0)


def step4(family, Q, V, A, X, new):
    """The derivative of a step, in place; X is A with Newmark's method."""
    predict4(family, STEP, N, Q, V, A, X)
    b, gh = by_acceleration(family, STEP)
    Q += b * new
    V += gh * new
    complete4(family, N, new, X)


def test_derivative_by_complex_step(family, rng):
    plain = not family[3:].any()
    y, new = rng.normal(size=(4, N)), rng.normal(size=N)
    if plain:
        y[3] = y[2]
    blocks = rng.normal(size=(4, N, 4))
    blocks[3] = blocks[2] if plain else blocks[3]
    of_new = rng.normal(size=(N, 4))
    by_state, by_new = (
        complex_step(lambda x: step(family, x, new), y),
        complex_step(lambda a: step(family, y + 0j, a), new),
    )
    expected = np.einsum("oijk,jkc->oic", by_state, blocks) + np.einsum("oik,kc->oic", by_new, of_new)
    Q, V, A = blocks[:3]
    X = A if plain else blocks[3]
    step4(family, Q, V, A, X, of_new)
    assert_close(Q, expected[0])
    assert_close(V, expected[1])
    if not plain:
        assert_close(X, expected[2])


def test_transpose(family, rng):
    """y·(D x) = x·(Dᵀ y) column by column, for the state before and the new acceleration."""
    plain = not family[3:].any()
    Q, V, A, X, new = rng.normal(size=(5, N, 4))
    X = A if plain else X
    given = [x.copy() for x in ((Q, V, A) if plain else (Q, V, A, X))]
    step4(family, Q, V, A, X, new)
    Qo, Vo, Ao, Xo = rng.normal(size=(4, N, 4))
    left = np.sum(Qo * Q + Vo * V + (0.0 if plain else Xo * X), axis=0)
    of_new = np.zeros((N, 4))
    b, gh = by_acceleration(family, STEP)
    complete_transposed4(family, N, of_new, Xo)
    of_new += b * Qo + gh * Vo
    predict_transposed4(family, STEP, N, Qo, Vo, Ao, Xo)
    back = (Qo, Vo, Xo) if plain else (Qo, Vo, Ao, Xo)
    right = np.sum(of_new * new, axis=0) + sum(np.sum(x * y, axis=0) for x, y in zip(given, back, strict=True))
    assert_close(right, left, 1e-14)
