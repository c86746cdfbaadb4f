"""LAPACK factorisations called from kernels, without allocation.

The routines are those that SciPy carries.  Compiled code refers to them by a symbol, which is given their address in
this process: an address written into cached code would be wrong in the next one.

LAPACK keeps matrices by columns, the kernels by rows, so a routine sees the transpose: what it calls the upper
triangle is our lower one, and its rows are our columns.
"""

import llvmlite.binding
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import get_cython_function_address, intrinsic

from kinegrad.kernels.jit import JIT, kernel

_UPPER = ord("U")


def _register(*routines: str) -> None:
    """Give each routine the symbol that compiled code calls."""
    from scipy.__config__ import CONFIG

    if CONFIG["Build Dependencies"]["blas"].get("cython blas ilp64", False):
        raise ImportError("this SciPy has a LAPACK with 64-bit integers; install one with 32-bit integers, as on PyPI")
    for name in routines:
        llvmlite.binding.add_symbol(_symbol(name), get_cython_function_address("scipy.linalg.cython_lapack", name))


def _symbol(routine: str) -> str:
    return f"kinegrad_lapack_{routine}"


def _caller(routine: str):
    """A function of a tuple of arguments, for kernels: the `info` of a routine.

    Whole numbers go by reference as 32 bits, arrays as the address of their data, a character as its code (it is the
    first byte of the 32 bits).
    """

    @intrinsic
    def run(typing, arguments):
        def generate(context, builder, signature, args):
            int32, byte = ir.IntType(32), ir.IntType(8).as_pointer()
            pointers = []
            for k, kind in enumerate(arguments):
                value = builder.extract_value(args[0], k)
                if isinstance(kind, types.Array):
                    where = context.make_array(kind)(context, builder, value).data
                else:
                    where = cgutils.alloca_once(builder, int32)
                    builder.store(builder.trunc(value, int32), where)
                pointers.append(builder.bitcast(where, byte))
            info = cgutils.alloca_once_value(builder, int32(0))
            pointers.append(builder.bitcast(info, byte))
            signature = ir.FunctionType(ir.VoidType(), [byte] * len(pointers))
            builder.call(cgutils.get_or_insert_function(builder.module, signature, _symbol(routine)), pointers)
            return builder.sext(builder.load(info), ir.IntType(64))

        return types.int64(arguments), generate

    return run


if JIT:
    _register("dpotrf", "dgetrf")
_dpotrf = _caller("dpotrf")
_dgetrf = _caller("dgetrf")


@kernel
def potrf(A, n):
    """0 when A's lower triangle became L of A = L Lᵀ, positive when A is not positive definite."""
    return _dpotrf((_UPPER, n, A, A.shape[1]))


@kernel
def getrf(A, n, pivots):
    """0 when A became L and U of A Q = L U, positive when it is singular.

    U has a unit diagonal.  Q swaps column k with column pivots[k] (int32) for k = 0, 1, ...
    """
    info = _dgetrf((n, n, A, A.shape[1], pivots))
    for k in range(n):
        pivots[k] -= 1
    return info
