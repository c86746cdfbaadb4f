"""Arrays in compiled code: structures made of an address and extents."""

from __future__ import annotations

from llvmlite import ir

WORD = ir.IntType(64)


def array(context, builder, kind, words):
    """An array, kept by rows, that owns nothing, of words: its address and its extents."""
    model, layout = context.data_model_manager[kind], context.get_value_type(kind)
    size = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
    strides = [size]
    for extent in reversed(words[2:]):
        strides.insert(0, builder.mul(strides[0], extent))
    items = words[1]
    for extent in words[2:]:
        items = builder.mul(items, extent)
    place = model.get_field_position("data")
    parts = {
        "nitems": items,
        "itemsize": size,
        "data": builder.inttoptr(words[0], layout.elements[place]),
        "shape": _list(builder, words[1:]),
        "strides": _list(builder, strides),
    }
    made = ir.Constant(layout, None)
    for name, value in parts.items():
        made = builder.insert_value(made, value, model.get_field_position(name))
    return made


def _list(builder, words):
    made = ir.Constant(ir.ArrayType(WORD, len(words)), None)
    for k, word in enumerate(words):
        made = builder.insert_value(made, word, k)
    return made
