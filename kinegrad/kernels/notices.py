"""Sentences on standard error, each told once in a process; none where KINEGRAD_QUIET is set."""

from __future__ import annotations

import os
import sys

_told: set[str] = set()


def tell(sentence: str) -> None:
    """Print a sentence that was not told yet."""
    if sentence not in _told and os.environ.get("KINEGRAD_QUIET", "0") in ("", "0"):
        print(f"kinegrad: {sentence}", file=sys.stderr, flush=True)
    _told.add(sentence)
