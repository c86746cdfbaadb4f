"""The reference of Python names: what api.md does not list yet is added at its end, so that no public name is missing."""

from __future__ import annotations

import inspect
import re

import kinegrad

LISTED = re.compile(r"auto\w+:: kinegrad\.(\w+)")


def add_missing(app, docname: str, source: list[str]) -> None:
    """Append the public names that the page does not list."""
    if docname != "api":
        return
    missing = [name for name in kinegrad.__all__ if name not in {"__version__", *LISTED.findall(source[0])}]
    if missing:
        lines = [f".. {_directive(getattr(kinegrad, name))}:: kinegrad.{name}" for name in missing]
        source[0] += "\n## More\n\n```{eval-rst}\n" + "\n".join(lines) + "\n```\n"


def _directive(value) -> str:
    if inspect.isclass(value):
        return "autoexception" if issubclass(value, Exception) else "autoclass"
    return "automodule" if inspect.ismodule(value) else "autofunction" if callable(value) else "autodata"


def setup(app) -> dict:
    """Register with Sphinx."""
    app.connect("source-read", add_missing)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
