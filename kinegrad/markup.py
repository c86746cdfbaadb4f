"""Pieces of HTML and SVG that summaries for notebooks are made of."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape

MOST_NAMES = 12


def svg(width: float, height: float, parts: Iterable[str], title: str) -> str:
    """A picture of these parts on white."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} {height:g}" '
        f'role="img" aria-label="{escape(title)}" font-family="sans-serif">'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{"".join(parts)}</svg>'
    )


def frame(title: str, table: str, picture: str = "") -> str:
    """A title, a table and, beside it, a picture."""
    picture = f'<div style="flex:none">{picture}</div>' if picture else ""
    return (
        f'<div class="kinegrad"><strong>{escape(title)}</strong>'
        f'<div style="display:flex;flex-wrap:wrap;gap:1.5em;align-items:flex-start"><div>{table}</div>{picture}</div></div>'
    )


def table(rows: Iterable[tuple[str, str]]) -> str:
    """Two columns: what, and its value."""
    cells = (f"<tr><td>{escape(label)}</td><td>{escape(value)}</td></tr>" for label, value in rows)
    return f'<table style="text-align:left">{"".join(cells)}</table>'


def grid(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    """A table with a head."""
    lines = ["".join(f"<th>{escape(text)}</th>" for text in head)]
    lines += ["".join(f"<td>{escape(text)}</td>" for text in row) for row in rows]
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def listed(section: Iterable[str]) -> str:
    """How many there are, and the names of the first."""
    names = list(section)
    more = f" and {len(names) - MOST_NAMES} more" if len(names) > MOST_NAMES else ""
    return f"{len(names)}: {', '.join(names[:MOST_NAMES])}{more}" if names else "0"
