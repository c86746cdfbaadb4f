"""Where a motion starts: at an equilibrium, from a state of another motion, from the assembly of another system."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from own_models import FOUR_BAR as TURNING
from toy_set import CARRIAGES, RAILS, register

import kinegrad as kg

SPRING = """
kinegrad: 1
title: Mass on a spring
parameters: {m: 2.0, k: 90.0, g: 9.81, L0: 0.3, v0: 0.0, z0: 0.1}
design: [m, k, g, L0, v0, z0]
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: m, com: [0, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, block.O], axis: [0, 0, -1]}}
forces:
  weight: {type: gravity, acceleration: [0, 0, -g]}
  coil: {type: spring, acts_on: slide.distance, stiffness: k, natural_value: L0}
degrees_of_freedom: {slide.distance: {position: z0, velocity: v0}}
objectives: {where: {final: slide.distance}, speed: {final: slide.distance.velocity}}
simulation: {t_end: 0.5, step: 0.01, start: equilibrium}
"""

FOUR_BAR = """
kinegrad: 1
title: Four-bar on a spring
parameters: {m: 2.0, k: 80.0, L0: 0.4, x0: 0.1, b: 0.5, v0: 0.2, L: 0.3, z0: ANGLE}
design: [m, k, L0, x0, v0, L, b, z0]
ground: {markers: {O: [0, 0, 0], W: [x0, 0.5, 0], G: [0.9, 0, 0]}}
bodies:
  crank: {mass: 1, com: [L/2, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {O: [0, 0, 0], P: [L, 0, 0]},
          pose: {x_axis: [0.6, -0.8, 0]}}
  rod: {mass: m, com: [b/2, 0, 0], inertia: [0.01, 0.05, 0.05], markers: {P: [0, 0, 0], E: [0.8, 0, 0], C: [b, 0, 0]},
        pose: {origin: [0.18, -0.24, 0], x_axis: [0.6, -0.1, 0]}}
  rocker: {mass: 1, com: [0.2, 0, 0], inertia: [0.01, 0.05, 0.05], markers: {G: [0, 0, 0], E: [0.4, 0, 0]},
           pose: {origin: [0.9, 0, 0], x_axis: [0.1, -1, 0]}}
joints:
  A: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  B: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  C: {type: revolute, between: [rod.E, rocker.E], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground.G, rocker.G], axis: [0, 0, 1]}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.W, rod.C], stiffness: k, damping: 1, natural_length: L0}
degrees_of_freedom: {FREEDOM: {position: z0, velocity: v0}}
objectives:
  end: {final: "rod.C.position.y + crank.P.velocity.x"}
  path: {integral: "norm2(rod.E.velocity) + norm2(rod.C.position) + norm2(rod.C.acceleration)/100"}
