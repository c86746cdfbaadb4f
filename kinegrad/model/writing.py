"""Model files: the text of a document, laid out as one would write it by hand.

Sections are blocks, elements are one line each when they are short enough. The text is read back by `reading` to an
equal document.
"""

from __future__ import annotations

import re
from typing import Any

from kinegrad.model.scalars import plain_scalar

WIDTH = 110
PLAIN = re.compile(r"[A-Za-z0-9_.(+-][A-Za-z0-9_.()*/+ -]*", re.ASCII)  # no sign of YAML in it, in flow or block
#: The elements of these sections are written over several lines.
TALL = ("bodies",)


def to_text(document: dict) -> str:
    """The text of a model file for a document of dicts, lists, texts and numbers."""
    lines = []
    for key, value in document.items():
        if isinstance(value, dict) and value:
            lines += ["", f"{key}:"] if lines else [f"{key}:"]
            for name, entry in value.items():
                lines += _entry(name, entry, 2, tall=key in TALL)
        else:
            lines += _entry(key, value, 0)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int, tall: bool = False) -> list[str]:
    """Lines of ``key: value``; a mapping that is too long, or `tall`, becomes a block."""
    head = " " * indent + text_scalar(key) + ":"
    line = f"{head} {flow(value)}"
    if isinstance(value, dict) and value and (tall or len(line) > WIDTH):
        return [head, *(part for k, v in value.items() for part in _entry(k, v, indent + 2))]
    if isinstance(value, list) and value and len(line) > WIDTH:
        return [head, *(" " * indent + f"  - {flow(entry)}" for entry in value)]
    return [line]


def flow(value: Any) -> str:
    """`value` on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{text_scalar(k)}: {flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(flow(entry) for entry in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return text_scalar(value) if isinstance(value, str) else number(value)


def number(value: float) -> str:
    """Shortest text that reads back as `value`: whole numbers without a point, exponents as in 1.0e-3."""
    text = repr(float(value))
    mantissa, e, exponent = text.partition("e")
    if e:
        return f"{mantissa if '.' in mantissa else mantissa + '.0'}e{exponent}"
    return text.removesuffix(".0") if text != "-0.0" else text


def text_scalar(text: str) -> str:
    """`text` as a scalar, in quotes when it would be read as something else."""
    if PLAIN.fullmatch(text) and not text.endswith(" ") and isinstance(plain_scalar(text), str) and not _special(text):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _special(text: str) -> bool:
    """Whether `text` begins like a list entry or a document marker."""
    return text.startswith(("- ", "---", "...")) or text == "-"
