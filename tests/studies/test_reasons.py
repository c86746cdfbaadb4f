"""Why combinations disagree: stiff, chaotic and drifting mechanisms, and steps that are too long, each told by its evidence."""

from pathlib import Path

import pytest

import kinegrad as kg
from kinegrad.studies.compare.judgement import Judgement
from kinegrad.studies.compare.quantities import Points
from kinegrad.studies.compare.reasons import Reasons
from kinegrad.studies.compare.trials import Runs
from kinegrad.studies.compare.ways import Way

EXAMPLES = Path(__file__).parents[2] / "examples"
HERE = {"coordinates": ["joint"], "body_points": ["origin"]}
DOUBLE = """\
kinegrad: 1
title: Double pendulum
parameters: {k: 0}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  upper: {mass: 1, com: [0.25, 0, 0], inertia: [0, 0.02, 0.02], markers: {O: [0, 0, 0], P: [0.5, 0, 0]}}
  lower: {mass: 1, com: [0.25, 0, 0], inertia: [0, 0.02, 0.02], markers: {P: [0, 0, 0], tip: [0.5, 0, 0]}}
joints:
  shoulder: {type: revolute, between: [ground.O, upper.O], axis: [0, 0, 1]}
  elbow: {type: revolute, between: [upper.P, lower.P], axis: [0, 0, 1]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  stiff: {type: torque, acts_on: elbow.angle, value: -k*elbow.angle}
degrees_of_freedom:
  shoulder.angle: {position: 0.5, velocity: 0}
  elbow.angle: {position: 0, velocity: 0}
simulation: {t_end: 0.2, step: 0.002}
"""


def rows(found):
    return {row.name: row for row in found.rows}


@pytest.fixture
def double():
    return kg.Model.from_yaml_text(DOUBLE)


def test_stiff(double):
    """Explicit steps beyond the limit of stability, while those with error control agree."""
    found = rows(kg.compare(double.with_values(k=3e5), **HERE, formulations=["index1"], integrators=["rk4", "rk54"]))
    row = found["index1 with rk4"]
    assert row.agrees is False and row.cause == "stiff" and "stability of an explicit scheme" in row.reason
    assert found["index1 with rk54"].agrees is True


def test_chaotic(double):
    """No two agree after a time in which a change of the start grows a millionfold; for a short time they do."""
    choices = HERE | {"formulations": ["index1", "matrix-r"], "integrators": ["newmark", "rk4"]}
    wild = double.with_values(k=0)
    wild.degrees_of_freedom["shoulder.angle"] = kg.Freedom(position=2.5, velocity=0.0)
    found = kg.compare(wild, **choices, t_end=25.0)
    wrong = [row for row in found.rows if row.agrees is False]
    assert wrong and all(row.cause == "chaotic" and "a small change of the start" in row.reason for row in wrong)
    assert kg.compare(wild, **choices, t_end=0.5).agrees


def test_drift():
    """Nothing holds the constraints of a linkage with redundant rows; with a frequency they are held and it agrees."""
    bennett = kg.Model.from_yaml(EXAMPLES / "bennett" / "model.yaml")
    choices = HERE | {"integrators": ["generalized-alpha"]}
    found = rows(kg.compare(bennett, **choices, formulations=["ali3p", "index1", "matrix-r", "udwadia-kalaba"]))
    row = found["udwadia-kalaba with generalized-alpha"]
    assert [one.agrees for one in found.values()] == [True, True, True, False]
    assert row.cause == "drift" and "with a frequency of 10 rad/s" in row.reason
    held = [kg.UdwadiaKalaba(frequency=10.0), "ali3p"]
    assert kg.compare(bennett, **choices, formulations=held).agrees


