"""A few instants of a motion by drivers: the equations of each, and their derivatives by complex step."""

import numpy as np
import pytest
from kinematics.small_models import system
from products_by_complex_step import uncompiled
from statics.test_inverse import DRIVEN_BAR

from kinegrad.kernels.formulations.driven import between
from kinegrad.kernels.jit import entry
from kinegrad.kernels.products import BIAS, EVALUATE, TIME
from kinegrad.statics.drive import drive
from kinegrad.statics.instants import sensitivity


def test_every_instant_satisfies_its_equations():
    motion = drive(system(DRIVEN_BAR), t_end=0.1, step=0.01)
    work, m = motion.system.workspace(), motion.system.m
    for k, t in enumerate(motion.t):
        work["par"][TIME] = t
        work["q"][:], work["v"][:], work["vp"][:], work["ap"][:] = motion.q[k], motion.qd[k], motion.qd[k], 0.0
        work.call(EVALUATE)
        work.call(BIAS)
        J, a = work["J"][:m], motion.qdd[k]
        assert np.abs(work["Phi"][:m]).max() < 1e-14
        assert np.abs(J @ motion.qd[k] + work["Phi_t"][:m]).max() < 1e-13
        assert np.abs(J @ a + work["c"][:m]).max() < 1e-12
        assert np.abs(work["M"] @ a + work["f"] + J.T @ motion.lam[k]).max() < 1e-12


@uncompiled
def test_complex_steps_pass_through_all_instants():
    base = system(DRIVEN_BAR)
    found = sensitivity(drive(base, t_end=0.04, step=0.01), ["coupler", "w"])
    for k, direction in enumerate(base.directions(["coupler", "w"])):
        there = drive(base, t_end=0.04, step=0.01, s=base.s + 1e-30j * direction)
        for expected, x in ((there.q, found.q), (there.qd, found.qd), (there.qdd, found.qdd)):
            assert np.abs(expected.imag / 1e-30 - x[:, :, k]).max() < 1e-11


@entry
def bridged(t, t0, q0, v0, a0, t1, q, v, a):
    return between(t, t0, q0, v0, a0, t1, q, v, a, 0)


def test_bridges_are_of_fifth_degree():
    """A polynomial of that degree is found from its ends."""
    p = np.polynomial.Polynomial([0.3, -1.0, 2.0, 0.5, -0.7, 1.1])
    ends = [np.array([d(t)]) for t in (0.2, 0.9) for d in (p, p.deriv(), p.deriv(2))]
    found = bridged(0.4, 0.2, *ends[:3], 0.9, *ends[3:])
    assert found == pytest.approx([p(0.4), p.deriv()(0.4), p.deriv(2)(0.4)], rel=1e-13)
