"""Rows that vanish by structure: left out of the tables, and still counted.

A loop of bodies that can only move in a plane leaves closure rows that no coordinate changes, at any position of the
tree.  They cost time in every step and say nothing, so they are found once, at random positions, and dropped; not those that
would say something with other values of the parameters.
"""

from __future__ import annotations

import contextlib
from dataclasses import replace

import numpy as np

from kinegrad.coordinates.patterns import lean
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.kernels.elements.kinds import KINDS
from kinegrad.kernels.products import DURATION, FREEDOMS, LENGTH, POSITION, TIME

TIMES = (0.0, 0.37, 0.61, 0.93)  # of the time of the model, at as many positions
OPEN = 1e-9  # of the largest coordinate: what such a row may be off by
NULL = 1e-13  # of the largest entry, or of the largest coordinate of a marker, whose differences make entries; all in units
NEARBY, NEAR = 2, 1e-2  # sets of parameters beside those at hand, and how far from these


def without_null_rows(system: System) -> System:
    """`system` with the rows whose derivatives vanish at every position left out."""
    if system.m == 0:
        return system
    work = lean(system).workspace()
    rng, per_row = np.random.default_rng(0), _per_row(work)
    largest = np.zeros(system.m)
    work["flag"][FREEDOMS] = 0
    seen, scale, off, asked = False, 0.0, np.zeros(system.m), np.zeros(system.m)
    for time in TIMES:
        if not _anywhere(work, rng, time):
            continue
        seen = True
        sizes, points = _row_sizes(work), work["mk"]["x"][work["mk"]["point"] != 0] / work["size"][LENGTH]
        scale = max(scale, *(float(np.abs(x).max(initial=0.0)) for x in (sizes, points)))
        largest = np.maximum(largest, sizes)
        off = np.maximum(off, np.abs(work["Phi"][: system.m]) * per_row if time == 0.0 else 0.0)
        asked = np.maximum(asked, np.abs(work["Phi_t"][: system.m]) * per_row * work["size"][DURATION])
    keep = ~(largest <= NULL * scale)
    if not keep.all() and seen:
        keep |= _moved_by_parameters(system, work, rng, scale)
    if keep.all() or not seen:
        return system
    off, asked = np.where(keep, 0.0, off), np.where(keep, 0.0, asked)
    if off.max() > OPEN * max(scale, 1e-300):
        worst = int(off.argmax())
        gap = off[worst] / per_row[worst]
        raise AssemblyError(
            f"The mechanism cannot be assembled: {system.row_names[worst]!r} is off by {gap:.3g} in every position. "
            "Check the markers and axes of its loop: nothing that can move closes this gap."
        )
    if asked.max() > OPEN * max(scale, 1e-300):
        worst = int(asked.argmax())
        rate = asked[worst] / per_row[worst] / work["size"][DURATION]
        raise AssemblyError(
            f"The mechanism cannot move as {system.row_names[worst]!r} asks: it wants a rate of {rate:.3g}, and "
            "nothing that can move has one there. Remove it, or free that direction."
        )
    for name in ("structure", "unit_powers", "size_arrays"):  # those of all rows
        system.tables.pop(name, None)
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    m = int(keep.sum())
    shift = {i: int(k) for i, k in enumerate(number)} | {-1: -1}

    elements, owners = dict(system.tables["elements"]), dict(system.tables["owners"])
    for table in (kind.table for kind in KINDS if kind.count is not None):
        kept = []
        for row, owner in zip(elements[table], owners[table], strict=True):
            new = shift[row["row"]] if row["row"] < system.m else row["row"] - system.m + m
            if new >= 0:
                kept.append((row | {"row": new}, owner))
        elements[table], owners[table] = tuple(row for row, _ in kept), tuple(owner for _, owner in kept)
    scalars = tuple(
        (i, k) if i >= 0 or k >= 0 else (i, -1 - max(0, shift[-1 - k])) for i, k in system.tables["scalars"]
    )
    idle = next((system.row_names[number] for number in system.multipliers if shift[number] < 0), "")
    return _without_idle_markers(
        replace(
            system,
            tables=system.tables
            | {
                "elements": elements,
                "owners": owners,
                "known": {},
                "scalars": scalars,
                "idle": idle,
                "every_row": _without_objectives(system),
            },
            sizes=system.sizes | {"m": m},
            rows=tuple(replace(row, number=shift[row.number]) for row in system.rows),
            freedoms=tuple(replace(f, row=f.row - system.m + m) for f in system.freedoms),
            own=tuple(replace(own, row=shift[own.row]) for own in system.own),
        )
    )


