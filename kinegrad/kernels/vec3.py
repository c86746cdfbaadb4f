"""Algebra of 3-vectors, 3x3 matrices and spatial six-vectors, written out by component.

A 3-vector is a tuple of three numbers, a matrix a tuple of three rows; arrays appear only where a vector is loaded
from memory or stored into it.  A spatial vector is a pair of 3-vectors: a motion (v, o) is the velocity of the
reference point and the angular velocity, a force (F, N) is the force and the moment about that point.  In memory it
is six numbers in this order.
"""

from kinegrad.kernels.jit import inlined

# --- memory ------------------------------------------------------------------------------------------------------


@inlined
def vec(a):
    """The first three numbers of an array."""
    return (a[0], a[1], a[2])


@inlined
def vec_at(a, k):
    """Three numbers of an array, from index k on."""
    return (a[k], a[k + 1], a[k + 2])


@inlined
def put(a, x):
    """a[:3] = x."""
    a[0] = x[0]
    a[1] = x[1]
    a[2] = x[2]


@inlined
def put_at(a, k, x):
    """a[k:k+3] = x."""
    a[k] = x[0]
    a[k + 1] = x[1]
    a[k + 2] = x[2]


@inlined
def inc(a, x):
    """a[:3] += x."""
    a[0] += x[0]
    a[1] += x[1]
    a[2] += x[2]


@inlined
def inc_at(a, k, x):
    """a[k:k+3] += x."""
    a[k] += x[0]
    a[k + 1] += x[1]
    a[k + 2] += x[2]


@inlined
def mat(a):
    """The matrix kept by rows in the first nine numbers of an array."""
    return ((a[0], a[1], a[2]), (a[3], a[4], a[5]), (a[6], a[7], a[8]))


@inlined
def put_mat(a, R):
    """a[:9] = the rows of R."""
    a[0] = R[0][0]
    a[1] = R[0][1]
    a[2] = R[0][2]
    a[3] = R[1][0]
    a[4] = R[1][1]
    a[5] = R[1][2]
    a[6] = R[2][0]
    a[7] = R[2][1]
    a[8] = R[2][2]


@inlined
def six(a):
    """The two halves of the first six numbers of an array."""
    return (a[0], a[1], a[2]), (a[3], a[4], a[5])


@inlined
def put6(a, u, w):
    """a[:6] = (u, w)."""
    a[0] = u[0]
    a[1] = u[1]
    a[2] = u[2]
    a[3] = w[0]
    a[4] = w[1]
    a[5] = w[2]


@inlined
def inc6(a, u, w):
    """a[:6] += (u, w)."""
    a[0] += u[0]
    a[1] += u[1]
    a[2] += u[2]
    a[3] += w[0]
    a[4] += w[1]
    a[5] += w[2]


# --- vectors -----------------------------------------------------------------------------------------------------


@inlined
def add(a, b):
    """a + b."""
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2])


@inlined
def sub(a, b):
    """a - b."""
    return (a[0] - b[0], a[1] - b[1], a[2] - b[2])


@inlined
def neg(a):
    """-a."""
    return (-a[0], -a[1], -a[2])


@inlined
def mul(s, a):
    """s a."""
    return (s * a[0], s * a[1], s * a[2])


@inlined
def axpy(s, a, b):
    """s a + b."""
    return (s * a[0] + b[0], s * a[1] + b[1], s * a[2] + b[2])


@inlined
def dot(a, b):
    """a·b (no conjugate)."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@inlined
def norm2(a):
    """a·a, the squared length."""
    return a[0] * a[0] + a[1] * a[1] + a[2] * a[2]


@inlined
def cross(a, b):
    """a × b."""
    return (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


# --- matrices ----------------------------------------------------------------------------------------------------


@inlined
def transpose(R):
    """Rᵀ."""
    return ((R[0][0], R[1][0], R[2][0]), (R[0][1], R[1][1], R[2][1]), (R[0][2], R[1][2], R[2][2]))


@inlined
def mv(R, x):
    """R x."""
    return (dot(R[0], x), dot(R[1], x), dot(R[2], x))


@inlined
def vm(x, R):
    """xᵀR, that is Rᵀx."""
    return (
        x[0] * R[0][0] + x[1] * R[1][0] + x[2] * R[2][0],
        x[0] * R[0][1] + x[1] * R[1][1] + x[2] * R[2][1],
        x[0] * R[0][2] + x[1] * R[1][2] + x[2] * R[2][2],
    )


@inlined
def mm(A, B):
    """A B."""
    return (vm(A[0], B), vm(A[1], B), vm(A[2], B))


@inlined
def mmt(A, B):
    """A Bᵀ."""
    return (mv(B, A[0]), mv(B, A[1]), mv(B, A[2]))


@inlined
def rot(e, s, c):
    """The rotation about the unit vector e by the angle with sine s and cosine c (Rodrigues)."""
    x, y, z = e
    t = 1.0 - c
    return (
        (t * x * x + c, t * x * y - s * z, t * x * z + s * y),
        (t * x * y + s * z, t * y * y + c, t * y * z - s * x),
        (t * x * z - s * y, t * y * z + s * x, t * z * z + c),
    )


# --- spatial vectors ---------------------------------------------------------------------------------------------


@inlined
def scross(v, o, a, b):
    """Motion (v, o) × motion (a, b): (o×a + v×b, o×b)."""
    return add(cross(o, a), cross(v, b)), cross(o, b)


@inlined
def fcross(v, o, F, N):
    """Motion (v, o) × force (F, N): (o×F, v×F + o×N)."""
    return cross(o, F), add(cross(v, F), cross(o, N))
