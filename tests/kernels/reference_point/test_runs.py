"""Which parts are linked: those of directions where there are some, and nothing twice."""

import numpy as np
from small_mechanisms import two_bodies

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.products import BIAS, EVALUATE, LINEARISE
from kinegrad.kernels.reference_point.functions import (
    AT_POSITIONS,
    DIRECTION_COLUMNS,
    DIRECTION_PRODUCTS,
    INERTIA_PRODUCTS,
)
from kinegrad.kernels.reference_point.runs import link


def linked(which, directions=False):
    system = reference_point(two_bodies())
    ds = system.directions(system.parameters.independent) if directions else None
    arrays = system.set.arrays(system, np.zeros((0, len(system.s))) if ds is None else ds, system.s != 0.0, "f8", False)
    arrays["ds"] = np.zeros((0, 1)) if ds is None else ds
    link(which, arrays)
    return {k for k, address in enumerate(arrays["links"]) if address}


def test_parts():
    assert linked(EVALUATE) == {AT_POSITIONS}
    assert linked(BIAS) == set()
    assert linked(LINEARISE) == {INERTIA_PRODUCTS}
    assert linked(LINEARISE, directions=True) == {INERTIA_PRODUCTS, DIRECTION_COLUMNS, DIRECTION_PRODUCTS}
