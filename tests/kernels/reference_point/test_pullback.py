"""Adjoints to slots: every slot of a small mechanism by complex step, and slots that nobody asks for stay alone."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import by_every_number, by_slots, pulled_back, random_case, uncompiled
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.products import LINEARISE, OBJECTIVE, PULLBACK, TIME, WEIGHT

MORE = """
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}
constraints: {rope: {type: distance, between: [a.s, b.q], distance: L}}
objectives: {o: {final: 'norm2(b.q.acceleration) + a.s.velocity.x*b.v.acceleration.y'}}
"""


@pytest.fixture(scope="module")
def case():
    return random_case(two_bodies(MORE), lower=reference_point)


@uncompiled
def test_every_slot(case):
    """Slots of markers, centres of mass, masses, inertias, gravity and elements."""
    by_slots(case)
    by_every_number(case)


def test_only_what_is_wanted_is_served(case):
    """The slots asked for have the numbers of a pullback of all."""
    whole = pulled_back(case, 3, 0.7, 0)
    wanted = np.zeros(len(case.s), bool)
    names = case.system.slots.names
    wanted[[names.index(name) for name in ("bodies.a.mass", "bodies.b.com.y", "bodies.b.markers.q.z")]] = True
    work = case.system.workspace(wanted=wanted)
    for name, value in case.state.items():
        work[name][:] = value
    for name in ("mu", "eta_v", "eta_a", "yp", "yv", "ya"):
        work[name][:] = whole[name]
    work["par"][TIME], work["par"][WEIGHT], work["flag"][OBJECTIVE] = case.t, 0.7, 0
    work["flag"][:] = whole["flag"]
    work.call(LINEARISE)
    work.call(PULLBACK)
    assert_close(work["psi_s"][0, wanted], whole["psi_s"][0, wanted], 1e-14)
    assert np.abs(work["psi_s"][0, wanted]).min() > 0.0
    assert work["psi_s"][0, names.index("bodies.b.mass")] == 0.0
