"""Study files: every problem at once, with its line and a remedy."""

from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

HERE = Path(__file__).parent
HEAD = "kinegrad_study: 1\nmodel: four_bar.yaml\n"
GOOD = HEAD + "variables: {a: {bounds: [0.5, 2]}}\nminimise: reach\n"


def problems(text):
    with pytest.raises(kg.ModelError) as error:
        kg.Study.from_yaml_text(text, HERE)
    return {problem.line: problem.sentence for problem in error.value.problems}


def test_good():
    study = kg.Study.from_yaml_text(GOOD, HERE)
    assert study.plan.variables.labels == ("a",) and study.plan.title == "Four-bar linkage"
    again = kg.Study.from_dict(study.to_dict())
    assert again.fingerprint == study.fingerprint
    assert again.to_dict() == study.to_dict()
    assert kg.Study.from_yaml_text(GOOD + "log: other.jsonl\n", HERE).fingerprint == study.fingerprint
    assert kg.Study.from_yaml_text(GOOD + "solver: tnc\n", HERE).fingerprint != study.fingerprint


def test_all_problems_at_once():
    found = problems(
        HEAD
        + """variables:
  a: {bounds: [2, 1]}
  b: {bounds: [5, 9]}
  q: {}
  d: {scale: -1}
minimise: reech + 1
constraints:
  far: {value: nothing, at_least: 1}
  open: {value: reach}
solver: {type: slsqq}
cases: {one: {set: {zz: 1}}, two: {set: {a: 1}}}
extra: 1
"""
    )
    assert "variables.d.scale is -1; a scale is larger than zero" in found[7]
    assert "'extra' is an unknown key" in found[14]
    assert "constraints.open has no limit; give at_least, at_most or equals" in found[11]
    assert "variables.a.bounds are [2, 1]" in found[4] and "outside its bounds [5, 9]" in found[5]
    assert "There is no parameter 'q'" in found[6] and "'reech' is no objective" in found[8]
    assert "'nothing' is no objective" in found[10] and "'slsqq', which is no solver" in found[12]


def test_solvers_that_do_not_suit():
    """Told with their line, before anything is run, and beside other problems."""
    found = problems(
        HEAD
        + """variables: {a: {bounds: [0.5, 2]}}
minimise: reach
constraints: {far: {value: reach, equals: 1}, open: {value: nothing, at_most: 1}}
solver: {type: l-bfgs-b, hessian: exact}
multistart: {starts: 2, backend: threads, scheduler: local}
"""
    )
    assert "'l-bfgs-b', which takes no constraints such as 'far'; choose from slsqp" in found[6]
    assert "'nothing' is no objective" in found[5] and "a scheduler goes with dask" in found[7]
    kg.Study.from_yaml_text(GOOD + "solver: trust-ncg\nsweep: {type: grid, points: 2}\n", HERE)  # no solver is asked


def test_logarithms_need_positive_bounds():
    found = problems(HEAD + "variables: {a: {bounds: [-1, 2], scale: log}}\nminimise: reach\n")
    assert "'a' may be -1 by its bounds; a logarithm needs" in found[3]


