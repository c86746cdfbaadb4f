"""A call of compiled code that is repeated with the same arrays: its arguments are put down once.

A call of an entry from Python takes a microsecond or two for each argument, which is more than a step of a small mechanism.
"""

from __future__ import annotations

import ctypes
import struct

from kinegrad.kernels import jit


class Prepared:
    """`entry(*arguments)`, as a function of nothing; numbers in arrays may change between calls, arguments may not."""

    def __init__(self, entry, arguments: tuple):
        self.entry, self.arguments = entry, arguments  # the arrays must live as long as this object
        self._table = None
        if jit.JIT:
            self._put_down()

    def _put_down(self) -> None:
        values: list = []
        kinds = tuple([jit._put(argument, values) for argument in self.arguments])
        address, returns = jit._machine_code(self.entry.py_func, self.entry.what, kinds)
        words = struct.Struct("".join("d" if isinstance(value, float) else "q" for value in values))
        self._table = bytearray(words.size + 8 * len(returns))
        words.pack_into(self._table, 0, *values)
        self._function = jit._from_python(address)
        self._place = ctypes.addressof(ctypes.c_char.from_buffer(self._table))
        self._results = struct.Struct(returns)
        self._behind = words.size

    def __call__(self) -> tuple:
        if self._table is None:
            return self.entry(*self.arguments)
        self._function(self._place)
        return self._results.unpack_from(self._table, self._behind)
