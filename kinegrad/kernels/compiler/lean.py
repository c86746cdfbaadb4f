"""Arrays and ranges in few instructions.

Numba writes general code for elements of arrays (an index may count from the end), for loops over ranges (a division for the
number of turns) and through structures in memory, and leaves it to LLVM to reduce it.  Kernels use a small part of that: arrays
kept by rows, indices from 0 on, ranges of int64.  Writing just that saves a sixth of the compile time.
"""

from __future__ import annotations

import operator

from llvmlite import ir
from numba import types

from kinegrad.kernels.compiler.bounds import check_index
from kinegrad.kernels.compiler.memory import WORD


def attribute(kind, name: str):
    """How to lower an attribute of an array; None for all but its shape."""
    return _shape if isinstance(kind, types.Array) and name == "shape" else None


def _shape(context, builder, kind, value, name):
    return builder.extract_value(value, context.data_model_manager[kind].get_field_position("shape"))


def implementation(function, signature):
    """How to lower a function; None where Numba's own way is to be taken."""
    key = getattr(function, "typing_key", function)
    arguments = signature.args
    if key in _ELEMENTS and _is_element(*arguments[:2]):
        return _ELEMENTS[key]
    if key in _RANGES and any(kind in _RANGE_TYPES for kind in (signature.return_type, *arguments)):
        return _RANGES[key]
    return None


# --- elements of arrays ------------------------------------------------------------------------------------------


def _is_element(array, index) -> bool:
    if not isinstance(array, types.Array) or array.layout != "C":
        return False
    indices = index.types if isinstance(index, types.BaseTuple) else (index,)
    return len(indices) == array.ndim and all(isinstance(kind, types.Integer) for kind in indices)


def _pointer(context, builder, signature, args):
    array, index = signature.args[:2]
    model = context.data_model_manager[array]
    data = builder.extract_value(args[0], model.get_field_position("data"))
    shape = builder.extract_value(args[0], model.get_field_position("shape"))
    if not isinstance(index, types.BaseTuple):
        place = context.cast(builder, args[1], index, types.intp)
        check_index(context, builder, place, builder.extract_value(shape, 0), 0)
        return builder.gep(data, [place])
    place = None
    for k, kind in enumerate(index.types):
        i = context.cast(builder, builder.extract_value(args[1], k), kind, types.intp)
        check_index(context, builder, i, builder.extract_value(shape, k), k)
        place = i if place is None else builder.add(builder.mul(place, builder.extract_value(shape, k)), i)
    return builder.gep(data, [place])


def _get(context, builder, signature, args):
    array = signature.args[0]
    pointer = _pointer(context, builder, signature, args)
    return context.unpack_value(builder, array.dtype, pointer, align=None if array.aligned else 1)


def _set(context, builder, signature, args):
    array, _, kind = signature.args
    value = context.cast(builder, args[2], kind, array.dtype)
    pointer = _pointer(context, builder, signature, args)
    context.pack_value(builder, array.dtype, value, pointer, align=None if array.aligned else 1)
    return context.get_dummy_value()


_ELEMENTS = {operator.getitem: _get, operator.setitem: _set}


# --- ranges ------------------------------------------------------------------------------------------------------

_RANGE_TYPES = (types.range_state64_type, types.range_iter64_type)


def _range(context, builder, signature, args):
    first, last, step = [WORD(0), *args, WORD(1)] if len(args) == 1 else [*args, WORD(1)][:3]
    made = ir.Constant(context.get_value_type(signature.return_type), None)
    for k, word in enumerate((first, last, step)):
        made = builder.insert_value(made, word, k)
    return made


def _getiter(context, builder, signature, args):
    with builder.goto_entry_block():
        place = builder.alloca(WORD)
    builder.store(builder.extract_value(args[0], 0), place)
    made = ir.Constant(context.get_value_type(signature.return_type), None)
    for k, word in enumerate((place, builder.extract_value(args[0], 1), builder.extract_value(args[0], 2))):
        made = builder.insert_value(made, word, k)
    return made


def _iternext(context, builder, signature, args):
    place, last, step = (builder.extract_value(args[0], k) for k in range(3))
    i = builder.load(place)
    up = builder.icmp_signed(">", step, WORD(0))
    more = builder.select(up, builder.icmp_signed("<", i, last), builder.icmp_signed(">", i, last))
    builder.store(builder.add(i, step, flags=("nsw",)), place)
    made = ir.Constant(context.get_value_type(signature.return_type), None)
    return builder.insert_value(builder.insert_value(made, i, 0), more, 1)


_RANGES = {range: _range, "getiter": _getiter, "iternext": _iternext}
