"""Matrix R re-selects its independent coordinates: it passes where the first ones lose the position, on the same motion."""

import warnings
from pathlib import Path

import numpy as np
import pytest
from switching_models import FOUR_BAR_WRT, PENDULUM_WRT, four_bar, pendulum, point_four_bar, rocker

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError, SimulationError
from kinegrad.kernels.formulations.independent import basis, choose, factorise, partition, quality
from kinegrad.kernels.formulations.matrix_r import SELECTED
from kinegrad.kernels.jit import JIT, entry
from kinegrad.model.simulation import ALI3P, HHT, GeneralizedAlpha, MatrixR, Newmark, RungeKutta4, RungeKutta54
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

MODELS = {"four-bar": four_bar, "four-bar by a point": point_four_bar, "pendulum": pendulum}
WRT = {"four-bar": FOUR_BAR_WRT, "four-bar by a point": FOUR_BAR_WRT, "pendulum": PENDULUM_WRT}
POINT = {"four-bar": "b.P", "four-bar by a point": "b.P", "pendulum": "bob.P"}
T_END = 1.5


def run(model, formulation, integrator, step, **more):
    return simulate(joint(MODELS[model]()), formulation, integrator, t_end=T_END, step=step, **more)


def end(motion, model):
    return motion.marker(POINT[model]).position[-1]


@pytest.fixture(scope="module")
def exact():
    """The marker at the end, by small steps."""
    return {model: end(run(model, MatrixR(), RungeKutta4(), 2.5e-4), model) for model in MODELS}


# --- the choice ---


@entry
def _best(J, m, rows, scale, A, tau, places, chosen):
    return choose(J, m, rows, scale, A, tau, places, chosen)


def best(J, count, scale):
    """The coordinates chosen for a constraint matrix."""
    m, n = J.shape
    chosen = np.zeros(count, np.int64)
    _best(J, m, np.ones(m), scale, np.zeros((m, n)), np.zeros(min(m, n)), np.zeros(n, np.int64), chosen)
    return chosen


@entry
def _assessed(S, J, m, R, scale):
    factorise(S, J)
    basis(S, m, R, 1)
    return quality(S, m, J, R, scale)


def assessed(J, chosen, scale):
    """Quality and R of a selection for a constraint matrix."""
    m, n = J.shape
    S, R = partition(chosen, m, np.zeros((n, n))), np.zeros((len(chosen), n))
    return _assessed(S, J, m, R, scale), R


def selected(J, chosen, scale):
    """The same, checked."""
    value, R = assessed(J, np.array(chosen), scale)
    assert np.abs(J @ R.T).max() < 1e-12 * np.abs(J).max() * np.abs(R).max()
    assert np.array_equal(R[:, chosen], np.eye(len(chosen)))
    return value, R


def test_quality_is_one_over_the_growth_of_r(rng):
    J = rng.normal(size=(3, 5))
    value, R = selected(J, [1, 4], np.ones(5))
    assert value == pytest.approx(1.0 / np.linalg.norm(R, axis=1).max())
    # other units of a coordinate change neither the quality nor the choice
    units = np.array([1.0, 1.0, 1e3, 1.0, 1e-2])
    assert selected(J / units, [1, 4], 1.0 / units)[0] == pytest.approx(value)
    assert np.array_equal(best(J / units, 2, 1.0 / units), best(J, 2, np.ones(5)))


@pytest.mark.parametrize("redundant", [False, True])
def test_the_choice_is_near_the_best_there_is(rng, redundant):
    from itertools import combinations

    for _ in range(20):
        J = rng.normal(size=(3, 6)) * 10.0 ** rng.uniform(-2, 0, size=6)
        if redundant:
            J = np.vstack([J, np.zeros(6), J[0] - 2.0 * J[1]])
        chosen = best(J, 3, np.ones(6))
        everything = [selected(J, list(c), np.ones(6))[0] for c in combinations(range(6), 3)]
        assert selected(J, list(chosen), np.ones(6))[0] > 0.4 * max(everything)


# --- runs ---


def test_without_it_the_rocker_stops_at_its_dead_point():
    with pytest.raises(SimulationError, match="matrix-r"):
        run("four-bar", MatrixR(reselect_below=0.0), RungeKutta4(), 1e-3)


