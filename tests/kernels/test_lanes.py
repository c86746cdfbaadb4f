"""Lanes: the arithmetic of eight numbers at once is that of each."""

import numpy as np

from kinegrad.kernels.jit import entry, kernel
from kinegrad.kernels.lanes import WIDTH, load, store
from kinegrad.kernels.vec3 import axpy, cross, dot


@kernel
def three(A, j):
    return load(A, 0, j), load(A, 1, j), load(A, 2, j)


@entry
def combine(A, B, C, s):
    """C: s a, a - b, a b, a·b, then (s, 1, 2) × a + b s, row by row, lanes from column 3 on."""
    a = three(A, 3)
    b = three(B, 3)
    store(C, 0, 3, s * a[0])
    store(C, 1, 3, a[0] - b[0])
    store(C, 2, 3, a[0] * b[0] + 2.0)
    store(C, 3, 3, dot(a, b))
    x = axpy(s, b, cross((s, 1.0, 2.0), a))
    for k in range(3):
        store(C, 4 + k, 3, x[k])


def test_lanes_are_numbers_side_by_side(rng):
    A, B = rng.normal(size=(2, 3, WIDTH + 5))
    C = np.full((7, WIDTH + 5), 9.0)
    combine(A, B, C, 0.7)
    a, b = A[:, 3 : 3 + WIDTH], B[:, 3 : 3 + WIDTH]
    expected = [0.7 * a[0], a[0] - b[0], a[0] * b[0] + 2.0, a[0] * b[0] + a[1] * b[1] + a[2] * b[2]]
    assert np.array_equal(C[:4, 3 : 3 + WIDTH], expected)
    crossed = np.cross([0.7, 1.0, 2.0], a.T).T + 0.7 * b
    np.testing.assert_allclose(C[4:, 3 : 3 + WIDTH], crossed, rtol=1e-14, atol=1e-15)
    assert np.all(C[:, :3] == 9.0) and np.all(C[:, 3 + WIDTH :] == 9.0)  # neighbours are not touched
