"""Explicit Runge-Kutta methods: order conditions, a step of a linear system and its transpose, objectives, control."""

import numpy as np
import pytest
from helpers import assert_close, complex_step
from products_by_complex_step import uncompiled

from kinegrad.kernels.formulations.arguments import Segment
from kinegrad.kernels.formulations.objectives import Kinds, stage_weights
from kinegrad.kernels.formulations.runge_kutta import (
    ALLOWED,
    GROW,
    LAST,
    PROPOSED,
    RK4,
    RK54,
    SHRINK,
    T_END,
    accepted,
    change_of_step,
    collect4,
    combine,
    combine4,
    hand_back4,
    load_stage,
    next_stop,
    propose,
    scaled_error,
    seed4,
    stage_time,
    step_to,
    store_stage,
    too_small,
)

METHODS = {"rk4": (RK4, 4), "rk54": (RK54, 5)}


@pytest.fixture(params=METHODS)
def method(request):
    return METHODS[request.param]


def weighted_trees(tableau, b, order):
    """{order: [b·Φ(tree) - 1/γ(tree)]} of all rooted trees up to order 5."""
    A, c = tableau.A, tableau.c
    Ac, Ac2, Ac3, AAc = A @ c, A @ c**2, A @ c**3, A @ A @ c
    trees = {
        1: [(np.ones_like(c), 1)],
        2: [(c, 2)],
        3: [(c**2, 3), (Ac, 6)],
        4: [(c**3, 4), (c * Ac, 8), (Ac2, 12), (AAc, 24)],
        5: [
            (c**4, 5), (c**2 * Ac, 10), (c * Ac2, 15), (c * AAc, 30), (Ac**2, 20),
            (Ac3, 20), (A @ (c * Ac), 40), (A @ Ac2, 60), (A @ AAc, 120),
        ],
    }  # fmt: skip
    return {k: [b @ phi - 1.0 / gamma for phi, gamma in trees[k]] for k in range(1, order + 1)}


def test_order(method):
    tableau, order = method
    for errors in weighted_trees(tableau, tableau.b, order).values():
        assert_close(errors, np.zeros(len(errors)), 1e-15, 1.0)
    assert_close(np.triu(tableau.A), np.zeros_like(tableau.A), 0.0)


def test_error_estimate():
    """b less the weights of the error, the rate at the new state counting as a stage, is a method of order 4."""
    s = RK54.stages
    A = np.zeros((s + 1, s + 1))
    A[:s, :s], A[s, :s] = RK54.A, RK54.b
    wider = RK54._replace(A=A, c=A.sum(axis=1))
    b = np.append(RK54.b, 0.0) - RK54.error
    errors = weighted_trees(wider, b, 5)
    for k in range(1, 5):
        assert_close(errors[k], np.zeros(len(errors[k])), 1e-15, 1.0)
    assert np.abs(errors[5]).max() > 1e-4
    assert RK4.error.size == 0


# --- a step of y' = L y, its derivative and its transpose ---

N, STEP = 3, 0.2
TIMES = np.array([0.5, 0.5 + STEP])


def step(tableau, L, y):
    """The state after one step, by `combine`."""
    K, x = np.zeros((tableau.stages, N), complex), np.zeros(N, complex)
    for i in range(tableau.stages):
        combine(STEP, tableau.A[i], i, y, K, N, x)
        K[i] = L @ x
    combine(STEP, tableau.b, tableau.stages, y, K, N, x)
    return x


def step4(tableau, L, Y):
    """The same for four columns, in the second block, in place."""
    K, x = np.zeros((tableau.stages, 2, N, 4)), np.zeros((N, 4))
    for i in range(tableau.stages):
        combine4(STEP, tableau.A[i], i, Y, K, 1, N, x)
        K[i, 1] = L @ x
    combine4(STEP, tableau.b, tableau.stages, Y, K, 1, N, Y)
    assert not K[:, 0].any()


def transposed4(tableau, L, Y):
    """The transpose of `step4`, in place."""
    stages = tableau.stages
    back, rate = np.zeros((stages, 2, N, 4)), np.zeros((N, 4))
    for i in range(stages - 1, -1, -1):
        seed4(i, STEP, tableau.A, tableau.b, Y, back, 1, N, rate)
        hand_back4(True, i, stages, 1, N, L.T @ rate, back, Y)
    collect4(stages, back, 1, N, Y)


@uncompiled
def test_step_and_derivative(method, rng):
    tableau, order = method
    L, y = rng.normal(size=(N, N)), rng.normal(size=N)
    D = complex_step(lambda x: step(tableau, L, x), y)
    series, term = np.eye(N), np.eye(N)
    for k in range(1, order + 1):
        term = term @ L * STEP / k
        series = series + term
    if order == tableau.stages:
        assert_close(D, series)  # the exponential up to the order
    Y = rng.normal(size=(N, 4))
    expected = D @ Y
    step4(tableau, L, Y)
    assert_close(Y, expected)


@uncompiled
def test_transpose(method, rng):
    tableau, _ = method
    L, X, Y = rng.normal(size=(N, N)), rng.normal(size=(N, 4)), rng.normal(size=(N, 4))
    DX, back = X.copy(), Y.copy()
    step4(tableau, L, DX)
    transposed4(tableau, L, back)
    assert_close(np.sum(Y * DX, axis=0), np.sum(back * X, axis=0), 1e-13)


