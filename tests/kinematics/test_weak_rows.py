"""Rows that are nearly dependent, by fronts: found as by singular values as long as that can be, and told where not."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kinegrad as kg
from kinegrad.bench.large_models import chain
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kinematics.least_squares import refined
from kinegrad.kinematics.start import place


def rows_with(weak: float):
    """Rows of a chain in which the y row of a joint is its x row, but for so much of its own."""
    system = kg.reference_point(chain(6)).with_solver("fronts")
    work = system.workspace()
    place(system, work)
    work["flag"][FREEDOMS] = 0
    work.call(POSITION)
    A = work.matrix("J").first(system.m).copy()
    x = next(k for k, name in enumerate(system.row_names) if name == "j3.x")
    _, begin = A.fronts.wide
    first, second = (slice(begin[k], begin[k + 1]) for k in (x, x + 1))
    A.values[second] = A.values[first] + weak * A.values[second]
    return A


@pytest.mark.parametrize(("weak", "agree"), [(1.0, 1e-13), (1e-3, 1e-12), (1e-5, 1e-10)])
def test_weak_rows_are_solved_as_by_singular_values(weak, agree, rng):
    """Digits are lost as the weakness of the rows says, and no warning is needed."""
    A = rows_with(weak)
    B = rng.normal(size=(len(A), 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = refined(A, B)
    full = refined(A.csr.toarray(), B)
    assert_allclose(found, full, rtol=0, atol=agree * np.abs(full).max())


@pytest.mark.parametrize("weak", [1e-6, 2e-8])
def test_rows_that_are_too_weak_are_told_by_name(weak, rng):
    A = rows_with(weak)
    with pytest.warns(kg.AccuracyWarning, match="'j3.[xy]' among them, hardly hold a direction"):
        refined(A, rng.normal(size=(len(A), 1)))
