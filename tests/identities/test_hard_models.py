"""Redundant and badly scaled mechanisms: they assemble, move as their plain twins do, and are differentiated."""

from pathlib import Path

import numpy as np
import pytest

from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

FIVE_BAR = Path(__file__).parents[2] / "examples" / "five_bar" / "model.yaml"
SCHEMES = {"ali3p": ("ali3p", "newmark"), "matrix-r": ("matrix-r", "newmark"), "rk4": ("matrix-r", "rk4")}

DOOR = """
kinegrad: 1
parameters: {width: 0.9, m: 20, spread: 0.8}
ground: {markers: {H1: [0, 0, spread], H2: [0, 0, -spread], up: {vector: [0, 0, 1]}}}
bodies:
  door: {mass: m, com: [width/2, 0, 0], inertia: [4, 6, 2],
         markers: {H1: [0, 0, spread], H2: [0, 0, -spread], E: [width, 0, 0]}}
joints:
  upper: {type: revolute, between: [ground.H1, door.H1], axis: [0, 0, 1]}
  lower: {type: revolute, between: [ground.H2, door.H2], axis: [0, 0, 1]}
forces:
  closer: {type: spring, acts_on: upper.angle, stiffness: 15, damping: 3}
  weight: {type: gravity, acceleration: [0, 0.5, -9.81]}
degrees_of_freedom: {upper.angle: {position: 1.2, velocity: 0.3}}
objectives: {swing: {integral: norm2(door.E.velocity)}, shut: {final: upper.angle}}
"""

PARALLELOGRAM = """
kinegrad: 1
parameters: {L: 0.6, span: 1.0, m: 2.0}
ground: {markers: {A: [0, 0, 0], B: [span/2, 0, 0], C: [span, 0, 0]}}
bodies:
  left: {mass: 1, com: [L/2, 0, 0], inertia: [0, 0.03, 0.03], markers: {A: [0, 0, 0], E: [L, 0, 0]},
         pose: {x_axis: [0.36, -0.93, 0]}}
  middle: {mass: 1, com: [L/2, 0, 0], inertia: [0, 0.03, 0.03], markers: {A: [0, 0, 0], E: [L, 0, 0]},
           pose: {origin: [0.5, 0, 0], x_axis: [0.36, -0.93, 0]}}
  right: {mass: 1, com: [L/2, 0, 0], inertia: [0, 0.03, 0.03], markers: {A: [0, 0, 0], E: [L, 0, 0]},
          pose: {origin: [1, 0, 0], x_axis: [0.36, -0.93, 0]}}
  beam: {mass: m, com: [span/2, 0, 0], inertia: [0, 0.2, 0.2], markers: {P: [0, 0, 0], Q: [span/2, 0, 0], R: [span, 0, 0]},
         pose: {origin: [0.22, -0.56, 0]}}
joints:
  a1: {type: revolute, between: [ground.A, left.A], axis: [0, 0, 1]}
  e1: {type: revolute, between: [left.E, beam.P], axis: [0, 0, 1]}
  a2: {type: revolute, between: [ground.B, middle.A], axis: [0, 0, 1]}
  e2: {type: revolute, between: [middle.E, beam.Q], axis: [0, 0, 1]}
  a3: {type: revolute, between: [ground.C, right.A], axis: [0, 0, 1]}
  e3: {type: revolute, between: [right.E, beam.R], axis: [0, 0, 1]}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {a1.angle: {position: -1.2, velocity: 0.5}}
objectives: {path: {integral: norm2(beam.R.velocity)}, last: {final: a1.angle}}
"""


def motion(model, scheme, t_end=1.0, step=1e-3):
    return simulate(joint(model), *SCHEMES[scheme], t_end=t_end, step=step)


def assert_adjoint_is_direct(run, wrt=None, tolerance=1e-8):
    direct, adjoint = (gradient(run, wrt=wrt, method=method).matrix for method in ("direct", "discrete-adjoint"))
    scale = np.maximum(np.abs(direct), 1e-3 * np.abs(direct).max(axis=1, keepdims=True))
    assert np.isfinite(direct).all() and direct.any()
    assert (np.abs(adjoint - direct) / scale).max() < tolerance
    return direct


