"""Products of bushings, and whole runs with them, against complex step."""

import bushing_models
import numpy as np
import pytest
from test_joint_set import (  # noqa: F401 (they run here with the case below)
    STATE,
    pytestmark,
    test_by_coordinates,
    test_by_directions,
    test_by_velocities_and_accelerations,
    test_pullback_by_every_number,
    test_pullback_is_the_transpose_of_all_slots,
)

from kinegrad.coordinates.sets import joint


@pytest.fixture(params=["open_tree", "loop"], scope="module")
def case(request):
    """A system at its start, with random velocities, accelerations and multipliers."""
    system = joint(getattr(bushing_models, request.param)())
    rng = np.random.default_rng(11)
    n, r = system.n, system.m + len(system.freedoms)
    state = {k: rng.normal(size=r if k in ("lam", "sv", "sa") else n) for k in STATE}
    state["q"] = system.set.guess(system, system.s) + 0.3 * rng.normal(size=n)
    for k in ("lam", "sv", "sa"):
        state[k][system.m :] = 0.0
    return system, state, system.directions(system.parameters.independent), 0.37
