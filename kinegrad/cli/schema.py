"""``kinegrad schema``: the JSON Schema of model files, for editors."""

from __future__ import annotations

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Json


def schema(json: Json = False) -> Report:
    """Print the JSON Schema of model files, for editors.

    With --json it stands on one line. Example: kinegrad schema
    """
    from kinegrad.model.schema import json_schema

    document = json_schema()
    return Report(document, lambda console: _print_indented(document))


def _print_indented(document: dict) -> None:
    import json

    print(json.dumps(document, indent=2))
