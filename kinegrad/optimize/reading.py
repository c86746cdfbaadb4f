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
from kinegrad.optimize.fixed import in_numbers
from kinegrad.optimize.plan import Plan, plans

VERSION = 1
BEGIN = f"kinegrad_study: {VERSION}"
KEYS = ("kinegrad_study", "model", *Description.model_fields)
NAMED = ("variables", "cases")  # sections whose names others use
TABLES = ("constraints", "residuals", "tolerances")
AIMS = ("minimise", "residuals", "front")
MAXIMISE = ("maximise", "maximize")
ROUNDS = 3  # some problems show when others are out of the way

Read = tuple[Model, Description, list[Plan]]


def read_study(path: str | Path) -> Read:
    """The model, the description and the plans of a study file; ModelError lists all that is wrong, with lines."""
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


def sources(path: str | Path) -> dict[Path, str]:
    """Files that a study file, which can be read, is made of, and what they are."""
    path = Path(path)
    document = load(read_bytes(path, MOST_BYTES).decode("utf-8-sig"))[0]
    found = {path: "the study"}
    if isinstance(document["model"], str):
        found[path.parent / document["model"]] = "the model"
    for residual in (document.get("residuals") or {}).values():
        if residual.get("data") is not None:
            found[path.parent / residual["data"]] = "the data of the study"
    return found


def read_text(text: str, folder: Path = Path()) -> Read:
    """The same from a text; a model file is looked for from `folder`."""
    document, places, problems, split = load(text)
    if document is None and not problems:
        raise ModelError(Problem(f"the file is empty; begin with {BEGIN} and model:", line=1))
    if problems and not isinstance(document, dict):
        raise ModelError(*problems)
    *read, findings = read_document(document, folder)
    findings = [(path, text) for path, text in findings if not any(path[: len(at)] == at for at in split)]
    problems += [Problem(sentence, dotted(path), places.line_of(path)) for path, sentence in findings]
    if problems:
        raise ModelError(*sorted(problems, key=lambda problem: problem.line or 0))
    return tuple(read)


def read_document(document: Any, folder: Path) -> tuple[Model | None, Description | None, list[Plan], list[Finding]]:
    """Model, description and plans of a document, and everything that is wrong with them."""
    if not isinstance(document, Mapping):
        return None, None, [], [((), f"the study is {show(document)}; a mapping that begins with {BEGIN} is needed.")]
    findings: list[Finding] = []
    version = document.get("kinegrad_study")
    if "kinegrad_study" not in document:
        hint = " (this is a model file: use run or gradient, or name it in a study)" if "kinegrad" in document else ""
        return None, None, [], [((), f"the key kinegrad_study is missing; begin with {BEGIN}{hint}.")]
    if isinstance(version, bool) or version != VERSION:
        findings.append((("kinegrad_study",), f"kinegrad_study is {show(version)}; write {BEGIN}."))
    for key in document:
        if key not in KEYS:
            if key in MAXIMISE:
                findings.append(((key,), f"{key!r} is an unknown key; to make G large, write minimise: -(G)."))
                continue
            findings.append(((key,), f"{show(key)} is an unknown key{closest(key, KEYS)}. Keys: {', '.join(KEYS)}."))
    model = _model(document, folder, findings)
    known = {key: value for key, value in document.items() if key in Description.model_fields}
    with beside(folder / "study"):
        description, found, wrong = describe(model, known)
    return model, description, found, findings + wrong


def describe(model: Model | None, keys: Mapping) -> tuple[Description | None, list[Plan], list[Finding]]:
    """The description in keys of a study, its plans for a model, and everything that is wrong, names and numbers alike."""
    findings: list[Finding] = []
    for _ in range(ROUNDS):
        try:
            description = Description.model_validate(keys)
        except ValidationError as error:
            wrong = [(path, text if path else f"The study{text}") for path, text in sentences(error)]
            told = [path for path, _ in findings if len(path) == 1]
            findings += [one for one in wrong if one not in findings and one[0] not in told]
            keys = _without(keys, [path for path, _ in wrong])
            continue
        found, wrong = plans(model, description) if model is not None else ([], [])
        findings += wrong or [one for plan in found if not findings for one in in_numbers(plan, description)]
        return description, found, list(dict.fromkeys(findings))
    return None, [], findings


def _without(keys: Mapping, paths: list[tuple]) -> dict:
    """Keys of a study without what cannot be read, so that the rest is looked at: names that others may use stay."""
    rest = dict(keys)
    if () in paths:
        rest = {key: value for key, value in rest.items() if key not in AIMS}
    for section, *more in filter(None, paths):
        entries = rest.get(section)
        if section in NAMED and more and isinstance(entries, Mapping) and more[0] in entries:
            rest[section] = {**entries, more[0]: _less(entries[more[0]], more[1:])}
        elif section == "stages" and more and isinstance(entries, list | tuple):
            rest[section] = [_less(one, more[1:]) if k == more[0] else one for k, one in enumerate(entries)]
        elif more and isinstance(entries, Mapping) and section in TABLES:
            rest[section] = {name: one for name, one in entries.items() if name != more[0]}
        else:
            rest.pop(section, None)
    if not any(rest.get(key) for key in AIMS):
        rest["minimise"] = 0.0
    if keys.get("tolerances") and not rest.get("tolerances"):
        rest.pop("sweep", None)
    return rest


def _less(entry: Any, path: list) -> dict:
    """An entry of a section without the key that a path leads to; empty where the whole of it is wrong."""
    if not path or not isinstance(entry, Mapping):
        return {}
    return {key: value for key, value in entry.items() if key != path[0]}


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
