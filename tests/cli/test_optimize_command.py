"""``kinegrad optimize``: the contract, the table, the files, and what is refused."""

import json
import shutil
from pathlib import Path

import pytest

from kinegrad.cli.contract import STOPPED

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def slide(tmp_path):
    shutil.copytree(EXAMPLES / "slide", tmp_path / "slide")
    return tmp_path / "slide" / "study.yaml"


def test_optimum(slide, report, command):
    found = report("optimize", slide)
    keys = "status variables values constraints active evaluations failures gradients seconds log".split()
    assert set(keys) <= set(found)
    assert found["status"] == "optimum" and found["values"]["effort"] == pytest.approx(12.0, rel=1e-8)
    assert found["log"] == str(slide.with_suffix(".jsonl")) and slide.with_suffix(".jsonl").exists()
    out, plot = slide.parent / "best.yaml", slide.parent / "course.png"
    code, text, err = command("optimize", slide, "--out", out, "--plot", plot)
    assert (code, err) == (0, "") and "held" in text and "arrives" in text and "equals" in text
    assert plot.stat().st_size > 10_000
    code, text, _ = command("run", out, "--json")
    assert json.loads(text)["objectives"]["x"] == pytest.approx(1.0, abs=1e-9)


def test_a_limit_is_a_negative_verdict(slide, command):
    code, out, err = command("optimize", slide, "--max-evaluations", 3, "--json")
    assert (code, err) == (1, "") and json.loads(out)["status"] == "limit"


def test_bad_input(slide, command):
    code, out, err = command("optimize", slide, "--solver", "ipot")
    assert (code, out) == (2, "") and "which is no solver (did you mean 'ipopt'?)" in err
    slide.write_text(slide.read_text().replace("minimise: effort", "minimise: efort"))
    code, out, err = command("optimize", slide)
    assert code == 2 and err.startswith("line 7: minimise is 'efort'") and "did you mean 'effort'?" in err
    assert not slide.with_suffix(".jsonl").exists()


def test_what_a_study_is_made_of_is_not_overwritten(slide, command):
    """Neither the study, nor its model, nor its data."""
    for name, what in (("study.yaml", "the study"), ("model.yaml", "the model"), ("data.csv", "the data of the study")):
        if name == "data.csv":
            (slide.parent / name).write_text("t,x\n0.5,0.4\n")
            text = slide.read_text()
            text = text[: text.index("minimise:")] + "residuals: {x: {signal: mass.O.x, data: data.csv, values: x}}\n"
            slide.write_text(text)
        before = (slide.parent / name).read_text()
        code, _, err = command("optimize", slide, "--out", slide.parent / name)
        assert code == 2 and f"would overwrite {what}; name another file" in " ".join(err.split())
        assert (slide.parent / name).read_text() == before
    code, _, err = command("optimize", slide, "--log", slide.parent / "a.yaml", "--out", slide.parent / "a.yaml")
    assert code == 2 and "would overwrite the log" in " ".join(err.split()) and not (slide.parent / "a.yaml").exists()


def test_words_for_what_goes_wrong(slide, command):
    code, _, err = command("optimize", slide, "--tolerance", "-1")
    assert code == 2 and err.startswith("solver.tolerance is -1")
    slide.write_text(slide.read_text().replace("minimise: effort", "maximise: effort"))
    code, _, err = command("optimize", slide)
    assert code == 2 and "to make G large, write minimise: -(G)" in " ".join(err.split())


def test_ctrl_c(slide, command, monkeypatch):
    from kinegrad.cli import optimize

    def stop(self, evaluations, value, violation):
        if evaluations == 5:
            raise KeyboardInterrupt

    monkeypatch.setattr(optimize.Course, "__call__", stop)
    code, out, err = command("optimize", slide)
    assert (code, out) == (STOPPED, "") and "the same command goes on from there" in err
    monkeypatch.undo()
    monkeypatch.setenv("KINEGRAD_QUIET", "1")
    code, out, _ = command("optimize", slide, "--json")
    assert code == 0 and json.loads(out)["status"] == "optimum"


def test_many(slide, command, report):
    text = slide.read_text().replace("u: {bounds", '"u[0]": {bounds')
    text = text[: text.index("constraints:")] + "solver: l-bfgs-b\n"
    slide.write_text(text + "multistart: {starts: 3, seed: 1}\n")
    found = report("optimize", slide)
    assert found["status"] == "optimum" and [one["count"] for one in found["optima"]] == [3]
    assert found["variables"]["u[0]"] == pytest.approx(0.0, abs=1e-6)
    code, out, _ = command("optimize", slide)
    assert code == 0 and "3 starts: 1 optima" in out and "3 times" in out
    best, page = slide.parent / "best.yaml", slide.parent / "best.html"
    code, out, _ = command("optimize", slide, "--out", best, "--html", page)
    assert code == 0 and best.exists() and '"report"' in page.read_text()
    assert "The model of the best is in" in out and "The page of the best is in" in out
    code, _, err = command("optimize", slide, "--plot", slide.parent / "x.png")
    assert code == 2 and "--plot does not go with many searches" in err
    slide.write_text(text + 'sweep: {type: monte-carlo, points: 20}\ntolerances: {"u[0]": {sigma: 0.1}}\n')
    code, out, err = command("optimize", slide)
    assert code == 2 and "is the log of another study" in err
    found = report("optimize", slide, "--fresh")
    assert (
        found["points"] == 20
        and found["failures"] == 0
        and found["first_order"]["minimise"] == pytest.approx(0.0, abs=1e-9)
    )
    code, out, _ = command("optimize", slide)
    assert code == 0 and "20 designs, 0 of which do not work." in out and "first-order" in out


def test_options_of_many_runs(slide, command):
    code, _, err = command("optimize", slide, "--workers", 2)
    assert code == 2 and "--workers is for studies with multistart or sweep" in err


def test_before_and_after(command, slide, tmp_path):
    """One page with both motions, and the gradient at the optimum beside differences."""
    page = tmp_path / "both.html"
    code, out, err = command("optimize", slide, "--html", page, "--check", "--json")
    assert (code, err) == (0, "") and json.loads(out)["check"]["all"]["good"]
    assert set(json.loads(out)["sensitivity"]) == {f"u[{k}]" for k in range(8)}
    text = page.read_text()
    assert '"beside"' in text and '"label":"start"' in text.replace('": "', '":"')
