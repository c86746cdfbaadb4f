"""Links without mass and inertia inside a tree: legal where all that moves has inertia, refused by name where it has not."""

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model

HEAD = """
kinegrad: 1
parameters: {L: 0.4, m: 1.3, m0: 0}
design: [L, m, m0]
ground: {markers: {O: [0.1, 0.2, -0.3], S: [1, 1, 0.5]}}
bodies:
  arm: {mass: m, com: [0.1, L, -0.1], inertia: [0.3, 0.4, 0.5, 0.02, -0.03, 0.05], markers: {A: [0, 0.1, 0], B: [0, 0.6, 0.1]}}
  LINKS
joints:
  JOINTS
  tip: {type: revolute, between: [arm.B, tool.C], axis: [1, 0, 0.3]}
forces:
  weight: {type: gravity, acceleration: [0.3, -9.81, 1]}
  coil: {type: spring, between: [ground.S, tool.D], stiffness: 40, damping: 0.7, natural_length: 0.3}
objectives: {travel: {integral: norm2(tool.D.velocity)}, place: {final: arm.B.x + tool.D.acceleration.y}}
degrees_of_freedom:
  tip.angle: {position: 0.3, velocity: -1}
"""
TOOL = "tool: {mass: 0.6, com: [0.1, 0, 0.2], inertia: [0.05, 0.04, 0.03], markers: {C: [0, 0, 0], D: [0.3, 0, 0.1]}}"
CARDAN = (
    HEAD.replace("LINKS", TOOL).replace(
        "JOINTS", "wrist: {type: cardan, between: [ground.O, arm.A], axes: [[0, 0, 1], [1, 0, 0]]}"
    )
    + """  wrist.angle1: {position: 0.4, velocity: 1.2}
  wrist.angle2: {position: -0.2, velocity: 0.7}
"""
)
# the same with a cross that is a body
CROSS = HEAD.replace("LINKS", TOOL + "\n  pin: {mass: m0, markers: {C: [0, 0, 0]}}").replace(
    "JOINTS", """one: {type: revolute, between: [ground.O, pin.C], axis: [0, 0, 1]}
  two: {type: revolute, between: [pin.C, arm.A], axis: [1, 0, 0]}"""
) + """  one.angle: {position: 0.4, velocity: 1.2}
  two.angle: {position: -0.2, velocity: 0.7}
"""  # fmt: skip
# a robot: massless links with a length, in the tree and at a fixed flange
ROBOT = CROSS.replace(
    "m0, markers: {C: [0, 0, 0]}}\n", "m0, com: [0.1, 0.05, 0], markers: {C: [0, 0, 0], E: [0.2, 0.1, 0]}}\n"
).replace("[pin.C, arm.A]", "[pin.E, arm.A]")
FORMULATIONS = [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", "rk4"), ("penalty", "rk4"), ("recursive", "rk4")]


def system(text, point="origin"):
    return joint(Model.from_yaml_text(text), body_point=point)


@pytest.mark.parametrize(("formulation", "integrator"), FORMULATIONS)
def test_a_cross_without_mass_is_a_cardan_joint(formulation, integrator):
    ends = []
    for text in (CARDAN, CROSS):
        motion = kg.simulate(system(text), formulation, integrator, t_end=0.1, step=1e-3)
        reaction = motion.reactions("wrist" if text == CARDAN else "two")
        ends.append([*motion.objectives.values(), *motion.marker("tool.D").position[-1], *reaction[-1]])
    assert_close(ends[1], ends[0], 1e-9 if formulation == "ali3p" else 1e-11)  # where Newton's method ends


@pytest.mark.parametrize("point", ["origin", "com"])
def test_both_points_of_the_bodies(point):
    ends = [kg.simulate(system(text, point), t_end=0.05, step=1e-3).q[-1] for text in (CARDAN, CROSS)]
    assert_close(np.sort(ends[1]), np.sort(ends[0]), 1e-11)


@pytest.mark.parametrize("formulation", ["matrix-r", "recursive"])
def test_derivatives_through_massless_links(formulation):
    """By lengths and masses as of the Cardan joint, and by the mass of the cross itself as differences tell."""
    found = []
    for text in (CARDAN, CROSS):
        motion = kg.simulate(system(text), formulation, "rk4", t_end=0.02, step=1e-3)
        direct, adjoint = (kg.gradient(motion, method=m).matrix for m in ("direct", "discrete-adjoint"))
        assert_close(adjoint, direct, 1e-8)
        found.append(direct)
    assert_close(found[1][:, :2], found[0][:, :2], 1e-8)
    base = system(ROBOT)
    values = [
        [*kg.simulate(base.with_parameters({"m0": m0}), formulation, "rk4", t_end=0.02, step=1e-3).objectives.values()]
        for m0 in (0.0, 1e-4, 2e-4)
    ]
    slope = (4 * np.array(values[1]) - 3 * np.array(values[0]) - values[2]) / 2e-4
    motion = kg.simulate(base, formulation, "rk4", t_end=0.02, step=1e-3)
    assert_close(kg.gradient(motion, wrt=["m0"]).matrix[:, 0], slope, 1e-6)


def test_a_massless_link_transmits_what_it_gets():
    motion = kg.simulate(system(ROBOT), "index1", "rk4", t_end=0.02, step=1e-3)
    found = motion.reactions()
    F, M = found.force("one"), found.moment("one")
    arm = motion.marker("pin.E").position - motion.marker("pin.C").position
    assert np.abs(found.force("two") - F).max() < 1e-10
    assert np.abs(found.moment("two") + np.cross(arm, found.force("two")) - M).max() < 1e-10
    assert np.isfinite(kg.equilibrium(system(ROBOT.replace("damping: 0.7", "damping: 0"))).force_residual)


def test_what_moves_without_inertia_is_refused():
    """A massless link at the end of the tree, free to turn."""
    loose = CROSS.replace("mass: 0.6, com: [0.1, 0, 0.2], inertia: [0.05, 0.04, 0.03]", "mass: 0")
    with pytest.raises(KinegradError, match=r"'tip\.angle' moves without inertia"):
        kg.simulate(system(loose), t_end=0.01, step=1e-3)
    with pytest.raises(KinegradError, match=r"'tip\.angle'"):
        kg.simulate(system(loose), "recursive", "rk4", t_end=0.01, step=1e-3)
    held = loose.replace(
        "type: revolute, between: [arm.B, tool.C], axis: [1, 0, 0.3]", "type: fixed, between: [arm.B, tool.C]"
    )
    held = held.replace("  tip.angle: {position: 0.3, velocity: -1}\n", "")
    for formulation, integrator in FORMULATIONS:
        assert kg.simulate(system(held), formulation, integrator, t_end=0.01, step=1e-3).status == 0
