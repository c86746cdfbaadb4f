"""Which parts are linked: those of directions where there are some, and nothing twice."""

import numpy as np
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import natural
from kinegrad.kernels.natural.functions import AT_POSITIONS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS, PREPARE
from kinegrad.kernels.natural.runs import link
from kinegrad.kernels.products import BIAS, EVALUATE, LINEARISE


def linked(which, directions=False):
    system = natural(two_bodies())
    ds = system.directions(system.parameters.independent if directions else [])
    arrays = system.set.arrays(system, ds, system.s != 0.0, "f8", False) | {"ds": ds}
    link(which, arrays)
    return {k for k, address in enumerate(arrays["links"]) if address}


def test_parts():
    assert linked(EVALUATE) == {PREPARE, AT_POSITIONS}
    assert linked(BIAS) == set()
    assert linked(LINEARISE) == {PREPARE}
    assert linked(LINEARISE, directions=True) == {PREPARE, DIRECTION_COLUMNS, DIRECTION_PRODUCTS}


def test_addresses_stay():
    system = natural(two_bodies())
    arrays = system.set.arrays(system, np.zeros((0, len(system.s))), system.s != 0.0, "f8", False)
    arrays["ds"] = np.zeros((0, len(system.s)))
    link(EVALUATE, arrays)
    before = arrays["links"].copy()
    link(LINEARISE, arrays)
    assert np.array_equal(arrays["links"], before)
