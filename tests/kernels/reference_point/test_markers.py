"""Markers: columns by complex step of positions, velocities and accelerations; covectors and their curvature."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, linearised, random_case, uncompiled
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.reference_point.markers import (
    columns_of,
    covectors,
    curvature,
    marker_forces,
    marker_positions,
    marker_rates,
)
from kinegrad.kernels.reference_point.motion import orientations, rates
from kinegrad.kernels.rotations import B_of

pytestmark = uncompiled

SEEN = "objectives: {o: {final: 'norm2(b.q.acceleration) + a.s.acceleration.x*b.v.acceleration.y + ground.S.x'}}"
NAMES = ("b.q", "b.v", "a.s")


@pytest.fixture(scope="module")
def case():
    return random_case(two_bodies(SEEN), lower=reference_point)


def moved(case, q, v, a, s=None):
    """A complex workspace whose markers have moved."""
    work = case.system.workspace(s=(case.system.s if s is None else s).astype(complex))
    body, mk, s = work["body"], work["mk"], work["s"]
    orientations(body, q)
    marker_positions(body, mk, s, q)
    rates(body, q, v, a)
    marker_rates(body, mk, s, v, a)
    return work


def columns(case, work, marker, name, first="c0", last="c1"):
    """The columns of a marker, by coordinates or directions."""
    m = work["mk"][case.system.markers[marker]]
    found = np.zeros((3, case.system.n + len(case.ds)))
    for c in work["col"][m[first] : m[last]]:
        found[:, c["k"]] = c[name].real
    assert m[last] > m[first]
    return found


def test_columns_are_those_of_rotations():
    rng = np.random.default_rng(3)
    p, l = tuple(rng.normal(size=4)), tuple(rng.normal(size=3))
    assert_close(np.array(columns_of(p, l)).T, B_of(p, l), 1e-15)


def test_rates(case):
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    mk = moved(case, q + H * 1j * v, v + H * 1j * a, a)["mk"]
    assert_close(mk["x"].imag / H, mk["xd"].real)
    assert_close(mk["xd"].imag / H, mk["xdd"].real)


def test_columns_by_coordinates_and_directions(case):
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    work, n = linearised(case), case.system.n
    found = [moved(case, q + H * 1j * e, v, a)["mk"] for e in np.eye(n)]
    found += [moved(case, q, v, a, case.s + H * 1j * d)["mk"] for d in case.ds]
    for name in NAMES:
        k = case.system.markers[name]
        for column, of in (("xq", "x"), ("xdq", "xd"), ("xddq", "xdd")):
            expected = np.array([mk[k][of].imag / H for mk in found]).T
            assert_close(columns(case, work, name, column, "c0", "c2"), expected, 1e-12)


def test_a_marker_of_the_ground_rests(case):
    work = linearised(case)
    m = work["mk"][case.system.markers["ground.S"]]
    assert m["c0"] == m["c1"] and not m["xd"].any() and m["x"][1] == 0.7


def test_forces_and_curvature_of_covectors(case):
    """Σ f·x_q, and its derivative."""
    q, n, rng = case.state["q"], case.system.n, np.random.default_rng(5)
    work = linearised(case)
    F = rng.normal(size=(3, len(work["mk"]), 3))

    def force(q, which):
        work = moved(case, q, 0 * q, 0 * q)
        for name, x in zip(("f", "fv", "fa"), F, strict=True):
            work["mk"][name] = x
        covectors(work["body"], work["mk"], work["s"], True)
        out = np.zeros(n, complex)
        if which:
            work["body"]["F"] = work["body"][f"F{which}"]
        marker_forces(work["body"], q, out)
        return out, work

    out, work = force(q, 0)
    expected = np.zeros(n)
    for i in range(len(work["mk"])):
        expected += [
            F[0, i] @ moved(case, q + H * 1j * e, 0 * q, 0 * q)["mk"]["x"][i].imag / H for e in np.eye(n)
        ]  # fmt: skip
    assert_close(out.real, expected, 1e-12)
    found = np.zeros((3, n, n), complex)
    curvature(work["body"], work["square"], *found.reshape(3, -1))
    for which in range(3):
        expected = np.array([force(q + H * 1j * e, which)[0].imag / H for e in np.eye(n)]).T
        assert_close(found[which].real, expected, 1e-12)
