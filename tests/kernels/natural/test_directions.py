"""Changes of frames and of moments under directions in the slots, by complex step."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, by_directions, random_case, uncompiled

from kinegrad.coordinates.sets import natural
from kinegrad.kernels.natural.directions import dual_of, frame_changes, moment_changes
from kinegrad.kernels.natural.frames import move_frames
from kinegrad.kernels.natural.inertia import add_moments, six_at
from kinegrad.kernels.natural.prepare import prepare_frames
from kinegrad.kernels.natural.records import AT, DV, GEOMETRY, SIZE

from .carried import JOINTS, model

pytestmark = uncompiled


@pytest.fixture(params=JOINTS, scope="module")
def case(request):
    return random_case(model(request.param), lower=natural)


def fields(case, s, z):
    """T of the frames for other slots, in the fields of positions and of dv."""
    work = case.system.workspace(s=s)
    frame, basis, entity = (work[name] for name in ("frame", "basis", "entity"))
    prepare_frames(frame, basis, entity, work["fcol"], s)
    for field in (AT, DV):
        move_frames(frame, basis, entity, z, s, field)
    return work


def test_frames(case, rng):
    """Any change of slots, with unit vectors as they are given."""
    z, s = rng.normal(size=case.system.n), case.s
    ds = rng.normal(size=len(s))
    ds[:9] = 0.0
    work = fields(case, s.astype(complex), z)
    there = fields(case, s + H * 1j * ds, z)["frame"]["T"].imag / H
    touch = np.full(len(work["frame"]), GEOMETRY)
    for field in (AT, DV):
        frame_changes(work["frame"], work["basis"], work["entity"], s, ds, touch, field)
        found = work["frame"]["E"][1:, field : field + SIZE].real
        assert_close(found, there[1:, field : field + SIZE], 1e-11)


def test_untouched_frames_do_not_change(case):
    work = fields(case, case.s.astype(complex), case.state["q"])
    work["frame"]["E"][1:] = 1.0
    touch = np.zeros(len(work["frame"]), int)
    frame_changes(work["frame"], work["basis"], work["entity"], case.s, np.zeros(len(case.s)), touch, DV)
    assert np.all(work["frame"]["E"][1:, DV : DV + SIZE] == 0.0)


def test_moments(rng):
    s, ds, Z, dZ = rng.normal(size=10), rng.normal(size=10), np.zeros(16, complex), np.zeros(16)
    mass, z = {"m": 0, "com": 1, "J": 4}, s + H * 1j * ds
    add_moments(Z, z[0], z[1:4], six_at(z, 4))
    moment_changes(dZ, mass, s, ds)
    assert_close(dZ, Z.imag / H)


def test_duals_of_columns(rng):
    basis, D = [{"W": rng.normal(size=4)}], rng.normal(size=24)
    assert_close(dual_of(basis, 0, D, 12), D[12:].reshape(4, 3).T @ basis[0]["W"])


def test_forces(case):
    """R_z, Nv_z, Na_z, and rows, by every parameter."""
    by_directions(case)
