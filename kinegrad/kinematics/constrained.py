"""Constrained linear systems outside time loops: few enough of them not to be compiled.

T and J are NumPy arrays, or matrices of the entries that exist (`kinegrad.coordinates.sparse`).
"""

from __future__ import annotations

import numpy as np

from kinegrad.coordinates.sparse import Rows
from kinegrad.kernels.constrained import DROWNS, ENOUGH, LEAST, MOST_ROUNDS, NULL, STRENGTH
from kinegrad.kernels.status import NOT_FINITE, OK, SINGULAR

FEWEST = 3
TINY = 8.0 * 2.0**-52  # a pivot this part of what it was subtracted from has no correct digit


def shared(T, alike):
    """T_kk of the coordinates, those that are `alike` (k, 4) with their mean."""
    inertia = T.diagonal().real.copy()
    if alike is not None and len(alike):
        inertia[alike] = np.maximum(inertia[alike], 0.0).mean(axis=1, keepdims=True)
    return inertia


def squares_of(J):
    """The squares of the entries."""
    return J.with_values(J.values.real**2) if isinstance(J, Rows) else J.real**2


def _moved(T, J, alike):
    """|J_l|² and Σ_k J_lk²/T_kk of the rows, coordinates without inertia counting as the heaviest."""
    inertia, squares = shared(T, alike), squares_of(J)
    top = max(T.diagonal().real.max(initial=0.0), 0.0)
    light = np.full(len(inertia), 1.0 / top if top else 0.0)
    return squares.sum(axis=1), squares @ np.divide(1.0, inertia, out=light, where=inertia > 0.0)


def row_ease(T, J, alike=None):
    """How much easier each row moves than the inertias along its coordinates say, from 1 down to 1/κ  (LIN-6).

    At the base of a long chain a coordinate has the inertia of all that hangs on it, and a row has to move little of it; a
    row that normalises Euler parameters moves no inertia at all.  A row that binds a coordinate without inertia moves none
    either, but what acts on that coordinate, as a damper does, is in the matrix of a step: such a row keeps its weight.
    """
    ease = np.ones(len(J))
    if not len(J):
        return ease
    _, moved = _moved(T, J, alike)
    D = np.divide(1.0, moved, out=np.zeros(len(J)), where=moved > 0.0)
    forms = _forms(T, J, D)
    if forms is None:
        return ease
    held = np.clip(D * forms, 1e-16, 1.0)
    without = T.diagonal().real <= 0.0
    binds = (abs(J) @ without > 0.0) if isinstance(J, Rows) else (J.real[:, without] != 0.0).any(axis=1)
    return np.where((D > 0.0) & ~binds, np.clip((1.0 - held) / held, 1.0 / STRENGTH, 1.0), 1.0)


def _forms(T, J, D):
    """J_l (T + JᵀDJ)⁻¹ J_lᵀ of the rows, or None when that matrix is singular."""
    if isinstance(J, Rows):
        return J.fronts.forms(J).real if J.fronts.factor(T.data, J, D)[0] == OK else None
    inverse = _inverse((T + J.T @ (D[:, None] * J)).real)
    return None if inverse is None else ((J.real @ inverse) * J.real).sum(axis=1)


def row_weights(T, J, eps, ease, alike=None):
    """D_l = κ ease_l / Σ_k J_lk²/T_kk, or 1/ε where that does not drown T  (LIN-6)."""
    sizes, moved = _moved(T, J, alike)
    moved = moved / ease
    fading = np.minimum(1.0, sizes / (NULL * max(sizes.max(initial=0.0), 1e-300))) ** 2
    some, top = moved > 0.0, max(T.diagonal().real.max(initial=0.0), 0.0)
    D = np.divide(STRENGTH, moved, out=np.zeros(len(J)), where=some)
    D = fading * np.maximum(D, np.divide(LEAST * top, sizes, out=np.zeros(len(J)), where=some))
    return np.where(moved <= DROWNS * eps, 1.0 / eps, D) if eps > 0.0 else D


def solve_constrained(T, J, eps, R1, R2, alike=None, weights=None, rounds=MOST_ROUNDS, left=None):
    """Status, X, Y with [T Jᵀ; J -ε] [X; Y] = [R1; R2] for any number of columns; redundant rows do no harm (LIN-3).

    `weights` of the rows are those of (LIN-6) where none are given.  Where a matrix is singular, X is the number of a
    coordinate, or -1.  `left` (columns) is given the change of X in the last round, of its size.
    """
    X, Y = np.zeros_like(R1), np.zeros_like(R2)
    if not all(np.isfinite(A).all() for A in _entries(T, J)):
        return NOT_FINITE, X, Y
    if weights is None:
        weights = row_weights(T, J, eps, row_ease(T, J, alike), alike) if len(J) else np.zeros(0)
    D = weights[:, None]
    solved, where = _solver(T, J, D)
    if solved is None:
        return SINGULAR, where, Y
    inertia, last, first = np.abs(T.diagonal())[:, None], None, 0.0
    for k in range(rounds):
        z = R2 - J @ X + eps * Y
        W = solved(R1 - T @ X + J.T @ (D * z - Y))
        X += W
        Y += D * (J @ W - z)
        e, size = (np.sqrt((inertia * np.abs(A) ** 2).sum(axis=0)) for A in (W, X))
        if k == 0:
            first = e  # where Y alone is asked for, X ends at zero
        if k + 1 >= FEWEST and ((e**2 <= ENOUGH * last * size) | (e <= 1e-15 * np.maximum(size, first))).all():
            break
        last = e
    if left is not None:
        left[:] = e / np.maximum(np.maximum(size, first), 1e-300)
    return OK, X, Y


def _entries(T, J):
    """The numbers in two matrices."""
    return (T.data, J.values) if isinstance(J, Rows) else (T, J)


def _solver(T, J, D):
    """A function that solves with T + JᵀDJ, and -1; or None when that is singular, and the coordinate if it is known."""
    if isinstance(J, Rows):
        status, where = J.fronts.factor(T.data, J, D[:, 0])
        return (J.fronts.solve, -1) if status == OK else (None, where)
    A = T + J.T @ (D * J)
    inverse = _inverse(A)
    return (None, -1) if inverse is None else (lambda B: _refined(A, inverse, B), -1)


def _refined(A, inverse, B):
    """A⁻¹ B, refined once: forces of the rows, with their weights, leave accelerations that are small differences."""
    X = inverse @ B
    return X + inverse @ (B - A @ X)


def _inverse(A):
    """The inverse of a matrix, good enough to be refined, or None when it is singular."""
    size = np.abs(np.diag(A))
    largest = size.max(initial=0.0) or 1.0
    size = 2.0 ** (np.frexp(size / largest)[1] // 2)  # powers of two, alike for any unit of A
    size[np.diag(A) == 0.0] = 1.0
    scaled = A / np.outer(size, size)
    try:
        inverse = np.linalg.inv(scaled)
    except np.linalg.LinAlgError:
        return None
    condition = np.abs(scaled).sum(axis=1).max(initial=0.0) * np.abs(inverse).sum(axis=1).max(initial=0.0)
    return inverse / np.outer(size, size) if condition < 1.0 / TINY else None
