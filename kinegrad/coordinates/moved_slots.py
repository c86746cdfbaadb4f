"""Which directions change which slots: asked for every marker, mass and joint when the tables of a workspace are made."""

from __future__ import annotations

import numpy as np


def any_of(wanted: np.ndarray, first, count) -> np.ndarray:
    """(k,) whether one of the `count` slots from `first` on is wanted, for arrays of both."""
    before = np.concatenate([[0], np.cumsum(wanted)])
    first = np.asarray(first, np.int64)
    return before[first + count] > before[first]


class MovedSlots:
    """Directions ds (p, slots) by the slots that they change."""

    def __init__(self, ds: np.ndarray):
        self._by_slot: dict[int, list[int]] = {}
        directions, slots = np.nonzero(ds)
        for j, k in zip(directions.tolist(), slots.tolist(), strict=True):
            self._by_slot.setdefault(k, []).append(j)

    def __call__(self, *runs: tuple[int, int]) -> list[int]:
        """The directions, in increasing order, that change a slot of these runs: first slots, and how many."""
        known = self._by_slot
        if not known:
            return []
        found = {j for first, count in runs for k in range(first, first + count) for j in known.get(k, ())}
        return sorted(found)
