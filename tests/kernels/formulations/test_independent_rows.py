"""Independent rows: as many as asked for, of full rank, whatever their units; and never others by a complex step."""

import numpy as np
import pytest

from kinegrad.kernels.formulations.independent_rows import take_rows
from kinegrad.kernels.jit import JIT, entry

NUMBERS = ["f8"] if JIT else ["f8", "c16"]


@entry
def _choose(B, m, n, rank, rows, columns, ease):
    take_rows(B, m, n, rank, rows, columns, ease)
    return 0


def chosen(J, rank, rows=None, columns=None, ease=None):
    m, n = J.shape
    ease = np.ones(m, J.dtype) if ease is None else ease
    rows, columns = (np.ones(k) if x is None else x for k, x in ((m, rows), (n, columns)))
    _choose(J.copy(), m, n, rank, rows.astype(J.dtype), columns.astype(J.dtype), ease)
    return ease


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("rank", [1, 3, 4])
def test_rank(rng, number, rank):
    """Of rows that are combinations of `rank` others."""
    J = (rng.normal(size=(7, rank)) @ rng.normal(size=(rank, 5))).astype(number)
    if number == "c16":
        J += 1e-30j * rng.normal(size=J.shape)
    ease = chosen(J, rank)
    taken = ease.real > 0.0
    assert taken.sum() == rank
    assert np.linalg.matrix_rank(J.real[taken]) == rank
    assert np.array_equal(np.abs(ease), np.ones(7))
    assert np.array_equal(chosen(J.real.copy(), rank) > 0.0, taken)


def test_the_farthest_is_taken_first():
    """Row 1 is the longest, row 2 has the largest part across it; of equal ones the first counts."""
    J = np.array([[1.0, 0.0, 0.0], [3.0, 0.0, 0.0], [2.0, 1.0, 0.0], [0.0, 0.5, 0.0], [3.0, 0.0, 0.0]])
    assert np.flatnonzero(chosen(J, 1) > 0.0).tolist() == [1]
    assert np.flatnonzero(chosen(J, 2) > 0.0).tolist() == [1, 2]


def test_scales_make_units_comparable(rng):
    """Rows and coordinates in other units, with scales to match, give the same choice."""
    J = rng.normal(size=(6, 3)) @ rng.normal(size=(3, 4))
    rows, columns = 10.0 ** rng.integers(-3, 4, 6), 10.0 ** rng.integers(-3, 4, 4)
    expected = chosen(J, 3) > 0.0
    assert np.array_equal(chosen(J * rows[:, None] * columns, 3, 1.0 / rows, 1.0 / columns) > 0.0, expected)


def test_sizes_of_ease_stay(rng):
    """Only signs say which rows count, those of the choice before do not matter, and 0 becomes 1."""
    J = rng.normal(size=(4, 3))
    ease = np.array([0.5, -2.0, 0.0, -3.0])
    found = chosen(J, 2, ease=ease)
    assert np.array_equal(np.abs(found), [0.5, 2.0, 1.0, 3.0])
    assert np.array_equal(found > 0.0, chosen(J, 2) > 0.0)
