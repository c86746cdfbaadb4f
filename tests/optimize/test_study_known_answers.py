"""Studies whose optimum is known in closed form."""

from math import sqrt
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
CONSTRAINED = ("slsqp", "trust-constr", "ipopt", "nlopt-slsqp")


@pytest.mark.parametrize("solver", CONSTRAINED)
def test_mass_on_a_slide(solver):
    """Force 6 - 12 t, effort 12; the multipliers are the derivatives of the minimum by the limits.

    Over the distance x, with the velocity v at the end, the least effort is 12 x² - 12 x v + 4 v².
    """
    found = kg.Study.from_yaml(EXAMPLES / "slide" / "study.yaml").optimize(solver)
    assert found.status == "optimum" and found.optimal
    assert found.values["minimise"] == pytest.approx(12.0, rel=1e-8)
    assert found.variables["u"] == pytest.approx(6.0 - 12.0 * np.arange(8) / 7, abs=2e-6)
    assert found.constraints == pytest.approx({"arrives": 1.0, "rests": 0.0}, abs=1e-10)
    assert found.active == {"arrives": "equals", "rests": "equals"}
    assert found.multipliers == pytest.approx({"arrives": 24.0, "rests": -12.0}, rel=1e-6)
    assert found.failures == 0 and found.gradients <= found.evaluations <= 40
    assert found.simulations_saved >= found.gradients


@pytest.mark.parametrize("solver", ["l-bfgs-b", "trust-constr"])
def test_absorber(solver):
    """The tuning of the white-noise optimum, for which the rest after 150 s is below 1e-8."""
    found = kg.Study.from_yaml(EXAMPLES / "absorber" / "study.yaml").optimize(solver)
    mu = 0.2
    f, zeta = sqrt(1 + mu / 2) / (1 + mu), sqrt(mu * (1 + 3 * mu / 4) / (4 * (1 + mu) * (1 + mu / 2)))
    assert found.status == "optimum" and not found.active
    assert found.variables == pytest.approx({"f": f, "zeta": zeta}, abs=1e-6)


PUSHED = """
kinegrad: 1
parameters: {F: 0.5, at: 1.0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: F}}
degrees_of_freedom: {slide.distance: {position: 0}}
objectives: {miss: {final: "(mass.O.x - at)**2"}, x: {final: mass.O.x}}
simulation: {t_end: 2, step: 0.1, formulation: {type: index1}, integrator: {type: rk4}}
"""


@pytest.mark.parametrize("solver", ["slsqp", "ipopt", "nlopt-mma", "nlopt-slsqp", "trust-constr", "l-bfgs-b", "tnc"])
def test_minimax(solver):
    """A force F moves the mass by 2 F; of the squared misses of 1 and of 3 the largest is least at 2, where both are 1."""
    study = kg.Study(
        kg.Model.from_yaml_text(PUSHED), cases={"near": {}, "far": {"set": {"at": 3}}}, variables={"F": {"bounds": [0, 4]}},
        minimise={"largest_of": ["miss@near", "miss@far"]}, solver=solver,
    )  # fmt: skip
    found = study.optimize()
    close = {"trust-constr": 1e-5, "l-bfgs-b": 2e-5, "tnc": 2e-5}.get(solver, 1e-7)  # a barrier, and a smooth largest
    assert found.status == "optimum", found.message
    assert found.variables["F"] == pytest.approx(1.0, abs=close)
    assert found.values["miss@near"] == pytest.approx(found.values["miss@far"], abs=4 * close)
    assert found.values["minimise"] == pytest.approx(1.0, abs=4 * close)


def test_weighted_cases():
    """An objective without a case is the sum over cases by their weights: (2F - 1)² + 3 (2F - 3)² is least at 2F = 2.5."""
    study = kg.Study(
        kg.Model.from_yaml_text(PUSHED), cases={"near": {}, "far": {"set": {"at": 3}, "weight": 3}},
        variables={"F": {"bounds": [0, 4]}}, minimise="miss", solver="l-bfgs-b",
    )  # fmt: skip
    found = study.optimize()
    assert found.variables["F"] == pytest.approx(1.25, abs=1e-7)
    assert found.values["minimise"] == pytest.approx(3.0, abs=1e-10) and found.evaluations < 10


