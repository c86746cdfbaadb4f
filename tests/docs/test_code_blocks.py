"""Every code block of the README and of the documentation does what the page says.

A comment before a block tells what it is for:

``<!-- file: NAME -->``       the block is a file, written to the folder in which the page runs
``<!-- model: NAME -->``      YAML: a model that later blocks of the page add to
``<!-- adds to: NAME -->``    YAML: sections that are merged into that model, entry by entry (the last model by default)
``<!-- not run: REASON -->``  the block is not run
``<!-- command: NAME -->``    continuous integration runs it (.ci/run)

Python blocks of a page share a namespace; lines of shell blocks are commands of kinegrad. In the folder there is a
`model.yaml` for pages that speak of any model, the examples, and PRELUDES has the names that such pages take as given.
"""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.model.documents import load

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"(?:^<!-- ([a-z ]+): (.*?) -->\n)?^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LANGUAGES = {"yaml", "python", "sh", "json", "text", "matlab"}
MOST_NOT_RUN = 8
SERVERS = {"view"}  # commands that wait for a browser: their options are read, and no more
STEPS = 3  # that each model of the modelling pages moves


MODEL = """\
kinegrad: 1
title: Pendulum
parameters: {m: 2.0, L: 0.5, drag: 0.1}
design: [m, L]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: m, com: [L/2, 0, 0], inertia: [0, m*L**2/12, m*L**2/12], markers: {O: [0, 0, 0], tip: [L, 0, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {hinge.angle: {position: -pi/4, velocity: 0}}
objectives: {travel: {integral: norm2(rod.tip.velocity)}}
simulation: {t_end: 0.05}
"""
PRELUDES = {
    "docs/functions.md": "import kinegrad as kg; model = kg.Model.from_yaml('model.yaml')",
    "docs/page.md": (
        "import kinegrad as kg; motion = kg.simulate(kg.joint(kg.Model.from_yaml('model.yaml')))\n"
        "gradient = kg.gradient(motion)"
    ),
}


@dataclass(frozen=True)
class Block:
    """A block of a page with the comment before it."""

    key: str
    value: str
    language: str
    text: str
    line: int


def blocks(page):
    """The blocks of a page, without directives of the site."""
    text = page.read_text(encoding="utf-8")
    found = (
        Block(m[1] or "", m[2] or "", m[3].strip(), m[4], text[: m.start()].count("\n") + 1)
        for m in BLOCK.finditer(text)
    )
    return [block for block in found if not block.language.startswith("{")]


def name(page):
    return page.relative_to(ROOT).as_posix()


def merged(base, part):
    """A document with the entries of `part` added or replaced; null takes a section away."""
    out = dict(base)
    for key, value in part.items():
        if value is None:
            out.pop(key, None)
        else:
            out[key] = {**base.get(key, {}), **value} if isinstance(value, dict) else value
    return out


class Runner:
    """Runs the blocks of a page, in order."""

    def __init__(self, page):
        self.moves = page.parent.name == "modelling"
        self.names = {"__name__": "page"}
        self.models = {}

    def yaml(self, block):
        document = load(block.text)[0]
        if "kinegrad_study" in document:
            kg.Study.from_yaml_text(block.text)
            return
        if "kinegrad" in document:
            self.models[block.value if block.key == "model" else "last"] = document
            if block.key == "model":
                return
        else:
            base = self.models.get(block.value if block.key == "adds to" else "last")
            document = merged(base or {"kinegrad": 1, "bodies": {"some": {"mass": 1}}}, document)
        model = kg.Model.from_dict(document).check()
        if self.moves:
            try:
                system = kg.joint(model)
            except kg.ModelError as error:  # what the program itself calls a matter of time is only read
                assert "cannot move yet" in str(error)
                return
            motion = kg.simulate(system, t_end=STEPS * 1e-3, step=1e-3)
            assert len(motion.hs) == STEPS and motion.constraint_violation[:, 0].max(initial=0.0) < 1e-9

    def python(self, block):
        exec(compile(block.text, f"block in line {block.line}", "exec"), self.names)

    def sh(self, block):
        for line in block.text.splitlines():
            words = shlex.split(line, comments=True)
            if not words:
                continue
            assert words[0] == "kinegrad", f"{line!r} is no command of kinegrad; mark the block as not run"
            if ">" in words:
                words = words[: words.index(">")]
            if words[1] in SERVERS:
                words.append("--help")
            with pytest.raises(SystemExit) as exit:
                main(words[1:])
            assert exit.value.code == 0, line

    def json(self, block):
        json.loads(block.text)


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page)], ids=name)
def test_blocks(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KINEGRAD_QUIET", "1")
    Path("model.yaml").write_text(MODEL, encoding="utf-8")
    Path("examples").symlink_to(ROOT / "examples")
    runner = Runner(page)
    exec(PRELUDES.get(name(page), ""), runner.names)
    for block in blocks(page):
        known = {*LANGUAGES, ""} if page.parent.name == "theory" else LANGUAGES  # formulas stand in blocks there
        assert block.language in known, f"{name(page)}, line {block.line}: no language, or an unknown one"
        if block.key == "file":
            Path(block.value).write_text(block.text, encoding="utf-8")
        if block.key in ("not run", "command") or block.language in ("", "text", "matlab"):
            continue
        try:
            getattr(runner, block.language)(block)
        except Exception as error:
            error.add_note(f"in the block in line {block.line} of {name(page)}")
            raise


def test_few_blocks_are_not_run():
    left_out = [
        (name(page), block)
        for page in PAGES
        for block in blocks(page)
        if block.key == "not run" or block.language == "matlab"
    ]
    assert all(block.key == "not run" and len(block.value) > 10 for _, block in left_out), "a reason is needed"
    assert len(left_out) <= MOST_NOT_RUN, [(page, block.line) for page, block in left_out]


def test_most_blocks_are_run():
    """So that the pattern above finds what it should."""
    run = [
        b
        for page in PAGES
        for b in blocks(page)
        if b.key not in ("not run", "command") and b.language not in ("", "text")
    ]
    assert len(run) > 60
    fences = sum(page.read_text(encoding="utf-8").count("\n```") for page in PAGES)
    directives = sum(len(re.findall(r"^```\{", page.read_text(encoding="utf-8"), re.MULTILINE)) for page in PAGES)
    found = sum(len(blocks(page)) for page in PAGES)
    assert fences in (2 * (found + directives), 2 * (found + directives) - 2)  # a page may begin with a directive
