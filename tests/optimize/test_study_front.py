"""Fronts of two goals that are known in closed form."""

import json

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.optimize.front import distinct, efficient

MODEL = """
kinegrad: 1
parameters: {F: 0.4, G: 0.3}
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: F + G}}
degrees_of_freedom: {slide.distance: {position: 0}}
objectives: {miss: {final: "(mass.O.x - 1)**2"}, far: {final: "(mass.O.x - 2)**2"}}
simulation: {t_end: 2, step: 0.1, formulation: {type: index1}, integrator: {type: rk4}}
"""


def study(**keys):
    """x = 2 (F + G); the miss (x - 1)² against the effort F² + G², which is least for F = G."""
    variables = {name: {"bounds": [-1, 1], "scale": 1, "start": 0.2} for name in "FG"}
    return kg.Study(kg.Model.from_yaml_text(MODEL), variables=variables, **keys)


def known(effort):
    """The least miss of an effort: F = G = sqrt(effort/2)."""
    return np.minimum(4.0 * np.sqrt(effort / 2.0) - 1.0, 0.0) ** 2


def test_a_front_by_limits():
    found = study(minimise="miss").front(["miss", "F**2 + G**2"], points=6)
    other = study(minimise="miss").front(["far", "miss"], points=3)  # both from runs: (x - 2)² and (x - 1)²
    assert np.sqrt(other.goals).sum(axis=1) == pytest.approx(1.0, abs=1e-6)
    assert len(found) == 6 and found.dropped == 0 and found.method == "limits"
    miss, effort = found.goals.T
    assert miss == pytest.approx(known(effort), abs=1e-6)
    assert effort == pytest.approx(np.linspace(0.125, 0.0, 6), abs=1e-6) and (np.diff(miss) > 0.0).all()
    assert found.values[:, 0] == pytest.approx(found.values[:, 1], abs=1e-4)
    assert list(found.to_dataframe().columns) == ["F", "G", "miss", "F**2 + G**2"]


def test_a_front_by_a_population():
    pytest.importorskip("pymoo")
    found = study(minimise="miss", solver={"max_evaluations": 200}).front(
        ["miss", "F**2 + G**2"], 10, method="nsga2", seed=2
    )
    miss, effort = found.goals.T
    assert len(found) >= 8 and (miss >= known(effort) - 1e-12).all() and found.evaluations <= 220
    assert np.abs(miss - known(effort)).max() < 0.2


def test_the_command(tmp_path, optimize):
    """A table, a figure, JSON; the log is read by the same command."""
    (tmp_path / "model.yaml").write_text(MODEL)
    (tmp_path / "study.yaml").write_text(
        "kinegrad_study: 1\nmodel: model.yaml\nvariables: {F: {bounds: [-1, 1], scale: 1}}\n"
        "front: {goals: [miss, F**2], points: 3}\n"
    )
    code, out, err = optimize(tmp_path / "study.yaml", "--plot", tmp_path / "front.png")
    assert code == 0 and "3 designs by limits" in out and (tmp_path / "front.png").stat().st_size > 5000, err
    before = (tmp_path / "study.jsonl").read_text()
    code, out, _ = optimize(tmp_path / "study.yaml", "--json")
    assert code == 0 and json.loads(out)["points"] == 3 and (tmp_path / "study.jsonl").read_text() == before


def test_what_is_better():
    goals = np.array([[0.0, 3.0], [1.0, 1.0], [2.0, 1.0], [1.0, 1.0], [3.0, 0.0]])
    assert efficient(goals).tolist() == [True, True, False, True, True]


def test_designs_that_are_found_again_count_once():
    goals = np.array([[0.0, 3.0], [1.0, 1.0], [1.0 + 1e-9, 1.0], [0.0, 3.0 - 1e-9]])
    assert distinct(goals).tolist() == [True, True, False, False] and distinct(np.ones((3, 2))).tolist() == [
        True,
        False,
        False,
    ]
    twice = study(minimise="miss").front(["miss", "miss + 1"], points=3)  # both are least in one design
    assert len(twice) == 1 and twice.dropped == 2


def test_searches_that_are_stuck_at_an_end_come_from_the_other(tmp_path):
    """Where F = 0 its cosine is largest and does not slope, so a search that starts there stays."""
    one = kg.Study(
        kg.Model.from_yaml_text(MODEL), variables={"F": {"bounds": [-1, 1], "scale": 1, "start": 0.4}}, set={"G": 0},
        minimise="miss",
    )  # fmt: skip
    found = one.front(["cos(F)", "F**2"], points=5, log=tmp_path / "front.jsonl")
    assert len(found) == 5 and found.dropped == 0
    assert found.goals[:, 1] == pytest.approx([1.0, 0.75, 0.5, 0.25, 0.0], abs=1e-6)
    assert found.goals[:, 0] == pytest.approx(np.cos(np.sqrt(found.goals[:, 1])), abs=1e-12)
    again = one.front(["cos(F)", "F**2"], points=5, log=tmp_path / "front.jsonl")
    assert again.to_dict() == found.to_dict()


def test_refused(monkeypatch):
    for front, sentence in (
        (["miss"], "has one goal; give at least two"),
        ({"goals": ["miss", "F", "G"], "method": "limits"}, "method limits takes two"),
        (["miss", "mis"], r"front.goals\[?.?1\]? is 'mis'"),
    ):
        with pytest.raises(kg.ModelError, match=sentence):
            study(front=front)
    with pytest.raises(kg.ModelError, match="front and multistart stand in one study"):
        study(front=["miss", "F"], multistart={"starts": 2})
    with pytest.raises(kg.KinegradError, match=r"use Study.front\(\)"):
        study(front=["miss", "F"]).optimize()
    with pytest.raises(
        kg.KinegradError, match="'tnc', which takes no constraints, and a front by limits needs one; choose from slsqp"
    ):
        study(minimise="miss", solver="tnc").front(["miss", "F**2"])
    monkeypatch.setitem(__import__("sys").modules, "pymoo", None)
    with pytest.raises(kg.KinegradError, match=r"needs pymoo.*pip install 'kinegrad\[opt\]'"):
        study(minimise="miss").front(["miss", "F", "G"])
