"""Documents of YAML by its parser: dicts, lists and scalars, the lines they stand in, and what is wrong with them.

Only the events of the parser are used. What they mean is decided here, by the core schema of YAML 1.2: no tags, no merge
keys, no duplicate keys, bounded size and depth.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceEndEvent,
)

from kinegrad.errors import Problem
from kinegrad.model.element import dotted
from kinegrad.model.plain_style import MAX_DEPTH, MAX_VALUES
from kinegrad.model.scalars import plain_scalar
from kinegrad.model.values import clipped, show

MAX_ANCHORS = 10_000  # and aliases


@dataclass
class Place:
    """Where a value stands in the text: its line, and the places of its parts."""

    line: int
    parts: dict[str | int, Place] = field(default_factory=dict)
    size: int = 1  # number of values in it

    def line_of(self, path: tuple) -> int:
        """Line of the innermost part on `path` that the text has."""
        place = self
        for part in path:
            place = place.parts.get(part, place)
        return place.line


def parse(text: str) -> tuple[Any, Place, list[Problem], list[tuple]]:
    """The document in `text`, the places of its values, what is wrong with it as YAML, and where it has split expressions."""
    loader = _Loader(text)
    try:
        document, place = loader.document()
    except _Stop as stop:
        loader.problems.append(stop.problem)
        return None, Place(1), loader.problems, loader.split
    return document, place, loader.problems, loader.split


class _Stop(Exception):
    """The text cannot be read further."""

    def __init__(self, sentence: str, line: int):
        self.problem = Problem(sentence, line=line)


class _Loader:
    """Reads the events of one document into dicts, lists and scalars."""

    def __init__(self, text: str):
        self.events = YAML(typ="safe", pure=True).parse(text)
        self.marks = 0
        self.anchors: dict[str, tuple[Any, Place]] = {}
        self.problems: list[Problem] = []
        self.split: list[tuple] = []  # collections in which commas have split an expression
        self.flow = 0  # collections in brackets or braces around the place
        self.nodes = 0
        self.line = 1

    def next(self):
        try:
            event = next(self.events)
        except MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            words = ", ".join(part for part in (error.context, error.problem) if part)
            line, column = (mark.line + 1, mark.column + 1) if mark else (self.line, 1)
            quotes = ", or put quotes around an expression with a bracket or a comma" if "flow" in words else ""
            raise _Stop(
                f"the file is not YAML: {words} (column {column}); correct it there or just before{quotes}.", line
            ) from None
        except YAMLError as error:
            words = str(error).splitlines()[0]
            raise _Stop(f"the file is not YAML: {words}; give a text file.", self.line) from None
        except Exception as error:  # the parser fails in many ways on input that is no YAML at all
            raise _Stop(f"the file is not YAML: {error or type(error).__name__}.", self.line) from None
        self.line = event.start_mark.line + 1
        return event

    def document(self) -> tuple[Any, Place]:
        """The only document of the stream; None when there is none."""
        self.next()
        if not isinstance(self.next(), DocumentStartEvent):
            return None, Place(1)
        value, place = self.value(self.next(), ())
        self.next()
        if isinstance(self.next(), DocumentStartEvent):
            raise _Stop("a second document begins here; a model file holds one, remove the line ---.", self.line)
        return value, place

    def value(self, event: NodeEvent, path: tuple) -> tuple[Any, Place]:
        """The value that `event` begins, and its place."""
        line = self.line
        self.nodes += 1
        if len(path) > MAX_DEPTH:
            raise _Stop(f"the file nests deeper than {MAX_DEPTH} levels; a model file never needs that.", line)
        if event.anchor is not None:
            self.marks += 1
            if self.marks > MAX_ANCHORS:
                raise _Stop(f"the file has more than {MAX_ANCHORS} anchors and aliases; write the values out.", line)
        if isinstance(event, AliasEvent):
            value, place = self.alias(event)
            return value, Place(line, place.parts, place.size)
        if event.tag is not None:
            self.problem(f"has the tag {clipped(event.tag)}; tags are not read, remove it.", path)
        if isinstance(event, ScalarEvent):
            value, place = self.scalar(event), Place(line)
            if self.flow and event.style is None and event.value.count("(") > event.value.count(")"):
                self.comma(event.value, path)
        else:
            self.flow += bool(event.flow_style)
            value, place = (self.mapping if isinstance(event, MappingStartEvent) else self.sequence)(line, path)
            self.flow -= bool(event.flow_style)
        if event.anchor is not None:
            self.anchors[event.anchor] = (value, place)
        if self.nodes > MAX_VALUES:
            raise _Stop(f"the file has more than {MAX_VALUES} values (aliases counted each time).", line)
        return value, place

    def comma(self, text: str, path: tuple) -> None:
        """Tell that an expression, which begins with `text`, was split at its comma; what that makes wrong is not told."""
        self.split.append(path[:-1])
        self.problem(
            f"is {show(text)}: within brackets or braces YAML ends a text at a comma; put the expression in quotes.",
            path,
        )

    def alias(self, event: AliasEvent) -> tuple[Any, Place]:
        """What stands at the anchor; an anchor is known from its end on, so nothing contains itself."""
        if event.anchor not in self.anchors:
            name = clipped(event.anchor)
            raise _Stop(f"the alias *{name} has no anchor &{name} before it; define it first.", self.line)
        self.nodes += self.anchors[event.anchor][1].size
        return self.anchors[event.anchor]

    def mapping(self, line: int, path: tuple) -> tuple[dict, Place]:
        value, place = {}, Place(line)
        while not isinstance(event := self.next(), MappingEndEvent):
            key_line = self.line
            key, _ = self.value(event, (*path, "key"))
            entry_path = (*path, key if isinstance(key, str) else show(key))
            entry, entry_place = self.value(self.next(), entry_path)
            place.size += entry_place.size
            entry_place.line = key_line
            if not isinstance(key, str):
                self.problem(f"has the key {show(key)}; a name is needed there (or quotes around it).", path, key_line)
            elif key in value:
                first = place.parts[key].line
                self.problem(f"stands twice (first in line {first}); remove one of them.", entry_path, key_line)
            else:
                value[key], place.parts[key] = entry, entry_place
        return value, place

    def sequence(self, line: int, path: tuple) -> tuple[list, Place]:
        value, place = [], Place(line)
        while not isinstance(event := self.next(), SequenceEndEvent):
            entry, entry_place = self.value(event, (*path, len(value)))
            place.parts[len(value)] = entry_place
            place.size += entry_place.size
            value.append(entry)
        return value, place

    def scalar(self, event: ScalarEvent) -> Any:
        """The value of a scalar by the core schema; quoted ones are texts."""
        return event.value if event.style is not None else plain_scalar(event.value)

    def problem(self, text: str, path: tuple, line: int | None = None):
        where = dotted(path)
        self.problems.append(Problem(f"{where or 'the model'} {text}", where, line or self.line))
