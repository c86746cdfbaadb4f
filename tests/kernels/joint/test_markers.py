"""Markers: columns by complex step of positions, velocities and accelerations; covectors and their curvature."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, linearised, random_case, uncompiled
from small_mechanisms import NODE_TYPES, two_bodies_with

from kinegrad.kernels.joint.markers import (
    curvature,
    first_columns,
    marker_positions,
    marker_rates,
    wrenches,
)
from kinegrad.kernels.joint.motion import accelerations, positions

pytestmark = uncompiled

# so that the markers have columns: a point, a unit vector, and one of the first body
SEEN = "objectives: {o: {final: 'norm2(b.q.acceleration) + a.s.acceleration.x*b.v.acceleration.y'}}"
NAMES = ("b.q", "b.v", "a.s")


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request):
    return random_case(two_bodies_with(request.param, SEEN))


def moved(case, q, v, a):
    """A complex workspace whose markers have moved."""
    work = case.system.workspace(s=case.system.s.astype(complex))
    node, coord, mk, s = (work[name] for name in ("node", "coord", "mk", "s"))
    positions(node, coord, s, q)
    marker_positions(node, mk, s)
    first_columns(coord, mk, work["col"])
    accelerations(node, coord, q, v, a)
    marker_rates(node, mk)
    return work


def columns(case, work, marker, name):
    """The columns (3, n) of a marker by coordinates."""
    m = work["mk"][case.system.markers[marker]]
    found = np.zeros((3, case.system.n))
    for c in work["col"][m["c0"] : m["c1"]]:
        found[:, c["k"]] = c[name].real
    assert m["c1"] > m["c0"]
    return found


def test_rates(case):
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    mk = moved(case, q + H * 1j * v, v + H * 1j * a, a)["mk"]
    assert_close(mk["x"].imag / H, mk["xd"].real)
    assert_close(mk["xd"].imag / H, mk["xdd"].real)


def test_columns(case):
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    work = linearised(case, directions=False)  # at vp, ap
    by = [moved(case, q + H * 1j * e, v, a)["mk"] for e in np.eye(case.system.n)]
    for marker in NAMES:
        i = case.system.markers[marker]
        for name, column in (("x", "xq"), ("xd", "xdq"), ("xdd", "xddq")):
            expected = np.array([mk[i][name].imag / H for mk in by]).T
            assert_close(columns(case, work, marker, column), expected)


def test_forces_and_curvature(case, rng):
    """Σ f·x_q through the wrenches of the nodes, and its derivative by q, for three sorts of covectors."""
    q, v, a = (case.state[name] for name in ("q", "vp", "ap"))
    n, covectors = case.system.n, rng.normal(size=(3, len(NAMES), 3))
    at = [case.system.markers[name] for name in NAMES]
    work = moved(case, q, v, a)
    for name, values in zip(("f", "fv", "fa"), covectors, strict=True):
        work["mk"][name] = 0.0
        work["mk"][name][at] = values
    found = np.zeros((3, n * n), complex)
    curvature(work["node"], work["coord"], work["mk"], q, work["square"], *found)
    found = found.reshape(3, n, n)
    for k, values in enumerate(covectors):
        by = []
        for e in np.eye(n):
            there = moved(case, q + H * 1j * e, v, a)
            rows = np.zeros(n, complex)
            for i, f in zip(at, values, strict=True):
                m = there["mk"][i]
                for c in there["col"][m["c0"] : m["c1"]]:
                    rows[c["k"]] += f @ c["xq"]
            by.append(rows)
        assert_close(found[k].real, np.array(by).T.imag / H)
    forces = by[0].real
    work["mk"]["f"] = work["mk"]["fa"]
    work["node"]["F"] = 0.0
    wrenches(work["node"], work["mk"])
    node, coord = work["node"], work["coord"]
    for i in range(len(node) - 1, 0, -1):
        node[node[i]["parent"]]["F"] += node[i]["F"]
    assert_close([(node[c["node"]]["F"] @ c["b"]).real for c in coord], forces)
