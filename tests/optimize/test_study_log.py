"""Logs: every evaluation is there, what is finished is not done again, and what is not goes on."""

import json
from pathlib import Path

import pytest

import kinegrad as kg
from kinegrad.optimize import analyses

SLIDE = Path(__file__).parents[2] / "examples" / "slide" / "study.yaml"


@pytest.fixture
def study():
    return kg.Study.from_yaml(SLIDE)


def records(path):
    return [json.loads(line) for line in path.read_text().splitlines() if "torn" not in line]


def test_a_finished_study_is_read(study, tmp_path, monkeypatch):
    path = tmp_path / "slide.jsonl"
    first = study.optimize(log=path)
    kinds = [record["kind"] for record in records(path)]
    assert kinds[0] == "study" and kinds[-1] == "result" and kinds.count("evaluation") == first.evaluations
    assert sum("jacobian" in record for record in records(path)) == first.gradients
    monkeypatch.setattr(analyses.Dynamics, "run", None)  # nothing is simulated again
    again = study.optimize(log=path)
    assert again.to_dict() == first.to_dict()


def test_a_stopped_study_goes_on(study, tmp_path):
    path, calls = tmp_path / "slide.jsonl", []

    def stop(evaluations, value, violation):
        calls.append(evaluations)
        if evaluations == 9:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.optimize(log=path, progress=stop)
    assert calls == list(range(1, 10))
    best = min((r for r in records(path) if r.get("merit")), key=lambda r: r["merit"])
    with path.open("a") as file:
        file.write('{"kind": "evaluation", "torn')
    found, whole = study.optimize(log=path), study.optimize()
    assert found.status == "optimum" and found.values["minimise"] == pytest.approx(12.0, rel=1e-8)
    (again,) = [r["values"] for r in records(path) if r["kind"] == "evaluation" and r["number"] == 1][1:]
    assert again == best["values"] and found.evaluations < 20
    assert found.start == whole.start and found.values_before == pytest.approx(whole.values_before)


def test_logs_of_other_studies(study, tmp_path):
    path = tmp_path / "slide.jsonl"
    study.optimize(log=path, max_evaluations=3)
    with pytest.raises(
        kg.KinegradError, match=r"is the log of another study \('Rest to rest .*begin anew with --fresh"
    ):
        study.optimize("trust-constr", log=path)
    assert study.optimize("trust-constr", log=path, fresh=True).status == "optimum"
    path.write_text("something else\n")
    with pytest.raises(kg.KinegradError, match="is there and is no log of a study"):
        study.optimize(log=path)
    with pytest.raises(kg.KinegradError, match="is there and is no log of a study"):
        study.optimize(log=path, fresh=True)
    assert path.read_text() == "something else\n"
    with pytest.raises(kg.KinegradError, match="cannot be written"):
        study.optimize(log=tmp_path / "no" / "folder.jsonl")


def runs(path):
    return [record["stage"] for record in records(path) if record["kind"] == "evaluation"]


def test_a_search_that_ended_at_a_limit_goes_on_with_a_larger_one(study, tmp_path):
    path = tmp_path / "slide.jsonl"
    few = study.optimize(log=path, max_evaluations=3)
    count = len(runs(path))
    for limit in (3, 2):  # as many are done already
        assert study.optimize(log=path, max_evaluations=limit).to_dict() == few.to_dict()
    best = min((r for r in records(path) if r.get("merit")), key=lambda r: r["merit"])
    found = study.optimize(log=path)
    again = [r["values"] for r in records(path) if r["kind"] == "evaluation"][count]
    assert few.status == "limit" and found.status == "optimum" and again == best["values"]
    assert found.start == few.start and found.values_before == pytest.approx(few.values_before)
    count = len(runs(path))
    assert study.optimize(log=path, max_evaluations=900).to_dict() == found.to_dict() and len(runs(path)) == count


def test_stages_after_one_that_goes_on_begin_where_it_ends(study, tmp_path):
    path, stages = tmp_path / "slide.jsonl", [{"simulation": {"step": "1/14"}}, {}]
    staged = {name: value for name, value in study.to_dict().items() if name != "model"}
    staged = kg.Study.from_dict(staged | {"model": study.model.to_dict(), "stages": stages})
    few = staged.optimize(log=path, max_evaluations=4)
    assert [one.status for one in few.stages] == ["limit", "limit"]
    count = len(runs(path))
    found = staged.optimize(log=path)
    assert found.optimal and set(runs(path)[count:]) == {0, 1} and found.start == few.start
    assert found.stages[1].history[0][1] == pytest.approx(found.stages[0].goals[0], rel=0.01)
    stages[0]["solver"] = {"max_evaluations": 900}
    assert kg.Study.from_dict(staged.to_dict() | {"stages": stages}).optimize(log=path).to_dict() == found.to_dict()


@pytest.mark.parametrize("section", ["multistart", "front"])
def test_searches_among_many_that_ended_at_a_limit_are_done_again(study, section, tmp_path):
    path = tmp_path / "slide.jsonl"
    own = {"multistart": {"multistart": {"starts": 4}, "minimise": "(x - 1)**4 + (v - 1)**2"}}
    own["front"] = {"front": {"goals": ["(x - 1)**2", "effort"], "points": 4, "method": "nsga2"}}
    keys = {"variables": {"u": {"bounds": [-20, 20], "scale": 10}}, **own[section]}
    many = kg.Study(study.model, **keys)
    few = getattr(many.with_solver(max_evaluations=12), section)(log=path)
    found = getattr(many.with_solver(max_evaluations=60), section)(log=path)
    assert found.evaluations > few.evaluations
    assert getattr(many.with_solver(max_evaluations=40), section)(log=path).to_dict() == found.to_dict()
    if section == "multistart":
        assert few.others > 0 and found.others == 0


def test_two_searches_do_not_share_a_log(study, tmp_path):
    path = tmp_path / "slide.jsonl"

    def meanwhile(evaluations, value, violation):
        with pytest.raises(kg.KinegradError, match="is being written by another search; wait for it"):
            study.optimize(log=path)

    assert study.optimize(log=path, progress=meanwhile).status == "optimum"
