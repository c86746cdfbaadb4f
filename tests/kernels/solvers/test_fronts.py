"""Factors by fronts against NumPy: symmetric, general and transposed, with rows; and what is singular."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.coordinates.elimination import fronts_of, tables_of
from kinegrad.kernels.jit import entry
from kinegrad.kernels.pattern import of_columns, size, spread
from kinegrad.kernels.solvers.fronts import (
    assemble,
    factor_general,
    factor_symmetric,
    solve_general4,
    solve_symmetric,
    solve_transposed4,
)
from kinegrad.kernels.status import OK, SINGULAR


@entry
def symmetric(front, columns, places, of_lower, of_row, in_row, wide, T, J, m, D, F, w, row, x):
    assemble(front, of_lower, of_row, in_row, wide, T, J, J, m, D, True, F)
    status, where = factor_symmetric(front, columns, places, F, w, row)
    if status == OK:
        solve_symmetric(front, columns, F, x)
    return status, where


@entry
def general(front, columns, places, of_entry, of_row, in_row, wide, T, J, G, m, D, transposed, F, w, X):
    assemble(front, of_entry, of_row, in_row, wide, T, J, G, m, D, False, F)
    status, where = factor_general(front, columns, places, F, w)
    if status == OK and transposed:
        solve_transposed4(front, columns, F, X)
    elif status == OK:
        solve_general4(front, columns, F, X)
    return status, where


class Problem:
    """Random matrices T, J, G of a random pattern."""

    def __init__(self, seed, number=float):
        rng = self.rng = np.random.default_rng(seed)
        n = self.n = int(rng.integers(3, 30))
        groups = [sorted(rng.choice(n, size=min(n, k), replace=False).tolist()) for k in rng.integers(1, 6, 2 * n)]
        rows = [*groups[::3], []]
        met = [{i} for i in range(n)]
        for group in groups:
            for i in group:
                met[i] |= set(group)
        columns = [sorted(row) for row in met]
        self.square, self.wide, self.m = of_columns(columns, n), of_columns(rows, n), len(rows)
        t = self.tables = tables_of(fronts_of(columns), columns, rows)
        self.entries = [(i, j) for i, row in enumerate(columns) for j in row]
        self.T, self.J, self.G = (self.random(size(P)).astype(number) for P in (self.square, self.wide, self.wide))
        self.T[[i == j for i, j in self.entries]] += 10.0 * n
        self.D = rng.uniform(1.0, 3.0, self.m).astype(number)
        self.fixed = [t["front"], t["front_columns"], t["front_places"]]
        self.rest = [t["front_of_row"], t["front_in_row"], self.wide]
        self.scratch = [np.zeros((1, int((t["front"][:, 1] ** 2).sum())), number), np.zeros(n, number)]
        self.row = np.zeros((1, n), number)

    def random(self, *shape):
        return self.rng.normal(size=shape)

    def full(self, T, J, G):
        J, G = spread(self.wide, J), spread(self.wide, G)
        return spread(self.square, T) + J.T @ (self.D[:, None] * G)


@pytest.mark.parametrize("seed", range(12))
def test_symmetric(seed):
    """Of T the lower triangle counts."""
    p = Problem(seed)
    lower = np.tril(spread(p.square, p.T))
    T = np.array([lower[i, j] if i >= j else np.nan for i, j in p.entries])
    whole = lower + np.tril(lower, -1).T
    A = whole + spread(p.wide, p.J).T @ (p.D[:, None] * spread(p.wide, p.J))
    x = p.random(p.n)
    expected = np.linalg.solve(A, x)
    found = symmetric(*p.fixed, p.tables["front_of_lower"], *p.rest, T, p.J, p.m, p.D, *p.scratch, p.row, x)
    assert found == (OK, -1)
    assert_close(x, expected, 1e-13)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_general(seed, transposed):
    p = Problem(seed)
    A, X = p.full(p.T, p.J, p.G), p.random(p.n, 4)
    expected = np.linalg.solve(A.T if transposed else A, X)
    arguments = *p.fixed, p.tables["front_of_entry"], *p.rest, p.T, p.J, p.G, p.m, p.D, transposed, *p.scratch, X
    assert general(*arguments) == (OK, -1)
    assert_close(X, expected, 1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_a_coordinate_that_nothing_holds_is_named(seed):
    p = Problem(seed)
    k = p.n // 2
    for i, entry_ in enumerate(p.entries):
        if k in entry_:
            p.T[i] = 0.0
    J = spread(p.wide, p.J)
    J[:, k] = 0.0
    P = p.wide
    at = [(l, j) for l in range(p.m) for j in range(p.n) if spread(P, np.ones(size(P)))[l, j]]
    p.J = np.array([J[l, j] for l, j in at])
    found = symmetric(
        *p.fixed, p.tables["front_of_lower"], *p.rest, p.T, p.J, p.m, p.D, *p.scratch, p.row, p.random(p.n)
    )
    assert found == (SINGULAR, k)
    arguments = (
        *p.fixed,
        p.tables["front_of_entry"],
        *p.rest,
        p.T,
        p.J,
        p.J,
        p.m,
        p.D,
        False,
        *p.scratch,
        p.random(p.n, 4),
    )
    assert general(*arguments) == (SINGULAR, k)


@uncompiled
def test_complex_numbers_pass():
    """The solution of a complex system has the derivative of the solution."""
    p = Problem(3, complex)
    h, dT = 1e-30, p.random(size(p.square))
    X = p.random(p.n, 4) + 0j
    A = p.full(p.T, p.J, p.G).real
    expected = -np.linalg.solve(A, spread(p.square, dT) @ np.linalg.solve(A, X.real))
    arguments = (
        *p.fixed,
        p.tables["front_of_entry"],
        *p.rest,
        p.T + 1j * h * dT,
        p.J,
        p.G,
        p.m,
        p.D,
        False,
        *p.scratch,
        X,
    )
    assert general(*arguments) == (OK, -1)
    assert_close(X.imag / h, expected, 1e-12)
