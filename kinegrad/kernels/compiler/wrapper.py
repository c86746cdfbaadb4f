"""The C function around a compiled one."""

from __future__ import annotations

from llvmlite import ir

from kinegrad.kernels.compiler.bounds import note_error
from kinegrad.kernels.compiler.memory import WORD
from kinegrad.kernels.compiler.words import Table, returned


def add_wrapper(context, library, description, by_table: bool, symbol: str) -> str:
    """Add ``void symbol(int64)`` to a library that holds the function described; the types of what it returns.

    Its argument is that of the function or, `by_table`, the address of a table of words.
    """
    module = library.create_ir_module(symbol)
    function = ir.Function(module, ir.FunctionType(ir.VoidType(), [WORD]), symbol)
    builder = ir.IRBuilder(function.append_basic_block())
    callee = context.declare_function(module, description)
    table = Table(context, builder, function.args[0])
    kinds, result = description.argtypes, description.restype
    arguments = [table.take(kind) for kind in kinds] if by_table else [function.args[0]]
    status, value = context.call_conv.call_function(builder, callee, result, kinds, arguments)
    note_error(context, builder, status, symbol)
    table.give(result, value)
    builder.ret_void()
    library.add_ir_module(module)
    return returned(result)
