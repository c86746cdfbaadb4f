"""Runs of the command line inside the test process."""

import json
from pathlib import Path

import pytest

from kinegrad.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def quiet(monkeypatch):
    """Nothing about compilation, and no bar of progress, on standard error: a slow machine changes no output."""
    monkeypatch.setenv("KINEGRAD_QUIET", "1")


@pytest.fixture
def five_bar():
    return str(EXAMPLES / "five_bar" / "model.yaml")


@pytest.fixture
def slider_crank():
    return str(EXAMPLES / "slider_crank" / "model.yaml")


@pytest.fixture
def command(capsys):
    """Exit code, standard output and standard error of a command line."""

    def run(*arguments):
        with pytest.raises(SystemExit) as exit:
            main([str(argument) for argument in arguments])
        return exit.value.code, *capsys.readouterr()

    return run


@pytest.fixture
def report(command):
    """The object that a command line with ``--json`` prints, after a look at its exit code."""

    def run(*arguments, code=0, err=""):
        found, out, said = command(*arguments, "--json")
        assert (found, said) == (code, err), out
        return json.loads(out)

    return run


PENDULUM = """\
kinegrad: 1
title: Pendulum
parameters: {m: 2.0, L: 0.5, half: L/2, u: [1, 2], idle: 3}
variants: {heavy: {m: 20}}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [half, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  motor: {type: torque, acts_on: hinge.angle, value: "u[0]*sin(t) + u[1]"}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
objectives: {travel: {integral: norm2(rod.tip.velocity)}, last: {final: rod.tip.x}}
simulation: {t_end: 0.5}
"""


@pytest.fixture
def pendulum(tmp_path):
    """A function that writes the pendulum with replacements and gives its path."""

    def write(*replacements, name="model.yaml"):
        text = PENDULUM
        for old, new in replacements:
            assert old in text
            text = text.replace(old, new)
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write
