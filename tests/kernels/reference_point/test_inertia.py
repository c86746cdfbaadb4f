"""Inertia of bodies about their centres: energies of points, momentum of a turning body, derivatives by complex step."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import PRODUCTS, evaluated, name_of, random_case, uncompiled

from kinegrad.coordinates.sets import reference_point
from kinegrad.kernels.products import ENERGY, EVALUATE
from kinegrad.kernels.reference_point.inertia import moments_at
from kinegrad.model.model import Model
from kinegrad.rotations import A_of, G_of

FREE = """
kinegrad: 1
parameters: {m: 1.7, J: 0.4, e: 0.3, g: 9.81}
bodies:
  top: {mass: m, com: [0.1, e, -0.2], inertia: [J, 0.5, e + 0.2, 0.02, -0.03, 0.1*J], markers: {p: [0.3, e, 0.1]}}
  cloud: {mass: 0.5, com: [0, 0.1, e], inertia: [0.1, J, 0.3], markers: {p: [e, 0, 0.1]},
          point_masses: {one: {mass: m, at: [0.4, e, 0]}, two: {mass: 0.2*m, at: [0, 0, -e]}}}
forces: {weight: {type: gravity, acceleration: [0.2, -0.4, -g]}}
objectives: {o: {final: top.p.x}}
"""


@pytest.fixture(scope="module")
def case():
    return random_case(Model.from_yaml_text(FREE), lower=reference_point)


@uncompiled
@pytest.mark.parametrize("check", PRODUCTS, ids=name_of)
def test_products(case, check):
    check(case)


@uncompiled
def test_moments():
    s = np.array([0.0, 0.4, 0.5, 0.6, 0.01, -0.02, 0.03])
    S = np.array(moments_at(s, 1))
    J = np.array([[0.4, 0.01, -0.02], [0.01, 0.5, 0.03], [-0.02, 0.03, 0.6]])
    assert_close(np.trace(S) * np.eye(3) - S, J, 1e-15)


def at_unit_parameters(case):
    """A workspace after EVALUATE with p of unit length, and v along it."""
    work = case.system.workspace()
    work["q"][:], work["v"][:] = case.state["q"], case.state["v"]
    for k in (3, 10):
        p, pd = work["q"][k : k + 4], work["v"][k : k + 4]
        p /= np.linalg.norm(p)
        pd -= (p @ pd) * p
    work.call(EVALUATE)
    return work


def test_the_mass_matrix_of_unit_parameters_is_that_of_angular_velocities(case):
    """½ Gᵀ turns angular velocities in the body into rates of p: ¼ G M_pp Gᵀ = J; along p it is 4 tr S."""
    work = at_unit_parameters(case)
    p, M = work["q"][3:7], work["M"][3:7, 3:7]
    G = G_of(p)
    J = np.array([[0.4, 0.02, -0.03], [0.02, 0.5, 0.04], [-0.03, 0.04, 0.5]])
    assert_close(0.25 * G @ M @ G.T, J, 1e-14)
    assert_close(p @ M @ p, 2.0 * np.trace(J), 1e-14)
    assert_close(work["M"][:3, :3], 1.7 * np.eye(3))
    assert not work["M"][:7, 7:].any() and not work["M"][:3, 3:7].any()


def test_the_energy_of_point_masses_is_in_that_of_their_body(case):
    """T of the cloud is that of its own mass and inertia, and of two points."""
    work = at_unit_parameters(case)
    work.call(ENERGY)
    q, v, system = work["q"], work["v"], case.system
    c = work["s"][system.set.bodies_[2]["com"] :][:3]
    parts = [(0.5, (0, 0.1, 0.3)), (1.7, (0.4, 0.3, 0)), (0.34, (0, 0, -0.3))]
    assert_close(c, sum(m * np.array(x) for m, x in parts) / 2.54, 1e-14)
    omega = 2.0 * G_of(q[10:14]) @ v[10:14]
    kinetic = 0.5 * omega @ np.diag([0.1, 0.4, 0.3]) @ omega
    for m, x in parts:
        xd = v[7:10] + A_of(q[10:14]) @ np.cross(omega, x - c)
        kinetic += 0.5 * m * xd @ xd
    omega = 2.0 * G_of(q[3:7]) @ v[3:7]
    J = np.array([[0.4, 0.02, -0.03], [0.02, 0.5, 0.04], [-0.03, 0.04, 0.5]])
    kinetic += 0.5 * omega @ J @ omega + 0.5 * 1.7 * v[:3] @ v[:3]
    assert_close(work["energy"][0], kinetic, 1e-13)


@uncompiled
def test_forces_follow_from_the_mass_matrix(case):
    """Lagrange's equations: f_i of a motion without weight is Ṁ v less half the derivative of v·M v."""
    q, v, h = case.state["q"], case.state["v"], 1e-30j
    still = evaluated(case, v=0.0 * v)["f"].real
    later = evaluated(case, q=q + h * v)["M"].imag / 1e-30 @ v
    half = [0.5 * v @ (evaluated(case, q=q + h * e)["M"].imag / 1e-30) @ v for e in np.eye(len(q))]
    assert_close(evaluated(case)["f"].real - still, later - half, 1e-12)
