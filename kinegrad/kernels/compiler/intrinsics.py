"""Operations of kernels that are not written in Python: each function gives the definition Numba asks for."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba import from_dtype, types

from kinegrad.kernels.compiler.bounds import check_call, check_function
from kinegrad.kernels.compiler.memory import WORD, array

_BYTE = ir.IntType(8).as_pointer()


def call():
    """``call(address, ctx)``: run the C function ``void(int64)`` at `address` on a context."""

    def definition(typing, address, ctx):
        def generate(context, builder, signature, args):
            check_function(context, builder, args[0])
            function = ir.FunctionType(ir.VoidType(), [WORD])
            builder.call(builder.inttoptr(args[0], function.as_pointer()), [args[1]])
            check_call(context, builder)
            return context.get_dummy_value()

        return types.void(types.int64, types.int64), generate

    return definition


def view(index, dtype, ndim, words_each):
    """``view(ctx)``: array number `index` of a context, as a view that owns nothing."""
    kind = types.Array(from_dtype(np.dtype(dtype)), ndim, "C")

    def definition(typing, ctx):
        def generate(context, builder, signature, args):
            table = builder.inttoptr(args[0], WORD.as_pointer())
            words = [builder.load(builder.gep(table, [WORD(words_each * index + k)])) for k in range(1 + ndim)]
            return array(context, builder, kind, words)

        return kind(types.int64), generate

    return definition


def view_full(index, pattern, words_each):
    """``view_full(ctx)``: array number `index` of a context, flat and dense, with the rows and columns that array number
    `pattern` begins with (`kinegrad.kernels.pattern`)."""
    kind = types.Array(types.float64, 2, "C")

    def definition(typing, ctx):
        def generate(context, builder, signature, args):
            table = builder.inttoptr(args[0], WORD.as_pointer())
            numbers, header = (builder.load(builder.gep(table, [WORD(words_each * k)])) for k in (index, pattern))
            header = builder.inttoptr(header, WORD.as_pointer())
            extents = [builder.load(builder.gep(header, [WORD(k)])) for k in (1, 2)]
            return array(context, builder, kind, [numbers, *extents])

        return kind(types.int64), generate

    return definition


def put_array(words_each):
    """``put_array(words, k, A)``: let array number k of a table of words be A."""

    def definition(typing, words, k, A):
        def generate(context, builder, signature, args):
            kind, array_ = signature.args[2], context.make_array(signature.args[2])(context, builder, args[2])
            table = context.make_array(signature.args[0])(context, builder, args[0]).data
            first = builder.mul(args[1], WORD(words_each))
            extents = [builder.extract_value(array_.shape, axis) for axis in range(kind.ndim)]
            for i, word in enumerate([builder.ptrtoint(array_.data, WORD), *extents]):
                builder.store(word, builder.gep(table, [builder.add(first, WORD(i))]))
            return context.get_dummy_value()

        return types.void(words, types.int64, A), generate

    return definition


def address_of():
    """``address_of(A)``: where the numbers of an array are."""

    def definition(typing, A):
        def generate(context, builder, signature, args):
            return builder.ptrtoint(context.make_array(signature.args[0])(context, builder, args[0]).data, WORD)

        return types.int64(A), generate

    return definition


def call_law():
    """``call_law(address, x, exact, y)``: run ``void(const double *x, int64 exact, double *y)`` at `address`."""

    def definition(typing, address, x, exact, y):
        def generate(context, builder, signature, args):
            check_function(context, builder, args[0])
            data = [_data(context, builder, signature.args[k], args[k]) for k in (1, 3)]
            function = ir.FunctionType(ir.VoidType(), [_BYTE, WORD, _BYTE])
            builder.call(builder.inttoptr(args[0], function.as_pointer()), [data[0], args[2], data[1]])
            return context.get_dummy_value()

        return types.void(types.int64, x, types.int64, y), generate

    return definition


def address_at(symbol):
    """``address_at()``: the word that is kept under a symbol of the process."""

    def definition(typing):
        def generate(context, builder, signature, args):
            module = builder.module
            return builder.load(module.globals.get(symbol) or ir.GlobalVariable(module, WORD, symbol))

        return types.int64(), generate

    return definition


def call_fortran():
    """``call_fortran(address, arguments)``: the `info` of a LAPACK routine.

    Whole numbers go by reference as 32 bits, arrays as the address of their data, a character as its code (it is the
    first byte of the 32 bits).
    """

    def definition(typing, address, arguments):
        def generate(context, builder, signature, args):
            int32 = ir.IntType(32)
            pointers = []
            for k, kind in enumerate(arguments):
                value = builder.extract_value(args[1], k)
                if isinstance(kind, types.Array):
                    pointers.append(_data(context, builder, kind, value))
                else:
                    pointers.append(_stored(builder, builder.trunc(value, int32)))
            info = _stored(builder, int32(0))
            pointers.append(info)
            function = ir.FunctionType(ir.VoidType(), [_BYTE] * len(pointers))
            builder.call(builder.inttoptr(args[0], function.as_pointer()), pointers)
            return builder.sext(builder.load(builder.bitcast(info, int32.as_pointer())), WORD)

        return types.int64(types.int64, arguments), generate

    return definition


def _stored(builder, value):
    """The address of a place that holds `value`."""
    with builder.goto_entry_block():
        place = builder.alloca(value.type)
    builder.store(value, place)
    return builder.bitcast(place, _BYTE)


def _data(context, builder, kind, value):
    return builder.bitcast(context.make_array(kind)(context, builder, value).data, _BYTE)
