"""HHT and generalized-alpha: their classical form, damping, order, and what they share with Newmark's method."""

from pathlib import Path

import numpy as np
import pytest
import whole_runs

from kinegrad.coordinates.sets import joint
from kinegrad.dynamics.newmark_family import constants
from kinegrad.dynamics.schemes import scheme_for
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.products import OBSERVE
from kinegrad.kinematics.start import start
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, HHT, GeneralizedAlpha, Index1, MatrixR, Newmark, Penalty, RungeKutta4
from kinegrad.objectives import at_end
from kinegrad.results import load
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
# Point 2 of the five-bar after 5 s: the limit of Matrix R with ever smaller steps.
FIVE_BAR_AT_5 = np.array([0.884031681698, -2.303783444225])
FORMULATIONS = [ALI3P(), Index1(), Penalty()]
INTEGRATORS = [HHT(alpha=-0.2), GeneralizedAlpha(rho_inf=0.6)]


def by_type(option):
    return option.type


@pytest.fixture(scope="module")
def five_bar():
    return joint(Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml"))


@pytest.fixture(scope="module")
def slider_crank():
    return joint(Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml"))


def point_2(motion):
    return motion.at_end()["bar_12.P2"].position[:2]


# --- the classical form: a mass of 1 kg on a spring ---

OSCILLATOR = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: 1, com: [0, 0, 0], inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, block.O], axis: [1, 0, 0]}}
forces: {spring: {type: spring, acts_on: slide.distance, stiffness: STIFFNESS, natural_value: 0}}
degrees_of_freedom: {slide.distance: {position: 0.3, velocity: 0.7}}
"""


def oscillator(frequency):
    return joint(Model.from_yaml_text(OSCILLATOR.replace("STIFFNESS", repr(frequency**2))))


def alphas(integrator):
    """αm, αf of an integrator, as its authors give them."""
    if integrator.type == "hht":
        return 0.0, -integrator.alpha
    rho = integrator.rho_inf
    return (2 * rho - 1) / (rho + 1), rho / (rho + 1)


def amplification(integrator, frequency, h):
    """The matrix of (d, v, a) → (d, v, a) of Chung and Hulbert for d'' + ω² d = 0, a being their acceleration.

    (1 - αm) a⁺ + αm a + ω² ((1 - αf) d⁺ + αf d) = 0, with d⁺ and v⁺ by Newmark's formulas.
    """
    am, af = alphas(integrator)
    gamma = 0.5 + af - am
    beta = 0.25 * (1 + af - am) ** 2
    w2 = frequency**2
    left = np.array([[1, 0, -(h**2) * beta], [0, 1, -h * gamma], [w2 * (1 - af), 0, 1 - am]])
    right = np.array([[1, h, h**2 * (0.5 - beta)], [0, 1, h * (1 - gamma)], [-w2 * af, 0, -am]])
    return np.linalg.solve(left, right)


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
@pytest.mark.parametrize("integrator", [HHT(alpha=-1 / 3), HHT(), GeneralizedAlpha(), GeneralizedAlpha(rho_inf=0)])
@pytest.mark.parametrize("h", [0.01, 0.1, 1.0])
def test_an_oscillator_moves_as_the_authors_have_it(formulation, integrator, h):
    w = 10.0
    motion = simulate(oscillator(w), formulation, integrator, t_end=20 * h, step=h)
    state = np.array([0.3, 0.7, -(w**2) * 0.3])
    for k in range(21):
        expected = state[0], state[1], -(w**2) * state[0]
        found = motion.q[k, 0], motion.qd[k, 0], motion.qdd[k, 0]
        assert np.abs(np.subtract(found, expected)).max() < 1e-10
        state = amplification(integrator, w, h) @ state


@pytest.mark.parametrize("alpha", [-1 / 3, -0.2, -0.05])
def test_damping_of_hht_at_high_frequencies(alpha):
    """Characteristic roots of a stiff oscillator: (1 + α)/(1 - α) twice, in size, and α/(1 + α)."""
    rho = (1 + alpha) / (1 - alpha)
    check_roots(HHT(alpha=alpha), [-rho, -rho, alpha / (1 + alpha)])


@pytest.mark.parametrize("rho", [0.2, 0.5, 0.8])
def test_damping_of_generalized_alpha_at_high_frequencies(rho):
    """All three characteristic roots of a stiff oscillator are -rho_inf."""
    check_roots(GeneralizedAlpha(rho_inf=rho), [-rho] * 3)


def check_roots(integrator, roots):
    """Steps of a run with ωh = 1000 obey the recurrence with these roots, but for terms of 1/(ωh)²."""
    w, h = 1e5, 1e-2
    q = simulate(oscillator(w), Index1(), integrator, t_end=13 * h, step=h).q[:, 0]
    rows = np.column_stack([q[2:-1], q[1:-2], q[:-3]]) / np.abs(q[3:, None])
    found = np.linalg.lstsq(rows, -np.sign(q[3:]), rcond=None)[0]
    assert np.abs(found - np.poly(amplification(integrator, w, h))[1:]).max() < 1e-8
    assert np.abs(found - np.poly(roots)[1:]).max() < 20 / (w * h) ** 2


# --- a stiff spring in a mechanism ---

ELASTIC = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm: {mass: 0.1, com: [0, -0.2, 0], inertia: [0.01, 0.01, 0.01], markers: {O: [0, 0, 0], E: [0, -1, 0]}}
  bob: {mass: 1, com: [0, 0, 0], inertia: [0.01, 0.01, 0.01], markers: {O: [0, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, arm.O], axis: [0, 0, 1]}
  slide: {type: prismatic, between: [arm.E, bob.O], axis: [0, 1, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
  rod: {type: spring, acts_on: slide.distance, stiffness: 1.0e+6, natural_value: 0}
degrees_of_freedom:
  hinge.angle: {position: 1}
  slide.distance: {position: 0.01, velocity: 0}
"""


