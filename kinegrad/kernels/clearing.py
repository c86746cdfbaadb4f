"""What a set empties before elements add to it."""

from kinegrad.kernels.jit import kernel


@kernel
def clear(A):
    """A = 0."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            A[i, j] = 0.0


@kernel
def clear_covectors(mk):
    """f, fv, fa of the markers = 0."""
    for i in range(mk.shape[0]):
        m = mk[i]
        for j in range(3):
            m["f"][j] = 0.0
            m["fv"][j] = 0.0
            m["fa"][j] = 0.0
