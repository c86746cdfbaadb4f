"""``kinegrad kinematics``: a mechanism moved by its drivers, without dynamics."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report

if TYPE_CHECKING:
    from kinegrad.motion import Motion


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
    plot: o.Plot = None,
    json: o.Json = False,
) -> Report:
    """Move a model through time by its drivers, which must leave no freedom."""
    from kinegrad.cli.progress import Progress
    from kinegrad.cli.rest import driven_job
    from kinegrad.statics.drive import drive

    description = o.load_model(model, variant, set_)
    system = o.lowered(description, coordinates, cut, body_point)
    job = driven_job(description, {"step": step, "t_end": t_end, "output_step": output_step}, system, plot, model)
    with Progress("Kinematics") as progress:
        motion = drive(job.system, **job.arguments, progress=progress)
    job.write(motion)
    data = summary(motion)

    def show(console):
        show_motion(console, data, description)
        job.show_files(console)

    return Report(data, show)


def summary(motion: Motion) -> dict:
    """What `kinematics` prints as JSON."""
    from kinegrad.cli.rest import markers_data

    return {
        "steps": motion.extra["steps"],
        "t_end": float(motion.t[-1]),
        "cpu_s": motion.cpu_s,
        "iterations": int(motion.iterations.sum()) + motion.extra["first_iterations"],
        "residual": float(motion.constraint_violation[:, 0].max()),
        "markers": markers_data(motion.at_end()),
        "objectives": {name: float(value) for name, value in motion.objectives.items()},
    }


def show_motion(console, data: dict, model) -> None:
    """Facts, markers and objectives of a motion by drivers."""
    from rich.table import Table
    from rich.text import Text

    from kinegrad.cli.rest import show_facts, show_positions

    facts = {
        "steps": f"{data['steps']} to t = {data['t_end']:g} s, {data['iterations']} iterations",
        "processor time": f"{data['cpu_s']:.3g} s",
        "largest constraint violation": f"{data['residual']:.2g}",
    }
    show_facts(console, model, facts)
    show_positions(console, data["markers"], "At the end")
    if data["objectives"]:
        table = Table("objective", "value")
        for name, value in data["objectives"].items():
            table.add_row(Text(name), f"{value:.10g}")
        console.print(table)
