"""The code of checks: what compiled code does, in checked mode, before it touches an array or calls a function."""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types

from kinegrad.kernels.checks import ABSENT, ON, OTHER, SYMBOL
from kinegrad.kernels.compiler.memory import WORD

_WORDS = ir.ArrayType(WORD, 4)


def check_index(context, builder, index, extent, axis: int) -> None:
    """Leave the function unless 0 <= index < extent; nothing outside the checked mode."""
    if ON:
        with builder.if_then(builder.icmp_unsigned(">=", index, extent), likely=False):
            _leave(context, builder, WORD(axis), index, extent)


def check_function(context, builder, address) -> None:
    """Leave the function if an address is 0."""
    if ON:
        with builder.if_then(builder.icmp_unsigned("==", address, WORD(0)), likely=False):
            _leave(context, builder, WORD(ABSENT), WORD(0), WORD(0))


def check_call(context, builder) -> None:
    """Leave the function if the one it called, by address, left its own."""
    if ON:
        with builder.if_then(builder.icmp_unsigned("!=", builder.load(_place(builder, 0)), WORD(0)), likely=False):
            context.call_conv.return_user_exc(builder, IndexError)


def note_error(context, builder, status, symbol: str) -> None:
    """At the end of a C function: take down an error that no check found."""
    if ON:
        none = builder.icmp_unsigned("==", builder.load(_place(builder, 0)), WORD(0))
        with builder.if_then(builder.and_(status.is_error, none), likely=False):
            _take_down(context, builder, symbol, WORD(OTHER), WORD(0), WORD(0))


def check_rows(found, function, signature):
    """`found`, which lowers a function, with checks before it where it takes rows of an array."""
    key = getattr(function, "typing_key", function)
    if not ON or key not in (operator.getitem, operator.setitem) or not isinstance(signature.args[0], types.Array):
        return found
    array, index = signature.args[:2]
    kinds = index.types if isinstance(index, types.BaseTuple) else (index,)

    def lower(context, builder, args):
        model = context.data_model_manager[array]
        shape = builder.extract_value(args[0], model.get_field_position("shape"))
        for axis, kind in enumerate(kinds):
            if isinstance(kind, types.Integer):
                i = builder.extract_value(args[1], axis) if isinstance(index, types.BaseTuple) else args[1]
                i = context.cast(builder, i, kind, types.intp)
                check_index(context, builder, i, builder.extract_value(shape, axis), axis)
        return found(builder, args)

    return lower


def _leave(context, builder, axis, index, extent) -> None:
    line = getattr(context, "line", 0)
    _take_down(
        context, builder, f"{context.fndesc.modname}.{context.fndesc.qualname}, line {line}", axis, index, extent
    )
    context.call_conv.return_user_exc(builder, IndexError)


def _take_down(context, builder, place: str, *words) -> None:
    text = builder.ptrtoint(context.insert_const_string(builder.module, place), WORD)
    for k, word in enumerate((text, *words)):
        builder.store(word, _place(builder, k))


def _place(builder, k: int):
    module = builder.module
    words = module.globals.get(SYMBOL) or ir.GlobalVariable(module, _WORDS, SYMBOL)
    return builder.gep(words, [WORD(0), WORD(k)])
