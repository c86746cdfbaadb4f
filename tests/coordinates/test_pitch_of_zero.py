"""A screw whose parameters take its pitch away becomes a hinge, in every set."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.kernels.jit import JIT

NUT = """
kinegrad: 1
parameters: {p: 0.1}
ground: {markers: {O: [0, 0, 0]}}
bodies: {nut: {mass: 1, com: [0.1, 0, 0], inertia: [0.1, 0.2, 0.3], markers: {O: [0, 0, 0], P: [0.3, 0, 0]}}}
joints: {screw: {type: screw, between: [ground.O, nut.O], axis: [0, 0, 1], pitch: p}}
forces: {weight: {type: gravity, acceleration: [0, -9.81, -1]}}
degrees_of_freedom: {screw.angle: {position: 0.3, velocity: 9}}
objectives: {height: {final: nut.P.position.z}, path: {integral: norm2(nut.P.velocity)}}
simulation: {formulation: {type: index1}, integrator: {type: rk4}, t_end: 1, step: 0.001}
"""


@pytest.mark.skipif(not JIT, reason="runs need the compiler")
@pytest.mark.parametrize("kind", SETS)
def test_a_screw_without_pitch_is_a_hinge(kind):
    """The nut turns more than once; dz/dp is the angle it has turned by, where p is zero."""
    motion = kg.simulate(kg.lower(kg.Model.from_yaml_text(NUT.replace("p: 0.1", "p: 0.0")), kind))
    hinged = NUT.replace("type: screw", "type: revolute").replace(", pitch: p", "")
    hinge = kg.simulate(kg.joint(kg.Model.from_yaml_text(hinged)))
    assert hinge.q[-1, 0] > 2.0 * np.pi
    assert_close(motion.at_end()["nut.P"].position, hinge.at_end()["nut.P"].position, 1e-8)
    gradient = kg.gradient(motion, wrt=["p"])
    assert gradient["height", "p"] == pytest.approx(hinge.q[-1, 0], rel=1e-8)


@pytest.mark.parametrize("kind", ["reference-point", "natural"])
def test_a_pitch_that_vanishes_later_is_refused(kind):
    """Rows that divide by it were chosen when the system was made."""
    system = kg.lower(kg.Model.from_yaml_text(NUT), kind)
    with pytest.raises(kg.KinegradError, match=r"joints.screw.pitch has become 0 .* lower the model again"):
        kg.simulate(system.with_parameters({"p": 0.0}))
