"""A Cardan joint between bodies whose frames are turned: `zero` tells where its angles begin, in every coordinate set."""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kinegrad as kg
from kinegrad.errors import ModelError

MODEL = """
kinegrad: 1
ground: {markers: {O: [0.1, 0.2, 0.3], S: [1, 0.5, 0.2]}}
bodies: {b: {mass: 1.3, com: COM, inertia: INERTIA, markers: {A: PA, T: PT}}}
joints: {u: {type: cardan, between: [ground.O, b.A], axes: AXES ZERO}}
forces:
  weight: {type: gravity, acceleration: [0.3, -9, 1]}
  coil: {type: spring, between: [ground.S, b.T], stiffness: 20, damping: 0.3, natural_length: 0.4}
degrees_of_freedom: {u.angle1: {position: 0.3, velocity: 1}, u.angle2: {position: -0.4, velocity: 2}}
simulation: {t_end: 0.2, step: 0.001, formulation: {type: index1}, integrator: {type: rk4}}
"""
SETS = ("joint", "reference-point", "natural")
FIRST, SECOND = np.array([1.0, 0.2, 0.0]), np.array([-0.1, 0.5, 2.0])  # perpendicular
ASIDE = np.cross(FIRST, SECOND) + 0.7 * FIRST - 0.2 * SECOND


def text(Q=None, axes=(FIRST, SECOND), zero=None):
    """The model with the frame of its body turned by Q: vectors there have the components Q.T v."""
    Q = np.eye(3) if Q is None else Q
    J = Q.T @ np.diag([0.1, 0.2, 0.25]) @ Q
    numbers = {
        "COM": Q.T @ [0.2, 0.1, 0.0], "PA": Q.T @ [0.1, 0.0, 0.2], "PT": Q.T @ [0.3, 0.4, -0.2],
        "INERTIA": np.array([J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]),
        "AXES": np.array([axes[0], Q.T @ axes[1]]),
    }  # fmt: skip
    found = MODEL.replace("ZERO", "" if zero is None else f", zero: {np.array([zero, Q.T @ zero]).tolist()}")
    for name, values in numbers.items():
        found = found.replace(name, str(values.tolist()))
    return found


def run(coordinates, **options):
    motion = kg.simulate(kg.lower(kg.Model.from_yaml_text(text(**options)), coordinates))
    return np.hstack(
        [motion.marker("b.T").position, motion.reactions("u"), motion["u.angle1"][:, None], motion["u.angle2"][:, None]]
    )


@pytest.mark.parametrize("coordinates", SETS)
def test_frames_may_be_turned(coordinates):
    """The same motion, angles and reactions, whatever the frame of the body, and with any direction beside the cross."""
    expected = run("joint")
    size = np.abs(expected).max(axis=0)
    Q = Rotation.from_rotvec([0.9, -0.4, 1.3]).as_matrix()
    for turned in (None, Q):
        for zero in (ASIDE, np.cross(FIRST, SECOND)):
            assert (np.abs(run(coordinates, Q=turned, zero=zero) - expected) < 1e-8 * size).all()


@pytest.mark.parametrize("coordinates", SETS)
def test_axes_are_perpendicular_to_rounding(coordinates):
    expected = run(coordinates)
    found = run(coordinates, axes=(FIRST + 1e-12 * SECOND, SECOND))
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"axes": (FIRST, FIRST + SECOND)}, "at 63.* degrees; make them perpendicular, or add zero: "),
        (
            {"zero": FIRST + SECOND},
            "which do not coincide beside the plane of perpendicular axes; give a direction across",
        ),
        ({"zero": np.zeros(3)}, "which has no direction"),
    ],
)
def test_mistakes_are_told(options, sentence):
    with pytest.raises(ModelError, match=rf"joints\.u\..*{sentence}"):
        kg.joint(kg.Model.from_yaml_text(text(**options)))
