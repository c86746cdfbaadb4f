"""Stages with other numbers of ordinates: the course found before goes on."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.optimize.ordinates import Course, carried

SLIDE = kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / "slide" / "model.yaml")
ARRIVES = {"arrives": {"value": "x", "equals": 1}, "rests": {"value": "v", "equals": 0}}


def study(*stages, u=None, **keys):
    stages = [{} if one is None else {"ordinates": {"u": one}} for one in stages]
    keys = {"variables": {"u": u or {"bounds": [-20, 20], "scale": 10}}, "constraints": ARRIVES} | keys
    return kg.Study(SLIDE, minimise="effort", stages=stages, **keys)


@pytest.mark.parametrize("kind", ["natural", "flat", "linear"])
def test_courses_are_kept(kind):
    """Exactly where all abscissas before are kept, else by least squares, nearer than the course at the new ones."""
    values, t = np.random.default_rng(3).normal(size=6), np.linspace(0, 2, 400)
    old = Course(np.linspace(0, 2, 6), kind)
    finer, other = Course(np.array([0, 0.1, 0.4, 0.8, 1.0, 1.2, 1.6, 2.0]), kind), Course(np.linspace(0, 2, 9), kind)
    assert finer.at(carried(old, finer, values), t) == pytest.approx(old.at(values, t), abs=1e-14)
    nearest, through = (other.at(found, t) for found in (carried(old, other, values), old.at(values, other.x)))
    assert np.sum((nearest - old.at(values, t)) ** 2) < 0.6 * np.sum((through - old.at(values, t)) ** 2)


def test_the_optimum_goes_on():
    """The best force is a straight line, which any number of ordinates has: later stages begin at their optimum."""
    found = study(5, [0, 0.1, 0.25, 0.5, 0.75, 1], None).optimize()
    assert [len(one.values) for one in found.stages] == [5, 6, 8] and found.optimal
    assert [one.evaluations for one in found.stages[1:]] == [1, 1]
    assert found.values["minimise"] == pytest.approx(12.0, rel=1e-8)
    assert found.variables["u"] == pytest.approx(6.0 - 12.0 * np.arange(8) / 7, abs=2e-6)
    assert len(found.start["u"]) == 8 and len(found.to_dataframe()) == 8


def test_the_model_has_the_last_ordinates():
    found = study(
        4, 7, u={"bounds": [[None] * 7 + [-5.0], 20], "start": [0] * 7 + [-5.0], "scale": [10] * 8}
    ).optimize()
    assert np.array(found.model.forces["push"].times) == pytest.approx(np.arange(7) / 6)
    assert found.model.parameters["u"] == pytest.approx(found.variables["u"]) and found.active["u[6]"] == "lower"
    lower = [plan.variables.lower for plan in found.plans]
    assert np.isfinite(lower[1]).tolist() == [False] * 6 + [True] and lower[1][-1] == -5.0


@pytest.mark.parametrize(
    ("stages", "keys", "text"),
    [
        ([{"ordinates": {"w": 5}}], {}, "does not vary as a whole list"),
        ([{"ordinates": {"u": 5}}], {"variables": {"u[0]": {}}}, "does not vary as a whole list"),
        ([{"ordinates": {"u": 3}}], {}, "a spline needs at least 4"),
        ([{"ordinates": {"u": [0, 0.5, 0.7, 0.9]}}], {}, "keep both ends"),
        ([{"ordinates": {"u": [0, 0.5, 0.5, 1]}}], {}, "abscissas that increase"),
        ([{"ordinates": {"u": 5}}], {"constraints": {"last": {"value": "u[4]", "equals": 0}}}, "names an entry of 'u'"),
        ([{"ordinates": {"u": "many"}}], {}, "a whole number from 1"),
    ],
)
def test_what_cannot_be_refined(stages, keys, text):
    with pytest.raises(kg.ModelError, match=r"stages|constraints") as error:
        kg.Study(SLIDE, **{"variables": {"u": {}}, "minimise": "effort"} | keys, stages=stages)
    assert any(text in problem.sentence for problem in error.value.problems), str(error.value)
