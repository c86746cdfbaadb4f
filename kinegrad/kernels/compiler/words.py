"""Arguments and results of entries as words: how Python hands them over, and how compiled code takes and gives them."""

from __future__ import annotations

import itertools

import numpy as np
from llvmlite import ir
from numba import from_dtype, types

from kinegrad.kernels.compiler.memory import WORD, array

_NUMBERS = {"i": types.int64, "f": types.float64, "b": types.boolean}


def numba_type(kind):
    """Numba's type of a kind of argument (see `kinegrad.kernels.jit`)."""
    if isinstance(kind, str):
        return _NUMBERS[kind]
    first, second = kind
    if isinstance(first, np.dtype):
        return types.Array(from_dtype(first), second, "C")
    members = tuple(map(numba_type, second))
    return types.Tuple(members) if first is tuple else types.NamedTuple(members, first)


def returned(kind) -> str:
    """Types of the words of a result, in the letters of `struct`."""
    if isinstance(kind, types.BaseTuple):
        return "".join(map(returned, kind))
    if kind is types.none:
        return ""
    if isinstance(kind, types.Integer | types.Boolean):
        return "q"
    if kind is types.float64:
        return "d"
    raise TypeError(f"an entry returns numbers, not {kind}")


def count(kind) -> int:
    """How many words an argument has."""
    if isinstance(kind, types.BaseTuple):
        return sum(map(count, kind))
    return 1 + kind.ndim if isinstance(kind, types.Array) else 1


class Table:
    """Code that goes through a table of words, from word number `first` on; `address` is a value of the code."""

    def __init__(self, context, builder, address, first: int = 0):
        self.context, self.builder = context, builder
        self._table = builder.inttoptr(address, WORD.as_pointer())
        self._words = itertools.count(first)

    def _place(self):
        return self.builder.gep(self._table, [WORD(next(self._words))])

    def take(self, kind):
        """The value of an argument of that type."""
        builder = self.builder
        if isinstance(kind, types.BaseTuple):
            return self.context.make_tuple(builder, kind, [self.take(part) for part in kind])
        if isinstance(kind, types.Array):
            words = [builder.load(self._place()) for _ in range(1 + kind.ndim)]
            return array(self.context, builder, kind, words)
        value = builder.load(self._place())
        if kind is types.float64:
            return builder.bitcast(value, ir.DoubleType())
        return builder.trunc(value, ir.IntType(1)) if kind is types.boolean else value

    def give(self, kind, value):
        """Leave a result of that type."""
        builder = self.builder
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                self.give(part, builder.extract_value(value, k))
        elif kind is types.float64:
            builder.store(builder.bitcast(value, WORD), self._place())
        elif isinstance(kind, types.Boolean):
            builder.store(builder.zext(value, WORD), self._place())
        elif isinstance(kind, types.Integer):
            builder.store(value if kind.bitwidth == WORD.width else builder.sext(value, WORD), self._place())
