"""Labels of equations, such as (ROT-7): cited in the code and on the theory pages, defined once on a theory page."""

import ast
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = sorted((ROOT / "docs" / "theory").glob("*.md"))
SOURCES = sorted((ROOT / "kinegrad").rglob("*.py"))

LABEL = r"[A-Z]{2,3}-\d+"
# The first cell of a table row, bold text, or a LaTeX tag.
DEFINITION = re.compile(
    rf"^\|\s*\(?({LABEL})\)?\s*\||\*\*\(?({LABEL})\)?\*\*|\\tag\{{({LABEL})\}}",
    re.MULTILINE,
)
# One label or more in brackets: (ROT-1), (ROT-1, ROT-3), (ROT-1 to ROT-3).
BRACKETS = re.compile(rf"\(({LABEL}(?:(?:, | and | to |; ){LABEL})*)\)")


def definitions(text):
    """The labels a page defines, in order."""
    return [next(filter(None, match.groups())) for match in DEFINITION.finditer(text)]


def citations(text, prefixes=()):
    """The labels a text cites: in brackets, or anywhere if they begin like a defined one."""
    found = {label for match in BRACKETS.finditer(text) for label in re.findall(LABEL, match[1])}
    return found | {label for label in re.findall(rf"\b{LABEL}\b", text) if label.split("-")[0] in prefixes}


def docstrings(source):
    """All docstrings of a module, joined."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = (node for node in ast.walk(ast.parse(source)) if isinstance(node, kinds))
    return "\n".join(ast.get_docstring(node) or "" for node in nodes)


@pytest.fixture(scope="module")
def defined():
    return Counter(label for page in PAGES for label in definitions(page.read_text(encoding="utf-8")))


def test_labels_are_defined_once(defined):
    assert {"ROT-1", "ROT-31"} <= set(defined)
    assert [label for label, count in defined.items() if count > 1] == []


@pytest.mark.parametrize("path", SOURCES + PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_cited_labels_are_defined(path, defined):
    text = path.read_text(encoding="utf-8")
    cited = citations(docstrings(text) if path.suffix == ".py" else text, {label.split("-")[0] for label in defined})
    missing = sorted(cited - set(defined))
    assert not missing, (
        f"{path.name} cites {', '.join(missing)}: define it on a page of docs/theory (see docs/notation.md)"
    )


def test_rotation_kernels_cite_all_that_is_theirs(defined):
    """So that the test above reads what it should: these are the labels rotations.py implements."""
    cited = citations(docstrings((ROOT / "kinegrad/kernels/rotations.py").read_text(encoding="utf-8")))
    theory_only = {f"ROT-{k}" for k in (2, 8, 9, 13, 16, 19, 25)}
    assert cited == {label for label in defined if label.startswith("ROT")} - theory_only


def test_reading_of_definitions_and_citations():
    page = "| ABC-1 | x = y |\n| (ABC-2) | by (ABC-1) |\n**(ABC-3)** x\n$$x \\tag{ABC-4}$$\nsee (ABC-5), | ABC-6 |\n"
    assert definitions(page) == ["ABC-1", "ABC-2", "ABC-3", "ABC-4"]
    assert citations("value (ABC-1), (ABC-2, ABC-3), (ABC-4 to ABC-5), ABC-6, UTF-8") == {
        f"ABC-{k}" for k in range(1, 6)
    }
    assert citations("by ABC-6 in UTF-8", {"ABC"}) == {"ABC-6"}
    assert docstrings('"""One (ABC-1)."""\ndef f():\n    """Two."""\n    return "(ABC-2)"') == "One (ABC-1).\nTwo."
