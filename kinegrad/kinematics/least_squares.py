"""Least squares of least norm and ranks of rows: by singular values, or by fronts where there are many coordinates."""

from __future__ import annotations

import warnings

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.errors import AccuracyWarning, AssemblyError
from kinegrad.kernels.constrained import MOST_ROUNDS
from kinegrad.kernels.status import OK
from kinegrad.kinematics.constrained import row_weights, solve_constrained
from kinegrad.kinematics.decoupled import MANY, solved_by_blocks

RANK_TOLERANCE = 1e-9
UNLIKE = 1e3  # sizes of rows, or of columns, this far apart are made alike before a rank is counted
NO_SIZE = 1e-13  # part of the largest entry that is rounding
STRONGER = 1e3  # than the weights of rows beside inertias: without any, what rows hardly see is to be found too
ROUNDS = 400  # by fronts, at most: rows that see a direction by 1e-6 of what they see others by need more
LEFT = 1e-9  # of a solution: what the last round may have changed
TOO_LARGE = (
    "The constraints have derivatives that are infinite or not numbers; look for lengths, positions or velocities that are too "
    "large or too small, and for expressions outside their domain."
)


def least_squares(A, B):
    """Least-squares solution of least norm, and the rank."""
    if isinstance(A, Rows):
        return _by_fronts(A, None, B)[0], rank(A)
    if is_unit(A):
        return B.copy(), len(A)
    one = B.ndim == 1
    B = B[:, None] if one else B
    X, found = solved_by_blocks(_least_squares, A, B) if A.shape[1] >= MANY else _least_squares(A, B)
    return (X[:, 0] if one else X), int(found)


def nearest(A, B):
    """Least-squares solution of least norm."""
    return _by_fronts(A, None, B)[0] if isinstance(A, Rows) else least_squares(A, B)[0]


def shortest(A, B):
    """Least-squares solution with the least sum of squares, in which all coordinates count alike whatever their columns are.

    Where rows leave freedom this is the way to the nearest position. The scales of `nearest` would make a coordinate cheap
    whose column is small by chance, such as a small Euler parameter in the row of its norm.
    """
    if isinstance(A, Rows):
        return _by_fronts(A, None, B, alike=False)[0]
    sizes = row_lengths(A)
    return _solved(A / sizes[:, None], B[:, None] / sizes[:, None])[0][:, 0]


def row_lengths(A: np.ndarray) -> np.ndarray:
    """(m,) lengths of the rows, 1 for those that are rounding."""
    sizes = np.linalg.norm(A.real, axis=1)
    return np.where(sizes > NO_SIZE * sizes.max(initial=0.0), sizes, 1.0)


def refined(A, B):
    """Least-squares solution of least norm, refined once."""
    if isinstance(A, Rows):
        return _by_fronts(A, None, B, told=True)[0]
    if is_unit(A):
        return B.copy()
    X, _ = least_squares(A, B)
    return X + least_squares(A, B - A @ X)[0]


def refined_transposed(A, B):
    """y with Aᵀ y = B, which has a solution, refined; of several a small one."""
    return _by_fronts(A, B, None)[1] if isinstance(A, Rows) else refined(np.ascontiguousarray(A.T), B)


def rank(A) -> int:
    """How many rows are independent."""
    if not len(A):
        return 0
    return int(independent(A).sum()) if isinstance(A, Rows) else least_squares(A, np.zeros((len(A), 1)))[1]


