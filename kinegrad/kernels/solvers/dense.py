"""The dense solver: T + JᵀDG as a full matrix, for systems of a few to a few hundred coordinates."""

from kinegrad.kernels.jit import kernel


@kernel
def augment(T, J, G, rows, D, A):
    """A = T + JᵀDG; T, J, G are dense and flat."""
    n = A.shape[0]
    for i in range(n):
        for j in range(n):
            A[i, j] = T[i * n + j]
    for l in range(rows):
        for i in range(n):
            t = D[l] * J[l * n + i]
            if t != 0.0:
                for j in range(n):
                    A[i, j] += t * G[l * n + j]


@kernel
def augment_lower(T, J, rows, D, A):
    """The lower triangle of A = T + JᵀDJ; T and J are dense and flat."""
    n = A.shape[0]
    for i in range(n):
        for j in range(i + 1):
            A[i, j] = T[i * n + j]
    for l in range(rows):
        for i in range(n):
            t = D[l] * J[l * n + i]
            if t != 0.0:
                for j in range(i + 1):
                    A[i, j] += t * J[l * n + j]
