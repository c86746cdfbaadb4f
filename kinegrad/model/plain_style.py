"""Documents of YAML in plain style, read at once: what people and programs mostly write, and nothing that needs thought.

Blocks of ``key: value`` and ``- value``, brackets and braces on one line or several, comments, numbers, and texts with or
without quotes. Whatever else stands in a text (tabs, escapes, anchors, tags, texts over several lines, keys that are no
names or stand twice, expressions cut at a comma) raises `Other`: the parser then says what it means or what is wrong.
"""

from __future__ import annotations

import re
from typing import Any

from kinegrad.model.scalars import plain_scalar

MAX_DEPTH = 30
MAX_VALUES = 200_000  # keys and values; aliases, which the parser reads, are counted as often as they are used
LONGEST_KEY = 1000  # the parser takes a few more

#: Characters that the parser does not take, or that end lines or texts for it.
STRANGE = re.compile(r"[^\n -~\u00a1-\u2027\u202a-\ud7ff]")
QUOTED = r""""[^"\\]*"|'[^']*'"""
NAME = r"[^\W\d][\w.-]*"
FIRST = r"(?:[\w+(\u00a1-\ud7ff]|\.(?!\.\.)|-[\w.(])"  # what begins a text that means nothing but itself
ENTRY = re.compile(rf"({QUOTED}|{NAME}):(?: +(.*))?")
SCALAR = re.compile(rf"(?:({QUOTED}) *|({FIRST}[^:#]*))((?<= )#.*)?")
TOKEN = re.compile(rf" *(?:([\[\]{{}},])|({QUOTED}|{FIRST}[^,:#?\[\]{{}}]*)(:(?= |$))?|((?<= )#.*|$))")
KEY = re.compile(NAME)


class Other(Exception):
    """The text is not in plain style."""


def read(text: str) -> Any:
    """The document in `text`; raises `Other` where the parser has to be asked."""
    text = text.replace("\r\n", "\n")
    if STRANGE.search(text):
        raise Other
    reader = _Reader(text)
    value = reader.value()
    if reader.at < len(reader.lines) - 1 or reader.values > MAX_VALUES:
        raise Other
    return value


class _Reader:
    """Goes through the lines that say something, each as (its indentation, its words)."""

    def __init__(self, text: str):
        self.lines: list[tuple[int, str]] = []
        for line in text.split("\n"):
            words = line.lstrip(" ")
            if words and words[0] != "#":
                self.lines.append((len(line) - len(words), words))
        self.lines.append((-1, ""))  # the end
        self.at = 0  # the line
        self.words = ""  # of it, while a list in brackets is read
        self.place = 0  # in these words
        self.values = 1

    def value(self) -> Any:
        """The whole document."""
        words = self.lines[0][1]
        return self.flow(words, -1, 1) if words[:1] in ("[", "{") else self.block(1)

    # --- blocks; `depth` counts the collections around and including one ---

    def block(self, depth: int) -> Any:
        """The list or the mapping that begins in this line."""
        indent, words = self.lines[self.at]
        return (self.entries if words.startswith("- ") else self.mapping)(indent, depth)

    def mapping(self, indent: int, depth: int) -> dict:
        """The lines ``key: value`` with this indentation."""
        found: dict[str, Any] = {}
        while (line := self.lines[self.at])[0] == indent:
            entry = ENTRY.fullmatch(line[1])
            if not entry or depth > MAX_DEPTH:
                raise Other
            key = _key(entry[1])
            if key in found:
                raise Other
            self.values += 2
            rest = entry[2]
            found[key] = self.inline(rest, indent, depth) if rest and rest[0] != "#" else self.below(indent, depth)
        if line[0] > indent:
            raise Other
        return found

    def below(self, indent: int, depth: int) -> Any:
        """The value of a key that ends its line: what stands in the next lines, or nothing."""
        self.at += 1
        deeper, words = self.lines[self.at]
        if words[:1] in ("[", "{") and deeper > indent:
            return self.flow(words, indent, depth + 1)
        if deeper > indent:
            return self.block(depth + 1)
        return self.entries(indent, depth + 1) if deeper == indent and words.startswith("- ") else None

    def entries(self, indent: int, depth: int) -> list:
        """The lines ``- value`` with this indentation."""
        found = []
        while (line := self.lines[self.at])[0] == indent and line[1].startswith("- "):
            if depth > MAX_DEPTH:
                raise Other
            self.values += 1
            rest = line[1][1:].lstrip(" ")
            if rest.startswith("- ") or ENTRY.fullmatch(rest):  # a block that begins in this line
                self.lines[self.at] = (indent + len(line[1]) - len(rest), rest)
                found.append(self.block(depth + 1))
            else:
                found.append(self.inline(rest, indent, depth))
        if line[0] > indent:
            raise Other
        return found

    def inline(self, words: str, indent: int, depth: int) -> Any:
        """The value that begins with `words`, the rest of a line."""
        if words[:1] in ("[", "{"):
            return self.flow(words, indent, depth + 1)
        found = SCALAR.fullmatch(words)
        if not found:
            raise Other
        self.at += 1
        return found[1][1:-1] if found[1] else plain_scalar(found[2].rstrip(" "))

    # --- brackets and braces ---

    def flow(self, words: str, indent: int, depth: int) -> Any:
        """The list or the mapping that begins with `words`; its other lines have more than this indentation."""
        self.words, self.place = words, 0
        found = self.collection(self.token(indent)[1], indent, depth)
        rest = TOKEN.match(self.words, self.place)
        if not rest or rest[4] is None:
            raise Other
        self.at += 1
        return found

    def token(self, indent: int) -> re.Match:
        """The next mark [1], or text [2] with or without a colon [3]."""
        while True:
            found = TOKEN.match(self.words, self.place)
            if not found:
                raise Other
            if found[4] is None:
                self.place = found.end()
                return found
            self.at += 1
            deeper, self.words = self.lines[self.at]
            self.place = 0
            if deeper <= indent:
                raise Other

    def collection(self, opening: str, indent: int, depth: int) -> Any:
        """What stands up to the mark that closes it."""
        listed = opening == "["
        closing = "]" if listed else "}"
        found: Any = [] if listed else {}
        token = self.token(indent)
        if token[1] == closing:
            return found
        if depth > MAX_DEPTH:
            raise Other
        while True:
            self.values += 1
            if listed:
                found.append(self.entry(token, indent, depth))
            else:
                key = _key(token[2].rstrip(" ")) if token[3] else None
                if key is None or key in found:
                    raise Other
                self.values += 1
                found[key] = self.entry(self.token(indent), indent, depth)
            mark = self.token(indent)[1]
            if mark == closing:
                return found
            if mark != ",":
                raise Other
            token = self.token(indent)

    def entry(self, token: re.Match, indent: int, depth: int) -> Any:
        """The value that `token` is, or begins."""
        if token[1]:
            if token[1] not in "[{":
                raise Other
            return self.collection(token[1], indent, depth + 1)
        text = token[2]
        if token[3]:
            raise Other
        if text[0] in "\"'":
            return text[1:-1]
        if text.count("(") > text.count(")"):
            raise Other
        return plain_scalar(text.rstrip(" "))


def _key(text: str) -> str:
    if len(text) > LONGEST_KEY:
        raise Other
    if text[0] in "\"'":
        return text[1:-1]
    if not KEY.fullmatch(text) or not isinstance(plain_scalar(text), str):
        raise Other
    return text
