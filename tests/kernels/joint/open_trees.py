"""Open trees of all joints, and what M and f say of them."""

import numpy as np
from mechanisms import tree
from trees import chain, random_tree

from kinegrad.kernels.products import EVALUATE, TIME

T = 0.37

MODELS = {"tree": tree, "chain": lambda: chain(12)} | {f"random {k}": lambda k=k: random_tree(k) for k in range(4)}
MODELS["three roots"] = lambda: random_tree(4, bodies=12, roots=3)


def norm_rows(system):
    return [i for i, name in enumerate(system.row_names) if name.endswith(" norm")]


def evaluated(system, q, v, s=None):
    work = system.workspace(s=s)
    work["q"][:], work["v"][:], work["par"][TIME] = q, v, T
    work.call(EVALUATE)
    return work


def bordered(system, work):
    """[M Jᵀ; J 0] with the normalisation rows J."""
    J = work["J"][norm_rows(system)]
    return np.block([[work["M"], J.T], [J, np.zeros((len(J), len(J)))]])


def dense(system, q, v, tau):
    """a and the multipliers of the normalisation rows; Φ̈ = 2 (p·p̈ + ṗ·ṗ)."""
    work = evaluated(system, q, v)
    c = [-2.0 * v[k : k + 4] @ v[k : k + 4] for k, _ in system.set.euler.values()]
    x = np.linalg.solve(bordered(system, work), np.concatenate([tau - work["f"], c]))
    return x[: system.n], x[system.n :]
