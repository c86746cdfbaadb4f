"""The checked mode of kernels, with ``KINEGRAD_CHECK=1``: an index outside its array is an error that names kernel and index.

Otherwise compiled code looks at no index: -1 reads the word before an array.  Uncompiled, -1 would be the last element, and is
refused here too: tables use it for what is absent.
"""

from __future__ import annotations

import ctypes
import functools
import os

import numpy as np

ON: bool = os.environ.get("KINEGRAD_CHECK", "0") not in ("", "0")

SYMBOL = "kinegrad_check"
"""Under this name compiled code finds four words: the address of a text that names the place, or 0; axis, index and extent."""

ABSENT, OTHER = -1, -2
"""In the place of an axis: a function is called that is not there; something else was raised."""

_words = (ctypes.c_int64 * 4)()


@functools.cache
def prepare() -> None:
    """Make the words known to compiled code, before it is loaded."""
    if ON:
        from llvmlite.binding import add_symbol

        add_symbol(SYMBOL, ctypes.addressof(_words))


def checked(function):
    """A C function that raises what went wrong in it."""

    def call(argument):
        function(argument)
        if _words[0]:
            raise IndexError(_taken())

    return call


def _taken() -> str:
    """What compiled code left, in words; it is forgotten."""
    address, axis, index, extent = _words
    _words[0] = 0
    place = ctypes.string_at(address).decode()
    if axis == ABSENT:
        return f"{place}: a function is called that is not in its table"
    if axis == OTHER:
        return f"{place}: a kernel raised an error"
    return f"{place}: index {index} of axis {axis}, which has {extent} elements"


class Guarded(np.ndarray):
    """An array of uncompiled kernels, in which nothing is counted from the end."""

    def __getitem__(self, index):
        _refuse(index, self.shape)
        return super().__getitem__(index)

    def __setitem__(self, index, value):
        _refuse(index, self.shape)
        super().__setitem__(index, value)


def _refuse(index, shape) -> None:
    for axis, i in enumerate(index if isinstance(index, tuple) else (index,)):
        first = i.start if isinstance(i, slice) else i
        if isinstance(first, int | np.integer) and first < 0:
            raise IndexError(f"index {first} of axis {axis}, which has {shape[axis]} elements")
