"""Arrays of a workspace that are the same for every coordinate set: tables of elements, markers and scalars, and scratch."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from operator import itemgetter

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.kernels.elements.kinds import KINDS, empty_stages
from kinegrad.kernels.elements.layout import GRAVITY, N_COUNT
from kinegrad.kernels.jit import record
from kinegrad.kernels.records import COLUMN, MARKER, RECORDS, SCALAR


def records(fields, rows, number) -> np.ndarray:
    """An array of records, from dicts; what they do not give is zero."""
    out = np.zeros(len(rows), record(fields, number))
    alike: dict[tuple[str, ...], list[int]] = {}  # rows by what they give
    for i, keys in enumerate(map(tuple, rows)):
        alike.setdefault(keys, []).append(i)
    for keys, at in alike.items():
        chosen = rows if len(at) == len(rows) else [rows[i] for i in at]
        for key in keys:
            out[key][at if len(at) < len(rows) else slice(None)] = list(map(itemgetter(key), chosen))
    return out


def marker_arrays(
    names: Sequence[str], fields: Iterable[np.ndarray], columns: Sequence[int], axes: Sequence[int], number: str
) -> dict[str, np.ndarray]:
    """Markers, by the fields that are given, and the coordinates of their columns.

    `axes` tells along which global axis a column moves its marker with 1 at any position; 3 where it does not.
    """
    fields = list(fields)
    mk, col = np.zeros(len(fields[0]), record(MARKER, number)), np.zeros(len(columns), record(COLUMN, number))
    for name, values in zip(names, fields, strict=True):
        mk[name] = values
    col["k"], col["xq"] = columns, np.eye(4, 3)[axes] if len(axes) else 0.0
    return {"mk": mk, "col": col}


def element_arrays(system: System, number: str, columns: int) -> dict[str, np.ndarray]:
    """Tables and scratch of the elements, for `columns` coordinates and directions; markers and their columns are the set's."""
    tables, packed = system.tables, system.tables["packed"]
    count = np.zeros(N_COUNT, np.int64)
    count[GRAVITY] = system.sizes["gravity"]
    for kind in KINDS:
        if kind.count is not None:
            count[kind.count] = sum(row["row"] < system.m for row in tables["elements"][kind.table])
    rows = max(packed.inputs, *(kind.scratch for kind in KINDS if tables["elements"].get(kind.table)), 0)
    scalars = [
        {"marker": a, "comp": b} if a >= 0 else {"marker": -1, "k": max(b, 0), "lam": max(-b, 0)}
        for a, b in tables["scalars"]
    ]
    return {
        **{name: records(RECORDS[name], rows, number) for name, rows in tables["elements"].items()},
        "sc": records(SCALAR, scalars, number),
        "times": np.array(tables["times"], "f8"),
        "count": count,
        "stage": empty_stages(),
        "seen_signals": np.zeros(system.sizes.get("signals", 0), number),
        "multipliers": np.array([k for k, scalar in enumerate(scalars) if scalar.get("lam")], np.int64),
        "pos": np.full(columns, -1, np.int64),
        "idx": np.zeros(2 * columns, np.int64),
        "val": np.zeros(2 * columns, number),
        **{name: np.zeros((rows, columns), number) for name in ("U", "Ud", "Udd")},
        **packed.arrays(number),
    }
