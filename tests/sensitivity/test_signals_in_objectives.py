"""Signals of every owner in objectives of every kind, in every coordinate set: those of the motion, by methods that agree."""

import math

import numpy as np
import pytest
from helpers import assert_close
from scipy.integrate import simpson

import kinegrad as kg
from kinegrad.errors import AccuracyWarning, KinegradError, ModelError

WIRE, ROD = math.dist((0.4, 0.8, -0.3), (0.3, -0.5, 0.06)), math.sqrt(0.14)
MODEL = f"""
kinegrad: 1
parameters: {{m: 1.4, k: 3.0, L: 0.5, c: 0.2, u: [0.3, -0.4, 0.9, 0.2]}}
design: [m, k, L, c]
ground:
  markers: {{O: [0, 0, 0], S: [0.4, 0.8, -0.3], T: [1.2, 0.1, 0.2], n: {{vector: [0, 0.1, 1]}},
             F: {{origin: [0.3, 0.2, 0.1], x_axis: [1, 0, 0.1], z_axis: [0, 0.1, 1]}}}}
bodies:
  arm: {{pose: global, mass: m, com: [0.2, 0.1, 0], inertia: [0.05, 0.04, 0.06], markers: {{O: [0, 0, 0], Q: [L, 0, 0.1]}}}}
  tip: {{pose: global, mass: 0.7, com: [0.6, 0, 0.1], inertia: [0.02, 0.025, 0.01],
        markers: {{Q: [L, 0, 0.1], E: [0.8, 0.1, 0.1], F: {{origin: [0.6, 0.1, 0.1], x_axis: [1, 0, 0], z_axis: [0, 0, 1]}}}}}}
  cart: {{pose: global, mass: 1.1, com: [1.2, 0.1, 0.2], inertia: [0.02, 0.025, 0.01],
         markers: {{T: [1.2, 0.1, 0.2], P: [1.1, 0.3, 0.2]}}}}
  bob: {{pose: {{origin: [0.2, -0.6, 0.06]}}, mass: 0.5, com: [0, 0, 0], inertia: [0.01, 0.015, 0.01],
        markers: {{A: [0, 0, 0], B: [0.1, 0.1, 0], z: {{vector: [0, 0, 1]}}}}}}
joints:
  hinge: {{type: revolute, between: [ground.O, arm.O], axis: [0.1, 0, 1]}}
  ball: {{type: spherical, between: [arm.Q, tip.Q]}}
  rail: {{type: prismatic, between: [ground.T, cart.T], axis: [1, 0.1, 0]}}
  rod: {{type: link, between: [tip.E, cart.P], length: {ROD}}}
  air: {{type: floating, between: [ground.S, bob.A]}}
measures: {{gap: "norm(tip.E.position - bob.B.position)"}}
forces:
  gravity: {{type: gravity, acceleration: [0.3, -9.81, 1]}}
  coil: {{type: spring, between: [ground.S, tip.E], stiffness: k, damping: c, natural_length: 0.3}}
  twist: {{type: spring, acts_on: hinge.angle, stiffness: k, damping: c, natural_value: 0.2}}
  drag: {{type: force, at: bob.B, frame: body, value: ["-c*bob.B.velocity.x", "k*cos(4*t)", 0]}}
  spin: {{type: torque, at: tip.E, frame: ground, value: [c, 0.1, "0.3*hinge.angle"]}}
  pull: {{type: force, acts_on: gap, value: "-k*gap"}}
  course: {{type: spline, acts_on: rail.distance, times: [0, 0.05, 0.1, 0.4], values: u}}
  bush: {{type: bushing, between: [ground.F, tip.F], stiffness: [k, 4, 5], damping: [c, 0.1, 0.1],
         rotational_stiffness: [1, k, 1], rotational_damping: [0.1, c, 0.1]}}
  engine: {{type: actuator, acts_on: rail.distance, value: "k*sin(5*t)", time_constant: 0.05}}
constraints:
  wire: {{type: distance, between: [ground.S, bob.B], distance: {WIRE}}}
  flat: {{type: point-in-plane, between: [ground.O, bob.A], normal: ground.n}}
  mix: {{type: linear, terms: {{bob.A.x: 1, bob.B.x: 0.5}}, value: 0.35}}
drivers: {{motor: {{measure: hinge.angle, value: "0.2*t + 3*t**2"}}}}
degrees_of_freedom:
  rail.distance: {{position: 0, velocity: 0.3}}
  tip.E.z: {{position: 0.1, velocity: 0.2}}
  tip.F.z: {{position: 0.1, velocity: -0.4}}
  bob.B.y: {{position: -0.5, velocity: 0.1}}
  bob.z.x: {{position: 0, velocity: 0.3}}
  bob.z.y: {{position: 0, velocity: -0.3}}
simulation: {{t_end: 0.02, step: 0.001}}
"""
FORCES = """coil.force coil.length coil.rate twist.force drag.force.x spin.force.z pull.force course.force bush.force.x
            bush.torque.y bush.deflection.z bush.rotation.x engine.force"""
