"""Four or eight numbers that go through the same arithmetic at once: a vector register, or two, of the machine.

`load` and `store` move eight lanes between memory and kernels, `load4` and `store4` four; +, - and * take lanes with lanes or
with numbers, so the algebra of `kinegrad.kernels.vec3` works on tuples of lanes as it does on tuples of numbers.  Compilers
seldom vectorise loops over columns when rows are read and written through unknown indices; here nothing is left to them.
With the compiler switched off lanes are small NumPy arrays.
"""

import numpy as np

from kinegrad.kernels.jit import JIT, intrinsic

WIDTH = 8

if JIT:
    load4, store4 = intrinsic("load_lanes", 4), intrinsic("store_lanes", 4)
    load, store = intrinsic("load_lanes", WIDTH), intrinsic("store_lanes", WIDTH)
    spread4, of4, lane = intrinsic("spread_lanes", 4), intrinsic("lanes_of", 4), intrinsic("lane")

else:

    def _movers(width):
        def load(A, i, j):
            return np.array(A[i, j : j + width])

        def store(A, i, j, x):
            A[i, j : j + width] = x

        return load, store

    load4, store4 = _movers(4)
    load, store = _movers(WIDTH)

    def spread4(x):
        """A number in four lanes."""
        return np.full(4, x)

    def of4(a, b, c, d):
        """Four numbers as lanes."""
        return np.array([a, b, c, d])

    def lane(x, k):
        """Lane number k."""
        return x[k]
