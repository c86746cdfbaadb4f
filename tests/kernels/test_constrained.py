import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from kinegrad.kernels.constrained import (
    FEW_ROUNDS,
    LEAVES_MUCH,
    MOST_ROUNDS,
    SETTLED,
    STRENGTH,
    rounds4,
    row_weights,
    solve_rows,
)
from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.lapack import fetch
from kinegrad.kernels.pattern import dense
from kinegrad.kernels.solvers.factors import factor, factor_general
from kinegrad.kernels.status import OK
from kinegrad.kinematics import constrained as in_python

NUMBERS = ["f8"] if JIT else ["f8", "c16"]


@pytest.fixture(autouse=True, scope="module")
def lapack():
    fetch()


def random(rng, number, *shape):
    x = rng.normal(size=shape)
    return x + 1e-20j * rng.normal(size=shape) if number == "c16" else x


def patterns(T, J, length=1.0, lengths=(), powers=()):
    """Patterns and units: which coordinates are lengths, and the powers of length in the units of rows."""
    unit, per_row = np.ones(len(T)), np.ones(len(J))
    unit[list(lengths)] = length
    per_row[: len(powers)] = length ** -np.array(powers, float)
    return dense(len(T), len(T)), dense(*J.shape), (unit, 1.0 / unit, per_row, (per_row * length) ** -2.0)


def weights(T, J, eps=0.0, alike=(), **units):
    D = np.zeros(len(J), T.dtype)
    ease = np.ones(len(J), T.dtype)
    w, g = np.zeros(len(T), T.dtype), np.zeros(len(J), T.dtype)
    groups = np.zeros(len(T), np.int64)
    for k, count in alike:
        groups[k] = count
    return _weights(patterns(T, J, **units), T.ravel(), J.ravel(), len(J), eps, groups, ease, w, g, D), D.real


@entry
def _weights(pat, T, J, m, eps, alike, ease, w, g, D):
    return row_weights(pat, T, J, m, eps, alike, ease, w, g, D)


def test_coordinates_that_are_alike_share_their_inertia():
    """Four Euler parameters have their mean, so weights do not change with the orientation."""
    T, J = np.diag([2.0, 1e-9, 4.0, 1.0, 3.0]), np.array([[0.0, 1.0, 0.5, 0.2, 0.1], [1.0, 0.0, 0.0, 0.3, 0.0]])
    mean = (1e-9 + 4.0 + 1.0 + 3.0) / 4.0
    expected = 1e8 / np.array([1.3 / mean, 0.5 + 0.09 / mean])
    assert_allclose(weights(T, J, alike=[(1, 4)])[1], expected, rtol=1e-14)
    assert_allclose(in_python.row_weights(T, J, 0.0, 1.0, np.array([[1, 2, 3, 4]])), expected, rtol=1e-14)
    assert weights(T, J)[1][0] < 1e-6 * expected[0]


def solve_general(T, J, eps, transposed, R1, R2, X, Y, **units):
    """Status, rounds."""
    n, number = len(T), T.dtype
    _, D = weights(T, J, eps, **units)
    scratch = np.zeros((n, n), number), np.zeros(n, np.int32), np.zeros((n, 4), number), np.zeros((len(J), 4), number)
    scratch = *scratch, np.zeros(n, number)
    flat = patterns(T, J, **units), T.ravel(), J.ravel()
    return _solve_general(*flat, len(J), eps, D.astype(number), transposed, R1, R2, X, Y, *scratch)


@entry
def _solve_general(pat, T, J, m, eps, D, transposed, R1, R2, X, Y, A, pivots, W, Z, ordered):
    F = pat[0], 0, 0, A, pivots, pat[2][0], ordered
    status = factor_general(F, T, J, J, m, D)
    rounds = 0
    if status == 0:
        rounds = rounds4(pat, T, J, J, m, eps, D, F, transposed, 1e-13, R1, R2, X, Y, W, Z)
    return status, rounds


