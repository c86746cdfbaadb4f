"""Coordinates that elements own, beside the sweeps over a tree (REC-15).

One with inertia stands for itself: x_k = y_k / M_kk.  One without is bound to the tree by a row, j·x + g x_k = r.  Its own
equation then gives the multiplier of that row, so what acts on it acts on the tree along -j/g, and x_k follows from the row.
`heavy` has the numbers of the first ones, `bound` the row and the number of each of the others; such a row is zero at all
other own coordinates.
"""

from kinegrad.kernels.jit import kernel


@kernel
def fold(M, J, heavy, bound, Y, width):
    """Solve for own coordinates with inertia, and hand what acts on the others to the tree, in the first columns of Y."""
    for i in range(heavy.shape[0]):
        k = heavy[i]
        for c in range(width):
            Y[k, c] = Y[k, c] / M[k, k]
    tree = Y.shape[0] - heavy.shape[0] - bound.shape[0]
    for i in range(bound.shape[0]):
        l, k = bound[i, 0], bound[i, 1]
        for j in range(tree):
            t = J[l, j] / J[l, k]
            if t != 0.0:
                for c in range(width):
                    Y[j, c] -= t * Y[k, c]


@kernel
def along_row(J, l, k, tree, Y, c):
    """j·x / g of column c, for the row l that binds the coordinate k."""
    t = 0.0 * J[l, k]
    for j in range(tree):
        t += J[l, j] * Y[j, c]
    return t / J[l, k]


@kernel
def unfold(J, heavy, bound, Y, width):
    """The coordinates that rows bind to the tree, where these rows ask for nothing more."""
    tree = Y.shape[0] - heavy.shape[0] - bound.shape[0]
    for i in range(bound.shape[0]):
        l, k = bound[i, 0], bound[i, 1]
        for c in range(width):
            Y[k, c] = -along_row(J, l, k, tree, Y, c)
