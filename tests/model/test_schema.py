"""The JSON Schema accepts the examples and refuses what is no model; a small validator stands in for a library."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from bad_models import SOUND, spoil
from random_models import Maker

from kinegrad.model.documents import load
from kinegrad.model.model import READ
from kinegrad.model.schema import json_schema

FILES = (Path(__file__).parents[2] / "examples").rglob("*.yaml")
EXAMPLES = sorted(path for path in FILES if "kinegrad_study" not in path.read_text())
TYPES = {
    "object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float),
    "integer": int,
}  # fmt: skip
HANDLED = {
    "$schema", "$defs", "$ref", "title", "description", "default", "type", "properties", "required", "minProperties",
    "additionalProperties", "items", "minItems", "maxItems", "pattern", "enum", "const", "anyOf", "oneOf",
}  # fmt: skip


def is_of(value, kind):
    return isinstance(value, TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def valid(value, schema, root):
    """Whether `value` satisfies `schema`, for the keywords that occur."""
    assert set(schema) <= HANDLED, set(schema) - HANDLED
    if "$ref" in schema and not valid(value, root["$defs"][schema["$ref"].removeprefix("#/$defs/")], root):
        return False
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    checks = [
        not kinds or any(is_of(value, kind) for kind in kinds),
        "const" not in schema or value == schema["const"],
        "enum" not in schema or value in schema["enum"],
        "anyOf" not in schema or any(valid(value, s, root) for s in schema["anyOf"]),
        "oneOf" not in schema or sum(valid(value, s, root) for s in schema["oneOf"]) == 1,
        not isinstance(value, str) or re.search(schema.get("pattern", ""), value) is not None,
    ]
    if isinstance(value, list):
        checks.append(schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)))
        checks += [valid(entry, schema["items"], root) for entry in value if "items" in schema]
    if isinstance(value, dict):
        known, extra = schema.get("properties", {}), schema.get("additionalProperties", True)
        checks.append(all(key in value for key in schema.get("required", [])))
        checks.append(len(value) >= schema.get("minProperties", 0))
        for key, entry in value.items():
            if key in known:
                checks.append(valid(entry, known[key], root))
            else:
                checks.append(extra if isinstance(extra, bool) else valid(entry, extra, root))
    return all(checks)


@pytest.fixture(scope="module")
def schema():
    return json_schema()


def test_the_schema_is_json_and_describes_every_key(schema):
    assert json.loads(json.dumps(schema)) == schema
    assert list(schema["properties"]) == ["kinegrad", *READ]
    for name, definition in schema["$defs"].items():
        for key, entry in definition.get("properties", {}).items():
            assert key == "type" or entry.get("description"), f"{name}.{key}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_examples_are_valid(path, schema):
    assert valid(load(path.read_text())[0], schema, schema)


def test_random_models_are_valid(schema):
    for seed in range(20):
        assert valid(Maker(np.random.default_rng(seed)).document(), schema, schema), f"seed {seed}"


@pytest.mark.parametrize(
    "change",
    [
        ("kinegrad: 1\n", "kinegrad: 2\n"),
        ("    mass: m\n", ""),
        ("    mass: m\n", "    mas: m\n"),
        ("mass: 1\n", "mass: true\n"),
        ("com: [L/2, 0, 0]", "com: [L/2, 0]"),
        ("inertia: [0.1, 0.1, 0.1]", "inertia: [1, 1, 1, 0]"),
        ("{type: revolute,", "{type: revolut,"),
        ("{type: revolute,", "{"),
        ("[ground.O, arm.A]", "[ground, arm.A]"),
        ("step: 1.0e-3", "coordinates: joints"),
        ("step: 1.0e-3", "formulation: {type: alip}"),
        ("title: Test bench", "titel: Test bench"),
        ("side: {vector: [0, 1, 0]}", "side: {vektor: [0, 1, 0]}"),
    ],
)
def test_wrong_models_are_refused(change, schema):
    assert valid(load(SOUND)[0], schema, schema)
    assert not valid(load(spoil(change))[0], schema, schema)


def test_with_a_library(schema):
    library = pytest.importorskip("jsonschema")
    for path in EXAMPLES:
        library.validate(load(path.read_text())[0], schema)
