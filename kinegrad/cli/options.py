"""Arguments that several commands share, and the model they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from kinegrad.errors import ModelError

if TYPE_CHECKING:
    from kinegrad.model.model import Model

ModelFile = Annotated[Path, typer.Argument(metavar="MODEL", help="The model file.", show_default=False)]
Cut = Annotated[
    list[str], typer.Option("--cut", metavar="NAME", help="Cut the loop through this joint here; may be repeated.")
]
Variant = Annotated[
    str | None, typer.Option("--variant", metavar="NAME", help="Use the parameter values of this variant of the file.")
]
Set = Annotated[
    list[str],
    typer.Option("--set", metavar="NAME=VALUE", help="Give a parameter this value, after --variant; may be repeated."),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]


def load_model(path: Path, variant: str | None, assignments: Sequence[str]) -> Model:
    """The model in `path` with the values of a variant, then of assignments ``NAME=VALUE``."""
    from kinegrad.model.model import Model

    model = Model.from_yaml(path)
    if variant is not None:
        model = model.with_variant(variant)
    if assignments:
        model = model.with_values(**parse_assignments(assignments))
    return model.check()


def parse_assignments(assignments: Sequence[str]) -> dict[str, Any]:
    """Values by name from texts ``NAME=VALUE``; a value in brackets is a list."""
    values: dict[str, Any] = {}
    problems = []
    for text in assignments:
        name, sign, value = (part.strip() for part in text.partition("="))
        if not (name and sign and value):
            problems.append(f"--set {text!r} is not an assignment; write --set NAME=VALUE, such as --set mass=2.5.")
        elif name in values:
            problems.append(f"--set gives {name!r} twice; keep one of them.")
        elif value.startswith("[") and value.endswith("]"):
            values[name] = [entry.strip() for entry in value[1:-1].split(",")]
        else:
            values[name] = value
    if problems:
        raise ModelError(*problems)
    return values
