"""``kinegrad inverse``: the forces that the motion of the drivers needs."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.cli.kinematics import DrivenCheck, DrivenGradient, DrivenMethod, DrivenWrt

Actuators = Annotated[
    list[str],
    typer.Option(
        "--actuators",
        metavar="A,B",
        help="Forces on measures that are to balance the motion; the drivers carry nothing.",
    ),
]


def inverse(
    model: o.ModelFile,
    step: o.Step = None,
    t_end: o.TEnd = None,
    output_step: o.OutputStep = None,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    coordinates: o.Coordinates = None,
    body_point: o.BodyPoint = None,
    cut: o.Cut = [],  # noqa: B006
    actuators: Actuators = [],  # noqa: B006
    out: o.Out = None,
    plot: o.Plot = None,
    signals: o.Signals = None,
    gradient: DrivenGradient = False,
    wrt: DrivenWrt = [],  # noqa: B006
    method: DrivenMethod = None,
    check: DrivenCheck = False,
    json: o.Json = False,
) -> Report:
    """Move a model by its drivers, and tell the forces these have to give, and all reactions.

    The drivers must leave no freedom. With --actuators the forces that are named balance the motion in their place. Example:
    kinegrad inverse crank.yaml --t-end 2 --plot crank.png
    """
    from kinegrad.cli import signals as of_signals
    from kinegrad.cli.gradient import _names
    from kinegrad.cli.kinematics import add_gradient, asks_for_gradient, show_gradient, show_motion, summary
    from kinegrad.cli.progress import Progress
    from kinegrad.cli.rest import driven_job
    from kinegrad.cli.run import reactions_data, show_reactions
    from kinegrad.statics.inverse import inverse as solve

    asked = asks_for_gradient(gradient, wrt, check, method)
    description = o.load_model(model, variant, set_)
    of_signals.checked(description, signals)
    system = o.lowered(description, coordinates, cut, body_point)
    job = driven_job({"step": step, "t_end": t_end, "output_step": output_step}, system, out, plot, None, model)
    with Progress("Inverse dynamics") as progress:
        found = solve(job.system, **job.arguments, actuators=_names(actuators, "--actuators"), progress=progress)
    job.write_data(found.motion, signals=signals)
    data = summary(found.motion) | {
        "t": found.t.tolist(),
        "forces": {name: x.tolist() for name, x in found.forces.items()},
        "powers": {name: x.tolist() for name, x in found.powers.items()},
        **reactions_data(found.reactions, -1),
        **of_signals.summary(found.motion, signals),
    }
    if actuators:
        data["force_residual"] = found.residual
    result, good, who = None, True, "actuator" if actuators else "driver"
    if asked:
        if found.motion.system.objectives:
            result, good = add_gradient(data, found.motion, wrt, method, check)
        data["forces_gradient"] = _by_parameters(found.sensitivity(_names(wrt) or None))
    job.write_page(found.motion, result, signals)

    def show(console):
        from rich.table import Table
        from rich.text import Text

        show_motion(console, data, description)
        table = Table(who, "least force", "largest force", "largest power [W]")
        for name, x in found.forces.items():
            table.add_row(Text(name), f"{x.min():.6g}", f"{x.max():.6g}", f"{abs(found.powers[name]).max():.6g}")
        console.print(table)
        if actuators:
            console.print(f"Largest generalised force that the actuators do not balance: {found.residual:.3g}")
        show_reactions(console, data, who)
        of_signals.show_signals(console, data)
        show_gradient(console, data)
        if "forces_gradient" in data:
            table = Table(who, "by", "least", "largest", title=f"Derivatives of the forces of {who}s")
            for name, row in data["forces_gradient"].items():
                for label, x in row.items():
                    table.add_row(Text(name), Text(label), f"{min(x):.6g}", f"{max(x):.6g}")
            console.print(table)
        job.show_files(console)

    return Report(data, show, good)


def _by_parameters(found) -> dict[str, dict[str, list[float]]]:
    """{driver or actuator: {parameter: derivatives of its force at all times}}."""
    return {name: {label: x[:, k].tolist() for k, label in enumerate(found.wrt)} for name, x in found.forces.items()}
