"""Rows by reflections: solutions, multipliers of least norm, and the direction that rows hardly see."""

import numpy as np
import pytest

from kinegrad.kernels.jit import entry
from kinegrad.kernels.orthogonal import factor, factors, solve, solve_transposed, weakest


@entry
def use(J, F, b, f, x, y, u, w):
    rank = factor(J, F)
    solve(F, rank, b, x)
    solve_transposed(F, rank, f, y)
    return rank, weakest(F, u, w) if rank == F.A.shape[0] else 0.0


@pytest.mark.parametrize(("m", "n"), [(1, 1), (4, 4), (9, 5)])
def test_against_numpy(m, n):
    rng = np.random.default_rng(m)
    J = rng.standard_normal((m, n))
    J[n:] = rng.standard_normal((m - n, n)) @ J[:n]  # redundant rows
    U, values, V = np.linalg.svd(J)
    values[-1] *= 1e-4
    J = (U[:, :n] * values) @ V
    expected, f = rng.standard_normal((2, n))
    x, y, u, w = np.zeros(n), np.zeros(m), np.zeros(m), np.zeros(n)
    rank, seen = use(J, factors(np.ones(m), np.ones(n)), J @ expected, f, x, y, u, w)
    assert rank == n and np.abs(x - expected).max() < 1e-10
    assert np.abs(y - np.linalg.pinv(J.T) @ f).max() < 1e-10 * np.abs(y).max()
    assert values[-1] <= seen * (1 + 1e-9) and seen < 2.0 * values[-1]
    assert np.abs(J @ w - seen * u).max() < 1e-13 * values[0] and np.linalg.norm(w) == pytest.approx(1.0)


def test_scales_and_lost_rank():
    rng = np.random.default_rng(1)
    J, rows, columns = rng.standard_normal((4, 3)), 10.0 ** np.array([3, -3, 0, 1]), 10.0 ** np.array([-4, 2, 0])
    scaled = J / rows[:, None] / columns
    expected, f = rng.standard_normal((2, 3))
    expected, f = columns * expected, f / columns
    x, y, u, w = np.zeros(3), np.zeros(4), np.zeros(4), np.zeros(3)
    rank, seen = use(scaled, factors(rows, columns), scaled @ expected, f, x, y, u, w)
    assert rank == 3 and np.abs(x / expected - 1).max() < 1e-12 and np.abs(scaled.T @ y / f - 1).max() < 1e-12
    assert seen == pytest.approx(np.linalg.norm(J @ w), rel=1e-12)
    J[:, 2] = J[:, 0] - 2.0 * J[:, 1]
    b = J @ expected
    rank, _ = use(J, factors(np.ones(4), np.ones(3)), b, f, x, y, u, w)
    assert rank == 2 and np.abs(J @ x - b).max() < 1e-13
