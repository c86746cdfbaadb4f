"""The system of a model whose coordinates and own rows a set has put into its elements."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from kinegrad.coordinates.coordinate_set import CoordinateSet
from kinegrad.coordinates.elements import Elements
from kinegrad.coordinates.start_rows import StartRows
from kinegrad.coordinates.system import Row, System


def lowered(
    elements: Elements, coordinates: CoordinateSet, values: Mapping | None, euler: Callable, slides: Callable
) -> System:
    """The system of a set that has its coordinates, and the rows of its own and of its joints, in `elements`.

    Parameters
    ----------
    values : mapping or None
        Values of independent parameters that replace those of the model.
    euler, slides : callables
        As `StartRows` takes them.
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
    }  # fmt: skip
    system = System(
        model=e.model, set=coordinates, tables=tables,
        sizes={"n": len(e.coordinates), "m": m, "gravity": gravity, "signals": len(e.model.watched)},
        parameters=e.parameters, slots=e.slots.build(), rho=e.parameters.values(values), coordinates=tuple(e.coordinates),
        rows=rows_of(e.row_names[:m], e.implied, closures), freedoms=tuple(e.freedoms), objectives=objectives,
        markers=dict(e.marker_names), own=tuple(e.own),
    )  # fmt: skip
    return without_null_rows(system)


def rows_of(names_: list[str], implied: list[tuple[int, str]], closures: Collection[int]) -> tuple[Row, ...]:
    """Named rows with their numbers, of which `closures` belong to joints, and those that follow where they stand."""
    rows = [(k, 1, Row(name, k, k in closures)) for k, name in enumerate(names_)]
    rows += [(k, 0, Row(name, -1, True)) for k, name in implied]
    return tuple(row for *_, row in sorted(rows, key=lambda entry: entry[:2]))
