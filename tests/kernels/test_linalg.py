import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.lapack import LARGE, fetch
from kinegrad.kernels.linalg import (
    add_transposed4,
    augment,
    augment_lower,
    kkt_factor,
    kkt_solve4,
    ldlt,
    ldlt_solve,
    ldlt_solve4,
    least_squares,
    lu,
    lu_solve4,
    lu_solve_transposed4,
    mean_diagonal,
)  # fmt: skip
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
    return _solve_general(A, np.zeros(len(A), np.int32), X, Y)


@entry
def _solve_general(A, pivots, X, Y):
    status = lu(A, pivots)
    if status == 0:
        lu_solve4(A, pivots, X)
        lu_solve_transposed4(A, pivots, Y)
    return status


@entry
def augmented(T, J, n, alpha, full, lower):
    augment(T, J, n, alpha, full)
    augment_lower(T, J, n, alpha, lower)
    return mean_diagonal(T, n)


def solve_constrained(T, J, n, eps, alpha, transposed, rounds, R1, R2, X, Y):
    A, pivots = np.zeros((n, n), T.dtype), np.zeros(n, np.int32)
    W, Z = np.zeros((n, 4), T.dtype), np.zeros((len(J), 4), T.dtype)
    return _solve_constrained(T, J, n, eps, alpha, transposed, rounds, R1, R2, X, Y, A, pivots, W, Z)


@entry
def _solve_constrained(T, J, n, eps, alpha, transposed, rounds, R1, R2, X, Y, A, pivots, W, Z):
    status = kkt_factor(T, J, n, alpha, A, pivots)
    if status == 0:
        kkt_solve4(T, J, n, eps, alpha, A, pivots, transposed, rounds, R1, R2, X, Y, W, Z)
        add_transposed4(J, n, -1.0, Y, R1)
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


def test_augment_adds_the_penalty_of_the_first_columns():
    rng = np.random.default_rng(7)
    n = 5
    T, J = rng.normal(size=(n, n)), rng.normal(size=(3, n + 2))
    J[1, :3] = 0.0
    full, lower = np.zeros((n, n)), np.zeros((n, n))
    mean = augmented(T, J, n, 30.0, full, lower)
    A = T + 30.0 * J[:, :n].T @ J[:, :n]
    assert_allclose(full, A, rtol=1e-14)
    assert_allclose(lower, np.tril(A), rtol=1e-14)
    assert mean == pytest.approx(np.trace(T) / n, rel=1e-15)


def constrained(rng, number, n, m):
    """T semidefinite plus a skew part, J with a null row and two redundant ones, definite together; R2 consistent."""
    free = random(rng, number, m, n)
    J = np.vstack([free, np.zeros((1, n)), free[:1] - 2.0 * free[1:2], 3.0 * free[:1]]).astype(number)
    N = np.linalg.svd(free.real)[2][m:].T
    G = N @ random(rng, number, n - m, n - m)
    skew = random(rng, number, n, n)
    T = G @ G.T + N @ N.T + N @ N.T @ (skew - skew.T) @ N @ N.T
    R1, R2 = random(rng, number, n, 4), J @ random(rng, number, n, 4)
    return T.astype(number), J, R1, R2


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize(("n", "m"), [(3, 2), (7, 4), (20, 12), (45, 30)])
def test_constrained_system_with_redundant_rows_has_the_least_norm_solution(n, m, transposed, number):
    rng = np.random.default_rng(n)
    T, J, R1, R2 = constrained(rng, number, n, m)
    assert np.linalg.matrix_rank(T.real, 1e-9) == n - m
    Tt = T.T if transposed else T
    K = np.block([[Tt, J.T], [J, np.zeros((m + 3, m + 3))]])
    rows = slice(0, n + m)  # without the redundant ones the matrix is regular
    expected = np.linalg.solve(K[rows, rows], np.vstack([R1, R2])[rows])
    scale = abs(expected).max()
    for penalty, rounds in ((1e5, 4), (1e2, 10)):
        X, Y, left = np.zeros((n, 4), number), np.zeros((m + 3, 4), number), R1.copy()
        alpha = penalty * abs(np.trace(T)) / n
        assert solve_constrained(T, J, n, 0.0, alpha, transposed, rounds, left, R2, X, Y) == OK
        assert_allclose(X, expected[:n], rtol=0, atol=2e-14 * scale)
        assert_allclose(J.T @ Y, J[:m].T @ expected[n:], rtol=0, atol=2e-13 * scale)
        assert_allclose(left, R1 - J.T @ Y, rtol=0, atol=1e-13 * scale)
    assert_allclose(J @ np.linalg.lstsq(J, Y, rcond=1e-10)[0], Y, rtol=0, atol=1e-10 * scale)
    if number == "f8":
        least = np.linalg.pinv(K, rcond=1e-11) @ np.vstack([R1, R2])
        assert_allclose(np.vstack([X, Y]), least, rtol=0, atol=1e-10 * scale)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("transposed", [False, True])
def test_constrained_system_with_compliance(transposed, number):
    rng = np.random.default_rng(11)
    n, m, eps = 6, 3, 1e-6
    T, J, R1, R2 = constrained(rng, number, n, m)
    R2 = random(rng, number, m + 3, 4)  # with compliance no right-hand side is inconsistent
    X, Y = np.zeros((n, 4), number), np.zeros((m + 3, 4), number)
    assert solve_constrained(T, J, n, eps, 1.0 / eps, transposed, 2, R1.copy(), R2, X, Y) == OK
    K = np.block([[T.T if transposed else T, J.T], [J, -eps * np.eye(m + 3)]])
    assert_allclose(K @ np.vstack([X, Y]), np.vstack([R1, R2]), rtol=0, atol=1e-15 * abs(Y).max())


def test_constrained_system_without_rows():
    rng = np.random.default_rng(12)
    T, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    X, none = np.zeros((4, 4)), np.zeros((0, 4))
    assert solve_constrained(T, none, 4, 0.0, 1.0, False, 2, B.copy(), none, X, none) == OK
    assert_allclose(T @ X, B, atol=1e-13)


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
