"""LAPACK factorisations called from kernels, without allocation.

The routines are those that SciPy carries.  Compiled code finds their addresses under a symbol: an address written into
code that is kept would be wrong in the next process.  Importing them takes a quarter of a second, so they are fetched when a
model is large enough to need them (`fetch`).

LAPACK keeps matrices by columns, the kernels by rows, so a routine sees the transpose: what it calls the upper
triangle is our lower one, and its rows are our columns.
"""

import ctypes
import functools

from kinegrad.kernels.jit import JIT, intrinsic, kernel

LARGE = 40  # unknowns from which LAPACK is faster than loops

_UPPER = ord("U")
_words = {name: ctypes.c_int64(0) for name in ("dpotrf", "dgetrf")}


def _symbol(routine: str) -> str:
    return f"kinegrad_lapack_{routine}"


@functools.cache
def fetch() -> None:
    """Make the routines known to compiled code."""
    from scipy.__config__ import CONFIG
    from scipy.linalg import cython_lapack

    if CONFIG["Build Dependencies"]["blas"].get("cython blas ilp64", False):
        raise ImportError("this SciPy has a LAPACK with 64-bit integers; install one with 32-bit integers, as on PyPI")
    for name, word in _words.items():
        word.value = _address(cython_lapack.__pyx_capi__[name])


def _address(capsule) -> int:
    name = ctypes.pythonapi.PyCapsule_GetName
    name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, name(capsule))


if JIT:
    from llvmlite.binding import add_symbol

    for _name, _word in _words.items():
        add_symbol(_symbol(_name), ctypes.addressof(_word))

_dpotrf, _dgetrf = (intrinsic("address_at", _symbol(name)) for name in ("dpotrf", "dgetrf"))
_run = intrinsic("call_fortran")


@kernel
def serves(n):
    """Whether LAPACK is there and worth calling for n unknowns."""
    return n > LARGE and _dpotrf() != 0


@kernel
def potrf(A, n):
    """0 when A's lower triangle became L of A = L Lᵀ, positive when A is not positive definite."""
    return _run(_dpotrf(), (_UPPER, n, A, A.shape[1]))


@kernel
def getrf(A, n, pivots):
    """0 when A became L and U of A Q = L U, positive when it is singular.

    U has a unit diagonal.  Q swaps column k with column pivots[k] (int32) for k = 0, 1, ...
    """
    info = _run(_dgetrf(), (n, n, A, A.shape[1], pivots))
    for k in range(n):
        pivots[k] -= 1
    return info
