"""The bound of the least singular value of constraint rows, against singular values by NumPy."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.dynamics.ali3p import exact_part_left, part_left
from kinegrad.kernels.held_rows import bound
from kinegrad.kernels.jit import entry
from kinegrad.kinematics.start import start

EXAMPLES = Path(__file__).parents[2] / "examples"


@entry
def bound_of(G, m, rank, L):
    return bound(G, m, rank, L)


def found(J, rank):
    G = J @ J.T
    return bound_of(G, len(J), rank, np.zeros((rank, rank)))


@pytest.mark.parametrize(("rank", "more", "n"), [(1, 0, 1), (3, 0, 5), (4, 3, 6), (8, 5, 9)])
def test_never_above_and_not_far_below(rank, more, n):
    rng = np.random.default_rng(rank)
    for _ in range(50):
        J = rng.standard_normal((rank, n)) * 10.0 ** rng.uniform(-1.0, 1.0, (rank, 1))
        J = np.vstack([J, rng.standard_normal((more, rank)) @ J])[rng.permutation(rank + more)]
        least = np.linalg.svd(J, compute_uv=False)[rank - 1] ** 2
        value = found(J, rank)
        assert value <= least * (1.0 + 1e-6)
        assert value > least / (4.0 * rank * (rank + more))


def test_what_is_not_clear_is_not_told():
    J = np.array([[1.0, 0.0, 0.0], [1.0, 1e-6, 0.0], [0.0, 0.0, 1.0]])
    assert found(J, 3) == -1.0  # a row that is nearly redundant
    assert found(J[[0, 2]], 1) == -1.0  # one more than said
    assert found(J[[0, 0]], 2) == -1.0  # one less
    assert found(np.full((2, 2), np.nan), 2) == -1.0


@pytest.mark.parametrize("lower", [kg.joint, kg.reference_point, kg.natural])
@pytest.mark.parametrize("name", ["five_bar", "slider_crank", "bennett", "ball_joint"])
def test_part_left_of_mechanisms(lower, name):
    system = lower(kg.Model.from_yaml(EXAMPLES / name / "model.yaml"))
    work = system.workspace()
    start(system, work)
    for compliance in (1e-12, 1e-9, 1e-3, 1.0):
        exact = exact_part_left(work, compliance)
        told = part_left(work, compliance)
        assert exact * (1.0 - 1e-6) <= told and (told == exact or told <= 1e-6)
