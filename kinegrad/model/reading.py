"""Model files: YAML to a model, with every problem told by its line.

Every element is validated for itself, so that one wrong element does not hide the problems of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kinegrad.collection import without_collection
from kinegrad.errors import ModelError, Problem
from kinegrad.files import read_bytes
from kinegrad.model.checks import find
from kinegrad.model.documents import MOST_BYTES, load
from kinegrad.model.element import dotted
from kinegrad.model.model import VERSION, Finding, Model
from kinegrad.model.tables import beside
from kinegrad.model.values import show


def read_file(path: str | Path) -> Model:
    """The model in a file of YAML; it may be a pipe that somebody writes into."""
    try:
        text = read_bytes(Path(path), MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ModelError(
            f"{path} is not a text in UTF-8 (byte {error.start} is {error.object[error.start]:#x}); "
            "give a model file written in YAML."
        ) from None
    except OSError as error:
        raise ModelError(f"{path} cannot be read: {error.strerror or error}; give the path of a model file.") from None
    except ValueError as error:  # a path with a null character
        raise ModelError(f"{show(str(path))} is no path of a file: {error}.") from None
    with beside(path):
        return read_text(text)


@without_collection
def read_text(text: str) -> Model:
    """The model in a text of YAML."""
    if not isinstance(text, str):
        raise ModelError(f"the model is {show(text)}; a text of YAML is needed.")
    document, places, problems, split = load(text)
    if document is None and not problems:
        raise ModelError(Problem(f"the file is empty; begin with kinegrad: {VERSION} and bodies:", line=1))
    if problems and not isinstance(document, dict):
        raise ModelError(*problems)
    model, findings = build(document)
    findings = [(path, text) for path, text in findings if not any(path[: len(at)] == at for at in split)]
    problems += [Problem(sentence, dotted(path), places.line_of(path)) for path, sentence in findings]
    if problems:
        raise ModelError(*sorted(problems, key=lambda problem: problem.line or 0))
    return model


def read_document(document: Mapping) -> Model:
    """The model in a document of dicts, lists, texts and numbers."""
    model, findings = build(document)
    if findings:
        raise ModelError(*(Problem(sentence, dotted(path)) for path, sentence in findings))
    return model


def build(document: Any) -> tuple[Model, list[Finding]]:
    """The model of what could be read of `document`, and everything that is wrong."""
    model = Model()
    if not isinstance(document, Mapping):
        return model, [((), f"the model is {show(document)}; a mapping with the keys kinegrad and bodies is needed.")]
    findings: list[Finding] = []
    version = document.get("kinegrad")
    if "kinegrad" not in document:
        findings.append(
            ((), f"the key kinegrad is missing; begin with kinegrad: {VERSION}, the version of the format.")
        )
    elif isinstance(version, bool) or version != VERSION:
        text = (
            f"kinegrad is {show(version)}; the version of the format read here is {VERSION}, write kinegrad: {VERSION}."
        )
        findings.append((("kinegrad",), text))
    more, broken = model._fill({key: value for key, value in document.items() if key != "kinegrad"})
    findings += more
    findings += find(model, broken)
    if not findings:
        model._keep("_sound")
    return model, findings
