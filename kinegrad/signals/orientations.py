"""Orientations by row, such as states of a motion, each continued from the one before it."""

from __future__ import annotations

import numpy as np

NO_AXIS = 1e-12  # size of the vector part of Euler parameters that is rounding


def quaternions(axes: np.ndarray) -> np.ndarray:
    """(rows, ..., 4) Euler parameters, scalar first, of rotation matrices; each row near the one before it."""
    a = axes
    x, y, z = a[..., 0, 0], a[..., 1, 1], a[..., 2, 2]
    squares = np.stack([1 + x + y + z, 1 + x - y - z, 1 - x + y - z, 1 - x - y + z], axis=-1)
    which = squares.argmax(axis=-1)
    rows = np.empty((*which.shape, 4, 4))  # row k is 4 p_k p
    w = (a[..., 2, 1] - a[..., 1, 2], a[..., 0, 2] - a[..., 2, 0], a[..., 1, 0] - a[..., 0, 1])
    v = (a[..., 1, 0] + a[..., 0, 1], a[..., 0, 2] + a[..., 2, 0], a[..., 2, 1] + a[..., 1, 2])
    table = ((0, *w), (w[0], 0, v[0], v[1]), (w[1], v[0], 0, v[2]), (w[2], v[1], v[2], 0))
    for i in range(4):
        for j in range(4):
            rows[..., i, j] = squares[..., i] if i == j else table[i][j]
    p = np.take_along_axis(rows, which[..., None, None], axis=-2)[..., 0, :]
    p /= np.linalg.norm(p, axis=-1, keepdims=True)
    turns = np.sign(np.sum(p[1:] * p[:-1], axis=-1))
    p[1:] *= np.cumprod(np.where(turns < 0, -1.0, 1.0), axis=0)[..., None]
    return p


def rotation_vectors(p: np.ndarray) -> np.ndarray:
    """(rows, ..., 3) rotation vectors of Euler parameters (rows, ..., 4) that go on from row to row, with their turns.

    θ = 2 α n with p = (cos α, n sin α): n keeps to the side it was on, so that α goes on through all turns (SIG-8).
    """
    v, w = p[..., 1:], p[..., 0]
    size = np.linalg.norm(v, axis=-1)
    still = size < NO_AXIS
    n = _filled(v / np.where(still, 1.0, size)[..., None], still)
    sides = np.where(np.sum(n[1:] * n[:-1], axis=-1) < 0.0, -1.0, 1.0)
    n[1:] *= np.cumprod(sides, axis=0)[..., None]
    half = np.unwrap(np.arctan2(np.sum(v * n, axis=-1), w), axis=0)
    unturned = still & (np.abs(half) < 1.0)
    return np.where(unturned[..., None], 2.0 * v * np.sign(w)[..., None], 2.0 * half[..., None] * n)


def _filled(n: np.ndarray, missing: np.ndarray) -> np.ndarray:
    """Rows of n with the axis of the last row that had one, or of the first that has, where there is none."""
    rows = np.arange(len(n)).reshape(-1, *[1] * (missing.ndim - 1))
    last = np.maximum.accumulate(np.where(missing, -1, rows), axis=0)
    first = np.where(missing, len(n), rows).min(axis=0)
    source = np.where(last < 0, np.minimum(first, len(n) - 1), last)
    return np.take_along_axis(n, source[..., None], axis=0)
