"""Products of matrices of a pattern, dense or not, against NumPy's."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.jit import entry
from kinegrad.kernels.linalg import put4
from kinegrad.kernels.pattern import dense, of_columns, size, spread
from kinegrad.kernels.solvers.multiply import (
    columns4,
    diagonal,
    minus4,
    minus_rows,
    minus_times,
    minus_transposed4,
    minus_two_sorts_of_rows,
    minus_weighed_rows,
    plus_row,
    right4,
    row_times,
    times,
)

ROWS, N = 5, 6
OF_ROW = [[0, 1, 2, 5], [1, 2], [0, 2, 3], [3, 4, 5], [0, 4]]
PATTERNS = {"dense": dense(ROWS, N), "runs": of_columns(OF_ROW, N)}
DIRECTIONS = [5, 6, 7, 8]  # the second block has one to four of them


@entry
def vectors(P, A, B, D, rows, x, z, b, out, less, weighed, both):
    times(P, A, rows, x, b, out)
    minus_times(P, A, rows, x, less)
    minus_weighed_rows(P, A, rows, D, z, weighed)
    minus_two_sorts_of_rows(P, A, z, B, D, b, rows, both)
    return row_times(P, A, 2, x, 0.5)


@entry
def one_row(P, A, i, t, y):
    plus_row(P, A, i, t, y)
    return 0


@entry
def all_rows(P, A, rows, x, y):
    minus_rows(P, A, rows, x, y)
    return 0


@entry
def blocks(P, A, S, rows, k, f, X, Y, right, less, transposed, taken):
    right4(P, A, S, rows, k, X, f, right)
    minus4(P, A, rows, X, less)
    minus_transposed4(P, A, rows, f, Y, transposed)
    for i in range(rows):
        put4(taken, i, columns4(S, i, k))
    return 0


@entry
def diagonal_of(P, A, out):
    diagonal(P, A, out)
    return 0


def columns(A, k):
    """Four columns from k on, with zeros beyond the last."""
    return np.hstack([A, np.zeros((len(A), 4))])[:, k : k + 4]


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("rows", [ROWS, 3])
def test_vectors(rng, name, rows):
    P = PATTERNS[name]
    A, B = rng.normal(size=(2, size(P)))
    (full, other), D = (spread(P, a)[:rows] for a in (A, B)), rng.normal(size=ROWS)
    x, z, b = rng.normal(size=N), rng.normal(size=ROWS), rng.normal(size=ROWS)
    start = [rng.normal(size=k) for k in (ROWS, ROWS, N, N)]
    out, less, weighed, both = (y.copy() for y in start)
    one = vectors(P, A, B, D, rows, x, z, b, out, less, weighed, both)
    D, z, b = D[:rows], z[:rows], b[:rows]
    assert_close(out[:rows], b + full @ x, 1e-14)
    assert_close(less[:rows], start[1][:rows] - full @ x, 1e-14)
    assert np.array_equal(out[rows:], start[0][rows:]) and np.array_equal(less[rows:], start[1][rows:])
    assert_close(weighed, start[2] - full.T @ (D * z), 1e-14)
    assert_close(both, start[3] - full.T @ z - other.T @ (D * b), 1e-14)
    assert_close(one, 0.5 + full[2] @ x, 1e-14)
    one_row(P, A, 1, 0.3, weighed)
    assert_close(weighed, start[2] - full.T @ (D * z) + 0.3 * full[1], 1e-14)
    all_rows(P, A, rows, z, both)
    assert_close(both, start[3] - 2.0 * full.T @ z - other.T @ (D * b), 1e-14)


@pytest.mark.parametrize("name", PATTERNS)
@pytest.mark.parametrize("p", DIRECTIONS)
@pytest.mark.parametrize("block", [0, 1])
def test_blocks(rng, name, block, p):
    P, k, f = PATTERNS[name], 4 * block, 0.7
    A, S, X, Y = (
        rng.normal(size=size(P)),
        rng.normal(size=(ROWS, p)),
        rng.normal(size=(N, 4)),
        rng.normal(size=(ROWS, 4)),
    )
    start = [rng.normal(size=(rows, 4)) for rows in (ROWS, ROWS, N, ROWS)]
    right, less, transposed, taken = (x.copy() for x in start)
    blocks(P, A, S, ROWS, k, f, X, Y, right, less, transposed, taken)
    full = spread(P, A)
    assert_close(taken, columns(S, k), 0.0)
    assert_close(right, -f * (full @ X + columns(S, k)), 1e-14)
    assert_close(less, start[1] - full @ X, 1e-14)
    assert_close(transposed, start[2] - f * full.T @ Y, 1e-14)


@pytest.mark.parametrize("P", [dense(4, 4), of_columns([[0, 2], [1], [0, 1, 2], [3]], 4)], ids=["dense", "runs"])
def test_diagonal(rng, P):
    A, out = rng.normal(size=size(P)), np.zeros(4)
    diagonal_of(P, A, out)
    assert np.array_equal(out, spread(P, A).diagonal())


@uncompiled
@pytest.mark.parametrize("name", PATTERNS)
def test_complex_numbers_pass(rng, name):
    """The product with a complex matrix has the derivative of the product."""
    P = PATTERNS[name]
    A, dA, S = *rng.normal(size=(2, size(P))), rng.normal(size=(ROWS, 4)) + 0j
    X, out = rng.normal(size=(N, 4)) + 0j, np.zeros((ROWS, 4), complex)
    right4(P, A + 1e-30j * dA, S, ROWS, 0, X, 1.0, out)
    assert_close(out.imag / 1e-30, -spread(P, dA) @ X.real, 1e-14)
