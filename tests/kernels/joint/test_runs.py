"""Which stages and parts each function of the joint set runs."""

import numpy as np
import pytest
from products_by_complex_step import random_case
from small_mechanisms import two_bodies

from kinegrad.kernels import products
from kinegrad.kernels.elements.kinds import STAGES
from kinegrad.kernels.elements.stages import COUNT
from kinegrad.kernels.joint import runs
from kinegrad.kernels.joint.functions import DIRECTION_COLUMNS, DIRECTION_PRODUCTS, PARTS

MORE = """
forces: {coil: {type: spring, between: [ground.S, b.q], stiffness: 30, damping: 0.8, natural_length: 0.4}}
constraints: {k: {type: distance, between: [ground.S, a.s], distance: L}}
objectives: {o: {integral: norm2(b.q.acceleration)}}
"""


def test_every_function_and_every_part_is_listed():
    assert set(STAGES) == set(range(products.N_FUNCTIONS))
    parts = [part for table in (runs.OWN, runs.OF_DIRECTIONS) for run in table.values() for part in run]
    assert set(parts) == set(range(len(PARTS)))


@pytest.mark.parametrize("directions", [False, True])
@pytest.mark.parametrize("which", range(products.N_FUNCTIONS))
def test_what_a_function_needs_is_linked_and_nothing_else(which, directions):
    case = random_case(two_bodies(MORE))
    work = case.system.workspace(ds=case.ds if directions else None)
    arrays = {name: work[name] for name in work.arrays}
    arrays["stage"], arrays["links"] = np.zeros_like(work["stage"]), np.zeros_like(work["links"])
    runs.link(which, arrays)
    assert set(np.flatnonzero(arrays["stage"][:, COUNT]).tolist()) == set(STAGES[which])
    wanted = set(runs.OWN.get(which, ()))
    if directions and which == products.LINEARISE:
        wanted |= {DIRECTION_COLUMNS, DIRECTION_PRODUCTS}
    assert set(np.flatnonzero(arrays["links"]).tolist()) == wanted
