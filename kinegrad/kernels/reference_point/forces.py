"""From matrices N = Σ f lᵀ of covectors to the four Euler parameters: forces and curvatures of a body by one symmetric matrix.

f·A(p) l = ½ p·K(N) p, so the force on p is K(N) p and its derivative by p is K(N) (RFP-4).  What is written into the matrices
of a formulation at the coordinates of one body is written here.
"""

from kinegrad.kernels.jit import inlined, kernel
from kinegrad.kernels.pattern import place
from kinegrad.kernels.reference_point.records import TURN
from kinegrad.kernels.rotations import dot4


@inlined
def dyad(f, l):
    """f lᵀ."""
    return (
        (f[0] * l[0], f[0] * l[1], f[0] * l[2]),
        (f[1] * l[0], f[1] * l[1], f[1] * l[2]),
        (f[2] * l[0], f[2] * l[1], f[2] * l[2]),
    )


@kernel
def K_of(N):
    """K (4, 4), symmetric, of the matrix N = Σ f lᵀ: the sum of K(l, f) of (ROT-14)."""
    s = 2.0 * (N[0][0] + N[1][1] + N[2][2])
    x, y, z = 2.0 * (N[2][1] - N[1][2]), 2.0 * (N[0][2] - N[2][0]), 2.0 * (N[1][0] - N[0][1])
    m12, m13, m23 = 2.0 * (N[0][1] + N[1][0]), 2.0 * (N[0][2] + N[2][0]), 2.0 * (N[1][2] + N[2][1])
    return (
        (s, x, y, z),
        (x, 4.0 * N[0][0] - s, m12, m13),
        (y, m12, 4.0 * N[1][1] - s, m23),
        (z, m13, m23, 4.0 * N[2][2] - s),
    )


@kernel
def turning(N, p):
    """K(N) p: the force on the Euler parameters."""
    K = K_of(N)
    return (dot4(K[0], p), dot4(K[1], p), dot4(K[2], p), dot4(K[3], p))


@kernel
def add_force(f, k, F, P):
    """Add F at the centre and P at the Euler parameters of the body with coordinates from k on."""
    for j in range(TURN):
        f[k + j] += F[j]
    f[k + TURN] += P[0]
    f[k + TURN + 1] += P[1]
    f[k + TURN + 2] += P[2]
    f[k + TURN + 3] += P[3]


@kernel
def add_column(S, out, k, j, P):
    """Add P to column j of a matrix of the pattern S, in the rows of the Euler parameters of the body with coordinates from k
    on."""
    out[place(S, k + TURN, j)] += P[0]
    out[place(S, k + TURN + 1, j)] += P[1]
    out[place(S, k + TURN + 2, j)] += P[2]
    out[place(S, k + TURN + 3, j)] += P[3]


@kernel
def add_direction(out, k, j, F, P):
    """Add F and P to column j of an array of directions, in the rows of the body with coordinates from k on."""
    for i in range(TURN):
        out[k + i, j] += F[i]
    out[k + TURN, j] += P[0]
    out[k + TURN + 1, j] += P[1]
    out[k + TURN + 2, j] += P[2]
    out[k + TURN + 3, j] += P[3]


@kernel
def add_curvature(S, out, k, N):
    """Add K(N) to a matrix of the pattern S, at the Euler parameters of the body with coordinates from k on."""
    K = K_of(N)
    add_column(S, out, k, k + TURN, K[0])
    add_column(S, out, k, k + TURN + 1, K[1])
    add_column(S, out, k, k + TURN + 2, K[2])
    add_column(S, out, k, k + TURN + 3, K[3])
