"""Which directions change which slots: as looking at the columns tells it."""

import numpy as np

from kinegrad.coordinates.moved_slots import MovedSlots


def test_runs_of_slots_find_their_directions(rng):
    ds = rng.normal(size=(5, 30)) * (rng.uniform(size=(5, 30)) < 0.15)
    moved = MovedSlots(ds)
    for first, count, other in ((0, 3, 9), (7, 9, 20), (25, 5, 0), (4, 0, 11)):
        columns = [*range(first, first + count), *range(other, other + 2)]
        assert moved((first, count), (other, 2)) == np.flatnonzero(ds[:, columns].any(axis=1)).tolist()
    assert MovedSlots(np.zeros((0, 30)))((0, 30)) == []
