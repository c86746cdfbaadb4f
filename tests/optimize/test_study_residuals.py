"""Measured signals: residuals with their Jacobian, least squares, and what the data determine."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.optimize.estimates import estimates
from kinegrad.optimize.residuals import stencil

EXAMPLES = Path(__file__).parents[2] / "examples"
PUSHED = """
kinegrad: 1
parameters: {F: 0.5, G: 0.0, x0: 0.0, m: 1.0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: m, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
forces: {push: {type: force, acts_on: slide.distance, value: F + G}}
degrees_of_freedom: {slide.distance: {position: x0}}
objectives: {end: {final: mass.O.x}}
simulation: {t_end: 2, step: 0.1, formulation: {type: index1}, integrator: {type: rk4}}
"""
TIMES = np.array([0.0, 0.04, 0.1, 0.55, 0.73, 1.2, 1.61, 1.97, 2.0])


def pushed(noise=0.0, **keys):
    """Data of F = 1.5 and x0 = 0.2."""
    values = 0.2 + 0.75 * TIMES**2 + noise * np.cos(37.0 * TIMES)
    residuals = {"x": {"signal": "mass.O.x", "t": TIMES, "values": values} | keys.pop("how", {})}
    variables = keys.pop("variables", {"F": {"bounds": [0, 4]}, "x0": {"bounds": [-1, 1], "scale": 1}})
    return kg.Study(kg.Model.from_yaml_text(PUSHED), variables=variables, residuals=residuals, **keys)


def test_interpolation_is_exact_for_cubics():
    ts = np.linspace(0.0, 2.0, 21)
    rows, weights = stencil(ts, TIMES)
    y = 1.0 - ts + 3.0 * ts**2 - 2.0 * ts**3
    found = (weights * y[rows]).sum(axis=1)
    assert found == pytest.approx(1.0 - TIMES + 3.0 * TIMES**2 - 2.0 * TIMES**3, abs=1e-14)
    at_nodes = [0, 2, 5, 8]
    assert (np.sort(weights[at_nodes], axis=1)[:, :-1] == 0.0).all()  # times of the run take its own values


def test_two_instants_are_enough():
    rows, weights = stencil(np.array([0.0, 1.0]), np.array([0.25]))
    assert rows.tolist() == [[0, 1]] and weights == pytest.approx(np.array([[0.75, 0.25]]))


def test_parameters_are_found():
    found = pushed().optimize()
    assert found.outcome.solver == "least-squares" and found.status == "optimum"
    assert found.variables == pytest.approx({"F": 1.5, "x0": 0.2}, abs=1e-9)
    assert found.values["minimise"] < 1e-18 and found.evaluations < 10


@pytest.mark.parametrize("sigma", [None, 0.02, np.linspace(0.01, 0.03, len(TIMES))])
def test_covariance_in_closed_form(sigma):
    """x = x0 + F t²/2 is linear in both: the covariance is s² (AᵀA)⁻¹, with the deviations that are known or their estimate."""
    found = pushed(0.02, how={} if sigma is None else {"sigma": sigma}).optimize()
    divisor = np.ones(len(TIMES)) if sigma is None else np.broadcast_to(sigma, TIMES.shape)
    A = np.column_stack([0.5 * TIMES**2, np.ones(len(TIMES))]) / divisor[:, None]
    b = (0.2 + 0.75 * TIMES**2 + 0.02 * np.cos(37.0 * TIMES)) / divisor
    best, squares, *_ = np.linalg.lstsq(A, b)
    factor = squares[0] / (len(TIMES) - 2) if sigma is None else 1.0
    estimates = found.estimates
    assert estimates.labels == ["F", "x0"] and estimates.values == pytest.approx(best, rel=1e-8)
    assert np.array(estimates.covariance) == pytest.approx(factor * np.linalg.inv(A.T @ A), rel=1e-7)
    assert estimates.rms == pytest.approx(np.sqrt(squares[0] / len(TIMES)), rel=1e-8)
    width = 1.959964 if sigma is not None else 2.364624  # quantiles of the normal and, with 7 freedoms, of t
    assert estimates.high[0] - best[0] == pytest.approx(width * estimates.deviations[0], rel=1e-6)
    assert np.diag(estimates.correlation) == pytest.approx(1.0)


def test_what_cannot_be_told_apart():
    """Two forces that only act together."""
    found = pushed(
        variables={"F": {"bounds": [0, 4]}, "G": {"bounds": [-1, 4], "scale": 1}, "x0": {"scale": 1}}
    ).optimize()
    assert found.status == "optimum" and sum(found.variables[k] for k in "FG") == pytest.approx(1.5, abs=1e-8)
    assert found.estimates.undetermined == ["F", "G"] and found.estimates.covariance == []


def test_a_bound_that_holds_is_no_estimate():
    found = pushed(variables={"F": {"bounds": [0, 1]}, "x0": {"scale": 1}}).optimize()
    assert found.status == "optimum" and found.active == {"F": "upper"} and found.multipliers["F"] < 0.0
    assert found.estimates.labels == ["x0"]


@pytest.mark.parametrize("solver", ["slsqp", "l-bfgs-b"])
def test_other_solvers_take_the_sum_of_squares(solver):
    found = pushed().optimize(solver)
    assert found.status == "optimum" and found.variables == pytest.approx({"F": 1.5, "x0": 0.2}, abs=1e-5)


def test_constraints_beside_residuals():
    """The end held at 3: F = (3 - x0)/2."""
    study = pushed(constraints={"there": {"value": "end", "equals": 3}})
    found = study.optimize()
    assert found.outcome.solver == "slsqp" and found.status == "optimum"
    assert found.constraints["there"] == pytest.approx(3.0, abs=1e-9)
    with pytest.raises(kg.KinegradError, match="'least-squares', which takes no constraints"):
        study.optimize("least-squares")


def test_cases_have_their_own_data():
    """A mass of 1 and one of 2, of which each was measured."""
    t = [0.5, 1.0, 2.0]
    residuals = {
        f"of_{case}": {"signal": "mass.O.x", "t": t, "values": [0.75 * x * x / m for x in t], "case": case}
        for case, m in (("light", 1.0), ("heavy", 2.0))
    }
    keys = {"variables": {"F": {"bounds": [0, 4]}}, "cases": {"light": {}, "heavy": {"set": {"m": 2}}}}
    study = kg.Study(kg.Model.from_yaml_text(PUSHED), residuals=residuals, **keys)
    found = study.optimize()
    assert found.variables["F"] == pytest.approx(1.5, abs=1e-9) and found.estimates.count == 6
    del residuals["of_heavy"]["case"]
    with pytest.raises(
        kg.ModelError, match=r"residuals.of_heavy names no case, and the study has cases; .*light, heavy"
    ):
        kg.Study(kg.Model.from_yaml_text(PUSHED), residuals=residuals, **keys)


def test_stages_use_what_is_within_their_run():
    study = pushed(stages=[{"simulation": {"t_end": 1}}, {"simulation": {"t_end": 2}}])
    assert [sum(map(len, plan.residuals)) for plan in study.plans] == [5, 9]
    assert study.optimize().variables == pytest.approx({"F": 1.5, "x0": 0.2}, abs=1e-9)


def test_a_study_travels_with_its_data(tmp_path):
    (tmp_path / "data.csv").write_text("t,mass.O.x\n0.5,0.4\n1.0,1.0\n")
    (tmp_path / "model.yaml").write_text(PUSHED)
    (tmp_path / "study.yaml").write_text(
        "kinegrad_study: 1\nmodel: model.yaml\nvariables: {F: {bounds: [0, 4]}}\n"
        "residuals: {x: {signal: mass.O.x, data: data.csv}}\n"
    )
    study = kg.Study.from_yaml(tmp_path / "study.yaml")
    again = kg.Study.from_dict(json.loads(json.dumps(study.to_dict())))
    assert again.fingerprint == study.fingerprint and again.plan.residuals[0].values.tolist() == [0.4, 1.0]


JACOBIANS = {
    "dynamics": ("studies/five_bar_identification/study.yaml", 1e-6),
    "kinematics": ("studies/four_bar_synthesis/study.yaml", 1e-7),
}


@pytest.mark.parametrize("analysis", JACOBIANS)
def test_jacobian_beside_differences(analysis):
    name, close = JACOBIANS[analysis]
    problem = kg.Study.from_yaml(EXAMPLES / name).problem()
    assert problem.plan.analysis == analysis
    J = problem.residual_jacobian(problem.start)
    h, scale = 1e-5, np.abs(J).max()
    for k in range(problem.n):
        e = h * np.eye(problem.n)[k]
        by_differences = (problem.residuals(problem.start + e) - problem.residuals(problem.start - e)) / (2.0 * h)
        assert np.abs(J[:, k] - by_differences).max() < close * scale
    r = problem.residuals(problem.start)
    assert problem.gradient(problem.start) == pytest.approx(r @ J, rel=1e-12)
    assert problem.value(problem.start) == pytest.approx(0.5 * r @ r, rel=1e-12)


@pytest.mark.parametrize("analysis", JACOBIANS)
def test_what_is_prepared_serves_every_design(analysis):
    """Residuals and their derivatives of one problem, at designs in turn, beside those of a problem made for each."""
    study = kg.Study.from_yaml(EXAMPLES / JACOBIANS[analysis][0])
    problem = study.problem()
    for part in (0.0, 0.01, -0.02, 0.01):
        x = problem.start * (1.0 + part * np.cos(np.arange(problem.n)))
        fresh = kg.Study.from_dict(study.to_dict()).problem()
        r, J = fresh.residuals(x), fresh.residual_jacobian(x)
        assert np.abs(problem.residuals(x) - r).max() < 1e-11 * np.abs(r).max()
        assert np.abs(problem.residual_jacobian(x) - J).max() < 1e-10 * np.abs(J).max()


def test_five_bar_identified(tmp_path, optimize):
    """True values within three deviations, and the command tells the same."""
    path = EXAMPLES / "studies" / "five_bar_identification" / "study.yaml"
    code, out, err = optimize(path, "--log", tmp_path / "log.jsonl", "--json")
    assert code == 0, err
    found = json.loads(out)
    true = {"L_s1": 2.2, "L_s2": 2.1, "m_A1": 1.1, "r_G": 0.75}
    fit = found["estimates"]
    for label, value, deviation in zip(fit["labels"], fit["values"], fit["deviations"], strict=True):
        assert abs(value - true[label]) < 3.0 * deviation, label
    assert fit["count"] == 120 and 0.8 < fit["rms"] < 1.2 and found["evaluations"] < 15


def test_the_command_tells_what_a_bound_holds(tmp_path, optimize):
    (tmp_path / "model.yaml").write_text(PUSHED)
    (tmp_path / "study.yaml").write_text(
        "kinegrad_study: 1\nmodel: model.yaml\nvariables: {F: {bounds: [0, 1]}}\n"
        "residuals: {x: {signal: mass.O.x, t: [1, 2], values: [5, 9]}}\n"
    )
    code, out, err = optimize(tmp_path / "study.yaml")
    assert code == 0 and "Held by a bound and not estimated: F." in out and "intervals" not in out, err


REFUSED = {
    "signal: mass.O.q, t: [1], values: [1]": "There is no signal 'mass.O.q'",
    "signal: mass.O.position, t: [1], values: [1]": "is a vector; name one of",
    "signal: slide.reaction.force.x, t: [1], values: [1]": "of which no residual can be made",
    "signal: mass.O.x, t: [1, 3], values: [1, 1]": "has data at t = 3 s, and the run is from 0 to 2 s",
    "signal: mass.O.x, t: [-1, 1], values: [1, 1]": "has data at t = -1 s, and the run is from 0 to 2 s",
    "signal: mass.O.x, t: [1, 1], values: [1, 1]": "times have to increase",
    "signal: mass.O.x, t: [1, 2], values: [1]": "has 2 times and 1 values",
    "signal: mass.O.x, t: [1, 2], values: [1, 1], sigma: [1]": "has 2 times and 1 entries of sigma",
    "signal: mass.O.x, t: [1, 2], values: [1, 1], sigma: 0": "a standard deviation is larger than zero",
    "signal: mass.O.x, t: [], values: []": "has no data",
    "signal: mass.O.x": "has no numbers for t",
    "signal: mass.O.x, t: [1], values: [1], case: odd": "is of the case 'odd', which is not there",
    "signal: mass.O.x, data: none.csv": "cannot be read: No such file or directory; give its path seen from the study",
    "signal: mass.O.x, data: data.csv": "has no column 'mass.O.x'; its columns: t, x, s",
    "signal: mass.O.x, data: data.csv, values: x, t: time": "has no column 'time'",
    "signal: mass.O.x, data: data.csv, values: s": "whose line 3 has 'wide' in the column 's'",
    "signal: mass.O.x, data: data.csv, values: x, missing: drop": "has missing: 'drop'; choose refuse or skip",
    "signal: mass.O.x, t: [1], values: [1], missing: skip": "has missing: skip and no data",
    "signal: mass.O.x, data: data.csv, values: [1]": "name the column there, or leave data out",
}


@pytest.mark.parametrize("line", REFUSED)
def test_refused(line, tmp_path, optimize):
    (tmp_path / "data.csv").write_text("t,x,s\n0.5,0.4,0.1\n1.0,1.0,wide\n")
    (tmp_path / "model.yaml").write_text(PUSHED)
    (tmp_path / "study.yaml").write_text(
        f"kinegrad_study: 1\nmodel: model.yaml\nvariables: {{F: {{bounds: [0, 4]}}}}\nresiduals:\n  x: {{{line}}}\n"
    )
    code, _, err = optimize(tmp_path / "study.yaml")
    said = " ".join(err.split())
    assert code == 2 and REFUSED[line] in said and "residuals.x" in said, said


def test_lines_without_a_number_are_left_out_where_asked(tmp_path):
    """Two sensors in one file, each with gaps of its own."""
    (tmp_path / "data.csv").write_text("t,a,b\n0.5,0.4,\n1.0,1.0,2.0\n1.2,NaN,3.0\n,7,7\n1.5,2.0\n")
    (tmp_path / "model.yaml").write_text(PUSHED)
    text = (
        "kinegrad_study: 1\nmodel: model.yaml\nvariables: {F: {bounds: [0, 4]}}\nresiduals:\n"
        "  a: {signal: mass.O.x, data: data.csv, values: a, missing: skip}\n"
        "  b: {signal: mass.O.x, data: data.csv, values: b, missing: skip}\n"
    )
    (tmp_path / "study.yaml").write_text(text)
    study = kg.Study.from_yaml(tmp_path / "study.yaml")
    a, b = study.plan.residuals
    assert (a.t.tolist(), a.values.tolist()) == ([0.5, 1.0, 1.5], [0.4, 1.0, 2.0])
    assert (b.t.tolist(), b.values.tolist()) == ([1.0, 1.2], [2.0, 3.0])
    again = kg.Study.from_dict(json.loads(json.dumps(study.to_dict())))
    assert again.fingerprint == study.fingerprint
    (tmp_path / "study.yaml").write_text(text.replace("skip", "refuse"))
    with pytest.raises(
        kg.ModelError, match="line 2 has no number in the column 'b'; fill it, remove the line, or add missing: skip"
    ):
        kg.Study.from_yaml(tmp_path / "study.yaml")


def test_what_does_not_go_together():
    model = kg.Model.from_yaml_text(PUSHED)
    one = {"x": {"signal": "mass.O.x", "t": [1.0], "values": [1.0]}}
    with pytest.raises(kg.ModelError, match="has minimise and residuals; keep one"):
        kg.Study(model, variables={"F": {}}, residuals=one, minimise="end")
    with pytest.raises(kg.ModelError, match="has nothing that shall be small"):
        kg.Study(model, variables={"F": {}})
    with pytest.raises(kg.ModelError, match="an equilibrium has none"):
        kg.Study(model, variables={"F": {}}, residuals=one, analysis="equilibrium")
    with pytest.raises(kg.ModelError, match=r"residuals\.b has no sigma"):
        kg.Study(model, variables={"F": {}}, residuals={"a": one["x"] | {"sigma": 1.0}, "b": one["x"]})
    with pytest.raises(kg.KinegradError, match="'least-squares', which is for studies with residuals"):
        kg.Study(model, variables={"F": {}}, minimise="end**2").optimize("least-squares")


@pytest.mark.parametrize("data", [3, 40])
@pytest.mark.parametrize("seed", range(6))
def test_all_parts_of_an_undetermined_direction_are_named(seed, data):
    """Jacobians with a known null space, whose parts are of very different sizes."""
    rng = np.random.default_rng(seed)
    free, part = 3, 10.0 ** rng.uniform(-5.0, 0.0, 4)  # of the parameters 2 to 5, in units of their columns
    strong = rng.normal(size=(data, free + 2))
    last = -(strong[:, 2:] * part[:3]) @ np.ones(3) / part[3]
    J = np.column_stack([strong, last]) * 10.0 ** rng.uniform(-8.0, 8.0, 6)
    order = rng.permutation(6)
    labels = [f"p{k}" for k in order]
    found = estimates(labels, np.ones(6), np.zeros(6, bool), rng.normal(size=data), J[:, order], True)
    expected = {"p2", "p3", "p4", "p5"} if data > 5 else {f"p{k}" for k in range(6)}
    assert set(found.undetermined) == expected and found.deviations == [None] * 6


@pytest.mark.parametrize("bounded", [True, False])
def test_parameters_that_scale_a_motion_alike_are_all_named(bounded):
    """A force, a stiffness, a damping and a mass; and an angle of the start, which the data determine."""
    model = kg.Model.from_yaml_text("""
kinegrad: 1
parameters: {u: 1.0, m: 1.0, k: 5.0, c: 0.3, v: 1.0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {b: {mass: m, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {s: {type: prismatic, between: [ground.O, b.O], axis: [1, 0, 0]}}
forces:
  push: {type: force, acts_on: s.distance, value: u}
  spring: {type: spring, acts_on: s.distance, stiffness: k, damping: c}
degrees_of_freedom: {s.distance: {position: 0, velocity: v}}
simulation: {t_end: 1, step: 0.01, formulation: {type: index1}, integrator: {type: rk4}}
""")
    times = [0.1 * i for i in range(1, 10)]
    data = kg.simulate(kg.joint(model.with_values(k=7.3, c=0.55)))
    values = [float(data["b.O.x"][round(100 * t)]) for t in times]
    for names in ("kcmu", "kcmuv"):
        variables = {n: {"bounds": [0.01, 30]} if bounded else {} for n in names}
        residuals = {"r": {"signal": "b.O.x", "t": times, "values": values, "sigma": 1e-3}}
        found = kg.Study(model, variables=variables, residuals=residuals).optimize().estimates
        assert sorted(found.undetermined) == ["c", "k", "m", "u"]
