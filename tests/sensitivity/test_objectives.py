"""Sums at times, smooth extremes, forces of constraints and the end of the run: values, derivatives, refusals."""

import numpy as np
import pytest
from constraint_force_models import BODIES, OF_DRIVER, OF_JOINTS, SIMULATION
from helpers import assert_close

import kinegrad as kg
from kinegrad.errors import KinegradError, ModelError


def system(kind="joint", objectives=OF_DRIVER, **parameters):
    return kg.lower(kg.Model.from_yaml_text(BODIES + objectives + SIMULATION), kind, values=parameters)


@pytest.fixture(scope="module")
def run():
    return kg.simulate(system("reference-point", OF_DRIVER + OF_JOINTS, T=0.05), "index1", "rk4", step=5e-4)


def test_values_are_those_of_signals(run):
    """What objectives see are the signals of the motion, which are found from the balance of the bodies."""
    t, signal = (
        run.t,
        {name: np.asarray(run[name]) for name in ("motor.force", "motor.power", "pin.reaction.force.norm")},
    )
    assert_close(run.objectives["effort"], np.trapezoid(signal["motor.force"] ** 2, t), 1e-6)
    assert_close(run.objectives["power"], signal["motor.power"][-1] + np.asarray(run["rod.B.acceleration.x"])[-1], 1e-7)
    at = [int(np.argmin(np.abs(t - time))) for time in (0.0, 0.006, 0.0085)]
    table = np.interp(t[at], [0, 0.01, 0.02], [0, 0.1, 0.4])
    parts = np.asarray(run["rod.B.y"])[at] * table + np.asarray(run["coil.force"])[at]
    assert_close(run.objectives["some"], parts.sum(), 1e-12)
    x = signal["pin.reaction.force.norm"]
    expected = np.log(np.trapezoid(np.exp(0.5 * (x - x.max())), t) / t[-1]) / 0.5 + x.max()
    assert_close(run.objectives["peak"], expected, 1e-6)
    assert x.mean() < run.objectives["peak"] < x.max()


@pytest.mark.parametrize("method", ["direct", "adjoint"])
def test_forces_by_fronts_are_those_of_full_matrices(method):
    """The equations that are solved again have the solver of the run."""
    chosen = system("reference-point", OF_DRIVER + OF_JOINTS, T=0.02)
    found = {}
    for solver in ("dense", "fronts"):
        motion = kg.simulate(chosen, "index1", "rk4", step=5e-4, solver=solver)
        found[solver] = np.array(list(motion.objectives.values())), kg.gradient(motion, method=method).matrix
    for a, b in zip(*found.values(), strict=True):
        assert_close(a, b, 1e-10)


def test_times_between_steps_are_ends_of_steps():
    motion = kg.simulate(system(T=0.02), "index1", "newmark")
    assert 0.0085 in motion.ts and np.diff(motion.ts).max() <= 0.003 * (1 + 1e-12)
    assert 0.0085 in kg.simulate(system(T=0.02), "index1", "rk54").ts


def test_extremes_are_found_again_in_pieces():
    """Weights of extremes are known when the run has been done: derivatives from checkpoints are those of all states."""
    model = kg.Model.from_yaml_text(BODIES + OF_DRIVER.replace("0.0085", "0.007") + SIMULATION)
    thin = kg.simulate(kg.joint(model), "ali3p", "newmark", t_end=0.3, step=1e-3, output_step=0.1)
    kept = kg.simulate(kg.joint(model), "ali3p", "newmark", t_end=0.3, step=1e-3)
    assert len(kept.t) > len(thin.t)
    for method in ("direct", "adjoint"):
        again = kg.gradient(thin, wrt=["m", "w"], method=method, memory=0.05)
        assert_close(again.matrix, kg.gradient(kept, wrt=["m", "w"], method=method).matrix, 1e-9)


def test_gradient_by_the_end_of_the_run():
    """Against differences of runs whose last step is longer or shorter, for all kinds of objectives."""
    motion = kg.simulate(system(T=0.05), "index1", "rk4", step=2.5e-4)
    found = kg.gradient(motion, wrt=["T", "m"], method="adjoint")
    assert_close(found.matrix, kg.gradient(motion, wrt=["T", "m"]).matrix, 1e-9)
    check = found.check()
    assert max(check[name, "T"] for name in ("effort", "power", "top", "low")) < 1e-6 and found["some", "T"] == 0.0
    again = found.objectives_with(motion.system.rho)
    assert_close(again, list(found.values.values()), 1e-9)


def test_peak_reaction_and_effort_against_differences(run):
    check = kg.gradient(run, wrt=["m", "L", "k", "w"], method="adjoint").check()
    assert max(check[name, by] for name in ("peak", "bearing", "effort", "power") for by in "mLkw") < 1e-6


