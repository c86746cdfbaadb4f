"""The example in the help of every command."""

import itertools
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest
import typer
from conftest import EXAMPLES

from kinegrad.cli import app

ARM = """\
kinegrad: 1
title: Arm
parameters: {mass: 2.0, length: 0.6}
design: [mass, length]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm: {mass: mass, com: [length/2, 0, 0], inertia: [0, 0.06, 0.06], markers: {O: [0, 0, 0], B: [length, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  brake: {type: torque, acts_on: hinge.angle, value: -0.1*hinge.angle.velocity - 20*hinge.angle}
degrees_of_freedom: {hinge.angle: {position: 0.3}}
objectives: {reach: {final: arm.B.x}}
simulation: {t_end: 0.01}
"""
CRANK = ARM[: ARM.index("degrees_of_freedom")] + "drivers: {turn: {measure: hinge.angle, value: 6*t}}\n"
COMMANDS = typer.main.get_command(app).commands
#: Those that compile everything, or serve a page until they are stopped, are parsed; what they do has tests of its own.
LONG = ("precompile", "view")


def example(name):
    """The words of the example at the end of a command's help, without the name of the program."""
    text = " ".join(COMMANDS[name].help.split())
    found = re.search(r"Example: kinegrad (\S+.*)$", text)
    assert found, f"the help of {name} has no example"
    return shlex.split(found[1])


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_in_the_help(name, command, tmp_path, monkeypatch):
    words = example(name)
    assert words[0] == name
    if name in LONG:
        COMMANDS[name].make_context(name, words[1:])
        return
    shutil.copy(EXAMPLES / "slide" / "model.yaml", tmp_path)
    shutil.copy(EXAMPLES / "slide" / "study.yaml", tmp_path)
    (tmp_path / "arm.yaml").write_text(ARM)
    (tmp_path / "crank.yaml").write_text(CRANK)
    monkeypatch.chdir(tmp_path)
    code, out, err = command(*words)
    assert (code, err) == (0, "") and out
    for option, file in itertools.pairwise(words):
        if option in ("--plot", "--out", "--html"):
            assert (tmp_path / file).stat().st_size > 0


@pytest.mark.parametrize("name", COMMANDS)
def test_help_keeps_its_words_where_python_drops_them(name):
    """PYTHONOPTIMIZE=2 drops docstrings."""
    made = (
        "import sys, typer; from kinegrad.cli import app; print(typer.main.get_command(app).commands[sys.argv[1]].help)"
    )
    command = [sys.executable, "-c", made, name]
    done = subprocess.run(command, env=os.environ | {"PYTHONOPTIMIZE": "2"}, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == COMMANDS[name].help.strip()
