"""Model files that are large, endless or no files at all: refused at once, and not repeated in the answer."""

import os
import subprocess
import sys
import threading
import time

import pytest
from bad_models import SOUND, problems_of

from kinegrad import files
from kinegrad.errors import LONGEST, KinegradError, ModelError, Problem
from kinegrad.model.model import Model
from kinegrad.model.parsed import MAX_ANCHORS
from kinegrad.model.values import MOST_TITLE
from kinegrad.page.meshes import read_mesh


@pytest.fixture
def pipe(tmp_path, monkeypatch):
    """A pipe whose two ends are waited for a moment only."""
    monkeypatch.setattr(files, "NOBODY", 0.1)
    monkeypatch.setattr(files, "SILENCE", 0.2)
    os.mkfifo(tmp_path / "pipe.yaml")
    return tmp_path / "pipe.yaml"


def refused(path) -> str:
    with pytest.raises(ModelError) as error:
        Model.from_yaml(path)
    (problem,) = error.value.problems
    return problem.sentence


def test_a_pipe_that_nobody_writes_into(pipe):
    assert refused(pipe) == f"{pipe} cannot be read: nobody writes into this pipe; give the path of a model file."


def test_a_pipe_into_which_somebody_writes_nothing(pipe):
    with pipe.open("r+b", buffering=0):
        assert "nothing came through the pipe for 0.2 s" in refused(pipe)


def test_a_model_through_a_pipe(pipe):
    """In pieces, the first of which comes after a while."""

    def write():
        with pipe.open("w") as file:
            for k in range(0, len(SOUND), 300):
                file.write(SOUND[k : k + 300])
                file.flush()
                time.sleep(0.005)

    writer = threading.Thread(target=write)
    writer.start()
    assert Model.from_yaml(pipe) == Model.from_yaml_text(SOUND)
    writer.join()


def test_devices_that_never_end():
    assert "it has more than 8000000 bytes" in refused("/dev/zero")
    assert "the file is empty" in refused("/dev/null")


def test_meshes_are_read_within_limits(pipe, tmp_path):
    for path, words in (
        (pipe, "nobody writes"),
        ("/dev/zero", "more than 100000000 bytes"),
        (tmp_path / "a\0", "null"),
    ):
        with pytest.raises(KinegradError, match=f"bodies.a.shape.file is .* which cannot be read: .*{words}"):
            read_mesh(tmp_path / path, "bodies.a.shape.file")


HOSTILE = {
    "anchors": "kinegrad: 1\n" + "".join(f"a{k}: &a{k} {k}\n" for k in range(90_000)),
    "aliases": "a: &a 1\nb: [" + "*a," * 390_000 + "]",
    "tag": "a: !" + "x" * 1_900_000 + " 1",
    "tag in a list": "a: [1,!" + "x" * 1_900_000 + " 1]",
    "alias without anchor": "a: *" + "x" * 1_900_000,
    "title": SOUND.replace("Test bench", "x" * 1_900_000),
    "title that is a list": SOUND.replace("Test bench", f"[{'x' * 1_900_000}]"),
    "key": SOUND + '? "' + "k" * 1_900_000 + '"\n: 1\n',
    "name": SOUND.replace("brake:", '? "' + "k" * 1_900_000 + '"\n  :'),
    "expression": SOUND.replace("J: m*L**2/12", "J: " + "1+" * 900_000 + "1"),
    "brackets": SOUND.replace("J: m*L**2/12", "J: " + "(" * 900_000 + ")" * 900_000),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_two_megabytes_of_one_thing(name):
    found = problems_of(HOSTILE[name])
    assert found and all(len(str(problem)) < 2 * LONGEST for problem in found)
    assert sum(len(str(problem)) for problem in found) < 20_000
    for kind, words in (
        ("anchors", "anchors and aliases"),
        ("aliases", "anchors and aliases"),
        ("tag", "a tag of more than"),
    ):
        if name.startswith(kind):
            assert words in found[0].sentence  # before the parser has gone through all of it


def test_what_is_allowed():
    assert not problems_of(SOUND.replace("Test bench", "x" * MOST_TITLE))
    (problem,) = problems_of(SOUND.replace("Test bench", "x" * (MOST_TITLE + 1)))
    assert problem.sentence == f"title has {MOST_TITLE + 1} characters; a title has at most {MOST_TITLE}."
    anchors = SOUND.replace("mass: m\n", "mass: &mass m\n").replace("mass: 1\n", "mass: *mass\n")
    assert Model.from_yaml_text(anchors).bodies["ball"].mass == Model.from_yaml_text(SOUND).bodies["arm"].mass
    many = "a: &a 1\nb: [" + "*a," * MAX_ANCHORS + "]"
    assert "more than 10000 anchors and aliases" in str(problems_of(many)[-1])
    few = "a: &a 1\nb: [" + "*a," * (MAX_ANCHORS - 1) + "]"
    assert not any("anchors" in str(problem) for problem in problems_of(few))


def test_long_sentences_keep_their_beginning_and_their_end():
    problem = Problem("It is " + "x" * 5000 + "; do this.", "y" * 5000)
    assert problem.sentence.startswith("It is x") and problem.sentence.endswith("x; do this.")
    assert len(problem.sentence) < LONGEST + 10 and len(problem.where) < LONGEST / 4 + 10
    assert Problem("Short.").sentence == "Short."


def test_many_problems_are_told_in_part(tmp_path):
    path = tmp_path / "model.yaml"
    path.write_text("kinegrad: 1\nbodies: {" + ", ".join(f"b{k}: 1" for k in range(500)) + "}\n")
    program = "from kinegrad.cli import main; main()"
    done = subprocess.run([sys.executable, "-c", program, "check", str(path)], capture_output=True, text=True)
    lines = done.stderr.splitlines()
    assert done.returncode == 2 and len(lines) == 51 and lines[-1] == "... and 450 problems more; --json gives all."
