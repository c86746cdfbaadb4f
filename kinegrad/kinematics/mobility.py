"""mobility: how a mechanism can move, by the rank of its constraints where it is assembled and nearby."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from kinegrad.collection import without_collection
from kinegrad.coordinates.patterns import lean
from kinegrad.coordinates.sparse import Rows
from kinegrad.coordinates.system import System
from kinegrad.coordinates.workspace import Workspace
from kinegrad.errors import AssemblyError
from kinegrad.kernels.products import FREEDOMS, POSITION
from kinegrad.kinematics.branch import explained
from kinegrad.kinematics.decoupled import MANY, blocks_of
from kinegrad.kinematics.distances import Distances, distances, tell_branch
from kinegrad.kinematics.freedoms import check_freedoms, first_rows, of_positions
from kinegrad.kinematics.least_squares import RANK_TOLERANCE, alike, independent
from kinegrad.kinematics.nearby import positions_nearby
from kinegrad.kinematics.start import close_position, place, solve_position
from kinegrad.kinematics.units import units_of
from kinegrad.markup import frame, listed, table
from kinegrad.quiet import without_warnings

NEARBY = 2
PANEL = 48  # rows that are made orthogonal to the others together


@dataclass(frozen=True, repr=False)
class Mobility:
    """How a system can move, where it is assembled and nearby.

    Attributes
    ----------
    title : str
        That of the model.
    coordinates : str
        The coordinate set.
    n, rows : int
        Coordinates, and constraint rows as written.
    rank : int
        Rows that are independent at the assembled position.
    nearby_ranks : tuple of int
        The same at disturbed positions that are assembled again.
    redundant : tuple of str
        Names of the rows that follow from rows before them, with those that hold by structure.
    velocity_rank : int
        Rows of positions and of velocities together that are independent there.
    states : int
        Coordinates that are states of elements, and no freedoms.
    given : int
        Degrees of freedom that the model gives.
    unsuited : str
        Why those do not suit the mechanism; empty when they do.
    distances : Distances
        How far the assembled position is from the poses, and from what is asked.
    """

    title: str
    coordinates: str
    n: int
    rows: int
    rank: int
    nearby_ranks: tuple[int, ...]
    redundant: tuple[str, ...]
    given: int
    states: int
    velocity_rank: int
    unsuited: str
    distances: Distances = field(compare=False)

    @property
    def dof(self) -> int:
        """Degrees of freedom at the assembled position."""
        return self.n - self.states - self.rank

    @property
    def dof_velocity(self) -> int:
        """Freedoms of velocity: fewer than those of position where there are rows of velocities."""
        return self.n - self.states - self.velocity_rank

    @property
    def nearby(self) -> tuple[int, ...]:
        """Degrees of freedom at the positions nearby."""
        return tuple(self.n - self.states - rank for rank in self.nearby_ranks)

    @property
    def singular(self) -> bool:
        """Whether the freedoms nearby are others than at the assembled position."""
        return any(dof != self.dof for dof in self.nearby)

    @property
    def problems(self) -> tuple[str, ...]:
        """Sentences on what a simulation would stumble over; none when all is well."""
        found = []
        if self.unsuited and not (self.singular and set(self.nearby) == {self.given}):
            found.append(self.unsuited)
        if self.singular:
            nearby = " and ".join(map(str, self.nearby))
            found.append(
                f"The assembled position is singular: it has {self.dof} degrees of freedom, and positions next to it "
                f"{nearby}; start from another position."
            )
        return tuple(found)

    def __repr__(self) -> str:
        place = ", singular" if self.singular else ""
        return (
            f"<Mobility of {self.title or 'a model'!r}: {self.dof} degrees of freedom, {len(self.redundant)} of {self.rows} "
            f"rows redundant{place}>"
        )

    def __str__(self) -> str:
        """A line for each fact."""
        facts = self._facts()
        width = max(len(label) for label, _ in facts)
        return "\n".join([self.title or "Mobility", *(f"{label:{width}}  {value}" for label, value in facts)])

    def _repr_html_(self) -> str:
        """A summary for notebooks."""
        return frame(self.title or "Mobility", table(self._facts()))

    def _facts(self) -> list[tuple[str, str]]:
        return [
            ("degrees of freedom", str(self.dof)),
            ("nearby", ", ".join(map(str, self.nearby)) or "not found"),
            ("given", str(self.given)),
            ("coordinates", f"{self.n} ({self.coordinates})"),
            ("rows", f"{self.rows}, of which {self.rank} are independent"),
            ("redundant rows", listed(self.redundant)),
            *((label, text) for label, text in self.distances.facts.items() if text),
            *(("problem", sentence) for sentence in self.problems),
        ]


@without_warnings
@without_collection
def mobility(system: System) -> Mobility:
    """How `system` can move: its degrees of freedom by rank, here and nearby, and which rows are redundant.

    The count needs no formula of bodies and joints, so it holds for overconstrained mechanisms too.

    Raises
    ------
    AssemblyError
        When the mechanism cannot be assembled.
    """
    system = lean(system)
    work = system.workspace(every_marker=True)
    unsuited = _assemble(system, work)
    q = work["q"].copy()
    if not unsuited:
        tell_branch(system, work, stacklevel=5)
    kept, others = _rows(system, work)
    written = system.row_names
    redundant = {written[k] for k in others if not system.levels[k]} | {
        row.name for row in system.rows if row.number < 0
    }
    nearby = [len(_rows(system, work)[0]) for _ in positions_nearby(system, work, NEARBY)]
    return Mobility(
        title=system.model.title,
        coordinates=system.kind,
        n=system.n,
        rows=len(system.rows),
        rank=len(kept),
        nearby_ranks=tuple(nearby),
        redundant=tuple(row.name for row in system.rows if row.name in redundant),
        given=sum(freedom.independent and not freedom.state for freedom in system.freedoms),
        states=len(system.states),
        velocity_rank=_velocity_rank(system, work, q, len(kept)),
        unsuited=unsuited,
        distances=distances(system, work["s"], q),
    )


def _assemble(system: System, work: Workspace) -> str:
    """Leaves the assembled position in the workspace; returns what is wrong with the degrees of freedom given.

    When the freedoms cannot be held the rows alone are closed, to tell too many freedoms from a mechanism that does
    not close.
    """
    work["par"][:] = 0.0
    place(system, work)
    guess = work["q"].copy()
    try:
        with explained(work.way):
            solve_position(system, work)
        return _complaint(system, work)
    except AssemblyError as error:
        work["q"][:] = guess
        try:
            close_position(system, work, "at the start")
        except AssemblyError:
            raise error from None
        assembled = work["q"].copy()
        work["q"][:] = next(positions_nearby(system, work, 1), assembled)  # the guess may be singular: other freedoms
        complaint = _complaint(system, work)
        if not complaint:
            raise
        work["q"][:] = assembled
        return complaint


def _complaint(system: System, work: Workspace) -> str:
    """What is wrong with the degrees of freedom given, at the position in the workspace."""
    _evaluate(system, work, freedoms=1)
    try:
        check_freedoms(system, work)
    except AssemblyError as error:
        return error.problems[0].sentence
    return ""


def _evaluate(system: System, work: Workspace, freedoms: int = 0) -> None:
    work["flag"][FREEDOMS] = freedoms
    work.call(POSITION)


def _rows(system: System, work: Workspace) -> tuple[list[int], list[int]]:
    """Numbers of the independent rows and of the others, which follow from earlier ones, at the position at hand."""
    _evaluate(system, work)
    J = first_rows(work, "J", system.m)
    J = of_positions(system, units_of(work, J).of(J))
    if isinstance(J, Rows):
        kept = independent(J) if len(J) else np.zeros(0, bool)
        return np.flatnonzero(kept).tolist(), np.flatnonzero(~kept).tolist()
    J = alike(J)
    smallest = RANK_TOLERANCE * np.linalg.norm(J, axis=1).max(initial=0.0)
    kept = np.zeros(len(J), bool)
    if system.n < MANY:
        kept[:] = _independent(J, smallest)
    for rows, columns in blocks_of(J) if system.n >= MANY else ():
        kept[rows] = _independent(J[np.ix_(rows, columns)], smallest)
    return np.flatnonzero(kept).tolist(), np.flatnonzero(~kept).tolist()


def _velocity_rank(system: System, work: Workspace, q: np.ndarray, rank: int) -> int:
    """The rank of all rows at the position q, of which those of positions have `rank`."""
    if not system.levels.any():
        return rank
    work["q"][:] = q
    _evaluate(system, work)
    J = first_rows(work, "J", system.m)
    return units_of(work, J).rank(J)


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
