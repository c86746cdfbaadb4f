"""Formulations at acceleration level: order, error control, drift, and what they must share with other formulations."""

from pathlib import Path

import numpy as np
import pytest
from whole_runs import SPATIAL

from kinegrad.coordinates.sets import joint
from kinegrad.dynamics.schemes import scheme_for
from kinegrad.errors import KinegradError, SimulationError, UnusedOptionWarning
from kinegrad.kernels.formulations.runge_kutta import RK4, RK54
from kinegrad.kernels.products import BIAS, EVALUATE, TIME
from kinegrad.kernels.status import STEP_TOO_SMALL, TOO_MANY_STEPS
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, HHT, Index1, MatrixR, Newmark, Penalty, RungeKutta4, RungeKutta54
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
# Point 2 of the five-bar after 5 s: the limit of Matrix R with ever smaller steps.
FIVE_BAR_AT_5 = np.array([0.884031681698, -2.303783444225])
FORMULATIONS = [Index1(), Penalty()]


def by_type(option):
    return option.type


@pytest.fixture(scope="module")
def five_bar():
    return joint(Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"))


@pytest.fixture(scope="module", params=["ball", "pivot"])
def slider_crank(request):
    return joint(Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml"), cut=(request.param,))


def point_2(motion):
    return motion.at_end()["bar_12.P2"].position[:2]


# --- tableaus ---


def order_conditions(A, b, c):
    """Residuals of the conditions of orders 1 to 5, a list for each order."""
    one = [b.sum() - 1]
    two = [b @ c - 1 / 2]
    three = [b @ c**2 - 1 / 3, b @ A @ c - 1 / 6]
    four = [b @ c**3 - 1 / 4, (b * c) @ A @ c - 1 / 8, b @ A @ c**2 - 1 / 12, b @ A @ A @ c - 1 / 24]
    five = [
        b @ c**4 - 1 / 5, (b * c**2) @ A @ c - 1 / 10, (b * c) @ A @ c**2 - 1 / 15, (b * c) @ A @ A @ c - 1 / 30,
        b @ (A @ c) ** 2 - 1 / 20, b @ A @ c**3 - 1 / 20, b @ A @ (c * (A @ c)) - 1 / 40, b @ A @ A @ c**2 - 1 / 60,
        b @ A @ A @ A @ c - 1 / 120,
    ]  # fmt: skip
    return [np.abs(x) for x in (one, two, three, four, five)]


def test_orders_of_the_tableaus():
    *held, broken = order_conditions(*RK4[:3])
    assert max(map(max, held)) < 1e-15 < 1e-3 < broken.max()
    assert max(map(max, order_conditions(*RK54[:3]))) < 1e-15


def test_the_error_estimate_is_of_order_4():
    s = RK54.stages
    A = np.zeros((s + 1, s + 1))
    A[:s, :s], A[s, :s] = RK54.A, RK54.b
    b = np.append(RK54.b, 0.0) - RK54.error
    *held, broken = order_conditions(A, b, np.append(RK54.c, 1.0))
    assert max(map(max, held)) < 1e-15 < 1e-4 < broken.max()


# --- convergence ---


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
@pytest.mark.parametrize(
    ("integrator", "steps", "order"),
    [(RungeKutta4(), (1e-2, 5e-3), 4), (Newmark(), (2e-3, 1e-3), 2)],
    ids=["rk4", "newmark"],
)
def test_order_on_the_five_bar(five_bar, formulation, integrator, steps, order):
    errors = [
        np.abs(point_2(simulate(five_bar, formulation, integrator, t_end=5, step=h)) - FIVE_BAR_AT_5) for h in steps
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.05)
    assert errors[1].max() < (8e-8 if order == 4 else 2.5e-5)


@pytest.mark.parametrize("formulation", [Index1(), Penalty(penalty=1e12)], ids=by_type)
@pytest.mark.parametrize(
    ("integrator", "step", "order"), [(RungeKutta4(), 2e-3, 4), (Newmark(), 2e-3, 2)], ids=["rk4", "newmark"]
)
def test_order_on_the_slider_crank(slider_crank, formulation, integrator, step, order):
    exact = simulate(slider_crank, MatrixR(tolerance=1e-13), RungeKutta4(), t_end=1, step=1.25e-4)
    where = exact.at_end()["slider.D"].position[0]
    errors = []
    for h in (step, step / 2):
        motion = simulate(slider_crank, formulation, integrator, t_end=1, step=h)
        errors.append(abs(motion.at_end()["slider.D"].position[0] - where))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.3)
    assert errors[1] < (1e-7 if order == 4 else 1e-3)


@pytest.mark.parametrize("integrator", [RungeKutta4(), RungeKutta54(tolerance=1e-9)], ids=by_type)
def test_objectives_have_the_order_of_the_motion(five_bar, integrator):
    fine = simulate(five_bar, Index1(), RungeKutta4(), t_end=1, step=1e-3).objectives
    found = simulate(five_bar, Index1(), integrator, t_end=1, step=2e-3).objectives
    for name, value in fine.items():
        assert found[name] == pytest.approx(value, rel=5e-9)


def test_without_constraints_it_is_the_ordinary_differential_equation():
    model = Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    del model.joints["JB"]
    model.degrees_of_freedom |= {"J2.angle": {"position": 1.2}, "J3.angle": {"position": 0.5, "velocity": 0.3}}
    system = joint(model)
    assert system.m == 0
    run = {"t_end": 0.5, "step": 5e-3}
    reference = simulate(system, MatrixR(tolerance=1e-14), RungeKutta4(), **run)
    for formulation in FORMULATIONS:
        motion = simulate(system, formulation, RungeKutta4(), **run)
        assert np.abs(motion.q - reference.q).max() < 1e-11
        assert np.abs(motion.qdd - reference.qdd).max() < 1e-9


# --- error control ---


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
def test_the_error_follows_the_tolerance(five_bar, formulation):
    errors, steps = [], []
    for tolerance in (1e-6, 1e-8, 1e-10):
        motion = simulate(five_bar, formulation, RungeKutta54(tolerance=tolerance), t_end=5, step=1e-3)
        errors.append(np.abs(point_2(motion) - FIVE_BAR_AT_5).max() / tolerance)
        steps.append(len(motion.hs))
        assert motion.ts[-1] == 5.0
        assert len(motion.ts) == len(motion.t) == len(motion.traj) == len(motion.hs) + 1
        assert np.abs(np.diff(motion.ts) - motion.hs).max() < 1e-14
    assert min(errors) > 0.3 and max(errors) < 3.0
    assert np.divide(steps[1:], steps[:-1]) == pytest.approx(100 ** (1 / 5), rel=0.05)


def test_a_first_step_that_is_too_large_is_refused(five_bar):
    motion = simulate(five_bar, Index1(), RungeKutta54(), t_end=5, step=5)
    assert motion.hs[0] < 0.05
    assert motion.iterations[0] > 6
    assert np.abs(point_2(motion) - FIVE_BAR_AT_5).max() < 3e-8


def test_outputs_are_met(five_bar):
    motion = simulate(five_bar, Index1(), RungeKutta54(tolerance=1e-6), t_end=1.05, step=1e-2, output_step=0.1)
    free = simulate(five_bar, Index1(), RungeKutta54(tolerance=1e-6), t_end=1.05, step=1e-2)
    for k in range(11):
        assert k * 0.1 in motion.t
    assert motion.t[-1] == 1.05
    assert len(free.hs) < len(motion.hs) < 2 * len(free.hs)
    assert motion.hs.min() > 0.2 * free.hs.min()
    assert np.abs(point_2(motion) - point_2(free)).max() < 1e-6


def test_progress_and_growth_change_nothing(five_bar):
    told = []
    run = {"t_end": 5, "step": 1e-3}
    watched = simulate(five_bar, Index1(), RungeKutta54(tolerance=1e-10), progress=told.append, **run)
    plain = simulate(five_bar, Index1(), RungeKutta54(tolerance=1e-10), **run)
    assert len(plain.hs) > 512
    assert np.array_equal(watched.traj, plain.traj)
    assert len(told) >= 3 and told == sorted(told) and told[-1] == 1.0


def test_a_force_without_bound_ends_the_run_with_a_sentence():
    model = Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    model.forces["burst"] = {"type": "torque", "acts_on": "JA.angle", "value": "0.01/(0.3 - t)"}
    with pytest.raises(SimulationError, match="stays above the tolerance") as caught:
        simulate(joint(model), Index1(), RungeKutta54(), t_end=1, step=1e-2)
    motion = caught.value.motion
    assert motion.status == STEP_TOO_SMALL
    assert len(motion.traj) == len(motion.hs) + 1
    assert motion.t[-1] == pytest.approx(0.3, abs=1e-10)


def test_the_number_of_steps_is_bounded(five_bar, monkeypatch):
    monkeypatch.setattr("kinegrad.dynamics.runge_kutta.MOST_STEPS", 300)
    motion = simulate(five_bar, Index1(), RungeKutta54(), t_end=5, step=1e-3, throw=False)
    assert motion.status == TOO_MANY_STEPS
    assert len(motion.hs) == 300


# --- constraints ---


@pytest.mark.parametrize("integrator", [Newmark(), RungeKutta4(), RungeKutta54(tolerance=1e-6)], ids=by_type)
@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
def test_drift_is_bounded_by_stabilisation(five_bar, formulation, integrator):
    def largest(frequency):
        chosen = formulation.model_copy(update={"frequency": frequency})
        motion = simulate(five_bar, chosen, integrator, t_end=20, step=5e-3)
        position = motion.constraint_violation[:, 0]
        return position[motion.t < 10].max(), position[motion.t >= 10].max()

    early, late = largest(10.0)
    assert late < 1.5 * early
    if integrator.type != "newmark":  # whose errors of Phid come and go with the motion of the five-bar
        drifted = largest(0.0)
        assert drifted[1] > 1.5 * drifted[0] and drifted[1] > 10.0 * late


@pytest.mark.parametrize("integrator", [Newmark(), RungeKutta4(), RungeKutta54()], ids=by_type)
@pytest.mark.parametrize("formulation", [Index1(frequency=7.0, damping=0.6), Penalty(penalty=1e5)], ids=by_type)
def test_stabilised_constraints_and_equations_of_motion_hold(slider_crank, formulation, integrator):
    """M a + f + Phi_qᵀ lam = 0 and Phidd + 2ξΩ Phid + Ω² Phi = s lam/α, 0 for index1, at the states kept; s of a row is the
    square of its unit over that of a length, in sizes of the model."""
    motion = simulate(
        slider_crank, formulation.model_copy(update={"tolerance": 1e-13}), integrator, t_end=0.2, step=5e-3
    )
    system, work = motion.system, motion.system.workspace()
    m, omega, xi = system.m, formulation.frequency, formulation.damping
    for k in range(0, len(motion.t), 7):
        work["par"][TIME] = motion.t[k]
        work["q"][:], work["v"][:], work["vp"][:] = motion.q[k], motion.qd[k], motion.qd[k]
        work.call(EVALUATE)
        work.call(BIAS)
        J = work["J"][:m]
        force = work["M"] @ motion.qdd[k] + work["f"]
        assert np.abs(force + J.T @ motion.lam[k]).max() < 1e-11 * max(1.0, np.abs(force).max())
        Phid, Phidd = J @ motion.qd[k] + work["Phi_t"][:m], J @ motion.qdd[k] + work["c"][:m]
        left = Phidd + 2.0 * xi * omega * Phid + omega**2 * work["Phi"][:m]
        expected = work["soft"] * motion.lam[k] / formulation.penalty if formulation.type == "penalty" else 0.0 * left
        assert np.abs(left - expected).max() < 1e-9


@pytest.mark.parametrize("integrator", [Newmark(), HHT()], ids=by_type)
@pytest.mark.parametrize("cut", ["tube", "hinge"])
def test_newton_converges_to_rounding_where_a_spatial_loop_is_cut(cut, integrator):
    """Drift of 1e-4 does not make the rows of a cut joint contradict each other, so nothing keeps Newton's method from zero."""
    system = joint(Model.from_yaml_text(SPATIAL), cut=(cut,))
    motion = simulate(system, Index1(tolerance=1e-13), integrator, t_end=0.4, step=4e-3)
    assert motion.constraint_violation[:, 0].max() > 1e-6
    assert motion.iterations.max() <= 8


# --- options and gradients ---


def test_both_tolerances_are_kept(five_bar):
    options = scheme_for(five_bar, Index1(tolerance=1e-11), RungeKutta54(tolerance=1e-7)).options
    assert options["tolerance"] == 1e-11
    assert options["integrator_tolerance"] == 1e-7


def test_ali3p_refuses_explicit_steps(five_bar):
    with pytest.raises(KinegradError, match="needs an implicit integrator"):
        simulate(five_bar, ALI3P(), RungeKutta54(), t_end=1)


def test_explicit_runs_are_not_repeated_for_a_gradient(five_bar):
    for integrator, again in ((RungeKutta4(), False), (RungeKutta54(), False), (Newmark(), True)):
        motion = simulate(five_bar, Index1(), integrator, t_end=0.1, step=1e-2)
        assert (gradient(motion).motion is not motion) is again


@pytest.mark.parametrize("integrator", [Newmark(), RungeKutta4(), RungeKutta54(tolerance=1e-15)], ids=by_type)
def test_gradients_in_pieces_are_the_same(five_bar, integrator):
    """Sweeps of more than 2000 steps are cut when progress is told; every piece hands its state on."""
    motion = simulate(five_bar, Penalty(tolerance=1e-13), integrator, t_end=1.2, step=5e-4)
    assert len(motion.hs) > 2000
    direct = gradient(motion, method="direct").matrix
    for method in ("direct", "discrete-adjoint"):
        told = []
        found = gradient(motion, method=method, progress=told.append).matrix
        assert len(told) > 10
        assert np.abs(found - direct).max() < 1e-11 * np.abs(direct).max()


def test_gradients_converge_to_those_of_matrix_r(five_bar):
    reference = gradient(simulate(five_bar, MatrixR(), RungeKutta4(), t_end=1, step=2e-3)).matrix
    for integrator, tolerance in ((RungeKutta4(), 1e-7), (RungeKutta54(tolerance=1e-10), 1e-7), (Newmark(), 1e-3)):
        found = gradient(simulate(five_bar, Index1(), integrator, t_end=1, step=2e-3)).matrix
        assert np.abs(found - reference).max() < tolerance * np.abs(reference).max()


@pytest.mark.parametrize(
    ("formulation", "integrator", "named"),
    [
        (Index1(tolerance=1e-9), RungeKutta4(), "'tolerance' of index1 has no effect with rk4; leave it out."),
        (
            Penalty(tolerance=1e-9, max_iterations=5),
            RungeKutta54(),
            "'tolerance' and 'max_iterations' of penalty have no effect with rk54; leave them out.",
        ),
        (
            MatrixR(tolerance=1e-9, max_iterations=5),
            RungeKutta4(),
            "'max_iterations' of matrix-r has no effect with rk4",
        ),
    ],
    ids=["index1", "penalty", "matrix-r"],
)
def test_options_without_effect_are_named(five_bar, formulation, integrator, named):
    with pytest.warns(UnusedOptionWarning, match=named) as found:
        scheme_for(five_bar, formulation, integrator)
    assert len(found) == 1


def test_options_with_effect_or_by_default_are_not_named(five_bar, recwarn):
    scheme_for(five_bar, Index1(tolerance=1e-9, max_iterations=5), Newmark())
    scheme_for(five_bar, MatrixR(tolerance=1e-9), RungeKutta4())
    scheme_for(five_bar, Penalty(penalty=1e8), RungeKutta4())
    gradient(simulate(five_bar, MatrixR(), RungeKutta4(), t_end=0.01))
    assert not [w for w in recwarn if w.category is UnusedOptionWarning]
