"""``kinegrad optimize``: the best design of a study."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report, Stopped

if TYPE_CHECKING:
    from kinegrad.optimize.result import StudyResult

StudyFile = Annotated[Path, typer.Argument(metavar="STUDY", help="The study file (YAML).", show_default=False)]


def optimize(
    study: StudyFile,
    solver: Annotated[str | None, typer.Option("--solver", metavar="NAME", help="In the place of the study's.")] = None,
    tolerance: Annotated[
        float | None, typer.Option("--tolerance", metavar="E", help="Where the search ends, in scaled units.")
    ] = None,
    max_evaluations: Annotated[
        int | None, typer.Option("--max-evaluations", metavar="N", help="Designs that are tried at most.")
    ] = None,
    log: Annotated[
        Path | None,
        typer.Option("--log", metavar="FILE.jsonl", help="Record of every evaluation; beside the study by default."),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Begin anew instead of going on from the log.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="MODEL.yaml", help="Write the model with the best values.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw value and violation by evaluation.")
    ] = None,
    json: o.Json = False,
) -> Report:
    """Find the best design of a study; the same command goes on where it was stopped."""
    from kinegrad.cli.job import check_files
    from kinegrad.optimize.study import Study

    found = Study.from_yaml(study)
    check_files({"--out": out, "--plot": plot}, [study])
    path = log or _log_of(found, study)
    with Course(found.description.solver.max_evaluations if max_evaluations is None else max_evaluations) as course:
        try:
            result = found.optimize(
                solver, tolerance=tolerance, max_evaluations=max_evaluations, log=path, fresh=fresh, progress=course
            )
        except KeyboardInterrupt:
            raise Stopped(f"stopped. What was done is in {str(path)!r}; the same command goes on from there.") from None
    if out is not None:
        result.model.to_yaml(out)
    if plot is not None:
        result.plot(plot)
    return Report(result.to_dict(), lambda console: _show(console, result, out, plot), good=result.optimal)


def _log_of(study, path: Path) -> Path:
    """The log that a study names, seen from its file, or one beside it."""
    named = study.description.log
    return path.parent / named if named else path.with_suffix(".jsonl")


class Course:
    """Live progress of a search: a bar with evaluations, the best value and its violation."""

    def __init__(self, most: int):
        from kinegrad.cli.progress import Progress

        self.most, self.progress = most, Progress("Search")

    def __enter__(self):
        self.progress.__enter__()
        return self

    def __call__(self, evaluations: int, value: float, violation: float) -> None:
        held = "" if violation <= 1e-8 else f", violation {violation:.1e}"
        self.progress.what = f"Search: {evaluations} evaluations, best {value:.6g}{held}"
        self.progress(min(1.0, evaluations / self.most))

    def __exit__(self, *error):
        self.progress.__exit__(*error)


def _show(console, result: StudyResult, out: Path | None, plot: Path | None) -> None:
    from rich.table import Table
    from rich.text import Text

    from kinegrad.optimize.result import HEAD

    console.print(Text(result.plan.title or "Study without a title", style="bold"))
    console.print(Text(f"{result.status}: {result.message}"))
    table = Table(box=None, padding=(0, 2, 0, 0))
    for k, head in enumerate(HEAD):
        table.add_column(head, justify="left" if k in (0, 4) else "right", no_wrap=True)
    for row in result.rows():
        table.add_row(*map(Text, row))
    console.print(table)
    saved = max(0, result.simulations_saved)
    console.print(
        Text(
            f"{result.outcome.solver}: {result.evaluations} evaluations ({result.failures} failed), {result.gradients} "
            f"gradients, {result.seconds:.3g} s; by differences {saved} simulations more."
        )
    )
    console.print(
        Text(f"Gradient left {result.outcome.residual:.1e}, violation {result.outcome.violation:.1e} (scaled).")
    )
    for what, path in (("log", result.log), ("model", out), ("figure", plot)):
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))
