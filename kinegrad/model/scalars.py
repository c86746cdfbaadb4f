"""Scalars of YAML by the core schema of version 1.2: what a text without quotes stands for."""

from __future__ import annotations

import re
from typing import Any

NULL = re.compile(r"|~|null|Null|NULL")
BOOL = re.compile(r"true|True|TRUE|false|False|FALSE")
INTEGER = re.compile(r"[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", re.ASCII)
SPECIAL = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")


def plain_scalar(text: str) -> Any:
    """The value of a scalar without quotes: None, a bool, a number or the text itself."""
    if NULL.fullmatch(text):
        return None
    if BOOL.fullmatch(text):
        return text[0] in "tT"
    if INTEGER.fullmatch(text) and len(text) < 400:
        return int(text, 0) if text[:2] in ("0o", "0x") else int(text)
    if FLOAT.fullmatch(text):
        return float(text)
    if SPECIAL.fullmatch(text):
        return float(text.replace(".", "", 1))
    return text