def test_names_are_looked_up():
    found = problems(
        HEAD
        + """variables:
  a: {bounds: [2, 1]}
  b: {bounds: [5, 9]}
  q: {}
minimise: reech + 1
constraints:
  far: {value: nothing, at_least: 1}
solver: {type: slsqq}
cases: {one: {set: {zz: 1}}, two: {set: {c: 1}}}
"""
    )
    assert "variables.a.bounds are [2, 1] for 'a'; exchange the two" in found[4]
    assert "the model has 'b' = 2.5, outside its bounds [5, 9]; give a start within" in found[5]
    assert "There is no parameter 'q'" in found[6]
    assert "'reech' is no objective and no parameter (did you mean 'reach'?); objectives: reach" in found[7]
    assert "constraints.far.value is 'nothing'" in found[9]
    assert "which is no solver (did you mean 'slsqp'?); choose from l-bfgs-b, slsqp" in found[10]
    assert "There is no parameter 'zz'" in found[11]


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("minimise: coupler.P.x", "make it an objective of the model"),
        ("minimise: reach@one", "there is no case 'one'; cases: none"),
        ("analysis: kinetics\nminimise: reach", "'dynamics', 'kinematics' or 'equilibrium' is needed"),
        ("minimise: reach\nsweep: {type: monte-carlo, points: 9}", "needs tolerances"),
        ("minimise: reach\ntolerances: {a: {sigma: 1}}", "need a sweep"),
        ("minimise: reach\nsweep: {type: sobol, points: 9}\ntolerances: {b: {sigma: 1}}", "'b', which does not vary"),
        ("minimise: reach\nsweep: {type: sobol, points: 9}\nmultistart: {starts: 3}", "make two of them"),
        ("minimise: reach\nmultistart: {starts: 3, sampler: latin}", "'sobol' is needed"),
        ("simulation: {step: a/100}\nminimise: reach", "follows the variable 'a'"),
        ("simulation: {stepp: 1}\nminimise: reach", "did you mean 'step'?"),
        ("simulation: {integrator: {type: rk5}}\nminimise: reach", "unknown type 'rk5'"),
        ("variant: other\nminimise: reach", "variant 'other' does not exist"),
        ("cases: {x: {set: {a: 2}}}\nminimise: reach", "gives 'a', which varies"),
        ("cases: {x: {set: {c: 2}}}\nminimise: reach + c", "has another value in case 'x'"),
        ("minimise: {largest_of: [reach]}", "give at least two"),
        ("minimise: reach\nstages: [{solver: {type: tncc}}]", "did you mean 'tnc'?"),
        ("minimise: reach\nsolver: {tolerance: 0}", "a number larger than zero is needed"),
        ("minimise: reach\nsolver: {max_evaluations: 0}", "a whole number from 1"),
        ("minimise: reach\nconstraints: {x: {value: a, at_least: 2, at_most: 1}}", "exchange the two"),
        ("minimise: reach\nconstraints: {x: {value: a, at_least: 2, equals: 1}}", "equals stands alone"),
        ("minimise: reach\nconstraints: {a: {value: reach, at_most: 9}}", "constraints.a has the name of a variable"),
        (
            "minimise: {largest_of: [reach, a]}\nsweep: {type: grid, points: 3}\nconstraints: {reach: {value: a, at_most: 9}}",
            "constraints.reach has the name of one of several goals",
        ),
        ("front: [reach, reach]", "front.goals[1] is 'reach', which stands twice"),
        ("minimise: reach\nsweep: {type: grid, points: 1}", "sweep has points: 1; give at least two"),
        ("minimise: reach\nlog: 3", "log is 3; the name of a file is needed"),
        ('minimise: reach\nlog: "a\\0b"', "the name of a file is needed"),
        ("minimise: reach\nvariant: 3", "variant is 3; a text is needed"),
        (
            "minimise: reach\nsolver: {tolerance: 10}",
            "solver.tolerance is 10, with which nearly every design is an optimum",
        ),
        (
            "minimise: reach\nset: {b: -1}\nsimulation: {step: 0}",
            "simulation.step is 0; give a number larger than zero",
        ),
        ("minimise: reach\nstages: [{}, {simulation: {t_end: -1}}]", "stages[1]: simulation.t_end is -1"),
        ("{}", "not YAML"),
    ],
)
def test_refused(line, sentence):
    found = problems(HEAD + "variables: {a: {}}\n" + line + "\n")
    assert any(sentence in text for text in found.values()), found


def test_a_problem_is_told_once():
    """What a section that cannot be read makes others lack is not told as well."""
    assert list(problems(HEAD + "variables: [a]\nminimise: reach\n").values()) == [
        "variables is ['a']; a mapping from names to values is needed."
    ]
    sweep = "sweep: {type: monte-carlo, points: 9}\ntolerances: {a: {sigma: -1}}\n"
    assert list(problems(GOOD + sweep).values()) == ["tolerances.a.sigma is -1; a number larger than zero is needed."]


def test_numbers_of_cases_are_checked_where_they_stand():
    cases = "cases:\n  a: {}\n  b: {simulation: {step: 0}}\n  c:\n    simulation:\n      t_end: -1\n"
    found = problems(GOOD + cases)
    assert found[7] == "cases.b: simulation.step is 0; give a number larger than zero."
    assert found[9].startswith("cases.c: simulation.t_end is -1")


def test_an_entry_has_one_tolerance():
    """Samples would spread by both, and first order by one."""
    model = kg.Model.from_yaml(HERE.parents[1] / "examples" / "slide" / "model.yaml")
    keys = {"variables": {"u": {}}, "minimise": "effort", "sweep": {"type": "monte-carlo", "points": 9}}
    with pytest.raises(kg.ModelError, match=r"tolerances.u\[1\] is of 'u\[1\]', which has one already"):
        kg.Study(model, **keys, tolerances={"u": {"sigma": 1.0}, "u[1]": {"sigma": 2.0}})


