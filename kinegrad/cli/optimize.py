"""``kinegrad optimize``: the best design of a study."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report, Stopped
from kinegrad.errors import KinegradError

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
        Path | None,
        typer.Option(
            "--plot",
            metavar="FILE.png",
            help="Draw value and violation by evaluation; the designs of a sweep or a front.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            "--html",
            metavar="FILE.html",
            help="Write a page with the motions of start and optimum, by one clock, and the table.",
        ),
    ] = None,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Compare the gradient there with differences of whole runs; whether it is a minimum."
        ),
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option("--workers", metavar="N", help="Of a multistart or a sweep: processes at the same time."),
    ] = None,
    scheduler: Annotated[
        str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Of these: a Dask scheduler, or local.")
    ] = None,
    json: o.Json = False,
) -> Report:
    """Find the best design of a study; the same command goes on where it was stopped.

    A study file names a model, parameters with limits, and what is to become small. Example:
    kinegrad optimize study.yaml --out best.yaml
    """
    from kinegrad.cli.job import check_files
    from kinegrad.optimize.reading import sources
    from kinegrad.optimize.report import told_of
    from kinegrad.optimize.study import Study

    found = Study.from_yaml(study)
    path = log or _log_of(found, study)
    check_files({"--out": out, "--plot": plot, "--html": html}, sources(study) | {path: "the log"})
    many = found.description.sweep is not None or found.description.front is not None
    for option, given, refused in (
        ("--html", html is not None, many),
        ("--check", check, many or found.description.multistart is not None),
    ):
        if given and refused:
            raise KinegradError(f"{option} goes with one search, and this study asks for many designs; leave it out.")
    if found.description.multistart is not None or found.description.sweep is not None:
        changed = found.with_solver(type=solver, tolerance=tolerance, max_evaluations=max_evaluations)
        files = {"--out": out, "--plot": plot, "--html": html}
        how = {"log": path, "fresh": fresh, "workers": workers, "scheduler": scheduler}
        return _many(changed, files, study.parent, **how)
    if found.description.front is not None:
        for option, value in (("--workers", workers), ("--scheduler", scheduler), ("--out", out)):
            if value is not None:
                raise KinegradError(f"{option} does not go with a front; leave it out (--json has all designs).")
        changed = found.with_solver(type=solver, tolerance=tolerance, max_evaluations=max_evaluations)
        return _front(changed, plot, log=path, fresh=fresh)
    for option, value in (("--workers", workers), ("--scheduler", scheduler)):
        if value is not None:
            raise KinegradError(
                f"{option} is for studies with multistart or sweep, and this one has neither; leave it out."
            )
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
    found_by_check = result.check() if check else {}
    if html is not None:
        result.to_html(html, folder=study.parent, check=found_by_check)
    checks = _checked(found_by_check)
    bent = result.curvature if check else None
    good = result.optimal and not result.defects and all(one["good"] for one in checks.values())
    good = good and (bent is None or bent.verdict != "saddle")
    document = result.to_dict() | ({"check": checks, "curvature": bent.to_dict()} if check else {})
    files = {"model": out, "figure": plot, "page": html}
    told = told_of(found_by_check)
    return Report(document, lambda console: _show(console, result, told, bent, files), good=good)


def _many(study, files: dict[str, Path | None], folder: Path, **how) -> Report:
    """Many searches, or many designs."""
    from kinegrad.cli.progress import Progress

    sweep = study.description.sweep is not None
    refused, what = ("--out", "a sweep") if sweep else ("--plot", "many searches")
    if files[refused] is not None:
        raise KinegradError(f"{refused} does not go with {what}; leave it out (--json and the log have all numbers).")
    with Progress("Sweep" if sweep else "Searches") as progress:
        try:
            found = (study.sweep if sweep else study.multistart)(progress=progress, **how)
        except KeyboardInterrupt:
            raise Stopped(
                f"stopped. Finished jobs are in {str(how['log'])!r}; the same command goes on from there."
            ) from None
    if sweep:
        if files["--plot"] is not None:
            found.plot(files["--plot"])
        return Report(found.to_dict(), lambda console: _show_sweep(console, found, files["--plot"]))
    written = {}
    if files["--out"] is not None and found.best is not None:
        found.best.model.to_yaml(files["--out"])
        written["model of the best"] = files["--out"]
    if files["--html"] is not None and found.best is not None:
        found.best.to_html(files["--html"], folder=folder)
        written["page of the best"] = files["--html"]
    keep = study.description.multistart.keep
    shown = partial(_show_starts, found=found, keep=keep, written=written)
    return Report(found.to_dict(), shown, good=found.best is not None)


def _front(study, plot: Path | None, **how) -> Report:
    """A front."""
    from kinegrad.cli.progress import Progress

    with Progress("Front") as progress:
        try:
            found = study.front(progress=progress, **how)
        except KeyboardInterrupt:
            raise Stopped(
                f"stopped. Finished searches are in {str(how['log'])!r}; the same command goes on from there."
            ) from None
    if plot is not None:
        found.plot(plot)
    return Report(found.to_dict(), lambda console: _show_front(console, found, plot), good=len(found) > 1)


def _show_front(console, found, plot: Path | None) -> None:
    from rich.text import Text

    console.print(
        Text(f"{len(found)} designs by {found.method}; {found.evaluations} evaluations, {found.dropped} dropped.")
    )
    shown = list(found.plan.variables.labels)[:8]
    rows = [
        (*(f"{x:.6g}" for x in goals), *(f"{x:.6g}" for x in values[:8]))
        for goals, values in zip(found.goals, found.values, strict=True)
    ]
    console.print(_table((*found.names, *shown), rows))
    for what, path in (("log", found.log), ("figure", plot)):
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))


def _table(head, rows):
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, padding=(0, 2, 0, 0))
    for k, text in enumerate(head):
        table.add_column(text, justify="left" if k == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*map(Text, row))
    return table


def _show_starts(console, found, keep: int, written: dict[str, Path]) -> None:
    from rich.text import Text

    console.print(
        Text(
            f"{found.starts} starts: {len(found.optima)} optima; {found.others} searches ended elsewhere, {found.failed} "
            f"starts failed, {found.redrawn} designs were drawn again. {found.evaluations} evaluations."
        )
    )
    if found.problem:
        console.print(Text(f"The first that failed: {found.problem}"))
    if found.best is not None:
        shown = list(found.best.plan.variables.labels)[:8]
        rows = [
            (
                f"{one.count} times",
                f"{one.result.values['minimise']:.8g}",
                *(f"{x:.6g}" for x in one.result.outcome.values[:8]),
            )
            for one in found.optima[:keep]
        ]
        console.print(_table(("found", "minimise", *shown), rows))
        for text in found.best.remarks:
            console.print(Text(text, style="bold"))
    for what, path in {"log": found.log, **written}.items():
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))


def _show_sweep(console, found, plot: Path | None) -> None:
    from rich.text import Text

    console.print(Text(f"{len(found.values)} designs, {found.failures} of which do not work."))
    head = ["", "mean", "deviation", "least", "largest"]
    rows = [(name, *(f"{x:.6g}" for x in row.values())) for name, row in found.statistics.items()]
    if found.first_order is not None:
        head.append("first-order")
        rows = [(*row, f"{found.first_order[row[0]]:.6g}") for row in rows]
    console.print(_table(head, rows))
    for name, shares in (found.shares or {}).items():
        largest = sorted(shares.items(), key=lambda one: -one[1])[:4]
        told = ", ".join(f"{label} {100.0 * share:.3g} %" for label, share in largest)
        console.print(Text(f"The variance of {name} comes from {told}."))
    for text in found.remarks:
        console.print(Text(text, style="bold"))
    for what, path in (("log", found.log), ("figure", plot)):
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))


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


def _checked(found) -> dict:
    """Whether the gradient at the optimum is that of differences, by case."""
    return {
        name or "all": {"good": one.good, "wrong": [list(pair) for pair in one.wrong], "differences": one.as_dict()}
        for name, one in found.items()
    }


def _show(console, result: StudyResult, told: list[str], bent, files: dict[str, Path | None]) -> None:
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
    if result.estimates is not None:
        _show_estimates(console, result.estimates, result.plan.variables.labels)
    saved = max(0, result.simulations_saved)
    console.print(
        Text(
            f"{result.outcome.solver}: {result.evaluations} evaluations ({result.failures} failed), {result.gradients} "
            f"gradients, {result.seconds:.3g} s; by differences {saved} simulations more."
        )
    )
    for text in result.defects:
        console.print(Text(f"Defect of {text.rstrip('.')}.", style="bold"))
    for text in result.remarks:
        console.print(Text(text, style="bold"))
    console.print(
        Text(f"Gradient left {result.outcome.residual:.1e}, violation {result.outcome.violation:.1e} (scaled).")
    )
    for text in told:
        console.print(Text(text))
    if bent is not None:
        console.print(Text(str(bent)))
    for what, path in {"log": result.log, **files}.items():
        if path is not None:
            console.print(Text(f"The {what} is in {path}."))


def _show_estimates(console, found, labels) -> None:
    """How well data determine parameters."""
    from rich.text import Text

    held = [label for label in labels if label not in found.labels]
    if held:
        console.print(Text(f"Held by a bound and not estimated: {', '.join(held)}."))
    if not found.labels:
        return
    said = "with the given deviations" if found.known else "with a deviation from the residuals"
    console.print(Text(f"{found.count} data, rms of the residuals {found.rms:.4g}; 95 % intervals {said}:"))
    if found.undetermined:
        console.print(
            Text(f"The data do not determine {', '.join(found.undetermined)}; hold some of them, or measure more.")
        )
        return
    columns = (found.values, found.deviations, found.low, found.high)
    rows = [(label, *(f"{x:.6g}" for x in row)) for label, *row in zip(found.labels, *columns, strict=True)]
    console.print(_table(("", "estimate", "deviation", "from", "to"), rows))