# --- redundant ---


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_door_with_two_hinges(scheme):
    """The second hinge adds five rows that say nothing new: motion and gradient are those of one hinge."""
    plain = Model.from_yaml_text(DOOR)
    del plain.joints["lower"]
    two, one = motion(Model.from_yaml_text(DOOR), scheme), motion(plain, scheme)
    assert len(two.system.rows) >= 5
    assert np.abs(two.marker("door.E").position - one.marker("door.E").position).max() < 1e-9
    found, expected = assert_adjoint_is_direct(two, ["width", "m"]), assert_adjoint_is_direct(one, ["width", "m"])
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_parallelogram_with_a_third_bar(scheme):
    """The middle bar holds nothing that the others do not; as a pendulum, the beam moves on a circle."""
    run = motion(Model.from_yaml_text(PARALLELOGRAM), scheme)
    m = run.system.m
    work = run.system.workspace()
    from kinegrad.kinematics.start import start

    start(run.system, work)
    assert np.linalg.matrix_rank(work["J"][:m]) == run.system.n - 1 < m
    angle = run.q[:, run.system.set.index["a1", "angle"]]
    R = run.marker("beam.R").position
    assert np.abs(R[:, 0] - (1.0 + 0.6 * np.cos(angle))).max() < 1e-9
    assert np.abs(R[:, 1] - 0.6 * np.sin(angle)).max() < 1e-9
    # a pendulum: (m L² + 3 (0.03 + L²/4)) a = -(m L + 3 L/2) g cos(angle)
    inertia, weight = 2 * 0.36 + 3 * (0.03 + 0.09), (2 * 0.6 + 3 * 0.3) * 9.81
    energy = 0.5 * inertia * run.qd[:, run.system.set.index["a1", "angle"]] ** 2 + weight * np.sin(angle)
    assert np.abs(energy - energy[0]).max() < 1e-4 * weight
    assert run.energies.drift < 1e-4 * weight
    assert_adjoint_is_direct(run, ["m"])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_five_bar_with_a_bar_twice(scheme):
    """A second bar between the same points, with half of the mass each, is redundant in its rows and changes nothing."""
    plain = Model.from_yaml(FIVE_BAR)
    double = Model.from_yaml(FIVE_BAR)
    half = {"mass": 0.75, "com": ["L_12/2", 0, 0], "inertia": [0, "J_12/2", "J_12/2"]}
    places = {
        "markers": {"P1": [0, 0, 0], "P2": ["L_12", 0, 0]},
        "pose": {"origin": [-1, -1, 0], "x_axis": [1.5, -1, 0]},
    }
    double.bodies["bar_12"] = half | places
    double.bodies["twin"] = half | places
    double.joints["T1"] = {"type": "revolute", "between": ["bar_A1.P1", "twin.P1"], "axis": [0, 0, 1]}
    double.joints["T2"] = {"type": "revolute", "between": ["bar_12.P2", "twin.P2"], "axis": [0, 0, 1]}
    one, two = motion(plain, scheme), motion(double, scheme)
    difference = one.marker("bar_12.P2").position - two.marker("bar_12.P2").position
    assert np.abs(difference).max() < (1e-9 if scheme != "ali3p" else 1e-6)
    # L_12 moves both bars, which are one body: where redundant rows stay consistent, gradients agree too
    found, expected = assert_adjoint_is_direct(two), assert_adjoint_is_direct(one)
    assert np.abs(found - expected).max() < (1e-8 if scheme != "ali3p" else 1e-5) * np.abs(expected).max()


# --- badly scaled ---


def scaled_five_bar(length, mass):
    """The five-bar with other units: lengths and masses multiplied, stiffnesses by mass so that time stays as it is."""
    model = Model.from_yaml(FIVE_BAR)
    document = model.to_dict()
    a, m = repr(length), repr(mass)
    lengths = ("L_s1", "L_s2", "r_G", "L_A1", "L_12", "L_23", "L_3B")
    inertias = ("J_A1", "J_12", "J_23", "J_3B")
    for name in lengths:
        document["parameters"][name] = f"({document['parameters'][name]})*{a}"
    for name in inertias:
        document["parameters"][name] = f"({document['parameters'][name]})*{m}*{a}**2"
    document["parameters"]["m_A1"] = mass
    for name, body in document["bodies"].items():
        if name != "bar_A1":
            body["mass"] = float(body["mass"]) * mass
        body["pose"]["origin"] = [length * x for x in body["pose"].get("origin", [0, 0, 0])]
    document["ground"]["markers"]["B"] = [length, 0, 0]
    for name, force in document["forces"].items():
        if name == "gravity":
            force["acceleration"] = [0, -9.81 * length, 0]
        else:
            force["stiffness"] = 100 * mass
    document["objectives"]["psi1"]["integral"] = f"norm2(bar_12.P2.position - vec(0.5*{a}, -2*{a}, 0))"
    return Model.from_dict(document)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("length", "mass"), [(1e-3, 1.0), (1e-3, 1e-3), (80e-3, 1e3), (1.0, 1e-3), (10.0, 1e3)])
def test_units_do_not_matter(length, mass, scheme):
    """The same motion and the same gradient in other units of length and mass."""
    reference = motion(scaled_five_bar(1.0, 1.0), scheme)
    run = motion(scaled_five_bar(length, mass), scheme)
    difference = run.marker("bar_12.P2").position / length - reference.marker("bar_12.P2").position
    assert np.abs(difference).max() < (1e-9 if scheme != "ali3p" else 1e-5)
    unit = np.array([length, length, mass, length, length])  # of the parameters of the design
    found, expected = assert_adjoint_is_direct(run) * unit / length**2, assert_adjoint_is_direct(reference)
    limit = 1e-8 if scheme != "ali3p" else 1e-4
    assert (np.abs(found - expected).max(axis=1) < limit * np.abs(expected).max(axis=1)).all()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_masses_from_a_gram_to_a_ton(scheme):
    """A heavy block that a light arm swings on, in closed loops with a lighter link."""
    model = Model.from_yaml_text(PARALLELOGRAM)
    document = model.to_dict()
    document["parameters"]["m"] = 1e3
    for name, mass in (("left", 1e-3), ("middle", 1.0), ("right", 1e-2)):
        document["bodies"][name] |= {"mass": mass, "inertia": [0, 0.03 * mass, 0.03 * mass]}
    run = motion(Model.from_dict(document), scheme)
    assert run.constraint_violation[:, 0].max() < 1e-9
    weight = 1e3 * 9.81 * 0.6
    assert run.energies.drift < 1e-4 * weight
    assert_adjoint_is_direct(run, ["m"])


def test_the_penalty_hardly_matters():
    """Over four decades of the penalty the motion is that of Matrix R to the discretisation error."""
    system = joint(Model.from_yaml(FIVE_BAR))
    exact = simulate(system, "matrix-r", "newmark", t_end=1.0, step=1e-3).marker("bar_12.P2").position
    for penalty in (1e7, 1e9, 1e11):
        run = simulate(system, ALI3P(penalty=penalty), "newmark", t_end=1.0, step=1e-3)
        assert np.abs(run.marker("bar_12.P2").position - exact).max() < 2e-6