@pytest.mark.parametrize("model", MODELS)
def test_it_passes_and_says_when(model):
    motion = run(model, MatrixR(), RungeKutta4(), 1e-3)
    names = [motion.scheme.independent(row) for row in motion.traj]
    changes = [k for k in range(1, len(names)) if names[k] != names[k - 1]]
    # a step is done in what the state before it names, and the first one in other coordinates is marked
    assert len(changes) >= (2 if model == "pendulum" else 1)
    assert np.flatnonzero(motion.flags).tolist() == changes
    assert set(motion.flags) == {0, SELECTED}
    assert np.abs(motion.constraint_violation[:, :2]).max() < 1e-9
    # nothing jumps: second differences of the positions stay those of a smooth motion
    jerk = np.diff(motion.marker(POINT[model]).position, 3, axis=0) / 1e-9
    at = np.array(changes)
    assert np.abs(jerk[at[at < len(jerk)] - 2]).max() < 1.5 * np.abs(jerk).max()


def test_euler_parameters_are_all_used():
    motion = run("pendulum", MatrixR(), RungeKutta4(), 1e-3)
    left_out = {tuple({f"ball.e{i}" for i in range(4)} - set(motion.scheme.independent(r))) for r in motion.traj}
    assert len(left_out) >= 2
    assert np.abs((motion.q**2).sum(axis=1) - 1.0).max() < 1e-11


ORDERS = [
    (RungeKutta4(), (2e-3, 1e-3), 4),
    (Newmark(), (2e-3, 1e-3), 2),
    (HHT(alpha=-0.1), (2e-3, 1e-3), 2),
    (GeneralizedAlpha(rho_inf=0.8), (2e-3, 1e-3), 2),
]


@pytest.mark.parametrize(("integrator", "steps", "order"), ORDERS, ids=[i.type for i, _, _ in ORDERS])
@pytest.mark.parametrize("model", ["four-bar", "pendulum"])
def test_order_across_changes(exact, model, integrator, steps, order):
    runs = [run(model, MatrixR(), integrator, h) for h in steps]
    assert all(r.flags.any() for r in runs)
    errors = [np.abs(end(r, model) - exact[model]).max() for r in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.4)


