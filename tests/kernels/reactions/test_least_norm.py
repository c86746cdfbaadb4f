"""Unknowns of least norm, by reflections that reveal the rank, against pseudo-inverses (REA-3, REA-5)."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.reactions.least_norm import factor_small, loose_small, solve_small
from kinegrad.reactions.solve import _reflections

pytestmark = uncompiled


@pytest.mark.parametrize(
    ("unknowns", "rows", "rank"), [(5, 5, 5), (7, 4, 4), (4, 7, 4), (6, 6, 3), (8, 5, 3), (5, 8, 2)]
)
def test_least_norm(unknowns, rows, rank, rng):
    """G y = b with G of any shape and rank; what may be added is all that G does not see."""
    G = rng.normal(size=(rows, rank)) @ rng.normal(size=(rank, unknowns))
    b = rng.normal(size=rows)
    S = _reflections(np.ascontiguousarray(G.T))
    found, left = factor_small(S, 1.0)
    assert found == rank
    y = np.zeros(unknowns)
    solve_small(S, found, left, b, y)
    assert_close(y, np.linalg.pinv(G) @ b, 1e-11)
    z = np.zeros(unknowns)
    for i in range(min(unknowns - rank, 4)):
        loose_small(S, found, rng.normal(size=(4, unknowns)), i, z)
        assert np.abs(z).max() > 0.1
        assert_close(G @ z, np.zeros(rows), 1e-12)
