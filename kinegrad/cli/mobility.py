"""How a mechanism can move: rank of its constraints where it is assembled and nearby, and which rows add nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kinegrad.errors import AssemblyError
from kinegrad.quiet import without_warnings

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System, Workspace

NEARBY = 2
AMOUNT = 1e-2  # of the disturbance of each coordinate
MAX_ITERATIONS = 100
ASSEMBLED = 1e-9
PANEL = 48  # rows that are made orthogonal to the others together


@dataclass(frozen=True)
class Mobility:
    """What `kinegrad check` finds out about a system.

    Attributes
    ----------
    dof : int
        Degrees of freedom at the assembled position.
    nearby : tuple of int
        The same at disturbed positions that are assembled again.
    redundant : tuple of str
        Names of the rows that follow from the others, with those that are null by structure.
    problem : str
        Why the degrees of freedom that the model gives do not suit it; empty when they do.
    """

    dof: int
    nearby: tuple[int, ...]
    redundant: tuple[str, ...]
    problem: str

    @property
    def singular(self) -> bool:
        """Whether the freedoms nearby are others than at the assembled position."""
        return any(dof != self.dof for dof in self.nearby)


@without_warnings
def mobility(system: System) -> Mobility:
    """Freedoms and redundant rows of an assembled system; AssemblyError when it cannot be assembled."""
    work = system.workspace()
    problem = _assemble(system, work)
    q = work["q"].copy()
    kept, others = _rows(system, work)
    written = [row.name for row in system.rows if row.number >= 0]
    redundant = {written[k] for k in others} | {row.name for row in system.rows if row.number < 0}
    rng = np.random.default_rng(0)
    nearby = []
    for _ in range(NEARBY):
        work["q"][:] = q
        if _disturb(system, work, rng) <= ASSEMBLED:
            nearby.append(system.n - len(_rows(system, work)[0]))
    names = tuple(row.name for row in system.rows if row.name in redundant)
    return Mobility(system.n - len(kept), tuple(nearby), names, problem)


def _assemble(system: System, work: Workspace) -> str:
    """Leaves the assembled position in the workspace; returns what is wrong with the degrees of freedom given.

    When the freedoms cannot be held the rows alone are closed, to tell too many freedoms from a mechanism that does
    not close.
    """
    from kinegrad.kinematics.start import place, solve_position

    work["par"][:] = 0.0
    place(system, work)
    guess = work["q"].copy()
    try:
        solve_position(system, work)
        return _complaint(system, work)
    except AssemblyError:
        work["q"][:] = guess
        if _close_rows(system, work) > ASSEMBLED:
            raise
        assembled = work["q"].copy()
        _disturb(system, work, np.random.default_rng(1))  # the guess may be singular, and then has other freedoms
        complaint = _complaint(system, work)
        if not complaint:
            raise
        work["q"][:] = assembled
        return complaint


def _complaint(system: System, work: Workspace) -> str:
    """What is wrong with the degrees of freedom given, at the position in the workspace."""
    from kinegrad.kinematics.start import check_freedoms

    _evaluate(system, work, freedoms=1)
    try:
        check_freedoms(system, work)
    except AssemblyError as error:
        return error.problems[0].sentence
    return ""


def _disturb(system: System, work: Workspace, rng) -> float:
    """Moves to a random position nearby that is assembled again; returns its largest residual."""
    work["q"][:] += AMOUNT * rng.uniform(-1.0, 1.0, system.n)
    return _close_rows(system, work)


def _evaluate(system: System, work: Workspace, freedoms: int = 0) -> None:
    from kinegrad.kernels.products import FREEDOMS, POSITION

    work["flag"][FREEDOMS] = freedoms
    work.call(POSITION)


def _close_rows(system: System, work: Workspace) -> float:
    """Largest residual after Newton's method of least change on the constraint rows alone."""
    from kinegrad.kinematics.start import least_squares

    m = system.m
    best = np.inf
    for _ in range(MAX_ITERATIONS):
        _evaluate(system, work)
        residual = work["Phi"][:m].copy()
        best = float(np.abs(residual).max(initial=0.0))
        if not np.isfinite(best):
            return np.inf
        if best <= 1e-3 * ASSEMBLED:
            break
        work["q"][:] -= least_squares(work["J"][:m], residual)[0]
    return best


def _rows(system: System, work: Workspace) -> tuple[list[int], list[int]]:
    """Numbers of the independent rows and of the others, which follow from earlier ones, at the position at hand."""
    from kinegrad.kinematics.decoupled import MANY, blocks_of
    from kinegrad.kinematics.start import RANK_TOLERANCE

    _evaluate(system, work)
    J = work["J"][: system.m]
    smallest = RANK_TOLERANCE * np.linalg.norm(J, axis=1).max(initial=0.0)
    kept = np.zeros(len(J), bool)
    if system.n < MANY:
        kept[:] = _independent(J, smallest)
    for rows, columns in blocks_of(J) if system.n >= MANY else ():
        kept[rows] = _independent(J[np.ix_(rows, columns)], smallest)
    return np.flatnonzero(kept).tolist(), np.flatnonzero(~kept).tolist()


def _independent(A: np.ndarray, smallest: float) -> np.ndarray:
    """(m,) which rows of A stand out of the space of those before them by more than `smallest`.

    By Gram and Schmidt, twice, in panels of rows: first by the rows of the panels before, then one by one.
    """
    m, n = A.shape
    basis, rank = np.zeros((min(m, n), n)), 0
    kept = np.zeros(m, bool)
    for first in range(0, m, PANEL):
        panel = A[first : first + PANEL].copy()
        before = rank
        for _ in range(2):
            panel -= (panel @ basis[:before].T) @ basis[:before]
        for k, row in enumerate(panel, first):
            if rank == n:
                break
            for _ in range(2):
                row -= (basis[before:rank] @ row) @ basis[before:rank]
            size = np.linalg.norm(row)
            if size > smallest:
                basis[rank], kept[k] = row / size, True
                rank += 1
    return kept
