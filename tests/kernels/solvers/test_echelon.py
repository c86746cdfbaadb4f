"""Independent rows and forms of an inverse by fronts, against NumPy on random patterns."""

import numpy as np
import pytest

from kinegrad.coordinates.patterns import Structure
from kinegrad.coordinates.sparse import Fronts, Rows


class Given:
    """As much of a system as fronts look at."""

    def __init__(self, square, wide):
        self.structure, self.n = Structure(square, wide), len(square)
        self.patterns = self.structure.arrays


def problem(seed):
    """Fronts of a random pattern, rows with some that follow from others, and the rows in full."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 30))
    groups = [sorted(rng.choice(n, size=min(n, k), replace=False).tolist()) for k in rng.integers(1, 6, n)]
    wide = [group for group in groups for _ in range(rng.integers(1, 4))] + [[]]
    met = [{i} for i in range(n)]
    for group in groups:
        for i in group:
            met[i] |= set(group)
    fronts = Fronts(Given([sorted(row) for row in met], wide), np.float64)
    full = np.zeros((len(wide), n))
    for l, row in enumerate(wide):
        if l and row == wide[l - 1] and rng.random() < 0.3:
            full[l] = -2.0 * full[l - 1]
        else:
            full[l, row] = rng.normal(size=len(row))
    values = np.array([full[l, j] for l, row in enumerate(wide) for j in row])
    return fronts, Rows(fronts, values, len(wide)), full, rng


@pytest.mark.parametrize("seed", range(20))
def test_rows_that_follow_from_those_before_them(seed):
    fronts, rows, full, _ = problem(seed)
    before = [np.linalg.matrix_rank(full[:l], tol=1e-9) if l else 0 for l in range(len(full) + 1)]
    np.testing.assert_array_equal(fronts.independent(rows, 1e-9), np.diff(before) > 0)


@pytest.mark.parametrize("seed", range(8))
def test_coordinates_that_rows_leave_free(seed):
    fronts, rows, full, _ = problem(seed)
    held, expected = full, []
    for k in range(fronts.system.n):
        more = np.vstack([held, np.eye(fronts.system.n)[k]])
        if np.linalg.matrix_rank(more, tol=1e-9) > np.linalg.matrix_rank(held, tol=1e-9):
            held = more
            expected.append(k)
    assert fronts.open_coordinates(rows, 1e-9, range(fronts.system.n), 3) == expected[:3]


@pytest.mark.parametrize("seed", range(8))
def test_solutions_and_forms_of_the_inverse(seed):
    fronts, rows, full, rng = problem(seed)
    T, D = rng.uniform(1.0, 2.0, fronts.system.n), rng.uniform(1.0, 3.0, len(rows))
    A, B = np.diag(T) + full.T @ (D[:, None] * full), rng.normal(size=(len(T), 3))
    assert fronts.factor(fronts.diagonal(T).data, rows, D) == (0, -1)
    np.testing.assert_allclose(fronts.solve(B), np.linalg.solve(A, B), rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(fronts.forms(rows), np.diag(full @ np.linalg.solve(A, full.T)), rtol=1e-10, atol=1e-13)


def test_products_and_sizes():
    fronts, rows, full, rng = problem(3)
    x = rng.normal(size=full.shape[1])
    np.testing.assert_allclose(rows @ x, full @ x, rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(rows.T @ (rows @ x), full.T @ (full @ x), rtol=1e-13, atol=1e-14)
    for found, expected in zip(
        rows.with_sizes().sides(), (np.abs(full).max(axis=1), np.abs(full).max(axis=0)), strict=True
    ):
        np.testing.assert_array_equal(found, expected)
    assert rows.row_times(1, x) == pytest.approx(full[1] @ x, rel=1e-13)
    mask = np.arange(len(rows)) == 1
    assert not (rows.without(mask) @ x)[1] and (rows.without(mask) @ x)[0] == (rows @ x)[0]