def test_bounds_that_hold():
    """At an upper bound the multiplier is the derivative of the minimum by the bound: d(2F - 1)²/dF = 4 (2F - 1)."""
    study = kg.Study(
        kg.Model.from_yaml_text(PUSHED), variables={"F": {"bounds": [0, 0.25], "start": 0.1}}, minimise="miss"
    )
    found = study.optimize()
    assert found.status == "optimum" and found.active == {"F": "upper"}
    assert found.multipliers == pytest.approx({"F": -2.0}, rel=1e-9)
    assert found.sensitivity == pytest.approx({"F": -2.0}, rel=1e-9)
    assert found.model.parameters["F"] == 0.25
    table = found.to_dataframe()
    assert table.loc["F", "active"] == "upper" and table.loc["F", "start"] == 0.1
    (check,) = found.check().values()
    assert check.good


@pytest.mark.parametrize("solver", ["slsqp", "ipopt", "nlopt-mma", "nlopt-slsqp", "trust-constr"])
@pytest.mark.parametrize("limits", [{"at_most": 2}, {"at_least": -1, "at_most": 2}])
def test_inequalities(solver, limits):
    """Held at x = 2, a miss of (x - 3)² falls by 2 for each metre that the limit is moved."""
    study = kg.Study(
        kg.Model.from_yaml_text(PUSHED), set={"at": 3}, variables={"F": {"bounds": [0, 4]}}, minimise="miss",
        constraints={"fence": {"value": "x", **limits}, "idle": {"value": "x", "at_least": -5}}, solver=solver,
    )  # fmt: skip
    found = study.optimize()
    assert found.status == "optimum", found.message
    assert found.variables["F"] == pytest.approx(
        1.0, abs=1e-5 if solver == "trust-constr" else 1e-7
    )  # which keeps off the limit
    assert found.active == {"fence": "at_most"} and found.multipliers == pytest.approx({"fence": -2.0}, rel=5e-5)


def test_stages_grow():
    """The second stage starts from the optimum of the first, with its own horizon and tolerance."""
    study = kg.Study(
        kg.Model.from_yaml_text(PUSHED), variables={"F": {"bounds": [0, 4]}}, minimise="miss", solver="l-bfgs-b",
        stages=[{"simulation": {"t_end": 1}}, {"set": {"at": 2}, "solver": {"tolerance": 1e-10}}],
    )  # fmt: skip
    found = study.optimize()
    assert [stage.status for stage in found.stages] == ["optimum", "optimum"]
    assert found.stages[0].values == pytest.approx([2.0], abs=1e-6) and found.stages[1].start == found.stages[0].values
    assert found.variables["F"] == pytest.approx(1.0, abs=1e-6)
    assert len(found.history) == found.evaluations
    assert found.values_before["minimise"] == pytest.approx(1.0, rel=1e-9)  # F = 0.5 in the second stage: 1 m of 2 m


def test_equilibrium():
    """A hanging mass m on a spring k rests at m g/k below; k for a depth of 0.5 is m g/0.5."""
    model = kg.Model.from_yaml_text(
        PUSHED.replace("value: F}", "value: 9.81 - F*slide.distance}")
        .replace("F: 0.5", "F: 10")
        .replace("at: 1.0", "at: 0.5")
    )
    study = kg.Study(
        model, analysis="equilibrium", variables={"F": {"bounds": [1, 1000], "scale": "log"}}, minimise="miss"
    )
    found = study.optimize("l-bfgs-b", tolerance=1e-12)
    assert found.variables["F"] == pytest.approx(19.62, rel=1e-6)