def test_driver_forces_of_a_driven_motion():
    """Nothing is free: the adjoint of a motion by drivers gives the derivatives of their forces too."""
    text = BODIES.replace("degrees_of_freedom: {pin: {rotation: [0, 0, start], angular_velocity: [0, spin, 0.2]}}", "")
    hinge = "type: revolute, between: [arm.tip, rod.A], axis: [0, 0, 1]"
    text = text.replace("type: spherical, between: [arm.tip, rod.A]", hinge)
    text = text.replace("drivers:", "drivers:\n  elbow: {measure: pin.angle, value: start + spin*t}")
    objectives = "\nobjectives:\n  effort: {integral: motor.force**2}\n  last: {final: motor.force*elbow.power}\n"
    driven = kg.joint(kg.Model.from_yaml_text(text + objectives + SIMULATION))
    motion = kg.drive(driven)
    force = kg.inverse(driven).sensitivity(["m", "k"]).forces["motor"]
    values = np.asarray(motion["motor.force"])
    direct, adjoint = (kg.gradient(motion, wrt=["m", "k", "T"], method=method) for method in ("direct", "adjoint"))
    assert_close(adjoint.matrix, direct.matrix, 1e-11)
    assert_close(direct.matrix[0, :2], np.trapezoid(2.0 * values[:, None] * force, motion.t, axis=0), 1e-10)
    assert_close(direct["effort", "T"], values[-1] ** 2, 1e-10)
    assert direct.check().good


@pytest.mark.parametrize(
    "objective, words",
    [
        ("{sum: rod.B.y}", "needs times"),
        ("{integral: rod.B.y, times: [0.1]}", "takes no times"),
        ("{maximum: rod.B.y}", "needs sharpness"),
        ("{maximum: rod.B.y, sharpness: -1}", "larger than zero"),
        ("{sum: rod.B.y, times: [0.1, 0.1]}", "name it once"),
        ("{sum: rod.B.y, times: [-0.1]}", "starts at 0"),
        ("{sum: rod.B.y, times: []}", "one time or more"),
        ("{integral: rod.B.y, final: 1}", "give one of them"),
    ],
)
def test_bad_objectives(objective, words):
    with pytest.raises(ModelError, match=words):
        kg.Model.from_yaml_text(BODIES + f"objectives:\n  bad: {objective}\n" + SIMULATION)


def test_refusals():
    late = system(objectives="objectives:\n  late: {sum: rod.B.y, times: [0.5]}\n")
    with pytest.raises(KinegradError, match=r"'late' takes a sum at t = 0.5 s, outside the run"):
        kg.simulate(late)
    sums = kg.simulate(system(T=0.012), "index1", "rk4")
    with pytest.raises(KinegradError, match="'some', a sum at times; take the discrete adjoint"):
        kg.gradient(sums, wrt=["m"], method="continuous-adjoint")
    follows = BODIES.replace("T: 0.012", "T: 0.012, K: 3") + "objectives:\n  top: {maximum: rod.B.y, sharpness: K}\n"
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(follows + SIMULATION)))
    with pytest.raises(KinegradError, match="sharpness"):
        kg.gradient(motion, wrt=["K"])


def test_a_force_that_is_shared_is_refused():
    """Two fixed joints hold one body: how they share its weight is not known, their sum is."""
    text = """
kinegrad: 1
parameters: {m: 2.0}
design: [m]
ground: {markers: {A: [0, 0, 0], B: [1, 0, 0]}}
bodies:
  beam: {mass: m, com: [0.5, 0, 0], inertia: [0.1, 0.2, 0.2], markers: {A: [0, 0, 0], B: [1, 0, 0]}}
joints:
  left: {type: revolute, between: [ground.A, beam.A], axis: [1, 0, 0]}
  right: {type: revolute, between: [ground.B, beam.B], axis: [1, 0, 0]}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {left.angle: {position: 0, velocity: 1}}
objectives:
  bearing: {final: EXPRESSION}
simulation: {t_end: 0.02, step: 0.01}
"""
    for expression, is_unique in (
        ("left.reaction.force.x", False),
        ("left.reaction.force.y + right.reaction.force.y", True),
    ):
        shared = kg.reference_point(kg.Model.from_yaml_text(text.replace("EXPRESSION", expression)))
        if is_unique:
            motion = kg.simulate(shared, "index1", "rk4")
            assert_close(motion.objectives["bearing"], 2.0 * 9.81, 1e-9)
            assert_close(kg.gradient(motion, method="adjoint")["bearing", "m"], 9.81, 1e-9)
        else:
            with pytest.raises(KinegradError, match="'bearing' uses a force that is not unique"):
                kg.simulate(shared, "index1", "rk4")


def test_history_of_an_adjoint_is_by_changes_from_each_time_on():
    """Against a run that is stopped, continued with another stiffness, and compared at the end."""
    objectives = "objectives:\n  effort: {integral: motor.force**2}\n  last: {final: rod.B.y}\n"
    objectives += "  top: {maximum: rod.B.y, sharpness: 9}\n"
    made, size, when = system(objectives=objectives), 1e-3, 8
    motion = kg.simulate(made, "index1", "rk4", t_end=0.1, step=5e-3)
    found = kg.gradient(motion, wrt=["k", "gy"], method="adjoint", history=True)
    assert np.array_equal(found.history_t, motion.t) and not found.history[-1].any()
    assert_close(found.history[0], found.matrix, 1e-12)  # neither changes the start
    ends = []
    for change in (size, -size):
        stepper = kg.Stepper(made, "index1", "rk4", step=5e-3)
        stepper.advance(when).set(k=40.0 + change)
        ends.append(np.array(list(stepper.advance(20 - when).objectives.values())))
    assert_close(found.history[when, :, 0], (ends[0] - ends[1]) / (2.0 * size), 1e-7)
    middle = np.abs(found.history[when, :, 0]) / np.abs(found.matrix[:, 0])
    assert (middle > 0.01).all() and (middle < 0.99).all()
    kg.gradient(motion, wrt=["k"], method=kg.DiscreteAdjoint(history=True)).plot()
