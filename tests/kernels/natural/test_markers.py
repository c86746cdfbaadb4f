"""Markers: rates by complex step, covectors to forces, columns by directions in the slots."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, linearised, random_case, uncompiled

from kinegrad.coordinates.sets import natural
from kinegrad.kernels.natural.inertia import clear_field, compose, scatter
from kinegrad.kernels.natural.markers import covectors, entity_forces, local_change
from kinegrad.kernels.natural.prepare import local
from kinegrad.kernels.natural.records import MU
from kinegrad.kernels.products import EVALUATE, OBSERVE

from .carried import JOINTS, model

pytestmark = uncompiled


@pytest.fixture(params=JOINTS, scope="module")
def case(request):
    return random_case(model(request.param), lower=natural)


def moved(case, s=None, **state):
    """A complex workspace whose markers have moved."""
    work = case.system.workspace(s=(case.system.s if s is None else s).astype(complex))
    for name in ("q", "vp", "ap"):
        work[name][:] = state.get(name, case.state[name])
    work.call(EVALUATE)
    work.call(OBSERVE)
    return work


def test_rates(case):
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    mk = moved(case, q=q + H * 1j * v, vp=v + H * 1j * a, ap=a)["mk"]
    assert_close(mk["x"].imag / H, mk["xd"].real)
    assert_close(mk["xd"].imag / H, mk["xdd"].real)


def test_columns_by_directions(case):
    work, n = linearised(case), case.system.n
    for p, ds in enumerate(case.ds):
        there = moved(case, s=case.s + H * 1j * ds)["mk"]
        for name, column in (("x", "xq"), ("xd", "xdq"), ("xdd", "xddq")):
            found = np.zeros((len(there), 3))
            for i, m in enumerate(work["mk"]):
                for c in work["col"][m["c1"] : m["c2"]]:
                    if c["k"] == n + p:
                        found[i] += c[column].real
            assert_close(found, there[name].imag / H, 1e-12, max(1.0, np.abs(there[name].real).max()))


def test_forces_of_covectors(case, rng):
    """Σ f·x_q, through the frames of the bodies and at entities."""
    work = moved(case)
    mk, frame, f = work["mk"], work["frame"], np.zeros(case.system.n, complex)
    mk["f"] = rng.normal(size=mk["f"].shape)
    clear_field(frame, MU)
    covectors(frame, work["place"], mk, work["here"], MU, 0)
    compose(frame, MU)
    scatter(frame, work["basis"], work["entity"], work["fcol"], MU, f)
    entity_forces(work["entity"], mk, f)
    expected = np.zeros(case.system.n)
    for m in mk:
        for c in work["col"][m["c0"] : m["c1"]]:
            expected[c["k"]] += (m["f"] @ c["xq"]).real
    assert_close(f.real, expected)


def test_changes_of_local_coordinates(case, rng):
    work, ds = moved(case), rng.normal(size=len(case.s))
    for m in work["mk"]:
        if m["node"] >= 0:
            P = work["place"][m["node"]]
            expected = np.array(local(P, m, case.s + H * 1j * ds)).imag / H
            assert_close(local_change(P, m, case.s, ds), expected, 1e-14)
