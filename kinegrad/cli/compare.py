"""``kinegrad compare``: one model in every way there is, and whether the motions, or the gradients, are one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.studies.compare import Comparison, ComparisonRow

KEYS = (
    "coordinates", "body_point", "formulation", "integrator", "method", "error", "difference", "agrees", "energy_drift",
    "energy_drift_percent", "max_constraint", "iterations", "us_per_step", "steps", "ratio", "problem", "cause", "reason",
    "remarks",
)  # fmt: skip
NAMED = ("coordinates", "body_point", "formulation", "integrator", "method")


def _only(option: str, what: str):
    return Annotated[list[str], typer.Option(option, metavar="A,B", help=f"Only these {what}; all by default.")]


Quick = Annotated[bool, typer.Option("--quick", help="Two integrators, one body point, 250 steps: about a minute.")]
OfGradients = Annotated[bool, typer.Option("--gradient", help="Compare the gradients of the objectives.")]
Wrt = Annotated[
    list[str],
    typer.Option("--wrt", metavar="A,B", help="Parameters to differentiate by; design of the file by default."),
]
ComparisonPlot = Annotated[
    Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw error against cost (png, pdf or svg).")
]
ComparisonHtml = Annotated[
    Path | None, typer.Option("--html", metavar="FILE.html", help="Write a page with the figure and a table to sort.")
]


def compare(
    model: o.ModelFile,
    coordinates: _only("--coordinates", "coordinate sets") = [],  # noqa: B006
    body_point: _only("--body-point", "body points") = [],  # noqa: B006
    formulation: _only("--formulation", "formulations") = [],  # noqa: B006
    integrator: _only("--integrator", "integrators") = [],  # noqa: B006
    quick: Quick = False,
    gradient: OfGradients = False,
    wrt: Wrt = [],  # noqa: B006
    objective: _only("--objective", "objectives, with --gradient") = [],  # noqa: B006
    method: _only("--method", "methods of differentiation") = [],  # noqa: B006
    solver: o.Solver = None,
    step: o.Step = None,
    t_end: o.TEnd = None,
    from_: o.From = None,
    from_time: o.FromTime = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    cut: o.Cut = [],  # noqa: B006
    plot: ComparisonPlot = None,
    html: ComparisonHtml = None,
    json: o.Json = False,
) -> Report:
    """Simulate a model in every way there is, at two steps each, and tell whether they agree, and which to take.

    Exit code 1 if one disagrees or fails. Example: kinegrad compare arm.yaml --quick --html arm.html
    """
    from kinegrad.cli.job import Choices, check_files
    from kinegrad.cli.progress import Progress
    from kinegrad.studies.compare import compare as run_all

    description = o.load_model(model, variant, set_)
    Choices(step=step, t_end=t_end).check()
    check_files({"--plot": plot, "--html": html}, [model])
    lists = {
        "coordinates": names_of("--coordinates", coordinates), "body_points": names_of("--body-point", body_point),
        "formulations": names_of("--formulation", formulation), "integrators": names_of("--integrator", integrator),
        "wrt": names_of("--wrt", wrt), "objectives": names_of("--objective", objective),
        "methods": names_of("--method", method),
    }  # fmt: skip
    with Progress("Comparison") as progress:
        times = {"step": step, "t_end": t_end, "start": o.start_from(from_, from_time)}
        chosen = {"quick": quick, "gradient": gradient, "solver": solver, "cut": cut}
        found = run_all(description, **lists, **times, **chosen, progress=progress)
    files = [("figure", plot), ("page", html)]
    for path, write in ((plot, found.plot), (html, found.to_html)):
        if path is not None:
            write(path)
    return Report(as_data(found), lambda console: _show(console, found, files), good=found.agrees)


def names_of(option: str, given: Sequence[str]) -> list[str] | None:
    """Names from ``A,B`` and repeated options; None where there are none."""
    names = [name.strip() for text in given for name in text.split(",")]
    if given and not all(names):
        raise KinegradError(f"{option} {','.join(given)!r} has an empty name; write {option} A,B.")
    return names or None


def as_data(found: Comparison) -> dict:
    """What is printed as JSON."""
    rows = [{key: getattr(row, key) for key in KEYS} for row in found.rows]

    def named(row: ComparisonRow | None) -> dict | None:
        return None if row is None else {key: getattr(row, key) for key in NAMED}

    return {
        "quantity": found.quantity, "step": found.step, "t_end": found.t_end, "agrees": found.agrees,
        "recommended": named(found.recommended), "reference": named(found.best), "bound": found.bound,
        "ratios": found.ratios, "left_out": list(found.left_out), "rows": rows,
    }  # fmt: skip


def _show(console, found: Comparison, files: Sequence[tuple[str, Path | None]]) -> None:
    from rich.text import Text

    console.print(Text(found.title or "Model without a title", style="bold"))
    console.print(f"Steps of {found.step:g} s and half of it, to t = {found.t_end:g} s")
    unit = f" [{found.unit}]" if found.unit else f" of the {found.quantity}, relative"
    console.print(Text(f"error, difference{unit}; drift of energy [J]; violation of rows; iterations, µs of"))
    console.print(Text("a step; times the cost in joint coordinates"))
    parts = dict.fromkeys((row.coordinates, row.body_point, row.method) for row in found.rows)
    several = len({point for _, point, _ in parts if point}) > 1
    for kind, point, method in parts:
        where = f" ({point})" if several and point else ""
        console.print(Text(f"{kind} coordinates{where}{f', {method}' if method else ''}", style="bold"))
        there = [row for row in found.rows if (row.coordinates, row.body_point, row.method) == (kind, point, method)]
        console.print(_table(there))
    for sentence in found.sentences():
        console.print(Text(sentence))
    for what, path in files:
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))


def brief(x: float | None, decimals: int) -> str:
    """A number above zero in two more characters than it has `decimals` below 1, whatever its size: tables keep their width on
    machines of any speed."""
    if x is None:
        return ""
    if x < 0.995:
        return f"{x:.{decimals}f}"
    if x < 999.5:
        return f"{x:.2g}" if x < 9.95 else f"{x:.0f}"
    return f"{x:.0e}".replace("e+0", "e").replace("e+", "e")


def _table(rows: Sequence[ComparisonRow]):
    """The rows of one coordinate set."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in ("formulation", "integrator"):
        table.add_column(head, no_wrap=True)
    for head in ("error", "diff.", "agrees", "energy", "rows", "iter.", "µs", "cost"):
        table.add_column(head, no_wrap=True, justify="right")
    for row in rows:
        agrees = {True: "yes", False: "NO", None: "refused"}[row.agrees]
        small = [
            "" if x is None else f"{x:.0e}" for x in (row.error, row.difference, row.energy_drift, row.max_constraint)
        ]
        large = [brief(row.iterations, 2), brief(row.us_per_step, 1), brief(row.ratio, 2)]
        labels = (Text(getattr(row, key)) for key in ("formulation", "integrator"))
        table.add_row(*labels, *small[:2], agrees, *small[2:], *large)
    return table
