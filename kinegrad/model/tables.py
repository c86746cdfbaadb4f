"""Tables: functions given by points, written in the model or in a file of columns beside it."""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, PlainValidator, Tag, WithJsonSchema, model_validator

from kinegrad.files import read_bytes
from kinegrad.model.element import Element, closest
from kinegrad.model.forces import SOON
from kinegrad.model.values import Constants, Numbers, show

NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")  # narrower than float(), which takes 2_7
MOST_BYTES = 20_000_000
MOST_POINTS = 10_000
NOTHING = ("", "nan", "na", "n/a", "null", "none")  # in a cell of a file
LEAST_POINTS = {"linear": 2, "cubic": 3}

_folder: ContextVar[Path] = ContextVar("folder", default=Path())


@contextmanager
def beside(path: str | Path):
    """Files of tables are looked for beside the file at `path` meanwhile."""
    token = _folder.set(Path(path).parent)
    try:
        yield
    finally:
        _folder.reset(token)


def _kind(value: Any) -> str:
    return "<name>" if isinstance(value, str) else "<list>"


def _column(value: Any) -> str:
    if not isinstance(value, str) or not value.isprintable():
        raise ValueError(f"is {show(value)}; a text is needed.")
    return value


Text = Annotated[str, PlainValidator(_column), WithJsonSchema({"type": "string"})]


class Table(Element):
    """A function through points, for `table(x, NAME)` in expressions."""

    file: Text | None = Field(
        None, description="a CSV file with a line of names first, its path seen from the model file"
    )
    x: Annotated[Annotated[Text, Tag("<name>")] | Annotated[Constants, Tag("<list>")], Discriminator(_kind)] | None = (
        Field(None, description="abscissas, constants that increase; with file, the name of their column")
    )
    y: Annotated[Annotated[Text, Tag("<name>")] | Annotated[Numbers, Tag("<list>")], Discriminator(_kind)] | None = (
        Field(
            None,
            description="ordinates: as many numbers, or the name of a list parameter; with file, the name of their column",
        )
    )
    interpolation: Literal["cubic", "linear"] = Field("cubic", description="by a spline, or by straight lines")
    outside: Literal["error", "hold", "extrapolate"] = Field(
        "error", description="beyond its ends: refuse, keep the values there, or continue the end pieces"
    )

    @model_validator(mode="before")
    @classmethod
    def _read(cls, data: Any) -> Any:
        """The columns of the file in the place of their names: the model then holds all numbers itself."""
        if not isinstance(data, dict) or data.get("file") is None:
            return data
        names = {key: data.get(key) or key for key in ("x", "y")}
        for key, name in names.items():
            if not isinstance(name, str):
                raise ValueError(f"has a file and {key}: {show(name)}; name the column there, or leave file out.")
        columns = read_columns(_column(data["file"]), list(names.values()))
        return {key: value for key, value in data.items() if key != "file"} | dict(zip(names, columns, strict=True))

    @model_validator(mode="after")
    def _points(self):
        if self.x is None or self.y is None:
            raise ValueError("lacks x or y; give lists of both, or a file with such columns.")
        if isinstance(self.x, str):
            raise ValueError(f"has x: {show(self.x)}, the name of a column, and no file; add file, or give a list.")
        return self

    def wrong_values(self, values) -> Iterator[tuple[tuple, str]]:
        """Keys and sentences about numbers that cannot be, as `values` of the checks finds them."""
        least = LEAST_POINTS[self.interpolation]
        if not least <= len(self.x) <= MOST_POINTS:
            yield ("x",), f"has {len(self.x)} entries; a {self.interpolation} table has {least} to {MOST_POINTS}."
        x = values.vector(self.x)
        for i in range(1, len(x)):
            if x[i] <= x[i - 1]:
                yield (
                    ("x", i),
                    f"is {values.found(self.x[i])} after {x[i - 1]:g}; the abscissas of a table have to increase.",
                )
                return
            if x[i] - x[i - 1] < SOON * (x[-1] - x[0]):
                yield ("x", i), f"is {values.found(self.x[i])}, too near to {x[i - 1]:g}; leave one of them out."
                return
        numbers = values.model.parameters.get(self.y) if isinstance(self.y, str) else self.y
        if isinstance(numbers, tuple) and len(numbers) != len(self.x):
            yield ("y",), f"has {len(numbers)} entries and x has {len(self.x)}; give as many of both."


def read_columns(
    name: str,
    wanted: list[str],
    whose: str = "model",
    *,
    skip: bool = False,
    remedy: str = "fill it or remove the line",
) -> list[list[float]]:
    """Columns of a CSV file by their names, its path seen from the file of a model or study; a ValueError names the file, the
    line and what is wrong there, with a `remedy` where a number lacks.  With `skip`, such lines are left out."""
    path = _folder.get() / name
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(
            f"reads {name!r}, which is not a text in UTF-8; give a file of comma-separated values."
        ) from None
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(
            f"reads {name!r}, but {path} cannot be read: {why}; give its path seen from the {whose} file."
        ) from None
    try:
        rows = [(number, row) for number, row in _rows(text) if any(entry.strip() for entry in row)]
    except csv.Error as error:  # of an entry of more than 131072 characters
        raise ValueError(f"reads {name!r}, which is no file of comma-separated values: {error}.") from None
    if not rows:
        raise ValueError(f"reads {name!r}, which is empty; its first line has the names of the columns.")
    header = [entry.strip() for entry in rows[0][1]]
    for column in wanted:
        if column not in header:
            known = ", ".join(header)
            raise ValueError(
                f"reads {name!r}, which has no column {column!r}{closest(column, header)}; its columns: {known}."
            )
        if header.count(column) > 1:
            raise ValueError(f"reads {name!r}, which has the column {column!r} twice; rename one of them.")
    places, lines = {column: header.index(column) for column in wanted}, rows[1:]
    for number, row in lines:
        if any(entry.strip() for entry in row[len(header) :]):
            raise ValueError(
                f"reads {name!r}, whose line {number} has {len(row)} entries, and its first line {len(header)} names; write "
                "numbers with decimal points, and as many as there are names."
            )
    for number, row in [] if skip else lines:
        for column, k in places.items():
            if _lacks(row, k):
                what = show(row[k].strip()) if k < len(row) and row[k].strip() else "no number"
                raise ValueError(f"reads {name!r}, whose line {number} has {what} in the column {column!r}; {remedy}.")
    lines = [(number, row) for number, row in lines if not any(_lacks(row, k) for k in places.values())]
    return [[_entry(name, number, row, column, places[column]) for number, row in lines] for column in wanted]


def _lacks(row: list[str], k: int) -> bool:
    """Whether a line has no number in a column: nothing, or a word for it."""
    return k >= len(row) or row[k].strip().lower() in NOTHING


def _rows(text: str) -> Iterator[tuple[int, list[str]]]:
    """Numbers and entries of the lines that are no comments; commas, semicolons or tabs separate the entries."""
    first = next((line for line in text.splitlines() if line.strip() and not line.startswith("#")), "")
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator)  # lines may end as on any system
    return ((reader.line_num, row) for row in reader if row and not row[0].startswith("#"))


def _entry(name: str, line: int, row: list[str], column: str, k: int) -> float:
    """A number of a file."""
    text = row[k].strip(" \t")
    number = float(text) if NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(number):
        raise ValueError(
            f"reads {name!r}, whose line {line} has {show(text)} in the column {column!r}; a number is needed."
        )
    return number
