"""Constrained linear systems to be solved from Python: the same routine that the time loops use."""

import numpy as np

from kinegrad.kernels.formulations.blocks import penalty_scale, step_rounds
from kinegrad.kernels.jit import entry
from kinegrad.kernels.linalg import kkt_factor, kkt_solve4
from kinegrad.kernels.status import OK


@entry(what="the simulation kernels")
def solve_constrained(T, J, eps, R1, R2):
    """Status, X, Y with [T Jᵀ; J -ε] [X; Y] = [R1; R2] for any number of columns; redundant rows do no harm (LIN-3)."""
    n, m, k = T.shape[0], J.shape[0], R1.shape[1]
    X, Y = np.zeros((n, k), T.dtype), np.zeros((m, k), T.dtype)
    A, pivots = np.zeros((n, n), T.dtype), np.zeros(n, np.int32)
    alpha = penalty_scale(T, J, m, n)
    if eps > 0.0:
        alpha = min(alpha, 1.0 / eps)
    status = kkt_factor(T, J, n, alpha, A, pivots)
    if status != OK:
        return status, X, Y
    rounds = 2 + step_rounds(T, J, m, n, alpha)
    r1, x, w = np.zeros((n, 4), T.dtype), np.zeros((n, 4), T.dtype), np.zeros((n, 4), T.dtype)
    r2, y, z = np.zeros((m, 4), T.dtype), np.zeros((m, 4), T.dtype), np.zeros((m, 4), T.dtype)
    for e in range(0, k, 4):
        for c in range(4):
            for i in range(n):
                r1[i, c] = R1[i, e + c] if e + c < k else 0.0
            for l in range(m):
                r2[l, c] = R2[l, e + c] if e + c < k else 0.0
        kkt_solve4(T, J, n, eps, alpha, A, pivots, False, rounds, r1, r2, x, y, w, z)
        for c in range(min(4, k - e)):
            for i in range(n):
                X[i, e + c] = x[i, c]
            for l in range(m):
                Y[l, e + c] = y[l, c]
    return OK, X, Y
