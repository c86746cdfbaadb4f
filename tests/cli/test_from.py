"""``--from`` and ``--from-time`` of run, gradient, compare: where a motion starts."""

import json

import numpy as np
import pytest

import kinegrad as kg

HANGING = """\
kinegrad: 1
title: Pendulum on a spring
parameters: {m: 2.0, k: 60.0, L: 0.5}
design: [m, k, L]
ground: {markers: {O: [0, 0, 0], W: [0.8, 0.3, 0]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, between: [ground.W, rod.tip], stiffness: k, natural_length: 0.2}
degrees_of_freedom: {hinge.angle: {position: 0}}
objectives: {height: {final: rod.tip.position.y}}
simulation: {t_end: 0.2, step: 0.01}
"""


@pytest.fixture
def hanging(tmp_path):
    path = tmp_path / "hanging.yaml"
    path.write_text(HANGING)
    return path


def test_equilibrium(report, hanging):
    found = report("run", hanging, "--from", "equilibrium")["markers"]["rod.tip"]
    rest = report("equilibrium", hanging)["markers"]["rod.tip"]["position"]
    assert found["position"] == pytest.approx(rest, abs=1e-12) and np.abs(found["velocity"]).max() < 1e-10
    written = hanging.with_name("rest.yaml")
    written.write_text(HANGING.replace("step: 0.01}", "step: 0.01, start: equilibrium}"))
    assert report("run", written)["markers"]["rod.tip"]["position"] == found["position"]
    moving = report("run", written, "--from", "assembly")["markers"]["rod.tip"]
    assert moving == report("run", hanging)["markers"]["rod.tip"]
    checked = report("gradient", hanging, "--from", "equilibrium", "--check")
    assert max(checked["check"]["height"].values()) < 1e-7
    at_rest = report("equilibrium", hanging, "--gradient")["gradient"]["height"]
    assert checked["gradient"]["height"] == pytest.approx(at_rest, rel=1e-8)


def test_saved_state(report, command, hanging, tmp_path):
    path = tmp_path / "first.nc"
    whole = report("run", hanging, "--out", path)
    half = kg.load(path).state(0.1)
    later = report("run", hanging, "--from", path, "--from-time", 0.1, "--t-end", 0.1, "--out", tmp_path / "later.nc")
    assert later["markers"]["rod.tip"]["position"] == pytest.approx(whole["markers"]["rod.tip"]["position"], abs=1e-9)
    assert kg.load(tmp_path / "later.nc").q[0] == pytest.approx(half.q, abs=1e-15)
    last = report("run", hanging, "--from", path, "--step", 1e-9, "--t-end", 1e-9)["markers"]["rod.tip"]
    assert last["position"] == pytest.approx(whole["markers"]["rod.tip"]["position"], abs=1e-8)
    checked = report("gradient", hanging, "--from", path, "--check", "--method", "adjoint")
    assert max(checked["check"]["height"].values()) < 1e-7
    code, out, _ = command("compare", hanging, "--from", path, "--t-end", 0.05, "--json")
    assert code == 0 and all(row["agrees"] is not False for row in json.loads(out)["rows"])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--from", "rest"], "--from is 'rest', which is no file; give assembly, equilibrium, or a motion"),
        (["--from", "FILE", "--from-time", "3"], "no state at t = 3 s; it goes from 0 s to 0.2 s"),
        (["--from-time", "1"], "--from-time goes with --from FILE.nc"),
        (["--from", "OTHER"], "other.nc' is of another model: it has no body 'rod' that this one has"),
        (["--from", "MODEL"], "hanging.yaml' cannot be read"),
    ],
)
def test_refusals(command, hanging, tmp_path, options, sentence):
    kg.simulate(kg.joint(kg.Model.from_yaml(hanging))).save(tmp_path / "first.nc")
    other = HANGING.replace("rod", "bar")
    kg.simulate(kg.joint(kg.Model.from_yaml_text(other))).save(tmp_path / "other.nc")
    names = {"FILE": tmp_path / "first.nc", "OTHER": tmp_path / "other.nc", "MODEL": hanging}
    code, _, said = command("run", hanging, *(names.get(option, option) for option in options))
    assert code == 2 and sentence in " ".join(said.split())
