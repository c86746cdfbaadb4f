"""The compiler of kernels: Numba makes LLVM code of them, LLVM object code.

Imported only in a process that compiles.
"""

from __future__ import annotations

from numba import types
from numba.core.typing.templates import make_intrinsic_template

from kinegrad.kernels.compiler import intrinsics, vectors
from kinegrad.kernels.compiler.pipeline import dispatcher, object_code
from kinegrad.kernels.compiler.wrapper import TAKES_ITSELF, numba_type

__all__ = ["compiled", "dispatcher", "type_of_intrinsic"]


def type_of_intrinsic(name: str, parameters):
    """Numba's type of an operation that a function of `intrinsics` or `vectors` defines."""
    definition = (getattr(intrinsics, name, None) or getattr(vectors, name))(*parameters)
    return types.Function(make_intrinsic_template(definition, definition, name))


def compiled(function, kinds, symbol: str) -> tuple[bytes, str]:
    """Object code with the C function `symbol`, and what `function` returns (see `kinegrad.kernels.jit`)."""
    arguments = TAKES_ITSELF if kinds is None else tuple(map(numba_type, kinds))
    return object_code(function, arguments, kinds is not None, symbol)
