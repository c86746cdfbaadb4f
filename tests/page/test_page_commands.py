"""Commands that write a page: run, gradient and demo."""

import json

import numpy as np
import pytest
from reading import scene_of

from kinegrad.cli import main

MODEL = """\
kinegrad: 1
title: Pendulum
parameters: {L: 0.5}
design: [L]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod:
    mass: 1
    com: [L/2, 0, 0]
    inertia: [0, 0.1, 0.1]
    markers: {O: [0, 0, 0], tip: [L, 0, 0]}
    shape: {type: mesh, file: rod.obj}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
objectives: {travel: {integral: norm2(rod.tip.velocity)}}
simulation: {t_end: 0.1}
"""


@pytest.fixture
def model(tmp_path, monkeypatch):
    """A model in a folder of its own, beside its mesh; the current folder is another one."""
    (tmp_path / "model").mkdir()
    (tmp_path / "elsewhere").mkdir()
    path = tmp_path / "model" / "pendulum.yaml"
    path.write_text(MODEL)
    (path.parent / "rod.obj").write_text("v 0 0 0\nv 0.5 0.01 0\nv 0.5 -0.01 0\nf 1 2 3\n")
    monkeypatch.chdir(tmp_path / "elsewhere")
    return path


def command(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main([str(a) for a in arguments])
    return exit.value.code, *capsys.readouterr()


def test_run_writes_the_page_with_meshes_from_the_folder_of_the_model(model, capsys, tmp_path):
    code, out, err = command(capsys, "run", model, "--html", "a.html")
    assert (code, err) == (0, "") and "The page is in a.html." in out
    scene = scene_of(tmp_path / "elsewhere" / "a.html")
    assert scene["title"] == "Pendulum" and scene["gradient"] is None
    assert [solid["kind"] for solid in scene["bodies"][1]["solids"]] == ["mesh"]


def test_gradient_writes_its_numbers_into_the_page(model, capsys):
    code, out, _ = command(capsys, "gradient", model, "--html", "a.html", "--json")
    found = scene_of("a.html")["gradient"]
    assert code == 0 and found["method"] == "direct" and found["parameters"] == ["L"]
    np.testing.assert_allclose(found["matrix"], [[json.loads(out)["gradient"]["travel"]["L"]]], rtol=1e-12)
    assert found["certificate"] is found["every"] is None


def test_what_a_gradient_was_compared_with_is_in_the_page(model, capsys):
    code, out, _ = command(capsys, "gradient", model, "--check", "--html", "a.html", "--json")
    found = scene_of("a.html")["gradient"]["certificate"]
    assert code == 0 and found["good"] and found["limits"] == {"entries": 1e-5}
    assert found["numbers"]["entries"] == json.loads(out)["check"]["travel"]["L"]
    code, out, _ = command(capsys, "gradient", model, "--certify", "--html", "b.html", "--json")
    assert scene_of("b.html")["gradient"]["certificate"] == json.loads(out)["certificate"]
    command(capsys, "gradient", model, "--all", "--html", "c.html", "--json")
    every = scene_of("c.html")["gradient"]["every"]
    assert every["count"] >= len(every["paths"]) and "bodies.rod.mass" in every["paths"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--html", "a.png"], ["a.png", ".html"]),
        (["--html", "missing/a.html"], ["missing", "folder"]),
        (["--html", "a.html", "--out", "a.html"], ["--html", "what --out writes"]),
    ],
)
def test_refused_before_anything_runs(model, capsys, options, named, tmp_path):
    code, out, err = command(capsys, "run", model, *options)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert all(text in err for text in named) and list((tmp_path / "elsewhere").iterdir()) == []


def test_a_mesh_that_is_missing_is_told(model, capsys):
    (model.parent / "rod.obj").unlink()
    code, _, err = command(capsys, "run", model, "--html", "a.html")
    assert code == 2 and "bodies.rod.shape.file" in err and "rod.obj" in err and "fault in kinegrad" not in err


def test_the_demo_writes_its_page_beside_the_figure(capsys, tmp_path):
    code, out, _ = command(capsys, "demo", "--plot", tmp_path / "five.png")
    assert code == 0 and "five.html" in "".join(out.split())
    scene = scene_of(tmp_path / "five.html")
    assert scene["count"] == 600 and scene["gradient"]["parameters"] == ["L_s1", "L_s2", "m_A1", "r_G", "L_A1"]
