"""Pages keep up with the program: public names, formulations and integrators, pictures and examples."""

import importlib.util
import re
from pathlib import Path

import pytest

import kinegrad as kg
from kinegrad.dynamics.schemes import SCHEMES
from kinegrad.model.constraints import CONSTRAINTS
from kinegrad.model.forces import FORCES
from kinegrad.model.joints import JOINTS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PICTURES = DOCS / "pictures"


@pytest.fixture(autouse=True)
def scripts(monkeypatch):
    monkeypatch.syspath_prepend(str(PICTURES))


def script(name):
    """A script of the pictures, whatever other modules are called."""
    spec = importlib.util.spec_from_file_location(f"pictures_{name}", PICTURES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def text(name):
    return (DOCS / name).read_text(encoding="utf-8")


def test_the_reference_lists_public_names():
    """Those it does not list are added by docs/extensions/reference.py when the site is built."""
    named = re.findall(r"auto\w+:: kinegrad\.(\w+)", text("api.md"))
    assert len(named) > 50 and set(named) <= set(kg.__all__)


def test_the_table_of_combinations_has_all_there_are():
    table = re.search(r"^## Which goes with which\n\n(.*?)\n\n", text("choosing.md"), re.MULTILINE | re.DOTALL)[1]
    head, _, *rows = ([cell.strip(" `") for cell in line.strip("|").split("|")] for line in table.splitlines())
    said = {(row[0], integrator) for row in rows for integrator, mark in zip(head[1:], row[1:], strict=True) if mark}
    assert set(SCHEMES) <= said
    assert not {pair for pair in said if pair[0] == "ali3p" and pair[1].startswith("rk")}


@pytest.mark.parametrize(
    ("page", "kinds"), [("joints", JOINTS), ("forces", FORCES), ("constraints", CONSTRAINTS)], ids=lambda x: str(x)[:8]
)
def test_every_kind_of_element_has_a_snippet(page, kinds):
    assert set(kinds) <= set(re.findall(r"type: ([\w-]+)", text(f"modelling/{page}.md")))


def test_pictures_are_what_their_script_draws(tmp_path):
    elements = script("elements")
    elements.write(tmp_path)
    for path in sorted(tmp_path.iterdir()):
        assert (PICTURES / path.name).read_text(encoding="utf-8") == path.read_text(encoding="utf-8"), path.name
    shown = {name for page in (DOCS / "modelling").glob("*.md") for name in re.findall(r"(\w+)\.svg", page.read_text())}
    assert shown == set(elements.PICTURES)


def test_pictures_of_natural_coordinates_are_what_their_script_draws(tmp_path):
    natural = script("natural")
    natural.write(tmp_path)
    for name in natural.PICTURES:
        assert (PICTURES / f"{name}.svg").read_text(encoding="utf-8") == (tmp_path / f"{name}.svg").read_text(
            encoding="utf-8"
        )
    assert set(re.findall(r"(\w+)\.svg", text("natural_coordinates.md"))) == set(natural.PICTURES)


def test_the_gallery_shows_every_example():
    import gallery

    assert text("gallery.md") == gallery.page(), "run docs/pictures/gallery.py"
    for path in gallery.examples():
        assert (PICTURES / f"example_{path.parent.name}.svg").is_file()


def test_the_gallery_shows_every_study():
    import study_gallery

    assert text("studies.md") == study_gallery.page(), "run docs/pictures/study_gallery.py"
    files = {str(path.relative_to(ROOT / "examples")) for path in (ROOT / "examples").glob("**/study.yaml")}
    assert files == {file for file, _ in study_gallery.STUDIES.values()}
    for name in study_gallery.STUDIES:
        assert (PICTURES / f"study_{name}.png").is_file()
