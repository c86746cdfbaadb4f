"""An adjoint serves the slots it is asked for, whichever they are, and does no work for others."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kernels.jit import JIT

MODEL = """
kinegrad: 1
parameters: {g: 9.81, m: 2, L: 0.5, k: 30, l0: 0.4, J: 0.03}
ground: {markers: {O: [0, 0, 0], W: [0.3, 0.2, 0.1]}}
bodies:
  a: {mass: 1.5, com: [L/2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {o: [0, 0, 0], p: [L, 0, 0]}}
  b: {mass: m, com: [0.2, 0.05, 0.1], inertia: [J, 0.04, 0.05], markers: {o: [0, 0, 0], p: [0.4, 0.1, 0]}}
joints:
  first: {type: revolute, between: [ground.O, a.o], axis: [0, 0, 1]}
  second: {type: revolute, between: [a.p, b.o], axis: [0, 1, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, -g, 0]}
  spring: {type: spring, between: [ground.W, b.p], stiffness: k, natural_length: l0}
degrees_of_freedom: {first.angle: {position: 0.3, velocity: 1}, second.angle: {position: -0.4}}
objectives: {height: {integral: b.p.y**2}, end: {final: b.p.x}}
simulation: {t_end: 0.1, step: 2.0e-3}
"""
NAMES = ["g", "m", "L", "k", "J"]


@pytest.fixture(scope="module")
def motion():
    if not JIT:
        pytest.skip("takes too long without the compiler")
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))


@pytest.mark.parametrize("wrt", [*([name] for name in NAMES), ["g", "J"], ["L", "k"], NAMES], ids="-".join)
def test_adjoints_by_some_parameters_are_those_of_direct_differentiation(motion, wrt):
    expected = kg.gradient(motion, wrt=NAMES, method="direct").matrix
    found = kg.gradient(motion, wrt=wrt, method="discrete-adjoint").matrix
    expected = expected[:, [NAMES.index(name) for name in wrt]]
    assert (np.abs(expected).max(axis=0) > 1e-6).all()
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12 * np.abs(expected).max())


@pytest.mark.parametrize(
    ("wrt", "carried"),
    [(["m"], []), (["k"], []), (["L"], [2]), (["g"], [0, 1, 2])],
    ids=lambda x: "-".join(map(str, x)),
)
def test_wrenches_are_summed_where_they_are_needed(wrt, carried):
    from kinegrad.kernels.joint.records import CARRIED

    system = kg.joint(kg.Model.from_yaml_text(MODEL))
    work = system.workspace(wanted=system.directions(wrt).any(axis=0))
    assert np.flatnonzero(work["want"] & CARRIED).tolist() == carried
