import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.lapack import LARGE, fetch
from kinegrad.kernels.linalg import (
    ldlt,
    ldlt_solve,
    ldlt_solve4,
    least_squares,
    lu,
    lu_solve4,
    lu_solve_transposed4,
)
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR

NUMBERS = ["f8"] if JIT else ["f8", "c16"]
SIZES = [*range(1, LARGE + 3), 60]


@pytest.fixture(autouse=True, scope="module")
def lapack():
    fetch()


def solve_symmetric(A, x, X):
    return _solve_symmetric(A, np.zeros(2 * len(A), A.dtype), x, X)


@entry
def _solve_symmetric(A, d, x, X):
    status = ldlt(A, d)
    if status == 0:
        ldlt_solve(A, d, x)
        ldlt_solve4(A, d, X)
    return status


def solve_general(A, X, Y):
    return _solve_general(A, np.zeros(len(A), np.int32), np.ones(len(A)), X, Y)


@entry
def _solve_general(A, pivots, unit, X, Y):
    status = lu(A, pivots, unit)
    if status == 0:
        lu_solve4(A, pivots, X)
        lu_solve_transposed4(A, pivots, Y)
    return status


def random(rng, number, *shape):
    """Normal numbers; complex ones have a smaller imaginary part, since pivots go by the real part."""
    x = rng.normal(size=shape).astype(number)
    return x + 0.1j * rng.normal(size=shape) if number == "c16" else x


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("n", SIZES)
def test_ldlt_solves_definite_systems(n, number):
    rng = np.random.default_rng(n)
    G = random(rng, number, n, n)
    A = G @ G.T + n * np.eye(n)
    b, B = random(rng, number, n), random(rng, number, n, 4)
    x, X = b.copy(), B.copy()
    lower = np.tril(A)
    assert solve_symmetric(lower, x, X) == OK
    assert_allclose(x, np.linalg.solve(A, b), rtol=0, atol=1e-14)
    assert_allclose(X, np.linalg.solve(A, B), rtol=0, atol=1e-14)


@pytest.mark.parametrize("n", [5, 50])
def test_ldlt_takes_indefinite_matrices_with_good_minors(n):
    rng = np.random.default_rng(n)
    L = np.tril(rng.normal(size=(n, n)), -1) / n + np.eye(n)
    A = L @ np.diag(rng.choice([-1.0, 1.0], n) * rng.uniform(1, 2, n)) @ L.T
    assert np.linalg.eigvalsh(A)[0] < -0.5
    b = rng.normal(size=n)
    x, X = b.copy(), np.zeros((n, 4))
    assert solve_symmetric(A.copy(), x, X) == OK
    assert_allclose(x, np.linalg.solve(A, b), atol=1e-12)


def singular(n):
    """A symmetric matrix with two proportional rows, all of very different sizes."""
    G, scales = np.random.default_rng(n).normal(size=(n - 1, n - 1)), np.logspace(-6, 6, n)
    S = np.pad(G @ G.T + n * np.eye(n - 1), (0, 1), mode="wrap")
    return scales[:, None] * S * scales


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("n", [3, 20, 50])
def test_ldlt_tells_singular_and_not_finite(n):
    A = singular(n)
    assert solve_symmetric(A.copy(), np.zeros(n), np.zeros((n, 4))) == SINGULAR
    A += np.diag(np.diag(A))
    assert solve_symmetric(A.copy(), np.zeros(n), np.zeros((n, 4))) == OK
    for bad in (np.nan, np.inf):
        A[n - 1, 0] = bad
        assert solve_symmetric(A.copy(), np.zeros(n), np.zeros((n, 4))) == NOT_FINITE


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("n", SIZES)
def test_lu_solves_general_systems_and_their_transposes(n, number):
    rng = np.random.default_rng(n)
    A = random(rng, number, n, n)
    A[0, 0] = 0.0 if n > 1 else 2.0
    B = random(rng, number, n, 4)
    X, Y = B.copy(), B.copy()
    assert solve_general(A.copy(), X, Y) == OK
    assert_allclose(A @ X, B, rtol=0, atol=2e-14 * max(1, abs(X).max()) * n)
    assert_allclose(A.T @ Y, B, rtol=0, atol=2e-14 * max(1, abs(Y).max()) * n)


@pytest.mark.parametrize("n", [3, 20, 50])
def test_lu_tells_singular_and_not_finite(n):
    A = singular(n)
    X = np.zeros((n, 4))
    assert solve_general(A.copy(), X, X.copy()) == SINGULAR
    assert solve_general(np.zeros((n, n)), X, X.copy()) == SINGULAR
    A[1, 1] = np.nan
    assert solve_general(A.copy(), X, X.copy()) == NOT_FINITE


@pytest.mark.skipif(JIT, reason="for complex numbers, which need NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize(("m", "n", "r"), [(1, 1, 1), (4, 4, 4), (7, 3, 3), (3, 7, 3), (6, 9, 4), (9, 6, 2), (3, 3, 0)])
def test_least_squares_equals_the_pseudoinverse(m, n, r):
    rng = np.random.default_rng(10 * m + n)
    A, B = rng.normal(size=(m, r)) @ rng.normal(size=(r, n)), rng.normal(size=(m, 3))
    before = A.copy()
    X, rank = least_squares(A, B, 1e-10)
    assert rank == r
    assert_allclose(X, np.linalg.pinv(A, rcond=1e-10) @ B, rtol=0, atol=1e-12)
    assert_array_equal(A, before)


@pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1")
def test_least_squares_lets_a_complex_step_through():
    """The derivative of a least-norm solution at constant rank, against central differences of the pseudoinverse."""
    rng = np.random.default_rng(5)
    U, V = rng.normal(size=(6, 3)), rng.normal(size=(3, 5))
    dU, dV, B = rng.normal(size=(6, 3)), rng.normal(size=(3, 5)), rng.normal(size=(6, 2))
    e = 1e-30j
    A = U @ V + e * (dU @ V + U @ dV)
    X, rank = least_squares(A, B.astype(complex), 1e-9)
    assert rank == 3
    h = 1e-5
    ahead, behind = (np.linalg.pinv((U + s * dU) @ (V + s * dV), rcond=1e-9) @ B for s in (h, -h))
    assert_allclose(X.imag / 1e-30, (ahead - behind) / (2 * h), rtol=0, atol=1e-7)