def _without_objectives(system: System) -> System:
    """The rows alone: forces of objectives are those of a system beside, which is found later."""
    rows = {"elements": system.tables["elements"] | {"objective": ()}, "again": (), "known": {}}
    return replace(system, objectives={}, tables=system.tables | rows)


def _moved_by_parameters(system: System, work, rng, scale: float) -> np.ndarray:
    """(m,) rows whose derivatives do not vanish with parameters near those that the system has."""
    moved = np.zeros(system.m, bool)
    for _ in range(NEARBY if len(system.rho) else 0):
        rho = system.rho + NEAR * rng.uniform(-1.0, 1.0, len(system.rho)) * np.where(
            system.rho, np.abs(system.rho), 1.0
        )
        with contextlib.suppress(KinegradError):  # values that the model does not take tell nothing
            work["s"][:] = system.slots.values(rho)
            if _anywhere(work, rng, TIMES[0]):
                moved |= _row_sizes(work) > NULL * scale
    return moved


def _row_sizes(work) -> np.ndarray:
    """(m,) the largest entry of each constraint row, in units of the model."""
    J, m, per_row, unit = work.matrix("J"), work.system.m, _per_row(work), work["unit"]
    if isinstance(J, Rows):
        return J.first(m).scaled(per_row, unit).with_sizes().sides()[0]
    return np.abs(per_row[:, None] * J[:m] * unit).max(axis=1, initial=0.0)


def _per_row(work) -> np.ndarray:
    """(m,) 1 over the units of the constraint rows; 1 for formulas of which none is known."""
    found = work["per_row"][: work.system.m]
    return np.where(found > 0.0, found, 1.0)


def _anywhere(work, rng, time: float) -> bool:
    """Whether rows have values at a random position: a function of the model may be defined elsewhere."""
    work["q"][:] = work["unit"] * rng.uniform(-1.5, 1.5, len(work["q"]))
    work["par"][TIME] = time * work["size"][DURATION]
    try:
        work.call(POSITION)
    except Exception:
        if work.calls is None:
            raise
        work.calls.failure = None
        return False
    return True


def _without_idle_markers(system: System) -> System:
    """`system` with the markers that no element uses any more behind the others, out of the time loops."""
    tables, elements = system.tables, system.tables["elements"]
    operands = {name: keys for kind in KINDS for name, keys in kind.tables.items() if keys}
    used = {marker for marker, _ in tables["scalars"]}
    used |= {row[key] for name, keys in operands.items() for row in elements[name] for key in keys}
    facing = {
        name: [x for x in tables[name] if x[3] in used and used & set(x[1:3])]  # null rows cannot turn over
        for name in ("facing", "either", "starting")
    }
    used |= {k for kept in facing.values() for x in kept for k in x[1:]}
    order = sorted(range(len(tables["every_marker"])), key=lambda k: (k not in used, k))
    place = {old: new for new, old in enumerate(order)} | {-1: -1}

    def moved(name: str) -> tuple[dict, ...]:
        return tuple(row | {key: place[row[key]] for key in operands[name]} for row in elements[name])

    every = tuple(tables["every_marker"][k] for k in order)
    return replace(
        system,
        tables=tables
        | {
            "every_marker": every,
            "markers": every[: len(used - {-1})],
            "elements": elements | {name: moved(name) for name in operands},
            "scalars": tuple((place[i], k) for i, k in tables["scalars"]),
            **{
                key: tuple((name, *(place[k] for k in markers)) for name, *markers in kept)
                for key, kept in facing.items()
            },
            "known": {},
        },
        markers={name: place[k] for name, k in system.markers.items()},
    )
