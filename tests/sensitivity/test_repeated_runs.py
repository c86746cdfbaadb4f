"""Runs that are repeated with other values: the digits of simulate and gradient, and what is left to these."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sensitivity.repeated import repeated

EXAMPLES = Path(__file__).parents[2] / "examples"
STEP, STEPS = 1e-3, 7


def lowered(name, lower=kg.joint, **simulation):
    model = kg.Model.from_yaml(EXAMPLES / name / "model.yaml")
    model.simulation = model.simulation.model_copy(
        update={"t_end": STEPS * STEP, "step": STEP, "output_step": None} | simulation
    )
    return lower(model)


def runs_of(system, formulation=None, integrator=None, solver="auto"):
    formulation, integrator = formulation or kg.ALI3P(tolerance=1e-16), integrator or kg.Newmark()
    return repeated(system, formulation, integrator, STEPS * STEP, STEP, solver)


def simulated(system, formulation, integrator, guess):
    return kg.simulate(system, formulation, integrator, t_end=STEPS * STEP, step=STEP, output_step=STEP, guess=guess)


SCHEMES = [
    (kg.ALI3P(tolerance=1e-16), kg.Newmark()),
    (kg.ALI3P(tolerance=1e-16), kg.GeneralizedAlpha()),
    (kg.Index1(), kg.RungeKutta4()),
    (kg.Index1(tolerance=1e-16), kg.HHT()),
    (kg.MatrixR(tolerance=1e-16), kg.Newmark()),
]


@pytest.mark.parametrize("scheme", SCHEMES, ids=lambda pair: f"{pair[0].type}-{pair[1].type}")
@pytest.mark.parametrize("name", ["five_bar", "slider_crank"])
def test_the_digits_of_simulate_and_gradient(name, scheme):
    system = lowered(name)
    runs, rng = runs_of(system, *scheme), np.random.default_rng(1)
    guess, labels = kg.simulate(system).q[0], tuple(system.parameters.expand(p)[0] for p in system.model.design)
    for k in range(3):
        other = system.with_parameters(system.rho * (1.0 + 1e-3 * k * rng.uniform(-1.0, 1.0, len(system.rho))))
        found, expected = runs.run(other, guess), simulated(other, *scheme, guess)
        for field in ("traj", "ts", "hs", "iterations", "flags", "s"):
            assert np.array_equal(getattr(found, field), getattr(expected, field)), field
        assert found.objectives == expected.objectives
        for method in ("direct", "discrete-adjoint"):
            matrix = runs.gradient(found, labels, method)
            assert (matrix is None) == (k == 0)  # the first time it is left to gradient
            whole = kg.gradient(expected, wrt=labels, method=method, tighten=False).matrix
            assert k == 0 or np.array_equal(matrix, whole)


@pytest.mark.parametrize("lower", [kg.reference_point, kg.natural])
def test_other_sets(lower):
    system = lowered("five_bar", lower)
    runs, guess = runs_of(system), kg.simulate(system).q[0]
    labels = tuple(system.model.design)
    for k, other in enumerate((system, system.with_parameters(1.01 * system.rho))):
        found, expected = runs.run(other, guess), simulated(other, runs.formulation, runs.integrator, guess)
        assert np.array_equal(found.traj, expected.traj)
        if runs.gradient(found, labels, "direct") is not None:
            assert k == 1
            assert np.array_equal(
                runs.gradient(found, labels, "direct"), kg.gradient(expected, wrt=labels, tighten=False).matrix
            )


def test_a_motion_stays_as_it_was_when_the_next_is_run():
    system = lowered("five_bar")
    runs, guess = runs_of(system), kg.simulate(system).q[0]
    first = runs.run(system, guess)
    traj, values, opts = first.traj.copy(), dict(first.objectives), first.scheme.formulation.opts.copy()
    runs.run(system.with_parameters(1.1 * system.rho), guess)
    assert np.array_equal(first.traj, traj) and first.objectives == values
    assert np.array_equal(first.scheme.formulation.opts, opts) and first.system is system


def test_what_is_left_to_simulate():
    five_bar = lowered("five_bar")
    assert runs_of(five_bar) is not None
    assert runs_of(five_bar, kg.Index1(), kg.RungeKutta54()) is None  # chooses its steps
    assert runs_of(five_bar, kg.Penalty()) is None  # its start is looked for with penalties
    assert runs_of(five_bar, kg.ALI3P(penalty="1e9*L_12")) is None
    assert runs_of(five_bar, solver="fronts") is None
    model = kg.Model.from_yaml(EXAMPLES / "five_bar" / "model.yaml")
    model.objectives["peak"] = {"maximum": "bar_12.P2.x", "sharpness": 10.0}
    assert runs_of(kg.joint(model)) is None
    model.objectives["peak"] = {"final": "abs(bar_12.P2.x)"}  # kinks are told
    assert runs_of(kg.joint(model)) is None
    runs = runs_of(five_bar)
    far = five_bar.with_parameters({"L_12": 50.0})  # a bar that closes no loop
    guess = kg.simulate(five_bar).q[0]
    assert runs.run(far, guess) is None
    with pytest.raises(kg.AssemblyError):
        kg.simulate(far, guess=guess)
    assert runs.run(five_bar, guess) is not None  # and goes on


def test_designs_of_a_study_have_the_digits_of_simulate():
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
