"""Many objects made at once: without the collector of cycles, which would look at all of them again and again."""

from __future__ import annotations

import gc
import threading
from functools import wraps

_lock = threading.Lock()
_inside = 0  # calls in all threads
_was_on = False


def without_collection(function):
    """Decorates what makes many objects that stay: reading a model, and lowering one."""

    @wraps(function)
    def kept(*arguments, **options):
        _enter()
        try:
            return function(*arguments, **options)
        finally:
            _leave()

    return kept


def _enter() -> None:
    global _inside, _was_on
    with _lock:
        if _inside == 0:
            _was_on = gc.isenabled()
            gc.disable()
        _inside += 1


def _leave() -> None:
    global _inside
    with _lock:
        _inside -= 1
        if _inside == 0 and _was_on:
            gc.enable()
