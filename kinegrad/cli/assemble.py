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
    """Close all loops at the start, and tell where markers are and how they move.

    Nothing is simulated. Example: kinegrad assemble arm.yaml --set length=0.7
    """
    from kinegrad.cli.rest import markers_data, show_coordinates, show_facts, show_positions
    from kinegrad.statics.assembly import assemble as solve

    description = o.load_model(model, variant, set_)
    found = solve(o.lowered(description, coordinates, cut, body_point))
    data = {
        "iterations": found.iterations,
        "residual": found.residual,
        "coordinates": found.coordinates,
        "markers": markers_data(found.markers()),
        "from_poses": found.distances.data,
    }

    def show(console) -> None:
        how = f"in {found.iterations} iterations, largest constraint violation {found.residual:.2g}"
        show_facts(console, description, {"assembled": how} | found.distances.facts)
        show_coordinates(console, data["coordinates"])
        show_positions(console, data["markers"], "At the start")

    return Report(data, show)
