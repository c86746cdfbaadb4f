"""Reference-point coordinates: what they are, and that they are the same mechanism as in joint coordinates."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close
from same_start import LOOP, NAMES, assert_same_start, chain, started

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.kernels.jit import JIT

LARGE = ("anchor_chain", "buggy")  # these are in tests/examples/test_vehicles.py
FOLDERS = [path.parent.name for path in (Path(__file__).parents[2] / "examples").glob("*/model.yaml")]
EXAMPLES = sorted(name for name in FOLDERS if name not in LARGE)
compiled = pytest.mark.skipif(not JIT, reason="runs need the compiler")


def example(name):
    return kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / name / "model.yaml")


def assert_same(model):
    assert_same_start(kg.joint(model), kg.reference_point(model))


# --- what they are ---


def test_names_and_sizes():
    system = kg.reference_point(example("five_bar"))
    assert (system.kind, system.n, system.m) == ("reference-point", 30, 31)
    assert system.coordinates[:7] == tuple(f"bar_A1.{part}" for part in ("x", "y", "z", "e0", "e1", "e2", "e3"))
    assert [c.unit for c in system.coordinates[:7]] == ["m"] * 3 + ["1"] * 4
    assert system.coordinates[-2:] == ("JA.angle", "J1.angle")
    assert system.alike.shape == (4, 4) and system.set.spanning_tree() is None


def test_it_is_chosen_by_name():
    model = example("simple_pendulum")
    assert kg.lower(model, "reference-point").kind == "reference-point"
    chosen = kg.Model.from_dict(model.to_dict() | {"simulation": {"coordinates": "reference-point", "t_end": 1}})
    assert kg.lower(chosen).kind == "reference-point"
    assert kg.Model.from_dict(chosen.to_dict()).simulation.coordinates.type == "reference-point"
    with pytest.raises(kg.KinegradError, match=r"^Reference-point coordinates have no option 'cut'"):
        kg.lower(model, "reference-point", cut=["hinge"])


def test_the_recursive_formulation_is_refused():
    with pytest.raises(kg.KinegradError, match="needs joint coordinates, not reference-point"):
        kg.simulate(kg.reference_point(example("simple_pendulum")), "recursive", "rk4", t_end=0.01)


def test_it_travels():
    system = kg.reference_point(example("slider_crank"), values={})
    again = pickle.loads(pickle.dumps(system.with_parameters(system.rho * 1.01)))
    assert again.kind == system.kind and again.coordinates == system.coordinates
    assert_close(again.rho, 1.01 * system.rho)


@pytest.mark.parametrize("values", ["[0, 0, 0, 0]", "[0, 0, 0, 0*a]"])
def test_a_quaternion_of_zeros_is_one_sentence(values, tmp_path, capsys):
    path = tmp_path / "top.yaml"
    path.write_text(TOP.replace("[1, 0.1, 0.2, a]", values))
    with pytest.raises(SystemExit) as exit:
        main(["run", str(path), "--coordinates", "reference-point"])
    told = capsys.readouterr().err
    assert exit.value.code == 2 and told.count("\n") == 1 and "euler_parameters" in told


# --- the same mechanism ---


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_start_alike(name):
    assert_same(example(name))


@pytest.mark.parametrize("turned", [False, True], ids=["", "reversed"])
@pytest.mark.parametrize("name", NAMES)
def test_joints_start_alike(name, turned):
    """A chain of two bodies with every joint: angles with turns, and rotations near half a turn, as degrees of freedom."""
    assert_same(chain(name, turned))


# --- a rotation at the start where nothing carries it ---

TOP = """
kinegrad: 1
parameters: {a: 0.4, w: 2.0, m: 1.2}
ground: {markers: {O: [0.1, 0, 0.2]}}
bodies: {top: {mass: m, com: [0, 0.1, 0.3], inertia: [0.3, 0.4, 0.5], markers: {o: [0, 0, 0], tip: [0.1, 0.2, a]}}}
joints: {ball: {type: spherical, between: [ground.O, top.o]}}
forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom: {ball: {euler_parameters: [1, 0.1, 0.2, a], angular_velocity: [w, 0.2, -1]}}
objectives: {path: {integral: norm2(top.tip.velocity) + top.tip.acceleration.x}}
simulation: {t_end: 0.05, step: 1.0e-3}
"""


@compiled
@pytest.mark.parametrize("turned", [False, True], ids=["", "reversed"])
def test_every_number_of_a_rotation_keeps_its_derivative(turned):
    """Derivatives by the Euler parameters and the angular velocity at the start, those of joint coordinates at small steps."""
    text = TOP.replace("[ground.O, top.o]", "[top.o, ground.O]") if turned else TOP
    values = []
    for lower in (kg.joint, kg.reference_point):
        motion = kg.simulate(lower(kg.Model.from_yaml_text(text)), "matrix-r", "rk4")
        found = [
            kg.gradient(motion, wrt=["a", "w", "m"], method=method).matrix[0]
            for method in ("direct", "discrete-adjoint")
        ]
        assert_close(found[0], found[1], 1e-9, np.abs(found[0]).max())
        values.append(found[0])
    assert_close(values[1], values[0], 1e-9, np.abs(values[0]).max())


def test_a_cut_joint_starts_with_its_rotation_too():
    """In joint coordinates, where the ball is cut and the hinge carries the body; a half turn away would satisfy the rows."""
    text = TOP.replace("joints: {", "joints: {air: {type: floating, between: [ground.O, top.o]}, ")
    system = kg.joint(kg.Model.from_yaml_text(text), cut=["ball"])
    assert [f.name for f in system.freedoms] == ["ball.rotation.x", "ball.rotation.y", "ball.rotation.z"]
    x, xd, *_ = started(system)
    expected, rate, *_ = started(kg.joint(kg.Model.from_yaml_text(TOP)))
    assert_close(x, expected, 1e-12)
    assert_close(xd, rate, 1e-12)


@compiled
@pytest.mark.parametrize("pitch", [0.0, 0.05])
def test_a_screw_may_have_no_pitch(pitch):
    text = LOOP.replace(
        "JOINT", json.dumps({"type": "screw", "between": ["a.q", "b.p"], "axis": [0, 1, 0.2], "pitch": pitch})
    )
    text = re.sub("STARTS", "it.angle: {position: 8, velocity: -2}", text)
    assert_same(kg.Model.from_yaml_text(text))
