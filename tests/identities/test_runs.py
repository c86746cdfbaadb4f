"""Identities of runs: pieces add up, what is kept does not change what is computed, energy and momentum balance."""

import numpy as np
import pytest
import whole_runs

from kinegrad.coordinates.sets import joint
from kinegrad.dynamics import schemes
from kinegrad.model.model import Model
from kinegrad.model.simulation import ALI3P, INTEGRATORS, RungeKutta54
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


# Dampers, motors, drivers, springs on measures, loops: models whose energy is made up of everything there is.
BALANCED = {
    "driven": lambda: joint(whole_runs.driven_crank()),
    "spatial loop": lambda: joint(whole_runs.spatial_loop(), cut=("tube",)),
    "open chain": lambda: joint(whole_runs.open_chain()),
}


@pytest.mark.parametrize("key", schemes.SCHEMES, ids="-".join)
@pytest.mark.parametrize("model", BALANCED)
def test_energy_balance_has_the_order_of_the_integrator(model, key):
    """E - E0 is the work of dampers, drivers and expression forces, summed by the rule of the integrator."""
    system, order = BALANCED[model](), INTEGRATORS[key[1]]().order
    formulation = ALI3P(penalty=1e8, projection_scale=1e-2) if key[0] == "ali3p" else key[0]
    drifts = []
    for k in range(2):
        step = {2: 2e-3, 4: 8e-3, 5: 1e-2}[order] / 2.0**k
        integrator = RungeKutta54(tolerance=5e-6 / 2.0 ** (10 * k)) if order == 5 else key[1]
        energies = simulate(system, formulation, integrator, t_end=0.4, step=step).energies
        assert np.abs(energies.work).max() > 0.03
        drifts.append(energies.drift)
    assert drifts[1] < {2: 6e-4, 4: 4e-7, 5: 1e-7}[order]
    if key[0] != "penalty":  # which leaves 1e-9 of its own
        found = np.log2(drifts[0] / drifts[1])
        assert found == pytest.approx(order, abs=0.1) if order < 5 else found == pytest.approx(10, abs=1.5)


def test_work_does_not_depend_on_the_states_kept():
    """Also where the power between two states is that of stages, which a motion of fewer states does not have."""
    system = joint(whole_runs.driven_crank())
    for scheme in SCHEMES.values():
        every = simulate(system, *scheme, t_end=0.1, step=1e-3)
        some = simulate(system, *scheme, t_end=0.1, step=1e-3, output_step=1e-2)
        assert some.energies.work == pytest.approx(every.energies.work[::10], abs=1e-13)


SPRINGS = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], A: [0.3, 0.5, 0.1]}}
bodies:
  a: {mass: 1.5, com: [0.2, 0, 0], inertia: [0.2, 0.3, 0.4], markers: {O: [0, 0, 0], P: [0.5, 0, 0]}}
  b: {mass: 0.7, com: [0.2, 0, 0], inertia: [0.1, 0.1, 0.15], markers: {P: [0, 0, 0], Q: [0.4, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.O], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.P, b.P], axis: [0, 1, 0.5]}
measures: {gap: "norm(b.Q.position - ground.A.position)"}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  torsion: {type: spring, acts_on: two.angle, stiffness: 8, natural_value: 0.4}
  tie: {type: spring, acts_on: gap, stiffness: 60, natural_value: 0.3}
degrees_of_freedom: {one.angle: {position: 0.3, velocity: 0.5}, two.angle: {position: -0.2, velocity: 1}}
"""


def test_springs_on_measures_store_energy():
    """They have a potential and do no work: the sum of energies is what weight and springs give, and is conserved."""
    motion = simulate(joint(Model.from_yaml_text(SPRINGS)), "matrix-r", "rk4", t_end=1.0, step=1e-3)
    energies = motion.energies
    turn = motion.q[:, motion.system.set.index["two", "angle"]]
    gap = np.linalg.norm(motion.marker("b.Q").position - motion.marker("ground.A").position, axis=1)
    stored = 0.5 * 8 * (turn - 0.4) ** 2 + 0.5 * 60 * (gap - 0.3) ** 2
    markers = (motion.marker(name).position for name in ("a.O", "a.P", "b.P", "b.Q"))
    O, P, R, Q = (x[:, 1] for x in markers)
    weight = 9.81 * (1.5 * (O + 0.4 * (P - O)) + 0.7 * (R + 0.5 * (Q - R)))
    assert energies.potential == pytest.approx(stored + weight, abs=1e-12)
    assert not energies.work.any() and np.ptp(stored) > 1.0
    assert energies.drift < 1e-9


def test_a_spring_on_a_measure_does_work_by_its_damper():
    damped = SPRINGS.replace("stiffness: 60", "damping: 0.8, stiffness: 60")
    motion = simulate(joint(Model.from_yaml_text(damped)), "matrix-r", "rk4", t_end=1.0, step=1e-3)
    energies = motion.energies
    gap = np.linalg.norm(motion.marker("b.Q").position - motion.marker("ground.A").position, axis=1)
    rate = np.gradient(gap, motion.t, edge_order=2)
    assert energies.work[-1] == pytest.approx(-0.8 * np.trapezoid(rate**2, motion.t), rel=1e-4)
    assert energies.work[-1] < -0.05 and energies.drift < 1e-8


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
