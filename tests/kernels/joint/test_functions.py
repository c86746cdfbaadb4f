"""The seven functions of the joint set on a pendulum and on a driven one: what each leaves for the others.

All their products on mechanisms with every joint and element are in `tests/derivatives/test_joint_set.py`.
"""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import ROWS, evaluated, linearised, name_of, random_case, uncompiled
from small_mechanisms import two_bodies

from kinegrad.kernels.products import AT_POSITION, BIAS, ENERGY, EVALUATE, FREEDOMS, LINEARISE, OBSERVE, POSITION, TIME

MORE = """
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
drivers: {go: {measure: jb.angle, value: "tilt*sin(3*t)"}}
objectives: {o: {integral: norm2(b.q.acceleration)}}
"""


@pytest.fixture(scope="module")
def case():
    return random_case(two_bodies(MORE), body_point="origin")


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


@pytest.mark.parametrize("body_point", ["origin", "com"])
def test_position_and_evaluate_in_two_steps(body_point):
    """EVALUATE goes on from POSITION with the same results."""
    case = random_case(two_bodies(MORE), body_point=body_point)
    whole, steps = workspace(case), workspace(case)
    whole.call(EVALUATE)
    steps.call(POSITION)
    for name in ("Phi", "Phi_t", "J"):
        assert np.array_equal(steps[name], whole[name])
    steps["flag"][AT_POSITION] = 1
    steps.call(EVALUATE)
    for name in ("M", "f", "Phi", "Phi_t", "J"):
        assert np.abs(whole[name]).max() > 0.0
        assert_close(steps[name], whole[name], 1e-14)


def test_linearise_repeats_what_the_others_say(case):
    """M of EVALUATE, Phi_q, g of OBSERVE."""
    work = workspace(case)
    work.call(EVALUATE)
    M, J = work["M"].copy(), work["J"].copy()
    work.call(OBSERVE)
    g = work["g"].copy()
    work.call(LINEARISE)
    assert_close(work["M"], M, 1e-14)
    assert_close(work["Phi_z"], J, 1e-14)
    assert_close(work["g"], g, 1e-14)


def test_directions_change_nothing_of_the_coordinates(case):
    with_directions, without = linearised(case), linearised(case, directions=False)
    for name in ("C", "g_v", "g_a", "R_z", "Nv_z", "Na_z", "Phi_z", "Phid_z", "Phidd_z", "g_z"):
        assert_close(with_directions[name][:, : case.system.n], without[name][:, : case.system.n], 1e-14)


def test_energy(case):
    """T = ½ v·M v; potential of weight and spring; power of the damper and of the driver."""
    work = workspace(case)
    work.call(EVALUATE)
    work.call(ENERGY)
    v, lam = case.state["v"], case.state["lam"]
    kinetic, potential, power = work["energy"]
    x, xd = work["mk"]["x"], work["mk"]["xd"]
    i, j = (case.system.markers[name] for name in ("ground.S", "b.q"))
    length = np.linalg.norm(x[j] - x[i])
    rate = (x[j] - x[i]) @ xd[j] / length
    weight = random_case(two_bodies("forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}"))
    alone = workspace(weight._replace(state=case.state | {"lam": np.zeros(0), "sv": np.zeros(0), "sa": np.zeros(0)}))
    alone.call(EVALUATE)
    alone.call(ENERGY)
    assert_close(kinetic, 0.5 * v @ work["M"] @ v, 1e-13)
    assert_close(potential, alone["energy"][1] + 15.0 * (length - 0.4) ** 2, 1e-13)
    assert_close(power, lam @ work["Phi_t"] - 0.8 * rate**2, 1e-13)


def test_rows_of_freedoms_are_left_out_unless_asked_for():
    case = random_case(two_bodies(MORE + "degrees_of_freedom: {ja.angle: {position: 0.3}}"))
    work = workspace(case)
    assert len(work["Phi"]) == case.system.m + 1
    for asked in (0, 1):
        work["flag"][FREEDOMS] = asked
        work["Phi"][:] = np.nan
        work.call(EVALUATE)
        work.call(BIAS)
        assert np.isnan(work["Phi"][case.system.m :]).all() != asked
        assert np.isfinite(work["Phi"][: case.system.m]).all()
        assert work["J"][case.system.m :].any() == asked


@uncompiled
def test_evaluate_twice_is_evaluate_once(case):
    """Nothing is left over from the call before."""
    work = evaluated(case)
    first = {name: work[name].copy() for name in ("M", "f", "Phi", "Phi_t", "J")}
    work.call(EVALUATE)
    for name, value in first.items():
        assert np.array_equal(work[name], value)
