"""Own coordinates beside the sweeps: folded, solved for the tree and unfolded they are the solution of all equations."""

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.kernels.jit import JIT, entry
from kinegrad.kernels.joint.own import along_row, fold, unfold

TREE, HEAVY, BOUND, WIDTH = 4, 2, 3, 3


@entry
def folded(M, J, heavy, bound, Y, width):
    fold(M, J, heavy, bound, Y, width)
    return 0


@entry
def unfolded(J, heavy, bound, Y, width):
    unfold(J, heavy, bound, Y, width)
    return along_row(J, bound[0, 0], bound[0, 1], Y.shape[0] - heavy.shape[0] - bound.shape[0], Y, 0)


@pytest.mark.parametrize("number", ["f8"] if JIT else ["f8", "c16"])
def test_solution(rng, number):
    """[M Jᵀ; J 0] [x; λ] = [y; 0] with the rows that bind; derivatives by complex step too."""
    n = TREE + HEAVY + BOUND
    M = np.zeros((n, n))
    A = rng.normal(size=(TREE, TREE))
    M[:TREE, :TREE] = A @ A.T + np.eye(TREE)
    heavy = np.arange(TREE, TREE + HEAVY)
    M[heavy, heavy] = rng.uniform(1.0, 2.0, HEAVY)
    own = np.arange(TREE + HEAVY, n)
    bound = np.stack([np.array([2, 0, 3]), own], axis=1)  # rows in any order among others
    J = np.zeros((5, n))
    J[:, :TREE] = rng.normal(size=(5, TREE))
    J[bound[:, 0], own] = rng.uniform(1.0, 2.0, BOUND)
    Y = rng.normal(size=(n, 4))
    M, J, Y = (x.astype(number) for x in (M, J, Y))
    if number == "c16":
        M[heavy, heavy] += 1e-30j * rng.normal(size=HEAVY)
        J[:, :TREE] += 1e-30j * rng.normal(size=(5, TREE))
        J[bound[:, 0], own] += 1e-30j * rng.normal(size=BOUND)
        Y += 1e-30j * rng.normal(size=Y.shape)
    rows = J[bound[:, 0]]
    K = np.block([[M, rows.T], [rows, np.zeros((BOUND, BOUND))]])
    expected = np.linalg.solve(K, np.concatenate([Y, np.zeros((BOUND, 4))]))[:n, :WIDTH]
    X = Y.copy()
    folded(M, J, heavy, bound, X, WIDTH)
    X[:TREE] = np.linalg.solve(M[:TREE, :TREE], X[:TREE])
    first = unfolded(J, heavy, bound, X, WIDTH)
    for part, scale in (("real", 1.0), ("imag", 1e-30))[: 1 + (number == "c16")]:
        assert_close(getattr(X[:, :WIDTH], part) / scale, getattr(expected, part) / scale)
        assert_close(getattr(first, part) / scale, -getattr(expected[own[0], 0], part) / scale)
