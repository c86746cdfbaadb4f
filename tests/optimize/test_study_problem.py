"""What solvers see: derivatives, one simulation a design, numbers that are finite, and the branch of the assembly."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.optimize import analyses
from kinegrad.optimize.branch import follow

HERE = Path(__file__).parent
FOUR_BAR = HERE / "four_bar.yaml"


@pytest.fixture
def study():
    return kg.Study(
        kg.Model.from_yaml(FOUR_BAR),
        cases={"light": {}, "heavy": {"simulation": {"t_end": 0.05}, "weight": 2}},
        variables={"a": {"bounds": [0.5, 1.5]}, "d": {"bounds": [2.0, 10.0], "scale": "log"}, "b": {"scale": 2}},
        minimise="reach**2 + 0.1*sin(a)*reach@heavy",
        constraints={
            "grashof": {"value": "a + d - b - c", "at_most": -0.05}, "some": {"value": "reach@light", "at_least": 0.1},
        },
    )  # fmt: skip


def test_derivatives_beside_differences(study):
    """Of goals by scaled variables, through cases, logarithms and expressions."""
    problem = study.problem()
    x, h = problem.start + 0.01, 1e-5
    values = [(problem.goals(x + h * e) - problem.goals(x - h * e)) / (2 * h) for e in np.eye(problem.n)]
    assert problem.slopes(x) == pytest.approx(np.array(values).T, rel=1e-6, abs=1e-8)
    assert problem.gradient(x) == pytest.approx(problem.slopes(x)[0])
    assert problem.jacobian(x).shape == (2, 3)


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_methods_agree(study, method):
    chosen = study.with_solver(gradient=method).problem()
    assert chosen.slopes(chosen.start) == pytest.approx(study.problem().slopes(chosen.start), rel=1e-9)


def test_a_design_is_simulated_once(study, monkeypatch):
    runs = []
    run = analyses.Dynamics.run
    monkeypatch.setattr(analyses.Dynamics, "run", lambda *given: runs.append(1) or run(*given))
    problem = study.problem()
    x = problem.start
    problem.value(x), problem.gradient(x), problem.constraints(x), problem.jacobian(x)
    assert len(runs) == 2 and problem.evaluations == 1 and problem.gradients == 1  # one for each case
    problem.value(x + 0.01)
    assert len(runs) == 4 and problem.gradients == 1
    problem.value(x)
    assert len(runs) == 4


def test_the_memory_is_bounded(study):
    problem = study.problem()
    for k in range(20):
        problem.evaluate(problem.start + 1e-3 * k)
    assert len(problem.memory) == 16
    assert sum(found.found is not None for found in problem.memory.good()) == 2
    again = problem.evaluate(problem.start + 19e-3, gradient=True)
    assert again.number == 20 and again.jacobian.shape == (3, 3)


def test_parameters_only_cost_no_simulation(monkeypatch):
    monkeypatch.setattr(analyses.Dynamics, "run", None)
    study = kg.Study(kg.Model.from_yaml(FOUR_BAR), variables={"a": {}, "d": {}}, minimise="(a - 2)**2 + (d - a)**2")
    assert study.optimize().variables == pytest.approx({"a": 2.0, "d": 2.0}, abs=1e-6)


def wall(**keys):
    """The optimum (7, 2) is far beyond where the linkage can be assembled: b + c >= sqrt(d² + a²)."""
    return kg.Study(
        kg.Model.from_yaml(FOUR_BAR), variables={"d": {"bounds": [1, 10]}, "b": {"bounds": [1, 3]}},
        minimise="(d - 7)**2 + (b - 2)**2 + 1e-6*reach", **keys,
    )  # fmt: skip


def test_what_a_solver_is_told_beyond_the_wall():
    """Finite numbers that grow, with derivatives that lead back."""
    problem = wall().problem()
    start = problem.value(problem.start)
    x = problem.variables.scaled(np.array([7.0, 2.0]))
    value, gradient = problem.value(x), problem.gradient(x)
    assert problem.failures == 1 and not problem.evaluate(x).ok
    assert "cannot be assembled" in problem.evaluate(x).problem
    assert np.isfinite(value) and value > start and np.isfinite(gradient).all()
    assert gradient @ (problem.start - x) < 0.0
    h = 1e-3
    beyond = [problem.value(x + h * s * (problem.start - x)) for s in (1.0, 0.0)]
    assert beyond[0] < beyond[1]


@pytest.mark.parametrize("solver", ["l-bfgs-b", "slsqp", "ipopt", "nlopt-lbfgs"])
def test_a_wall_of_designs_that_cannot_be_assembled(solver):
    """The result is a design that works, better than the start, and no success is told."""
    found = wall().optimize(solver, max_evaluations=18)
    d, b = found.variables["d"], found.variables["b"]
    assert found.status in ("stalled", "limit") and not found.optimal and found.failures > 0
    assert b + 2.5 >= np.hypot(d, 1.0) and d > 4.0
    assert found.values["minimise"] < 8.0 < found.values_before["minimise"]
    assert "add assembly: {at_least: 0.01}" in found.message
    if found.status == "stalled":
        assert "designs beyond do not work" in found.message


@pytest.mark.parametrize("solver", ["slsqp", "ipopt"])
def test_a_margin_shows_the_wall(solver):
    """With a margin of assembly every solver that takes constraints ends at the best design, which the margin holds."""
    found = wall(assembly={"at_least": 0.01}).optimize(solver, max_evaluations=200)
    assert found.status == "optimum", found.message
    assert found.active["assembly"] == "at_least" and found.active["b"] == "upper"
    best = (np.sqrt(5.5**2 - 1.0) - 7.0) ** 2 + 1.0  # b at its bound, coupler and rocker in one line
    assert best < found.values["minimise"] < best + 1e-3


def test_derivatives_of_the_margin():
    problem = wall(assembly={"at_least": 0.01}).problem()
    J = problem.jacobian(problem.start)
    for k in range(2):
        e = 1e-5 * np.eye(2)[k]
        by_differences = (problem.constraints(problem.start + e) - problem.constraints(problem.start - e)) / 2e-5
        assert J[:, k] == pytest.approx(by_differences, rel=1e-6)


#: A crank of length 0.3 turns and pushes a slider, 0.1 beside its centre, by a rod of length l: the wall is at l = 0.4.
CRANK = """
kinegrad: 1
parameters: {l: 0.9, e: 0.1}
ground: {markers: {O: [0, 0, 0], S: [0, e, 0]}}
bodies:
  crank: {mass: 1, com: [0.15, 0, 0], inertia: [0, 0.01, 0.01], markers: {A: [0, 0, 0], B: [0.3, 0, 0]}}
  rod: {mass: 1, com: [l/2, 0, 0], inertia: [0, 0.05, 0.05], markers: {B: [0, 0, 0], C: [l, 0, 0]},
        pose: {origin: [0.3, 0, 0], x_axis: [1, 0.1, 0]}}
  block: {mass: 1, inertia: [0.1, 0.1, 0.1], markers: {C: [0, 0, 0]}, pose: {origin: [1.2, 0.1, 0]}}
