"""``kinegrad gradient``: derivatives of the objectives of a whole simulation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report, warn
from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.model.model import Model
    from kinegrad.sensitivity.result import Gradient

ELEMENTS = 12  # rows of the table by element
SHOWN = 40  # rows of a table on the screen; JSON has them all

Method = Annotated[
    str | None,
    typer.Option(
        "--method",
        metavar="NAME",
        help="direct (default), discrete-adjoint, also called adjoint (default with --all), or continuous-adjoint.",
    ),
]
Wrt = Annotated[
    list[str],
    typer.Option("--wrt", metavar="A,B", help="Parameters to differentiate by; design of the file by default."),
]
Objectives = Annotated[
    list[str], typer.Option("--objective", metavar="P", help="Only this objective; may be repeated.")
]
All = Annotated[bool, typer.Option("--all", help="Differentiate by every number of the model, parameter or not.")]
GradientPlot = Annotated[
    Path | None,
    typer.Option("--plot", metavar="FILE.png", help="Draw relative sensitivities and the gradient by time."),
]
Certify = Annotated[
    bool,
    typer.Option(
        "--certify",
        help="Compare directions with differences, steps with half of them, and with another method and coordinate set; exit "
        "code 1 if something speaks against the gradient.",
    ),
]
AdjointStep = Annotated[
    float | None,
    typer.Option(
        "--adjoint-step", metavar="H", help="Time step of the continuous adjoint [s]; that of the run by default."
    ),
]
Memory = Annotated[
    float | None,
    typer.Option(
        "--memory",
        metavar="MB",
        help="What states of the run may take; where they are more, it is done again in pieces.",
    ),
]
Check = Annotated[
    bool, typer.Option("--check", help="Compare with differences of simulations; exit code 1 if they disagree.")
]


def gradient(
    model: o.ModelFile,
    method: Method = None,
    wrt: Wrt = [],  # noqa: B006
    objective: Objectives = [],  # noqa: B006
    all_: All = False,
    check: Check = False,
    certify: Certify = False,
    adjoint_step: AdjointStep = None,
    coordinates: o.Coordinates = None,
    formulation: o.Formulation = None,
    integrator: o.Integrator = None,
    solver: o.Solver = None,
    body_point: o.BodyPoint = None,
    step: o.Step = None,
    t_end: o.TEnd = None,
    output_step: o.OutputStep = None,
    tolerance: o.Tolerance = None,
    penalty: o.Penalty = None,
    from_: o.From = None,
    from_time: o.FromTime = None,
    memory: Memory = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    cut: o.Cut = [],  # noqa: B006
    out: o.Out = None,
    plot: GradientPlot = None,
    html: o.Html = None,
    json: o.Json = False,
) -> Report:
    """Differentiate the objectives of a simulation by parameters.

    The derivatives are exact: those of the numbers that the simulation prints. Example:
    kinegrad gradient arm.yaml --wrt mass,length --check
    """
    from kinegrad.cli.job import Choices, prepare
    from kinegrad.cli.progress import Progress
    from kinegrad.sensitivity.gradient import check_held, labels_of
    from kinegrad.sensitivity.gradient import gradient as differentiate
    from kinegrad.sensitivity.method import Wanted
    from kinegrad.sensitivity.methods import method_of

    chosen = _method(method, all_, wrt, check, certify, adjoint_step)
    description, cut = _with_objectives(o.load_model(model, variant, set_), objective, cut, coordinates)
    choices = Choices(
        coordinates, formulation, integrator, body_point, step, t_end, output_step, tolerance, penalty, from_, from_time,
        solver,
    )  # fmt: skip
    job = prepare(description, choices, cut, out, plot, html=html, keep=[model])
    system = job.system
    names = _names(wrt) or list(description.design)
    labels = system.parameters.independent if all_ else labels_of(system, names)
    follows = job.times_that_follow()
    check_held(system, labels, follows, job.arguments["formulation"], job.arguments["integrator"])
    if not all_:
        of_end = system.parameters.behind(follows.get("t_end"))
        for label, moving in zip(labels, system.derivatives(labels).moving(), strict=True):
            if not moving and label not in of_end:
                warn(f"nothing in the model depends on the parameter {label!r}; its derivatives are zero.")

    with Progress("Simulation") as progress:
        motion = job.simulate(progress)
    replace(job, plot=None).write_data(motion)  # the figure is that of the gradient
    by = method_of(chosen, every_slot=all_, history=chosen == "direct" and job.plot is not None)
    if adjoint_step is not None:
        by = replace(by, step=adjoint_step)
    by.load(motion, Wanted(system, labels))  # before the clock starts
    with Progress("Gradient") as progress:
        result = differentiate(motion, wrt=labels, method=by, progress=progress, memory=memory)
    if job.plot is not None:
        result.plot(job.plot)
    data = {
        "objectives": {name: float(value) for name, value in result.values.items()},
        "gradient": _finite(_ranked(result)) if all_ else _by_name(system, names, result.values, _with_meaning(result)),
        "method": chosen,
        "cpu_s": result.cpu_s,
        "simulation_cpu_s": result.simulation_cpu_s,
    }
    if result.runs > 1.0:
        data["runs"] = result.runs
    if result.no_meaning:
        data["no_meaning"] = result.no_meaning
    if all_ and system.held:
        data["held"] = list(system.held)
    good = True
    if check:
        result, good = checked(data, result, names)
    if certify:
        result, good = certified(data, result, good)
    job.write_page(motion, result)
    if all_:
        data["by_element"] = result.by_element()

    def show(console):
        _show(console, data, description)
        job.show_files(console)

    return Report(data, show, good)


def _with_meaning(result):
    """The matrix of a gradient with None in the place of derivatives that do not exist."""
    matrix = result.matrix.astype(object)
    matrix[:, [k for k, label in enumerate(result.wrt) if label in result.no_meaning]] = None
    return matrix


def _ranked(result) -> dict[str, dict[str, float]]:
    """Derivatives by every number, the most important first."""
    order = result.ranked()
    return {name: {number.path: number.derivatives[name] for number in order} for name in result.values}


def _finite(derivatives: dict[str, dict[str, float]]) -> dict[str, dict[str, float | None]]:
    """The derivatives with None in the place of those that do not exist."""
    return {name: {k: None if x != x else x for k, x in row.items()} for name, row in derivatives.items()}


def _method(
    method: str | None, all_: bool, wrt: Sequence[str], check: bool, certify: bool, adjoint_step: float | None
) -> str:
    """The method, after options that contradict each other are refused."""
    from kinegrad.sensitivity.methods import ALSO, METHODS

    method = ALSO.get(method, method)
    if method is not None and method not in METHODS:
        raise KinegradError(f"--method is {method!r}, which is not available; use {', '.join(METHODS)}.")
    if adjoint_step is not None and method != "continuous-adjoint":
        raise KinegradError("--adjoint-step goes with --method continuous-adjoint; leave it out, or name that method.")
    if check and method == "continuous-adjoint":
        raise KinegradError(
            "--check does not go with --method continuous-adjoint, which is off differences by the error of the steps; check "
            "--method discrete-adjoint and compare the two at smaller steps."
        )
    if all_ and method == "direct":
        raise KinegradError(f"--all does not go with --method {method}; use --method discrete-adjoint.")
    if all_ and wrt:
        raise KinegradError("--all and --wrt contradict each other; leave one of them out.")
    for option, given in (("--check", check), ("--certify", certify)):
        if all_ and given:
            raise KinegradError(f"{option} does not go with --all; name parameters by --wrt and check these.")
    return method or ("discrete-adjoint" if all_ else "direct")


def _names(wrt: Sequence[str], option: str = "--wrt") -> list[str]:
    """Names from ``A,B`` and repeated options."""
    names = [name.strip() for text in wrt for name in text.split(",")]
    if wrt and not all(names):
        raise KinegradError(f"{option} {','.join(wrt)!r} has an empty name; write {option} A,B.")
    joined = [name for name in names if ";" in name or " " in name]
    if joined:
        raise KinegradError(f"{option} {joined[0]!r} is no name; separate names by commas, as in {option} A,B.")
    return names


def _with_objectives(
    model: Model, chosen: Sequence[str], cut: Sequence[str], coordinates: str | None
) -> tuple[Model, Sequence[str]]:
    """The model with the chosen objectives only, and the joints to cut, which are those of the whole model."""
    if not model.objectives:
        raise KinegradError("The model has no objectives to differentiate; add them under objectives.")
    for name in chosen:
        if name not in model.objectives:
            from kinegrad.model.element import closest

            known = ", ".join(model.objectives)
            raise KinegradError(
                f"--objective {name!r} does not exist{closest(name, model.objectives)}; objectives: {known}."
            )
    if not chosen:
        return model, cut
    from kinegrad.coordinates.joint.spanning_tree import spanning_tree
    from kinegrad.coordinates.sets import SETS

    kind = coordinates or model.simulation.coordinates.type
    if kind in SETS and "cut" in SETS[kind].option_names:
        cut = spanning_tree(model, cut).cut
    model = model.copy()
    model.objectives = {name: value for name, value in model.objectives.items() if name in chosen}
    return model, cut


def _by_name(system, names: Sequence[str], objectives, matrix) -> dict[str, dict]:
    """{objective: {name: value, or list of values for the name of a list}}."""
    table: dict[str, dict] = {}
    for objective, row in zip(objectives, matrix.tolist(), strict=True):
        entries = iter(row)
        table[objective] = {}
        for name in names:
            labels = system.parameters.expand(name)
            values = [next(entries) for _ in labels]
            table[objective][name] = values[0] if labels == (name,) else values
    return table


def checked(data: dict, result: Gradient, names: Sequence[str]) -> tuple[Gradient, bool]:
    """The gradient with what differences say of it, and whether they agree; puts them into `data`."""
    import numpy as np

    from kinegrad.cli.progress import Progress
    from kinegrad.sensitivity.certificate import of_entries

    with Progress("Differences") as progress:
        found = result.check(progress=progress)
    for label in found.missing:
        warn(f"no difference by {label!r} could be formed: the model does not run with values near the one it has.")
    relative = np.where(np.isfinite(found.relative), found.relative, None)
    data["check"] = _by_name(result.motion.system, names, result.values, relative)
    return replace(result, certificate=of_entries(found)), found.good


def certified(data: dict, result: Gradient, good: bool) -> tuple[Gradient, bool]:
    """The gradient with its certificate, and whether nothing speaks against it; puts what was found into `data`."""
    from kinegrad.cli.progress import Progress
    from kinegrad.sensitivity.certificate import check_gradient

    with Progress("Certificate") as progress:
        sets = result.motion.formulation.type != "recursive"
        found = check_gradient(result, methods=True, sets=sets, progress=progress)
    data["certificate"] = found.as_dict()
    return replace(result, certificate=found), found.good and good


def _show_certificate(console, data: dict) -> None:
    from rich.table import Table
    from rich.text import Text

    if "certificate" in data:
        table = Table("certificate", "found")
        for name, x in data["certificate"]["numbers"].items():
            table.add_row(Text(name), f"{x:.1e}")
        console.print(table)
        for sentence in data["certificate"]["problems"] or ["Nothing was found against the gradient."]:
            console.print(Text(sentence))


def _show(console, data: dict, model: Model) -> None:
    from rich.text import Text

    from kinegrad.cli.tables import show_columns

    console.print(Text(model.title or "Model without a title", style="bold"))
    objectives = list(data["objectives"])
    rows = _rows(data["gradient"], objectives)
    texts = [("value", [f"{data['objectives'][name]:.10g}" for name in objectives])]
    held = set(data.get("held", ()))
    texts += [
        (label, [("held" if label in held else "none") if x is None else f"{x:.10g}" for x in values])
        for label, values in rows[:SHOWN]
    ]
    show_columns(console, "by", objectives, texts, apart=1)
    if len(rows) > SHOWN:
        console.print(f"... and {len(rows) - SHOWN} more; --json gives all.")
    if held:
        first = sorted(held)[0]
        console.print(
            f"{len(held)} numbers are held by these coordinates, which give no derivative by them, such as {first}."
        )
    ratio = data["cpu_s"] / max(data["simulation_cpu_s"], 1e-9)
    console.print(
        f"{data['method']}: {data['cpu_s']:.3g} s of processor time, {ratio:.2g} times the simulation "
        f"({data['simulation_cpu_s']:.3g} s)."
    )
    if "runs" in data:
        console.print(f"The states were more than the memory allowed: the run was done {data['runs']:.3g} times again.")
    show_check(console, data)
    _show_certificate(console, data)
    if "by_element" in data:
        objectives = list(data["objectives"])
        texts = [
            (name, [f"{row[o]:.4g}" for o in objectives]) for name, row in list(data["by_element"].items())[:ELEMENTS]
        ]
        show_columns(console, "element", objectives, texts, "Sums of relative sensitivities [% per %]")


def show_check(console, data: dict, of: str = "simulations") -> None:
    """A table of the relative differences in `data`, if there are any."""
    from kinegrad.cli.tables import show_columns

    if "check" in data:
        objectives = list(data["objectives"])
        checked = _rows(data["check"], objectives)[:SHOWN]
        texts = [(label, ["none" if x is None else f"{x:.1e}" for x in values]) for label, values in checked]
        show_columns(console, "relative difference", objectives, texts, f"Against differences of {of}")


def _rows(table: dict[str, dict], objectives: Sequence[str]) -> list[tuple[str, list]]:
    """Rows (label, values by objective) with lists spread over their entries."""
    rows: dict[str, list] = {}
    for objective in objectives:
        for name, value in table[objective].items():
            entries = {f"{name}[{i}]": v for i, v in enumerate(value)} if isinstance(value, list) else {name: value}
            for label, entry in entries.items():
                rows.setdefault(label, []).append(entry)
    return list(rows.items())
