"""Patterns: every entry has a place of its own, and what is written there is found where it belongs."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.kernels.jit import entry
from kinegrad.kernels.pattern import add, dense, end_of, of_columns, place, size, spread

COLUMNS = 7
ROWS = [[0, 1, 2], [0, 1, 2], [4], [0, 2, 3, 6], [], list(range(COLUMNS)), [1, 5]]
PATTERNS = {"runs": of_columns(ROWS, COLUMNS), "dense": dense(len(ROWS), COLUMNS)}


def entries(name):
    return [(i, j) for i, row in enumerate(ROWS) for j in (row if name == "runs" else range(COLUMNS))]


@entry
def place_of(P, i, j):
    return place(P, i, j)


@entry
def end(P, rows):
    return end_of(P, rows)


@entry
def added(P, by_q, by_s, i, k, x):
    add((P, by_q, by_s), i, k, x)
    return 0


@pytest.mark.parametrize("name", PATTERNS)
def test_places_are_those_of_rows_one_after_the_other(name):
    P = PATTERNS[name]
    assert [place_of(P, i, j) for i, j in entries(name)] == list(range(size(P)))
    lengths = [sum(i == row for i, _ in entries(name)) for row in range(len(ROWS))]
    assert [end(P, i) for i in range(len(ROWS) + 1)] == [0, *np.cumsum(lengths)]


@pytest.mark.parametrize("name", PATTERNS)
def test_columns_count_through_coordinates_and_directions(name, rng):
    P, directions = PATTERNS[name], 3
    by_q, by_s = np.zeros(size(P)), np.zeros((len(ROWS), directions))
    expected = np.zeros((len(ROWS), COLUMNS + directions))
    for i, k in [*entries(name), *np.ndindex(len(ROWS), directions)]:
        x = rng.normal()
        k += 0 if (i, k) in entries(name) and by_q[place_of(P, i, k)] == 0.0 else COLUMNS
        added(P, by_q, by_s, i, k, x)
        expected[i, k] += x
    assert_close(np.hstack([spread(P, by_q), by_s]), expected, 0.0)


def test_a_dense_matrix_is_a_view():
    values = np.arange(6.0)
    spread(dense(2, 3), values)[1, 2] = 7.0
    assert values[5] == 7.0


def test_equal_rows_share_their_runs():
    many, few = of_columns([[0, 2]] * 100, 3), of_columns([[0, 2], [1], [0, 1, 2]], 3)
    assert len(many) - len(few) < 100 * 3
