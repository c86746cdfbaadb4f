"""Reactions of joints and constraints, and forces of drivers, from the balance of the bodies (REA-2 to REA-6).

Unknown is what closes the loops: reactions of cut joints and links, of constraints, and the forces of drivers. The reaction of
a joint in the tree follows from them by a sum over all bodies beyond it.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kinegrad.coordinates.elimination import cost_of, fronts_of, tables_of
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import KinegradError
from kinegrad.kernels import pattern
from kinegrad.kernels.elements.kinds import link_stages
from kinegrad.kernels.elements.stages import FORCES
from kinegrad.kernels.orthogonal import factors
from kinegrad.kernels.products import LENGTH, OBSERVE, POSITION
from kinegrad.kernels.reactions.least_norm import PROBES, Fronts, Reflections
from kinegrad.kernels.reactions.motion import Results, Scratch, reactions_along
from kinegrad.kernels.status import OK, WORDS
from kinegrad.kinematics.culprits import culprit
from kinegrad.memory import require
from kinegrad.quiet import without_warnings
from kinegrad.reactions.result import Reactions
from kinegrad.reactions.topology import Tables

NOT_UNIQUE = 1e-6  # share of an unknown wrench of unit size that a component can take without anything else changing
SMALL = 60_000  # multiplications of a balance that is solved as it is, whatever its pattern
PAYS = 0.1  # multiplications of fronts, against those of a balance that is solved as it is, where they are taken
ROWS = ("row", "row_law")  # tables of rows: of constraints first, then of freedoms
BLOCK = 4096  # states that are computed before Python has its turn


class Balance:
    """The balance of all bodies of a system: tables, scratch, and a workspace that moves four markers of every body.

    Parameters
    ----------
    s : array, optional
        Values of the slots in place of those of the parameters.
    held : bool
        Take the degrees of freedom as driven.
    """

    def __init__(self, system: System, s: np.ndarray | None = None, held: bool = False):
        self.tables = Tables(system, held)
        s = system.s if s is None else np.asarray(s)
        self.work = self._workspace(system, s, held)
        columns, n, m = self.tables.columns, self.tables.rows, self.tables.width
        self.large = _fronts(columns, n)
        wide = pattern.dense(m, n) if self.large is None else pattern.of_columns(columns, n)
        self.topology = self.tables.made(wide, len(system.tables["markers"]))
        J, length = np.zeros(pattern.size(wide)), float(self.work["size"][LENGTH].real)
        of_unknowns, of_wrenches, of_rows = self.tables.units(self.work["per_row"].real, length)
        met = columns if self.large is not None else [range(n)] * m
        entries = [unit * of_rows[list(rows)] for unit, rows in zip(of_unknowns, met, strict=True)]
        self.scratch = Scratch(
            size=np.array([length]),
            of_unknowns=of_unknowns,
            of_rows=of_rows,
            of_entries=np.concatenate([np.zeros(0), *entries]),
            of_wrenches=of_wrenches,
            rank=np.zeros(1, np.int64),
            W=np.zeros((self.tables.wrenches, 6)),
            J=J,
            B=np.zeros((3, 3)),
            six=np.zeros(6),
            b=np.zeros(n),
            r=np.zeros(n),
            y=np.zeros(m),
            z=np.zeros(m),
            rates=np.zeros(len(self.tables.rates)),
            chance=np.random.default_rng(1).standard_normal((PROBES, m)),
            squares=np.zeros((len(self.tables.elements), 6)),
            loose=np.zeros(m),
        )
        self.small = _reflections(J.reshape(m, n) if self.large is None else np.zeros((0, 0)))

    def _workspace(self, system: System, s: np.ndarray, held: bool) -> Workspace:
        """One that also moves the centre of mass and three axes of every body, whose components stand behind the slots.

        Rows of freedoms are left out unless they are held: a long chain has as many of them as coordinates.
        """
        bodies, masses = list(self.tables.bodies)[1:], self.tables.masses
        axes = len(s) + 3 * len(bodies)
        tables, name = system.tables, "of reactions" if not held else "of reactions, held"
        if name not in tables:  # with what its workspaces have in common, for the next motion
            extra = [
                marker
                for i, body in enumerate(bodies)
                for marker in ((body, len(s) + 3 * i, True), *((body, axes + 3 * c, False) for c in range(3)))
            ]
            view = {**tables, "every_marker": (*tables["markers"], *extra), "known": {}}
            view["elements"] = {**view["elements"], "objective": ()}
            if not held:
                rows = {kind: tuple(row for row in view["elements"][kind] if row["row"] < system.m) for kind in ROWS}
                view["elements"] = {**view["elements"], **rows}
            tables[name] = view
        viewed = replace(system, tables=tables[name], objectives={}, freedoms=system.freedoms if held else ())
        return viewed.workspace(s=np.concatenate([s, masses.com.ravel(), np.eye(3).ravel()]), every_marker=True)

    def run(self, t, q, qd, qdd) -> Results:
        """What the balance gives at k states: times (k,), coordinates and their rates (k, n)."""
        k, e, m = len(t), len(self.tables.elements), self.tables.width
        require(8.0 * k * (6 * e + m), f"Keeping reactions of {k} states", "simulate with a larger output_step")
        out = Results(
            reactions=np.zeros((e, k, 6)),
            y=np.zeros((m, k)),
            rates=np.zeros((len(self.tables.rates), k)),
            residual=np.zeros(k),
            changes=np.zeros((e, 6)),
            loose=np.zeros(m),
        )
        link_stages(self.work.arrays, (FORCES,))
        fn = self.work.functions(POSITION, OBSERVE)
        large = _NO_FRONTS if self.large is None else self.large
        for first in range(0, k, BLOCK):
            states = [np.ascontiguousarray(x[first : first + BLOCK], float) for x in (t, q, qd, qdd)]
            status, done = reactions_along(
                fn, self.work.pointer, self.topology, self.scratch, self.small, large, *states, first, out
            )
            self.work.check_calls()
            if status != OK:
                who = culprit(self.work.system, self.work, status)
                who = who and f" ({who})"
                raise KinegradError(
                    f"The state at t = {states[0][done]:g} s cannot be evaluated: {WORDS[status]}{who}."
                )
        return out

    def told(self, t: np.ndarray, found: Results) -> Reactions:
        """The results by name."""
        scale = np.array([1.0] * 3 + [self.scratch.size[0]] * 3)
        unique = found.changes / scale <= NOT_UNIQUE
        forces, powers, sure = {}, {}, {}
        for unknown in self.tables.unknowns:
            if not unknown.is_force:
                continue
            value = found.y[unknown.columns]
            forces[unknown.name] = value[0] if unknown.size == 1 else np.ascontiguousarray(value.T)
            sure[unknown.name] = bool((found.loose[unknown.columns] <= NOT_UNIQUE).all())
            if unknown.rate >= 0:
                powers[unknown.name] = value[0] * found.rates[unknown.rate]
        return Reactions(
            t=t,
            wrenches=dict(zip(self.tables.elements, found.reactions, strict=True)),
            unique=dict(zip(self.tables.elements, unique, strict=True)),
            forces=forces,
            powers=powers,
            unique_forces=sure,
            residual=found.residual,
        )


def _fronts(columns: list[list[int]], n: int) -> Fronts | None:
    """The fronts of a balance of n rows whose unknowns meet these; None where it is solved as it is."""
    m = len(columns)
    whole = m * n * min(m, n)
    if whole <= SMALL:
        return None
    square: list[set[int]] = [{i} for i in range(n)]
    for column in columns:
        for i in column:
            square[i].update(column)
    rows = [sorted(row) for row in square]
    fronts = fronts_of(rows)
    if cost_of(fronts) > PAYS * whole:
        return None
    tables = tables_of(fronts, [[i] for i in range(n)], columns)
    held = sum(len(front.columns) ** 2 for front in fronts)
    names = ("front", "front_columns", "front_places", "front_of_entry", "front_of_row", "front_in_row")
    return _with_scratch([tables[name] for name in names], n, m, held)


def _with_scratch(tables: list[np.ndarray], n: int, m: int, held: int) -> Fronts:
    """Tables of fronts that hold so many numbers, with scratch."""
    rows = [np.zeros(n) for _ in range(3)]
    return Fronts(*tables, rows[0], np.ones(m), np.zeros((1, held)), rows[1], np.zeros((1, n)), rows[2])


_NO_FRONTS = _with_scratch([np.zeros((0, 6), np.int64), *[np.zeros(0, np.int64)] * 5], 0, 0, 0)


def _reflections(J: np.ndarray) -> Reflections:
    """Scratch of a balance that is solved as it is."""
    m, n = J.shape
    q = min(m, n)
    return Reflections(
        J, factors(np.ones(m), np.ones(n)), np.zeros((n, q)), factors(np.ones(n), np.ones(q)), np.zeros(n), np.zeros(q)
    )  # fmt: skip


@without_warnings
def reactions(system: System, t, q, qd, qdd, *, s=None, held: bool = False) -> Reactions:
    """Reactions at k states of a system.

    Parameters
    ----------
    t : (k,) array
    q, qd, qdd : (k, n) arrays
    s : array, optional
        Values of the slots in place of those of the parameters.
    held : bool
        Take the degrees of freedom as driven: their forces are then told, like those of drivers.
    """
    balance = Balance(system, s, held)
    t = np.asarray(t)
    return balance.told(t, balance.run(t, *(np.asarray(x) for x in (q, qd, qdd))))
