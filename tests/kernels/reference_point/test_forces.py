"""One symmetric matrix for all forces on the Euler parameters of a body."""

import numpy as np
from helpers import assert_close
from products_by_complex_step import uncompiled

from kinegrad.kernels.pattern import dense
from kinegrad.kernels.reference_point.forces import K_of, add_curvature, add_direction, add_force, dyad, turning
from kinegrad.kernels.rotations import B_of
from kinegrad.kernels.rotations import K_of as K_of_vectors

pytestmark = uncompiled

rng = np.random.default_rng(4)
p, (f, l) = tuple(rng.normal(size=4)), map(tuple, rng.normal(size=(2, 3)))


def test_of_one_covector_it_is_that_of_rotations():
    assert_close(K_of(dyad(f, l)), K_of_vectors(l, f), 1e-15)


def test_the_force_on_p():
    assert_close(turning(dyad(f, l), p), np.array(B_of(p, l)).T @ f, 1e-15)


def test_it_is_linear_and_symmetric():
    N = rng.normal(size=(3, 3))
    K = np.array(K_of(N))
    assert_close(K, K.T)
    assert_close(K, sum(np.array(K_of_vectors(tuple(e), tuple(N @ e))) for e in np.eye(3)), 1e-15)


def test_where_they_are_added():
    out, column, vector = np.zeros((9, 9)), np.zeros((9, 2)), np.zeros(9)
    add_curvature(dense(9, 9), out.reshape(-1), 1, dyad(f, l))
    add_direction(column, 1, 1, f, p)
    add_force(vector, 1, f, p)
    assert_close(out[4:8, 4:8], K_of(dyad(f, l)))
    assert np.count_nonzero(out) == 16
    assert_close(column[:, 1], [0, *f, *p, 0])
    assert not column[:, 0].any()
    assert_close(vector, column[:, 1])
