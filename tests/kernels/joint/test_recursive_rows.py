"""Sweeps under constraint rows against the equations of all coordinates: accelerations, multipliers, right-hand sides.

The mechanisms have closed loops, Euler parameters, coordinates that elements own, with inertia and without, and a driver.
"""

import numpy as np
import pytest
from helpers import assert_close
from own_models import four_bar, spatial
from products_by_complex_step import H, random_case, uncompiled
from small_mechanisms import two_bodies

from kinegrad.coordinates.joint.recursive import ConstrainedTree
from kinegrad.kernels.joint.recursive_rows import factor, solve_four
from kinegrad.kernels.products import BIAS, EVALUATE, LINEARISE, STATUS, TIME
from kinegrad.kernels.status import OK
from kinegrad.kernels.table import call_from_python

STIFFNESS, DAMPING = 225.0, 24.0
DRIVEN = """
forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}
drivers: {go: {measure: b.q.y, value: "tilt*sin(3*t)"}}
constraints: {rod: {type: distance, between: [ground.S, b.q], distance: L}}
"""
MODELS = {
    "driven ball": lambda: two_bodies(DRIVEN, joints=("type: revolute, axis: [1, tilt, 0.4]", "type: spherical")),
    "spatial loop": spatial,
    "four-bar": four_bar,
    "four-bar with an actuator": lambda: four_bar(actuator=True),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    return random_case(MODELS[request.param](), near_start=True)


def workspace(case, s=None, **moved):
    work = case.system.workspace(s=s)
    for name in ("q", "v"):
        work[name][:] = (case.state | moved)[name]
    work["par"][TIME] = case.t
    return work


def by_rates(case, s=None, **moved):
    """a and lam of `rates`."""
    work = workspace(case, s, **moved)
    assert ConstrainedTree(work, (STIFFNESS, DAMPING)).evaluate() == OK
    return np.concatenate([work["a"], work["lam"][: case.system.m]])


def dense(case, s=None, **moved):
    """a and lam from M, f, Phi_q and the stabilised rows."""
    work, m = workspace(case, s, **moved), case.system.m
    work["vp"][:] = work["v"]
    work.call(EVALUATE)
    work.call(BIAS)
    J = work["J"][:m]
    K = np.block([[work["M"], J.T], [J, np.zeros((m, m))]])
    rows = work["c"][:m] + DAMPING * (J @ work["v"] + work["Phi_t"][:m]) + STIFFNESS * work["Phi"][:m]
    return np.linalg.solve(K, -np.concatenate([work["f"], rows]))


def test_rates(case):
    found, expected, n = by_rates(case), dense(case), case.system.n
    assert_close(found[:n], expected[:n], 1e-11)
    assert_close(found[n:], expected[n:], 1e-11)


@uncompiled
def test_rates_by_complex_step(case, rng):
    """Changes of a and lam with coordinates, velocities and parameters."""
    n = case.system.n
    q, v = (case.state[name] + H * 1j * rng.normal(size=n) for name in "qv")
    s = case.system.s + H * 1j * (rng.normal(size=len(case.ds)) @ case.ds)
    found, expected = (f(case, s, q=q, v=v).imag / H for f in (by_rates, dense))
    assert_close(found[:n], expected[:n], 1e-10)
    assert_close(found[n:], expected[n:], 1e-10)


def test_four_right_hand_sides(case, rng):
    """[M Jᵀ; J 0] [x; y] = [r; t] with all rows."""
    work, n, m = workspace(case), case.system.n, case.system.m
    tree = ConstrainedTree(work, (STIFFNESS, DAMPING))
    work.call(LINEARISE)
    arrays = tree.arrays
    arrays["r1"][:], arrays["r2"][:] = rng.normal(size=(n, 4)), rng.normal(size=(m, 4))
    for function in (factor, solve_four):
        call_from_python(function, tree._context)
        assert work["flag"][STATUS] == OK
    J = work["Phi_z"][:m, :n]
    K = np.block([[work["M"], J.T], [J, np.zeros((m, m))]])
    expected = np.linalg.solve(K, np.vstack([arrays["r1"], arrays["r2"]]))
    assert_close(arrays["U4"], expected[:n], 1e-11)
    assert_close(arrays["B4"], expected[n:], 1e-11)
