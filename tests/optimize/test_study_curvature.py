"""Second derivatives of studies: products for solvers, and whether an optimum is a minimum."""

from pathlib import Path

import numpy as np
import pytest
from pushed_mass import PUSHED_MASS

import kinegrad as kg
from kinegrad.optimize.curvature import Curvature

EXAMPLES = Path(__file__).parents[2] / "examples"
PUSHED = (
    """
kinegrad: 1
parameters: {F: 0.0, G: 0.0}"""
    + PUSHED_MASS
)


def study(minimise, variables=None, **keys):
    variables = variables or {"F": {}, "G": {}}
    return kg.Study(kg.Model.from_yaml_text(PUSHED), variables=variables, minimise=minimise, **keys)


def slide():
    return kg.Study.from_yaml(EXAMPLES / "slide" / "study.yaml")


def test_products_by_hand():
    """The end is at x = 2 F; also at bounds, where differences have one side, and with a logarithm."""
    variables = {"F": {"bounds": [1, 3], "start": 1}, "G": {"bounds": [0.1, 2], "start": 2, "scale": "log"}}
    problem = study("x**3*G", variables, constraints={"c": {"value": "x*G**2", "at_most": 100}}).problem()
    f, c = problem.scales
    # in F and y, G = exp(y): 8 F³ e^y and 2 F e^2y, at F = 1 and G = 2
    value = np.array([[48 * 2, 24 * 2], [24 * 2, 8 * 2]]) / f
    limit = np.array([[0, 4 * 4], [4 * 4, 8 * 4]]) / c
    assert problem.hessian(problem.start) == pytest.approx(value, rel=2e-7)
    assert problem.hessian(problem.start, np.array([0.5])) == pytest.approx(value + 0.5 * limit, rel=2e-7)
    v = np.array([0.3, 0.7])
    assert problem.hessian_product(problem.start, v) == pytest.approx(value @ v, rel=2e-7)
    assert problem.beside > 0 and problem.evaluations == 1


@pytest.mark.parametrize(("goal", "verdict"), [("x**2 + G**2", "minimum"), ("x**2 - G**2", "saddle"), ("x**2", "flat")])
def test_verdicts(goal, verdict):
    found = study(goal, solver="trust-ncg").optimize()
    assert found.status == "optimum" and found.curvature.verdict == verdict and found.curvature.free == 2
    if verdict == "saddle":
        assert found.curvature.direction == pytest.approx({"F": 0.0, "G": 1.0}) and found.curvature.least < 0.0


def test_rounding_is_no_saddle():
    """What is minimised does not change: curvatures are rounding, whichever sign they have."""
    found = study("1 + (sin(F)**2 + cos(F)**2)*(cos(G)**2 + sin(G)**2)", {"F": {"start": 0.7}, "G": {"start": 0.3}})
    assert found.optimize("trust-ncg").curvature.verdict == "flat"
    assert Curvature(2, -3e-16, 2e-16, 0.0, {"F": 1.0}).verdict == "flat"
    assert Curvature(2, -1e-9, 2e-9, 0.0, {"F": 1.0}).verdict == "saddle"


def test_limits_hold_directions():
    """-G² falls, but G is at its bound; x + G = 1 leaves one direction, along which x² - G²/2 rises."""
    variables = {"F": {"scale": 1}, "G": {"bounds": [-1, 1], "start": 1}}
    held = study("x**2 - G**2", variables, solver="l-bfgs-b").optimize()
    assert held.active == {"G": "upper"} and held.curvature.verdict == "minimum" and held.curvature.free == 1
    line = study("x**2 - G**2/2", constraints={"line": {"value": "x + G", "equals": 1}}).optimize()
    assert line.status == "optimum" and line.curvature.verdict == "minimum" and line.curvature.free == 1
    assert line.variables == pytest.approx({"F": -0.5, "G": 2.0})


def test_limits_without_a_multiplier_hold_nothing():
    """G starts at its bound, where -G² is largest; at the corner of F G, one direction falls and limits are in its way."""
    variables = {"F": {"scale": 1}, "G": {"bounds": [0, 1]}}
    top = study("x**2 - G**2", variables, solver="l-bfgs-b").optimize()
    assert top.status == "optimum" and top.active == {"G": "lower"} and top.curvature.verdict == "saddle"
    assert top.curvature.direction["G"] > 0.0
    limit = {"limit": {"value": "G", "at_least": 0}}
    assert study("x**2 - G**2", {"F": {}, "G": {}}, constraints=limit).optimize().curvature.verdict == "saddle"
    assert study("x**2 + G**2", variables, solver="l-bfgs-b").optimize().curvature.verdict == "minimum"
    corner = study("F*G", {"F": {"bounds": [0, 1]}, "G": {"bounds": [0, 1]}}).optimize()
    assert corner.status == "optimum" and corner.curvature.verdict == "flat"


@pytest.mark.parametrize("solver", ["trust-constr", "ipopt"])
def test_solvers_with_second_derivatives(solver):
    """The slide is a quadratic problem: one Newton step."""
    found = slide().with_solver(type=solver, hessian="exact", max_evaluations=2000).optimize()
    assert found.status == "optimum" and found.values["minimise"] == pytest.approx(12.0, rel=1e-8)
    assert len(found.history) < found.evaluations and found.gradients > len(found.history)
    assert found.curvature.free == 6


def test_newton_steps():
    found = study("(1 - x)**2 + 10*(G - x**2)**2", solver={"type": "trust-ncg", "tolerance": 1e-9}).optimize()
    assert found.status == "optimum" and found.variables == pytest.approx({"F": 0.5, "G": 1.0}, abs=1e-6)


def test_largest_of_several():
    """Of (x - 1)² and (x - 3)² the largest is least at x = 2, a corner: nothing is free."""
    found = study("x", {"F": {"start": 0.3}})
    found = kg.Study(
        found.model, variables={"F": {"start": 0.3}}, minimise={"largest_of": ["(x - 1)**2", "(x - 3)**2"]}
    )
    found = found.with_solver(type="trust-constr", hessian="exact", max_evaluations=2000).optimize()
    assert found.variables["F"] == pytest.approx(1.0, abs=1e-5)
    assert found.curvature.free == 0 and found.curvature.verdict == "minimum"


@pytest.mark.parametrize(
    ("solver", "text"),
    [
        (
            {"type": "slsqp", "hessian": "exact"},
            "'slsqp', which takes no second derivatives; leave hessian: exact out, or choose",
        ),
        ({"type": "trust-ncg"}, "'trust-ncg', which takes no bounds such as those of 'F'"),
    ],
)
def test_refused(solver, text):
    with pytest.raises(kg.KinegradError, match=text):
        study("x**2", {"F": {"bounds": [-1, 1]}}, solver=solver).optimize()


def test_command(optimize, tmp_path):
    (tmp_path / "model.yaml").write_text(PUSHED)
    text = "kinegrad_study: 1\nmodel: model.yaml\nvariables: {F: {}, G: {}}\nminimise: x**2 - G**2\nsolver: trust-ncg\n"
    (tmp_path / "study.yaml").write_text(text)
    code, out, _ = optimize(tmp_path / "study.yaml", "--check")
    assert code == 1 and "No minimum but a saddle: curvatures along 2 free directions are -2 to 8" in out.replace(
        "\n", " "
    )