@pytest.mark.parametrize("model", MODELS)
def test_the_motion_is_that_of_ali3p(exact, model):
    errors = [
        np.abs(end(run(model, ALI3P(penalty=1e8), Newmark(), h), model) - exact[model]).max() for h in (1e-3, 5e-4)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("model", MODELS)
def test_error_control(exact, model):
    for tolerance in (1e-6, 1e-9):
        motion = run(model, MatrixR(), RungeKutta54(tolerance=tolerance), 1e-3)
        assert motion.flags.any() and motion.ts[-1] == T_END
        assert np.abs(end(motion, model) - exact[model]).max() < 300 * tolerance
    assert motion.iterations.min() == 6


@pytest.mark.parametrize("below", [0.1, 0.5])
def test_the_threshold_hardly_matters(exact, below):
    motion = run("pendulum", MatrixR(reselect_below=below), RungeKutta4(), 5e-4)
    assert np.abs(end(motion, "pendulum") - exact["pendulum"]).max() < 1e-6


def test_progress_and_outputs_change_nothing():
    plain = run("pendulum", MatrixR(), RungeKutta4(), 5e-4)
    watched = run("pendulum", MatrixR(), RungeKutta4(), 5e-4, progress=lambda fraction: None, output_step=1e-2)
    assert np.array_equal(watched.traj, plain.traj[::20])
    assert np.count_nonzero(watched.flags) == np.count_nonzero(plain.flags) > 0


def test_a_step_too_far_is_done_again_in_other_coordinates():
    """With a threshold that never asks, the failed step does."""
    motion = run("four-bar", MatrixR(reselect_below=1e-12), RungeKutta4(), 5e-3)
    assert motion.flags.any()
    direct, adjoint = (gradient(motion, wrt=FOUR_BAR_WRT, method=m).matrix for m in ("direct", "discrete-adjoint"))
    assert np.abs(adjoint - direct).max() < 1e-8 * np.abs(direct).max()


@pytest.mark.parametrize(
    "integrator", [RungeKutta4(), GeneralizedAlpha(), RungeKutta54(tolerance=1e-15)], ids=lambda i: i.type
)
def test_gradients_in_pieces_are_the_same(integrator):
    rounds = {} if integrator.type in ("rk4", "rk54") else {"max_iterations": 50}
    motion = run("pendulum", MatrixR(tolerance=1e-16, **rounds), integrator, 5e-4)
    assert len(motion.hs) > 2000 and motion.flags.any()
    direct = gradient(motion, wrt=PENDULUM_WRT, method="direct").matrix
    for method in ("direct", "discrete-adjoint"):
        told = []
        found = gradient(motion, wrt=PENDULUM_WRT, method=method, progress=told.append).matrix
        assert len(told) > 10
        assert np.abs(found - direct).max() < 1e-9 * np.abs(direct).max()


def test_gradients_converge_to_those_of_ali3p():
    fine = gradient(run("four-bar", MatrixR(), RungeKutta4(), 1e-3), wrt=FOUR_BAR_WRT).matrix
    scale = np.abs(fine).max(axis=1, keepdims=True)
    errors = []
    for h in (1e-3, 5e-4):
        found = gradient(run("four-bar", ALI3P(penalty=1e8), Newmark(), h), wrt=FOUR_BAR_WRT).matrix
        errors.append((np.abs(found - fine) / scale).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("below", [-0.1, 1.5])
def test_a_threshold_out_of_range_is_refused(below):
    with pytest.raises(KinegradError, match="reselect_below of matrix-r"):
        run("four-bar", MatrixR(reselect_below=below), RungeKutta4(), 1e-3)


@pytest.mark.parametrize("integrator", ["rk4", "newmark"])
@pytest.mark.parametrize("size", [1e-3, 1e3, 1e5])
def test_the_unit_of_length_does_not_matter(size, integrator):
    """Rows of links have the square of a length beside rows without any: each has its own weight."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # that a singular position is near
        one, other = (
            kg.simulate(joint(rocker(x)), kg.MatrixR(tolerance=1e-12 * min(x, 1.0)), integrator, t_end=0.05, step=1e-3)
            for x in (1.0, size)
        )
    assert np.abs(one.q - other.q).max() < 1e-10


# --- inside a step ---

TURNING_BACK = Path(__file__).with_name("turning_back.yaml")
SPEED = 8.533545844  # by index1 and rk4 with steps of 0.1 ms


@pytest.mark.skipif(not JIT, reason="takes long without the compiler")
@pytest.mark.parametrize("step", [4e-3, 2e-3])
def test_coordinates_that_become_poor_inside_a_step_are_changed_before_it(step):
    """One of them has quality 0.34 before and 0.02 at the end of a step of 4 ms, which then made 116 J of 16."""
    motion = simulate(joint(kg.Model.from_yaml(TURNING_BACK)), MatrixR(), RungeKutta4(), t_end=0.06, step=step)
    assert len(np.flatnonzero(motion.flags)) == 1
    assert motion.energies.drift_part < 2e-3
    assert motion.objectives["speed"] == pytest.approx(SPEED, abs=0.02)
    direct, adjoint = (gradient(motion, wrt=["p0", "p3"], method=m).matrix for m in ("direct", "discrete-adjoint"))
    np.testing.assert_allclose(adjoint, direct, rtol=1e-9, atol=1e-9 * np.abs(direct).max())


@pytest.mark.skipif(not JIT, reason="takes long without the compiler")
def test_a_stepper_and_kept_states_change_them_alike():
    system = joint(kg.Model.from_yaml(TURNING_BACK))
    motion = simulate(system, MatrixR(), RungeKutta4(), t_end=0.06, step=4e-3)
    stepper = kg.Stepper(system, MatrixR(), RungeKutta4(), step=4e-3)
    for _ in range(15):
        stepper.advance()
    assert np.array_equal(stepper.q, motion.q[-1])
    kept = simulate(system, MatrixR(), RungeKutta4(), t_end=0.06, step=4e-3, output_step=0.012)
    assert np.array_equal(kept.q[-1], motion.q[-1])