POWERS = "coil.power twist.power drag.power spin.power pull.power course.power bush.power engine.power"
SYSTEM = """kinetic_energy potential_energy momentum.x angular_momentum.z tip.angular_velocity.y
            tip.angular_acceleration.z"""
SOLVED = """motor.force motor.power mix.force wire.reaction.force.y flat.reaction.force.z flat.reaction.moment.x
            rod.reaction.force.x"""
GROUPS = {
    "forces": FORCES.split(),
    "powers": POWERS.split(),
    "system": SYSTEM.split(),
    "turns": ["tip.rotation.x", "tip.rotation.y", "tip.rotation.norm", "bob.rotation.z"],
    "solved": SOLVED.split(),
}
JOINTS = ["hinge.reaction.force.x", "hinge.reaction.moment.y", "rail.reaction.force.z", "ball.reaction.force.norm"]
TIMES = (0.004, 0.011)


def written(names):
    """A sum in which every signal has its own weight, and its numbers along a motion."""
    weights = [1.0 + 0.3 * math.sin(3.0 * i) for i in range(len(names))]
    return " + ".join(f"{w!r}*{name}" for w, name in zip(weights, names, strict=True)), lambda motion: sum(
        w * np.asarray(motion[name]) for w, name in zip(weights, names, strict=True)
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["joint", "reference-point", "natural"])
def test_every_signal_in_every_kind_of_objective(kind):
    model = kg.Model.from_yaml_text(MODEL)
    groups = GROUPS | {"joints": JOINTS}
    objectives, along = {}, {}
    for group, names in groups.items():
        text, along[group] = written(names)
        objectives |= {
            f"{group}_integral": {"integral": text},
            f"{group}_final": {"final": text},
            f"{group}_sum": {"sum": text, "times": list(TIMES)},
            f"{group}_maximum": {"maximum": text, "sharpness": 0.7},
            f"{group}_minimum": {"minimum": text, "sharpness": 0.7},
        }
    model.objectives = objectives
    motion = kg.simulate(kg.lower(model.check(), kind), "index1", "rk4")
    t, found = motion.t, motion.objectives
    for group in groups:
        x = along[group](motion)
        at = [int(np.argmin(np.abs(t - time))) for time in TIMES]
        low, high = (np.log(np.trapezoid(np.exp(K * x), t) / t[-1]) / K for K in (-0.7, 0.7))
        expected = simpson(x, x=t), x[-1], x[at].sum(), high, low
        for what, value in zip(("integral", "final", "sum", "maximum", "minimum"), expected, strict=True):
            assert_close(
                found[f"{group}_{what}"], value, 1e-4 if what == "integral" else 1e-7
            )  # stages have their own rule
    direct, adjoint = (kg.gradient(motion, method=method) for method in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-9)
    assert np.abs(direct.matrix).max(axis=1).min() > 0.0
    h, ends = 1e-5, []
    for move in (1.0 + h, 1.0 - h):
        other = motion.system.with_parameters({"m": 1.4 * move, "k": 3.0 * move, "c": 0.2 * move})
        ends.append(np.array(list(kg.simulate(other, "index1", "rk4").objectives.values())))
    slope = direct.matrix[:, [direct.wrt.index(name) for name in "mkc"]] @ [1.4, 3.0, 0.2]
    assert_close((ends[0] - ends[1]) / (2.0 * h), slope, 1e-6)


