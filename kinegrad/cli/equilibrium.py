"""``kinegrad equilibrium``: where a mechanism comes to rest, and how that depends on parameters."""

from __future__ import annotations

from typing import Annotated

import typer

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report
from kinegrad.errors import KinegradError

Time = Annotated[float, typer.Option("--time", metavar="T", help="Time at which drivers and forces are taken [s].")]
Gradient = Annotated[bool, typer.Option("--gradient", help="Differentiate the objectives at the equilibrium.")]
Method = Annotated[
    str | None,
    typer.Option(
        "--method", metavar="NAME", help="Of the gradient: direct (default), or adjoint (also discrete-adjoint)."
    ),
]
Wrt = Annotated[
    list[str],
    typer.Option("--wrt", metavar="A,B", help="Parameters of the gradient; the design of the file by default."),
]
Check = Annotated[
    bool, typer.Option("--check", help="Compare the gradient with differences; exit code 1 if they disagree.")
]


def equilibrium(
    model: o.ModelFile,
    time: Time = 0.0,
    gradient: Gradient = False,
    method: Method = None,
    wrt: Wrt = [],  # noqa: B006
    check: Check = False,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    coordinates: o.Coordinates = None,
    body_point: o.BodyPoint = None,
    cut: o.Cut = [],  # noqa: B006
    signals: o.Signals = None,
    json: o.Json = False,
) -> Report:
    """Find a position where all forces balance, its stability and its reactions.

    It is looked for from the start that the file gives. Example: kinegrad equilibrium arm.yaml --signals brake.force
    """
    from kinegrad.cli import signals as of_signals
    from kinegrad.cli.gradient import _by_name, _names, checked
    from kinegrad.cli.kinematics import asks_for_gradient
    from kinegrad.cli.rest import markers_data
    from kinegrad.cli.run import reactions_data
    from kinegrad.sensitivity.methods import ALSO, METHODS
    from kinegrad.statics.equilibrium import equilibrium as solve
    from kinegrad.statics.sensitivity import NAMES

    if method is not None and method not in METHODS and method not in ALSO:
        raise KinegradError(f"--method is {method!r}, which is not available; use {' or '.join(NAMES.values())}.")
    asked = asks_for_gradient(gradient, wrt, check, method)
    description = o.load_model(model, variant, set_)
    of_signals.checked(description, signals)
    found = solve(o.lowered(description, coordinates, cut, body_point), t=time)
    data = {
        "iterations": found.iterations,
        "residual": found.residual,
        "force_residual": found.force_residual,
        "stable": found.stable,
        "free": list(found.free),
        "frequencies": found.frequencies.tolist(),
        "coordinates": found.coordinates,
        "markers": markers_data(found.markers()),
        "objectives": {name: float(value) for name, value in found.objectives.items()},
        **reactions_data(found.reactions(), 0),
        **of_signals.summary(found.motion, signals),
    }
    good = True
    if asked:
        names = _names(wrt) or list(description.design)
        result = found.gradient(wrt=names, method=method or "direct")
        data["gradient"] = _by_name(found.system, names, result.values, result.matrix)
        data["method"] = result.method
        good = checked(data, result, names)[1] if check else True
    return Report(data, lambda console: _show(console, data, description), good)


def _show(console, data: dict, model) -> None:
    from kinegrad.cli.gradient import _rows, show_check
    from kinegrad.cli.rest import show_coordinates, show_facts, show_positions
    from kinegrad.cli.run import show_reactions
    from kinegrad.cli.signals import show_signals
    from kinegrad.cli.tables import show_columns

    kind = "stable" if data["stable"] else "not stable" if not data["free"] else "with free directions"
    facts = {
        "equilibrium": f"{kind}, found in {data['iterations']} iterations",
        "without stiffness": "; ".join(data["free"]),
        "natural frequencies [Hz]": ", ".join(f"{x:.5g}" for x in data["frequencies"][:12]),
        "largest force left": f"{data['force_residual']:.2g}",
        "largest constraint violation": f"{data['residual']:.2g}",
    }
    show_facts(console, model, facts)
    show_coordinates(console, data["coordinates"])
    show_positions(console, data["markers"], "At rest")
    show_reactions(console, data)
    show_signals(console, data)
    if data["objectives"]:
        objectives = list(data["objectives"])
        texts = [("value", [f"{data['objectives'][name]:.10g}" for name in objectives])]
        for label, values in _rows(data["gradient"], objectives) if "gradient" in data else ():
            texts.append((f"by {label}", [f"{value:.10g}" for value in values]))
        show_columns(console, "objective", objectives, texts, apart=1)
    show_check(console, data, "equilibria")
