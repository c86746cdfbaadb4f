"""Independent coordinates: K x = b with K = [Phi_q; B] against dense solutions, by complex step, and the choice of z."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled

from kinegrad.kernels.formulations.independent import (
    MEASURED,
    arranged,
    basis,
    choose,
    factorise,
    is_measured,
    load_chosen,
    partition,
    partitions,
    quality,
    solve1,
    solve4,
    store_chosen,
    transposed4,
)
from kinegrad.kernels.status import LOST_RANK, OK, SINGULAR

pytestmark = uncompiled
N, M = 5, 3  # two independent coordinates
CHOSEN = {"coordinates": [3, 1], "measured": [MEASURED, MEASURED]}


@pytest.fixture(params=CHOSEN)
def case(request, rng):
    """Complex rows of the constraints, one of them redundant and of another size, and of z; K; what was chosen."""
    chosen = np.array(CHOSEN[request.param])
    J = rng.normal(size=(M + 1 + 2, N)) + H * 1j * rng.normal(size=(M + 1 + 2, N))
    J[M] = 1e3 * (J[0] - 2.0 * J[1])
    B = J[M + 1 :] if chosen[0] == MEASURED else np.eye(N)[chosen] + 0j
    S = partition(chosen, M + 1, np.zeros((N, N), complex))
    assert is_measured(S) == (chosen[0] == MEASURED)
    return S, J, np.vstack([J[: M + 1], B])


def solved(K, b):
    """x with K x = b in complex numbers; b agrees on redundant rows."""
    keep = [k for k in range(len(K)) if k != M]
    return np.linalg.solve(K[keep], b[keep])


def close(found, expected):
    assert_close(found.real, expected.real)
    assert_close(found.imag / H, expected.imag / H, 1e-10)


def right_hand_sides(K, rng):
    """Four columns b = K x, which agree on redundant rows, with changes that do too."""
    return K @ (rng.normal(size=(N, 4)) + H * 1j * rng.normal(size=(N, 4)))


def test_solutions(case, rng):
    S, J, K = case
    b = right_hand_sides(K, rng)
    assert factorise(S, J) == OK
    x, X = np.zeros(N, complex), np.zeros((N, 4), complex)
    solve1(S, M + 1, b[:, 0], x, np.zeros(N, complex), 3)
    close(x, solved(K, b)[:, 0])
    for _ in range(2):
        solve4(S, M + 1, b, X)
    close(X, solved(K, b))


def test_transposed_solution(case, rng):
    S, J, K = case
    X, Y = rng.normal(size=(N, 4)) + 0j, np.zeros((len(K), 4), complex)
    assert factorise(S, J) == OK
    transposed4(S, M + 1, X, Y)
    assert_close((K.T @ Y).real, X.real)


def test_basis(case):
    S, J, K = case
    R = np.zeros((2, N), complex)
    assert factorise(S, J) == OK
    basis(S, M + 1, R, 3)
    close(R.T, solved(K, np.vstack([np.zeros((M + 1, 2)), np.eye(2)]) + 0j))


def test_quality(case, rng):
    """The least cosine between the gradient of z_k and its motion, in scaled coordinates."""
    S, J, K = case
    scale, R = rng.uniform(0.5, 2.0, N), np.zeros((2, N), complex)
    factorise(S, J)
    basis(S, M + 1, R, 3)
    gradients = K[M + 1 :].real / scale
    motions = R.real * scale
    cosines = [(g @ r) / np.linalg.norm(g) / np.linalg.norm(r) for g, r in zip(gradients, motions, strict=True)]
    assert_close(quality(S, M + 1, J, R, scale), min(np.abs(cosines)))


def test_lost_rank(case):
    """Coordinates that do not determine the others."""
    S, J, _ = case
    J = J.copy()
    unknown = S.order[: S.nu]
    J[:, unknown[0]] = J[:, unknown[1]]
    with np.errstate(all="ignore"):
        assert factorise(S, J) in (LOST_RANK, SINGULAR)


def test_arranged():
    both = partitions(2, M, np.zeros((N, N)))
    for chosen in CHOSEN.values():
        S = arranged(both, np.array(chosen))
        expected = partition(np.array(chosen), M, np.zeros((N, N)))
        assert S.order.tolist() == expected.order.tolist()
        assert (S.nu, S.rows, S.ready[0]) == (expected.nu, expected.rows, 0)


def test_choice(rng):
    """The coordinates left over can be given, and they are the ones that move most; too few rows are told."""
    J = rng.normal(size=(M, N))
    J[:, 2] *= 1e-6
    J[:, 4] *= 1e-5
    scratch = np.zeros((M, N)), np.zeros(M), np.zeros(N, np.int64)
    chosen = np.zeros(2, np.int64)
    assert choose(J, M, np.ones(M), np.ones(N), *scratch, chosen) == OK
    assert chosen.tolist() == [2, 4]
    J[1:] = 0.0
    assert (
        choose(J, M, np.ones(M), np.ones(N), np.zeros((M, N)), np.zeros(M), np.zeros(N, np.int64), chosen) == SINGULAR
    )


def test_selection_in_a_row():
    row, chosen = np.zeros(6), np.array([4, 1])
    store_chosen(row, 3, chosen)
    assert row.tolist() == [0, 0, 0, 4, 1, 0]
    assert not load_chosen(row, 3, chosen)
    other = np.array([4, 2])
    assert load_chosen(row, 3, other)
    assert other.tolist() == [4, 1]
