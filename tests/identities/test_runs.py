"""Identities of runs: pieces add up, what is kept does not change what is computed, energy and momentum balance."""

import numpy as np
import pytest
import whole_runs

from kinegrad.coordinates.joint import joint
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

SCHEMES = {
    "ali3p": (ALI3P(tolerance=1e-13), "newmark"),
    "matrix-r": ("matrix-r", "newmark"),
    "rk4": ("matrix-r", "rk4"),
}


@pytest.fixture(scope="module")
def system():
    return joint(whole_runs.five_bar())


@pytest.mark.parametrize("scheme", SCHEMES)
def test_progress_does_not_change_a_run(system, scheme):
    seen = []
    whole = simulate(system, *SCHEMES[scheme], t_end=3.0, step=1e-3)
    pieces = simulate(system, *SCHEMES[scheme], t_end=3.0, step=1e-3, progress=seen.append)
    assert np.abs(whole.q - pieces.q).max() < 1e-13
    assert whole.objectives == pytest.approx(pieces.objectives, rel=1e-13)
    assert len(seen) > 10 and seen[-1] == 1.0 and sorted(seen) == seen


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_sweeps_in_pieces_give_the_same_gradient(system, scheme, method):
    motion = simulate(system, *SCHEMES[scheme], t_end=3.0005, step=1e-3)
    whole = gradient(motion, method=method, tighten=False).matrix
    seen = []
    pieces = gradient(motion, method=method, tighten=False, progress=seen.append).matrix
    assert len(seen) > 10
    assert np.abs(pieces / whole - 1.0).max() < 1e-12


@pytest.mark.parametrize("scheme", SCHEMES)
def test_keeping_fewer_states_changes_nothing(system, scheme):
    every = simulate(system, *SCHEMES[scheme], t_end=0.5, step=1e-3)
    some = simulate(system, *SCHEMES[scheme], t_end=0.5, step=1e-3, output_step=2e-2)
    assert np.array_equal(some.t, every.t[::20])
    assert np.array_equal(some.q, every.q[::20])
    assert some.objectives == every.objectives
    found, expected = (gradient(m, method="discrete-adjoint").matrix for m in (some, every))
    assert np.abs(found / expected - 1.0).max() < 1e-9


@pytest.mark.parametrize("scheme", SCHEMES)
def test_energy_balance_with_dampers_and_drivers(scheme):
    """E - E0 is the work of dampers, drivers and expression forces, summed by the trapezoidal rule: order 2."""
    driven = joint(whole_runs.driven_crank())
    formulation = ALI3P(penalty=1e8, projection_scale=1e-2) if scheme == "ali3p" else "matrix-r"
    drifts = []
    for step in (2e-3, 1e-3):
        energies = simulate(driven, formulation, SCHEMES[scheme][1], t_end=0.5, step=step).energies
        assert np.abs(energies.work).max() > 0.5
        drifts.append(energies.drift)
    assert drifts[1] < 1e-3
    assert np.log2(drifts[0] / drifts[1]) == pytest.approx(2.0, abs=0.3)


@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_multipliers_converge_with_order_2(scheme):
    driven = joint(whole_runs.driven_crank())
    formulation = ALI3P(penalty=1e8, projection_scale=1e-2) if scheme == "ali3p" else "matrix-r"
    exact = simulate(driven, "matrix-r", "rk4", t_end=0.5, step=1e-3, output_step=1e-2).lam
    runs = (simulate(driven, formulation, "newmark", t_end=0.5, step=h, output_step=1e-2) for h in (2e-3, 1e-3))
    errors = [np.abs(run.lam - exact).max() for run in runs]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


PAIR = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1.5, com: [0, 0, 0], inertia: [0.2, 0.3, 0.4], markers: {G: [0, 0, 0], P: [0.3, 0.1, 0.2]}}
  b: {mass: 0.7, com: [0, 0, 0], inertia: [0.1, 0.1, 0.15], markers: {G: [0, 0, 0], P: [-0.2, 0.2, 0.1]}}
joints:
  fa: {type: floating, between: [ground.O, a.G]}
  fb: {type: floating, between: [ground.O, b.G]}
forces: {coil: {type: spring, between: [a.P, b.P], stiffness: 30, damping: 2, natural_length: 0.5}}
degrees_of_freedom:
  fa: {position: [0, 0, 0], velocity: [0.2, 0.1, 0], rotation: [0.1, 0, 0], angular_velocity: [0.3, 0.2, 0.1]}
  fb: {position: [1.2, 0.3, 0], velocity: [0, -0.3, 0.2], rotation: [0, 0.2, 0], angular_velocity: [-0.2, 0.3, 0.4]}
"""


@pytest.mark.parametrize("scheme", SCHEMES)
def test_internal_forces_keep_the_momentum(scheme):
    motion = simulate(joint(Model.from_yaml_text(PAIR)), *SCHEMES[scheme], t_end=1.0, step=1e-3)
    a, b = (motion.marker(f"{body}.G").velocity for body in "ab")
    momentum = 1.5 * a + 0.7 * b
    assert np.ptp(a) > 0.1
    assert np.abs(momentum - momentum[0]).max() < 1e-11


def test_with_parameters_is_a_new_model_with_the_same_tables():
    system = joint(whole_runs.five_bar())
    model = whole_runs.five_bar()
    model.parameters["L_s1"] = 2.1
    moved = simulate(system.with_parameters({"L_s1": 2.1}), t_end=0.2, step=1e-3)
    built = simulate(joint(model), t_end=0.2, step=1e-3)
    assert np.array_equal(moved.traj, built.traj)
    assert moved.objectives == built.objectives


def test_runs_are_repeatable(system):
    first, second = (simulate(system, t_end=0.2, step=1e-3) for _ in range(2))
    assert np.array_equal(first.traj, second.traj)
