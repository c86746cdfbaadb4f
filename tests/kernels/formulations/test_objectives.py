"""What steps add to objectives, and the weights of states: sums and extremes beside their definitions."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.formulations.objectives import (
    EXTREME,
    FINAL,
    INTEGRAL,
    NOTHING,
    SUM,
    Kinds,
    gain,
    is_taken,
    log_add,
    part_of_extreme,
    quadrature,
)

HS = np.array([0.1, 0.25, 0.05, 0.2])
TS = np.concatenate([[0.0], np.cumsum(HS)])
SHARPNESS = 7.0


@pytest.fixture
def kinds():
    """An integral, a final value, a sum at two ends of steps, a smooth maximum and a smooth minimum."""
    return Kinds(
        np.array([INTEGRAL, FINAL, SUM, EXTREME, EXTREME]),
        np.array([0.0, 0.0, 0.0, SHARPNESS, -SHARPNESS]),
        np.zeros(5),
        np.array([0, 0, 0, 2, 2, 2]),
        np.array([TS[1], TS[3]]),
    )


def trapezoidal():
    """Weights of the states in an integral."""
    w = np.zeros(len(TS))
    w[:-1] += 0.5 * HS
    w[1:] += 0.5 * HS
    return w


def log_of_integral(K, g):
    """log(∫ exp(K g) dt) by the trapezoidal rule, with the largest taken out."""
    top = (K * g).max()
    return top + np.log(trapezoidal() @ np.exp(K * g - top))


@uncompiled
def test_times_of_sums(kinds):
    assert [bool(is_taken(kinds, 2, t)) for t in TS] == [False, True, False, True, False]
    assert not any(is_taken(kinds, 1, t) for t in TS)


@uncompiled
def test_steps_add_up(kinds, rng):
    g = rng.normal(size=len(TS)) * 30.0  # exp(K g) itself would overflow
    psi = np.array([0.0, 0.0, 0.0, NOTHING, NOTHING])
    for k, h in enumerate(HS):
        for o in range(1, 5):
            gain(kinds, o, TS[k + 1], h, g[k], g[k + 1], psi)
    assert psi[1] == g[-1]
    assert_close(psi[2], g[1] + g[3], 1e-15)
    assert_close(psi[3], log_of_integral(SHARPNESS, g), 1e-14)
    assert_close(psi[4], log_of_integral(-SHARPNESS, g), 1e-14)


@uncompiled
def test_a_step_of_no_length_adds_nothing(kinds):
    psi = np.array([0.0, 0.0, 1.5, 2.5, 3.5])
    for o in (2, 3, 4):
        gain(kinds, o, TS[1], 0.0, 1.0, 2.0, psi)
    assert psi.tolist() == [0.0, 0.0, 1.5, 2.5, 3.5]


@uncompiled
def test_logarithms_of_sums():
    for total, x in ((1.0, 2.0), (2.0, 1.0), (900.0, 901.0), (NOTHING, 3.0)):
        assert_close(log_add(total, 0.3, x), np.logaddexp(total, x + np.log(0.3)), 1e-15)


@uncompiled
def test_weights_are_the_derivatives_of_the_values(kinds, rng):
    g = rng.normal(size=len(TS))
    total = np.array([0.0, 0.0, 0.0, log_of_integral(SHARPNESS, g), log_of_integral(-SHARPNESS, g)])
    kinds, weights = kinds._replace(total=total), np.zeros((len(TS), 5))
    for step in range(len(TS)):
        quadrature(TS, HS, step, 0.0, kinds, np.full(5, g[step]), weights[step])
    assert_close(weights[:, 0], trapezoidal(), 1e-15)
    assert weights[:, 1].tolist() == [0.0] * len(HS) + [1.0]
    assert weights[:, 2].tolist() == [0.0, 1.0, 0.0, 1.0, 0.0]
    for o, K in ((3, SHARPNESS), (4, -SHARPNESS)):
        # of log(∫ exp(K g) dt) / K by g at each state
        h = 1e-6
        differences = [
            (log_of_integral(K, g + h * one) - log_of_integral(K, g - h * one)) / (2.0 * h * K)
            for one in np.eye(len(TS))
        ]
        assert_close(weights[:, o], differences, 1e-8)
        assert_close(weights[:, o].sum(), 1.0, 1e-14)
        assert_close(part_of_extreme(kinds, o, 0.5 * HS[0], g[0]), weights[0, o], 1e-15)
