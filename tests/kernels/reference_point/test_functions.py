"""The seven functions of the reference-point set: all products by complex step on two bodies with every joint and element."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import ROWS, forces_are_of_the_potential, name_of, random_case, uncompiled
from small_mechanisms import NODE_TYPES, two_bodies, two_bodies_with

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.products import AT_POSITION, BIAS, ENERGY, EVALUATE, FREEDOMS, LINEARISE, OBSERVE, POSITION, TIME

MORE = """
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, g]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
  wind: {type: torque, at: b.q, value: [tilt, "0.2*a.q.velocity.x", 0.3], frame: body}
constraints:
  rope: {type: distance, between: [ground.S, b.q], distance: L}
drivers: {go: {measure: b.q.x, value: "tilt*sin(3*t)"}}
objectives: {o: {integral: "norm2(b.q.acceleration) + a.s.velocity.x*b.v.acceleration.y"}}
"""


def model(kind):
    """Two bodies, one of them with point masses and parameters in its inertia."""
    made = two_bodies_with(kind, MORE, "m1: 0.3, g: 1.0")
    body = made.bodies["b"]
    made.bodies["b"] = body.with_(
        point_masses={"load": {"mass": "m1", "at": ["L", "0.1", "tilt"]}, "lead": {"mass": 0.1, "at": [0.3, 0, "m1"]}},
        inertia=["m1", 0.2, "tilt", 0.01, "0.1*m1", 0.02],
    )
    return made


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request):
    return random_case(model(request.param), lower=reference_point)


def workspace(case):
    work = case.system.workspace()
    for name, value in case.state.items():
        work[name][:] = value
    work["par"][TIME] = case.t
    return work


@uncompiled
@pytest.mark.parametrize("check", ROWS, ids=name_of)
def test_products(case, check):
    check(case)


@pytest.fixture(scope="module")
def hinges():
    return random_case(model("turn"), lower=reference_point)


def test_position_and_evaluate_in_two_steps(hinges):
    """EVALUATE goes on from POSITION with the same results."""
    whole, steps = workspace(hinges), workspace(hinges)
    whole.call(EVALUATE)
    steps.call(POSITION)
    for name in ("Phi", "Phi_t", "J"):
        assert np.array_equal(steps[name], whole[name])
    steps["flag"][AT_POSITION] = 1
    steps.call(EVALUATE)
    for name in ("M", "f", "Phi", "Phi_t", "J"):
        assert np.abs(whole[name]).max() > 0.0
        assert np.array_equal(steps[name], whole[name])


def test_linearise_repeats_what_the_others_say(hinges):
    """M of EVALUATE, Phi_q, g of OBSERVE."""
    work = workspace(hinges)
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    M, J = work["M"].copy(), work["J"].copy()
    work.call(OBSERVE)
    g = work["g"].copy()
    work.call(LINEARISE)
    assert_close(work["M"], M, 1e-14)
    assert_close(work["J"], J, 1e-14)
    assert_close(work["g"], g, 1e-14)


def test_bias_and_observe_move_the_markers(hinges):
    """xdd at zero accelerations, then at ap: their difference is x_q ap."""
    work = workspace(hinges)
    work.call(EVALUATE)
    work.call(BIAS)
    still = work["mk"]["xdd"].copy()
    work.call(OBSERVE)
    m = work["mk"][hinges.system.markers["b.q"]]
    columns = sum(c["xq"] * work["ap"][c["k"]] for c in work["col"][m["c0"] : m["c1"]])
    assert_close(m["xdd"] - still[hinges.system.markers["b.q"]], columns, 1e-13)


def test_energy(hinges):
    """T = ½ v·M v."""
    work = workspace(hinges)
    work.call(EVALUATE)
    work.call(ENERGY)
    assert_close(work["energy"][0], 0.5 * work["v"] @ work["M"] @ work["v"], 1e-14)


@uncompiled
def test_forces_are_of_the_potential():
    weight = "forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]},"
    coil = " coil: {type: spring, between: [ground.S, b.q], stiffness: 30, natural_length: 0.4}}"
    forces_are_of_the_potential(random_case(two_bodies(weight + coil), lower=reference_point))
