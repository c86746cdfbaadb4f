"""Every kernel file of elements, of a coordinate set and of formulations has a test of its name."""

from pathlib import Path

import pytest

import kinegrad.kernels

KERNELS, TESTS = Path(kinegrad.kernels.__file__).parent, Path(__file__).parent
FOLDERS = ("elements", "joint", "reference_point", "natural", "formulations", "reactions", "solvers")
#: files that hold lists alone: what walks them
LISTS = {
    "elements/layout": "elements/test_kinds",
    "elements/stages": "elements/test_kinds",
    "joint/records": "joint/test_motion",
    "reference_point/records": "reference_point/test_motion",
    "natural/records": "natural/test_frames",
    "reactions/records": "reactions/test_geometry",
}
FILES = [
    f"{folder}/{path.stem}"
    for folder in FOLDERS
    for path in sorted((KERNELS / folder).glob("*.py"))
    if path.stem != "__init__"
]


def name_of_test(file: str) -> str:
    folder, name = file.split("/")
    return LISTS.get(file, f"{folder}/test_{name}")


def test_the_folders_are_all_that_hold_kinds():
    """A folder beside these, such as that of another coordinate set, is to be added above."""
    others = {"compiler", "__pycache__"}
    assert {path.name for path in KERNELS.iterdir() if path.is_dir()} - others == set(FOLDERS)
    assert len(FILES) > 30


@pytest.mark.parametrize("file", FILES)
def test_a_kernel_file_has_a_test(file):
    path = TESTS / f"{name_of_test(file)}.py"
    assert path.exists(), f"kernels/{file}.py has no test: write tests/kernels/{name_of_test(file)}.py"
    assert "\ndef test_" in path.read_text(encoding="utf-8"), f"{path.name} tests nothing"


def test_no_test_has_lost_its_kernel_file():
    tests = {f"{folder}/{path.stem}" for folder in FOLDERS for path in (TESTS / folder).glob("test_*.py")}
    assert tests == {name_of_test(file) for file in FILES}
