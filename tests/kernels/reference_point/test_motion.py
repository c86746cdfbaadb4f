"""Orientations and their rates: complex step of A along motions of p that need not have unit length."""

import numpy as np
from helpers import assert_close
from products_by_complex_step import H, random_case, uncompiled
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.reference_point.motion import change_of, fields, keep, orientations, rates
from kinegrad.kernels.reference_point.records import SIZE, TURN
from kinegrad.kernels.rotations import A_of

pytestmark = uncompiled


def moved(q, v, a):
    """The bodies of a complex workspace at a motion."""
    system = random_case(two_bodies(), lower=reference_point).system
    body = system.workspace(s=system.s.astype(complex))["body"]
    orientations(body, q)
    rates(body, q, v, a)
    return body


def states(count, seed=1):
    return np.random.default_rng(seed).normal(size=(count, 2 * SIZE))


def test_bodies_stand_behind_each_other():
    body = moved(*states(3))
    assert body["k"].tolist() == [-1, 0, SIZE]
    assert_close(body["A"][0], np.eye(3).ravel())


def test_rates():
    q, v, a = states(3)
    body = moved(q + H * 1j * v, v + H * 1j * a, a)
    assert_close(body["A"].imag[1:] / H, body["Ad"].real[1:])
    assert_close(body["Ad"].imag[1:] / H, body["Add"].real[1:])
    assert np.abs(body["Add"][1:]).max() > 1.0


def test_the_change_is_bilinear_and_symmetric():
    p, t = np.random.default_rng(2).normal(size=(2, 4))
    assert_close(change_of(p, t), change_of(t, p))
    assert_close(0.5 * np.array(change_of(p, p)), A_of(tuple(p)))


def test_fields_and_what_is_kept():
    q, v, a, dv, da = states(5)
    body = moved(q, v, a)
    fields(body, q, dv, da)
    keep(body)
    assert_close(body["Ads"], body["Ad"])
    assert_close(body["Adds"][1:], body["Add"][1:])
    for name, along in (("W", dv), ("U", da)):
        assert_close(body[name].real[1:], moved(q + H * 1j * along, v, a)["A"].imag[1:] / H)
    assert TURN == 3
