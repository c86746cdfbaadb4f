"""``kinegrad compare``: one model by every formulation and integrator, and whether they give one motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.errors import KinegradError, SimulationError

if TYPE_CHECKING:
    import numpy as np

    from kinegrad.coordinates.system import System

FACTOR, FLOOR = 3.0, 1e-9  # two agree if they differ by no more than FACTOR times their errors and FLOOR [m]


def compare(
    model: o.ModelFile,
    step: o.Step = None,
    t_end: o.TEnd = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    cut: o.Cut = [],  # noqa: B006
    json: o.Json = False,
) -> Report:
    """Simulate a model in every way there is, at two steps each, and tell whether the motions agree."""
    from kinegrad.cli.job import Choices
    from kinegrad.cli.progress import Progress
    from kinegrad.coordinates.sets import joint
    from kinegrad.dynamics.schemes import SCHEMES

    description = o.load_model(model, variant, set_)
    Choices(step=step, t_end=t_end).check()
    system = joint(description, cut=cut)
    trials = []
    with Progress("Comparison") as progress:
        for trial in run_all(system, step, t_end):
            trials.append(trial)
            progress(len(trials) / len(SCHEMES))
    if all(trial.refused for trial in trials):
        raise KinegradError(*dict.fromkeys(trial.problem for trial in trials))
    rows = judged(trials)
    data = {"step": trials[0].step, "t_end": trials[0].t_end, "rows": rows}
    good = all(row["agrees"] is not False for row in rows)
    return Report(data, lambda console: _show(console, description.title, data), good=good)


@dataclass(frozen=True)
class Trial:
    """One formulation with one integrator: where the points are at the end, how well that is known, what it cost.

    `problem` tells why there is none: `refused` when the combination does not apply to the model, else it failed.
    """

    coordinates: str
    formulation: str
    integrator: str
    step: float = 0.0
    t_end: float = 0.0
    points: np.ndarray | None = None
    error: float | None = None
    energy_drift: float | None = None
    max_constraint: float | None = None
    iterations: float | None = None
    us_per_step: float | None = None
    problem: str | None = None
    refused: bool = False


def run_all(system: System, step: float | None = None, t_end: float | None = None) -> Iterator[Trial]:
    """A Trial for each combination in the list of schemes, with the options of the model where it has that one."""
    from kinegrad.dynamics.schemes import SCHEMES
    from kinegrad.model.simulation import FORMULATIONS, INTEGRATORS
    from kinegrad.simulate import given_time

    simulation = system.model.simulation
    times = {"step": given_time(system, "step", step), "t_end": given_time(system, "t_end", t_end)}
    names = _points(system)
    for key in SCHEMES:
        formulation, integrator = (
            default if default.type == name else table[name]()
            for name, default, table in zip(
                key, (simulation.formulation, simulation.integrator), (FORMULATIONS, INTEGRATORS), strict=True
            )
        )
        about = {"coordinates": system.kind, "formulation": key[0], "integrator": key[1], **times}
        try:
            yield Trial(**about, **_trial(system, formulation, integrator, names, **times))
        except KinegradError as error:
            refused = not isinstance(error, SimulationError)
            yield Trial(**about, problem=error.problems[0].sentence, refused=refused)


def _points(system: System) -> list[str]:
    from kinegrad.model import names
    from kinegrad.model.bodies import VectorMarker

    found = [
        name
        for name in system.markers
        if not name.startswith(f"{names.GROUND}.")
        and not isinstance(names.find_marker(system.model, name)[1], VectorMarker)
    ]
    if not found:
        raise KinegradError("No body has a point marker, so there is nothing to compare; give the bodies markers.")
    return found


def _trial(system: System, formulation, integrator, names: list[str], step: float, t_end: float) -> dict[str, Any]:
    """The points by half the step, and the error that the whole step shows they have left.

    With error control, half the step is the tolerance divided by 2 to the power of the order.  What a penalty leaves is
    in proportion to its inverse, so twice the penalty shows it.
    """
    import numpy as np

    from kinegrad.dynamics.schemes import scheme_for
    from kinegrad.simulate import simulate

    adaptive = scheme_for(system, formulation, integrator).adaptive
    finer, half = integrator, step / 2.0
    if adaptive:
        finer, half = integrator.with_(tolerance=integrator.tolerance / 2.0**integrator.order), step

    def points(motion):
        end = motion.at_end()
        return np.array([end[name].position for name in names])

    def run(formulation, integrator, h):
        # all states of fixed steps, for their energies; with error control an interval would shorten the steps
        return simulate(system, formulation, integrator, step=h, t_end=t_end, output_step=t_end if adaptive else h)

    coarse = points(run(formulation, integrator, step))
    motion = run(formulation, finer, half)
    x = points(motion)
    error = _distance(x, coarse) / (2.0**integrator.order - 1.0)
    if "penalty" in type(formulation).model_fields:
        twice = formulation.with_(penalty=2.0 * formulation.penalty)
        stiffer = points(run(twice, finer, half))
        error += 2.0 * _distance(x, stiffer)
    return {
        "points": x,
        "error": error,
        "energy_drift": motion.energies.drift,
        "max_constraint": float(motion.constraint_violation[:, 0].max()),
        "iterations": float(motion.iterations.sum()) / len(motion.hs),
        "us_per_step": motion.us_per_step,
    }


def _distance(x: np.ndarray, y: np.ndarray) -> float:
    """The largest distance of two points that should be one."""
    import numpy as np

    return float(np.linalg.norm(x - y, axis=1).max())


def judged(trials: list[Trial]) -> list[dict[str, Any]]:
    """The rows of the table: each trial beside the one with the smallest error."""
    done = [trial for trial in trials if trial.points is not None]
    best = min(done, key=lambda trial: trial.error, default=None)
    rows = []
    for trial in trials:
        difference = None if trial.points is None else _distance(trial.points, best.points)
        agrees: bool | None = None if trial.refused else False
        if difference is not None:
            agrees = difference <= FACTOR * (trial.error + best.error) + FLOOR
        row = {key: getattr(trial, key) for key in ("coordinates", "formulation", "integrator", "error")}
        row |= {"difference": difference, "agrees": agrees}
        row |= {key: getattr(trial, key) for key in ("energy_drift", "max_constraint", "iterations", "us_per_step")}
        rows.append(row | {"problem": trial.problem})
    return rows


def _show(console, title: str | None, data: dict) -> None:
    from rich.table import Table
    from rich.text import Text

    rows = data["rows"]
    sets = " and ".join(dict.fromkeys(row["coordinates"] for row in rows))
    console.print(Text(title or "Model without a title", style="bold"))
    console.print(f"{sets} coordinates, steps of {data['step']:g} s and half of it, to t = {data['t_end']:g} s")
    console.print(Text("error, difference [m]; drift of energy [J]; violation of rows; iterations, µs of a step"))
    several = ["coordinates"] if " " in sets else []
    table = Table(box=None, padding=(0, 1, 0, 0))
    for head in (*several, "formulation", "integrator"):
        table.add_column(head, no_wrap=True)
    for head in ("error", "differs", "agrees", "energy", "rows", "iter.", "µs"):
        table.add_column(head, no_wrap=True, justify="right")
    for row in rows:
        agrees = {True: "yes", False: "NO", None: "refused"}[row["agrees"]]
        small = [
            "" if row[k] is None else f"{row[k]:.0e}" for k in ("error", "difference", "energy_drift", "max_constraint")
        ]
        large = ["" if row[k] is None else f"{row[k]:.2g}" for k in ("iterations", "us_per_step")]
        labels = (Text(row[k]) for k in (*several, "formulation", "integrator"))
        table.add_row(*labels, *small[:2], agrees, *small[2:], *large)
    console.print(table)
    for row in rows:
        if row["problem"]:
            console.print(Text(f"{row['formulation']} with {row['integrator']}: {row['problem']}"))
