"""Logs: every evaluation is there, what is finished is not done again, and what is not goes on."""

import errno
import json
import os
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
    runs, run = [], analyses.Dynamics.run
    monkeypatch.setattr(analyses.Dynamics, "run", lambda *given: runs.append(1) or run(*given))
    again = study.optimize(log=path)
    assert again.to_dict() == first.to_dict() and len(runs) == 1  # the optimum is computed once more


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


def changed(line, old=False, **outcome):
    """A line of a log with other values in its outcome; `old` ones have no checksum."""
    record = json.loads(line)
    record["outcome"] |= outcome
    if old:
        del record["sum"]
    return json.dumps(record)


@pytest.mark.parametrize("old", [False, True], ids=["with checksums", "without"])
@pytest.mark.parametrize(
    ("outcome", "told"),
    [
        ({"values": [2.5, -8.25]}, r"says .* = .* with .*, and the model gives"),
        ({"values": [1e6, 0.0]}, "outside its bounds|the study has"),
        ({"values": ["x", 0.0]}, r"does not hold at values\[0\]: Input should be a valid number"),
        ({"values": [[[]], 0.0]}, r"does not hold at values\[0\]"),
        ({"goals": [1.0]}, "and the study has"),
        ({"positions": {"": []}}, "has positions of other coordinates than the model"),
        ({"status": 3}, "does not hold at status"),
    ],
    ids=lambda one: next(iter(one)) if isinstance(one, dict) else "",
)
def test_a_line_that_does_not_hold_is_refused(study, tmp_path, outcome, told, old):
    path = tmp_path / "slide.jsonl"
    study.optimize(log=path)
    lines = path.read_text().splitlines()
    if "values" in outcome:
        n = len(json.loads(lines[-1])["outcome"]["values"])
        outcome = {"values": [*outcome["values"], *[0.0] * n][:n]}
    if old:
        lines[:-1] = [json.dumps({k: v for k, v in json.loads(line).items() if k != "sum"}) for line in lines[:-1]]
    path.write_text("\n".join([*lines[:-1], changed(lines[-1], old, **outcome)]) + "\n")
    before = path.read_bytes()
    told = told if old else "was changed since it was written: its checksum does not fit"
    with pytest.raises(kg.KinegradError, match=f"Line {len(lines)} of the log .* {told}.*; remove the line"):
        study.optimize(log=path)
    assert path.read_bytes() == before
    path.write_text("\n".join(lines[:-1]) + "\n")  # as the sentence says; and the log is not held
    assert study.optimize(log=path).status == "optimum"


@pytest.mark.parametrize(
    "line", ["[" * 100_000, '{"kind": ' + "[" * 100_000 + "}", "12", '{"kind": "evaluation"}', "\xff\x00"],
    ids=["brackets", "brackets inside", "a number", "without checksum", "bytes"],
)  # fmt: skip
def test_a_line_that_is_no_record_is_refused_and_the_log_let_go(study, tmp_path, line):
    path = tmp_path / "slide.jsonl"
    study.optimize(log=path, max_evaluations=3)
    whole = path.read_bytes()
    path.write_bytes(whole + line.encode("latin-1") + b"\n")
    for _ in range(2):
        with pytest.raises(kg.KinegradError, match=r"^Line [0-9]+ of the log .* remove the line"):
            study.optimize(log=path)
    path.write_bytes(whole)
    assert study.optimize(log=path).status == "optimum"


@pytest.mark.parametrize("section", ["multistart", "sweep", "limits", "nsga2"])
def test_what_is_read_of_many_searches_and_designs_is_computed_once_more(study, section, tmp_path):
    path = tmp_path / "slide.jsonl"
    keys = {"variables": {"u": {"bounds": [-20, 20], "scale": 10}}, "minimise": "(x - 1)**2 + effort/1000"}
    if section in ("limits", "nsga2"):
        keys = {
            "variables": keys["variables"],
            "front": {"goals": ["(x - 1)**2", "effort"], "points": 4, "method": section},
        }
    many = kg.Study(study.model, **keys).with_solver(max_evaluations=60)
    ask = {
        "multistart": lambda: many.multistart(2, seed=1, log=path),
        "sweep": lambda: many.sweep("sobol", 4, log=path),
    }
    ask = ask.get(section, lambda: many.front(log=path))
    first = ask()
    assert ask().to_dict() == first.to_dict()
    records = []
    for line in path.read_text().splitlines():
        record = {key: value for key, value in json.loads(line).items() if key != "sum"}
        inner = record.get("found", record)
        for one in [*inner.get("outcomes", []), *filter(None, [inner.get("outcome")])]:
            one["goals"][0] -= 0.01 * one["scales"][0]
        for point in inner.get("points", []):
            point[0][0] *= 0.9
        for row in inner.get("rows", []):
            row[1][0] += 1.0
        records.append(json.dumps(record))
    path.write_text("\n".join(records) + "\n")
    with pytest.raises(kg.KinegradError, match=r"^Line [0-9]+ of the log .* says .*, and the model gives"):
        ask()


def test_a_best_design_that_does_not_hold_is_told_where_a_search_goes_on(study, tmp_path):
    path = tmp_path / "slide.jsonl"
    study.optimize(log=path, max_evaluations=3)
    records = [{k: v for k, v in json.loads(line).items() if k != "sum"} for line in path.read_text().splitlines()]
    best = min((r for r in records if r.get("merit")), key=lambda r: r["merit"])
    best["goals"][0] += 1.0
    path.write_text("".join(json.dumps(r) + "\n" for r in records if r["kind"] != "result"))
    with pytest.warns(kg.AccuracyWarning, match="Line [0-9]+ of the log .* says .*, and the model gives"):
        assert study.optimize(log=path).status == "optimum"


def test_short_writes_are_completed(study, tmp_path, monkeypatch):
    path, write = tmp_path / "slide.jsonl", os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, bytes(data)[:100]))
    found = study.optimize(log=path)
    monkeypatch.undo()
    assert study.optimize(log=path).to_dict() == found.to_dict()


def test_a_disk_that_fills_inside_a_record_is_told_and_leaves_no_part_of_it(study, tmp_path, monkeypatch):
    path, write = tmp_path / "slide.jsonl", os.write
    study.optimize(log=path)
    size, whole = path.stat().st_size, path.read_text()
    path.unlink()

    def full(file, data):
        """A disk with room for all but 100 bytes."""
        room = size - 100 - os.fstat(file).st_size
        if room <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(file, bytes(data)[:room])

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(kg.KinegradError, match="cannot be written: No space left on device; what is in it stays good"):
        study.optimize(log=path)
    monkeypatch.undo()
    lines = [json.loads(line)["kind"] for line in path.read_text().splitlines()]
    assert lines == [json.loads(line)["kind"] for line in whole.splitlines()][:-1]
    assert study.optimize(log=path).status == "optimum"
