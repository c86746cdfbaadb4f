"""Which coordinates meet in the equations of a system, and the tables of the solver that makes use of it (LIN-9).

An element joins all coordinates that move its markers: its forces, and the rows with their multipliers, have derivatives there.
So does the inertia of what the set says moves together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.coordinates.elimination import cost_of, fronts_of, tables_of
from kinegrad.kernels.pattern import dense, of_columns
from kinegrad.kernels.records import MEASURE, NORM

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System

DENSE, FRONTS = "dense", "fronts"  # solvers
FEW = 32  # coordinates up to which full matrices are as fast
MOST_COUPLED = 0.6  # part of the coordinates in one group: nearly all of a factorisation is there
LARGE = 200  # coordinates up to which full matrices are small
GAIN = 0.25  # of the multiplications of a full factorisation, which are the faster ones
ASKED = ("in0", "in1", "row", "type", "n")
ASIDE = ("objective", "signal", "kink")  # in no matrix of coordinates: what they read need not meet
EULER = 4  # Euler parameters of a row that normalises them


@dataclass(frozen=True)
class Structure:
    """The columns that rows of matrices have, in increasing order: coordinates by coordinates, and rows by coordinates."""

    square: list[list[int]]
    wide: list[list[int]]

    @cached_property
    def fronts(self) -> list:
        """The fronts in which coordinates are eliminated."""
        return fronts_of(self.square)

    @cached_property
    def arrays(self) -> dict[str, np.ndarray]:
        """The patterns and the tables of fronts."""
        n = len(self.square)
        patterns = {"square": of_columns(self.square, n), "wide": of_columns(self.wide, n)}
        return patterns | tables_of(self.fronts, self.square, self.wide)

    @cached_property
    def csr(self) -> tuple[tuple[np.ndarray, np.ndarray], ...]:
        """Columns of the entries, and where rows begin: of coordinates by coordinates, and of rows by coordinates."""
        return tuple(
            (
                np.fromiter((j for row in rows for j in row), np.int64),
                np.cumsum([0, *(len(row) for row in rows)]),
            )
            for rows in (self.square, self.wide)
        )

    @property
    def gain(self) -> float:
        """Multiplications of a factorisation, against those of a full matrix."""
        return cost_of(self.fronts) / max(1.0, len(self.square) ** 3 / 6)


def dense_arrays(n: int, rows: int) -> dict[str, np.ndarray]:
    """The patterns of dense matrices, and no fronts."""
    empty = tables_of([], [], [])
    return {"square": dense(n, n), "wide": dense(rows, n)} | empty


def structure_of(n: int, rows: int, tables: dict[str, np.ndarray], coupled: Iterable[Iterable[int]]) -> Structure:
    """The structure of a system with these tables of elements; `coupled`: coordinates whose inertia is shared."""
    from kinegrad.kernels.elements.kinds import KINDS

    columns, markers, scalars = tables["col"]["k"].tolist(), tables["mk"], tables["sc"]
    inputs = tables["ins"].tolist()
    of_marker = [frozenset(columns[a:b]) for a, b in zip(markers["c0"].tolist(), markers["c1"].tolist(), strict=True)]
    alone = max(0, max(scalars["marker"].tolist(), default=-1) + 1 - len(of_marker))
    of_marker += [frozenset()] * alone  # markers that signals alone read, which have no columns
    of_scalar = [
        of_marker[m] if m >= 0 else frozenset([k])
        for m, k in zip(scalars["marker"].tolist(), scalars["k"].tolist(), strict=True)
    ]

    def met_by(element: dict[str, int], fields) -> set[int]:
        met: set[int] = set()
        for name in fields:
            if element[name] >= 0:
                met |= of_marker[element[name]]
        for scalar in inputs[element["in0"] : element["in1"]] if "in0" in element else ():
            met |= of_scalar[scalar]
        return met

    square: list[set[int]] = [{i} for i in range(n)]
    wide: list[set[int]] = [set() for _ in range(rows)]

    def join(met) -> None:
        for i in met:
            square[i].update(met)

    for met in coupled:
        join(set(met))
    for kind in KINDS:
        for table, fields in kind.tables.items():
            if table in ASIDE:
                continue
            for element in _dicts(tables[table], (*fields, *ASKED)):
                met = met_by(element, fields)
                if table == "row" and element["type"] == NORM:
                    met = set(range(element["n"], element["n"] + EULER))
                elif table == "row" and element["type"] == MEASURE:
                    met = set(of_scalar[element["n"]])
                join(met)
                if kind.count is not None:
                    wide[element["row"]] |= met
    return Structure([sorted(row) for row in square], [sorted(row) for row in wide])


def _dicts(table: np.ndarray, names: Iterable[str]) -> Iterator[dict[str, int]]:
    """The rows of a table of records, with those of the fields that it has."""
    kept = [name for name in names if name in (table.dtype.names or ())]
    for values in zip(*(table[name].tolist() for name in kept), strict=True):
        yield dict(zip(kept, values, strict=True))


def fronts_pay(system: System) -> bool:
    """Whether fronts are faster than full matrices: many coordinates, of which few meet (LIN-9)."""
    if system.n <= FEW or max(len(list(group)) for group in system.set.coupled(system)) > MOST_COUPLED * system.n:
        return False
    return system.structure.gain < GAIN


def lean(system: System) -> System:
    """The system with matrices of the entries that exist, if that saves much: for what is computed outside time loops."""
    return system.with_solver(FRONTS) if system.n > LARGE and fronts_pay(system) else system
