"""``kinegrad kinematics``: a mechanism moved by its drivers, without dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.errors import KinegradError

if TYPE_CHECKING:
    from kinegrad.motion import Motion
    from kinegrad.sensitivity.result import Gradient

DrivenGradient = Annotated[bool, typer.Option("--gradient", help="Differentiate the objectives by parameters.")]
DrivenWrt = Annotated[
    list[str],
    typer.Option("--wrt", metavar="A,B", help="Parameters of the gradient; the design of the file by default."),
]
DrivenMethod = Annotated[
    str | None, typer.Option("--method", metavar="NAME", help="Of the gradient: direct (default) or adjoint.")
]
DrivenCheck = Annotated[
    bool, typer.Option("--check", help="Compare the gradient with differences; exit code 1 if they disagree.")
]
MOST_PLACES = 3  # singular positions that are shown


def kinematics(
    model: o.ModelFile,
    step: o.Step = None,
    t_end: o.TEnd = None,
    output_step: o.OutputStep = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    coordinates: o.Coordinates = None,
    body_point: o.BodyPoint = None,
    cut: o.Cut = [],  # noqa: B006
    out: o.Out = None,
    plot: o.Plot = None,
    html: o.Html = None,
    signals: o.Signals = None,
    gradient: DrivenGradient = False,
    wrt: DrivenWrt = [],  # noqa: B006
    method: DrivenMethod = None,
    check: DrivenCheck = False,
    json: o.Json = False,
) -> Report:
    """Move a model through time by its drivers, which must leave no freedom.

    If the mechanism locks up, what was found up to then goes into the files all the same. Example:
    kinegrad kinematics crank.yaml --t-end 2 --html crank.html
    """
    from kinegrad.cli import signals as of_signals
    from kinegrad.cli.progress import Progress
    from kinegrad.cli.rest import driven_job

    asked = asks_for_gradient(gradient, wrt, check, method)
    description = o.load_model(model, variant, set_)
    of_signals.checked(description, signals)
    system = o.lowered(description, coordinates, cut, body_point)
    times = {"step": step, "t_end": t_end, "output_step": output_step}
    job = driven_job(times, system, out, plot, html, model)
    with Progress("Kinematics") as progress:
        motion = job.drive(progress)
    job.write_data(motion, signals=signals)
    data = summary(motion) | of_signals.summary(motion, signals)
    found, good = add_gradient(data, motion, wrt, method, check) if asked else (None, True)
    job.write_page(motion, found, signals)

    def show(console):
        show_motion(console, data, description)
        of_signals.show_signals(console, data)
        show_gradient(console, data)
        job.show_files(console)

    return Report(data, show, good)


def asks_for_gradient(gradient: bool, wrt: list[str], check: bool, method: str | None) -> bool:
    """Whether options ask for a gradient; refuses a method of none."""
    asked = bool(gradient or wrt or check)
    if method is not None and not asked:
        raise KinegradError(f"--method {method} is that of a gradient; add --gradient, or leave it out.")
    return asked


def add_gradient(data: dict, motion: Motion, wrt: list[str], method: str | None, check: bool) -> tuple[Gradient, bool]:
    """The gradient of the objectives of a motion by drivers, put into `data` too, and whether differences agree with it."""
    from kinegrad.cli.gradient import _by_name, _names, checked
    from kinegrad.sensitivity.gradient import gradient as differentiate
    from kinegrad.sensitivity.methods import ALSO, METHODS
    from kinegrad.statics.kinematic_gradient import NAMES

    method = method or "direct"
    if method not in METHODS and method not in ALSO:
        raise KinegradError(f"--method is {method!r}, which is not available; use {' or '.join(NAMES.values())}.")
    names = _names(wrt) or list(motion.system.model.design)
    result = differentiate(motion, wrt=names, method=method)
    data["gradient"] = _by_name(motion.system, names, result.values, result.matrix)
    data |= {"method": result.method, "cpu_s": result.cpu_s, "simulation_cpu_s": result.simulation_cpu_s}
    return checked(data, result, names) if check else (result, True)


def show_gradient(console, data: dict) -> None:
    """The gradient in `data`, if there is one, and what differences say of it."""
    from kinegrad.cli.gradient import _rows, show_check
    from kinegrad.cli.tables import show_columns

    if "gradient" in data:
        objectives = list(data["objectives"])
        texts = [(label, [f"{x:.10g}" for x in values]) for label, values in _rows(data["gradient"], objectives)]
        show_columns(console, "by", objectives, texts, f"Gradient ({data['method']})")
        show_check(console, data, "motions by drivers")


def summary(motion: Motion) -> dict:
    """What `kinematics` prints as JSON."""
    from kinegrad.cli.rest import markers_data

    return {
        "steps": motion.extra["steps"],
        "t_end": float(motion.t[-1]),
        "cpu_s": motion.cpu_s,
        "iterations": int(motion.iterations.sum()) + motion.extra["first_iterations"],
        "residual": float(motion.constraint_violation[:, 0].max()),
        "singular": motion.extra["singular"],
        "markers": markers_data(motion.at_end()),
        "objectives": {name: float(value) for name, value in motion.objectives.items()},
    }


def _places(places: list[dict]) -> str:
    """The first of the singular positions, in words; empty without any."""
    told = [f"t = {p['t']:.6g} s (rank {p['rank']} of {p['n']}, {p['coordinate']})" for p in places[:MOST_PLACES]]
    return ", ".join(told) + (f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else "")


def show_motion(console, data: dict, model) -> None:
    """Facts, markers and objectives of a motion by drivers."""
    from rich.table import Table
    from rich.text import Text

    from kinegrad.cli.rest import show_facts, show_positions

    facts = {
        "steps": f"{data['steps']} to t = {data['t_end']:g} s, {data['iterations']} iterations",
        "processor time": f"{data['cpu_s']:.3g} s",
        "largest constraint violation": f"{data['residual']:.2g}",
        "singular positions passed": _places(data["singular"]),
    }
    show_facts(console, model, facts)
    show_positions(console, data["markers"], "At the end")
    if data["objectives"]:
        table = Table("objective", "value")
        for name, value in data["objectives"].items():
            table.add_row(Text(name), f"{value:.10g}")
        console.print(table)
