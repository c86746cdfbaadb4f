"""Blocks of four columns against matrix products, and the rule of integrals against its weights."""

import numpy as np
import pytest
from helpers import assert_close, complex_step

from kinegrad.kernels.formulations.blocks import (
    add_objectives4,
    clear4,
    objective_rows4,
    shift4,
)
from kinegrad.kernels.formulations.objectives import EXTREME, FINAL, INTEGRAL, SUM, Kinds, quadrature
from kinegrad.kernels.jit import entry

N = 3
DIRECTIONS = [5, 6, 7, 8]  # the second block has one to four of them


@entry
def shifted4(n, f, X, out):
    shift4(n, f, X, out)
    return 0


@entry
def objectives4(g_q, g_s, g_v, g_a, k, Q, V, A, weights, p, grad, first, used, Qo, Vo, Ao):
    objective_rows4(g_q.shape[0], Q.shape[0], k, g_q, g_s, g_v, g_a, Q, V, A, weights, p, grad)
    clear4(Qo)
    clear4(Vo)
    clear4(Ao)
    add_objectives4(first, used, Q.shape[0], g_q, g_v, g_a, weights, Qo, Vo, Ao)
    return 0


@entry
def weights_at(ts, hs, step, after, kinds, g, weights):
    quadrature(ts, hs, step, after, kinds, g, weights)
    return 0


def columns(A, k):
    """Four columns from k on, with zeros beyond the last."""
    return np.hstack([A, np.zeros((len(A), 4))])[:, k : k + 4]


def test_shift(rng):
    X, out = rng.normal(size=(2, N, 4))
    before = out.copy()
    shifted4(N, 0.7, X, out)
    assert_close(out, before + 0.7 * X, 1e-15)


@pytest.mark.parametrize("p", DIRECTIONS)
def test_objectives_and_their_transpose(rng, p):
    """weight (g_q q' + g_v v' + g_a a' + g_s) of four directions; derivatives of four objectives by q, v, a."""
    no, block = 6, 1
    (g_q, g_v, g_a), g_s = rng.normal(size=(3, no, N)), rng.normal(size=(no, p))
    Q, V, A, weights = *rng.normal(size=(3, N, 4)), rng.normal(size=no)
    grad, back = rng.normal(size=(no, p)), np.ones((3, N, 4))
    before = grad.copy()
    objectives4(g_q, g_s, g_v, g_a, 4 * block, Q, V, A, weights, p, grad, 4, 2, *back)
    change = weights[:, None] * (g_q @ Q + g_v @ V + g_a @ A + columns(g_s, 4 * block))
    before[:, 4 * block :] += change[:, : p - 4 * block]
    assert_close(grad, before, 1e-14)
    for found, g in zip(back, (g_q, g_v, g_a), strict=True):
        assert_close(found[:, :2], (weights[:, None] * g)[4:6].T, 1e-14)
        assert not found[:, 2:].any()


@pytest.mark.parametrize("after", [0.0, 0.3])
def test_quadrature(after):
    """Weights of the states are the derivatives of objectives by their values: trapezoidal sums, the last value, a sum at
    times, and the mean in exponentials."""
    hs = np.array([0.1, 0.25, 0.2])
    steps, ts = np.append(hs, after), np.append(0.0, np.cumsum(hs))
    g, K, taken = np.array([0.3, -0.2, 0.7, 0.4, 0.9]), 3.0, [ts[1], ts[3]]

    def integral(g):
        return np.sum(0.5 * steps * (g[1:] + g[:-1]))

    def extreme(g):
        return np.log(integral(np.exp(K * g))) / K

    total = np.log(integral(np.exp(K * g)))
    kinds = Kinds(
        np.array([INTEGRAL, FINAL, SUM, EXTREME]), np.array([0.0, 0.0, 0.0, K]), np.array([0.0, 0.0, 0.0, total]),
        np.array([0, 0, 0, 2, 2]), np.array(taken),
    )  # fmt: skip
    expected = complex_step(integral, g), complex_step(extreme, g)
    for step in range(len(hs) + 1):
        weights = np.full(4, np.nan)
        weights_at(ts, hs, step, after, kinds, np.full(4, g[step]), weights)
        known = [expected[0][step], float(step == len(hs) and after == 0.0), ts[step] in taken, expected[1][step]]
        assert_close(weights, known, 1e-15)