def test_a_guided_point_has_a_force():
    text = """
kinegrad: 1
parameters: {m: 2.0, a: 3.0}
design: [m, a]
bodies:
  ball: {mass: m, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1],
         markers: {C: [0, 0, 0], x: {vector: [1, 0, 0]}, y: {vector: [0, 1, 0]}}}
degrees_of_freedom: {ball.x.y: {position: 0}, ball.x.z: {position: 0}, ball.y.z: {position: 0}}
constraints: {hand: {type: guidance, marker: ball.C, value: [a*t**2, 0, t]}}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
objectives:
  x: {final: hand.reaction.force.x}
  size: {integral: norm(hand.reaction.force)}
  none: {final: hand.reaction.moment.x}
simulation: {t_end: 0.1, step: 0.01}
"""
    motion = kg.simulate(kg.reference_point(kg.Model.from_yaml_text(text)), "index1", "rk4")
    size = math.hypot(6.0, 9.81)
    assert_close(list(motion.objectives.values()), [12.0, 0.2 * size, 0.0], 1e-12)
    expected = [[6.0, 4.0], [0.1 * size, 0.2 * 2.0 * 6.0 / size], [0.0, 0.0]]
    assert_close(kg.gradient(motion, method="adjoint").matrix, expected, 1e-10)


def test_rotation_of_a_body_until_half_a_turn():
    text = """
kinegrad: 1
parameters: {w: 2.0}
design: [w]
ground: {markers: {O: [0, 0, 0]}}
bodies: {wheel: {mass: 1, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {O: [0, 0, 0]}}}
joints: {axle: {type: revolute, between: [ground.O, wheel.O], axis: [0.6, 0, 0.8]}}
degrees_of_freedom: {axle.angle: {position: 0, velocity: w}}
objectives: {turned: {final: wheel.rotation.z}, size: {integral: wheel.rotation.x**2}}
simulation: {t_end: 1.5, step: 0.1}
"""
    model = kg.Model.from_yaml_text(text)
    motion = kg.simulate(kg.joint(model), "index1", "rk4")
    assert_close(motion.objectives["turned"], 0.8 * 3.0, 1e-9)
    assert_close(kg.gradient(motion)["turned", "w"], 0.8 * 1.5, 1e-9)
    with pytest.warns(AccuracyWarning, match="'turned' crosses a kink .* rotation at half a turn"):
        kg.simulate(kg.joint(model), "index1", "rk4", t_end=1.7)


def test_rotation_of_a_body_beside_a_reaction_and_in_what_does_not_need_it():
    model = kg.Model.from_yaml_text(MODEL)
    model.simulation = {"t_end": 0.02, "step": 1e-3}
    model.objectives = {"both": {"final": "tip.rotation.x + ball.reaction.force.x"}}
    both = [
        kg.simulate(lowered(model.check()), "index1", "rk4").objectives["both"] for lowered in (kg.joint, kg.natural)
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-7)
    model.objectives = {"miss": {"final": "0*tip.rotation.x + tip.E.x"}, "same": {"final": "tip.E.x"}}
    for lowered in (kg.joint, kg.reference_point, kg.natural):
        found = kg.gradient(kg.simulate(lowered(model.check())), method="adjoint")
        assert_close(found.matrix[0], found.matrix[1], 1e-13)


def test_reactions_over_time():
    """Derivatives of a reaction along the run end with those of its value at the end."""
    model = kg.Model.from_yaml_text(MODEL)
    model.objectives = {"last": {"final": "hinge.reaction.force.x"}}
    gradient = kg.gradient(kg.simulate(kg.joint(model.check()), "index1", "rk4"), wrt=["m", "k"])
    course = gradient.states(["hinge.reaction.force.x", "tip.rotation.y"])
    assert_close(course.derivatives[-1, 0], gradient.matrix[0], 1e-9)
    assert len(course.t) == 21 and course["hinge.reaction.force.x", "m"][0] != 0.0


def test_work_is_refused_with_the_remedy():
    with pytest.raises(ModelError, match=r"'work', an integral over a whole motion; .*\{integral: FORCE.power\}"):
        kg.Model.from_yaml_text(MODEL + "objectives: {all: {final: work}}\n")
    assert issubclass(ModelError, KinegradError)
