"""kg.compare: combinations that agree, that disagree, that fail and that are refused, and what is asked of it."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.studies.compare import Trial, judged

EXAMPLES = Path(__file__).parents[2] / "examples"
PENDULUM = """\
kinegrad: 1
title: Pendulum
parameters: {m: 2.0, L: 0.5, stiff: 1.0e+8}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0, 0.1, 0.1], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
simulation: {t_end: 0.05, step: 0.002}
"""


@pytest.fixture
def model():
    return kg.Model.from_yaml_text(PENDULUM)


def test_every_combination_of_a_pendulum_agrees(model):
    fractions = []
    found = kg.compare(model, progress=fractions.append)
    assert [(row.formulation, row.integrator) for row in found.rows] == list(SCHEMES)
    assert found.agrees and all(row.agrees is True and row.problem is None for row in found.rows)
    assert fractions == pytest.approx(np.arange(1, len(SCHEMES) + 1) / len(SCHEMES))
    assert (found.title, found.step, found.t_end) == ("Pendulum", 0.002, 0.05)
    rows = {row.name: row for row in found.rows}
    newmark, rk4 = rows["index1 with newmark"], rows["index1 with rk4"]
    assert newmark.error == pytest.approx(newmark.difference, rel=0.05)  # the estimate tells the error
    assert rk4.error < 1e-5 * newmark.error and found.best.error == min(row.error for row in found.rows)
    assert (rk4.coordinates, rk4.body_point, rk4.iterations) == ("joint", "origin", 4.0)
    assert newmark.us_per_step > 0.0 and newmark.energy_drift > 1e-9 > rk4.energy_drift


def test_choices_and_a_combination_that_does_not_exist(model):
    found = kg.compare(model, formulations=["ali3p", "matrix-r"], integrators=["newmark", "rk4"])
    assert [row.name for row in found.rows] == [
        "ali3p with newmark", "ali3p with rk4", "matrix-r with newmark", "matrix-r with rk4",
    ]  # fmt: skip
    refused = found.rows[1]
    assert refused.agrees is None and refused.error is None
    assert "ali3p with rk4: ali3p solves for positions at the end of each step" in refused.problem
    assert found.agrees and repr(found) == "<Comparison of 'Pendulum': 3 of 3 combinations agree, 1 refused>"
    only = kg.compare(model, formulations=["ali3p"])
    assert {row.integrator for row in only.rows} == {"newmark", "hht", "generalized-alpha"}


def test_body_points(model):
    found = kg.compare(
        model, body_points=["origin", "com"], formulations=["index1", "recursive"], integrators=["rk4"], t_end=0.01
    )
    assert [(row.body_point, row.formulation, row.agrees) for row in found.rows] == [
        ("origin", "index1", True), ("origin", "recursive", True), ("com", "index1", True), ("com", "recursive", True),
    ]  # fmt: skip
    assert found.rows[2].difference < 1e-14 and found.rows[3].difference < 1e-12 and "body_point" in str(found)


def test_objects_bring_their_options():
    """A soft penalty lets the loop of the five-bar give way; its error tells how much, and explains the difference."""
    five_bar = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    found = kg.compare(five_bar, formulations=[kg.Penalty(penalty=1e3), "index1"], integrators=["rk4"], t_end=0.1)
    soft, hard = found.rows
    assert (soft.formulation, hard.formulation) == ("penalty", "index1") and found.agrees and found.best is hard
    assert soft.difference > 1e-6 and soft.error == pytest.approx(soft.difference, rel=0.05)
    assert soft.max_constraint > 1e-6 > 1e-12 > hard.max_constraint


def test_options_that_are_expressions(model):
    """Penalty and tolerance of the file follow parameters: twice the one and a part of the other are their values."""
    model.simulation = {
        "t_end": 0.02, "formulation": {"type": "penalty", "penalty": "10*stiff"},
        "integrator": {"type": "rk54", "tolerance": "1/stiff"},
    }  # fmt: skip
    found = kg.compare(model, formulations=["penalty"], integrators=["rk54"])
    assert found.agrees and found.rows[0].problem is None


def test_a_run_that_fails_is_a_disagreement(model):
    model.forces["edge"] = kg.Torque(acts_on="hinge.angle", value="sqrt(0.0105 - t)")
    found = kg.compare(model, formulations=["ali3p", "index1"], integrators=["newmark"], t_end=0.02)
    assert not found.agrees and found.best is None
    assert all(row.agrees is False and "stopped at t = 0.01" in row.problem for row in found.rows)
    assert "force 'edge'" in str(found) and " NO" in str(found)


def test_judgement():
    at = np.zeros((2, 3))
    about = {"coordinates": "joint", "body_point": "origin", "integrator": "x"}
    trials = [
        Trial({**about, "formulation": "a"}, points=at, error=1e-6),
        Trial({**about, "formulation": "b"}, points=at + [3.8e-6, 0, 0], error=3e-7),
        Trial({**about, "formulation": "c"}, points=at + [0, 0, 4e-6], error=5e-7),
        Trial({**about, "formulation": "d"}, problem="no", refused=True),
        Trial({**about, "formulation": "e"}, problem="failed"),
    ]
    rows = judged(trials)
    assert [row.agrees for row in rows] == [True, True, False, None, False]
    assert rows[0].difference == pytest.approx(3.8e-6) and rows[1].difference == 0.0


def test_tables(model):
    pytest.importorskip("pandas")
    found = kg.compare(model, formulations=["ali3p"], integrators=["newmark", "rk4"], t_end=0.01)
    table = found.to_dataframe()
    assert list(table.columns[:5]) == ["coordinates", "body_point", "formulation", "integrator", "error"]
    assert table["integrator"].tolist() == ["newmark", "rk4"] and table["error"][0] == found.rows[0].error
    assert table.attrs["units"]["difference"] == "m"
    assert "<td>newmark</td>" in found._repr_html_() and "refused" in found._repr_html_()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"formulations": ["ali3q"]}, "'ali3q' is no formulation"),
        ({"formulations": ["udwadia"]}, "'udwadia' is no formulation"),
        ({"integrators": ["rk4", "rk4"]}, "The integrator 'rk4' is named twice"),
        ({"formulations": []}, "No formulation is named"),
        ({"coordinates": ["natura"]}, "There are no coordinates 'natura' .*; choose one of joint"),
        ({"body_points": ["centre"]}, "body_point is 'centre'"),
        ({"cut": ["nut"]}, "nut"),
        ({"step": -1.0}, "step"),
        ({"formulations": ["ali3p"], "integrators": ["rk4"]}, "needs an implicit integrator"),
    ],
)
def test_refused_by_name(model, options, said):
    with pytest.raises(kg.KinegradError, match=said):
        kg.compare(model, **options)


def test_bodies_without_points_cannot_be_compared(model):
    bare = kg.Model(bodies={"ball": kg.Body(mass=1.0, inertia=(1.0, 1.0, 1.0))})
    with pytest.raises(kg.KinegradError, match="nothing to compare"):
        kg.compare(bare, t_end=0.01)


def test_freedoms_that_do_not_suit_are_told_once(model):
    model.degrees_of_freedom = {}
    with pytest.raises(kg.KinegradError) as error:
        kg.compare(model)
    assert len(error.value.problems) == 1 and "1 degrees of freedom" in str(error.value)
