"""``kinegrad assemble``: the position a mechanism starts from."""

from __future__ import annotations

from kinegrad.cli import options as o
from kinegrad.cli.contract import Report


def assemble(
    model: o.ModelFile,
    set_: o.Set = [],  # noqa: B006
    variant: o.Variant = None,
    coordinates: o.Coordinates = None,
    body_point: o.BodyPoint = None,
    cut: o.Cut = [],  # noqa: B006
    json: o.Json = False,
) -> Report:
    """Close all loops at the start, and tell where markers are and how they move."""
    import numpy as np

    from kinegrad.cli.rest import markers_data, show_coordinates, show_facts, show_positions
    from kinegrad.kernels.products import EVALUATE, OBSERVE
    from kinegrad.kinematics.start import place, solve_acceleration, solve_position, solve_velocity
    from kinegrad.motion import MarkerMotion

    description = o.load_model(model, variant, set_)
    system = o.lowered(description, coordinates, cut, body_point)
    work = system.workspace(every_marker=True)
    place(system, work)
    iterations = solve_position(system, work)
    solve_velocity(system, work)
    solve_acceleration(system, work)
    work.call(EVALUATE)
    work.call(OBSERVE)
    mk = work["mk"]
    markers = {name: MarkerMotion(mk[k]["x"], mk[k]["xd"], mk[k]["xdd"]) for name, k in sorted(system.markers.items())}
    data = {
        "iterations": iterations,
        "residual": float(np.abs(work["Phi"][: system.m]).max(initial=0.0)),
        "coordinates": dict(zip(system.coordinates, work["q"].tolist(), strict=True)),
        "markers": markers_data(markers),
    }

    def show(console) -> None:
        found = f"in {iterations} iterations, largest constraint violation {data['residual']:.2g}"
        show_facts(console, description, {"assembled": found})
        show_coordinates(console, data["coordinates"])
        show_positions(console, data["markers"], "At the start")

    return Report(data, show)
