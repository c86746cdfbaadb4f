"""Rows that vanish by structure: left out of the tables, and still counted.

A loop of bodies that can only move in a plane leaves closure rows that no coordinate changes, at any position of the
tree.  They cost time in every step and say nothing, so they are found once, at random positions, and dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import AssemblyError
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kernels.records import COINCIDENCE, DISTANCE, DOT

POSITIONS = 3
# keys of a row that number markers
OPERANDS = {COINCIDENCE: ("i", "j"), DOT: ("i", "j", "k"), DISTANCE: ("j", "k")}
OPEN = 1e-9  # of the largest coordinate: what such a row may be off by
NULL = 1e-13  # of the largest entry, or of the largest coordinate of a marker, whose differences make entries


def without_null_rows(system: System) -> System:
    """`system` with the rows whose derivatives vanish at every position left out."""
    if system.m == 0:
        return system
    work = system.workspace()
    rng = np.random.default_rng(0)
    largest = np.zeros(system.m)
    work["flag"][FREEDOMS] = 0
    scale = 0.0
    for _ in range(POSITIONS):
        work["q"][:] = rng.uniform(-1.5, 1.5, system.n)
        work.call(POSITION)
        scale = max(scale, *(float(np.abs(x).max(initial=0.0)) for x in (work["J"][: system.m], work["mk"]["x"])))
        largest = np.maximum(largest, np.abs(work["J"][: system.m]).max(axis=1, initial=0.0))
    keep = ~(largest <= NULL * scale)
    if keep.all():
        return system
    off = np.where(keep, 0.0, np.abs(work["Phi"][: system.m]))
    if off.max() > OPEN * max(scale, 1e-300):
        worst = int(off.argmax())
        raise AssemblyError(
            f"The mechanism cannot be assembled: {system.row_names[worst]!r} is off by {off[worst]:.3g} in every position. "
            "Check the markers and axes of its loop: nothing that can move closes this gap."
        )
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    m = int(keep.sum())
    shift = {i: int(k) for i, k in enumerate(number)} | {-1: -1}

    def renumber(records, count):
        kept = []
        for i, record in enumerate(records):
            row = record["row"]
            new = shift[row] if row < system.m else row - system.m + m
            if new >= 0:
                kept.append((i < count, record | {"row": new}))
        return tuple(record for _, record in kept), sum(constraint for constraint, _ in kept)

    rows, n_rows = renumber(system.tables["rows"], system.sizes["n_rows"])
    laws, n_laws = renumber(system.tables["row_laws"], system.sizes["n_laws"])
    return _without_idle_markers(
        replace(
            system,
            tables=system.tables | {"rows": rows, "row_laws": laws, "known": {}},
            sizes=system.sizes | {"m": m, "n_rows": n_rows, "n_laws": n_laws},
            rows=tuple(replace(row, number=shift[row.number]) for row in system.rows),
            freedoms=tuple(replace(f, row=f.row - system.m + m) for f in system.freedoms),
        )
    )


def _without_idle_markers(system: System) -> System:
    """`system` with the markers that no element uses any more behind the others, out of the time loops."""
    tables = system.tables
    used = {k for spring in tables["springs"] for k in spring[:2]} | {marker for marker, _ in tables["scalars"]}
    for row in tables["rows"]:
        used |= {row[key] for key in OPERANDS.get(row["type"], ())}
    facing = [x for x in tables["facing"] if x[3] in used and used & set(x[1:3])]  # null rows cannot turn over
    used |= {k for x in facing for k in x[1:]}
    order = sorted(range(len(tables["every_marker"])), key=lambda k: (k not in used, k))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}

    def moved(row: dict) -> dict:
        return row | {key: place[row[key]] for key in OPERANDS.get(row["type"], ())}

    every = tuple(tables["every_marker"][k] for k in order)
    return replace(
        system,
        tables=tables
        | {
            "every_marker": every,
            "markers": every[: len(used - {-1})],
            "springs": tuple((place[i], place[j], *rest) for i, j, *rest in tables["springs"]),
            "scalars": tuple((place[i], k) for i, k in tables["scalars"]),
            "rows": tuple(moved(row) for row in tables["rows"]),
            "facing": tuple((name, *(place[k] for k in markers)) for name, *markers in facing),
            "known": {},
        },
        markers={name: place[k] for name, k in system.markers.items()},
    )
