"""The system of a model whose coordinates and own rows a set has put into its elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kinegrad.coordinates.coordinate_set import CoordinateSet
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.start_rows import StartRows
from kinegrad.coordinates.system import Row, System
from kinegrad.errors import KinegradError


def lowered(
    elements: Elements,
    coordinates: CoordinateSet,
    values: Mapping | None,
    euler: Callable,
    slides: Callable,
    idle: bool = False,
) -> System:
    """The system of a set that has its coordinates, and the rows of its own and of its joints, in `elements`.

    Parameters
    ----------
    values : mapping or None
        Values of independent parameters that replace those of the model.
    euler, slides : callables
        As `StartRows` takes them.
    idle : bool
        Whether objectives may use multipliers of rows that hold nothing that can move: who asks has a system beside.
    """
    from kinegrad.coordinates.null_rows import without_null_rows

    e, gravity = elements, elements.gravity()
    closures = set(range(len(e.row_names)))
    e.constraints()
    e.forces()
    objectives = e.objectives()
    closures |= e.bind(e.model.watched)
    m = len(e.row_names)
    StartRows(e, euler, slides).write()
    used = tuple(e.markers)
    e.name_every_marker()
    tables = {
        "markers": used, "every_marker": tuple(e.markers), "scalars": tuple(e.scalars),
        "facing": tuple(e.facing), "either": tuple(e.either), "starting": tuple(e.starting), "divisors": e.divisors,
        "elements": {name: tuple(rows) for name, rows in e.tables.items()},
        "owners": {name: tuple(owners) for name, owners in e.owners.items()}, "times": tuple(e.times), "packed": e.packed,
        "tables": {slots.first: name for name, slots in e._tables.items()},
        "known": {}, "again": tuple(e.again), "not_here": e.not_here,
        "linear": tuple(e.linear), "coordinates_beside": () if e.apart is None else tuple(e.beside_scalars()),
        "written": m, "complete": not e.shared, "idle": "", "rigid": e.rigid,
    }  # fmt: skip
    system = System(
        model=e.model, set=coordinates, tables=tables,
        sizes={"n": len(e.coordinates), "m": m, "gravity": gravity, "signals": len(e.model.watched)},
        parameters=e.parameters, slots=e.slots.build(), rho=e.parameters.values(values), coordinates=tuple(e.coordinates),
        rows=rows_of(e.row_names[:m], e.implied, closures), freedoms=tuple(e.freedoms), objectives=objectives,
        markers=dict(e.marker_names), own=tuple(e.own),
    )  # fmt: skip
    system = without_null_rows(system)
    if not idle:
        refuse_idle(system)
    return system


def refuse_idle(system: System) -> None:
    """Raises where an objective uses the multiplier of a row that was left out."""
    if system.tables["idle"]:
        raise KinegradError(
            f"An objective uses the force of {system.tables['idle']!r}, a row that holds nothing that can move, so that "
            "its force is not known; use another component, or leave it out."
        )


def rows_of(names_: list[str], implied: list[tuple[int, str]], closures: Collection[int]) -> tuple[Row, ...]:
    """Named rows with their numbers, of which `closures` belong to joints, and those that follow where they stand."""
    rows = [(k, 1, Row(name, k, k in closures)) for k, name in enumerate(names_)]
    rows += [(k, 0, Row(name, -1, True)) for k, name in implied]
    return tuple(row for *_, row in sorted(rows, key=lambda entry: entry[:2]))
