"""Columns solved by sweeps and by products with the inverse: against the mass matrix, and against one another."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import uncompiled
from trees import chain, random_tree

from kinegrad.coordinates.joint.recursive import Recursive
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.joint import recursive_solves

from .open_trees import evaluated


def differentiated(model):
    """A `Recursive` after its derivatives, with the position and velocity it was asked for."""
    system = joint(model)
    q, v, tau = np.random.default_rng(3).normal(size=(3, system.n))
    recursive = Recursive(system)
    recursive.derivatives(q, v, tau)
    return recursive, system, q, v


@pytest.mark.parametrize("links", [13, recursive_solves.FEW + 5], ids=["products", "sweeps"])
def test_columns_are_solved_with_the_mass_matrix(links):
    """A chain has no normalisation, which would come on top."""
    recursive, system, q, v = differentiated(chain(links))
    M, n, arrays = evaluated(system, q, v)["M"], system.n, recursive.arrays
    for name, right in (("a_q", "Kq"), ("a_v", "Kv")):
        assert_close(arrays[name][:n, :n], np.linalg.solve(M, arrays[right][:n, :n]), 1e-12)
    assert_close(arrays["a_tau"][:n, :n], np.linalg.inv(M), 1e-12)


def test_what_lies_beyond_the_coordinates_stays_empty():
    recursive, system, _, _ = differentiated(random_tree(4, bodies=9, roots=2))
    n = system.n
    for name in ("a_q", "a_v", "a_tau", "Kq", "Kv"):
        assert not recursive.arrays[name][n:].any() and not recursive.arrays[name][:, n:].any(), name


def test_trees_on_the_ground_do_not_meet():
    """Three bodies float; what one carries moves no other."""
    recursive, system, _, _ = differentiated(random_tree(4, bodies=12, roots=3))
    ends = [B["kend"] for B in recursive.arrays["art"][1:] if B["parent"] == 0]
    first = ends[0]
    assert 7 < first < system.n
    for name in ("a_q", "a_v", "a_tau"):
        A = recursive.arrays[name]
        assert A[:first, :first].any() and not A[:first, first:].any() and not A[first:, :first].any()


@uncompiled
def test_sweeps_and_products_give_the_same(monkeypatch):
    model = random_tree(4, bodies=12, roots=3)
    by_products = differentiated(model)[0].arrays
    monkeypatch.setattr(recursive_solves, "FEW", 0)
    by_sweeps = differentiated(model)[0].arrays
    assert_close(by_sweeps["a_q"], by_products["a_q"], 1e-13)
    assert_close(by_sweeps["a_v"], by_products["a_v"], 1e-13)
