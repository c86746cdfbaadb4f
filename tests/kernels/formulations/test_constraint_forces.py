"""Objectives with forces of constraints: the reaction of a pendulum in closed form, and derivatives beside differences."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import LINEARISE, OBSERVE
from kinegrad.kinematics.start import start

pytestmark = pytest.mark.skipif(not JIT, reason="the workspace beside is for compiled runs")
MASS, LENGTH, GRAVITY, ANGLE, SPIN = 1.7, 0.6, 9.81, 0.4, 2.5
MODEL = f"""
kinegrad: 1
parameters: {{m: {MASS}, L: {LENGTH}}}
ground: {{markers: {{O: [0, 0, 0]}}}}
bodies:
  rod: {{mass: m, com: [L/2, 0, 0], inertia: [0.01, m*L**2/12, m*L**2/12], markers: {{O: [0, 0, 0], tip: [L, 0, 0]}}}}
joints: {{hinge: {{type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}}}
forces: {{gravity: {{type: gravity, acceleration: [0, -{GRAVITY}, 0]}}}}
degrees_of_freedom: {{hinge.angle: {{position: {ANGLE}, velocity: {SPIN}}}}}
objectives:
  across: {{final: hinge.reaction.force.x}}
  up: {{final: hinge.reaction.force.y}}
  height: {{final: rod.tip.y}}
"""


@pytest.fixture
def work():
    system = kg.reference_point(kg.Model.from_yaml_text(MODEL))
    work = system.workspace(ds=system.directions(["m", "L"]))
    start(system, work)
    work.call(OBSERVE)
    return work


def reaction():
    """What the ground does to the rod: m (a - gravity), the centre of mass moving on a circle."""
    turned = -1.5 * GRAVITY / LENGTH * np.cos(ANGLE)
    along, across = np.array([np.cos(ANGLE), np.sin(ANGLE)]), np.array([-np.sin(ANGLE), np.cos(ANGLE)])
    return MASS * (0.5 * LENGTH * (turned * across - SPIN**2 * along) + np.array([0.0, GRAVITY]))


def test_reaction_of_a_pendulum(work):
    assert_close(np.abs(work["g"][:2]), np.abs(reaction()), 1e-12)
    assert work["g"][2] == pytest.approx(LENGTH * np.sin(ANGLE), rel=1e-14)


def test_derivatives_by_state(work):
    """By all coordinates and velocities, of the constraints or not, beside central differences."""
    work.call(LINEARISE)
    found = {"q": work["g_q"][:2].copy(), "vp": work["g_v"][:2].copy()}
    assert not work["g_a"][:2].any()
    h = 1e-6
    for name, derivatives in found.items():
        for k in range(work.system.n):
            values, kept = [], work[name][k]
            for move in (h, -h):
                work[name][k] = kept + move
                work.call(OBSERVE)
                values.append(work["g"][:2].copy())
            work[name][k] = kept
            assert_close(derivatives[:, k], (values[0] - values[1]) / (2.0 * h), 1e-6)
