"""A call of compiled code that is repeated with the same arrays: its arguments are put down once.

A call of an entry from Python takes a microsecond or two for each argument, which is more than a step of a small mechanism.
"""

from __future__ import annotations

import ctypes
import struct

from kinegrad.kernels.jit import JIT


class Prepared:
    """`entry(*arguments)`, as a function of nothing; numbers in arrays may change between calls, arguments may not."""

    def __init__(self, entry, arguments: tuple):
        self.entry, self.arguments = entry, arguments  # the arrays must live as long as this object
        self._table = None
        if JIT:
            self._function, self._table, returns, self._behind = entry.put_down(arguments)
            self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._table))
            self._results = struct.Struct(returns)

    def __call__(self) -> tuple:
        if self._table is None:
            return self.entry(*self.arguments)
        self._function(self._place)
        return self._results.unpack_from(self._table, self._behind)
