"""The JSON Schema of model files, for editors that complete and check while one writes."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter

from kinegrad.model.model import ENTRIES, READ, SINGLE, VERSION
from kinegrad.model.values import NOTHING, NUMBER_SCHEMA

DESCRIPTIONS = {
    "title": "Title of the model, used in plots and pages.",
    "parameters": "Named numbers: {name: number, expression or list of these}.",
    "design": "Parameters that a gradient is taken by unless others are named, in the order of its columns.",
    "variants": "Named sets of parameter values: {name: {parameter: number}}.",
    "points": "Points of the model by global coordinates, which bodies list: {name: [x, y, z]}.",
    "vectors": "Directions in global components, which bodies list: {name: [x, y, z]}.",
    "tables": "Functions given by points, for table(x, NAME): {name: {x, y, interpolation, outside}}.",
    "ground": "The body that does not move; its frame is the global frame.",
    "bodies": "The moving bodies: {name: body}.",
    "joints": "The joints: {name: {type, between, ...}}.",
    "forces": "The forces: {name: {type, ...}}.",
    "constraints": "Constraints beyond joints: {name: {type, ...}}.",
    "measures": "Named quantities: {name: expression in markers and joint coordinates}.",
    "drivers": "Measures that follow a given course in time: {name: {measure, value}}.",
    "degrees_of_freedom": "Starting values: {measure or joint: {position, velocity}}.",
    "objectives": "Quantities of a whole motion: {name: {integral}, {final}, {sum, times}, {maximum, sharpness}...}.",
    "simulation": "What run and gradient do unless told otherwise.",
}


def json_schema() -> dict:
    """The JSON Schema (draft 2020-12) of a model file; a number may be a text that holds an expression."""
    kinds = {**ENTRIES, **{key: kind for key, (kind, _) in SINGLE.items()}}
    schemas, shared = TypeAdapter.json_schemas(
        [(key, "validation", TypeAdapter(kind)) for key, kind in kinds.items()], ref_template="#/$defs/{model}"
    )
    definitions: dict[str, dict] = {"number": NUMBER_SCHEMA}
    for name, schema in shared["$defs"].items():
        tidy = _tidy(schema, definitions)
        definitions.setdefault(name, tidy)
    properties: dict[str, dict] = {"kinegrad": {"const": VERSION, "description": "Version of the format."}}
    for key in READ:
        entry = schemas[key, "validation"]
        if key == "degrees_of_freedom":  # what is common to starts of spherical and floating joints may be either
            entry["anyOf"] = entry.pop("oneOf")
        schema = {"type": ["object", "null"], "additionalProperties": entry} if key in ENTRIES else {"anyOf": [entry]}
        properties[key] = {"description": DESCRIPTIONS[key], **_tidy(schema, definitions)}
    properties["bodies"] |= {"type": "object", "minProperties": 1}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "kinegrad model",
        "description": "A rigid multibody system. SI units, radians, right-handed frames.",
        "type": "object",
        "required": ["kinegrad", "bodies"],
        "additionalProperties": False,
        "properties": properties,
        "$defs": definitions,
    }


def _tidy(schema: Any, definitions: dict) -> Any:
    """The same schema, shorter: elements and numbers by reference, no titles of keys, ``type`` always required."""
    if isinstance(schema, list):
        return [_tidy(entry, definitions) for entry in schema if entry != NOTHING]
    if not isinstance(schema, dict):
        return schema
    if all(schema.get(key) == value for key, value in NUMBER_SCHEMA.items()):
        kept = {key: value for key, value in schema.items() if key in ("description", "default")}
        return {"$ref": "#/$defs/number", **kept}
    tidy = {key: _tidy(value, definitions) for key, value in schema.items() if key != "title"}
    items = tidy.get("prefixItems")
    if items and all(item == items[0] for item in items):
        tidy["items"] = tidy.pop("prefixItems")[0]
    if "properties" not in schema:
        return tidy
    if "type" in tidy["properties"]:
        tidy["required"] = ["type", *tidy.get("required", [])]
    definitions[schema["title"]] = tidy
    return {"$ref": f"#/$defs/{schema['title']}"}
