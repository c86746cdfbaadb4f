"""``kinegrad demo``: the published derivatives of the five-bar, by two methods."""

from pathlib import Path

import kinegrad
from kinegrad.bench.thesis_lines import GRADIENTS
from kinegrad.cli.demo import MODEL

ROOT = Path(__file__).parents[2]


def test_its_model_is_the_example():
    assert MODEL.read_bytes() == (ROOT / "examples/five_bar/model.yaml").read_bytes()
    assert MODEL.is_relative_to(Path(kinegrad.__file__).parent)


def test_all_published_digits_are_met(report, tmp_path):
    found = report("demo", "--plot", tmp_path / "demo.png")
    assert all(all(row.values()) for row in found["agrees"].values())
    for objective, texts in GRADIENTS.items():
        for method in ("direct", "discrete-adjoint"):
            row = found["gradient"][method][objective]
            for text, value in zip(texts, row.values(), strict=True):
                decimals = len(text.partition(".")[2])
                assert f"{value:.{decimals}f}" == text
    assert (tmp_path / "demo.png").read_bytes().startswith(b"\x89PNG")


def test_it_tells_where_the_figure_is(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = command("demo")
    assert (code, err) == (0, "")
    assert "kinegrad_demo.png" in out and out.count("agrees") == 15 and "differs" not in out
    assert "variant 'printed'" in " ".join(out.split())
    assert (tmp_path / "kinegrad_demo.png").exists()
