"""Gradients where forces act on a coordinate without inertia that a row binds to markers: dampers are in the step, not in M."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kinematics import start_derivatives

NUT = """
kinegrad: 1
parameters: {m: 1.3, L: 0.6, c: 40, k: 300}
design: [m, L, c, k]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.04, 0.04], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {thread: {type: screw, between: [ground.O, rod.O], axis: [0, 0, 1], pitch: 0.03}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  drag: {type: torque, acts_on: thread.angle, value: "-c*thread.angle.velocity - k*thread.angle"}
degrees_of_freedom: {thread.angle: {position: 0.3, velocity: 1}}
objectives: {shake: {integral: norm2(rod.tip.acceleration)}, last: {final: rod.tip.y}}
"""


@pytest.mark.parametrize(("formulation", "integrator"), [("ali3p", "newmark"), ("index1", "hht")])
@pytest.mark.parametrize("coordinates", ["reference-point", "natural"])
def test_a_damper_on_the_angle_of_a_screw(coordinates, formulation, integrator):
    system = kg.lower(kg.Model.from_yaml_text(NUT), coordinates)
    motion = kg.simulate(system, formulation, integrator, t_end=0.02, step=1e-3)
    direct, adjoint = (kg.gradient(motion, method=method) for method in ("direct", "discrete-adjoint"))
    scale = np.abs(direct.matrix).max(axis=1, keepdims=True)
    assert (np.abs(direct.matrix - adjoint.matrix) / scale).max() < 1e-11
    assert direct.check().good


def test_equations_that_are_not_solved_are_told(monkeypatch):
    """With weights that forget the damper, derivatives are wrong: that must not pass in silence."""
    ready = start_derivatives.StartDerivatives.__post_init__

    def forgetful(self):
        ready(self)
        self.work["ease"][:] = 1e-8

    monkeypatch.setattr(start_derivatives.StartDerivatives, "__post_init__", forgetful)
    system = kg.lower(kg.Model.from_yaml_text(NUT), "reference-point")
    motion = kg.simulate(system, "index1", "newmark", t_end=0.01, step=1e-3)
    with pytest.warns(kg.DerivativeWarning, match="not solved to rounding"):
        kg.gradient(motion, method="direct")