@pytest.mark.parametrize("formulation", [ALI3P(), Index1()], ids=by_type)
def test_fast_vibration_dies_out_and_the_swing_stays(formulation):
    """An elastic pendulum, 1000 rad/s against 3: energy of 50 J in the rod that is not resolved by 10 ms."""
    system = joint(Model.from_yaml_text(ELASTIC))
    run = {"t_end": 2.0, "step": 1e-2}
    trapezoid, *damped = (simulate(system, formulation, i, **run) for i in (Newmark(), *INTEGRATORS))
    rigid = simulate(
        system, formulation, RungeKutta4() if formulation.type == "index1" else Newmark(), t_end=2, step=5e-5
    )

    def stretch(motion):
        return np.abs(motion.q[motion.t > 1.0, 1]).max()

    assert stretch(trapezoid) > 5e-3
    for motion in damped:
        assert stretch(motion) < 5e-5  # what gravity and the swing ask for
        assert np.abs(motion.q[-1, 0] - rigid.q[-1, 0]) < 0.02


# --- relation to Newmark's method ---


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
def test_without_damping_they_are_the_trapezoidal_rule(five_bar, formulation):
    run = {"t_end": 0.5, "step": 5e-3}
    trapezoid = simulate(five_bar, formulation, Newmark(), **run)
    assert np.array_equal(simulate(five_bar, formulation, HHT(alpha=0.0), **run).traj, trapezoid.traj)
    found = simulate(five_bar, formulation, GeneralizedAlpha(rho_inf=1.0), **run)
    assert np.abs(found.q - trapezoid.q).max() < 1e-9
    assert np.abs(found.qdd - trapezoid.qdd).max() < 1e-5


def test_constants():
    """c1 + c2 + c3 = 1: a constant acceleration is its own auxiliary one."""
    for alpha in (-1 / 3, -0.1, 0.0):
        family = constants({"alpha": alpha})
        assert family == pytest.approx([(1 - alpha) ** 2 / 4, 0.5 - alpha, 1 + alpha, -alpha, 0.0], abs=1e-15)
    for rho in (0.0, 0.3, 1.0):
        family = constants({"rho_inf": rho})
        assert family[:2] == pytest.approx([1 / (1 + rho) ** 2, (3 - rho) / (1 + rho) / 2], abs=1e-15)
        assert family[2:].sum() == pytest.approx(1.0, abs=1e-15)


@pytest.mark.parametrize(
    ("integrator", "words"),
    [
        (HHT(alpha=0.1), "alpha of hht is 0.1; give a number from -0.333333 to 0."),
        (HHT(alpha=-0.4), "alpha of hht is -0.4; give a number from -0.333333 to 0."),
        (GeneralizedAlpha(rho_inf=1.1), "rho_inf of generalized-alpha is 1.1; give a number from 0 to 1."),
        (Newmark(beta=0.0), "beta of newmark is 0; give a number larger than zero."),
        (Newmark(gamma=0.4), "gamma of newmark is 0.4; give a number from 0.5 to 1."),
    ],
)
def test_options_out_of_range_are_refused(five_bar, integrator, words):
    with pytest.raises(KinegradError) as caught:
        simulate(five_bar, ALI3P(), integrator, t_end=1)
    assert str(caught.value) == words


