"""The C function around a compiled one: arguments come as a table of words, results are left behind them."""

from __future__ import annotations

import itertools

import numpy as np
from llvmlite import ir
from numba import types
from numba.np.numpy_support import from_dtype

from kinegrad.kernels.compiler.lean import WORD, array

TAKES_ITSELF = (types.int64,)
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


def add_wrapper(context, library, description, by_table: bool, symbol: str) -> str:
    """Add ``void symbol(int64)`` to a library that holds the function described; the types of what it returns."""
    module = library.create_ir_module(symbol)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    callee = context.declare_function(module, description)
    table = builder.inttoptr(function.args[0], WORD.as_pointer())
    words = itertools.count()

    def place():
        return builder.gep(table, [WORD(next(words))])

    def take(kind):
        if isinstance(kind, types.BaseTuple):
            return context.make_tuple(builder, kind, [take(part) for part in kind])
        if isinstance(kind, types.Array):
            return array(context, builder, kind, [builder.load(place()) for _ in range(1 + kind.ndim)])
        value = builder.load(place())
        if kind is types.float64:
            return builder.bitcast(value, ir.DoubleType())
        return builder.trunc(value, ir.IntType(1)) if kind is types.boolean else value

    def give(kind, value):
        if isinstance(kind, types.BaseTuple):
            for k, part in enumerate(kind):
                give(part, builder.extract_value(value, k))
        elif kind is types.float64:
            builder.store(builder.bitcast(value, WORD), place())
        elif isinstance(kind, types.Boolean):
            builder.store(builder.zext(value, WORD), place())
        elif isinstance(kind, types.Integer):
            builder.store(value if kind.bitwidth == WORD.width else builder.sext(value, WORD), place())

    kinds, result = description.argtypes, description.restype
    arguments = [take(kind) for kind in kinds] if by_table else [function.args[0]]
    _, value = context.call_conv.call_function(builder, callee, result, kinds, arguments)
    give(result, value)
    builder.ret_void()
    library.add_ir_module(module)
    return returned(result)
