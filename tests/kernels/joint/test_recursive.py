"""Recursive dynamics against the mass matrix, and against the laws of mechanics."""

import numpy as np
import pytest
from helpers import assert_close
from trees import chain, random_tree

from kinegrad.coordinates.joint.recursive import Recursive
from kinegrad.coordinates.sets import joint
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.joint.inertia import momentum, node_moments
from kinegrad.kernels.products import ENERGY, EVALUATE
from kinegrad.kernels.status import OK, SINGULAR, ZERO_LENGTH
from kinegrad.model.model import Model

from .open_trees import MODELS, T, dense, evaluated

H = 1e-30
compiled = pytest.mark.skipif(not JIT, reason="takes too long without the compiler")
uncompiled = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    """A system and q, v, tau; tau acts on Euler parameters too, and these are not of length one."""
    system = joint(MODELS[request.param]())
    return system, *np.random.default_rng(5).normal(size=(3, system.n))


# --- the same from M and f ---


def test_accelerations_are_those_of_the_mass_matrix(case):
    system, q, v, tau = case
    recursive = Recursive(system)
    assert_close(recursive.accelerations(q, v, tau, T), dense(system, q, v, tau)[0], 1e-12)
    assert recursive.status == OK


def test_forces_are_those_of_the_mass_matrix(case):
    system, q, v, a = case
    work = evaluated(system, q, v)
    assert_close(Recursive(system).forces(q, v, a, T), work["M"] @ a + work["f"], 1e-14)


# --- laws of mechanics ---


@uncompiled
def test_momentum_of_a_floating_tree_is_conserved():
    """Along (v, a), the derivative of the momentum and of its moment vanishes, whatever acts within the tree."""
    system = joint(random_tree(11))
    q, v, tau = np.random.default_rng(2).normal(size=(3, system.n))
    tau[:7] = 0.0  # the floating joint
    a = Recursive(system).accelerations(q, v, tau)
    work = evaluated(system, q + H * 1j * v, v + H * 1j * a, system.s.astype(complex))
    work.call(ENERGY)
    bodies = [B for B in work["node"][1:] if B["m1"] > B["m0"]]
    moments = [np.array(node_moments(B, work["mass"], work["s"])) for B in bodies]
    total = sum(np.concatenate(momentum(I, B["V"][:3], B["V"][3:])) for I, B in zip(moments, bodies, strict=True))
    scale = sum(np.abs(I).max() * np.abs(B["a"]).max() for I, B in zip(moments, bodies, strict=True))
    assert np.abs(total.real).max() > 0.1
    assert_close(total.imag / H, np.zeros(6), 1e-14, scale)


@uncompiled
def test_energy_changes_by_the_power_of_tau():
    system = joint(chain(8))
    q, v, tau = np.random.default_rng(3).normal(size=(3, system.n))
    a = Recursive(system).accelerations(q, v, tau)
    work = evaluated(system, q + H * 1j * v, v + H * 1j * a, system.s.astype(complex))
    work.call(ENERGY)
    assert_close((work["energy"][0] + work["energy"][1]).imag / H, v @ tau, 1e-13)


@compiled
def test_energy_of_a_swinging_chain_of_64_links():
    """Runge-Kutta of order 4: energy drifts by 1e-7 of what is exchanged, and less by about 2⁵ with half the step."""
    system = joint(chain(64))
    recursive, work = Recursive(system), system.workspace()

    def energy(q, v):
        work["q"][:], work["v"][:] = q, v
        work.call(EVALUATE)
        work.call(ENERGY)
        return work["energy"][:2].copy()

    def drift(h):
        q, v = np.zeros((2, 64))
        start = energy(q, v)
        for _ in range(round(0.1 / h)):
            k1 = recursive.accelerations(q, v).copy()
            k2 = recursive.accelerations(q + h / 2 * v, v + h / 2 * k1).copy()
            k3 = recursive.accelerations(q + h / 2 * v + h**2 / 4 * k1, v + h / 2 * k2).copy()
            k4 = recursive.accelerations(q + h * v + h**2 / 2 * k2, v + h * k3)
            q, v = q + h * v + h**2 / 6 * (k1 + k2 + k3), v + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        end = energy(q, v)
        assert end[0] > 10.0
        return abs((end - start).sum()) / end[0]

    coarse, fine = drift(1e-3), drift(5e-4)
    assert coarse < 1e-7
    assert fine < coarse / 12


# --- long chains ---


@compiled
def test_a_chain_of_1024_links():
    """The forces that the accelerations take are those given, to the rounding of what a chain at rest takes (2.6e7 Nm)."""
    system = joint(chain(1024))
    q, v, tau = np.random.default_rng(4).normal(size=(3, 1024))
    recursive = Recursive(system)
    a = recursive.accelerations(q, v, tau).copy()
    still = recursive.forces(q, v, np.zeros(1024)).copy()
    found = recursive.forces(q, v, a)
    assert_close(found, tau, 1e-15, np.abs(still).max())


@compiled
def test_no_matrix_of_the_size_of_the_tree_is_touched():
    """So the cost is proportional to the number of links; `kinegrad bench chain` measures it."""
    n = 64
    recursive = Recursive(joint(chain(n)))
    q, v, tau = np.random.default_rng(4).normal(size=(3, n))
    expected = recursive.accelerations(q, v, tau).copy()
    large = [x for x in recursive.arrays.values() if x.dtype == float and x.size >= n * n // 2]
    assert len(large) > 3
    for array in large:
        array[:] = np.nan
    assert np.array_equal(recursive.accelerations(q, v, tau), expected)
    assert all(np.isnan(array).all() for array in large)


# --- what is told ---


def test_a_body_without_inertia_at_a_leaf_is_singular():
    system = joint(chain(3))
    s = system.s.copy()
    mass = system.set.masses[-1]
    s[[mass["m"], *range(mass["J"], mass["J"] + 6)]] = 0.0
    recursive = Recursive(system, s)
    with np.errstate(all="ignore"):
        recursive.accelerations(np.zeros(3), np.ones(3))
    assert recursive.status == SINGULAR


def test_a_spring_without_length_is_told():
    model = Model.from_yaml_text(
        """
        kinegrad: 1
        ground: {markers: {O: [0, 0, 0], S: [1, 0, 0]}}
        bodies: {b: {mass: 1, com: [0.5, 0, 0], inertia: [1, 1, 1], markers: {p: [0, 0, 0], q: [1, 0, 0]}}}
        joints: {j: {type: revolute, between: [ground.O, b.p], axis: [0, 0, 1]}}
        forces: {s: {type: spring, between: [ground.S, b.q], stiffness: 2, natural_length: 0.5}}
        """
    )
    recursive = Recursive(joint(model))
    recursive.accelerations(np.zeros(1), np.zeros(1))
    assert recursive.status == ZERO_LENGTH
    q = 0.3
    length = 2 * np.sin(q / 2)
    moment = -2.0 * (length - 0.5) * np.cos(q / 2)  # tension times arm; inertia about O: 1 + 0.25
    assert_close(recursive.accelerations(np.array([q]), np.zeros(1)), [moment / 1.25], 1e-14)
    assert recursive.status == OK


def test_arrays_of_another_length_are_refused():
    with pytest.raises(ValueError, match="3 coordinates, the arrays given have 3, 2 entries"):
        Recursive(joint(chain(3))).accelerations(np.zeros(3), np.zeros(2))
