"""With error control, output_step keeps the states at its multiples and the last one; steps, sums and derivatives stay."""

from itertools import pairwise

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.cli.view import _again
from kinegrad.times import Every

MODEL = """
kinegrad: 1
parameters: {m: 1.0, L: 2.0, k: 3.0, c: 0.2}
design: [m, L, k, c]
ground: {markers: {O: [0, 0, 0], S: [1, 0, 0.5]}}
bodies:
  bar: {mass: m, inertia: [0.04, 0.1, 0.1], markers: {A: [-L, 0, 0], B: [L, 0, 0]}}
  rod: {mass: 0.5*m, com: [0.3, 0, 0], inertia: [0.01, 0.02, 0.02], markers: {C: [0, 0, 0], D: [0.6, 0, 0]}}
joints:
  hinge: {type: revolute, between: [ground.O, bar.A], axis: [0, 1, 0]}
  elbow: {type: revolute, between: [bar.B, rod.C], axis: [0, 1, 0]}
forces:
  gravity: {type: gravity, acceleration: [0, 0, -9.80665]}
  coil: {type: spring, between: [ground.S, rod.D], stiffness: k, damping: c, natural_length: 0.3}
degrees_of_freedom: {hinge.angle: {position: 0, velocity: 0}, elbow.angle: {position: 0.3, velocity: 0}}
objectives: {path: {integral: norm2(rod.D.position)}, end: {final: rod.D.x}, at: {sum: bar.B.z, times: [0.33]}}
simulation: {t_end: 1.05, step: 0.01}
"""
SETS = ("joint", "reference-point", "natural")
FORMULATIONS = ("matrix-r", "index1", "penalty", "udwadia-kalaba")


def runs(coordinates="joint", formulation="matrix-r", text=MODEL, every=0.1):
    """The same steps, with all states and with some."""
    system = kg.lower(kg.Model.from_yaml_text(text), coordinates)
    return [kg.simulate(system, formulation, "rk54", output_step=x) for x in (Every(every), every)]


@pytest.mark.parametrize("coordinates", SETS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_multiples_are_kept_and_steps_stay(coordinates, formulation):
    whole, some = runs(coordinates, formulation)
    assert np.array_equal(some.t, [*(0.1 * k for k in range(11)), 1.05]) and len(whole.t) > 2 * len(some.t)
    assert np.array_equal(some.ts, whole.ts) and np.array_equal(some.hs, whole.hs)
    kept = np.searchsorted(whole.t, some.t)
    assert np.array_equal(some.traj, whole.traj[kept]) and some.objectives == whole.objectives
    assert some.iterations.sum() == whole.iterations.sum() and len(some.iterations) == len(some.flags) == 11
    for k, (a, b) in enumerate(pairwise(kept)):
        assert some.iterations[k] == whole.iterations[a:b].sum()
        assert some.flags[k] == np.bitwise_or.reduce(whole.flags[a:b])
    work = whole.energies.work[kept]  # of the damper, over all steps
    assert np.abs(some.energies.work - work).max() <= 1e-13 * np.abs(work).max() and work[-1] < -0.1


def test_an_interval_beyond_the_end_keeps_start_and_end():
    _, some = runs(every=50.0)
    assert np.array_equal(some.t, [0.0, 1.05]) and len(some.hs) > 20


def with_torque(value):
    """The model with another torque about the hinge."""
    return MODEL.replace("forces:", f"forces:\n  twist: {{type: torque, acts_on: hinge.angle, value: {value}}}")


def test_a_run_that_stops_keeps_its_last_state():
    system = kg.joint(kg.Model.from_yaml_text(with_torque("sqrt(0.5 - t)")))
    motion = kg.simulate(system, "matrix-r", "rk54", output_step=0.2, throw=False)
    assert motion.status != 0 and np.array_equal(motion.t[:3], [0.0, 0.2, 0.4]) and motion.t[-1] == motion.ts[-1]
    assert 0.4 < motion.t[-1] < 0.5 + 1e-9 and len(motion.t) == 4


def test_steps_that_end_at_a_jump_keep_one_state_there():
    _, some = runs(text=with_torque("step(t - 0.3)"))
    assert len(some.t) == 12 and np.abs(some.t[:-1] - 0.1 * np.arange(11)).max() < 1e-9
    assert (np.abs(some.ts - 0.3) < 1e-9).sum() == 2


@pytest.mark.parametrize("coordinates", SETS)
@pytest.mark.parametrize("formulation", ["matrix-r", "index1"])
def test_gradients_are_those_of_all_states(coordinates, formulation):
    """Simulated again with all of them, or in pieces along the steps that were chosen."""
    whole, some = runs(coordinates, formulation)
    few = 1e-6 * 50 * 8 * (some.traj.shape[1] + 12)
    for method in (kg.Direct(), kg.DiscreteAdjoint(every_slot=True)):
        expected = kg.gradient(whole, method=method)
        for memory in (None, few):
            found = kg.gradient(some, method=method, memory=memory)
            size = np.abs(expected.matrix).max(axis=1, keepdims=True)
            assert (np.abs(found.matrix - expected.matrix) < 1e-10 * size).all()
            assert found.motion.t.shape == (some.t.shape if memory else whole.t.shape)
            assert found.runs == 1.0 if memory is None or method.name == "direct" else found.runs >= 2.0
    assert kg.gradient(some, wrt=["m", "k"]).check().good


def test_a_gradient_goes_through_the_steps_of_the_motion():
    """Also where iterations are done to rounding for it, and whatever the first step was."""
    system = kg.lower(kg.Model.from_yaml_text(MODEL), "reference-point")
    motion = kg.simulate(system, "matrix-r", "rk54")
    run = kg.gradient(motion, wrt=["m"]).motion
    assert len(run.hs) == len(motion.hs) and np.abs(run.ts - motion.ts).max() < 1e-7


def test_histories_of_derivatives():
    whole, some = runs()
    expected, found = (kg.gradient(x, wrt=["m", "k"]).states(["rod.D.x"]) for x in (whole, some))
    assert np.array_equal(found.t, expected.t) and len(found.t) > 12
    assert np.abs(found.derivatives - expected.derivatives).max() < 1e-10 * np.abs(expected.derivatives).max()


def test_files_hold_the_steps_and_the_states_that_were_kept(tmp_path):
    _, some = runs("reference-point", "index1")
    loaded = kg.load(some.save(tmp_path / "some.nc"))
    assert np.array_equal(loaded.t, some.t) and np.array_equal(loaded.traj, some.traj)
    assert np.array_equal(loaded.ts, some.ts) and np.array_equal(loaded.hs, some.hs)
    assert np.array_equal(loaded.iterations, some.iterations) and np.array_equal(
        loaded.energies.work, some.energies.work
    )
    expected, found = (kg.gradient(x, wrt=["m", "k"]).matrix for x in (some, loaded))
    assert np.abs(found - expected).max() < 1e-10 * np.abs(expected).max()
    again = _again(loaded, {"m": 1.0}, None)
    assert np.array_equal(again.t, some.t) and np.array_equal(again.traj, some.traj)
