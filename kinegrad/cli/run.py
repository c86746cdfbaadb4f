"""``kinegrad run``: a simulation, and what it gave."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report

if TYPE_CHECKING:
    from kinegrad.motion import Motion
    from kinegrad.reactions.result import Reactions


def run(
    model: o.ModelFile,
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
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    cut: o.Cut = [],  # noqa: B006
    out: o.Out = None,
    plot: o.Plot = None,
    html: o.Html = None,
    reactions: o.Reactions = False,
    signals: o.Signals = None,
    json: o.Json = False,
) -> Report:
    """Simulate a model, and tell where its markers are at the end.

    What is not given here is taken from `simulation` in the file. Example:
    kinegrad run arm.yaml --t-end 2 --plot arm.png
    """
    from kinegrad.cli import signals as of_signals
    from kinegrad.cli.job import Choices, prepare
    from kinegrad.cli.progress import Progress

    description = o.load_model(model, variant, set_)
    choices = Choices(
        coordinates, formulation, integrator, body_point, step, t_end, output_step, tolerance, penalty, from_, from_time,
        solver,
    )  # fmt: skip
    of_signals.checked(description, signals)
    job = prepare(description, choices, cut, out, plot, html=html, keep=[model])
    with Progress("Simulation") as progress:
        motion = job.simulate(progress)
    job.write(motion, reactions, signals)
    data = summary(motion) | (reactions_data(motion.reactions_at_end(), -1) if reactions else {})
    data |= of_signals.summary(motion, signals)
    data["from_poses"] = motion.from_poses.data

    def show(console):
        _show(console, data, motion)
        show_reactions(console, data)
        of_signals.show_signals(console, data)
        job.show_files(console)

    return Report(data, show)


def summary(motion: Motion) -> dict:
    """What `run` prints as JSON."""
    return {
        "steps": len(motion.hs),
        "t_end": float(motion.ts[-1]),
        "cpu_s": motion.cpu_s,
        "us_per_step": motion.us_per_step,
        "energy_drift": motion.energies.drift,
        "energy_drift_percent": 100.0 * motion.energies.drift_part,
        "max_constraint": float(motion.constraint_violation[:, 0].max()),
        "markers": {
            name: {key: getattr(marker, key).tolist() for key in ("position", "velocity", "acceleration")}
            for name, marker in motion.at_end().items()
        },
        "objectives": {name: float(value) for name, value in motion.objectives.items()},
    }


def reactions_data(found: Reactions, k: int) -> dict:
    """Reactions and forces of drivers at state k, as JSON."""
    return {"reactions": found.at(k), "drivers": found.drivers_at(k)}


def show_reactions(console, data: dict, who: str = "driver") -> None:
    """Tables of the reactions in `data`, if there are any; a star marks what is not unique."""
    from rich.table import Table
    from rich.text import Text

    if data.get("reactions"):
        table = Table("reaction on the second body", "force [N]", "moment at the first marker [N m]")
        marked = False
        for name, entry in data["reactions"].items():
            cells = []
            for kind in ("force", "moment"):
                unique = entry[f"unique_{kind}"]
                marked |= not all(unique)
                cells.append(", ".join(f"{x:.6g}{'' if u else '*'}" for x, u in zip(entry[kind], unique, strict=True)))
            table.add_row(Text(name), *cells)
        console.print(table)
        if marked:
            console.print("* not unique: redundant constraints share it; the value is one of many.")
    if data.get("drivers"):
        table = Table(who, "force on its measure", "power [W]")
        for name, entry in data["drivers"].items():
            power = f"{entry['power']:.6g}" if "power" in entry else ""
            table.add_row(Text(name), f"{entry['force']:.6g}{'' if entry['unique'] else '*'}", power)
        console.print(table)


def _show(console, data: dict, motion: Motion) -> None:
    from rich.table import Table
    from rich.text import Text

    console.print(Text(motion.system.model.title or "Model without a title", style="bold"))
    facts = Table.grid(padding=(0, 2))
    how = ", ".join((f"{motion.system.kind} coordinates", *motion.how))
    for label, value in (
        ("how", how),
        ("steps", f"{data['steps']} to t = {data['t_end']:g} s"),
        ("processor time", f"{data['cpu_s']:.3g} s, {data['us_per_step']:.3g} µs a step"),
        ("energy drift", motion.energies.drift_in_words),
        ("largest constraint violation", f"{data['max_constraint']:.3g}"),
    ):
        facts.add_row(label, Text(value))
    for label, value in motion.from_poses.facts.items():
        if value:
            facts.add_row(label, Text(value))
    console.print(facts)
    if data["markers"]:
        table = Table("marker at the end", r"position \[m]", r"velocity \[m/s]", r"acceleration \[m/s²]")
        for name, values in data["markers"].items():
            table.add_row(Text(name), *(", ".join(f"{x:.6g}" for x in value) for value in values.values()))
        console.print(table)
    if data["objectives"]:
        table = Table("objective", "value")
        for name, value in data["objectives"].items():
            table.add_row(Text(name), f"{value:.10g}")
        console.print(table)
