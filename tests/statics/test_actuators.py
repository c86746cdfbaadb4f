"""Forces of actuators along a motion by drivers, which carry nothing, and their derivatives (INV-2 to INV-4)."""

import numpy as np
import pytest
from helpers import complex_step

import kinegrad as kg
from kinegrad.errors import KinegradError, ModelWarning

ARM = """kinegrad: 1
parameters: {L: 0.5, m: 2}
design: [L, m]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm: {mass: m, com: [L/2, 0, 0], inertia: [0.01, 0.04, 0.04], markers: {O: [0, 0, 0], tip: [L, 0, 0]},
        pose: {x_axis: [1, 1, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  motor: {type: torque, acts_on: hinge.angle, value: 7}
  ram: {type: force, acts_on: arm.tip.y, value: 3}
drivers: {x: {measure: arm.tip.x, value: 0.3 + 0.05*t}}
simulation: {t_end: 1, step: 0.1}
"""
FIVE_BAR = """kinegrad: 1
parameters: {L: 0.5, k: 30, w: 2}
ground: {markers: {A: [-0.2, 0, 0], B: [0.2, 0, 0], S: [0, 1, 0]}}
bodies:
  a: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]},
      pose: {origin: [-0.2, 0, 0], x_axis: [-0.6, 0.8, 0]}}
  b: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]},
      pose: {origin: [0.2, 0, 0], x_axis: [0.6, 0.8, 0]}}
  c: {mass: 2, com: [L/3, 0.05, 0], inertia: [0.01, 0.03, 0.03], markers: {P: [0, 0, 0], Q: [L, 0, 0]},
      pose: {origin: [-0.44, 0.32, 0], x_axis: [0.8, 0.6, 0]}}
  d: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {P: [0, 0, 0], Q: [0.5, 0, 0]},
      pose: {origin: [0.44, 0.32, 0], x_axis: [-0.8, 0.6, 0]}}
joints:
  JA: {type: revolute, between: [ground.A, a.P], axis: [0, 0, 1]}
  JB: {type: revolute, between: [ground.B, b.P], axis: [0, 0, 1]}
  JC: {type: revolute, between: [a.Q, c.P], axis: [0, 0, 1]}
  JD: {type: revolute, between: [b.Q, d.P], axis: [0, 0, 1]}
  JE: {type: revolute, between: [c.Q, d.Q], axis: [0, 0, 1]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.S, c.Q], stiffness: k, damping: 0.5, natural_length: 0.2}
  left: {type: torque, acts_on: JA.angle, value: 0}
  right: {type: torque, acts_on: JB.angle, value: 0}
  elbow: {type: torque, acts_on: JC.angle, value: 0}
drivers:
  x: {measure: c.Q.x, value: 0.05*sin(w*t)}
  y: {measure: c.Q.y, value: 0.6 + 0.05*cos(w*t)}
simulation: {t_end: 1, step: 0.25}
"""
SETS = [kg.joint, kg.natural, kg.reference_point]


def by_differences(system, names, label, h):
    """(k, a) derivatives of the forces by a parameter, of fourth order in h."""
    value = system.rho[system.parameters.independent.index(label)]

    def forces(x):
        return np.array(list(kg.inverse(system.with_parameters({label: x}), actuators=names).forces.values())).T

    one, two = (forces(value + k * h) - forces(value - k * h) for k in (1, 2))
    return (8 * one - two) / (12 * h)


@pytest.mark.parametrize("lower", SETS)
def test_a_motor_gives_all_that_the_path_of_the_tip_needs(lower):
    """The driver holds the tip on its path: torque and its derivatives against closed forms, by complex step."""
    system = lower(kg.Model.from_yaml_text(ARM))
    motion = kg.drive(system)

    def needed(rho, force):
        L, m = rho
        c, v = (0.3 + 0.05 * motion.t) / L, 0.05 / L
        s = np.sqrt(1 - c * c)
        rate, second = -v / s, -c * v * v / s**3
        torque = (0.04 + m * (L / 2) ** 2) * second + m * 9.81 * L / 2 * c + 0 * rate
        return torque if force == "motor" else torque / (L * c)

    found = kg.inverse(system, motion, actuators=["motor"])
    # the ram of the model keeps its 3 N on the height of the tip
    assert np.abs(found.forces["motor"] + 3 * (0.3 + 0.05 * motion.t) - needed((0.5, 2), "motor")).max() < 1e-13
    assert found.residual < 1e-14 and list(found.forces) == ["motor"]
    assert np.abs(found.powers["motor"] / found.forces["motor"] - system_rate(motion)).max() < 1e-12
    slopes = found.sensitivity(["L", "m"])
    exact = complex_step(lambda rho: needed(rho, "motor"), np.array([0.5, 2.0]))
    assert np.abs(slopes.forces["motor"] - exact).max() < 1e-12
    assert np.abs(slopes.q - kg.inverse(system).sensitivity(["L", "m"]).q).max() == 0.0
    again = kg.inverse(system, actuators=["motor"])  # a motion that is made on the way
    assert np.array_equal(again.forces["motor"], found.forces["motor"])
    assert np.array_equal(again.sensitivity(["L", "m"]).forces["motor"], slopes.forces["motor"])
    ram = kg.inverse(system, motion, actuators=["ram"])
    moment = needed((0.5, 2), "ram") - 7 / (0.3 + 0.05 * motion.t)
    assert np.abs(ram.forces["ram"] - moment).max() < 1e-12


