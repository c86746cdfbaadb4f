"""Whether drivers are as many as a mechanism has freedoms, and drive different ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kinegrad.errors import AssemblyError
from kinegrad.kernels.orthogonal import RANK_TOLERANCE
from kinegrad.kernels.products import POSITION
from kinegrad.kinematics.mobility import mobility
from kinegrad.kinematics.units import units_of

if TYPE_CHECKING:
    from kinegrad.coordinates.system import System
    from kinegrad.coordinates.workspace import Workspace
    from kinegrad.statics.drive import Driven

ROUNDS = 30  # of Newton's method on the constraints alone
CLOSED = 1e-10  # of a row, in its unit


def scaled_rows(driven: Driven) -> np.ndarray:
    """(m, n) the rows that the workspace has, in the scales of the motion."""
    J = driven.work["J"][: driven.system.m].real
    return driven.factors.rows.real[:, None] * J * driven.factors.columns.real


def rank_of(rows: np.ndarray) -> int:
    """The rank of scaled rows."""
    return int(np.linalg.matrix_rank(rows, rtol=RANK_TOLERANCE)) if rows.size else 0


def refuse_too_many(system: System, work: Workspace) -> None:
    """Raises when there are more drivers than freedoms where the constraints alone hold, near the q that the workspace has."""
    numbers = numbers_of(system)
    others = np.setdiff1d(np.arange(system.m), numbers)
    for _ in range(ROUNDS):
        work.call(POSITION)
        residual = work["Phi"][others].real
        J = work["J"][others].real
        if not (np.isfinite(residual).all() and np.isfinite(J).all()):
            return
        units = units_of(work, J, others)
        step, rank = units.least_squares(J, -residual)
        if np.abs(units.right(residual)).max(initial=0.0) < CLOSED:
            dof = system.n - rank
            if len(numbers) > dof:
                raise AssemblyError(
                    f"The drivers are too many for the freedoms of the mechanism, and contradict each other at t = 0 s: "
                    f"{_given(system, dof, numbers)}; remove {len(numbers) - dof} of them."
                )
            return
        work["q"][:] += step


def numbers_of(system: System) -> list[int]:
    """The rows of the drivers."""
    names = system.row_names
    return [names.index(name) for name in system.model.drivers if name in names]


def _given(system: System, dof: int, numbers: list[int]) -> str:
    drivers = ", ".join(system.row_names[k] for k in numbers) or "none"
    return f"it has {dof}, and {len(numbers)} drivers ({drivers})"


def check_drivers(driven: Driven) -> None:
    """Raises when drivers are too few, too many, or do not determine the position that the workspace has."""
    system, rows = driven.system, scaled_rows(driven)
    if not np.isfinite(rows).all():
        return  # the kernels tell why
    left = system.n - rank_of(rows)
    if not left and not system.model.drivers:
        _refuse_free(system)
    if not left and system.m == system.n:
        return  # all rows are independent, those of drivers too
    names, numbers = system.row_names, numbers_of(system)
    dof, count = system.n - rank_of(np.delete(rows, numbers, axis=0)), len(numbers)
    given = _given(system, dof, numbers)
    if left:
        motion = np.abs(np.linalg.svd(rows)[2][-1]) if rows.size else np.ones(system.n)
        name = system.coordinates[int(motion.argmax())]
        remedy = (
            f"add {dof - count}, or start elsewhere if this is a singular position, or simulate it"
            if count < dof
            else "let them drive different motions, or start away from a singular position"
        )
        raise AssemblyError(
            f"The drivers leave {left} degrees of freedom of the mechanism ({name!r} is not determined): {given}; {remedy}."
        )
    if count > dof:
        follows = [names[k] for i, k in enumerate(numbers) if _follows(rows, numbers, i)]
        raise AssemblyError(
            f"The drivers are too many for the freedoms of the mechanism: {given}; remove {count - dof} of them, such as "
            f"{', '.join(repr(name) for name in follows[: count - dof])}, which follow from the others."
        )


def _refuse_free(system: System) -> None:
    """Raises where a mechanism without drivers can move: a singular position that it was assembled in does not show it."""
    found = mobility(system)
    if found.dof > 0:
        raise AssemblyError(
            f"The mechanism has no drivers, and degrees of freedom: {found.dof}; add drivers, give poses away from the "
            "singular position that it is assembled in, or simulate it."
        )


def _follows(rows: np.ndarray, numbers: list[int], i: int) -> bool:
    """Whether driver i says nothing that the constraints and the drivers before it do not say."""
    before = np.delete(rows, numbers[i:], axis=0)
    return rank_of(np.vstack([before, rows[numbers[i]]])) == rank_of(before)
