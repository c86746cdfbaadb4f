"""Programs: runs and gradients with other values, again and again, have the digits of those of a system that is new."""

import threading
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[1] / "examples"
STEP, STEPS = 1e-3, 7
FIELDS = ("traj", "ts", "hs", "iterations", "flags", "s")
METHODS = ("direct", "discrete-adjoint")


def lowered(name, lower=kg.joint, **simulation):
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    model.simulation = model.simulation.model_copy(
        update={"t_end": STEPS * STEP, "step": STEP, "output_step": None} | simulation
    )
    return lower(model)


def values(system, count, rng):
    """Values of the parameters, near those of the system."""
    return [system.rho * (1.0 + 1e-3 * k * rng.uniform(-1.0, 1.0, len(system.rho))) for k in range(count)]


def assert_same(motion, expected):
    for field in FIELDS:
        assert np.array_equal(getattr(motion, field), getattr(expected, field)), field
    assert motion.objectives == expected.objectives


SCHEMES = [
    ("ali3p", "newmark"),
    ("ali3p", "generalized-alpha"),
    ("index1", "rk4"),
    ("index1", "hht"),
    ("index1", "rk54"),
    ("matrix-r", "newmark"),
    ("matrix-r", "rk4"),
    ("penalty", "rk4"),
    ("recursive", "newmark"),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
@pytest.mark.parametrize("name", ["five_bar", "slider_crank"])
def test_digits_do_not_depend_on_what_was_run_before(name, scheme, rng):
    system = lowered(name)
    for rho in values(system, 3, rng):
        other, new = system.with_parameters(rho), lowered(name).with_parameters(rho)
        motion = kg.simulate(other, *scheme)
        assert_same(motion, kg.simulate(new, *scheme))
        for method in METHODS:
            found = kg.gradient(motion, method=method)
            again = kg.gradient(kg.simulate(lowered(name).with_parameters(rho), *scheme), method=method)
            assert np.array_equal(found.matrix, again.matrix)


@pytest.mark.parametrize("lower", [kg.reference_point, kg.natural])
def test_other_sets(lower, rng):
    system = lowered("five_bar", lower)
    for rho in values(system, 3, rng):
        other, new = system.with_parameters(rho), lowered("five_bar", lower).with_parameters(rho)
        for method in METHODS:
            assert np.array_equal(kg.gradient(other, method=method).matrix, kg.gradient(new, method=method).matrix)


def test_a_motion_stays_as_it_was_when_the_next_is_run():
    system = lowered("five_bar")
    first = kg.simulate(system)
    traj, objectives, opts = first.traj.copy(), dict(first.objectives), first.scheme.formulation.opts.copy()
    gradient = kg.gradient(first).matrix
    kg.gradient(system.with_parameters(1.1 * system.rho))
    assert np.array_equal(first.traj, traj) and first.objectives == objectives
    assert np.array_equal(first.scheme.formulation.opts, opts) and first.system is system
    assert np.array_equal(kg.gradient(first).matrix, gradient)


def test_runs_go_on_after_one_that_fails():
    system = lowered("five_bar")
    expected = kg.simulate(lowered("five_bar"))
    for _ in range(2):
        with pytest.raises(kg.AssemblyError):
            kg.simulate(system.with_parameters({"L_12": 50.0}))  # a bar that closes no loop
        assert_same(kg.simulate(system), expected)


def test_objectives_of_every_kind_and_functions_of_users(rng):
    def system():
        model = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
        model.simulation = model.simulation.model_copy(update={"t_end": STEPS * STEP, "step": STEP})
        model.objectives["peak"] = {"maximum": "bar_12.P2.x", "sharpness": 10.0}
        model.objectives["sum"] = {"sum": "bar_12.P2.y", "times": [2 * STEP, 5 * STEP]}
        model.forces["push"] = kg.Force(acts_on="J1.angle", value=kg.law(np.sin, ["t"]))
        return kg.joint(model)

    kept = system()
    for rho in values(kept, 3, rng):
        motion, expected = (kg.simulate(one.with_parameters(rho)) for one in (kept, system()))
        assert_same(motion, expected)
        assert np.array_equal(kg.gradient(motion).matrix, kg.gradient(expected).matrix)


def test_options_and_times_that_follow_parameters():
    model = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    model.simulation = kg.Simulation(t_end="0.007*m_A1", step=STEP, formulation=kg.ALI3P(penalty="1e9*m_A1"))
    system = kg.joint(model)
    for factor in (1.0, 2.0, 1.0):
        other = system.with_parameters({"m_A1": factor})
        expected = kg.simulate(kg.joint(model).with_parameters({"m_A1": factor}))
        assert_same(kg.simulate(other), expected)
        assert expected.t_end == pytest.approx(0.007 * factor)


def test_threads_share_a_program():
    system = lowered("slider_crank")
    designs = [system.rho * (1.0 + 1e-3 * k) for k in range(8)]
    expected = [kg.gradient(lowered("slider_crank").with_parameters(rho)).matrix for rho in designs]
    found = [None] * len(designs)

    def work(k):
        for _ in range(5):
            found[k] = kg.gradient(system.with_parameters(designs[k])).matrix

    threads = [threading.Thread(target=work, args=(k,)) for k in range(len(designs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for one, other in zip(found, expected, strict=True):
        assert np.array_equal(one, other)


def test_designs_of_a_study_have_the_digits_of_gradient():
    model = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    model.simulation = model.simulation.model_copy(update={"t_end": STEPS * STEP, "step": STEP})
    limits = {"third": {"value": "psi3", "at_most": 1e9}}
    variables = {name: {} for name in model.design}
    study = kg.Study(model, variables=variables, minimise="psi1 + psi2", constraints=limits)
    problem = study.problem()
    for k in range(4):
        found = problem.evaluate(problem.start * (1.0 + 1e-3 * k), gradient=True)
        system = kg.joint(model).with_parameters({name: float(found.parameters[name]) for name in model.design})
        expected = kg.gradient(system, method="direct")
        assert found.goals[0] == pytest.approx(expected.values["psi1"] + expected.values["psi2"], rel=1e-13)
        np.testing.assert_allclose(found.jacobian[0], expected.matrix[0] + expected.matrix[1], rtol=1e-9)
