"""Objectives as a function in JAX."""

import sys

import numpy as np
import pytest

import kinegrad as kg

jax = pytest.importorskip("jax", reason="jax is not installed: pip install 'kinegrad[jax]'")

MODEL = """
kinegrad: 1
parameters: {F: 0.4, c: 0.3}
design: [F, c]
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: F - c*slide.distance.velocity}}
degrees_of_freedom: {slide.distance: {position: 0}}
objectives: {x: {final: mass.O.x}, effort: {integral: F**2}}
simulation: {t_end: 2, step: 0.1, formulation: {type: index1}, integrator: {type: rk4}}
"""


@pytest.fixture
def f():
    jax.config.update("jax_enable_x64", True)
    yield kg.bridge.jax.objectives(kg.Model.from_yaml_text(MODEL))
    jax.config.update("jax_enable_x64", False)


def loss(f):
    return lambda x: f(x)[0] ** 2 + jax.numpy.sin(f(x)[1])


def test_values_and_derivatives(f):
    """x = (F/c)(t - (1 - exp(-c t))/c), and reverse mode beside differences."""
    from jax.test_util import check_grads

    F, c, t = *f.start, 2.0
    assert f.names == ("x", "effort") and f.wrt == ("F", "c")
    assert np.array(f(f.start)) == pytest.approx([F / c * (t - (1 - np.exp(-c * t)) / c), 2 * F**2], rel=1e-6)
    check_grads(f, (f.start,), order=1, modes=["rev"], eps=1e-4)
    check_grads(loss(f), (f.start,), order=1, modes=["rev"], eps=1e-4)
    own = kg.gradient(kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))).matrix
    assert np.array(jax.jacrev(f)(f.start)) == pytest.approx(own, rel=1e-10)


def test_one_run_and_one_pass(f):
    jax.jit(jax.value_and_grad(loss(f)))(f.start)
    assert (f.runs, f.gradients) == (1, 1)


def test_jit_and_vmap(f):
    plain = jax.grad(loss(f))
    points = np.array([f.start, [0.5, 0.2], [0.1, 1.0]])
    assert np.array(jax.jit(plain)(f.start)) == pytest.approx(np.array(plain(f.start)), rel=1e-14)
    together = np.array(jax.jit(jax.vmap(plain))(points))
    assert together == pytest.approx(np.array([plain(x) for x in points]), rel=1e-14)


def test_refused(f, monkeypatch):
    with pytest.raises(kg.KinegradError, match=r"x has the shape \(3,\); \(2,\) is needed: F, c"):
        f(np.zeros(3))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.jvp(f, (f.start,), (f.start,))
    with pytest.raises(TypeError, match="forward-mode"):
        jax.hessian(lambda x: f(x)[0])(f.start)
    jax.config.update("jax_enable_x64", False)
    with pytest.raises(kg.KinegradError, match="single precision"):
        f(f.start)
    with pytest.raises(kg.KinegradError, match="There is no method 'forward'; choose from auto, direct"):
        kg.bridge.jax.objectives(kg.Model.from_yaml_text(MODEL), ["F"], method="forward")
    with pytest.raises(kg.KinegradError, match="no objectives"):
        kg.bridge.jax.objectives(
            kg.Model.from_yaml_text(MODEL.replace("objectives: {x: {final: mass.O.x}, effort: {integral: F**2}}", ""))
        )
    monkeypatch.delitem(sys.modules, "kinegrad.bridge.jax")
    monkeypatch.delattr(kg.bridge, "jax")
    monkeypatch.setitem(sys.modules, "jax", None)
    with pytest.raises(ImportError, match=r"pip install 'kinegrad\[jax\]'"):
        kg.bridge.jax  # noqa: B018
