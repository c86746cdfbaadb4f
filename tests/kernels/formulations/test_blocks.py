"""Blocks of four columns against matrix products, and the rule of integrals against its weights."""

import numpy as np
import pytest
from helpers import assert_close, complex_step
from products_by_complex_step import uncompiled

from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    columns4,
    minus4,
    objective_rows4,
    plus_transposed4,
    quadrature,
    right4,
    shift4,
)
from kinegrad.kernels.jit import entry
from kinegrad.kernels.linalg import put4

ROWS, N = 5, 3
DIRECTIONS = [5, 6, 7, 8]  # the second block has one to four of them


@entry
def products4(A, rows, n, k, f, X, Y, right, less, shifted, transposed, taken):
    right4(A, rows, n, k, X, f, right)
    minus4(A, rows, n, f, X, less)
    shift4(n, f, X, shifted)
    plus_transposed4(A, rows, n, f, Y, transposed)
    for r in range(rows):
        put4(taken, r, columns4(A, r, k))
    return 0


@entry
def objectives4(g_z, g_v, g_a, k, Q, V, A, weights, p, grad, first, used, Qo, Vo, Ao):
    objective_rows4(g_z.shape[0], Q.shape[0], k, g_z, g_v, g_a, Q, V, A, weights, p, grad)
    clear4(Qo)
    clear4(Vo)
    clear4(Ao)
    add_objectives4(first, used, Q.shape[0], g_z, g_v, g_a, weights, Qo, Vo, Ao)
    return 0


@entry
def weights_at(hs, step, after, final, weights):
    quadrature(hs, step, after, final, weights)
    return 0


def columns(A, k):
    """Four columns from k on, with zeros beyond the last."""
    return np.hstack([A, np.zeros((len(A), 4))])[:, k : k + 4]


@pytest.mark.parametrize("p", DIRECTIONS)
@pytest.mark.parametrize("block", [0, 1])
def test_products(rng, block, p):
    A, X, Y = rng.normal(size=(ROWS, N + p)), rng.normal(size=(N, 4)), rng.normal(size=(ROWS, 4))
    start = [rng.normal(size=(size, 4)) for size in (ROWS, ROWS, N, N, ROWS)]
    right, less, shifted, transposed, taken = (x.copy() for x in start)
    k, f = N + 4 * block, 0.7
    products4(A, ROWS, N, k, f, X, Y, right, less, shifted, transposed, taken)
    assert_close(taken, columns(A, k), 0.0)
    assert_close(right, -f * (A[:, :N] @ X + columns(A, k)), 1e-14)
    assert_close(less, start[1] - f * A[:, :N] @ X, 1e-14)
    assert_close(shifted, start[2] + f * X, 1e-14)
    assert_close(transposed, start[3] + f * A[:, :N].T @ Y, 1e-14)


@pytest.mark.parametrize("p", DIRECTIONS)
def test_objectives_and_their_transpose(rng, p):
    """weight (g_q q' + g_v v' + g_a a' + g_s) of four directions; derivatives of four objectives by q, v, a."""
    no, block = 6, 1
    g_z, g_v, g_a = rng.normal(size=(no, N + p)), rng.normal(size=(no, N)), rng.normal(size=(no, N))
    Q, V, A, weights = *rng.normal(size=(3, N, 4)), rng.normal(size=no)
    grad, back = rng.normal(size=(no, p)), np.ones((3, N, 4))
    before = grad.copy()
    objectives4(g_z, g_v, g_a, N + 4 * block, Q, V, A, weights, p, grad, 4, 2, *back)
    change = weights[:, None] * (g_z[:, :N] @ Q + g_v @ V + g_a @ A + columns(g_z, N + 4 * block))
    before[:, 4 * block :] += change[:, : p - 4 * block]
    assert_close(grad, before, 1e-14)
    for found, g in zip(back, (g_z[:, :N], g_v, g_a), strict=True):
        assert_close(found[:, :2], (weights[:, None] * g)[4:6].T, 1e-14)
        assert not found[:, 2:].any()


@pytest.mark.parametrize("after", [0.0, 0.3])
def test_quadrature(after):
    """Weights of the states are the derivative of the trapezoidal sum by their values; a last value counts at the end."""
    hs, final = np.array([0.1, 0.25, 0.2]), np.array([False, True])
    steps = np.append(hs, after)
    g = np.array([0.3, -0.2, 0.7, 0.4, 0.9])

    def integral(g):
        return np.sum(0.5 * steps * (g[1:] + g[:-1]))

    expected = complex_step(integral, g)
    for step in range(len(hs) + 1):
        weights = np.full(2, np.nan)
        weights_at(hs, step, after, final, weights)
        assert_close(weights, [expected[step], float(step == len(hs) and after == 0.0)], 1e-15)


@uncompiled
def test_complex_numbers_pass(rng):
    """The product with a complex matrix has the derivative of the product."""
    A, dA, X = rng.normal(size=(ROWS, N + 4)), rng.normal(size=(ROWS, N + 4)), rng.normal(size=(N, 4)) + 0j
    out = np.zeros((ROWS, 4), complex)
    right4(A + 1e-30j * dA, ROWS, N, N, X, 1.0, out)
    assert_close(out.imag / 1e-30, -(dA[:, :N] @ X.real + columns(dA, N)), 1e-14)