simulation: {t_end: 0.2, step: 0.005, start: equilibrium}
"""
PAIRS = [
    ("ali3p", "newmark"), ("matrix-r", "newmark"), ("matrix-r", "rk4"), ("index1", "rk4"), ("penalty", "newmark"),
    ("recursive", "rk4"), ("ali3p", "generalized-alpha"),
]  # fmt: skip


def spring(**values):
    return kg.joint(kg.Model.from_yaml_text(SPRING), values=values)


def four_bar(freedom="A.angle", **options):
    text = FOUR_BAR.replace("FREEDOM", freedom).replace("ANGLE", "-0.9" if freedom == "A.angle" else "-0.24")
    return kg.joint(kg.Model.from_yaml_text(text), **options)


def trapezoidal(m, k, g, L0, start, t_end=0.5, h=0.01):
    """Position and velocity of the mass after steps of the trapezoidal rule: a turn by 2 atan(ωh/2) in each."""
    rest, omega = L0 + m * g / k, np.sqrt(k / m)
    x, v = start(rest)
    angle = round(t_end / h) * 2.0 * np.arctan(omega * h / 2.0)
    c, s = np.cos(angle), np.sin(angle)
    return np.array([rest + (x - rest) * c + v / omega * s, v * c - (x - rest) * omega * s])


def by_complex_step(names, start):
    """Derivatives (2, names) of the closed form; `start` is a function of the position at rest and the parameters."""
    model = {"m": 2.0, "k": 90.0, "g": 9.81, "L0": 0.3, "v0": 0.4}
    columns = []
    for name in names:
        p = model | {name: model[name] + 1e-30j}
        columns.append(trapezoidal(p["m"], p["k"], p["g"], p["L0"], lambda rest, p=p: start(rest, p)).imag / 1e-30)
    return np.array(columns).T


# --- equilibrium ---


@pytest.mark.parametrize(("formulation", "integrator"), PAIRS)
def test_stays_at_rest(formulation, integrator):
    system = four_bar().with_parameters({"v0": 0.0})
    how = kg.ALI3P(tolerance=1e-16, max_iterations=50) if formulation == "ali3p" else formulation
    motion = kg.simulate(system, how, integrator)
    yields = 1e3 if formulation == "penalty" else 1.0  # by what the penalty leaves of the forces in the rows
    assert np.abs(motion.q - kg.equilibrium(system).q).max() < 1e-12 * yields
    assert np.abs(motion.qd).max() < 1e-10 * yields
    motion = kg.simulate(spring(), "index1", integrator)
    assert np.abs(motion.q - (0.3 + 2.0 * 9.81 / 90.0)).max() < 1e-14
    assert np.abs(motion.qd).max() < 1e-13


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_equilibrium_in_the_gradient_against_a_closed_form(method):
    motion = kg.simulate(spring(v0=0.4), "ali3p")
    names = ["m", "k", "g", "L0", "v0"]
    expected = by_complex_step(names, lambda rest, p: (rest, p["v0"]))
    found = kg.gradient(motion, wrt=names, method=method).matrix
    assert np.abs(found - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(kg.gradient(motion, wrt=["z0"], method=method).matrix).max() == 0.0  # where the search begins


@pytest.mark.parametrize("freedom", ["A.angle", "crank.P.y"])
@pytest.mark.parametrize(("formulation", "integrator"), PAIRS)
def test_gradients_of_a_loop(formulation, integrator, freedom):
    """From the equilibrium and from a state; freedoms that are coordinates and one that is not."""
    system = four_bar(freedom)
    for start in (None, kg.simulate(system, "index1", "rk4", t_end=0.1)):
        motion = kg.simulate(system, formulation, integrator, start=start, t_end=0.1)
        forward = kg.gradient(motion)
        adjoint = kg.gradient(motion, method="adjoint")
        assert np.abs(forward.matrix - adjoint.matrix).max() < 1e-12 * np.abs(forward.matrix).max()
        if freedom == "crank.P.y" or formulation == "ali3p":
            assert forward.check().relative.max() < 2e-8


def test_by_every_number():
    """The adjoint by all slots: a number of the model that is no parameter moves the equilibrium too."""
    motion = kg.simulate(four_bar(), "ali3p", t_end=0.1)
    by = kg.gradient(motion, method="adjoint", wrt=[], every_slot=True).by_number()["end"]
    text = FOUR_BAR.replace("FREEDOM", "A.angle").replace("ANGLE", "-0.9").replace("[0, -9.81, 0]", "[0, GRAVITY, 0]")

    def end(g):
        system = kg.joint(kg.Model.from_yaml_text(text.replace("GRAVITY", repr(g))))
        return kg.simulate(system, kg.ALI3P(tolerance=1e-16, max_iterations=50), t_end=0.1).objectives["end"]

    difference = (8 * (end(-9.80) - end(-9.82)) - (end(-9.79) - end(-9.83))) / 0.12
    assert by["forces.weight.acceleration.y"] == pytest.approx(difference, rel=1e-9)


def test_unstable_free_and_missing_equilibria():
    inverted = spring(k=-90.0)
    with pytest.raises(kg.KinegradError, match=r"not stable \(its lowest eigenvalue is -45 1/s2\)"):
        kg.simulate(inverted, guess=np.array([0.3 - 2.0 * 9.81 / 90.0]))
    with pytest.raises(kg.KinegradError, match=r"No equilibrium was found .* 'slide.distance' keeps moving"):
        kg.simulate(spring(k=0.0))
    free = spring(k=0.0, g=0.0)
    motion = kg.simulate(free)
    assert np.abs(motion.qd).max() == 0.0
    with pytest.raises(kg.KinegradError, match=r"in which nothing holds slide\.distance"):
        kg.gradient(motion)


def test_equilibrium_refuses_states_of_elements():
    with pytest.raises(kg.KinegradError, match="The actuator 'winch' has a state of its own"):
        kg.simulate(kg.joint(kg.Model.from_yaml_text(CARRIAGES)), start="equilibrium")


# --- states ---


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_a_state_is_held_in_the_gradient(method):
    """Its numbers are constants: only what happens after it moves."""
    system = spring(v0=0.4)
    state = kg.simulate(system, "ali3p").state(0.2)
    x, v = state.q[0], state.qd[0]
    motion = kg.simulate(system, "ali3p", start=state)
    expected = by_complex_step(["m", "k", "g", "L0", "v0"], lambda rest, p: (x, v))
    found = kg.gradient(motion, wrt=["m", "k", "g", "L0", "v0"], method=method)
    assert np.abs(found.matrix - expected).max() < 1e-11 * np.abs(expected).max()
    assert np.abs(found.matrix[:, 4]).max() == 0.0


def test_goes_on_as_if_it_had_not_stopped():
    system, exact = four_bar(), kg.MatrixR(tolerance=1e-15)
    one = kg.simulate(system, exact, "rk4", start="assembly", t_end=0.4, step=1e-3)
    two = kg.simulate(system, exact, "rk4", start=one.state(0.1), t_end=0.3, step=1e-3)
    for name in ("q", "qd", "qdd"):
        x = getattr(one, name)[100:]
        assert np.abs(getattr(two, name) - x).max() < 1e-12 * max(1.0, np.abs(x).max())
    fine = kg.simulate(system, "index1", kg.RungeKutta54(tolerance=1e-11), start=one.state(0.1), t_end=0.3)
    assert np.abs(fine.q[-1] - one.q[-1]).max() < 1e-8


def test_actuators_go_on():
    """All that a state holds: positions, velocities, and the forces of actuators."""
    text = CARRIAGES.replace('value: "push*cos(3*t)"', "value: push").replace('"push*sin(5*t)"', "push")
    text = text.replace('value: "0.1 + 0.1*sin(w*t) + 0.02*t"', "value: 0.1")
    system = kg.joint(kg.Model.from_yaml_text(text))
    one = kg.simulate(system, "index1", "rk4", t_end=0.3, step=1e-3)
    two = kg.simulate(system, "index1", "rk4", start=one.state(0.1), t_end=0.2, step=1e-3)
    assert np.abs(two.q[-1] - one.q[-1]).max() < 1e-10
    assert np.abs(two.qd[-1] - one.qd[-1]).max() < 1e-9


def test_from_another_cut_and_other_values():
    turning = kg.Model.from_yaml_text(TURNING)
    motion = kg.simulate(kg.joint(turning), kg.MatrixR(tolerance=1e-15), "rk4", t_end=0.3, step=2e-3)
    other = kg.joint(turning, cut=["JA"])
    again = kg.simulate(other, "index1", "rk4", start=motion, t_end=0.01, step=1e-3)
    assert again.q[0] == pytest.approx(motion.in_coordinates(other).q[-1], abs=1e-13)
    assert again.qd[0] == pytest.approx(motion.in_coordinates(other).qd[-1], abs=1e-11)
    longer = other.with_parameters({"b": 0.95})
    start = kg.simulate(longer, "index1", "rk4", start=motion, t_end=0.01, step=1e-3)
    k = longer.number_of["JA.angle"]
    assert start.q[0, k] == pytest.approx(motion.q[-1, motion.system.number_of["JA.angle"]], abs=1e-13)  # held
    assert np.abs(start.constraint_violation[0]).max() < 1e-10  # all else is assembled
    assert np.abs(start.q[0] - again.q[0]).max() > 1e-2


def test_an_assembly_or_equilibrium_of_another_system():
    model = four_bar().model
    joint = kg.joint(model, cut=["B"])
    found = kg.assemble(joint)
    motion = kg.simulate(kg.joint(model, cut=["D"]), start=found, t_end=0.01)
    assert motion.start.name == "assembly"
    assert motion.marker("rod.C").position[0] == pytest.approx(found.markers()["rod.C"].position, abs=1e-13)
    rest = kg.equilibrium(joint)
    motion = kg.simulate(kg.joint(model, cut=["D"]), start=rest, t_end=0.01)
    assert motion.start.name == "equilibrium"
    assert motion.marker("rod.C").position[0] == pytest.approx(rest.markers()["rod.C"].position, abs=1e-12)
    with pytest.raises(kg.KinegradError, match="that of t = 1 s"):
        kg.simulate(joint, start=kg.equilibrium(joint, t=1.0), t_end=0.01)


def test_refusals():
    system = four_bar()
    motion = kg.simulate(system, t_end=0.05)
    with pytest.raises(kg.KinegradError, match=r"no state at t = 0\.06 s; it goes from 0 s to 0\.05 s"):
        motion.state(0.06)
    with pytest.raises(
        kg.KinegradError, match=r"no state at t = 0\.0123 s; the nearest one that was kept is at 0\.01 s"
    ):
        motion.state(0.0123)
    with pytest.raises(
        kg.KinegradError, match="The motion is of another model: it has no body 'block' that this one has"
    ):
        kg.simulate(spring(), start=motion)
    model = system.model.copy()
    model.joints["D"] = kg.Cylindrical(between=["ground.G", "rocker.G"], axis=[0, 0, 1])
    with pytest.raises(kg.KinegradError, match="it has another joint 'D' of this name"):
        kg.simulate(kg.joint(model), start=motion)
    with pytest.raises(
        kg.KinegradError, match=r"There is no start 'equilibrum' \(did you mean 'equilibrium'\?\); give"
    ):
        kg.simulate(system, start="equilibrum")
    with pytest.raises(kg.KinegradError, match="cannot start from 3"):
        kg.simulate(system, start=3)
    with pytest.raises(kg.ModelError, match="start"):
        kg.Model.from_yaml_text(SPRING.replace("start: equilibrium", "start: rest"))


def test_a_driver_that_is_elsewhere_at_zero():
    model = kg.Model.from_yaml_text(RAILS)
    model.drivers["push"] = kg.Driver(measure="rail.distance", value="0.2 + 0.3*t")
    del model.degrees_of_freedom["rail.distance"]
    system = kg.joint(model)
    motion = kg.simulate(system, t_end=0.1)
    with pytest.raises(
        kg.KinegradError, match=r"is at t = 0\.1 s.* where 'push' has another position: it differs by 0\.03"
    ):
        kg.simulate(system, start=motion)
    kg.simulate(system, start=motion.state(0.0), t_end=0.01)


def test_one_gradient_in_joint_and_reference_point_coordinates():
    """Equilibrium and state pass between the sets; with matrix-r and rk4 both integrate the same freedom in the same steps."""
    joint = four_bar("crank.P.y")
    other = kg.lower(joint.model, "reference-point")
    motion = kg.simulate(joint, "matrix-r", "rk4", t_end=0.1)
    for start in (None, kg.equilibrium(joint), motion, motion.in_coordinates("reference-point").state(0.05)):
        runs = [kg.simulate(system, "matrix-r", "rk4", start=start, t_end=0.1) for system in (joint, other)]
        here, there = (kg.gradient(run) for run in runs)
        assert np.abs(there.matrix - here.matrix).max() < 1e-11 * np.abs(here.matrix).max()
        adjoint = kg.gradient(runs[1], method="adjoint").matrix
        assert np.abs(there.matrix - adjoint).max() < 1e-12 * np.abs(adjoint).max()


# --- what knows of it ---


def test_saved_loaded_and_pickled(tmp_path):
    system = four_bar()
    first = kg.simulate(system, t_end=0.05)
    first.save(tmp_path / "first.nc")
    for start in ("equilibrium", kg.load(tmp_path / "first.nc").state(0.04)):
        motion = kg.simulate(system, start=start, t_end=0.05)
        motion.save(tmp_path / "second.nc")
        expected = kg.gradient(motion, wrt=["k", "L"]).matrix
        for again in (kg.load(tmp_path / "second.nc"), pickle.loads(pickle.dumps(motion))):
            assert again.start.name == motion.start.name
            assert np.abs(kg.gradient(again, wrt=["k", "L"]).matrix - expected).max() < 1e-12 * np.abs(expected).max()


def test_stepper():
    system = four_bar()
    for start in ("equilibrium", kg.simulate(system, t_end=0.05)):
        motion = kg.simulate(system, "ali3p", start=start, t_end=0.05)
        stepper = kg.Stepper(system, "ali3p", start=start).advance(10)
        assert np.array_equal(stepper.q, motion.q[-1])


def test_comparison_is_on_one_branch(monkeypatch):
    """Each set by itself may close on another branch; converted from one assembly they agree."""
    register(monkeypatch)
    model = kg.Model.from_yaml_text(CARRIAGES)
    wrong = 0.55 + 2 * 0.4  # a pose that leads the set of origins to the other side of the rope
    model.bodies["hoist"] = model.bodies["hoist"].with_(pose={"origin": [0.25, wrong, -2.0]})
    kinds = {"coordinates": ["joint", "gantry"], "formulations": ["ali3p"], "integrators": ["newmark"]}
    found = kg.compare(model, step=4e-3, t_end=0.1, **kinds)
    assert found.agrees and {row.coordinates for row in found.rows} == {"joint", "gantry"}
    bar = four_bar().model
    both = {"coordinates": ["joint", "reference-point"], "t_end": 0.1}
    found = kg.compare(bar, formulations=["ali3p", "index1"], integrators=["newmark"], **both)
    assert found.agrees and {row.coordinates for row in found.rows} == {"joint", "reference-point"}
    state = kg.simulate(four_bar(cut=["B"]), t_end=0.05)
    assert kg.compare(bar, formulations=["matrix-r"], integrators=["rk4"], start=state, **both).agrees
