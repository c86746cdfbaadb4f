"""Rows of measures: drivers, guidances, linear combinations, and degrees of freedom that are taken as driven."""

from __future__ import annotations

from dataclasses import dataclass

from kinegrad.coordinates.system import System
from kinegrad.kernels.records import MEASURE


@dataclass(frozen=True)
class ExpressionRow:
    """A row that is a function of scalars: its name, number, law in the tables (or -1), and the numbers of its scalars."""

    name: str
    number: int
    law: int
    scalars: tuple[int, ...]

    @property
    def owner(self) -> str:
        """What stands before the last dot of its name: a joint, or a guidance of a point."""
        return self.name.rpartition(".")[0]


def expression_rows(system: System, with_freedoms: bool) -> list[ExpressionRow]:
    """Rows of measures: drivers, guidances, linear combinations, and, when asked for, degrees of freedom.

    A row that closes a cut joint is no measure: what it exerts is in the reaction of the joint.
    """
    tables, m = system.tables, system.m
    written = {row.number: row.name for row in system.rows if row.number >= 0 and not row.closure}
    free = {f.row: f.name for f in system.freedoms if not f.state}
    packed = tables["packed"]
    rows = []
    for i, law in enumerate(tables["elements"]["row_law"]):
        scalars = tuple(packed.ins[law["in0"] : law["in1"]])
        if law["row"] in written:
            rows.append(ExpressionRow(written[law["row"]], law["row"], i, scalars))
        elif with_freedoms and law["row"] >= m:
            rows.append(ExpressionRow(free[law["row"]], law["row"], i, scalars))
    if with_freedoms:
        for row in tables["elements"]["row"]:
            if row["type"] == MEASURE and row["row"] in free:
                rows.append(ExpressionRow(free[row["row"]], row["row"], -1, (row["n"],)))
    return rows