def system_rate(motion):
    """Rate of the angle of the arm."""
    tip = motion.marker("arm.tip")
    return -tip.velocity[:, 0] / tip.position[:, 1]


@pytest.mark.parametrize("lower", SETS)
def test_a_loop_carried_by_two_motors(lower):
    system = lower(kg.Model.from_yaml_text(FIVE_BAR))
    motion = kg.drive(system)
    found = kg.inverse(system, motion, actuators=["left", "right"])
    reference = kg.inverse(kg.joint(kg.Model.from_yaml_text(FIVE_BAR)))  # what the drivers would have to give
    power = sum(reference.powers.values())
    assert np.abs(sum(found.powers.values()) - power).max() < 1e-12 * np.abs(power).max() + 1e-13
    assert found.residual < 1e-13
    # nothing acts on the point that the drivers moved: JE transmits what the rod beyond it needs
    free = kg.Model.from_yaml_text(FIVE_BAR)
    free.drivers, free.degrees_of_freedom = {}, {"JA.angle": {"position": 0}, "JB.angle": {"position": 0}}
    alone = kg.inverse(lower(free), t=motion.t, q=motion.q, qd=motion.qd, qdd=motion.qdd, actuators=["left", "right"])
    for name in found.forces:
        assert np.abs(found.forces[name] - alone.forces[name]).max() < 1e-12
    for name in found.reactions:
        assert np.abs(found.reactions[name] - alone.reactions[name]).max() < 1e-11
    slopes = found.sensitivity(["L", "k", "w"])
    for k, (label, h) in enumerate((("L", 1e-3), ("k", 1.0), ("w", 1e-2))):
        differences = by_differences(system, ["left", "right"], label, h)
        got = np.array([slopes.forces[name][:, k] for name in ("left", "right")]).T
        assert np.abs(got - differences).max() < 2e-9 * np.abs(differences).max(), label


@pytest.mark.parametrize("lower", SETS)
def test_more_actuators_than_needed_have_the_least_norm(lower):
    """However joints are cut; with derivatives."""
    system = lower(kg.Model.from_yaml_text(ARM))
    with pytest.warns(ModelWarning, match="The actuators motor, ram are more than the motion needs"):
        found = kg.inverse(system, actuators=["motor", "ram"])
    b = kg.inverse(system, actuators=["motor"]).forces["motor"] + 3 * (0.3 + 0.05 * found.t)
    along = np.array([np.ones(len(b)), 0.3 + 0.05 * found.t])  # angle and height of the tip by the angle
    assert np.abs(np.array(list(found.forces.values())) - along * b / (along**2).sum(axis=0)).max() < 1e-12
    assert found.residual < 1e-13 and found.reactions.unique_forces == {"motor": False, "ram": False}


@pytest.mark.filterwarnings("ignore::kinegrad.errors.ModelWarning")
@pytest.mark.parametrize("lower", [*SETS, lambda model: kg.joint(model, cut=["JB"])])
def test_three_motors_share_the_load_of_a_loop(lower):
    model = kg.Model.from_yaml_text(FIVE_BAR)
    system, names = lower(model), ["left", "right", "elbow"]
    found = kg.inverse(system, actuators=names)
    reference = kg.inverse(kg.joint(model, cut=["JE"]), actuators=names)
    for name in names:
        assert np.abs(found.forces[name] - reference.forces[name]).max() < 1e-12
    for name in found.reactions:
        unique = found.reactions.unique[name]
        assert np.abs(found.reactions[name] - reference.reactions[name])[:, unique].max(initial=0.0) < 1e-11
    two = kg.inverse(system, actuators=names[:2])
    assert np.abs(sum(found.powers.values()) - sum(two.powers.values())).max() < 1e-12
    norms = [sum(x**2 for x in y.forces.values()) for y in (found, two)]
    assert (norms[0] < norms[1]).all() and found.residual < 1e-13
    slopes, differences = found.sensitivity(["L"]), by_differences(system, names, "L", 1e-3)
    got = np.array([slopes.forces[name][:, 0] for name in names]).T
    assert np.abs(got - differences).max() < 1e-8 * np.abs(differences).max()


def test_a_driver_that_is_named_carries_too():
    model = kg.Model.from_yaml_text(FIVE_BAR)
    found = kg.inverse(kg.joint(model), actuators=["left", "y"])
    assert list(found.forces) == ["left", "y"] and found.residual < 1e-13
    both = kg.inverse(kg.joint(model), actuators=["x", "y"])
    alone = kg.inverse(kg.joint(model))
    for name in alone.forces:
        assert np.abs(both.forces[name] - alone.forces[name]).max() < 1e-12


def test_what_is_not_balanced_is_told():
    system = kg.joint(kg.Model.from_yaml_text(FIVE_BAR))
    found = kg.inverse(system, actuators=["left"])
    assert found.residual > 1.0
    with pytest.raises(KinegradError, match="The actuators left cannot balance the motion at t = 0 s"):
        found.sensitivity(["L"])
    for name, sentence in (
        ("lefd", r"'lefd' is no force and no driver of the model \(did you mean 'left'\?\)"),
        ("gravity", "'gravity' acts on no measure; choose from left, right, elbow, x, y"),
    ):
        with pytest.raises(KinegradError, match=sentence):
            kg.inverse(system, actuators=[name])
