"""Factors of T + JᵀDG: solutions, for one vector and for four columns, also transposed."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.kernels.jit import entry
from kinegrad.kernels.pattern import dense
from kinegrad.kernels.solvers.factors import factor, factor_general, solve, solve4
from kinegrad.kernels.status import OK, SINGULAR

N, M = 6, 3


@entry
def symmetric(P, A, d, T, J, m, D, x):
    status = factor((P, 0, 0, A, d), T, J, m, D)
    if status == OK:
        solve((P, 0, 0, A, d), x)
    return status


@entry
def general(P, A, pivots, unit, ordered, T, J, G, m, D, transposed, X):
    F = P, 0, 0, A, pivots, unit, ordered
    status = factor_general(F, T, J, G, m, D)
    if status == OK:
        solve4(F, transposed, X)
    return status


def test_symmetric(rng):
    """Of T the lower triangle counts."""
    T, J, D, x = rng.normal(size=(N, N)), rng.normal(size=(M, N)), rng.uniform(1.0, 2.0, M), rng.normal(size=N)
    T = T @ T.T
    lower = np.tril(T) + np.triu(rng.normal(size=(N, N)), 1)
    expected = np.linalg.solve(T + J.T @ (D[:, None] * J), x)
    assert symmetric(dense(N, N), np.zeros((N, N)), np.zeros(2 * N), lower.ravel(), J.ravel(), M, D, x) == OK
    assert_close(x, expected, 1e-12)


@pytest.mark.parametrize("transposed", [False, True])
def test_general(rng, transposed):
    T, (J, G), D, X = rng.normal(size=(N, N)), rng.normal(size=(2, M, N)), rng.normal(size=M), rng.normal(size=(N, 4))
    A = T + J.T @ (D[:, None] * G)
    expected = np.linalg.solve(A.T if transposed else A, X)
    scratch = dense(N, N), np.zeros((N, N)), np.zeros(N, np.int32), np.ones(N), np.zeros(N)
    assert general(*scratch, T.ravel(), J.ravel(), G.ravel(), M, D, transposed, X) == OK
    assert_close(X, expected, 1e-12)


def test_a_direction_that_nothing_holds_is_told():
    T, J, D = np.diag([1.0, 0.0, 2.0]), np.array([[1.0, 0.0, 1.0]]), np.ones(1)
    assert symmetric(dense(3, 3), np.zeros((3, 3)), np.zeros(6), T.ravel(), J.ravel(), 1, D, np.ones(3)) == SINGULAR
    scratch = dense(3, 3), np.zeros((3, 3)), np.zeros(3, np.int32), np.ones(3), np.zeros(3)
    assert general(*scratch, T.ravel(), J.ravel(), J.ravel(), 1, D, False, np.ones((3, 4))) == SINGULAR
