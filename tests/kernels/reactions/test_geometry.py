"""Bodies and joints of balances: directions across others, duals, what a joint transmits (REA-1)."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.jit import record
from kinegrad.kernels.joint.records import SCREW, SLIDE, TURN
from kinegrad.kernels.reactions.geometry import complement, dual, held, one_across
from kinegrad.kernels.reactions.records import DIRECTION

pytestmark = uncompiled


def directions(rng, *types):
    """Records of free directions along random axes."""
    rows = np.zeros(len(types), record(DIRECTION, "f8"))
    for row, kind in zip(rows, types, strict=True):
        u = rng.normal(size=3)
        row["type"], row["u"], row["pitch"] = kind, u / np.linalg.norm(u), 0.3 if kind == SCREW else 0.0
    for i, row in enumerate(rows):
        row["g"] = dual(rows, 0, len(rows), i)
    return rows


def test_one_across(rng):
    for u in rng.normal(size=(20, 3)):
        u /= np.linalg.norm(u)
        x = np.array(one_across(tuple(u)))
        assert_close([x @ u, x @ x], [0.0, 1.0], 1e-15)


@pytest.mark.parametrize("types", [(TURN,), (TURN, TURN), (TURN, TURN, TURN), (SLIDE, SLIDE, TURN)])
def test_duals_are_one_along_their_own_direction_alone(types, rng):
    rows = directions(rng, *types)
    for i, row in enumerate(rows):
        same = [j for j, other in enumerate(rows) if (other["type"] == SLIDE) == (row["type"] == SLIDE)]
        assert_close([row["g"] @ rows[j]["u"] for j in same], [float(i == j) for j in same], 1e-13)


@pytest.mark.parametrize("types", [(TURN,), (SLIDE,), (SCREW,), (SLIDE, TURN), (SLIDE, SLIDE, TURN), (TURN, TURN)])
def test_what_is_held_does_no_work_on_free_motions(types, rng):
    rows = directions(rng, *types)
    F, N = held(rows, {"d0": 0, "d1": len(rows)}, tuple(rng.normal(size=3)), tuple(rng.normal(size=3)))
    for row in rows:
        slide = row["u"] if row["type"] == SLIDE else row["pitch"] * row["u"]
        turn = 0.0 if row["type"] == SLIDE else row["u"]
        assert abs(np.dot(F, slide) + np.dot(N, turn * np.ones(3))) < 1e-13


@pytest.mark.parametrize("count", range(4))
def test_complement(count, rng):
    rows, out = directions(rng, *[SLIDE] * count), np.zeros((3, 3))
    left = complement(rows, 0, count, True, out)
    assert left == 3 - count
    assert_close(out[:left] @ out[:left].T, np.eye(left), 1e-14)
    for row in rows:
        assert_close(out[:left] @ row["u"], np.zeros(left), 1e-13)