def _by_fronts(A: Rows, of_columns, of_rows, alike: bool = True, told: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """x, y with C⁻² x + Aᵀ y = `of_columns` and A x = `of_rows`, of which one is given; C: scales of columns, or 1 (LIN-3).

    `told`: a warning tells where rows hardly see a direction, so that rounds end before they have found it.
    """
    given = of_rows if of_columns is None else of_columns
    one = given.ndim == 1
    given = given[:, None] if one else given
    zero = np.zeros((A.shape[of_columns is None], given.shape[1]), given.dtype)
    right = (zero, given) if of_columns is None else (given, zero)
    columns = scales(A)[1] if alike else None
    number = A.values.dtype
    T = A.fronts.diagonal((np.ones(A.shape[1]) if columns is None else columns**-2.0).astype(number))
    weights = STRONGER * row_weights(T, A, 0.0, np.ones(len(A)))
    left = np.zeros(given.shape[1])
    rounds = ROUNDS if told else MOST_ROUNDS  # a step of Newton's method need not go all the way
    status, x, y = solve_constrained(T, A, 0.0, *right, weights=weights, rounds=rounds, left=left)
    if status != OK:
        raise AssemblyError(TOO_LARGE)
    if told and left.max(initial=0.0) > LEFT:
        _tell_weak_row(A, weights, (given - A @ x).real)
    return (x[:, 0], y[:, 0]) if one else (x, y)


def _tell_weak_row(A: Rows, D: np.ndarray, off: np.ndarray) -> None:
    """Warn that rows hardly see a direction; `off`: by how much they do not hold."""
    system, k = A.fronts.system, int((np.sqrt(D) * np.abs(off).max(axis=1)).argmax())
    name = system.row_names[k] if k < system.m else system.freedoms[k - system.m].name
    warnings.warn(
        f"Some constraint rows, {name!r} among them, hardly hold a direction of motion: what they ask for there was not "
        "found to all digits. Look for a singular position nearby, or take the solver 'dense'.",
        AccuracyWarning,
        stacklevel=2,
    )


def is_unit(A) -> bool:
    """Whether A is the unit matrix: that of a tree whose degrees of freedom are its coordinates."""
    n = len(A)
    return n == A.shape[1] and np.count_nonzero(A) == n and bool((A.diagonal() == 1.0).all())


def _least_squares(A, B):
    rows, columns = scales(A)
    X, rank = _solved(A if rows is None else rows[:, None] * A * columns, B if rows is None else rows[:, None] * B)
    return (X if rows is None else columns[:, None] * X), rank


def scales(A) -> tuple[np.ndarray, np.ndarray] | tuple[None, None]:
    """Factors of rows and columns that make the largest entry of each about 1; None where they are alike already (LIN-7).

    The factors of the transpose are the same, exchanged: a solution with it stays the transpose of a solution.
    """
    size = A.with_sizes() if isinstance(A, Rows) else np.abs(A.real)
    entries = size.values if isinstance(A, Rows) else size
    if not entries.size or not entries.any() or not np.isfinite(entries).all():
        return None, None
    sides = _sides(size)
    if all(side.max() < UNLIKE * side[side > 0.0].min() for side in sides):
        return None, None
    rows, columns = np.ones(len(A)), np.ones(A.shape[1])
    for _ in range(4):
        of_rows, of_columns = _sides(_scaled(size, rows, columns))
        for factors, side in ((rows, of_rows), (columns, of_columns)):
            factors /= np.sqrt(np.where(side > NO_SIZE * of_rows.max(), side, 1.0))
    return rows, columns


def _sides(size) -> tuple[np.ndarray, np.ndarray]:
    """The largest entry of each row and of each column."""
    return size.sides() if isinstance(size, Rows) else (size.max(axis=1), size.max(axis=0))


def _scaled(A, rows, columns):
    return A.scaled(rows, columns) if isinstance(A, Rows) else rows[:, None] * A * columns


def alike(A):
    """A with rows and columns of about one size, if they are not alike already (LIN-7)."""
    rows, columns = scales(A)
    return A if rows is None else _scaled(A, rows, columns)


def independent(A: Rows) -> np.ndarray:
    """(m,) which rows do not follow from those before them; they are made alike first."""
    A = alike(A)
    return A.fronts.independent(A, least_entry(A))


def least_entry(A: Rows) -> float:
    """What a row must stand out of the others by."""
    return RANK_TOLERANCE * float(np.sqrt((abs(A).power(2)).sum(axis=1)).max(initial=0.0))


def _solved(A, B):
    if np.iscomplexobj(A) or np.iscomplexobj(B):
        from kinegrad.kernels.linalg import least_squares as solve  # by plain transposes: complex steps pass through

        return solve(np.ascontiguousarray(A), np.ascontiguousarray(B), RANK_TOLERANCE)
    if not np.isfinite(A).all():
        raise AssemblyError(TOO_LARGE)
    try:
        X, _, rank, _ = np.linalg.lstsq(A, B, rcond=RANK_TOLERANCE)
    except np.linalg.LinAlgError:
        raise AssemblyError(TOO_LARGE) from None
    return X, rank
