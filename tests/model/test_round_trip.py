"""Models and expressions survive the way through a file unchanged."""

from pathlib import Path

import numpy as np
import pytest
from random_models import Maker, random_model
from rolling_models import SLEIGH

import kinegrad as kg
from kinegrad.expressions.syntax import Expression
from kinegrad.model.constraints import CONSTRAINTS
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import KEYS, Model

FILES = (Path(__file__).parents[2] / "examples").rglob("*.yaml")
EXAMPLES = sorted(path for path in FILES if "kinegrad_study" not in path.read_text())


def same(model: Model, other: Model) -> bool:
    """Whether two models are equal, with their elements in the same order."""
    sections = [key for key in KEYS if isinstance(getattr(model, key), dict)]
    return model == other and all(list(getattr(model, key)) == list(getattr(other, key)) for key in sections)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples(path, tmp_path):
    model = Model.from_yaml(path)
    assert model.problems() == []
    assert same(Model.from_dict(model.to_dict()), model)
    text = model.to_yaml(tmp_path / "copy.yaml")
    assert (tmp_path / "copy.yaml").read_text(encoding="utf-8") == text
    assert same(Model.from_yaml(tmp_path / "copy.yaml"), model)
    assert Model.from_yaml_text(text).to_yaml() == text


def test_numbers_of_the_examples():
    five_bar = next(path for path in EXAMPLES if "five_bar" in str(path))
    model = Model.from_yaml(five_bar)
    assert model.title == "Five-bar linkage"
    assert model.design == ["L_s1", "L_s2", "m_A1", "r_G", "L_A1"]
    assert model.bodies["bar_12"].mass == 1.5
    assert model.bodies["bar_A1"].inertia == (0.0, Expression.parse("J_A1"), Expression.parse("J_A1"))
    assert model.joints["J2"].between == ("bar_12.P2", "bar_23.P2")
    assert model.joints["J2"].axis == (0.0, 0.0, 1.0)
    assert model.degrees_of_freedom["J1.angle"].position == Expression.parse("pi/4 + atan(1.5)")
    assert model.simulation.step == 1e-3
    assert model.simulation.formulation.penalty == 1e9
    assert model.simulation.integrator.beta == 0.25
    assert model.used_joints == {"JA", "J1"}


@pytest.mark.slow
@pytest.mark.parametrize("block", range(4))
def test_random_models(block):
    for seed in range(15 * block, 15 * (block + 1)):
        model = random_model(np.random.default_rng(seed))
        assert same(Model.from_yaml_text(model.to_yaml()), model), f"seed {seed}"


def test_random_models_use_every_kind(rng):
    model = random_model(rng)
    assert {joint.type for joint in model.joints.values()} == set(JOINTS)
    assert {force.type for force in model.forces.values()} == set(FORCES)
    assert {constraint.type for constraint in model.constraints.values()} == set(CONSTRAINTS)
    assert all(getattr(model, key) for key in KEYS)


def test_random_expressions(rng):
    maker = Maker(rng)
    model = Model(bodies={"b": {"mass": 1}}, parameters={**dict.fromkeys(maker.scalars, 1.0), "u0": [1, 2]})
    for i in range(1000):
        model.parameters[f"e{i}"] = maker.expression(depth=int(rng.integers(1, 6)))
    read = Model.from_yaml_text(model.to_yaml())
    assert read.parameters == model.parameters
    assert sum(isinstance(value, Expression) for value in read.parameters.values()) > 900


@pytest.mark.parametrize(
    "value",
    [0.1, 1e-300, 5e-324, 1.7976931348623157e308, -0.0, 1e15, 1e16, 123456789012345678.0, 1 / 3, 1e22, 2.5e-7, -1e-5],
)
def test_floats_keep_every_bit(value):
    model = Model(bodies={"b": {"mass": 1}}, parameters={"p": value})
    assert repr(Model.from_yaml_text(model.to_yaml()).parameters["p"]) == repr(value)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "a",
        "yes",
        "null",
        "~",
        "1.0",
        "0x1F",
        ".inf",
        "- a",
        "a: b",
        "a #b",
        "'",
        '"',
        "\\n",
        "{",
        "é 試",
        "...",
        "---",
    ],
)
def test_titles_of_every_kind(title):
    model = Model(bodies={"b": {"mass": 1}}, title=title)
    assert Model.from_yaml_text(model.to_yaml()).title == title


def test_a_velocity_of_zero_that_is_given_stays():
    """With rows of velocities, one that is not given is found."""
    model = Model.from_yaml_text(SLEIGH.replace("[0.1, 0.1, J]", "[J, J, J]"))
    again = Model.from_yaml_text(model.to_yaml())
    starts = again.to_dict()["degrees_of_freedom"]
    assert starts["P.x"] == {"position": 0, "velocity": 0} and starts["P.y"] == {"position": 0}
    assert kg.simulate(kg.joint(again), step=0.1, t_end=0.1).t_end == 0.1
