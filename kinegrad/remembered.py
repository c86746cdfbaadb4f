"""What was found before, by a key: a few of each kind are kept."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

Found = TypeVar("Found")

MOST = 16


def remembered(known: dict, key: Hashable, make: Callable[[], Found], most: int = MOST) -> Found:
    """The entry of a key, made now if there is none; another thread may forget it at any time."""
    found = known.get(key)
    if found is None:
        if len(known) >= most:
            known.clear()
        found = known[key] = make()
    return found
