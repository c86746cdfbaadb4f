"""The package as installed: a light import, the public names, a README that says what works."""

import re
import subprocess
import sys
from importlib.metadata import entry_points, version
from pathlib import Path

import pytest

import kinegrad

ROOT = Path(__file__).parents[1]
HEAVY = ["numpy", "numba", "scipy", "sympy", "pydantic", "matplotlib", "typer", "rich", "h5py", "ruamel"]


def test_import_loads_nothing_heavy():
    program = f"import sys, kinegrad; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_every_public_name_loads():
    for name in kinegrad.__all__:
        assert getattr(kinegrad, name) is not None
        assert name in dir(kinegrad)
    with pytest.raises(AttributeError, match="no attribute 'Modell'"):
        kinegrad.Modell  # noqa: B018


def test_version_and_command_are_those_of_the_distribution():
    assert kinegrad.__version__ == version("kinegrad")
    (script,) = entry_points(group="console_scripts", name="kinegrad")
    assert script.load() is __import__("kinegrad.cli").cli.main


def readme_command(name):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (block,) = re.findall(rf"^<!-- command: {name} -->\n```sh\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    return block


@pytest.mark.parametrize(("name", "job"), [("try", "kinegrad demo"), ("test", "python -m pytest")])
def test_readme_commands_are_one_line_each_and_start_from_nothing(name, job):
    command = readme_command(name)
    assert command.count("\n") == 1
    assert command.startswith("python3 -m venv ") and "pip install" in command and job in command


def test_readme_example_is_a_model():
    from kinegrad.coordinates.joint.spanning_tree import spanning_tree
    from kinegrad.model.model import Model

    (block,) = re.findall(r"^```yaml\n(.*?)^```$", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    assert block.count("\n") == 10
    assert spanning_tree(Model.from_yaml_text(block).check()).n_coordinates == 1


PAGES = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]


def test_every_page_is_reached_from_the_start_page():
    start = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    for page in ROOT.glob("docs/**/*.md"):
        assert page.name == "index.md" or f"({page.relative_to(ROOT / 'docs').as_posix()})" in start


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(path):
    for target in re.findall(r"\]\(([^)#]+)[^)]*\)", path.read_text(encoding="utf-8")):
        if not target.startswith("https://"):
            assert (path.parent / target).exists(), f"{path.name} links to {target}"


def test_readme_program_does_what_its_comments_say(tmp_path, monkeypatch):
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    (model,) = re.findall(r"^```yaml\n(.*?)^```$", text, re.M | re.S)
    (program,) = re.findall(r"^```python\n(.*?)^```$", text, re.M | re.S)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "pendulum.yaml").write_text(model)
    names = {}
    exec(program, names)
    assert names["motion"].marker("rod.tip").position.shape == (2001, 3)
    gradient = names["gradient"]
    by_length = names["kg"].gradient(names["motion"], wrt=["L"])["travel", "L"]
    assert gradient["travel", "L"] == pytest.approx(by_length, rel=1e-8)
    assert len(gradient.by_number()["travel"]) > 10 and (tmp_path / "swing.nc").exists()