def linkage(name, a, b, c, px, py):
    """A driven four-bar linkage with pivots at (0, 0) and (3, 0), in parts of a model."""
    own = {
        "crank": (f"A: [0, 0, 0], B: [{a}, 0, 0]", "origin: [0, 0, 0], x_axis: [0, 1, 0]"),
        "coupler": (f"B: [0, 0, 0], C: [{b}, 0, 0], P: [{px}, {py}, 0]", "origin: [0, 1, 0], x_axis: [2, 1, 0]"),
        "rocker": (f"D: [0, 0, 0], C: [{c}, 0, 0]", "origin: [3, 0, 0], x_axis: [0, 1, 0]"),
    }
    bodies = "".join(
        f"\n  {name}{body}: {{mass: 1, inertia: [1, 1, 1], markers: {{{markers}}}, pose: {{{pose}}}}}"
        for body, (markers, pose) in own.items()
    )
    ends = {"A": "ground.A, crank.A", "B": "crank.B, coupler.B", "C": "coupler.C, rocker.C", "D": "ground.D, rocker.D"}
    joints = ""
    for joint, between in ends.items():
        between = ", ".join(end if end.startswith("ground") else name + end for end in between.split(", "))
        joints += f"\n  {name}{joint}: {{type: revolute, between: [{between}], axis: [0, 0, 1]}}"
    return bodies, joints, f"\n  {name}motor: {{measure: {name}A.angle, value: pi/2 + 2*pi*t}}"


def test_a_coupler_curve_is_recovered():
    """The curve of a crank-rocker with its timing, by another one that starts elsewhere: all five lengths come back."""
    parts = [linkage("own", "a", "b", "c", "px", "py"), linkage("given", 1.0, 2.5, 2.4, 1.2, 0.6)]
    bodies, joints, drivers = ("".join(part[k] for part in parts) for k in range(3))
    model = kg.Model.from_yaml_text(
        f"kinegrad: 1\nparameters: {{a: 0.9, b: 2.6, c: 2.55, px: 1.0, py: 0.5}}\n"
        f"ground: {{markers: {{A: [0, 0, 0], D: [3, 0, 0]}}}}\nbodies:{bodies}\njoints:{joints}\ndrivers:{drivers}\n"
        "objectives: {miss: {integral: norm2(owncoupler.P.position - givencoupler.P.position)}}\n"
        "simulation: {t_end: 1, step: 0.05}\n"
    )
    names = ("a", "b", "c", "px", "py")
    study = kg.Study(
        model, analysis="kinematics", variables={name: {"bounds": [0.3, 4]} for name in names}, minimise="miss",
        solver={"type": "slsqp", "tolerance": 1e-12},
    )  # fmt: skip
    found = study.optimize()
    assert found.status == "optimum", found.message
    assert found.variables == pytest.approx(dict(zip(names, (1.0, 2.5, 2.4, 1.2, 0.6), strict=True)), abs=1e-6)


@pytest.mark.slow
def test_cart_pole_swing_up():
    """Two solvers, one optimum: 21 ordinates, the last one free, take a little less than the published 58.88 N² s (Kelly 2017)
    with no force at the end."""
    study = kg.Study.from_yaml(EXAMPLES / "cart_pole" / "study.yaml")
    found = [study.optimize(solver) for solver in ("ipopt", "slsqp")]
    for one in found:
        assert one.status == "optimum", one.message
        assert one.constraints == pytest.approx({"there": 1.0, "rests": 0.0, "upright": np.pi, "still": 0.0}, abs=1e-7)
    assert found[0].values["minimise"] == pytest.approx(found[1].values["minimise"], rel=1e-7)
    assert found[0].values["minimise"] == pytest.approx(57.965, abs=2e-3)


def test_fewer_simulations_than_by_differences():
    """With 13 variables at least (13 + 1)/5 times fewer, a gradient counted as one more simulation."""
    found = kg.Study.from_yaml(EXAMPLES / "studies" / "crane_control" / "study.yaml").optimize("ipopt")
    assert found.status == "optimum" and 14 * found.gradients > 14 / 5 * (found.evaluations + found.gradients)
