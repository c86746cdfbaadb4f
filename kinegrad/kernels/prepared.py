"""Calls of compiled code that are repeated with the same arrays: their arguments are put down once.

A call of an entry from Python takes a microsecond or two for each argument, which is more than a step of a small mechanism.
"""

from __future__ import annotations

import ctypes
import struct

import numpy as np

from kinegrad.kernels.jit import JIT

WORD = 8  # bytes
ENDS, STEPS = (
    ("ts", "traj"),
    ("hs", "counts", "flags"),
)  # arrays of a run: with an entry for each end of a step, and for each
PLACE_AND_LENGTH, SIZES = struct.Struct("qq"), struct.Struct("dd")


class Prepared:
    """`entry(*arguments)`, as a function of nothing; numbers in arrays may change between calls, arguments may not."""

    def __init__(self, entry, arguments: tuple):
        self.entry, self.arguments = entry, arguments  # the arrays must live as long as this object
        self._table = None
        if JIT and hasattr(entry, "put_down"):  # not a function in Python, which a formulation may have
            self._function, self._table, returns, self._behind = entry.put_down(arguments)
            self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._table))
            self._results = struct.Struct(returns)

    def __call__(self) -> tuple:
        if self._table is None:
            return self.entry(*self.arguments)
        self._function(self._place)
        return self._results.unpack_from(self._table, self._behind)


class Windows(Prepared):
    """The same as a function of the ends of a part of a run: of one argument, `Steps` or `Segment`, a call sees that part.

    Objectives of a segment are taken at the end of the part as at that of a run.
    """

    def __init__(self, entry, arguments: tuple):
        super().__init__(entry, arguments)
        self._number = number = next(k for k, argument in enumerate(arguments) if hasattr(argument, "part"))
        self._whole = arguments[number]
        self._along, self._before, at = [], None, WORD * _words(arguments[:number])
        for name, value in zip(self._whole._fields, self._whole, strict=True):
            if name in ENDS or name in STEPS:
                self._along.append((at, value.ctypes.data, value.strides[0], int(name in ENDS)))
            elif name == "before":  # the size of the step before, and behind it that of the step after
                self._before = at
            at += WORD * _words(value)

    def over(self, first: int, last: int) -> tuple:
        """What the entry returns for the steps first to last - 1."""
        if self._table is None:
            arguments = list(self.arguments)
            arguments[self._number] = self._whole.part(first, last)
            return self.entry(*arguments)
        table, count = self._table, last - first
        for at, place, each, more in self._along:
            PLACE_AND_LENGTH.pack_into(table, at, place + first * each, count + more)
        if self._before is not None:
            SIZES.pack_into(table, self._before, self._whole.hs[first - 1] if first else 0.0, 0.0)
        return self()


def _words(argument) -> int:
    """How many words an argument of compiled code takes."""
    if isinstance(argument, np.ndarray):
        return 1 + argument.ndim
    return sum(map(_words, argument)) if isinstance(argument, tuple) else 1
