"""What the commands about positions and given motions share: markers as JSON, tables for readers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kinegrad.cli.job import Job
    from kinegrad.coordinates.system import System
    from kinegrad.model.model import Model


def driven_job(
    times: Mapping[str, float | None],
    system: System,
    out: Path | None,
    plot: Path | None,
    html: Path | None,
    keep: Path,
) -> Job:
    """A job for a motion by drivers: it has times and files, but no formulation, and is not simulated."""
    from kinegrad.cli.job import Choices, Job, check_files

    Choices(**times).check()
    check_files({"--out": out, "--plot": plot, "--html": html}, [keep])
    return Job(system, dict(times), out, plot, html, keep.parent)


def markers_data(markers: Mapping) -> dict:
    """{body.marker: {position, velocity, acceleration}}."""
    keys = ("position", "velocity", "acceleration")
    return {name: {key: getattr(marker, key).tolist() for key in keys} for name, marker in markers.items()}


def show_facts(console, model: Model, facts: Mapping[str, str]) -> None:
    """The title of the model, and a line for each fact that is told."""
    from rich.table import Table
    from rich.text import Text

    console.print(Text(model.title or "Model without a title", style="bold"))
    grid = Table.grid(padding=(0, 2))
    for label, value in facts.items():
        if value:
            grid.add_row(label, Text(value))
    console.print(grid)


def show_coordinates(console, coordinates: Mapping[str, float]) -> None:
    """A table of coordinates."""
    from rich.table import Table
    from rich.text import Text

    table = Table("coordinate", r"value \[m, rad]")
    for name, value in coordinates.items():
        table.add_row(Text(name), f"{value:.10g}")
    console.print(table)


def show_positions(console, markers: Mapping[str, Mapping], title: str) -> None:
    """A table of the positions of markers."""
    from rich.table import Table
    from rich.text import Text

    table = Table("marker", r"position \[m]", title=title)
    for name, entry in markers.items():
        table.add_row(Text(name), ", ".join(f"{x:.8g}" for x in entry["position"]))
    console.print(table)
