"""LAPACK factorisations called from kernels through their addresses, without allocation.

The routines are those that SciPy carries.  Compiled code finds their addresses in a table of words that it refers to
by name, since an address written into cached code would be wrong in the next process.  SciPy is imported the first
time a kernel needs a routine: small systems never pay for it.

LAPACK keeps matrices by columns, the kernels by rows, so a routine sees the transpose: what it calls the upper
triangle is our lower one, and its rows are our columns.
"""

import ctypes

import llvmlite.binding
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from kinegrad.kernels.jit import kernel

_SYMBOL = "kinegrad_lapack_table"
_LOAD, _POTRF, _GETRF = range(3)
_ROUTINES = {_POTRF: "dpotrf", _GETRF: "dgetrf"}
_UPPER = ord("U")

_table = np.zeros(1 + len(_ROUTINES), dtype=np.int64)


@ctypes.CFUNCTYPE(None)
def _load():
    """Fill the table; kernels call this once, from any thread."""
    _table[_LOAD] = 0
    for k, name in _ROUTINES.items():
        _table[k] = get_cython_function_address("scipy.linalg.cython_lapack", name)


_table[_LOAD] = ctypes.cast(_load, ctypes.c_void_p).value
llvmlite.binding.add_symbol(_SYMBOL, _table.ctypes.data)


@intrinsic
def _word(typing, k):
    """Word k of the table."""

    def generate(context, builder, signature, args):
        word = ir.IntType(64)
        table = context.get_c_value(builder, ir.ArrayType(word, len(_table)), _SYMBOL)
        return builder.load(builder.gep(table, [word(0), args[0]]))

    return types.int64(types.int64), generate


@intrinsic
def _run(typing, address):
    """Call the C function ``void(void)`` at an address."""

    def generate(context, builder, signature, args):
        function = ir.FunctionType(ir.VoidType(), [])
        builder.call(builder.inttoptr(args[0], function.as_pointer()), [])
        return context.get_dummy_value()

    return types.void(types.int64), generate


@intrinsic
def _fortran(typing, address, arguments):
    """The `info` of a Fortran routine: whole numbers go by reference as 32 bits, arrays as the address of their data.

    A character is its code: the first byte of the 32 bits.
    """

    def generate(context, builder, signature, args):
        int32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
        pointers = []
        for k, kind in enumerate(arguments):
            value = builder.extract_value(args[1], k)
            if isinstance(kind, types.Array):
                where = context.make_array(kind)(context, builder, value).data
            else:
                where = cgutils.alloca_once(builder, int32)
                builder.store(builder.trunc(value, int32), where)
            pointers.append(builder.bitcast(where, byte))
        info = cgutils.alloca_once_value(builder, int32(0))
        pointers.append(builder.bitcast(info, byte))
        function = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
        builder.call(builder.inttoptr(args[0], function.as_pointer()), pointers)
        return builder.sext(builder.load(info), ir.IntType(64))

    return types.int64(types.int64, arguments), generate


@kernel
def _address(k):
    """The address of a routine, 0 when SciPy could not be loaded."""
    if _word(k) == 0 and _word(_LOAD) != 0:
        _run(_word(_LOAD))
    return _word(k)


@kernel
def potrf(A, n):
    """A's lower triangle becomes L of A = L Lᵀ; 0, or not 0 when A is not positive definite or LAPACK is missing."""
    address = _address(_POTRF)
    if address == 0:
        return -1
    return _fortran(address, (_UPPER, n, A, A.shape[1]))


@kernel
def getrf(A, n, pivots):
    """A becomes L and U of A Q = L U with unit U; Q swaps column k with column pivots[k], k = 0, 1, ...

    0 or positive (the matrix is singular) when it was done, negative when LAPACK is missing.
    """
    address = _address(_GETRF)
    if address == 0:
        return -1
    info = _fortran(address, (n, n, A, A.shape[1], pivots))
    for k in range(n):
        pivots[k] -= 1
    return info
