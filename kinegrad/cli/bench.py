"""``kinegrad bench``: cost and accuracy beside other programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from kinegrad.cli.contract import Report
from kinegrad.cli.options import Json
from kinegrad.errors import KinegradError

Repeats = Annotated[int, typer.Option("--repeats", metavar="N", help="Turns that count, after one that does not.")]
Only = Annotated[str, typer.Option("--only", metavar="WORD", help="Rows whose name contains this word.")]


def bench(repeats: Repeats = 5, only: Only = "", json: Json = False) -> Report:
    """Time kinegrad beside other programs.

    The linkage of five bars, simulated by kinegrad, Exudyn and MuJoCo, and its gradients; programs that are not installed
    are left out.
    """
    from kinegrad.bench.five_bar import machine, run, table
    from kinegrad.cli.progress import Progress

    if repeats < 1:
        raise KinegradError(f"--repeats is {repeats}; at least one turn has to count.")
    with Progress("benchmark") as progress:
        rows = run(repeats, only, progress)
    if not rows:
        raise KinegradError(f"--only {only!r} matches no row; try kinegrad, exudyn, mujoco or gradient.")
    lines = machine()
    data = {"machine": lines, "rows": [asdict(row) for row in rows]}

    def show(console) -> None:
        console.print("\n".join(lines), highlight=False)
        console.print()
        print(table(rows))

    return Report(data, show)