def solve_symmetric(T, J, eps, rounds, r1, r2, **units):
    """Status, what is left, x, y."""
    n, m, number = len(T), len(J), T.dtype
    _, D = weights(T, J, eps, **units)
    x, y = np.zeros(n, number), np.zeros(m, number)
    scratch = np.zeros((n, n), number), np.zeros(2 * n, number), np.zeros(n, number), np.zeros(m, number)
    flat = patterns(T, J, **units), T.ravel(), J.ravel()
    status, made = _solve_symmetric(*flat, m, eps, D.astype(number), rounds, r1, r2, x, y, *scratch)
    return status, made, x, y


@entry
def _solve_symmetric(pat, T, J, m, eps, D, rounds, r1, r2, x, y, A, d, w, z):
    F = pat[0], 0, 0, A, d
    status = factor(F, T, J, m, D)
    made = 0
    if status == 0:
        made = solve_rows(pat, T, J, m, eps, D, F, rounds, r1, r2, x, y, w, z)
    return status, made


def test_a_weight_is_that_of_the_masses_which_the_row_moves():
    T = np.diag([2.0, 1e-3, 0.0, 5e4])
    J = np.array([[1.0, 0, 0, 0], [0, 3.0, 0, 0], [1.0, 1.0, 7.0, 0], [0, 0, 0, 2.0], [0, 0, 4.0, 0], [0, 0, 0, 0]])
    mixed = 1.0 / (0.5 + 1e3 + 49.0 / 5e4)  # what has no inertia counts as the heaviest
    expected = STRENGTH * np.array([2.0, 1e-3 / 9.0, mixed, 5e4 / 4.0, 5e4 / 16.0, 0.0])
    assert_allclose(weights(T, J)[1], expected, rtol=1e-14)
    assert_allclose(in_python.row_weights(T, J, 0.0, 1.0), expected, rtol=1e-14)


def test_a_row_that_moves_an_inertia_of_rounding_is_held_all_the_same():
    for tiny in (1e-17, 1e-12, 0.0):
        T, J = np.diag([tiny, 1.0, 2.0]), np.array([[2.0, 0, 0], [0, 1.0, 1.0]])
        D = weights(T, J)[1]
        assert 4.0 * D[0] > 1e-2
        assert_allclose(in_python.row_weights(T, J, 0.0, 1.0), D, rtol=1e-14)


def test_a_row_that_moves_an_inertia_by_rounding_alone_drowns_nothing():
    T, J = np.diag([0.0, 1.0, 2.0]), np.array([[0.8, 1e-29, 0], [0, 1.0, 1.0]])
    D = weights(T, J)[1]
    assert_allclose(D[0], STRENGTH * 2.0 / 0.64, rtol=1e-14)
    assert_allclose(in_python.row_weights(T, J, 0.0, 1.0), D, rtol=1e-14)


def test_a_row_that_rounding_moved_off_zero_has_no_weight_to_speak_of():
    T, J = np.eye(3), np.array([[1.0, 0, 0], [0, 1e-13, 0]])
    D = weights(T, J)[1]
    assert D[1] * J[1, 1] ** 2 < 1e-11
    assert_allclose(in_python.row_weights(T, J, 0.0, 1.0), D, rtol=1e-14)


def test_a_compliance_is_used_as_it_is_unless_it_drowns_the_masses():
    T, J = np.diag([1.0, 1e-6]), np.eye(2)
    one, D = weights(T, J, 1e-3)
    assert one
    assert_allclose(D, [1e3, 1e3], rtol=1e-14)
    one, D = weights(T, J, 1e-9)
    assert not one
    assert_allclose(D, [1e9, STRENGTH * 1e-6], rtol=1e-14)
    assert_allclose(in_python.row_weights(T, J, 1e-9, 1.0), D, rtol=1e-14)


