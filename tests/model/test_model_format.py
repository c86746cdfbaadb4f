"""The page on the model format: its snippets are sound, and it mentions every key and every type."""

import re
from pathlib import Path

import pytest

from kinegrad.model.bodies import AxisInertia, Body, FrameMarker, PointMass, Pose, VectorMarker
from kinegrad.model.constraints import CONSTRAINTS, Driver, FloatingStart, Freedom, Objective
from kinegrad.model.documents import MAX_CHARACTERS, load
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import KEYS, Model
from kinegrad.model.plain_style import MAX_DEPTH, MAX_VALUES
from kinegrad.model.shapes import SHAPES
from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS, Simulation

PAGE = (Path(__file__).parents[2] / "docs" / "model_format.md").read_text(encoding="utf-8")
SNIPPETS = re.findall(r"```yaml\n(.*?)```", PAGE, re.DOTALL)
TYPES = {**JOINTS, **FORCES, **CONSTRAINTS, **SHAPES, **FORMULATIONS, **INTEGRATORS}
OTHERS = (
    AxisInertia,
    Body,
    FrameMarker,
    PointMass,
    Pose,
    VectorMarker,
    Driver,
    FloatingStart,
    Freedom,
    Objective,
    Simulation,
)


@pytest.mark.parametrize("text", SNIPPETS[1:], ids=lambda text: text.split(":")[0])
def test_snippets(text):
    base, snippet = load(SNIPPETS[0])[0], load(text)[0]
    for key, value in snippet.items():
        base[key] = {**base.get(key, {}), **value} if isinstance(value, dict) else value
    model = Model.from_dict(base)
    assert Model.from_yaml_text(model.to_yaml()) == model


def test_the_python_of_the_page_gives_the_first_model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(code, names)
    first = Model.from_yaml_text(SNIPPETS[0])
    assert list(names["model"].joints) == list(first.joints)
    assert names["model"].joints == first.joints
    assert Model.from_yaml(tmp_path / "model.yaml") == names["model"]


def test_every_section_key_and_type_is_mentioned():
    prose = re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL)
    code = set(re.findall(r"[\w-]+", " ".join([*re.findall(r"`([^`]+)`", prose), *SNIPPETS])))
    for key in KEYS:
        assert re.search(rf"^## .*\b{key}\b", PAGE, re.MULTILINE), key
    for kind, element in TYPES.items():
        assert kind in code, kind
        assert set(element.model_fields) <= code, kind
    for element in OTHERS:
        assert set(element.model_fields) <= code, element


def test_limits():
    assert f"{MAX_CHARACTERS:,} characters".replace(",", " ") in PAGE
    assert f"{MAX_DEPTH} levels" in PAGE
    assert f"{MAX_VALUES:,} values".replace(",", " ") in PAGE
