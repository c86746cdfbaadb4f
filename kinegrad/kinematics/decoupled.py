"""Matrices that fall apart into blocks: each block is solved by itself, which is exact and far cheaper."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

MANY = 64  # columns from which on it pays to look for blocks


def blocks_of(A: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of every block: no entry of A outside them differs from zero, and empty rows belong to none."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    m, n = A.shape
    i, j = np.nonzero(A)
    graph = coo_array((np.ones(len(i), np.int8), (i, m + j)), (m + n, m + n))
    count, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    groups = np.split(order, np.cumsum(np.bincount(label, minlength=count))[:-1])
    return [(g[g < m], g[g >= m] - m) for g in groups if len(g) > 1]


def solved_by_blocks(solve: Callable, A: np.ndarray, B: np.ndarray) -> tuple[np.ndarray, int]:
    """X and the rank from those that ``solve(A_block, B_block)`` gives for the blocks of A."""
    X, rank = np.zeros((A.shape[1], B.shape[1]), np.result_type(A, B)), 0
    for rows, columns in blocks_of(A):
        if len(rows) == len(columns) == 1:
            X[columns[0]], more = B[rows[0]] / A[rows[0], columns[0]], 1
        else:
            X[columns], more = solve(A[np.ix_(rows, columns)], B[rows])
        rank += more
    return X, rank


def null_space(A: np.ndarray, tolerance: float) -> np.ndarray:
    """(n, d) orthonormal columns x with A x = 0, from the singular values of each block below `tolerance` of its largest."""
    n = A.shape[1]
    inside, parts = np.zeros(n, bool), []
    for rows, columns in blocks_of(A) if n >= MANY else [(np.arange(len(A)), np.arange(n))]:
        _, values, V = np.linalg.svd(A[np.ix_(rows, columns)])
        rank = int((values > tolerance * values.max(initial=0.0)).sum())
        part = np.zeros((n, len(columns) - rank))
        part[columns] = V[rank:].T
        inside[columns] = True
        parts.append(part)
    return np.hstack([*parts, np.eye(n)[:, ~inside]])
