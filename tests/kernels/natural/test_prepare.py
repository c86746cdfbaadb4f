"""What slots alone decide: columns of frames and of markers are derivatives by coordinates, and are kept until slots change."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled

from kinegrad.kernels.natural.frames import move_frames
from kinegrad.kernels.natural.markers import marker_positions
from kinegrad.kernels.natural.prepare import has_changed, local, prepare_frames, prepare_markers, unit
from kinegrad.kernels.natural.records import AT, SIZE

from .carried import JOINTS, system

pytestmark = uncompiled


@pytest.fixture(params=JOINTS, scope="module")
def work(request):
    work = system(request.param).workspace(s=system(request.param).s.astype(complex))
    frame, basis, entity, fcol, s = (work[name] for name in ("frame", "basis", "entity", "fcol", "s"))
    prepare_frames(frame, basis, entity, fcol, s)
    prepare_markers(frame, basis, fcol, work["place"], work["mk"], work["here"], work["col"], s)
    return work


def moved(work, q):
    """F of the frames and x of the markers at q."""
    move_frames(work["frame"], work["basis"], work["entity"], q, work["s"], AT)
    marker_positions(work["frame"], work["place"], work["entity"], work["mk"], work["here"], work["s"], q)
    return work["frame"]["T"][:, AT : AT + SIZE].copy(), work["mk"]["x"].copy()


def test_columns(work, rng):
    q, n = rng.normal(size=len(work["q"])), len(work["q"])
    found = np.zeros((len(work["frame"]), SIZE, n))
    for i, B in enumerate(work["frame"]):
        for c in work["fcol"][B["y0"] : B["y1"]]:
            found[i, :, c["k"]] = c["Y"].real
    of_markers = np.zeros((len(work["mk"]), 3, n))
    for i, m in enumerate(work["mk"]):
        for c in work["col"][m["c0"] : m["c1"]]:
            of_markers[i, :, c["k"]] += c["xq"].real
    by = [moved(work, q + H * 1j * e) for e in np.eye(n)]
    leads = [i for i, B in enumerate(work["frame"]) if i and B["lead"] == i]
    assert_close(found[leads], np.stack([F.imag / H for F, _ in by], axis=-1)[leads])
    assert_close(of_markers, np.stack([x.imag / H for _, x in by], axis=-1))


def test_local_coordinates_of_bodies_in_a_group(work):
    """off + R s for points, R s for vectors."""
    s = work["s"].real
    for m in work["mk"]:
        if m["node"] >= 0:
            P = work["place"][m["node"]]
            R = s[P["rot"] : P["rot"] + 9].reshape(3, 3) if P["rot"] else np.eye(3)
            expected = R @ s[m["loc"] : m["loc"] + 3] + m["point"] * s[P["off"] : P["off"] + 3]
            assert_close(local(P, m, s), expected, 1e-14, 1.0)


def test_changes_are_noticed_once():
    watch, seen, s = np.array([1, 3]), np.full(2, np.nan), np.arange(5.0)
    assert has_changed(watch, seen, s) and not has_changed(watch, seen, s)
    s[[0, 2, 4]] = 9.0
    assert not has_changed(watch, seen, s)
    s[3] = 7.0
    assert has_changed(watch, seen, s) and not has_changed(watch, seen, s)
    assert np.array_equal(seen, [1.0, 7.0])


def test_units():
    assert np.array_equal([unit(i) for i in range(3)], np.eye(3))