def redundant(rng, number, n, m):
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
def test_redundant_rows_and_a_singular_matrix_do_no_harm(n, m, transposed, number):
    rng = np.random.default_rng(n)
    T, J, R1, R2 = redundant(rng, number, n, m)
    assert np.linalg.matrix_rank(T.real, 1e-9) == n - m
    Tt = T.T if transposed else T
    K = np.block([[Tt, J.T], [J, np.zeros((m + 3, m + 3))]])
    rows = slice(0, n + m)  # without the redundant ones the matrix is regular
    expected = np.linalg.solve(K[rows, rows], np.vstack([R1, R2])[rows])
    scale = abs(expected).max()
    X, Y = np.zeros((n, 4), number), np.zeros((m + 3, 4), number)
    status, rounds = solve_general(T, J, 0.0, transposed, R1, R2, X, Y)
    assert status == OK and 2 <= rounds <= 5
    assert_allclose(X, expected[:n], rtol=0, atol=3e-14 * scale)
    assert_allclose(J.T @ Y, J[:m].T @ expected[n:], rtol=0, atol=2e-13 * scale)


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("transposed", [False, True])
def test_constrained_system_with_compliance(transposed, number):
    rng = np.random.default_rng(11)
    n, m, eps = 6, 3, 1e-6
    T, J, R1, R2 = redundant(rng, number, n, m)
    R2 = random(rng, number, m + 3, 4)  # with compliance no right-hand side is inconsistent
    X, Y = np.zeros((n, 4), number), np.zeros((m + 3, 4), number)
    assert solve_general(T, J, eps, transposed, R1, R2, X, Y)[0] == OK
    K = np.block([[T.T if transposed else T, J.T], [J, -eps * np.eye(m + 3)]])
    assert_allclose(K @ np.vstack([X, Y]), np.vstack([R1, R2]), rtol=0, atol=1e-15 * abs(Y).max())


def test_constrained_system_without_rows():
    rng = np.random.default_rng(12)
    T, B = rng.normal(size=(4, 4)), rng.normal(size=(4, 4))
    X, none = np.zeros((4, 4)), np.zeros((0, 4))
    assert solve_general(T, none, 0.0, False, B, none, X, none)[0] == OK
    assert_allclose(T @ X, B, atol=1e-13)


@pytest.mark.parametrize("seed", range(8))
def test_all_digits_whatever_the_units_of_rows_and_coordinates(seed):
    """Rows of a millimetre beside rows of a kilometre, grams beside tons: the solution is that of the unscaled system."""
    rng = np.random.default_rng(seed)
    n, m = 9, 5
    G, J0 = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    J0 = np.vstack([J0, J0[0] + J0[1]])
    T0 = G @ G.T + np.eye(n)
    K = np.block([[T0, J0[:m].T], [J0[:m], np.zeros((m, m))]])
    r1, r2 = rng.normal(size=n), J0 @ rng.normal(size=n)
    x0 = np.linalg.solve(K, np.concatenate([r1, r2[:m]]))[:n]
    unit, row = 10.0 ** rng.uniform(-3, 3, n), 10.0 ** rng.uniform(-1.5, 1.5, m + 1)
    T, J = T0 * np.outer(unit, unit), row[:, None] * J0 * unit
    status, left, x, _ = solve_symmetric(T, J, 0.0, FEW_ROUNDS, r1 * unit, r2 * row)
    assert status == OK and left == SETTLED
    assert_allclose(x * unit, x0, rtol=0, atol=1e-12 * abs(x0).max())
    status, X, _ = in_python.solve_constrained(T, J, 0.0, (r1 * unit)[:, None], (r2 * row)[:, None])
    assert status == OK
    assert_allclose(X[:, 0] * unit, x0, rtol=0, atol=1e-12 * abs(x0).max())


def test_a_row_that_loses_rank_is_told():
    """One direction that rows hardly see, and ask for: no number of rounds finds it."""
    T, J = np.eye(3), np.array([[1.0, 1.0, 0.0], [1.0, 1.0 + 1e-6, 0.0]])
    status, left, _, _ = solve_symmetric(T, J, 0.0, MOST_ROUNDS, np.zeros(3), np.array([1.0, 2.0]))
    assert status == OK and left == LEAVES_MUCH


