"""Derivatives of recursive dynamics against those of the mass matrix, and against complex step."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled

from kinegrad.coordinates.joint.recursive import Recursive
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.products import LINEARISE

from .open_trees import MODELS, T, bordered, dense, evaluated, norm_rows


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    """A system and q, v, tau; tau acts on Euler parameters too, and these are not of length one."""
    system = joint(MODELS[request.param]())
    return system, *np.random.default_rng(5).normal(size=(3, system.n))


def test_derivatives_are_those_of_the_mass_matrix(case):
    """From R_z, C and M of LINEARISE and the normalisation rows."""
    system, q, v, tau = case
    a, a_q, a_v, a_tau = Recursive(system).derivatives(q, v, tau, T)
    n, rows = system.n, norm_rows(system)
    work = evaluated(system, q, v)
    K = bordered(system, work)
    work["a"][:], work["vp"][:], work["ap"][:] = a, v, a
    work["lam"][:] = 0.0
    work["lam"][rows] = dense(system, q, v, tau)[1]
    work.call(LINEARISE)
    by_q = np.linalg.solve(K, -np.vstack([work["R_z"], work["Phidd_z"][rows]]))[:n]
    by_v = np.linalg.solve(K, -np.vstack([work["C"], 2.0 * work["Phid_z"][rows]]))[:n]
    assert_close(a_q, by_q, 1e-12)
    assert_close(a_v, by_v, 1e-12)
    assert_close(a_tau, np.linalg.inv(K)[:n, :n], 1e-12)


@uncompiled
def test_derivatives_by_complex_step(case):
    system, q, v, tau = case
    found = Recursive(system).derivatives(q, v, tau, T)
    recursive = Recursive(system, s=system.s.astype(complex))
    state = [x.astype(complex) for x in (q, v, tau)]
    assert_close(found[0], recursive.accelerations(*state, T).real)
    for x, derivative in zip(state, found[1:], strict=True):
        expected = np.empty_like(derivative)
        for k in range(system.n):
            x[k] += H * 1j
            expected[:, k] = recursive.accelerations(*state, T).imag / H
            x[k] = x[k].real
        assert_close(derivative, expected, 1e-13)