def test_arrays_of_numpy():
    """Where a list may stand, and where a number may."""
    slide = kg.Model.from_yaml(HERE.parents[1] / "examples" / "slide" / "model.yaml")
    low, high, one = -np.arange(1.0, 9.0), np.float64(9.0), np.ones(8)
    study = kg.Study(
        slide,
        variables={"u": {"bounds": np.array([low, high + 0 * low]), "start": 0.5 * one, "scale": 2 * one}},
        minimise="effort",
    )
    found = study.plan.variables
    assert found.lower.tolist() == low.tolist() and found.upper.tolist() == [9.0] * 8
    assert found.start.tolist() == [0.5] * 8 and found.scale.tolist() == [2.0] * 8
    data = {"signal": "mass.O.x", "t": np.array([0.5, 1.0]), "values": np.zeros(2), "sigma": np.float64(0.1)}
    assert kg.Study(slide, variables={"u": {}}, residuals={"x": data}).plan.residuals[0].sigma.tolist() == [0.1, 0.1]
    assert (
        kg.Study(
            slide, variables={"u": {}}, minimise="x", solver={"max_evaluations": np.int64(9)}
        ).plan.solver.max_evaluations
        == 9
    )
    with pytest.raises(kg.ModelError, match=r"model is 'model.yaml'; give a kg\.Model"):
        kg.Study("model.yaml", variables={"u": {}}, minimise="effort")


def test_derived_parameters_do_not_vary():
    model = kg.Model.from_yaml(HERE / "four_bar.yaml")
    model.parameters["twice"] = "2*a"
    with pytest.raises(kg.ModelError, match=r"variables.twice is derived from other parameters .*; vary those"):
        kg.Study(model, variables={"twice": {}}, minimise="reach")


def test_files_that_are_none(tmp_path):
    with pytest.raises(kg.ModelError, match=r"cannot be read: .*; give the path of a study file"):
        kg.Study.from_yaml(tmp_path / "nothing.yaml")
    with pytest.raises(kg.ModelError, match="this is a model file"):
        kg.Study.from_yaml(HERE / "four_bar.yaml")
    (tmp_path / "study.yaml").write_text(GOOD)
    with pytest.raises(kg.ModelError, match=r"line 2: model four_bar.yaml: .*four_bar.yaml cannot be read"):
        kg.Study.from_yaml(tmp_path / "study.yaml")


def test_lists_and_entries():
    slide = Path(__file__).parents[2] / "examples" / "slide" / "model.yaml"
    model = kg.Model.from_yaml(slide)
    study = kg.Study(model, variables={"u[0]": {"bounds": [0, 9]}, "u[3]": {"bounds": [None, 4]}}, minimise="effort")
    assert study.plan.variables.named([1.0, 2.0]) == {"u[0]": 1.0, "u[3]": 2.0}
    first = kg.Study(model, variables={"u[0]": {}}, minimise="effort + 0*x")
    assert first.plan.variables.named([1.0]) == {"u[0]": 1.0}
    with pytest.raises(kg.ModelError, match="varies 'u\\[0\\]', which varies already"):
        kg.Study(model, variables={"u": {}, "u[0]": {}}, minimise="effort")
    with pytest.raises(kg.ModelError, match=r"variables.u.bounds\[0\] has 2 entries, and the parameter has 8"):
        kg.Study(model, variables={"u": {"bounds": [[1, 2], 3]}}, minimise="effort")
    study = kg.Study(model, variables={"u": {"bounds": [[-1.0] * 8, None], "start": 0.5}}, minimise="effort")
    assert study.plan.variables.lower.tolist() == [-1.0] * 8 and study.plan.variables.start.tolist() == [0.5] * 8


@pytest.mark.parametrize(
    "text", ["u" * 100_000, "(" * 100_000, "u" * 9_000, "+".join(["u"] * 4_000)], ids=lambda t: f"{t[:3]}{len(t)}"
)
@pytest.mark.parametrize("place", ["minimise", "bounds", "constraint"])
def test_texts_of_any_length_come_to_an_end(place, text):
    model = kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / "slide" / "model.yaml")
    keys = {"variables": {"u": {}}, "minimise": "effort"}
    change = {"minimise": {"minimise": text}, "bounds": {"variables": {"u": {"bounds": [text, None]}}}}
    change["constraint"] = {"constraints": {"c": {"value": text, "at_most": 1}}}
    with pytest.raises(kg.ModelError):
        kg.Study(model, **keys | change[place])