joints:
  J1: {type: revolute, between: [ground.O, crank.A], axis: [0, 0, 1]}
  J2: {type: revolute, between: [crank.B, rod.B], axis: [0, 0, 1]}
  J3: {type: revolute, between: [rod.C, block.C], axis: [0, 0, 1]}
  J4: {type: prismatic, between: [ground.S, block.C], axis: [1, 0, 0]}
drivers: {motor: {measure: J1.angle, value: 6*t}}
objectives: {last: {final: block.C.x}}
simulation: {t_end: 1, step: 0.01}
"""


@pytest.mark.parametrize("coordinates", ["joint", "natural", "reference-point"])
def test_a_margin_shows_a_wall_where_a_row_is_lost(coordinates):
    """All derivatives of a row are small there: it is divided by what it is along the motion, not by what it is there."""
    study = kg.Study(
        kg.Model.from_yaml_text(CRANK), analysis="kinematics", simulation={"coordinates": coordinates},
        variables={"l": {"bounds": [0.2, 2], "start": 0.5}, "e": {"bounds": [0.05, 0.2]}},
        minimise="(l - 0.1)**2 + (e - 0.1)**2", assembly={"at_least": 0.02},
    )  # fmt: skip
    problem = study.problem()
    J = problem.jacobian(problem.start)
    for k, e in enumerate(1e-5 * np.eye(2)):
        by_differences = (problem.constraints(problem.start + e) - problem.constraints(problem.start - e)) / 2e-5
        assert J[:, k] == pytest.approx(by_differences, rel=1e-5)
    found = study.optimize(max_evaluations=200)
    assert found.status == "optimum" and found.active["assembly"] == "at_least", found.message
    l, e = found.variables["l"], found.variables["e"]
    assert 0.3 + e < l < 1.1 * (0.3 + e)


def test_bodies_that_cannot_be():
    model = kg.Model.from_yaml(FOUR_BAR)
    model.parameters["m"] = 1.0
    model.bodies["crank"] = model.bodies["crank"].with_(mass="m - 0.5")
    problem = kg.Study(model, variables={"m": {"bounds": [0, 2]}}, minimise="reach").problem()
    assert problem.evaluate(problem.start).ok
    failed = problem.evaluate(np.array([0.2]))
    assert failed.status == "failed" and "bodies.crank.mass" in failed.problem
    assert np.isfinite(problem.value(np.array([0.2])))


def test_a_start_that_fails_is_named():
    study = kg.Study(kg.Model.from_yaml(FOUR_BAR), variables={"d": {"bounds": [1, 10], "start": 9.0}}, minimise="reach")
    with pytest.raises(kg.KinegradError, match=r"The start of the study does not work: .*cannot be assembled.* d = 9"):
        study.optimize()


def test_a_case_that_fails_is_named():
    cases = {"short": {}, "long": {"set": {"d": 9.0}}}
    study = kg.Study(kg.Model.from_yaml(FOUR_BAR), cases=cases, variables={"b": {"bounds": [2, 9]}}, minimise="reach")
    with pytest.raises(kg.KinegradError, match=r"does not work: In case 'long': .*cannot be assembled"):
        study.optimize()


def test_the_branch_is_kept():
    """From d = 3 to d = 5.3 and on the linkage stays above the line of its pivots, whatever the poses say."""
    problem = wall().problem()
    near = problem.evaluate(problem.start)
    for d in (4.0, 4.7):
        found = problem.evaluate(problem.variables.scaled(np.array([d, 2.5])))
        assert found.ok
        angle = dict(zip(problem._cases[0][0].system.coordinates, found.positions[""], strict=True))
        before = dict(zip(problem._cases[0][0].system.coordinates, near.positions[""], strict=True))
        assert all(abs(angle[name] - before[name]) < 0.9 for name in angle)


def test_what_follows_an_optimum_stays_on_its_branch(tmp_path):
    """The poses lead to another branch there: motions, stages and a search that goes on from its log do not begin with them."""
    aim = {"a": 0.27929508, "b": 1.05927474, "c": 3.51780987, "d": 3.98898022}
    keys = {
        "variables": {name: {"bounds": [0.2, 6]} for name in aim}, "simulation": {"t_end": 0.05},
        "minimise": "+".join(f"({name} - {value})**2" for name, value in aim.items()) + " + 1e-9*reach",
    }  # fmt: skip
    model = kg.Model.from_yaml(FOUR_BAR)
    poses = kg.simulate(kg.joint(model.with_values(**aim)), t_end=0.05).objectives["reach"]
    found = kg.Study(model, **keys).optimize()
    reach = found.values["reach"]
    assert (
        found.status == "optimum"
        and reach == pytest.approx(-0.0034098, abs=1e-6)
        and poses == pytest.approx(0.0349255, abs=1e-6)
    )
    assert found.motions()[1].objectives["reach"] == pytest.approx(reach, abs=1e-9)
    written = kg.Model.from_yaml_text(found.model.to_yaml())
    assert kg.simulate(kg.joint(written), t_end=0.05).objectives["reach"] == pytest.approx(reach, abs=1e-6)
    assert kg.simulate(kg.natural(written), t_end=0.05).objectives["reach"] == pytest.approx(reach, abs=1e-6)
    assert found.check()[""].gradient.motion.objectives["reach"] == pytest.approx(reach, abs=1e-9)
    assert kg.Study(model, **keys, stages=[{}, {}]).optimize().values["reach"] == pytest.approx(reach, abs=1e-6)

    def stop(evaluations, value, violation):
        if evaluations == 5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kg.Study(model, **keys).optimize(log=tmp_path / "log.jsonl", progress=stop)
    again = kg.Study(model, **keys).optimize(log=tmp_path / "log.jsonl")
    assert again.values["reach"] == pytest.approx(reach, abs=1e-6) and again.outcome.scales == found.outcome.scales


def test_a_jump_ends_the_way():
    """Positions that jump at a half are followed up to there."""
    moves = np.ones(1)
    smooth = follow(lambda part, q: np.array([2.0 * part]), np.zeros(1), moves)
    assert smooth == pytest.approx([2.0])
    with pytest.raises(kg.AssemblyError, match="jumps to another branch") as error:
        follow(lambda part, q: np.array([0.0 if part < 0.5 else 1.0]), np.zeros(1), moves)
    assert error.value.reached == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("coordinates", ["joint", "reference-point", "natural"])
@pytest.mark.parametrize("start", ["dynamics", "kinematics"])
def test_designs_are_assembled_where_a_goal_is_made_of_parameters_alone(start, coordinates):
    """The crank would be longest where the four-bar linkage cannot be assembled."""
    document = kg.Model.from_yaml(FOUR_BAR).to_dict()
    document["simulation"]["coordinates"] = coordinates
    keys = {}
    if start == "kinematics":
        document["drivers"] = {"turn": {"measure": "A.angle", "value": "0.5 + 0.01*t"}}
        document.pop("degrees_of_freedom")
        keys["analysis"] = "kinematics"
    model = kg.Model.from_dict(document)
    study = kg.Study(model, variables={"a": {"bounds": [0.5, 50]}}, minimise="-a", solver="slsqp", **keys)
    found = study.optimize()
    reach = abs(found.variables["a"] * np.exp(0.5j * (np.pi if start == "dynamics" else 1.0)) - 3.0)
    assert found.status == "stalled" and found.failures and 4.9 < reach < 5.0 * (1.0 + 1e-7)
    swept = study.sweep("grid", 5)
    assert swept.failures and np.isnan(swept.goals[-1, 0])
    if coordinates == "joint":
        assert study.multistart(2, seed=1).best is None