# --- order ---


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
@pytest.mark.parametrize("integrator", [*INTEGRATORS, GeneralizedAlpha(rho_inf=0.0)])
def test_order_on_the_five_bar(five_bar, formulation, integrator):
    errors = [
        np.abs(point_2(simulate(five_bar, formulation, integrator, t_end=5, step=h)) - FIVE_BAR_AT_5)
        for h in (1e-3, 5e-4)
    ]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.05)
    assert errors[1].max() < 1e-4


@pytest.mark.parametrize("formulation", [ALI3P(), Index1()], ids=by_type)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=by_type)
def test_order_on_the_slider_crank(slider_crank, formulation, integrator):
    exact = simulate(slider_crank, MatrixR(tolerance=1e-13), RungeKutta4(), t_end=0.5, step=2.5e-4)
    where = exact.at_end()["slider.D"].position[0]
    errors = []
    for h in (5e-4, 2.5e-4):
        motion = simulate(slider_crank, formulation, integrator, t_end=0.5, step=h)
        errors.append(abs(motion.at_end()["slider.D"].position[0] - where))
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.06)
    assert errors[1] < 2e-6


@pytest.mark.parametrize("formulation", [ALI3P(), Index1(), Penalty(penalty=1e11)], ids=by_type)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=by_type)
def test_order_from_the_first_step_in_everything(formulation, integrator):
    """Of positions, velocities, accelerations and multipliers at all times, from a start with changing accelerations."""
    system = joint(whole_runs.five_bar())
    grid = {"t_end": 0.4, "output_step": 4e-3}
    exact = simulate(system, MatrixR(tolerance=1e-15), RungeKutta4(), step=1e-3, **grid)
    tight = formulation.model_copy(update={"tolerance": 1e-15})
    motions = [simulate(system, tight, integrator, step=h, **grid) for h in (2e-3, 1e-3)]
    for name in ("q", "qd", "qdd", "lam"):
        coarse, fine = (np.abs(getattr(motion, name) - getattr(exact, name)).max() for motion in motions)
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.05)


# --- states and gradients ---


@pytest.mark.parametrize("formulation", FORMULATIONS, ids=by_type)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=by_type)
def test_rows_hold_the_whole_state(five_bar, formulation, integrator, tmp_path):
    """A run goes on from a row as if it had not stopped; the row after a last step off the grid is one of them."""
    run = {"t_end": 0.207, "step": 1e-2}
    motion = simulate(five_bar, formulation, integrator, **run)
    last = simulate(five_bar, formulation, integrator, output_step=0.1, **run)
    assert np.array_equal(last.traj, motion.traj[[0, 10, 20, 21]])

    scheme, work, half = scheme_for(five_bar, formulation, integrator), five_bar.workspace(), 11
    start(five_bar, work, compliance=scheme.compliance)
    scheme.begin(work)
    scheme.resume(work, motion.traj[half])
    rows, none = np.zeros_like(motion.traj[half:]), np.zeros(0)
    steps = len(motion.hs) - half
    counts = np.zeros((2, steps), np.int64)
    over = scheme.steps(
        work, work.functions(*scheme.needs, OBSERVE), Steps(motion.ts[half:], motion.hs[half:], 1, rows, *counts),
        Objectives(at_end(0), none, none),
    )  # fmt: skip
    over(0, 3)
    over(3, steps)
    assert np.abs(rows[1:] - motion.traj[half + 1 :]).max() < 1e-9 * np.abs(motion.traj).max()

    motion.save(tmp_path / "motion.nc")
    assert np.array_equal(gradient(load(tmp_path / "motion.nc")).matrix, gradient(motion).matrix)


@pytest.mark.parametrize("formulation", [ALI3P(tolerance=1e-16), Penalty(tolerance=1e-16)], ids=by_type)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=by_type)
def test_gradients_in_pieces_are_the_same(five_bar, formulation, integrator):
    motion = simulate(five_bar, formulation, integrator, t_end=1.2, step=5e-4)
    assert len(motion.hs) > 2000
    direct = gradient(motion, method="direct").matrix
    for method in ("direct", "discrete-adjoint"):
        told = []
        found = gradient(motion, method=method, progress=told.append).matrix
        assert len(told) > 10
        assert np.abs(found - direct).max() < 1e-10 * np.abs(direct).max()


@pytest.mark.parametrize("formulation", [ALI3P(), Index1()], ids=by_type)
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=by_type)
def test_gradients_converge_to_those_of_runge_kutta(five_bar, formulation, integrator):
    exact = gradient(simulate(five_bar, MatrixR(), RungeKutta4(), t_end=1, step=2e-3)).matrix
    scale = np.abs(exact).max(axis=1, keepdims=True)
    errors = []
    for h in (2e-3, 1e-3):
        found = gradient(simulate(five_bar, formulation, integrator, t_end=1, step=h), method="discrete-adjoint").matrix
        errors.append((np.abs(found - exact) / scale).max())
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
