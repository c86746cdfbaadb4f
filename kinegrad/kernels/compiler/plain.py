"""The plain way: kernels compiled by Numba's own `njit` and `cfunc`, through its public names alone.

It takes over where the way of `pipeline` cannot be set up.  The numbers are the same; the code is slower, takes longer to
compile, and is made anew in every process.
"""

from __future__ import annotations

import numba
from numba import types
from numba.extending import intrinsic

from kinegrad.kernels.compiler.definitions import definition_of
from kinegrad.kernels.compiler.words import Table, count, numba_type, returned

NOTICE = "compiling {}, in this process alone (about half a minute) ..."
KEEPS = False

_OPTIONS = {"error_model": "numpy"}
_C_FUNCTION = "void(int64)"
_made: list = []  # machine code lives as long as the object of its function


def dispatcher(function, inline: bool):
    """A kernel, compiled when a caller is."""
    return numba.njit(function, forceinline=inline, **_OPTIONS)


def operation(name: str, parameters):
    """An operation of kernels, as a kernel around it."""
    made = intrinsic(definition_of(name, parameters))

    def run(*arguments):
        return made(*arguments)

    return dispatcher(run, True)


def machine_code(function, kinds) -> tuple[int, str]:
    """Address of a C function ``void(int64)`` that runs `function`, and the types of what it returns."""
    inner, letters = dispatcher(function, False), [""]
    if kinds is None:

        def run(ctx):
            inner(ctx)

    else:
        arguments = types.Tuple(tuple(map(numba_type, kinds)))
        take, give = _take(arguments), _give(count(arguments), letters)

        def run(table):
            give(table, inner(*take(table)))

    made = numba.cfunc(_C_FUNCTION, **_OPTIONS)(run)
    _made.append(made)
    return made.address, letters[0]


def _take(arguments):
    """``take(table)``: the arguments in a table of words."""

    @intrinsic
    def take(typing, table):
        def generate(context, builder, signature, args):
            return Table(context, builder, args[0]).take(arguments)

        return arguments(types.int64), generate

    return take


def _give(first: int, letters: list):
    """``give(table, result)``: leave a result behind the arguments; its types go to `letters`."""

    @intrinsic
    def give(typing, table, result):
        letters[0] = returned(result)

        def generate(context, builder, signature, args):
            Table(context, builder, args[0], first).give(result, args[1])
            return context.get_dummy_value()

        return types.void(types.int64, result), generate

    return give
