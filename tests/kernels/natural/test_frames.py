"""Frames: F H = B for every basis, rigid positions back to themselves, and rates by complex step."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled

from kinegrad.kernels.natural.frames import (
    change_of_direction,
    column,
    column_value,
    local_direction,
    move_frames,
    turned,
    turned_back,
)
from kinegrad.kernels.natural.prepare import prepare_frames
from kinegrad.kernels.natural.records import AT, CROSS, FRAME, MU, N_FIELDS, POINT, SIZE, V

from .carried import JOINTS, system

pytestmark = uncompiled


@pytest.fixture(params=JOINTS, scope="module")
def work(request):
    work = system(request.param).workspace(s=system(request.param).s.astype(complex))
    prepare_frames(*(work[name] for name in ("frame", "basis", "entity", "fcol", "s")))
    return work


def tables(work):
    return [work[name] for name in ("frame", "basis", "entity")]


def test_fields_are_apart():
    assert N_FIELDS % SIZE == 0 and {name: count for name, _, *count in FRAME}["T"] == [N_FIELDS]


def test_frames_of_columns(work, rng):
    """F H = B, in the field of positions and in a linear one."""
    frame, basis, entity = tables(work)
    z, s = rng.normal(size=len(work["q"])), work["s"]
    for field in (AT, V):
        move_frames(frame, basis, entity, z, s, field)
        for i, B in enumerate(frame):
            if i == 0:
                continue
            F = B["T"][field : field + SIZE].reshape(4, 3).T
            if B["lead"] != i:
                lead = frame[B["lead"]]["T"][field : field + 9].reshape(3, 3).T
                assert_close(F[:, :3], lead)
                assert_close(F[:, 3], column_value(basis, entity, B["b0"], B["b0"], z, s, field == AT))
                continue
            for j in range(B["b0"], B["b1"]):
                start = s[basis[B["b0"]]["loc"] :][:3]
                h = np.array(local_direction(basis, B["b0"], j, s))
                point = basis[j]["type"] == POINT
                x = F[:, :3] @ (h + start * (j != B["b0"]) if point else h)
                if point and j == B["b0"]:
                    x = F[:, :3] @ start
                x = x + F[:, 3] * point
                assert_close(x, column_value(basis, entity, B["b0"], j, z, s, field == AT), 1e-11)


def test_axes_and_their_transpose(rng):
    T, x, l = rng.normal(size=N_FIELDS), rng.normal(size=3), rng.normal(size=3)
    A = T[MU : MU + 9].reshape(3, 3).T
    assert_close(turned(T, MU, l), A @ l)
    assert_close(turned_back(T, MU, x), A.T @ x)
    assert_close(column(T, MU, 3), T[MU + 9 : MU + 12])


def test_rates(work, rng):
    """F at q + i h v changes by F of v."""
    frame, basis, entity = tables(work)
    q, v = rng.normal(size=(2, len(work["q"])))
    move_frames(frame, basis, entity, q + H * 1j * v, work["s"], AT)
    rates = frame["T"][:, AT : AT + SIZE].imag / H
    move_frames(frame, basis, entity, v, work["s"], V)
    assert_close(rates[1:], frame["T"][1:, V : V + SIZE].real)


def test_changes_of_local_directions(work, rng):
    """Columns of H by complex step of the slots."""
    s, ds = work["s"].real, rng.normal(size=len(work["s"]))
    for i, B in enumerate(work["frame"]):
        if i and B["lead"] == i:
            for j in range(B["b0"] + 1, B["b1"]):
                found = np.array(change_of_direction(work["basis"], B["b0"], j, s, ds))
                expected = np.array(local_direction(work["basis"], B["b0"], j, s + H * 1j * ds)).imag / H
                if work["basis"][j]["type"] == POINT:  # H has the point itself, not the way to it
                    expected = expected + ds[work["basis"][B["b0"]]["loc"] :][:3]
                assert_close(found, expected)


def test_every_kind_of_column_occurs():
    kinds = {int(b["type"]) for kind in ("hinges", "balls") for b in system(kind).set.basis}
    assert kinds == {0, 1, CROSS}
