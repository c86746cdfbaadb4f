"""Synthesis of driven linkages: paths, functions and motions, with their timing or without; defects are told."""

import json
import runpy
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.optimize.synthesis import defects

FOLDER = Path(__file__).parents[2] / "examples" / "studies" / "four_bar_synthesis"
KNOWN = runpy.run_path(str(FOLDER / "curve.py"))
TRUE = KNOWN["TRUE"]


def study(name):
    return kg.Study.from_yaml(FOLDER / f"{name}.yaml")


@pytest.mark.parametrize("name", ["study", "motion"])
def test_a_linkage_is_recovered(name):
    """All ten numbers of a linkage from the closed form of its coupler curve."""
    found = study(name).optimize()
    assert found.status == "optimum" and found.evaluations < 20
    assert found.variables == pytest.approx(TRUE, abs=1e-9)
    assert found.defects == []


def test_a_linkage_is_recovered_without_timing():
    found = study("free").optimize()
    lengths = {name: value for name, value in TRUE.items() if name != "phase"}
    assert found.status == "optimum" and found.defects == []
    assert {name: found.variables[name] for name in lengths} == pytest.approx(lengths, abs=1e-7)
    turns = np.array([0.0, 0.5, 0.9, 1.6, 2.1, 2.5, 3.1, 3.8, 4.2, 4.9, 5.4, 5.9])
    assert np.array(found.variables["turns"]) + np.pi / 2 == pytest.approx(TRUE["phase"] + turns, abs=1e-7)


def test_a_function_is_recovered():
    """Ratios of lengths, and angles from the line of the pivots."""
    found = study("function").optimize()
    dx, dy = TRUE["Dx"] - TRUE["Ax"], TRUE["Dy"] - TRUE["Ay"]
    size, line = 3.0 / np.hypot(dx, dy), np.arctan2(dy, dx)
    assert found.variables == pytest.approx(
        {**{name: size * TRUE[name] for name in "abc"}, "phase": TRUE["phase"] - line, "shift": line}, abs=1e-9
    )


def test_points_in_another_order(tmp_path, optimize):
    """Two places exchanged: the linkage goes back to pass them, which is told, and no success."""
    lines = (FOLDER / "free.csv").read_text().splitlines()
    a, b = (line.split(",", 1) for line in lines[4:6])
    lines[4:6] = [f"{a[0]},{b[1]}", f"{b[0]},{a[1]}"]
    (tmp_path / "free.csv").write_text("\n".join(lines))
    for name in ("free.yaml", "linkage.yaml"):
        (tmp_path / name).write_text((FOLDER / name).read_text())
    code, out, _ = optimize(tmp_path / "free.yaml", "--json")
    found = json.loads(out)
    assert code == 1 and found["status"] == "optimum" and found["values"]["minimise"] < 1e-12
    (text,) = found["defects"]
    assert text.startswith("order: the driver 'motor' goes from") and "t = 3 and 4 s" in text


def test_branches():
    """A parallelogram passes a singular position where its crank lies on the line of the pivots."""
    plan = study("study").plan
    flat = {"Dx": 3.0, "a": 1.0, "b": 3.0, "c": 1.0, "px": 1.0, "py": 0.5, "phase": 0.5}
    (text,) = defects(plan, plan.variables.start, np.array([flat.get(label, 0.0) for label in plan.variables.labels]))
    t = (np.pi - 0.5) / (np.pi / 6)  # the crank goes on by 30 degrees each second
    assert text.startswith("branch: the linkage passes a singular position at t = 5.0") and t == pytest.approx(
        5.045, abs=1e-3
    )


def test_goals_that_need_no_motion(tmp_path, optimize):
    """The least coupler and rocker for the longest crank, by parameters alone: a linkage that does not move."""
    (tmp_path / "linkage.yaml").write_text((FOLDER / "linkage.yaml").read_text())
    path = tmp_path / "study.yaml"
    path.write_text(
        "kinegrad_study: 1\nmodel: linkage.yaml\nanalysis: kinematics\n"
        "variables: {a: {bounds: [0.5, 2]}, b: {bounds: [2, 3]}}\nminimise: b - a\n"
    )
    code, out, _ = optimize(path)
    said = " ".join(out.split())
    assert (
        code == 1
        and "optimum: " in said
        and "Defect of branch: the linkage does not move: " in said
        and ".." not in said
    )