@uncompiled
def test_adjoints_beyond_the_stages(rng):
    """That of the first stage of the next step is added to that of the state; an implicit step has no stages."""
    X, L = rng.normal(size=(N, 4)), rng.normal(size=(N, 4))
    added, replaced, stages = L.copy(), L.copy(), np.zeros((4, 1, N, 4))
    hand_back4(True, 4, 4, 0, N, X, stages, added)
    hand_back4(False, 0, 4, 0, N, X, stages, replaced)
    assert_close(added, L + X, 0.0)
    assert_close(replaced, X, 0.0)
    assert not stages.any()


@uncompiled
def test_weights_of_stages(method):
    tableau, _ = method
    s, before = tableau.stages, 0.7 * STEP
    kinds = Kinds(np.arange(4), np.array([0.0, 0.0, 0.0, 2.0]), np.full(4, 0.3), np.array([0, 0, 0, 2, 2]), TIMES)
    segment, g = Segment(TIMES, np.array([STEP]), before, 0.0, kinds, np.zeros((2, 1)), np.zeros(1)), np.full(4, 0.1)
    found = np.zeros((s + 1, 4))
    for i, weights in enumerate(found):
        stage_weights(i, tableau.b, 0, segment, g, weights)
    assert_close(found[:, 0], np.append(STEP * tableau.b, 0.0), 0.0)
    assert found[:, 1].tolist() == [0.0] * s + [1.0]
    assert found[:, 2].tolist() == [1.0] + [0.0] * (s - 1) + [1.0]
    ends = 0.5 * np.exp(0.2 - 0.3) * np.array([before + STEP, STEP])
    assert_close(found[:, 3], [ends[0], *[0.0] * (s - 1), ends[1]], 1e-15)


@uncompiled
def test_stages_in_a_row(rng):
    n, m = 3, 2
    row, stages = np.zeros(4 * (3 * n + m)), []
    for k in range(4):
        stages.append([rng.normal(size=size) for size in (n, n, n, m)])
        store_stage(row, k, *stages[-1], m)
    assert_close(row, np.concatenate([x for stage in stages for x in stage]), 0.0)
    q, v, a, vp, ap, lam = (np.zeros(size) for size in (n, n, n, n, n, m))
    load_stage(row, 2, q, v, a, vp, ap, lam, m)
    for found, expected in zip((q, v, a, lam), stages[2], strict=True):
        assert np.array_equal(found, expected)
    assert np.array_equal(vp, v)
    assert np.array_equal(ap, a)


# --- control ---


@uncompiled
def test_times():
    assert stage_time(1.0, 1.3, 0.3, 1.0) == 1.3
    assert stage_time(1.0, 1.3, 0.3, 0.5) == 1.15
    assert next_stop(0.25, 1.0, 0.1) == pytest.approx(0.3)
    assert next_stop(0.3, 1.0, 0.1) == pytest.approx(0.4)
    assert next_stop(0.25, 1.0, 0.0) == 1.0
    assert next_stop(0.95, 1.0, 0.1) == 1.0


@uncompiled
def test_no_step_is_cut_to_a_splinter():
    assert step_to(0.0, 1.0, 0.3) == 0.3
    assert step_to(0.0, 1.0, 0.995) == 1.0
    assert step_to(0.0, 1.0, 0.7) == 0.5
    ts, hs = np.zeros(3), np.zeros(2)
    control = np.array([1.0, 1e-6, 0.0, 0.7, 1e-4])
    propose(control, 0.0, 0, ts, hs)
    propose(control, ts[1], 1, ts, hs)
    assert hs.tolist() == [0.5, 0.5]
    assert ts[2] == 1.0 == control[T_END]


@uncompiled
def test_acceptance():
    control = np.array([1.0, 1e-6, 0.0, 0.1, 1.0])
    assert not accepted(control, 0.1, 1e5, False)
    assert control[PROPOSED] == pytest.approx(SHRINK * 0.1)
    assert control[LAST] == 1.0
    assert accepted(control, control[PROPOSED], 1e-9, True)
    assert control[PROPOSED] == pytest.approx(SHRINK * 0.1)  # no growth right after a refusal
    assert accepted(control, control[PROPOSED], 1e-9, False)
    assert control[LAST] == 1e-9
    assert 1.0 < change_of_step(1e-9, 1e-9) <= GROW
    assert not accepted(control, 0.1, np.nan, False)
    assert not too_small(control)
    control[PROPOSED] = 1e-14
    assert too_small(control)


@uncompiled
def test_scaled_error():
    """The largest |h Σ e_j K_j| over tolerance (unit/time + |x|); what is not finite is refused."""
    K = np.array([[1.0, -2.0], [0.5, 4.0]])
    x0, x1, e = np.array([3.0, 0.0]), np.array([-4.0, 1.0]), np.array([0.25, -0.5])
    unit, time = np.array([0.25, 1.0]), 0.5
    expected = max(0.1 * abs(e @ K[:, 0]) / (1e-3 * 4.5), 0.1 * abs(e @ K[:, 1]) / (1e-3 * 3.0))
    control = np.array([1.0, 1e-3, 0.0, 0.1, 1.0])
    assert scaled_error(0.1, e, K, x0, x1, unit, time, control[ALLOWED]) == pytest.approx(expected, rel=1e-14)
    K[0, 0] = np.nan
    assert scaled_error(0.1, e, K, x0, x1, unit, time, control[ALLOWED]) == 1e300
