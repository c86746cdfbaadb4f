"""``kinegrad schema`` prints a JSON Schema that knows the sections of a model."""

import json

import pytest

from kinegrad.cli import main


def printed(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(["schema", *arguments])
    out, err = capsys.readouterr()
    assert (exit.value.code, err) == (0, "")
    return out


def test_schema_is_one_json_object(capsys):
    indented, compact = printed(capsys), printed(capsys, "--json")
    assert compact.count("\n") == 1 < indented.count("\n")
    document = json.loads(indented)
    assert document == json.loads(compact)
    assert document["$schema"].startswith("https://json-schema.org/")
    assert {"kinegrad", "bodies", "joints", "parameters"} <= set(document["properties"])
    assert sorted(document["required"]) == ["bodies", "kinegrad"]
