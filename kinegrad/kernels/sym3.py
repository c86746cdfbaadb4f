"""Algebra of symmetric 3x3 matrices, kept as tuples of six numbers: xx yy zz xy xz yz."""

from kinegrad.kernels.jit import inlined
from kinegrad.kernels.vec3 import dot


@inlined
def sym(a):
    """The first six numbers of an array."""
    return (a[0], a[1], a[2], a[3], a[4], a[5])


@inlined
def put_sym(a, S):
    """a[:6] = S."""
    for j in range(6):
        a[j] = S[j]


@inlined
def smv(S, x):
    """S x."""
    return (
        S[0] * x[0] + S[3] * x[1] + S[4] * x[2],
        S[3] * x[0] + S[1] * x[1] + S[5] * x[2],
        S[4] * x[0] + S[5] * x[1] + S[2] * x[2],
    )


@inlined
def less_square(S, t, u):
    """S - t u uᵀ."""
    x, y, z = t * u[0], t * u[1], t * u[2]
    return (
        S[0] - x * u[0], S[1] - y * u[1], S[2] - z * u[2], S[3] - x * u[1], S[4] - x * u[2], S[5] - y * u[2],
    )  # fmt: skip


@inlined
def less_mmt(S, A, B):
    """S - A Bᵀ, where A Bᵀ is symmetric."""
    return (
        S[0] - dot(A[0], B[0]), S[1] - dot(A[1], B[1]), S[2] - dot(A[2], B[2]),
        S[3] - dot(A[0], B[1]), S[4] - dot(A[0], B[2]), S[5] - dot(A[1], B[2]),
    )  # fmt: skip


@inlined
def sym_inverse(S):
    """S⁻¹, and the determinant of S."""
    x = S[1] * S[2] - S[5] * S[5]
    y = S[4] * S[5] - S[3] * S[2]
    z = S[3] * S[5] - S[4] * S[1]
    det = S[0] * x + S[3] * y + S[4] * z
    t = 1.0 / det
    return (
        t * x, t * (S[0] * S[2] - S[4] * S[4]), t * (S[0] * S[1] - S[3] * S[3]),
        t * y, t * z, t * (S[3] * S[4] - S[0] * S[5]),
    ), det  # fmt: skip
