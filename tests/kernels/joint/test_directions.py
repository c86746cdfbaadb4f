"""Directions in the slots: each number of the model, for each type of node, moves markers and wrenches as complex step says."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, by_directions, evaluated, linearised, random_case, uncompiled
from small_mechanisms import NODE_TYPES, two_bodies_with

from kinegrad.kernels.joint.directions import rotation_change
from kinegrad.kernels.products import OBSERVE

pytestmark = uncompiled

# rows leave covectors on markers, the objective reads their accelerations
MORE = """
forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}
constraints:
  rod: {type: distance, between: [ground.S, b.q], distance: L}
  tie: {type: dot, between: [ground.n, b.v], value: tilt}
objectives: {o: {final: "norm2(b.q.acceleration) + a.s.acceleration.x*b.v.acceleration.y"}}
"""
MARKERS = ("b.q", "b.v", "a.s")


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request):
    """A direction for each number of the model: masses, centres, inertias, offsets, axes, rotations, pitches, gravity."""
    case = random_case(two_bodies_with(request.param, MORE))
    J = case.system.slots.field_jacobian(case.system.rho).dense()
    return case._replace(ds=np.ascontiguousarray(J.T))


def test_products(case):
    by_directions(case)


def test_columns_of_markers(case):
    """x, ẋ and ẍ of markers at vp, ap."""
    n, work, by = case.system.n, linearised(case), []
    for d in case.ds:
        there = evaluated(case, case.system.s + H * 1j * d)
        there.call(OBSERVE)
        by.append(there["mk"].copy())
    for marker in MARKERS:
        i = case.system.markers[marker]
        m = work["mk"][i]
        for name, column in (("x", "xq"), ("xd", "xdq"), ("xdd", "xddq")):
            found = np.zeros((len(case.ds), 3))
            for c in work["col"][m["c1"] : m["c2"]]:
                found[c["k"] - n] = c[column]
            assert_close(found, np.array([mk[i][name].imag / H for mk in by]))


def test_rotation_change(rng):
    o = rng.normal(size=3)
    C = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    turn = np.array([[0.0, -o[2], o[1]], [o[2], 0.0, -o[0]], [-o[1], o[0], 0.0]])
    assert_close(rotation_change(C.tolist(), (turn @ C).tolist()), o, 1e-14)
