"""Kinks that a motion crosses are told, in every coordinate set; what is zero to rounding is on neither side of one."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.kinks import crossings

ARM = """
kinegrad: 1
parameters: {L: LENGTH}
tables: {stiff: {x: [-4, 0, 4], y: [-1, 0, 8], interpolation: linear}}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm:
    mass: 1
    inertia: [0.01*L**2, 0.025*L**2, 0.025*L**2]
    markers: {A: [-L, 0, 0], B: [L, 0, 0]}
    pose: {origin: [LENGTH, 0, 0], x_axis: [1, 0, 0], z_axis: [0, 1, 0]}
joints:
  hinge: {type: revolute, between: [ground.O, arm.A], axis: [[0, 1, 0], [0, 0, 1]], zero: [[1, 0, 0], [1, 0, 0]]}
forces:
  gravity: {type: gravity, acceleration: GRAVITY}
  torsion: {type: torque, acts_on: hinge.angle, value: "VALUE"}
degrees_of_freedom: {hinge.angle: {position: START, velocity: 0}}
simulation: {t_end: 0.1}
"""
SETS = ("joint", "reference-point", "natural")
DOWN, ALONG = "[0, 0, -9.81*L/2]", "[9.81*L, 0, 0]"


def built(value, start=0.0, gravity=DOWN, length=2.0):
    text = ARM.replace("VALUE", value).replace("START", str(start)).replace("GRAVITY", gravity)
    return kg.Model.from_yaml_text(text.replace("LENGTH", str(length)))


def run(kind, *which, **options):
    return kg.simulate(kg.lower(built(*which, **options), kind))


VALUES = {
    "abs": "-10*L**2*abs(hinge.angle)*hinge.angle",
    "max": "-10*L**2*max(hinge.angle, 0)",
    "min of what is large and alike": "-L**2*(min(1000 + hinge.angle, 1000) - 1000)",
    "a length": "-L*abs(arm.B.z)",
    "a velocity": "-0.01*L**2*abs(hinge.angle.velocity)*hinge.angle.velocity",
    "a table": "-L**2*table(hinge.angle, stiff)",
}


@pytest.mark.filterwarnings("ignore::kinegrad.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
@pytest.mark.parametrize("length", [2.0, 2e-6])
def test_a_motion_that_begins_at_a_kink_and_leaves_it_crosses_none(kind, value, length):
    assert crossings(run(kind, value, length=length)) == {}


@pytest.mark.filterwarnings("ignore::kinegrad.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_what_rests_at_a_kink_crosses_none(kind, value):
    """The angle is noise of some 1e-17, or zero, all the time."""
    motion = run(kind, value, gravity=ALONG)
    assert np.abs(motion.marker("arm.B").position[:, 2]).max() < 1e-12 and crossings(motion) == {}


@pytest.mark.filterwarnings("ignore::kinegrad.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("value", [value for name, value in VALUES.items() if name != "a velocity"])
@pytest.mark.parametrize("length", [2.0, 2e-6])
def test_a_motion_through_a_kink_crosses_it(kind, value, length):
    """Also where it begins so near to it that nothing but the digits tell."""
    for start, times in ((-0.005, (0.04, 0.06)), (-1e-9, (1e-12, 1e-3))):
        found = crossings(run(kind, value, start=start, length=length))
        assert times[0] < found["torsion"] <= times[1]


@pytest.mark.filterwarnings("ignore::kinegrad.errors.AccuracyWarning")
@pytest.mark.parametrize("kind", SETS)
def test_a_rotation_near_half_a_turn_jumps_beyond_it_only(kind):
    """Components of its axis are zero to rounding, of either sign."""
    for start, told in ((3.08, []), (-3.13, ["size"])):
        model = built("0", start=start)
        model.joints["hinge"] = {"type": "revolute", "between": ["ground.O", "arm.A"], "axis": [0, 1, 0]}
        model.objectives["size"] = {"integral": "norm(arm.rotation)"}
        assert list(crossings(kg.simulate(kg.lower(model, kind)))) == told
