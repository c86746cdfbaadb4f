"""What a coordinate set tells about states of a motion: bodies, loads on markers, rows given by expressions.

This is all that reactions need of a set. ``system.set.bodies(system, work)`` gives the motion of the bodies after OBSERVE;
loads are the covectors that elements leave on markers in EVALUATE.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kinegrad.coordinates.system import System
from kinegrad.errors import KinegradError
from kinegrad.kernels.products import EVALUATE, FREEDOMS, OBSERVE, TIME
from kinegrad.kernels.records import MEASURE
from kinegrad.kernels.status import OK, WORDS
from kinegrad.kinematics.culprits import culprit, run_law


@dataclass(frozen=True)
class ExpressionRow:
    """A row that is a function of scalars: its name, number, law in the tables (or -1), and the scalars it reads."""

    name: str
    number: int
    law: int
    scalars: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class States:
    """k states of b bodies.

    Attributes
    ----------
    A, r, V, a : (k, b, 3, 3), (k, b, 3), (k, b, 6), (k, b, 6) arrays
        Orientation and origin of the bodies, their motion about the global origin and its rate.
    x, f : (k, markers, 3) arrays
        Markers that elements use, and the covectors (minus forces) of all loads on them.
    R : (k, n) array
        M a + f.
    gradients : list of (k, inputs) arrays
        Of each expression row, by its scalars.
    rates : (k, rows) array
        Of the measures of expression rows.
    """

    A: np.ndarray
    r: np.ndarray
    V: np.ndarray
    a: np.ndarray
    x: np.ndarray
    f: np.ndarray
    R: np.ndarray
    gradients: list[np.ndarray]
    rates: np.ndarray


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
        scalars = tuple(tables["scalars"][k] for k in packed.ins[law["in0"] : law["in1"]])
        if law["row"] in written:
            rows.append(ExpressionRow(written[law["row"]], law["row"], i, scalars))
        elif with_freedoms and law["row"] >= m:
            rows.append(ExpressionRow(free[law["row"]], law["row"], i, scalars))
    if with_freedoms:
        for row in tables["elements"]["row"]:
            if row["type"] == MEASURE and row["row"] in free:
                rows.append(ExpressionRow(free[row["row"]], row["row"], -1, (tables["scalars"][row["n"]],)))
    return rows


def states_of(system: System, s, t, q, qd, qdd, rows: list[ExpressionRow]) -> States:
    """The states at times t (k,) with coordinates q, velocities qd and accelerations qdd (k, n)."""
    k, b = len(t), len(system.model.bodies)
    work = system.workspace(s=s)
    count = len(work["mk"])
    A, r, V, a = np.zeros((k, b, 3, 3)), np.zeros((k, b, 3)), np.zeros((k, b, 6)), np.zeros((k, b, 6))
    x, f, R = np.zeros((k, count, 3)), np.zeros((k, count, 3)), np.zeros((k, system.n))
    gradients = [np.ones((k, len(row.scalars))) for row in rows]
    rates = np.zeros((k, len(rows)))
    work["flag"][FREEDOMS] = 1
    for i in range(k):
        work["par"][TIME] = t[i]
        work["q"][:], work["v"][:], work["vp"][:], work["ap"][:] = q[i], qd[i], qd[i], qdd[i]
        status = work.call(EVALUATE)
        if status != OK:
            who = culprit(system, work, status)
            raise KinegradError(
                f"The state at t = {t[i]:g} s cannot be evaluated: {WORDS[status]}{who and f' ({who})'}."
            )
        x[i], f[i] = work["mk"]["x"], work["mk"]["f"]
        R[i] = work["M"] @ qdd[i] + work["f"]
        for j, row in enumerate(rows):
            rates[i, j] = work["J"][row.number] @ qd[i]
            if row.law >= 0:
                gradients[j][i] = run_law(work, work["row_law"][row.law], 2 + len(row.scalars))[2:]
        work.call(OBSERVE)
        A[i], r[i], V[i], a[i] = system.set.bodies(system, work)
    return States(A, r, V, a, x, f, R, gradients, rates)


def chunks(total: int, size: int) -> Iterator[slice]:
    """Slices of at most `size` that cover `total`."""
    for first in range(0, total, size):
        yield slice(first, min(first + size, total))
