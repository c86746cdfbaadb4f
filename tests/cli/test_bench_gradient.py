"""``kinegrad bench gradient``: our gradients beside those of others, which agree."""

import importlib.util
import json

import numpy as np
import pytest

from kinegrad.bench import gradient, machine
from kinegrad.bench.chain import difference
from kinegrad.bench.gradient_peers import (
    by_differences,
    casadi_gradient,
    exudyn_objectives,
    mujoco_objectives,
)
from kinegrad.bench.robots import ROBOTS, kinegrad_robot, links_of, pinocchio_robot, state_of
from kinegrad.cli import main

STEP, T_END = 1e-3, 0.1


def ours(formulation="Index1", integrator="RungeKutta4", method="direct"):
    return gradient.kinegrad_gradient(formulation, integrator, method, STEP, T_END)()


def assert_alike(found, expected, tolerance):
    """Values of their own size, derivatives of the largest of their row."""
    assert np.abs(found.values / expected.values - 1.0).max() < tolerance
    largest = np.abs(expected.gradient).max(axis=1, keepdims=True)
    assert (np.abs(found.gradient - expected.gradient) / largest).max() < tolerance


@pytest.mark.parametrize("backwards", [False, True])
def test_casadi_differentiates_the_same_method_by_equations_of_its_own(backwards):
    pytest.importorskip("casadi")
    assert_alike(casadi_gradient(STEP, T_END, backwards)(), ours(), 1e-8)


@pytest.mark.parametrize(("integrator", "step"), [("implicitfast", 1e-4), ("RK4", 1e-3)])
def test_differences_of_mujoco_have_its_errors_only(integrator, step):
    """Its closure is soft, and implicitfast of first order."""
    pytest.importorskip("mujoco")
    found = by_differences(mujoco_objectives(step, T_END, integrator), gradient.CHANGE)()
    assert_alike(found, ours(), 3e-3)


def test_differences_of_exudyn_have_its_errors_only():
    pytest.importorskip("exudyn")
    found = by_differences(exudyn_objectives(STEP, T_END), gradient.CHANGE)()
    assert_alike(found, ours("ALI3P", "Newmark"), 2e-3)


def test_robots_branch_and_have_six_to_fifty_freedoms():
    freedoms = [len(links_of(robot)) - 1 for robot in ROBOTS]
    assert freedoms == [6, 12, 12, 43]
    for robot in ROBOTS:
        assert all(link.parent < i for i, link in enumerate(links_of(robot)))


@pytest.mark.parametrize(("robot", "floating"), [("arm", True), ("quadruped", False), ("humanoid with hands", True)])
def test_pinocchio_finds_the_same_derivatives(robot, floating):
    pytest.importorskip("pinocchio")
    state = state_of(robot)
    found, expected = (make(robot, floating, state).results() for make in (kinegrad_robot, pinocchio_robot))
    assert [x.shape for x in found] == [x.shape for x in expected]
    assert max(difference(a, b) for a, b in zip(found, expected, strict=True) if a.size) < 1e-12


def test_peers_that_are_missing_are_told_and_our_rows_are_there(capsys, monkeypatch):
    """The errors of ours: that of the trapezoidal rule with 1 ms."""
    there = importlib.util.find_spec
    peers = ("casadi", "exudyn", "mujoco", "pinocchio")
    monkeypatch.setattr(machine.importlib.util, "find_spec", lambda name: None if name in peers else there(name))
    monkeypatch.setattr(gradient, "CONTESTANTS", [c for c in gradient.CONTESTANTS if "RK4, d" not in c.name])
    with pytest.raises(SystemExit) as exit:
        main(["bench", "gradient", "--repeats", "1", "--json"])
    out, err = capsys.readouterr()
    rows = json.loads(out)["gradient"]
    assert exit.value.code == 0
    assert all(err.count(f"{package} is not installed") >= 1 for package in peers) and err.count("is left out") == 6
    assert {row["program"].split()[0] for row in rows} == {"kinegrad"}
    assert [row["error"] < 1e-5 for row in rows[:2]] == [True, True] and len(rows) == 2 + 2 * len(ROBOTS)
    assert all(row["us"] > 0.0 and row["ratio"] > 0.0 for row in rows)
