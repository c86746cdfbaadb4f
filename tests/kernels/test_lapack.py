import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.lapack import fetch, getrf, potrf
from kinegrad.kernels.linalg import ldlt, lu, lu_solve4

pytestmark = pytest.mark.skipif(not JIT, reason="LAPACK is called by compiled code only")


@pytest.fixture(autouse=True, scope="module")
def lapack():
    fetch()


@entry
def both_symmetric(A, d, B):
    return ldlt(A, d), potrf(B, B.shape[0])


@entry
def both_general(A, p, unit, B, q):
    return lu(A, p, unit), getrf(B, B.shape[0], q)


@pytest.mark.parametrize("n", [1, 2, 5, 16, 33, 40])
def test_cholesky_equals_the_loops(n):
    rng = np.random.default_rng(n)
    G = rng.normal(size=(n, n))
    A = G @ G.T + np.eye(n)
    B, d = np.tril(A), np.zeros(2 * n)
    assert both_symmetric(A, d, B) == (0, 0)
    L = np.tril(A, -1) + np.eye(n)
    assert_allclose(np.tril(B), L * np.sqrt(d[:n]), rtol=0, atol=1e-12)


@pytest.mark.parametrize("n", [41, 64, 150])
def test_ldlt_keeps_its_storage_when_lapack_computes_it(n):
    rng = np.random.default_rng(n)
    G = rng.normal(size=(n, n))
    S = G @ G.T + np.eye(n)
    A, d = np.tril(S), np.zeros(2 * n)
    assert both_symmetric(A, d, S.copy()) == (0, 0)
    L = np.tril(A, -1) + np.eye(n)
    assert_allclose(L @ np.diag(d[:n]) @ L.T, S, rtol=0, atol=1e-15 * n * abs(S).max())


@pytest.mark.parametrize("n", [1, 2, 5, 16, 33, 40, 41, 64, 150])
def test_lu_equals_the_loops_and_restores_the_matrix(n):
    rng = np.random.default_rng(n)
    S = rng.normal(size=(n, n))
    A, B, p, q = S.copy(), S.copy(), np.zeros(n, np.int32), np.zeros(n, np.int32)
    assert both_general(A, p, np.ones(n), B, q) == (0, 0)
    np.fill_diagonal(A, 1.0 / np.diag(A))  # `lu` keeps reciprocals there
    assert_array_equal(p, q)
    assert_allclose(A, B, rtol=0, atol=1e-13 * n)
    columns = np.arange(n)
    for k in range(n):
        columns[[k, p[k]]] = columns[[p[k], k]]
    L, U = np.tril(A), np.triu(A, 1) + np.eye(n)
    assert_allclose(L @ U, S[:, columns], rtol=0, atol=1e-14 * n)
    assert abs(U).max() <= 1.0


def test_not_positive_definite_is_told():
    A = np.diag([1.0, -1.0])
    assert both_symmetric(A.copy(), np.zeros(4), A)[1] == 2


@entry
def solved(A, p, unit, X):
    status = lu(A, p, unit)
    lu_solve4(A, p, X)
    return status


@pytest.mark.parametrize("n", [5, 64, 150])
def test_the_digits_are_those_of_other_units(n):
    """Coordinates in units that are powers of two, masses in odd powers."""
    rng = np.random.default_rng(n)
    unit, mass = 2.0 ** rng.integers(-30, 20, n), 2.0**-51
    G, R = rng.normal(size=(n, n)), rng.normal(size=(n, 4))
    S = G @ G.T + np.eye(n)
    found = []
    for u, m in ((np.ones(n), 1.0), (unit, mass)):
        A, d = np.tril(m * S / np.outer(u, u)), np.zeros(2 * n)
        B, p, X = m * G / np.outer(u, u), np.zeros(n, np.int32), R / u[:, None]
        assert both_symmetric(A, d, np.eye(n))[0] == 0 and solved(B, p, u.copy(), X) == 0
        found.append((np.tril(A, -1) * u[:, None] / u, d[:n] * u**2 / m, p, X * m / u[:, None]))
    for first, second in zip(*found, strict=True):
        assert_array_equal(first, second)
