"""The seven functions of the natural set: all products by complex step, for bodies that are carried in every way."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import (
    by_coordinates,
    by_velocities_and_accelerations,
    forces_are_of_the_potential,
    name_of,
    random_case,
    rows_are_derivatives,
    uncompiled,
)
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import natural
from kinegrad.kernels.products import AT_POSITION, BIAS, ENERGY, EVALUATE, FREEDOMS, LINEARISE, OBSERVE, POSITION, TIME

from .carried import FEW, model


@pytest.fixture(params=FEW, scope="module")
def case(request):
    return random_case(model(request.param), lower=natural)


def workspace(case, s=None):
    work = case.system.workspace(s=s)
    for name, value in case.state.items():
        work[name][:] = value
    work["par"][TIME] = case.t
    return work


# directions and slots: test_directions, test_pullback
@uncompiled
@pytest.mark.parametrize("check", (by_coordinates, by_velocities_and_accelerations, rows_are_derivatives), ids=name_of)
def test_products(case, check):
    check(case)


@pytest.fixture(scope="module")
def hinges():
    return random_case(model("hinges"), lower=natural)


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


def test_what_slots_decide_follows_them(hinges):
    """A workspace whose slots change is one that began with them; what does not change is not computed again."""
    changed = hinges.system.with_parameters({"L": 0.9, "m1": 0.7, "tilt": 0.1})
    work, fresh = workspace(hinges), workspace(hinges, changed.s)
    work.call(EVALUATE)
    fresh.call(EVALUATE)
    assert np.abs(work["M"] - fresh["M"]).max() > 1e-3
    work["M0"][0] += 1.0
    work.call(EVALUATE)
    assert work["M"][0, 0] == work["M0"][0]
    work["s"][:] = changed.s
    for which in (EVALUATE, LINEARISE):
        work.call(which)
        fresh.call(which)
        for name in ("M", "f", "Phi", "J"):
            assert np.array_equal(work[name], fresh[name])


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


def test_nothing_is_curved(hinges):
    """At zero accelerations of the coordinates no marker accelerates; else by x_q ap."""
    work = workspace(hinges)
    work.call(EVALUATE)
    work.call(BIAS)
    assert np.all(work["mk"]["xdd"] == 0.0)
    work.call(OBSERVE)
    m = work["mk"][hinges.system.markers["b.q"]]
    assert_close(m["xdd"], sum(c["xq"] * work["ap"][c["k"]] for c in work["col"][m["c0"] : m["c1"]]), 1e-13)


def test_energy(case):
    """T = ½ v·M v."""
    work = workspace(case)
    work.call(EVALUATE)
    work.call(ENERGY)
    assert_close(work["energy"][0], 0.5 * work["v"] @ work["M"] @ work["v"], 1e-13)


@uncompiled
def test_forces_are_of_the_potential():
    weight = "forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]},"
    coil = " coil: {type: spring, between: [ground.S, b.q], stiffness: 30, natural_length: 0.4}}"
    forces_are_of_the_potential(random_case(two_bodies(weight + coil), lower=natural))
