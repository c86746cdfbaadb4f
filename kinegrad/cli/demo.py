"""``kinegrad demo``: the five-bar linkage, simulated and differentiated in two ways, beside published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kinegrad.bench.thesis_lines import GRADIENTS
from kinegrad.cli.contract import Report
from kinegrad.cli.options import Json

MODEL = Path(__file__).parents[1] / "data" / "five_bar.yaml"
VARIANT = "printed"  # the data as rounded for print, on which the published tables stand
METHODS = ("direct", "discrete-adjoint")
Plot = Annotated[Path, typer.Option("--plot", metavar="FILE.png", help="Where the figure goes (png, pdf or svg).")]
Html = Annotated[
    Path | None,
    typer.Option("--html", metavar="FILE.html", help="Where the animated page goes; beside the figure by default."),
]


def demo(plot: Plot = Path("kinegrad_demo.png"), html: Html = None, json: Json = False) -> Report:
    """Simulate and differentiate a linkage of five bars.

    It moves for 5 s; its gradient, by two methods, is shown beside published numbers, and its motion is drawn and animated.
    Example: kinegrad demo --plot five_bar.png
    """
    from kinegrad.cli.job import Choices, prepare
    from kinegrad.cli.progress import Progress
    from kinegrad.model.model import Model
    from kinegrad.sensitivity.gradient import gradient

    model = Model.from_yaml(MODEL).with_variant(VARIANT)
    html = html or plot.with_suffix(".html")
    job = prepare(model, Choices(), (), None, plot, html)
    with Progress("Simulation") as progress:
        motion = job.simulate(progress)
    short = job.simulate(t_end=2.0 * motion.step)
    results = {}
    for method in METHODS:
        gradient(short, method=method)  # loads the compiled code before the clock starts
        with Progress(method) as progress:
            results[method] = gradient(motion, method=method, progress=progress)
    job.write_data(motion)
    job.write_page(motion, results["direct"])
    tables = {method: result.as_dict() for method, result in results.items()}
    agree = {
        objective: {
            name: all(_rounds_to(tables[method][objective][name], text) for method in METHODS)
            for name, text in zip(model.design, GRADIENTS[objective], strict=True)
        }
        for objective in GRADIENTS
    }
    direct = results["direct"]
    data = {
        "title": model.title,
        "variant": VARIANT,
        "steps": len(motion.hs),
        "us_per_step": motion.us_per_step,
        "energy_drift": motion.energies.drift,
        "energy_drift_percent": 100.0 * motion.energies.drift_part,
        "objectives": {name: float(value) for name, value in direct.values.items()},
        "gradient": tables,
        "published": {
            objective: dict(zip(model.design, map(float, row), strict=True)) for objective, row in GRADIENTS.items()
        },
        "agrees": agree,
        "cpu_s": {method: result.cpu_s for method, result in results.items()},
        "simulation_cpu_s": motion.cpu_s,
        "plot": str(plot),
        "html": str(html),
    }
    good = all(all(row.values()) for row in agree.values())

    def show(console):
        _show(console, data)
        job.show_files(console)
        console.print("Open the page in a browser: it plays the motion, and shows the gradient as bars.")

    return Report(data, show, good)


def _rounds_to(value: float, text: str) -> bool:
    """Whether `value`, rounded to the digits of `text`, is that number."""
    _, point, decimals = text.partition(".")
    return round(value, len(decimals) if point else 0) == float(text)


def _show(console, data: dict) -> None:
    from rich.table import Table

    speed = f"{data['us_per_step']:.2g} µs each, energy drift {data['energy_drift']:.1e} J"
    console.print(
        f"{data['title']}: four moving bars, five revolute joints, two springs and gravity, 5 s in steps of 1 ms.\n"
        f"Simulation: {data['steps']} steps, {speed}.\n"
    )
    console.print(
        "Three integrals along the path of point 2 (psi1 squared distance from its start, psi2 squared velocity, psi3 "
        "squared acceleration), differentiated by the natural lengths of the springs (L_s1, L_s2) and by the mass, "
        f"centre of mass and length of the first bar (m_A1, r_G, L_A1). Data: variant {data['variant']!r}, rounded to "
        "four decimals as for the published tables."
    )
    table = Table("objective", "by", "direct", "discrete adjoint", "published", "")
    for objective, row in data["agrees"].items():
        for k, (name, agrees) in enumerate(row.items()):
            values = [data["gradient"][method][objective][name] for method in METHODS]
            table.add_row(
                objective if k == 0 else "", name, *(f"{value:.8g}" for value in values),
                GRADIENTS[objective][k], "agrees" if agrees else "differs", end_section=k == len(row) - 1,
            )  # fmt: skip
    console.print(table)
    for method in METHODS:
        ratio = data["cpu_s"][method] / data["simulation_cpu_s"]
        console.print(f"{method}: all 15 numbers in {data['cpu_s'][method]:.2g} s, {ratio:.2g} times the simulation.")
