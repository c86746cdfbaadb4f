"""Inertia: M a + f against Lagrange's equations by complex step of the energies, and its derivatives for each type of node."""

import numpy as np
import pytest
from helpers import assert_close
from mechanisms import random_tree
from products_by_complex_step import (
    Case,
    H,
    by_coordinates,
    by_velocities_and_accelerations,
    energies,
    evaluated,
    forces_are_of_the_potential,
    name_of,
    random_case,
    uncompiled,
)
from small_mechanisms import NODE_TYPES, two_bodies_with

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.joint.inertia import body_forces, moments_of, moving_bodies, shifted_moments
from kinegrad.kernels.joint.motion import positions, velocities
from kinegrad.kernels.products import EVALUATE, OBSERVE

pytestmark = uncompiled
GRAVITY = np.array([0.3, -9.81, 1.0])


class Energies:
    """Kinetic and potential energy of a tree from its markers: centres of mass, and axes of frames for the rotation.

    A body has the kinetic energy ½ m |ċ|² + ½ Σ P_ij ė_i·ė_j, P = ½ (tr J) 1 - J its second moments.
    """

    def __init__(self, model):
        self.model = model
        self.system = joint(model)
        self.work = self.system.workspace(s=self.system.s.astype(complex), every_marker=True)

    def __call__(self, q, v):
        work = self.work
        work["q"][:], work["v"][:], work["vp"][:] = q, v, v
        work.call(EVALUATE)
        work.call(OBSERVE)
        kinetic = potential = 0.0
        for name, body in self.model.bodies.items():
            xx, yy, zz, xy, xz, yz = body.inertia
            J = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            P = 0.5 * np.trace(J) * np.eye(3) - J
            e = np.array([self.marker(f"{name}.e{k}", "xd") for k in range(3)])
            kinetic += 0.5 * np.sum(P * (e @ e.T))
            points = [(body.mass, f"{name}.c")] + [(p.mass, f"{name}.{k}") for k, p in body.point_masses.items()]
            for m, point in points:
                xd = self.marker(point, "xd")
                kinetic += 0.5 * m * (xd @ xd)
                potential -= m * (GRAVITY @ self.marker(point, "x"))
        return kinetic, potential

    def marker(self, name, what):
        return self.work["mk"][self.system.markers[name]][what].copy()


@pytest.mark.parametrize("seed", [0, 1])
def test_equations_of_motion_are_those_of_lagrange(seed):
    model = random_tree(seed)
    energies = Energies(model)
    n = energies.system.n
    q, v, a = np.random.default_rng(seed).normal(size=(3, n))
    one = np.eye(n)

    # along the motion, of which the imaginary parts are rates
    qt, vt = q + 1j * H * v, v + 1j * H * a
    kinetic, potential = energies(qt, vt)
    power = (kinetic.imag + potential.imag) / H
    expected = np.zeros(n)
    for k in range(n):
        momentum = energies(qt, vt + one[k])[0] - kinetic - energies(qt, one[k])[0]  # ∂T/∂v_k of a quadratic form
        changed = energies(q + 1j * H * one[k], v)
        expected[k] = (momentum.imag - changed[0].imag + changed[1].imag) / H
    for body_point in ("com", "origin"):
        work = joint(model, body_point=body_point).workspace()
        work["q"][:], work["v"][:] = q, v
        work.call(EVALUATE)
        force = work["M"] @ a + work["f"]
        assert_close(force, expected, 1e-12)
        assert v @ force == pytest.approx(power, rel=1e-12)


WEIGHT = "forces: {weight: {type: gravity, acceleration: [0.3, -9.81, 1]}}"


@pytest.fixture(params=NODE_TYPES, scope="module")
def case(request) -> Case:
    return random_case(two_bodies_with(request.param, WEIGHT), body_point="origin")


def test_mass_matrix_is_the_hessian_of_the_kinetic_energy(case):
    one = np.eye(case.system.n)
    for row, e in zip(evaluated(case)["M"].real, one, strict=True):
        assert_close([energies(case, v=e + H * 1j * d)[0].imag / H for d in one], row)


def test_forces_are_those_of_lagrange(case):
    """f = (M v)˙ - T_q + V_q at zero accelerations."""
    q, v = case.state["q"], case.state["v"]
    expected = (evaluated(case, q=q + H * 1j * v)["M"] @ v).imag / H
    for k, e in enumerate(np.eye(case.system.n)):
        kinetic, potential, _ = energies(case, q=q + H * 1j * e)
        expected[k] += (potential - kinetic).imag / H
    assert_close(evaluated(case)["f"].real, expected)


@pytest.mark.parametrize(
    "check", (by_coordinates, by_velocities_and_accelerations, forces_are_of_the_potential), ids=name_of
)
def test_products(case, check):
    check(case)


def test_one_sweep_is_three(case):
    """`moving_bodies` against `positions`, `velocities` and `body_forces`."""
    q, v, a = (case.state[name] for name in "qva")
    tables = []
    for together in (True, False):
        work = case.system.workspace()
        node, coord, mass, s = (work[name] for name in ("node", "coord", "mass", "s"))
        if together:
            moving_bodies(node, coord, mass, s, q, v, a)
        else:
            positions(node, coord, s, q)
            velocities(node, coord, q, v, a)
            body_forces(node, mass, s)
        tables.append(node)
    for name in ("A", "r", "V", "a", "I", "F"):
        assert_close(tables[0][name], tables[1][name], 1e-15)


def test_shifted_moments(rng):
    """Of a body about two points."""
    c, d = rng.normal(size=(2, 3))
    J = rng.normal(size=(3, 3))
    A = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    about = [moments_of(1.7, tuple(x), A.tolist(), (J + J.T).tolist()) for x in (c, c + d)]
    assert_close(shifted_moments(about[0], tuple(d)), about[1], 1e-14)
