"""The augmented matrix of the dense solver against NumPy's."""

import numpy as np
from numpy.testing import assert_allclose

from kinegrad.kernels.jit import entry
from kinegrad.kernels.solvers.dense import augment, augment_lower


@entry
def augmented(T, J, G, rows, D, full, lower):
    augment(T, J, G, rows, D, full)
    augment_lower(T, J, rows, D, lower)


def test_augment_adds_the_weighted_rows():
    rng = np.random.default_rng(7)
    n, m = 5, 3
    T, J, G, D = (
        rng.normal(size=(n, n)),
        rng.normal(size=(m + 1, n)),
        rng.normal(size=(m + 1, n)),
        np.array([30.0, 2.0, 0.5]),
    )
    J[1, :3] = 0.0
    full, lower = np.zeros((n, n)), np.zeros((n, n))
    augmented(T.ravel(), J.ravel(), G.ravel(), m, D, full, lower)
    assert_allclose(full, T + J[:m].T @ (D[:, None] * G[:m]), rtol=1e-14)
    assert_allclose(lower, np.tril(T + J[:m].T @ (D[:, None] * J[:m])), rtol=1e-14)
