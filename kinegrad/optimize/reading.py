"""Study files: YAML to a study, with every problem told by its line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from kinegrad.errors import ModelError, Problem
from kinegrad.files import read_bytes
from kinegrad.model.documents import MOST_BYTES, load
from kinegrad.model.element import closest, dotted, sentences
from kinegrad.model.model import Finding, Model
from kinegrad.model.reading import build, read_file
from kinegrad.model.tables import beside
from kinegrad.model.values import show
from kinegrad.optimize.description import Description
from kinegrad.optimize.plan import plans

VERSION = 1
BEGIN = f"kinegrad_study: {VERSION}"
KEYS = ("kinegrad_study", "model", *Description.model_fields)


def read_study(path: str | Path) -> tuple[Model, Description]:
    """The model and the description in a study file; ModelError lists all that is wrong, with lines."""
    path = Path(path)
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ModelError(f"{path} is not a text in UTF-8; give a study file written in YAML.") from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}; give the path of a study file.") from None
    except ValueError as error:  # a path with a null character
        raise ModelError(f"{show(str(path))} is no path of a file: {error}.") from None
    return read_text(text, path.parent)


def read_text(text: str, folder: Path = Path()) -> tuple[Model, Description]:
    """The same from a text; a model file is looked for from `folder`."""
    document, places, problems, split = load(text)
    if document is None and not problems:
        raise ModelError(Problem(f"the file is empty; begin with {BEGIN} and model:", line=1))
    if problems and not isinstance(document, dict):
        raise ModelError(*problems)
    model, description, findings = read_document(document, folder)
    findings = [(path, text) for path, text in findings if not any(path[: len(at)] == at for at in split)]
    problems += [Problem(sentence, dotted(path), places.line_of(path)) for path, sentence in findings]
    if problems:
        raise ModelError(*sorted(problems, key=lambda problem: problem.line or 0))
    return model, description


def read_document(document: Any, folder: Path) -> tuple[Model | None, Description | None, list[Finding]]:
    """Model and description of a document, and everything that is wrong with them."""
    if not isinstance(document, Mapping):
        return None, None, [((), f"the study is {show(document)}; a mapping that begins with {BEGIN} is needed.")]
    findings: list[Finding] = []
    version = document.get("kinegrad_study")
    if "kinegrad_study" not in document:
        hint = " (this is a model file: use run or gradient, or name it in a study)" if "kinegrad" in document else ""
        return None, None, [((), f"the key kinegrad_study is missing; begin with {BEGIN}{hint}.")]
    if isinstance(version, bool) or version != VERSION:
        findings.append((("kinegrad_study",), f"kinegrad_study is {show(version)}; write {BEGIN}."))
    for key in document:
        if key not in KEYS:
            findings.append(((key,), f"{show(key)} is an unknown key{closest(key, KEYS)}. Keys: {', '.join(KEYS)}."))
    model = _model(document, folder, findings)
    known = {key: value for key, value in document.items() if key in Description.model_fields}
    description = None
    try:
        with beside(folder / "study"):
            description = Description.model_validate(known)
    except ValidationError as error:
        findings += sentences(error)
    if model is not None and description is not None:
        findings += plans(model, description)[1]
    return model, description, findings


def _model(document: Mapping, folder: Path, findings: list[Finding]) -> Model | None:
    """The model that a study names or holds."""
    given = document.get("model")
    if isinstance(given, Mapping):
        model, wrong = build(given)
        findings += [(("model", *path), sentence) for path, sentence in wrong]
        return None if wrong else model
    if not isinstance(given, str):
        text = "is missing" if "model" not in document else f"is {show(given)}"
        findings.append((("model",), f"model {text}; give the path of a model file, or the model itself."))
        return None
    try:
        return read_file(folder / given)
    except ModelError as error:
        findings += [(("model",), f"model {given}: {problem}") for problem in error.problems]
        return None
