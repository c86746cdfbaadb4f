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


def test_two_searches_do_not_share_a_log(study, tmp_path):
    path = tmp_path / "slide.jsonl"

    def meanwhile(evaluations, value, violation):
        with pytest.raises(kg.KinegradError, match="is being written by another search; wait for it"):
            study.optimize(log=path)

    assert study.optimize(log=path, progress=meanwhile).status == "optimum"