def test_a_penalty_that_is_far_too_soft(double):
    """Twice as much changes hardly anything, so the error is not told; with far more the rod holds."""
    document = double.to_dict()
    document["ground"]["markers"]["W"] = [1.5, 0.2, 0]
    document["constraints"] = {"rod": {"type": "distance", "between": ["ground.W", "lower.tip"], "distance": 0.7}}
    del document["degrees_of_freedom"]["elbow.angle"]
    tied = kg.Model.from_dict(document)
    for penalty, factor in ((0.05, "100"), (0.003, "10000")):
        formulations = ["ali3p", "index1", kg.Penalty(penalty=penalty)]
        found = kg.compare(tied, **HERE, formulations=formulations, integrators=["newmark"], t_end=0.4)
        assert [row.agrees for row in found.rows] == [True, True, False]
        assert (
            found.rows[-1].cause == "penalty" and f"with {factor} times the penalty it agrees" in found.rows[-1].reason
        )


def test_a_penalty_so_soft_that_the_run_stops():
    """Its message bids to look for a singular position, of which there is none: a stiffer loop passes that time."""
    five_bar = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    choices = HERE | {"integrators": ["newmark"], "t_end": 0.4, "step": 2e-3}
    row = kg.compare(five_bar, **choices, formulations=["ali3p", "index1", kg.Penalty(penalty=0.1)]).rows[-1]
    assert "look for a singular position" in row.problem and row.agrees is False
    assert row.cause == "penalty" and "100 times the penalty it passes that time" in row.reason


def test_what_stops_at_a_singular_position_is_told():
    """index1 stops where the rods of the parallelogram lie on one line; ali3p, matrix-r and explicit steps pass."""
    model = kg.Model.from_yaml(EXAMPLES / "parallelogram" / "model.yaml")
    choices = HERE | {"formulations": ["ali3p", "matrix-r", "index1"], "integrators": ["newmark", "rk4"]}
    found = rows(kg.compare(model, **choices, t_end=0.4, step=1e-3))
    row = found.pop("index1 with newmark")
    assert row.agrees is False and row.cause == "singular" and "lose rank there; shorter steps do not" in row.reason
    assert {one.agrees for one in found.values()} == {True, None}  # ali3p takes no explicit integrator


def test_error_control_tells_its_error_where_coordinates_change():
    """matrix-r chooses other coordinates at a smaller tolerance, so errors do not fall by 2^5; a third run shows them."""
    bennett = kg.Model.from_yaml(EXAMPLES / "bennett" / "model.yaml")
    choices = {"coordinates": ["joint", "reference-point"], "body_points": ["origin"], "formulations": ["matrix-r"]}
    found = kg.compare(bennett, **choices, integrators=["rk54", "rk4"])
    row = next(row for row in found.rows if (row.coordinates, row.integrator) == ("reference-point", "rk54"))
    assert found.agrees and row.difference == pytest.approx(1.38e-8, rel=0.1)
    assert row.error == pytest.approx(row.difference, rel=0.1)  # the reference is far nearer to the motion


@pytest.mark.parametrize("step", [0.02, 0.03])
def test_a_step_too_long_to_tell_the_error(double, step):
    """Fast vibration that the step hardly resolves: shorter ones come nearer, and not as the order says."""
    fast = double.with_values(k=100.0)
    choices = HERE | {"formulations": ["index1", "matrix-r"], "integrators": ["newmark", "rk4", "rk54"]}
    found = kg.compare(fast, **choices, step=step, t_end=3.0)
    wrong = [row for row in found.rows if row.agrees is False]
    assert {row.name for row in wrong} == {"index1 with rk4", "matrix-r with rk4"}
    assert all(row.cause == "step" and "times nearer, and its errors fall by 2^" in row.reason for row in wrong)
    assert all(row.reason in str(found) for row in wrong)


def test_a_singular_position_that_the_motion_passes_is_found():
    """The parallelogram's rods lie on one line after a quarter of a turn; up to shortly before that there is none."""
    system = kg.joint(kg.Model.from_yaml(EXAMPLES / "parallelogram" / "model.yaml"))
    way = Way("joint", "origin", system, kg.ALI3P(), kg.Newmark())
    found = []
    for t_end in (0.15, 0.4):
        runs = Runs(Points(system), 1e-3, t_end)
        trials = [runs.trial(way)]
        found.append(Reasons(runs, trials, Judgement.of(trials, runs.quantity))._passed)
    assert found[0] is None and found[1] == pytest.approx(0.2135, abs=2e-3)
