"""Every product of a set that kinegrad does not have against complex step: the tests of the joint set, on the toy set."""

import numpy as np
import pytest
from test_joint_set import (  # noqa: F401
    STATE,
    test_by_coordinates,
    test_by_directions,
    test_by_velocities_and_accelerations,
    test_pullback_by_every_number,
    test_pullback_is_the_transpose_of_all_slots,
)
from toy_set import CARRIAGES, RAILS, GantrySet

from kinegrad.kernels.jit import JIT
from kinegrad.model.model import Model

pytestmark = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")


@pytest.fixture(params=[CARRIAGES, RAILS], ids=["carriages", "rails"], scope="module")
def case(request):
    """A system, a random state, and directions that mix all parameters."""
    system = GantrySet.lower(Model.from_yaml_text(request.param).check())
    rng = np.random.default_rng(7)
    rows = ("lam", "sv", "sa")
    state = {k: rng.normal(size=system.m + len(system.freedoms) if k in rows else system.n) for k in STATE}
    for k in rows:
        state[k][system.m :] = 0.0
    return system, state, system.directions(system.parameters.independent), 0.37
