"""Tables: no number loses a digit or its exponent, however narrow the terminal."""

import io
import re
from collections import Counter

import pytest
from rich.table import Table

from kinegrad.cli.tables import WholeConsole, show_columns

NUMBER = re.compile(r"-?\d+\.?\d*(?:e[-+]\d+)?")
# Long names, numbers of all sizes and several objectives: more than eighty columns hold.
WIDE = """\
kinegrad: 1
title: Wide
parameters: {a_parameter_of_some_length: 1.2345678e-7, spread: 3.3e-9}
design: [a_parameter_of_some_length, spread]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a_body_of_some_length:
    {mass: 1, com: [0.1, 0.01, 0], inertia: [0.1, 0.1, 0.1],
     markers: {O: [0, 0, 0], a_marker_of_some_length: [1 + spread, a_parameter_of_some_length, 1.0e-11]}}
joints: {hinge: {type: revolute, between: [ground.O, a_body_of_some_length.O], axis: [0, 0.3, 1]}}
forces:
  weight: {type: gravity, acceleration: [0, -9.81e-5, 0]}
  coil: {type: spring, acts_on: hinge.angle, stiffness: 1.7e-6, natural_value: 0.1}
degrees_of_freedom: {hinge.angle: {position: 0.01234567891, velocity: -7.4616884e-10}}
objectives:
  the_first_objective: {final: a_body_of_some_length.a_marker_of_some_length.velocity.x}
  the_second_objective: {integral: norm2(a_body_of_some_length.a_marker_of_some_length.velocity)}
  the_third_objective: {final: a_body_of_some_length.a_marker_of_some_length.position.y}
  the_fourth_objective: {integral: a_body_of_some_length.a_marker_of_some_length.acceleration.z}
simulation: {t_end: 0.02}
"""
DRIVEN = WIDE.replace(
    "degrees_of_freedom: {hinge.angle: {position: 0.01234567891, velocity: -7.4616884e-10}}\n", ""
) + ("drivers: {a_driver_of_some_length: {measure: hinge.angle, value: 1.2345678e-5*sin(3*t)}}\n")


def numbers(shown: str) -> Counter:
    """How often each number stands in a text, lines on processor time apart."""
    lines = [line for line in shown.splitlines() if "processor time" not in line and "µs" not in line]
    return Counter(NUMBER.findall("\n".join(lines)))


@pytest.mark.parametrize("width", [40, 80])
@pytest.mark.parametrize(
    ("text", "arguments"),
    [
        (WIDE, ("run", "--reactions")), (WIDE, ("gradient", "--check")), (WIDE, ("gradient", "--all")),
        (WIDE, ("assemble",)), (WIDE, ("equilibrium",)), (DRIVEN, ("kinematics",)), (DRIVEN, ("inverse",)),
        (DRIVEN, ("run", "--reactions")),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else None,
)  # fmt: skip
def test_every_number_is_whole(command, tmp_path, monkeypatch, text, arguments, width):
    path = tmp_path / "wide.yaml"
    path.write_text(text)
    shown = {}
    for columns in (1000, width):
        monkeypatch.setenv("COLUMNS", str(columns))
        code, shown[columns], err = command(arguments[0], path, *arguments[1:])
        assert code == 0, err
    assert "…" not in shown[width]
    assert len(shown[1000]) > 500 and numbers(shown[1000]) <= numbers(shown[width])


def test_columns_that_do_not_fit_go_below():
    out = io.StringIO()
    rows = [(f"row {i}", [f"{-7.4616884e-10 * 10.0 ** (i + k):.10g}" for k in range(9)]) for i in range(3)]
    show_columns(WholeConsole(file=out, width=80), "by", [f"objective {k}" for k in range(9)], rows, apart=1)
    text = out.getvalue()
    assert max(map(len, text.splitlines())) <= 80
    assert all(cell in text for _, cells in rows for cell in cells) and text.count("row 1") == 3


def test_a_table_is_as_wide_as_its_words():
    out = io.StringIO()
    table = Table("name", "value")
    table.add_row("a name of several words", "-7.461688412e-10, 1.25e-300")
    WholeConsole(file=out, width=12).print(table)
    text = out.getvalue()
    assert "-7.461688412e-10," in text and "1.25e-300" in text and "several" in text
    assert len({len(line) for line in text.splitlines()}) == 1
