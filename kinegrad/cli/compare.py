"""``kinegrad compare``: one model by every formulation and integrator, and whether they give one motion."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report

if TYPE_CHECKING:
    from kinegrad.studies.compare import Comparison, ComparisonRow

KEYS = (
    "coordinates", "formulation", "integrator", "error", "difference", "agrees", "energy_drift", "max_constraint",
    "iterations", "us_per_step", "problem",
)  # fmt: skip


def compare(
    model: o.ModelFile,
    coordinates: o.Coordinates = None,
    step: o.Step = None,
    t_end: o.TEnd = None,
    from_: o.From = None,
    from_time: o.FromTime = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    cut: o.Cut = [],  # noqa: B006
    json: o.Json = False,
) -> Report:
    """Simulate a model in every way there is, at two steps each, and tell whether the motions agree."""
    from kinegrad.cli.job import Choices
    from kinegrad.cli.progress import Progress
    from kinegrad.coordinates.sets import SETS
    from kinegrad.studies.compare import compare as run_all

    description = o.load_model(model, variant, set_)
    Choices(step=step, t_end=t_end).check()
    with Progress("Comparison") as progress:
        kinds = list(SETS) if coordinates is None else [coordinates]
        times = {"step": step, "t_end": t_end, "start": o.start_from(from_, from_time)}
        found = run_all(description, coordinates=kinds, cut=cut, **times, progress=progress)
    rows = [{key: getattr(row, key) for key in KEYS} for row in found.rows]
    data = {"step": found.step, "t_end": found.t_end, "rows": rows}
    return Report(data, lambda console: _show(console, found), good=found.agrees)


def _show(console, found: Comparison) -> None:
    from rich.text import Text

    sets = list(dict.fromkeys(row.coordinates for row in found.rows))
    console.print(Text(found.title or "Model without a title", style="bold"))
    console.print(f"Steps of {found.step:g} s and half of it, to t = {found.t_end:g} s")
    console.print(Text("error, difference [m]; drift of energy [J]; violation of rows; iterations, µs of a step"))
    for kind in sets:
        console.print(Text(f"{kind} coordinates", style="bold"))
        console.print(_table([row for row in found.rows if row.coordinates == kind]))
    for row in found.rows:
        if row.problem:
            where = f"{row.name}, {row.coordinates}" if len(sets) > 1 else row.name
            console.print(Text(f"{where}: {row.problem}"))


def _table(rows: Sequence[ComparisonRow]):
    """The rows of one coordinate set."""
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in ("formulation", "integrator"):
        table.add_column(head, no_wrap=True)
    for head in ("error", "diff.", "agrees", "energy", "rows", "iter.", "µs"):
        table.add_column(head, no_wrap=True, justify="right")
    for row in rows:
        agrees = {True: "yes", False: "NO", None: "refused"}[row.agrees]
        small = [
            "" if x is None else f"{x:.0e}" for x in (row.error, row.difference, row.energy_drift, row.max_constraint)
        ]
        large = ["" if x is None else f"{x:.2g}" if x < 10 else f"{x:.0f}" for x in (row.iterations, row.us_per_step)]
        labels = (Text(getattr(row, key)) for key in ("formulation", "integrator"))
        table.add_row(*labels, *small[:2], agrees, *small[2:], *large)
    return table
