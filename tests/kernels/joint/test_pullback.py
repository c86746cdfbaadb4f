"""Pullback: what is left on bodies and markers comes back to every slot, for each type of node, as complex step says."""

import numpy as np
import pytest
from products_by_complex_step import (
    H,
    assert_each,
    by_every_number,
    by_slots,
    evaluated,
    linearised,
    name_of,
    random_case,
    uncompiled,
)
from small_mechanisms import NODE_TYPES, two_bodies_with

from kinegrad.kernels.clearing import clear_duals
from kinegrad.kernels.elements.layout import GRAVITY
from kinegrad.kernels.joint.pullback import marker_motions, marker_slots, motions, node_slots
from kinegrad.kernels.products import OBSERVE

pytestmark = uncompiled

MORE = """
forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}
objectives: {o: {final: "norm2(b.q.acceleration) + a.s.acceleration.x*b.v.acceleration.y"}}
"""
MARKERS = ("b.q", "b.v", "a.s")
DUALS = {"X": "x", "X1": "xds", "Y1": "xd", "Y2": "xdd"}
COVECTORS = {"f": "mu", "fv": "eta_v", "fa": "eta_a"}


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request):
    return random_case(two_bodies_with(request.param, MORE))


@pytest.mark.parametrize("check", (by_slots, by_every_number), ids=name_of)
def test_products(case, check):
    check(case)


def marker_values(case, s):
    """{x, xds, xd, xdd: (markers, 3), xq: (markers, 3, n)}; xds at v, xd and xdd at vp, ap."""
    work = evaluated(case, s)
    mk, col, at = work["mk"], work["col"], [case.system.markers[name] for name in MARKERS]
    values = {"x": mk["x"][at].copy(), "xds": mk["xd"][at].copy()}
    values["xq"] = np.zeros((len(at), 3, case.system.n), complex)
    for i, m in enumerate(mk[at]):
        for c in col[m["c0"] : m["c1"]]:
            values["xq"][i, :, c["k"]] = c["xq"]
    work.call(OBSERVE)
    return values | {"xd": mk["xd"][at].copy(), "xdd": mk["xdd"][at].copy()}


def test_duals_and_covectors_of_markers(case, rng):
    """Σ X·x + X1·xds + Y1·xd + Y2·xdd + f·x_q mu + ... by every number, without what bodies give."""
    system = case.system
    at = [system.markers[name] for name in MARKERS]
    adjoint = {name: rng.normal(size=system.n) for name in COVECTORS.values()}
    left = {name: rng.normal(size=(len(at), 3)) for name in (*DUALS, *COVECTORS)}
    found, columns = [], np.array([1.0, -2.0, 3.0, 0.5])  # an adjoint and its multiples
    for with_markers in (True, False):
        work = linearised(case, directions=False)
        node, mk, want, psi = work["node"], work["mk"], work["want"], np.zeros((len(system.s), 4))
        of_node, of_marker = work["node_dual"], work["dual"]
        motions(node, of_node, work["coord"], want, *(columns * x[:, None] for x in adjoint.values()))
        marker_motions(of_node, mk, of_marker)
        clear_duals(mk, of_marker)
        if with_markers:
            for name, value in left.items():
                if name in DUALS:
                    of_marker[name][at] = columns * value[..., None]
                else:
                    mk[name][at] = value
        marker_slots(node, of_node, mk, of_marker, want, psi)
        node_slots(node, of_node, work["mass"], work["s"], work["q"], want, work["count"][GRAVITY], psi)
        found.append(psi)
    J = system.slots.field_jacobian(system.rho).dense()
    expected = np.zeros(J.shape[1])
    for k in range(J.shape[1]):
        values = marker_values(case, system.s + H * 1j * J[:, k])
        total = sum(np.sum(left[name] * values[of]) for name, of in DUALS.items())
        total += sum(np.sum(left[name] * (values["xq"] @ adjoint[of])) for name, of in COVECTORS.items())
        expected[k] = total.imag / H
    paths = system.slots.field_paths
    for c, scale in enumerate(columns):
        change = (found[0] - found[1])[:, c] @ J
        assert_each(dict(zip(paths, change, strict=True)), dict(zip(paths, scale * expected, strict=True)))
