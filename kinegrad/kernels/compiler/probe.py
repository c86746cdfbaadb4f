"""A small function with all that kernels use, to see whether a way of compiling works."""

from __future__ import annotations

import ctypes
import struct

import numpy as np

from kinegrad.kernels.jit import inlined, intrinsic, kernel

_view = intrinsic("view", 0, np.dtype("f8"), 2, 4)
_load, _store, _lane = intrinsic("load_lanes", 4), intrinsic("store_lanes", 4), intrinsic("lane")


@inlined
def _twice(x):
    return 2.0 * x


@kernel
def _sum(A, i):
    total = 0.0
    for j in range(A.shape[1]):
        total += A[i, j]
    return total


def _probe(ctx, x):
    """Sums of rows, lanes and an element, of a matrix in a context and of a vector."""
    A = _view(ctx)
    lanes = _twice(_load(A, 0, 0)) + _load(A, 1, 0)
    _store(A, 1, 0, lanes)
    x[1] = _sum(A, 1)
    return x.shape[0], _lane(lanes, 2)


def works(machine_code) -> bool:
    """Whether `machine_code(function, kinds)` gives code with the right results."""
    A, x = np.arange(8.0).reshape(2, 4), np.zeros(3)
    words = np.array([A.ctypes.data, *A.shape, 0])
    address, returns = machine_code(_probe, ("i", (x.dtype, 1)))
    table = bytearray(struct.pack("3q", words.ctypes.data, x.ctypes.data, 3) + bytes(16))
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)(ctypes.addressof(ctypes.c_char.from_buffer(table)))
    results = struct.unpack_from(returns, table, 24)
    return results == (3, 10.0) and x.tolist() == [0.0, 34.0, 0.0]
