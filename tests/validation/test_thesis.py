"""`kinegrad bench thesis`: a line for each table and figure, the numbers that machines do not change, and the page."""

import re
from pathlib import Path

import pytest

from kinegrad.bench import thesis
from kinegrad.bench.thesis_lines import LINES

PAGE = Path(__file__).parents[2] / "docs" / "thesis.md"
NUMBERS = [f"table 7.{k}" for k in range(3, 30)] + [f"figure 7.{k}" for k in range(2, 52)]


def page():
    """Cells of the table in the documentation, by number."""
    lines = re.findall(r"^\| ((?:table|figure) 7\.\d+) \|(.*)\|$", PAGE.read_text(encoding="utf-8"), re.M)
    return {number: [cell.strip() for cell in rest.split(" | ")] for number, rest in lines}


def test_every_table_and_figure_has_one_line():
    assert sorted(line.number for line in LINES) == sorted(NUMBERS)
    assert all(line.computed or line.note for line in LINES)  # a number, or why there is none


def test_the_page_has_the_same_lines():
    found = page()
    assert list(found) == [line.number for line in LINES]
    for line in LINES:
        about, published, ours, note = found[line.number]
        assert (about, published, note) == (line.about, line.published, line.note), line.number
        assert bool(ours) == bool(line.computed), line.number


@pytest.mark.parametrize(
    "line", [one for one in LINES if one.computed not in ("", "ratios")], ids=lambda line: line.number
)
def test_the_page_has_the_numbers_that_are_computed(line):
    assert page()[line.number][2] == thesis.ours(line, 1)


def test_costs_on_the_page_are_those_that_are_asked_for():
    for line in LINES:
        if line.computed == "ratios":
            names = re.findall(r"([a-z][^,]*?) [\d.]+(?:,|$)", page()[line.number][2])
            assert names == [cost.name for cost in line.of]


def test_the_gradient_of_the_five_bar_is_met_to_four_digits():
    for line in LINES:
        if line.computed == "gradient":
            assert thesis.ours(line, 1).endswith("(5 of 5 to 4 digits)")


def test_rows_by_a_word_and_a_cost():
    rows = thesis.run(1, "table 7.9")
    assert [(row.published, row.ours) for row in rows] == [("10, 1, 0.25", "10, 1, 0.25")]
    cost = next(line for line in LINES if line.number == "table 7.11").of[0]
    assert 0.1 < thesis.ratio(cost._replace(model="slider_crank"), 1) < 100.0
    assert thesis.table(rows).splitlines()[-1] == (
        "| table 7.9 | slider-crank: spring (k, c, L0) | 10, 1, 0.25 | 10, 1, 0.25 | data, taken over |"
    )
