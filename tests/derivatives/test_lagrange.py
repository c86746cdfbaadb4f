"""M a + f against Lagrange's equations: the kinetic energy from velocities of markers, differentiated by complex step."""

import numpy as np
import pytest
from helpers import assert_close
from mechanisms import random_tree

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import EVALUATE, OBSERVE

pytestmark = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")
H = 1e-30
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
