"""3-vectors of lanes in memory: four vectors at once, as three rows of a matrix with four columns.

What is read are tuples of lanes (`kinegrad.kernels.lanes`), for which the algebra of `kinegrad.kernels.vec3` works too.
"""

from kinegrad.kernels.jit import inlined
from kinegrad.kernels.linalg import get4, put4


@inlined
def vec4(A):
    """The first three rows."""
    return (get4(A, 0), get4(A, 1), get4(A, 2))


@inlined
def vec4_at(A, k):
    """Three rows, from row k on."""
    return (get4(A, k), get4(A, k + 1), get4(A, k + 2))


@inlined
def set4(A, x):
    """The first three rows = x."""
    put4_at(A, 0, x)


@inlined
def put4_at(A, k, x):
    """Three rows = x, from row k on."""
    put4(A, k, x[0])
    put4(A, k + 1, x[1])
    put4(A, k + 2, x[2])


@inlined
def mat4(A):
    """The matrix kept by rows in the first nine rows of A."""
    return (vec4(A), vec4_at(A, 3), vec4_at(A, 6))


@inlined
def put_mat4(A, R):
    """The first nine rows = those of R."""
    for i in range(3):
        for j in range(3):
            put4(A, 3 * i + j, R[i][j])


@inlined
def gain4(A, k, x):
    """Row k += x."""
    put4(A, k, get4(A, k) + x)


@inlined
def inc4(A, x):
    """The first three rows += x."""
    inc4_at(A, 0, x)


@inlined
def inc4_at(A, k, x):
    """Three rows += x, from row k on."""
    gain4(A, k, x[0])
    gain4(A, k + 1, x[1])
    gain4(A, k + 2, x[2])


@inlined
def column(A, c):
    """Lane c of the first three rows."""
    return (A[0, c], A[1, c], A[2, c])
