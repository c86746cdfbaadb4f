"""The page of a comparison: figure, sentences and a table that is sorted and filtered where it is read, in one file."""

from __future__ import annotations

import io
from html import escape
from pathlib import Path

from kinegrad.files import complete
from kinegrad.page.html import check_suffix
from kinegrad.plots.figure import library
from kinegrad.studies.compare.comparison import Comparison, ComparisonRow

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 76em; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.4em } p { margin: .5em 0 } figure { margin: 1em 0; max-width: 52em } svg { max-width: 100%; height: auto }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; font-size: 14px }
th, td { padding: .2em .6em; text-align: left; white-space: nowrap } td.n { text-align: right }
thead th { border-bottom: 2px solid #888; cursor: pointer; background: #fff }
th::after { content: " \\2195"; color: #bbb }
tbody tr:nth-child(even) { background: #f5f5f5 } tr.no { background: #fdd !important } tr.chosen { background: #dfd !important }
.scroll { overflow-x: auto } label { margin-right: 1.2em }
"""
PROGRAM = """
const body = document.querySelector('tbody'), rows = [...body.rows];
document.querySelectorAll('thead th').forEach((head, column) => head.addEventListener('click', () => {
  const up = head.dataset.up = head.dataset.up === '1' ? '0' : '1';
  const key = row => { const text = row.cells[column].dataset.v, x = Number(text);
    return text === '' ? Infinity : Number.isNaN(x) ? text : x; };
  rows.sort((a, b) => { const x = key(a), y = key(b), order = x < y ? -1 : x > y ? 1 : 0;
    return up === '1' ? order : -order; }).forEach(row => body.append(row));
}));
document.querySelectorAll('input').forEach(box => box.addEventListener('change', () => {
  const off = [...document.querySelectorAll('input')].filter(one => !one.checked).map(one => one.value);
  rows.forEach(row => { row.hidden = off.includes(row.dataset.set); });
}));
"""
HEADS = (
    ("coordinates", "coordinates"), ("body_point", "body point"), ("formulation", "formulation"),
    ("integrator", "integrator"), ("method", "method"), ("agrees", "agrees"), ("error", "error"),
    ("difference", "difference"), ("cpu_s", "time [s]"), ("us_per_step", "µs a step"), ("ratio", "by joint"),
    ("iterations", "iterations"), ("energy_drift", "drift [J]"), ("max_constraint", "rows"),
)  # fmt: skip
VERDICTS = {True: "yes", False: "no", None: "refused"}


def to_html(found: Comparison, path: str | Path) -> Path:
    """Where the page was written; a file that was there is replaced, and only by a complete one."""
    path = check_suffix(path)
    text = page(found)
    with complete(path) as part:
        part.write_text(text, encoding="utf-8")
    return path


def page(found: Comparison) -> str:
    """The text of the page."""
    title = escape(f"{found.title or 'Model'}: comparison")
    heads = [(key, label) for key, label in HEADS if any(getattr(row, key) not in ("", None) for row in found.rows)]
    unit = f" [{found.unit}]" if found.unit else ""
    labels = [escape(label + (unit if key in ("error", "difference") else "")) for key, label in heads]
    boxes = "".join(
        f'<label><input type="checkbox" checked value="{escape(name)}"> {escape(name)}</label>'
        for name in dict.fromkeys(row.coordinates for row in found.rows)
    )
    # the cheapest that agree first, those that were refused or failed last
    rows = sorted(found.rows, key=lambda row: (row.agrees is not True, row.cpu_s is None, row.cpu_s or 0.0))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        f"<title>{title}</title><style>{STYLE}</style><h1>{title}</h1>"
        f"<p>Steps of {found.step:g} s and half of it, to t = {found.t_end:g} s.</p>"
        f"{''.join(f'<p>{escape(sentence)}</p>' for sentence in found.sentences())}"
        f"<figure>{_figure(found)}</figure><p>{boxes}</p>"
        f'<div class="scroll"><table><thead><tr>{"".join(f"<th>{label}</th>" for label in labels)}</tr></thead>'
        f"<tbody>{''.join(_row(found, row, [key for key, _ in heads]) for row in rows)}</tbody></table></div>"
        f"<script>{PROGRAM}</script></html>\n"
    )


def _row(found: Comparison, row: ComparisonRow, keys: list[str]) -> str:
    """A row of the table; what it is sorted by is not what is read."""
    kind = "chosen" if row is found.recommended else "no" if row.agrees is False else ""
    cells = []
    for key in keys:
        value = VERDICTS[row.agrees] if key == "agrees" else getattr(row, key)
        text = "" if value is None else f"{value:.3g}" if isinstance(value, float) else str(value)
        exact = repr(value) if isinstance(value, float) else text
        right = ' class="n"' if isinstance(value, float) else ""
        cells.append(f'<td{right} data-v="{escape(exact)}">{escape(text)}</td>')
    why = escape(row.reason or row.problem or "")
    return f'<tr class="{kind}" data-set="{escape(row.coordinates)}" title="{why}">{"".join(cells)}</tr>'


def _figure(found: Comparison) -> str:
    """The figure as SVG without the head of a file; its texts stay texts."""
    drawn = io.StringIO()
    with library().rc_context({"svg.fonttype": "none", "svg.hashsalt": "kinegrad"}):
        found.plot().savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    text = drawn.getvalue()
    return text[text.index("<svg") :]