@pytest.mark.parametrize("seed", range(8))
def test_what_rows_alone_bear_settles(seed):
    """Forces that constraints take up altogether move nothing: x is zero, and rounding of it is no reason for more rounds."""
    rng = np.random.default_rng(seed)
    n = m = 12
    G, J = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    T, Y0 = G @ G.T + np.eye(n), rng.normal(size=(m, 4)) * [1.0, 1e3, 1e-3, 0.0]
    X, Y = np.zeros((n, 4)), np.zeros((m, 4))
    status, rounds = solve_general(T, J, 0.0, False, J.T @ Y0, np.zeros((m, 4)), X, Y)
    assert status == OK and 2 <= rounds <= 6
    assert_allclose(X, 0.0, atol=1e-20 * abs(J.T @ Y0).max())
    assert_allclose(Y, Y0, rtol=0, atol=1e-12 * abs(Y0).max())


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("free", [1e-7, 1e-9, 1e-12, 0.0])
def test_what_rows_bear_but_for_little_settles(free, transposed):
    """Where rows take up all but a billionth of the forces, the rest has the digits that rounding of the forces leaves it."""
    rng = np.random.default_rng(3)
    n, m = 12, 7
    G, J = rng.normal(size=(n, n)), rng.normal(size=(m, n))
    T, Y0 = G @ G.T + np.eye(n), rng.normal(size=(m, 4))
    X0 = free * np.linalg.svd(J)[2][m:].T @ rng.normal(size=(n - m, 4))
    X, Y = np.zeros((n, 4)), np.zeros((m, 4))
    R1 = J.T @ Y0 + T @ X0
    status, rounds = solve_general(T, J, 0.0, transposed, R1, np.zeros((m, 4)), X, Y)
    assert status == OK and 2 <= rounds <= 8
    assert_allclose(X, X0, rtol=0, atol=1e-15 * abs(R1).max())
    assert_allclose(Y, Y0, rtol=0, atol=1e-13 * abs(Y0).max())


@pytest.mark.parametrize(("length", "mass"), [(2.0**-30, 1.0), (2.0**20, 2.0**-51), (1.0, 2.0**31)])
def test_solutions_have_the_same_digits_in_other_units(length, mass):
    """Lengths and angles beside each other, rows of areas, lengths and numbers, one coordinate without inertia."""
    rng, lengths, powers = np.random.default_rng(5), [0, 1, 4], [2, 1, 0]
    G, J = rng.normal(size=(6, 6)), rng.normal(size=(3, 6))
    T = G @ G.T
    T[3, :] = T[:, 3] = 0.0
    R1, R2 = rng.normal(size=(6, 4)), rng.normal(size=(3, 4))
    unit, row = np.where(np.isin(np.arange(6), lengths), length, 1.0), length ** np.array(powers, float)
    energy = mass * length**2
    scaled_T, scaled_J = energy * T / np.outer(unit, unit), J * row[:, None] / unit
    units = {"length": length, "lengths": lengths, "powers": powers}
    for eps in (0.0, 1e-9):
        plain = weights(T, J, eps)[1]
        assert_array_equal(weights(scaled_T, scaled_J, eps / mass, **units)[1] * row**2 / energy, plain)
        for transposed in (False, True):
            X, Y = np.zeros((6, 4)), np.zeros((3, 4))
            found = solve_general(T, J, eps, transposed, R1, R2, X, Y)
            x, y = np.zeros((6, 4)), np.zeros((3, 4))
            right = energy * R1 / unit[:, None], R2 * row[:, None]
            assert solve_general(scaled_T, scaled_J, eps / mass, transposed, *right, x, y, **units) == found
            assert_array_equal(x / unit[:, None], X)
            assert_array_equal(y * row[:, None] / energy, Y)
        first = solve_symmetric(T, J, eps, MOST_ROUNDS, R1[:, 0].copy(), R2[:, 0].copy())
        right = energy * R1[:, 0] / unit, R2[:, 0] * row
        second = solve_symmetric(scaled_T, scaled_J, eps / mass, MOST_ROUNDS, *right, **units)
        assert first[:2] == second[:2]
        assert_array_equal(second[2] / unit, first[2])
        assert_array_equal(second[3] * row / energy, first[3])
