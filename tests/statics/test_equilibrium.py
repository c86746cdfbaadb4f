"""Equilibria: closed forms, stability, what is refused, and derivatives against complex steps of the equations."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from kinematics.small_models import FOUR_BAR, SLIDER, system
from statics.complex_equilibria import CASES, built, driven

import kinegrad as kg
from kinegrad.bench.chain import chain_model
from kinegrad.coordinates.sets import joint
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.model.model import Model
from kinegrad.statics.instants import sensitivity

ROD = """
parameters: {m: 2, L: 0.8, k: 30, a0: 0.3}
design: [m, L, k, a0]
ground: {markers: {O: [0, 0, 0]}}
bodies: {rod: {mass: m, com: [L/2, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], T: [L, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, acts_on: hinge.angle, stiffness: k, natural_value: a0}
degrees_of_freedom: {hinge.angle: {position: 0}}
objectives: {height: {final: rod.T.y}, angle: {final: hinge.angle}}
"""


def test_a_rod_on_a_torsion_spring_and_its_derivatives():
    """k (a − a0) = −m g L/2 cos a; a' from the same equation differentiated by hand."""
    found = kg.equilibrium(system(ROD))
    a, m, L, k, a0, g = found.coordinates["hinge.angle"], 2.0, 0.8, 30.0, 0.3, 9.81
    assert abs(k * (a - a0) + m * g * L / 2 * np.cos(a)) < 1e-13
    stiffness = k - m * g * L / 2 * np.sin(a)
    inertia = 0.1 + m * L * L / 4
    assert found.stable and found.free == ()
    assert found.eigenvalues == pytest.approx([stiffness / inertia], rel=1e-10)
    assert found.frequencies == pytest.approx([np.sqrt(stiffness / inertia) / (2 * np.pi)], rel=1e-10)
    turn = -np.array([g * L / 2 * np.cos(a), m * g / 2 * np.cos(a), a - a0, -k]) / stiffness
    height = L * np.cos(a) * turn + [0, np.sin(a), 0, 0]
    for method in ("direct", "adjoint"):
        gradient = found.gradient(method=method)
        assert np.abs(gradient.matrix - [height, turn]).max() < 1e-13
    assert found.markers()["rod.T"].position == pytest.approx([L * np.cos(a), L * np.sin(a), 0.0])
    assert found.reactions()["hinge"][0] == pytest.approx([0, m * g, 0, 0, 0, 0], abs=1e-12)
    numbers = found.gradient(method="adjoint", every_slot=True).by_number()["angle"]
    assert numbers["parameters.k"] == pytest.approx(turn[2], rel=1e-12)


def test_a_chain_hangs_down_wherever_it_starts(rng):
    """Five rods, from random positions: stable, straight below its hinge."""
    n = 5
    text = "ground: {markers: {O: [0, 0, 0]}}\nbodies:\n"
    for i in range(n):
        text += (
            f"  b{i}: {{mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1], markers: {{a: [0, 0, 0], b: [1, 0, 0]}}}}\n"
        )
    text += "joints:\n" + "".join(
        f"  j{i}: {{type: revolute, between: [{f'b{i - 1}.b' if i else 'ground.O'}, b{i}.a], axis: [0, 0, 1]}}\n"
        for i in range(n)
    )
    text += "forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}\ndegrees_of_freedom:\n"
    for _ in range(3):
        start = "".join(f"  j{i}.angle: {{position: {rng.uniform(-3, 3)}}}\n" for i in range(n))
        found = kg.equilibrium(system(text + start))
        assert found.stable and found.force_residual < 1e-12
        assert found.markers()[f"b{n - 1}.b"].position == pytest.approx([0.0, -n, 0.0], abs=1e-12)
    upright = "  j0.angle: {position: pi/2}\n" + "".join(f"  j{i}.angle: {{position: 0}}\n" for i in range(1, n))
    found = kg.equilibrium(system(text + upright))  # balances exactly where it starts
    assert not found.stable and found.iterations == 0 and (found.eigenvalues < 0.0).all()


def test_a_four_bar_comes_to_rest_where_a_damped_one_does():
    found = kg.equilibrium(system(FOUR_BAR))
    damped = FOUR_BAR.replace(
        "forces: {", "forces: {brake: {type: torque, acts_on: JA.angle, value: -3*JA.angle.velocity}, "
    )
    motion = kg.simulate(system(damped), t_end=20.0, step=0.01, output_step=20.0)
    assert found.stable and found.residual < 1e-14
    assert np.abs(np.sin(found.q - motion.q[-1])).max() < 1e-8
    for name, value in found.reactions().items():
        assert np.abs(value[0] - motion.reactions(name)[-1]).max() < 1e-6


FLOATING = """
kinegrad: 1
ground: {markers: {A: [0, 0, 0], F: {origin: [0, 0, 0]}, B: [1, 0.2, 0.1]}}
bodies:
  b:
    {mass: 2, com: [0.1, 0.2, 0.1], inertia: [0.1, 0.2, 0.25],
     markers: {A: [0, 0, 0], F: {origin: [0, 0, 0]}, B: [0.3, 0.1, 0]}}
joints: {free: {type: floating, between: [ground.A, b.A]}}
forces:
  grip: {type: bushing, between: [ground.F, b.F], stiffness: [900, 1100, 1000], rotational_stiffness: [4.0e+5, 5.0e+5, 6.0e+5]}
  coil: {type: spring, between: [ground.B, b.B], stiffness: 600, natural_length: 0.5}
  weight: {type: gravity, acceleration: [0, 0, -9.81]}
degrees_of_freedom: {free: {position: [0, 0, 0], rotation: [2.0e-5, -1.0e-6, 3.0e-5]}}
"""


@pytest.mark.parametrize("make", [kg.joint, kg.reference_point, kg.natural])
def test_small_euler_parameters_are_no_cheap_way_to_close(make):
    """A body that is hardly turned settles as fast as Newton's method does: closing the norm does not turn it."""
    found = kg.equilibrium(make(Model.from_yaml_text(FLOATING)))
    assert found.stable and found.iterations <= 4


def test_what_cannot_rest_is_named():
    with pytest.raises(KinegradError, match=r"'rail.distance' keeps moving .* Hold it by a spring"):
        kg.equilibrium(system(SLIDER + "forces: {w: {type: gravity, acceleration: [1, 0, 0]}}\n"), max_iterations=60)
    found = kg.equilibrium(system(SLIDER.replace("degrees", "objectives: {d: {final: rail.distance}}\ndegrees")))
    assert found.free == ("rail.distance",) and not found.stable
    with pytest.raises(KinegradError, match=r"nothing holds rail\.distance"):
        found.gradient(wrt=["x0"])
    with pytest.raises(KinegradError, match=r"'drag' has no derivative at rest"):
        law = (
            "forces: {drag: {type: force, at: block.P, value: ['-block.P.velocity.x*norm(block.P.velocity)', 0, 0]}}\n"
        )
        kg.equilibrium(system(SLIDER + law))
    with pytest.raises(AssemblyError, match="cannot be assembled at the start"):
        kg.equilibrium(system(FOUR_BAR, [("coupler: 0.9", "coupler: 9")]))
    with pytest.raises(KinegradError, match="'sideways' is no method of an equilibrium"):
        kg.equilibrium(system(ROD)).gradient(method="sideways")


@pytest.fixture(scope="module")
def by_complex_step():
    """Derivatives of the equations by complex step, from a process without the compiler."""
    script = Path(__file__).with_name("complex_equilibria.py")
    environment = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


@pytest.mark.parametrize("case", CASES)
def test_derivatives_are_exact(case, by_complex_step):
    """Springs, loops, spherical and floating joints, expressions; redundant rows too."""
    found = kg.equilibrium(built(case))
    direct, adjoint = found.gradient(), found.gradient(method="adjoint")
    expected = np.array(by_complex_step[case])
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    assert (np.abs(expected).max(axis=1) > 1e-4).all()
    assert (np.abs(direct.matrix - expected) / scale).max() < 1e-8
    assert (np.abs(adjoint.matrix - expected) / scale).max() < 1e-8


def test_derivatives_of_driven_motions_and_of_their_forces_are_exact(by_complex_step):
    """Lengths, the course of the driver, a spring and a mass; at each instant."""
    system, wrt = driven()
    found = kg.inverse(system, t_end=0.3, step=0.1).sensitivity(wrt)
    ours = np.concatenate([found.q, found.qd, found.qdd, found.forces["turn"][:, None]], axis=1)
    expected = np.array(by_complex_step["driven"])
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=2, keepdims=True))
    assert (np.abs(ours - expected) / np.maximum(scale, 1e-12)).max() < 1e-8
    assert np.abs(expected[:, -1]).max(axis=0).min() > 1e-3  # every parameter changes the torque
    with pytest.raises(KinegradError, match="Only a motion by drivers"):
        sensitivity(kg.simulate(built("five_bar"), t_end=0.002), ["L_s1"])


def test_the_model_file_of_the_five_bar_rests(five_bar_path=Path(__file__).parents[2] / "examples/five_bar/model.yaml"):
    found = kg.equilibrium(joint(Model.from_yaml(five_bar_path)))
    assert found.stable and found.iterations < 10
    assert found.objectives["psi1"] == pytest.approx(0.08775868677864929, rel=1e-10)


def test_a_long_chain_far_from_rest():
    """Links whose axes alternate, stretched out sideways: most motions have no stiffness there, or a negative one."""
    found = kg.equilibrium(kg.joint(chain_model(16)))
    assert found.stable and found.iterations < 40 and found.force_residual < 1e-12
