"""The recursive formulation: the accelerations of the mass matrix, laws of mechanics along runs, order, cost, refusals."""

from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close
from mechanisms import tree
from switching_models import rocker
from trees import chain, random_tree
from whole_runs import driven_crank, five_bar, open_chain

from kinegrad.coordinates.joint.recursive import ConstrainedTree
from kinegrad.coordinates.sets import joint
from kinegrad.dynamics.schemes import scheme_for
from kinegrad.errors import KinegradError
from kinegrad.kernels.formulations.arguments import Objectives, Steps
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import BIAS, EVALUATE, OBSERVE, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.start import start
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, GeneralizedAlpha, Index1, Newmark, Recursive, RungeKutta4, RungeKutta54
from kinegrad.objectives import at_end
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

EXAMPLES = Path(__file__).parents[2] / "examples"
OMEGA, XI = 15.0, 0.8
INTEGRATORS = [RungeKutta4(), RungeKutta54(tolerance=1e-9), Newmark(), GeneralizedAlpha(rho_inf=0.7)]
compiled = pytest.mark.skipif(not JIT, reason="takes too long without the compiler")


def slider_crank(*cut):
    return joint(Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml"), cut=cut)


# --- accelerations ---


def by_both(system, q, v, t=0.37):
    """a, Phi_qᵀ lam of the sweeps, and of [M Phi_qᵀ; Phi_q 0]."""
    work = system.workspace()
    work["q"][:], work["v"][:], work["vp"][:], work["par"][TIME] = q, v, v, t
    tree_ = ConstrainedTree(work, (OMEGA**2, 2 * XI * OMEGA))
    assert tree_.evaluate() == OK
    a, lam = work["a"].copy(), work["lam"][: system.m].copy()
    work.call(EVALUATE)
    work.call(BIAS)
    n, m = system.n, system.m
    J = work["J"][:m]
    right = work["c"] + 2 * XI * OMEGA * np.pad(J @ v, (0, len(work["c"]) - m)) + 2 * XI * OMEGA * work["Phi_t"]
    right = -(right + OMEGA**2 * work["Phi"])[:m]
    x = np.linalg.lstsq(
        np.block([[work["M"], J.T], [J, np.zeros((m, m))]]), np.concatenate([-work["f"], right]), rcond=1e-13
    )[0]
    return a, J.T @ lam, x[:n], J.T @ x[n:], np.abs(work["f"]).max()


MODELS = {"tree": tree, "open chain": open_chain, "driven": driven_crank, "five-bar": five_bar} | {
    f"random {k}": lambda k=k: random_tree(k, bodies=12) for k in range(4)
}


@pytest.mark.parametrize("name", MODELS)
def test_accelerations_and_multipliers_are_those_of_the_mass_matrix(name):
    """At random states, Euler parameters of any length and rows that do not hold included."""
    system = joint(MODELS[name]())
    q, v = np.random.default_rng(7).normal(size=(2, system.n))
    a, reaction, expected, expected_reaction, force = by_both(system, q, v)
    assert_close(a, expected, 1e-10)
    assert_close(reaction, expected_reaction, 1e-10, max(force, np.abs(expected_reaction).max()))


@pytest.mark.parametrize("cut", ["ball", "pivot", "universal", "rail"])
def test_redundant_rows_do_no_harm(cut):
    """At the start all rows hold: their accelerations exist, whatever the rank of the rows is."""
    system = slider_crank(cut)
    motion = simulate(system, Recursive(), RungeKutta4(), t_end=2e-3, step=1e-3)
    assert motion.constraint_violation[0].max() < 1e-10
    a, _, expected, *_ = by_both(system, motion.q[0], motion.qd[0])
    assert_close(a, expected, 1e-9)


# --- the same run as index1 ---


@compiled
@pytest.mark.parametrize("integrator", INTEGRATORS, ids=lambda i: i.type)
@pytest.mark.parametrize("name", ["driven", "open chain", "five-bar"])
def test_runs_and_gradients_are_those_of_index1(name, integrator):
    system = joint(MODELS[name]())
    explicit = integrator.type in ("rk4", "rk54")
    options = {"frequency": OMEGA, "damping": XI} | ({} if explicit else {"tolerance": 1e-15, "max_iterations": 60})
    runs = [simulate(system, f(**options), integrator, t_end=0.06, step=2e-3) for f in (Recursive, Index1)]
    limit = 1e-8 if integrator.type == "rk54" else 1e-11  # steps chosen from errors that rounding changes
    assert_close(runs[0].q[-1], runs[1].q[-1], limit)
    if integrator.type != "rk54":
        assert_close(runs[0].q, runs[1].q, 1e-11)
        assert_close(runs[0].qdd, runs[1].qdd, 1e-10)
    wrt = system.parameters.independent[:5]
    direct, adjoint = (
        gradient(runs[0], wrt=wrt, method=x, tighten=False).matrix for x in ("direct", "discrete-adjoint")
    )
    index1 = gradient(runs[1], wrt=wrt, tighten=False).matrix
    scale = np.maximum(np.abs(direct), 1e-3 * np.abs(direct).max(axis=1, keepdims=True))
    assert (np.abs(adjoint - direct) / scale).max() < 1e-10
    assert (np.abs(index1 - direct) / scale).max() < (1e-6 if integrator.type == "rk54" else 1e-9)


# --- laws of mechanics ---


def momentum(system, q, v):
    """Momentum and its moment about the origin, body by body from the motion of the nodes."""
    work = system.workspace()
    work["q"][:], work["v"][:] = q, v
    work.call(EVALUATE)
    s, total = work["s"], np.zeros(6)
    for mass in system.set.masses:
        B = work["node"][mass["node"]]
        A = B["A"].reshape(3, 3)
        c = B["r"] + A @ (s[mass["com"] : mass["com"] + 3] - s[mass["ref"] : mass["ref"] + 3])
        xx, yy, zz, xy, xz, yz = s[mass["J"] : mass["J"] + 6]
        w = B["V"][3:]
        p = s[mass["m"]] * (B["V"][:3] + np.cross(w, c))
        L = A @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ A.T @ w + np.cross(c, p)
        total += np.concatenate([p, L])
    return total


@compiled
@pytest.mark.parametrize("seed", range(3))
def test_momentum_and_energy_of_a_floating_tree(seed):
    """No force acts from outside: momentum, its moment and the energy stay, all to the order of the integrator."""
    model = random_tree(seed + 20, bodies=8)
    bare = joint(model)
    turn = {"rotation": [0.1, 0.2, 0.3], "angular_velocity": [0.5, -0.6, 0.4]}
    model.degrees_of_freedom = {
        **{f"{name}.{part}": {"position": 0.2, "velocity": 0.7} for name, part in bare.set.index if name != "j0"},
        **dict.fromkeys(bare.set.euler, turn),
        "j0": turn | {"position": [0.1, 0, 0.2], "velocity": [0.2, 0.1, -0.3]},
    }
    system = joint(model)

    def change(step):
        motion = simulate(system, "recursive", "rk4", t_end=0.4, step=step)
        start, end = (momentum(system, motion.q[k], motion.qd[k]) for k in (0, -1))
        assert np.abs(start).max() > 0.1
        return np.array([np.abs(end - start).max(), motion.energies.drift])

    coarse, fine = change(8e-3), change(4e-3)
    assert (fine < 1e-6).all()
    assert (fine < coarse / 10).all()


@compiled
def test_order_4_on_the_slider_crank_and_the_limit_of_ali3p():
    system = slider_crank("ball")

    def slider(formulation, integrator, step):
        return simulate(system, formulation, integrator, t_end=0.5, step=step).at_end()["slider.D"].position[0]

    x = [slider("recursive", "rk4", h) for h in (4e-3, 2e-3, 1e-3)]
    order = np.log2(abs((x[0] - x[1]) / (x[1] - x[2])))
    assert order == pytest.approx(4.0, abs=0.3)
    formulation = ALI3P(penalty=1e8, projection_scale=1e-4)
    y = [slider(formulation, Newmark(), h) for h in (1e-3, 5e-4)]
    assert abs(x[2] - (4.0 * y[1] - y[0]) / 3.0) < 0.01 * abs(y[1] - y[0])


@compiled
def test_drift_is_reported_and_damped():
    """Rows are not imposed on positions: the drift is told, falls with the step, and without stabilisation it is larger."""
    system = slider_crank("ball")

    def drift(step, **options):
        return simulate(system, Recursive(**options), "rk4", t_end=1, step=step).constraint_violation[:, 0].max()

    coarse, fine, free = drift(5e-3), drift(2.5e-3), drift(2.5e-3, frequency=0.0)
    assert 1e-12 < fine < coarse / 10 < 1e-6
    assert free > 1.5 * fine


# --- long chains ---


@compiled
@pytest.mark.parametrize("integrator", INTEGRATORS[::2], ids=lambda x: x.type)
def test_a_step_touches_no_matrix_of_the_size_of_the_tree(integrator):
    """So its cost is proportional to the number of links; `kinegrad bench chain` measures it."""
    n, ts = 64, np.linspace(0.0, 0.01, 11)
    system = joint(chain(n))
    scheme, work, none = scheme_for(system, Recursive(), integrator), system.workspace(), np.zeros(0)
    start(system, work)
    scheme.begin(work)
    fn = work.functions(*scheme.needs, OBSERVE)
    large = [x for x in work.arrays.values() if x.dtype == float and x.size >= n * n // 2]
    assert len(large) > 3
    for array in large:
        array[:] = np.nan
    traj, counts = np.zeros((11, scheme.row_size)), np.zeros((2, 10), np.int64)
    objectives = Objectives(at_end(0), none, none)
    status, done = scheme.steps(work, fn, Steps(ts, np.diff(ts), 1, traj, *counts), objectives)(0, 10)
    assert (status, done) == (OK, 10) and np.isfinite(traj).all() and traj[10].any()
    assert all(np.isnan(array).all() for array in large)


@compiled
@pytest.mark.parametrize("integrator", ["rk4", "newmark"])
def test_64_links_move_as_with_index1(integrator):
    system = joint(chain(64))
    run, other = (simulate(system, f, integrator, t_end=0.02, step=1e-3) for f in ("recursive", "index1"))
    assert_close(run.q, other.q, 1e-9)
    assert run.energies.drift < (1e-6 if integrator == "rk4" else 1e-2)


# --- what is refused ---

NEEDLE = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  arm: {mass: 1, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {p: [0, 0, 0]}}
  needle: {mass: 1, com: [0.5, 0, 0], inertia: [0, 0.1, 0.1], markers: {p: [0, 0, 0]}}
joints:
  swing: {type: revolute, between: [ground.O, arm.p], axis: [0, 0, 1]}
  spin: {type: revolute, between: [arm.p, needle.p], axis: [1, 0, 0]}
drivers: {turn: {measure: spin.angle, value: 2*t}}
degrees_of_freedom: {swing.angle: {position: 0, velocity: 1}}
"""


@compiled
@pytest.mark.parametrize("integrator", ["rk4", "newmark"])
def test_both_body_points_give_one_motion(integrator):
    """Sweeps have points of their own: only the start is evaluated at the body points."""
    model = Model.from_yaml(EXAMPLES / "slider_crank" / "model.yaml")
    one, two = (
        simulate(joint(model, body_point=point), "recursive", integrator, t_end=0.1, step=1e-3)
        for point in ("origin", "com")
    )
    assert np.abs(one.q - two.q).max() < 1e-10


def test_motions_without_inertia_are_named():
    """The driver holds the spin of the needle: index1 solves that, sweeps over the open tree cannot."""
    system = joint(Model.from_yaml_text(NEEDLE))
    assert simulate(system, "index1", "rk4", t_end=0.01).q[-1] == pytest.approx([0.01, 0.02])
    with np.errstate(all="ignore"), pytest.raises(KinegradError, match=r"'spin\.angle' has none.*index1"):
        simulate(system, "recursive", "rk4", t_end=0.01)


def test_gradients_where_substitution_converges_slowly():
    """A change of more than half of the one before is no rounding here, also where lengths are of kilometres."""
    system = joint(rocker(1e3))
    found = []
    for formulation in (Index1(), Recursive(max_iterations=60)):
        motion = simulate(system, formulation, "newmark", step=0.05, t_end=0.5)
        every = gradient(motion, wrt=[], method="discrete-adjoint", every_slot=True)
        found.append(np.array([list(row.values()) for row in every.by_number().values()]))
    expected, slow = found
    assert (np.abs(slow - expected).max(axis=1) / np.abs(expected).max(axis=1)).max() < 1e-12
