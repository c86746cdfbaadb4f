"""What no variable changes, and variables that change nothing: refused where names tell it, else told beside the result."""

import pytest
from pushed_mass import PUSHED_MASS

import kinegrad as kg

#: A mass pushed by a force F is at 2 F after 2 s; T and c are of nothing.
SLIDE = (
    """
kinegrad: 1
title: Push
parameters: {F: 0.2, T: 1, c: 3}"""
    + PUSHED_MASS
)


def study(variables="F", minimise="(x - 1)**2", **keys):
    return kg.Study(
        kg.Model.from_yaml_text(SLIDE), variables=dict.fromkeys(variables.split()), minimise=minimise, **keys
    )


def test_a_constraint_in_fixed_numbers_that_is_violated_is_refused():
    limits = {"a": {"value": "2*c", "at_most": 2}}
    with pytest.raises(kg.ModelError, match=r"constraints\.a is 6 and should be at most 2, and no variable changes it"):
        study(constraints=limits)
    with pytest.raises(kg.ModelError, match=r"is 6 and should be at least 7"):
        study(constraints={"a": {"value": "2*c", "at_least": 7}})
    with pytest.raises(kg.ModelError, match=r"is 6 and should equal 5"):
        study(constraints={"a": {"value": "2*c", "equals": 5}})
    assert study("F c", constraints=limits).optimize().values["x"] == pytest.approx(1.0)
    assert study(constraints={"a": {"value": "c/10", "at_most": 0.3 - 1e-16}}).optimize().status == "optimum"
    assert study(constraints=limits, sweep={"type": "grid", "points": 3}).sweep().failures == 0


def test_an_aim_in_fixed_numbers_is_refused():
    with pytest.raises(kg.ModelError, match=r"minimise is 'c - 1', which no variable changes.* such as 'T'"):
        study("T", "c - 1")
    with pytest.raises(kg.ModelError, match="which no variable changes"):
        study("T", "c - 1", constraints={"a": {"value": "c", "at_most": 4}})
    assert study("T", "c - 1", constraints={"a": {"value": "T", "at_least": 2}}).optimize().variables["T"] >= 2.0


def test_a_variable_that_changes_nothing_is_told(tmp_path):
    found = study("T F").optimize(log=tmp_path / "push.jsonl")
    assert found.remarks == found.to_dict()["remarks"] and found.status == "optimum"
    assert found.remarks[0].startswith("Nothing that is minimised or limited changes with 'T' in the designs tried")
    assert study("T F").optimize(log=tmp_path / "push.jsonl").remarks == found.remarks
    assert "'T'" in study("T", "x").optimize().remarks[0]
    many = study("T F").multistart(2)
    assert many.to_dict()["remarks"] == found.remarks


def test_an_aim_that_no_variable_changes_is_told():
    found = study(minimise="3", constraints={"a": {"value": "x", "at_least": 1}}).optimize()
    assert found.remarks == ["What is minimised, '3', changes with no variable in the designs tried."]


@pytest.mark.parametrize(("variables", "minimise"), [("T", "(T - 1)**2"), ("T F", "(T - 1)**2 + x**2"), ("F", "x**2")])
def test_a_start_where_derivatives_are_zero_is_no_such(variables, minimise):
    assert study(variables, minimise).optimize().remarks == []


def test_the_command_tells_it(tmp_path, optimize):
    path = tmp_path / "study.yaml"
    (tmp_path / "push.yaml").write_text(SLIDE)
    path.write_text("{kinegrad_study: 1, model: push.yaml, variables: {T: {}}, minimise: x}")
    code, out, _ = optimize(path)
    assert code == 0 and "Nothing that is minimised or limited changes with 'T'" in out
    path.write_text("{kinegrad_study: 1, model: push.yaml, variables: {T: {}}, minimise: 3}")
    code, _, err = optimize(path)
    assert code == 2 and "minimise is '3', which no variable changes" in err
