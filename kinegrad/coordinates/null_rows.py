"""Rows that vanish by structure: left out of the tables, and still counted.

A loop of bodies that can only move in a plane leaves closure rows that no coordinate changes, at any position of the
tree.  They cost time in every step and say nothing, so they are found once, at random positions, and dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.kernels.products import EVALUATE, FREEDOMS

POSITIONS = 3
NULL = 1e-13  # of the largest entry


def without_null_rows(system: System) -> System:
    """`system` with the rows whose derivatives vanish at every position left out."""
    if system.m == 0:
        return system
    work = system.workspace()
    rng = np.random.default_rng(0)
    largest = np.zeros(system.m)
    work["flag"][FREEDOMS] = 0
    scale = max(1.0, float(np.abs(work["s"]).max()))
    for _ in range(POSITIONS):
        work["q"][:] = rng.uniform(-1.5, 1.5, system.n)
        work.call(EVALUATE)
        largest = np.maximum(largest, np.abs(work["J"][: system.m]).max(axis=1))
    keep = ~(largest <= NULL * scale)
    if keep.all():
        return system
    number = np.where(keep, np.cumsum(keep) - 1, -1)
    m = int(keep.sum())
    shift = {i: int(k) for i, k in enumerate(number)}

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
    return replace(
        system,
        tables=system.tables | {"rows": rows, "row_laws": laws},
        sizes=system.sizes | {"m": m, "n_rows": n_rows, "n_laws": n_laws},
        rows=tuple(replace(row, number=shift[i]) for i, row in enumerate(system.rows)),
        freedoms=tuple(replace(f, row=f.row - system.m + m) for f in system.freedoms),
    )
