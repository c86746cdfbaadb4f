"""Documents of YAML: dicts, lists and scalars, with the lines of their values when somebody asks for them.

Documents in plain style are read at once. The parser, which takes ten seconds for a file of two thousand bodies, reads the
others, and what has something wrong in it, of which the line has to be told.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from kinegrad.errors import ModelError, Problem
from kinegrad.model import plain_style

if TYPE_CHECKING:
    from kinegrad.model.parsed import Place

MAX_CHARACTERS = 2_000_000
MOST_BYTES = 4 * MAX_CHARACTERS
LONG_TAG = re.compile(r"(?:^|[\s,\[{])!\S{200}")  # which the parser takes minutes for


def load(text: str) -> tuple[Any, Place | Lines, list[Problem], list[tuple]]:
    """The document in `text`, the places of its values, what is wrong with it as YAML, and where it has split expressions."""
    if len(text) > MAX_CHARACTERS:
        raise ModelError(f"the file has {len(text)} characters; a model file has at most {MAX_CHARACTERS}.")
    tag = LONG_TAG.search(text)
    if tag:
        line = text.count("\n", 0, tag.end()) + 1
        sentence = "a tag of more than 200 characters stands here; tags are not read, remove it."
        raise ModelError(Problem(sentence, line=line))
    try:
        return plain_style.read(text), Lines(text), [], []
    except plain_style.Other:
        from kinegrad.model.parsed import parse

        return parse(text)


class Lines:
    """The lines of the values in a text, which is parsed when the first of them is asked for."""

    def __init__(self, text: str):
        self.text = text

    @cached_property
    def place(self) -> Place:
        from kinegrad.model.parsed import parse

        return parse(self.text)[1]

    def line_of(self, path: tuple) -> int:
        """Line of the innermost part on `path` that the text has."""
        return self.place.line_of(path)
