"""The machines of the gallery beside what is known of them in closed form."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
G = 9.81


def example(name):
    return kg.Model.from_yaml(EXAMPLES / name / "model.yaml")


def test_arms_and_tie_rod_that_are_parallel_and_equal_turn_no_upright():
    """Camber and toe follow the travel as drawn, and vanish where the three members are equal vectors."""
    model = example("quarter_car").with_values(steer=0.0)
    drawn = kg.simulate(kg.joint(model), t_end=0.3)
    assert np.ptp(drawn["camber"]) > 0.02 and np.ptp(drawn["toe"]) > 0.01
    assert drawn["contact.force.z"][0] == pytest.approx(361 * G, rel=1e-3)  # all that it carries
    assert drawn["contact.force.z"].min() < 0.1  # off the ground
    equal = model.with_values(upper_y=0.67 - 0.4, upper_z=0.46 + 0.02, tie_y=0.68 - 0.4, tie_z=0.27 + 0.02)
    found = kg.simulate(kg.joint(equal), t_end=0.3)
    assert np.ptp(found["lower_pivot.angle"]) > 0.1
    assert np.abs(found["camber"]).max() < 1e-11 and np.abs(found["toe"]).max() < 1e-11


def test_the_rack_steers():
    found = kg.simulate(kg.joint(example("quarter_car")), t_end=1.0)
    assert found["rack_guide.distance"][-1] == pytest.approx(0.005, abs=1e-5)
    arm = 0.13 - 0.01 * (0.27 - 0.2) / 0.26  # from the axis through both balls to the tie rod, along x
    assert found["toe"][-1] == pytest.approx(0.005 / arm, rel=0.1)  # first order; the travel adds what it adds


def test_the_shaper_returns_quickly():
    """Between the ends of the stroke the crank turns by pi + 2 b and pi - 2 b, and the lever swings by 2 b, sin(b) = r/d."""
    found = kg.simulate(kg.joint(example("crank_shaper")))
    ram, crank = found["guide.distance.velocity"], found["crank_pivot.angle"]
    k = np.flatnonzero(ram[:-1] * ram[1:] < 0)
    ends = crank[k] - ram[k] * (crank[k + 1] - crank[k]) / (ram[k + 1] - ram[k])
    b = np.arcsin(0.1 / 0.25)
    assert np.diff(ends) == pytest.approx([np.pi - 2 * b, np.pi + 2 * b], abs=2e-5)  # straight lines between steps
    assert np.ptp(found["swing"]) == pytest.approx(2 * b, abs=1e-5)
    tool = found["tool.force"]  # cuts on the way forward only
    assert tool[ram < -0.3] == pytest.approx(400, rel=1e-6) and np.abs(tool[ram > 0.3]).max() < 1e-3


def test_the_planetary_gear_runs_up_as_one_inertia():
    """Exponentially, with the ratio 1 + ring/sun; tooth forces follow from the torques on sun, carrier and rack."""
    found = kg.simulate(kg.joint(example("planetary_gear")))
    sun, carrier, rack = (found[f"{x}.velocity"] for x in ("sun_axle.angle", "main.angle", "bed.distance"))
    ratio = 1 + 52 / 20
    assert sun == pytest.approx(ratio * carrier, abs=1e-10)
    assert rack == pytest.approx(0.05 * carrier, abs=1e-12)
    turning = 0.004 + 3 * (0.5 * 0.072**2 + 2.6e-4 * (1 - 52 / 16) ** 2) + 3 * 0.05**2
    inertia = 6.4e-4 + turning / ratio**2
    last = 120 * (1 - 60 * 0.05 / ratio / 2)
    lag = inertia * 120 / 2
    assert sun == pytest.approx(last * (1 - np.exp(-found.t / lag)), abs=1e-5 * last)
    speeding = last / lag * np.exp(-found.t / lag)
    torque = 2 * (1 - sun / 120)
    assert found["sun_mesh.force"] * 0.04 == pytest.approx(6.4e-4 * speeding - torque, abs=2e-5)
    assert found["rack_mesh.force"] == pytest.approx(60 + 3 * 0.05 * speeding / ratio, abs=1e-3)
    around = 2.6e-4 * (1 - 52 / 16) * speeding / ratio  # of the first planet, about its axle
    meshes = found["sun_mesh.force"] + found["ring_mesh1.force"]
    assert 0.032 * meshes == pytest.approx(around, abs=2e-5)


def test_the_screw_of_the_lift_holds_by_virtual_work():
    document = example("scissor_lift").to_dict()
    document["forces"]["motor"]["value"] = "held"
    document["degrees_of_freedom"]["bearing.angle"]["velocity"] = 0
    still = kg.simulate(kg.joint(kg.Model.from_dict(document)), t_end=2e-3)
    weight, slope = (200 + 20 + 12) * G, 1.1 / np.sqrt(1.2**2 - 1.1**2)
    assert still["motor.force"][0] == pytest.approx(weight * slope * 0.02 / (2 * np.pi), rel=1e-12)
    assert still["bearing.angle.acceleration"][0] == pytest.approx(0, abs=1e-9)
    assert still["thread.reaction.force.x"][0] == pytest.approx(-weight * slope, rel=1e-9)
    found = kg.simulate(kg.joint(example("scissor_lift")))
    nut = 1.1 - 0.02 * found["bearing.angle"] / (2 * np.pi)
    assert found["nut.N.x"] == pytest.approx(nut, abs=1e-12)
    assert found["height"] == pytest.approx(np.sqrt(1.2**2 - nut**2), abs=1e-10)


def test_legs_hold_the_platform_by_statics():
    """Legs without mass: six forces along six lines.  Legs with mass: virtual work in the middle position."""
    model = example("stewart_platform")
    rest = kg.equilibrium(kg.joint(model.with_values(m_cylinder=0.0, m_rod=0.0)))
    forces = np.array([rest[f"hold{k}.force"] for k in range(1, 7)])
    tops = np.array([rest[f"platform.P{k}.position"] for k in range(1, 7)])
    ways = tops - np.array([rest[f"ground.B{k}.position"] for k in range(1, 7)])
    ways /= np.linalg.norm(ways, axis=1)[:, None]
    weight = 200 * G
    assert forces @ ways == pytest.approx([0, 0, weight], abs=1e-8 * weight)
    assert forces @ np.cross(tops, ways) == pytest.approx([0, 0, 0], abs=1e-8 * weight)

    rest = kg.equilibrium(kg.joint(model))
    length, height = rest["leg1.distance"], rest["platform.com.z"] - 0.1
    leaning = 1 / length - height**2 / length**3  # of height/length by height
    legs = 6 * G * (6 * 0.3 * leaning + 3 * (1 - 0.35 * leaning))
    held = (weight + legs) * length / (6 * height)
    assert [rest[f"hold{k}.force"] for k in range(1, 7)] == pytest.approx(6 * [held], rel=1e-8)


def turned(u, angle):
    x = np.array([[0, -u[2], u[1]], [u[2], 0, -u[0]], [-u[1], u[0], 0]])
    return np.eye(3) + np.sin(angle) * x + (1 - np.cos(angle)) * x @ x


def test_the_arm_is_a_chain_of_rotations():
    """Where the tool is; what motors hold at rest; and that all the work of motors is kept as energy."""
    model = example("six_axis_arm")
    found = kg.simulate(kg.joint(model))
    steps = [(0.05, 0, 0.35), (0, 0, 0.45), (0.2, 0, 0), (0.2, 0, 0), (0.08, 0, 0), (0.12, 0, 0)]
    axes = [(0, 0, 1), (0, 1, 0), (0, 1, 0), (1, 0, 0), (0, 1, 0), (1, 0, 0)]
    place, turn = np.zeros(3), np.eye(3)
    for k, (axis, step) in enumerate(zip(axes, steps, strict=True), 1):
        turn = turn @ turned(np.array(axis), found[f"J{k}.angle"][-1])
        place = place + turn @ step
    assert found.marker("tool.T").position[-1] == pytest.approx(place, abs=1e-12)
    masses = {"arm": 15, "forearm": 8, "wrist": 4, "hand": 2, "tool": 3}
    pull = sum(m * G * (found[f"{body}.com.x"][0] - found["arm.A.x"][0]) for body, m in masses.items())
    assert found["motor2.force"][0] == pytest.approx(-pull, rel=1e-9)
    energy = found["kinetic_energy"] + found["potential_energy"]
    assert found["work"] == pytest.approx(energy - energy[0], abs=1e-3)
