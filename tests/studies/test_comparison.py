"""kg.compare: combinations that agree, that disagree, that fail and that are refused, and what is asked of it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.studies.compare.judgement import Judgement
from kinegrad.studies.compare.quantities import Look, Points
from kinegrad.studies.compare.trials import Trial

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
    """In every set, at both body points of the joint set, and `recursive` there alone."""
    fractions = []
    found = kg.compare(model, progress=fractions.append)
    others = [key for key in SCHEMES if key[0] != "recursive"]
    expected = [(*at, *key) for at in (("joint", "origin"), ("joint", "com")) for key in SCHEMES]
    expected += [(kind, "", *key) for kind in ("reference-point", "natural") for key in others]
    tried = [(row.coordinates, row.body_point, row.formulation, row.integrator) for row in found.rows]
    assert tried == expected
    assert found.agrees and all(row.agrees is True and row.problem is None for row in found.rows)
    assert all(row.cause is None and row.reason is None for row in found.rows)
    assert np.all(np.diff(fractions) > 0.0) and len(fractions) == len(expected) + 1 and fractions[-1] == 1.0
    assert (found.title, found.step, found.t_end, found.quantity) == ("Pendulum", 0.002, 0.05, "motion")
    rows = {row.name: row for row in found.rows if row.body_point == "origin"}
    newmark, rk4 = rows["index1 with newmark"], rows["index1 with rk4"]
    assert newmark.error == pytest.approx(newmark.difference, rel=0.05)  # the estimate tells the error
    assert rk4.error < 1e-5 * newmark.error and rk4.iterations == 4.0 and rk4.steps == 50
    assert newmark.us_per_step > 0.0 and newmark.energy_drift > 1e-9 > rk4.energy_drift
    assert found.best.error == min(row.error for row in found.rows)


def test_what_is_recommended_and_what_sets_cost(model):
    """The cheapest that agrees within 1e-4 of the room the points take, and times beside those of joint coordinates."""
    found = kg.compare(model, formulations=["ali3p", "index1"], integrators=["newmark", "rk4"])
    chosen, good = found.recommended, [row for row in found.rows if row.agrees]
    fall = 0.5 * 0.05**2 * (2.0 * 9.81 * 0.25 * np.cos(np.pi / 4.0)) / (0.1 + 2.0 * 0.25**2)
    x = [0.5 * np.array([np.cos(a), np.sin(a)]) for a in (-np.pi / 4.0, -np.pi / 4.0 - fall)]
    room = np.ptp(np.array([[0.0, 0.0], *x]), axis=0)
    assert found.bound == pytest.approx(1e-4 * np.linalg.norm(room), rel=1e-3)
    assert chosen in good and chosen.error <= found.bound
    assert chosen.cpu_s <= 1.25 * min(row.cpu_s for row in good if row.error <= found.bound)
    assert set(found.ratios) == {"reference-point", "natural"}
    for kind, ratios in found.ratios.items():
        assert set(ratios) == {"ali3p with newmark", "index1 with newmark", "index1 with rk4"}
        there = next(row for row in found.rows if (row.coordinates, row.name) == (kind, "index1 with rk4"))
        plain = next(row for row in found.rows if (row.body_point, row.name) == ("origin", "index1 with rk4"))
        assert ratios["index1 with rk4"] == there.ratio == there.cpu_s / plain.cpu_s
    assert any(
        sentence.startswith("Recommended, as the cheapest with an error up to") for sentence in found.sentences()
    )


def test_nothing_is_recommended_where_steps_are_too_long(model):
    found = kg.compare(model, coordinates=["joint"], formulations=["ali3p"], step=0.1, t_end=2.0)
    assert found.agrees and found.recommended is None and max(row.error for row in found.rows) > 100.0 * found.bound
    assert "None has an error up to" in str(found) and "take a shorter step than 0.1 s" in str(found)
    assert "that agreement says little" in str(found)


def test_a_quick_comparison_says_what_it_leaves_out(model):
    found = kg.compare(model, quick=True, step=1e-4)
    assert {row.integrator for row in found.rows} == {"newmark", "rk4"}
    assert {row.body_point for row in found.rows} == {"origin", ""} and found.t_end == 0.025
    assert {row.formulation for row in found.rows} == {key[0] for key in SCHEMES}
    said = " ".join(found.left_out)
    assert (
        "generalized-alpha, hht, rk54" in said and "body point com" in said and "after t = 0.025 s, of 0.05 s" in said
    )
    given = kg.compare(model, quick=True, step=1e-4, t_end=0.03, formulations=["index1"], integrators=["rk54"])
    assert given.t_end == 0.03 and {row.integrator for row in given.rows} == {"rk54"}


def test_matrix_r_is_left_out_where_there_are_many_coordinates(model, monkeypatch):
    monkeypatch.setattr("kinegrad.studies.compare.ways.MOST_INDEPENDENT", 2)
    found = kg.compare(model, integrators=["rk4"], t_end=0.01)
    assert {row.coordinates for row in found.rows if row.formulation == "matrix-r"} == {"joint"}
    assert any("matrix-r is left out in natural coordinates" in sentence for sentence in found.left_out)
    asked = kg.compare(model, formulations=["matrix-r"], integrators=["rk4"], t_end=0.01)
    assert len(asked.rows) == 4 and not asked.left_out


def test_the_solver_is_passed_on(model):
    found = kg.compare(model, coordinates=["natural"], formulations=["ali3p", "matrix-r"], solver="fronts", t_end=0.01)
    assert {row.formulation: row.agrees for row in found.rows} == {"ali3p": True, "matrix-r": None}
    assert "The solver 'fronts' does not serve the formulation 'matrix-r'" in found.rows[-1].problem
    with pytest.raises(kg.KinegradError, match="'sparse' is no solver"):
        kg.compare(model, solver="sparse")


def test_choices_and_a_combination_that_does_not_exist(model):
    here = {"coordinates": ["joint"], "body_points": ["origin"]}
    found = kg.compare(model, **here, formulations=["ali3p", "matrix-r"], integrators=["newmark", "rk4"])
    assert [row.name for row in found.rows] == [
        "ali3p with newmark", "ali3p with rk4", "matrix-r with newmark", "matrix-r with rk4",
    ]  # fmt: skip
    refused = found.rows[1]
    assert refused.agrees is None and refused.error is None
    assert "ali3p with rk4: ali3p solves for positions at the end of each step" in refused.problem
    assert found.agrees and repr(found) == "<Comparison of 'Pendulum': 3 of 3 combinations agree, 1 refused>"
    only = kg.compare(model, **here, formulations=["ali3p"])
    assert {row.integrator for row in only.rows} == {"newmark", "hht", "generalized-alpha"}


def test_body_points(model):
    found = kg.compare(
        model, coordinates=["joint"], formulations=["index1", "recursive"], integrators=["rk4"], t_end=0.01
    )
    assert [(row.body_point, row.formulation, row.agrees) for row in found.rows] == [
        ("origin", "index1", True), ("origin", "recursive", True), ("com", "index1", True), ("com", "recursive", True),
    ]  # fmt: skip
    assert found.rows[2].difference < 1e-14 and found.rows[3].difference < 1e-12 and "body point" in str(found)


def test_objects_bring_their_options():
    """A soft penalty lets the loop of the five-bar give way; its error tells how much, and explains the difference."""
    five_bar = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    choices = {"coordinates": ["joint"], "body_points": ["origin"], "integrators": ["rk4"]}
    found = kg.compare(five_bar, **choices, formulations=[kg.Penalty(penalty=1e3), "index1"], t_end=0.1)
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
    assert not found.agrees and found.best is None and found.recommended is None
    assert all(row.cause == "failed" and "shorter steps do not pass that time" in row.reason for row in found.rows)
    assert all(row.agrees is False and "stopped at t = 0.01" in row.problem for row in found.rows)
    assert "force 'edge'" in str(found) and " NO" in str(found)


def judged(*given):
    """The judgement of trials of one point along a line: (where it is, its error), or None for one that failed."""
    trials = []
    for k, one in enumerate(given):
        about = {"coordinates": "joint", "formulation": str(k), "method": ""}
        way = SimpleNamespace(about=about)
        if one is None or isinstance(one, str):
            trials.append(Trial(way, problem="no", refused=one is None))
            continue
        x = np.array([[one[0], 0.0, 0.0]])
        trials.append(Trial(way, Look(x, 1.0, None, 1.0), coarse=x + [one[1], 0.0, 0.0], order=1))
    return Judgement.of(trials, Points.__new__(Points))


def test_judgement():
    found = judged((0.0, 1e-6), (3.8e-6, 3e-7), (8e-6, 5e-7), None, "failed", (3.8e-6, 3e-7), (3.9e-6, 1e-6))
    assert found.verdicts == [True, True, False, None, False, True, True] and found.reference == 1
    assert found.differences[0] == pytest.approx(3.8e-6) and found.differences[1] == 0.0
    assert judged(None, "failed").reference is None


def test_one_that_is_wrong_and_does_not_know_it_is_not_the_measure_of_all():
    found = judged((1.0, 1e-12), (0.0, 1e-6), (1e-6, 1e-6), (-1e-6, 2e-6))
    assert found.reference == 1 and found.verdicts == [False, True, True, True]
    assert judged((1.0, 1e-9), (0.0, 1e-6)).reference == 0  # no majority: the smallest error


def test_tables(model):
    pytest.importorskip("pandas")
    here = {"coordinates": ["joint"], "body_points": ["origin"]}
    found = kg.compare(model, **here, formulations=["ali3p"], integrators=["newmark", "rk4"], t_end=0.01)
    table = found.to_dataframe()
    assert list(table.columns[:5]) == ["coordinates", "body_point", "formulation", "integrator", "method"]
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
        ({"wrt": ["m"]}, "wrt is for gradients; give gradient=True"),
        ({"gradient": True}, "no objectives to differentiate"),
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
