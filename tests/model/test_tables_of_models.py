"""Tables of a model: what is read, what is refused with its line, and the maps from ordinates to coefficients."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline as Peer

from kinegrad.coordinates.sets import lower
from kinegrad.coordinates.tables import Pieces
from kinegrad.errors import ModelError
from kinegrad.model.model import Model

HEAD = """kinegrad: 1
parameters: {k: 2, u: [0, 1, 4, 9]}
bodies:
  block: {mass: 1, inertia: [1, 1, 1], markers: {A: [0, 0, 0]}}
ground: {markers: {O: [0, 0, 0]}}
joints: {slide: {type: prismatic, between: [ground.O, block.A], axis: [1, 0, 0]}}
degrees_of_freedom: {slide.distance: {position: 0}}
"""
POINTS = "tables: {bump: {x: [0, 1, 2, 4], y: u}}\n"


def problems(text, folder=None):
    if folder is not None:
        (folder / "model.yaml").write_text(text)
    with pytest.raises(ModelError) as error:
        Model.from_yaml_text(text) if folder is None else Model.from_yaml(folder / "model.yaml")
    return [(problem.line, problem.sentence) for problem in error.value.problems]


@pytest.mark.parametrize("held", [False, True])
@pytest.mark.parametrize("degree", [1, 3])
def test_pieces_go_through_all_points_and_pull_is_the_transpose(rng, degree, held):
    x, y = np.cumsum(rng.uniform(0.2, 1.0, 8)), rng.normal(size=8)
    pieces = Pieces(x, degree, held)
    c = pieces(y).reshape(-1, degree + 1)
    matrix = pieces(np.eye(8))
    np.testing.assert_allclose(matrix @ y, pieces(y), atol=1e-14)
    weights = rng.normal(size=(2, len(matrix)))
    np.testing.assert_allclose(pieces.pull(weights), weights @ matrix, atol=1e-13)
    ends = ((1, 0.0), (1, 0.0)) if held else ((2, 0.0), (2, 0.0))
    peer = Peer(x, y, bc_type=ends) if degree == 3 else lambda at: np.interp(at, x, y)
    for at in np.linspace(x[0], x[-1], 40):
        i = np.searchsorted(pieces.begins, at, side="right") - 1
        assert np.polyval(c[i][::-1], at - pieces.begins[i]) == pytest.approx(float(peer(at)), abs=1e-13)
    if held:
        np.testing.assert_allclose(c[[0, -1]], [[y[0], *[0.0] * degree], [y[-1], *[0.0] * degree]], atol=0.0)


def test_a_table_is_written_as_it_was_read():
    model = Model.from_yaml_text(HEAD + POINTS)
    assert Model.from_yaml_text(model.to_yaml()) == model
    assert model.to_dict()["tables"] == {"bump": {"x": [0, 1, 2, 4], "y": "u"}}


def test_columns_of_a_file_become_numbers(tmp_path):
    (tmp_path / "road.csv").write_text("# measured\n\ns [m]; z ;other\n0; 0;a\n 1;1e-1;b\n\n2.5;-.2;c\n")
    text = HEAD + "tables: {bump: {file: road.csv, x: 's [m]', y: z, outside: hold}}\n"
    (tmp_path / "model.yaml").write_text(text)
    table = Model.from_yaml(tmp_path / "model.yaml").tables["bump"]
    assert table.x == (0.0, 1.0, 2.5) and table.y == (0.0, 0.1, -0.2) and table.file is None
    (tmp_path / "road.csv").write_text("x,y\n0,1\n1,2\n2,3\n")
    (tmp_path / "model.yaml").write_text(HEAD + "tables: {bump: {file: road.csv}}\n")
    assert Model.from_yaml(tmp_path / "model.yaml").tables["bump"].y == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("ends", ["\n\n\n\n", "\r\r\r\r", ["\r\n"] * 4, ["\r", "\n", "\r\n", ""]], ids=ascii)
@pytest.mark.parametrize("mark", ["", "\ufeff"], ids=["", "with a mark"])
def test_lines_end_as_on_any_system(tmp_path, ends, mark):
    lines = ("x,y", "0,+1.", "1,.2e+1", "2,-3E-1")
    text = mark + "".join(line + end for line, end in zip(lines, ends, strict=True))
    (tmp_path / "road.csv").write_text(text, encoding="utf-8", newline="")
    for end in ("\n", "\r\n", "\r"):
        text = (HEAD + "tables: {bump: {file: road.csv}}\n").replace("\n", end)
        (tmp_path / "model.yaml").write_text(text, newline="")
        assert Model.from_yaml(tmp_path / "model.yaml").tables["bump"].y == (1.0, 2.0, -0.3)


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (None, "cannot be read: No such file"),
        ("", "which is empty"),
        ("x,z\n0,1\n", "has no column 'y'; its columns: x, z."),
        ("x,why\n0,1\n", "has no column 'y'"),
        ("x,y,y\n0,1,1\n", "has the column 'y' twice"),
        ("x,y\n0,1\n1,\n2,3\n", "whose line 3 has no number in the column 'y'; fill it or remove the line."),
        ("x,y\n0,1\n1\n2,3\n", "whose line 3 has no number in the column 'y'"),
        ("x,y\n0,1\n1,two\n", "whose line 3 has 'two' in the column 'y'; a number is needed."),
        ("x,y\n0,0,1,5\n1,0,2,5\n", "whose line 2 has 4 entries, and its first line 2 names; write"),
        ("x,y\n0,1\n1,nan\n", "whose line 3 has 'nan'"),
        *(
            (f"x;y{end}0;1{end}1;{number}{end}", f"whose line 3 has {number!r} in the column 'y'; a number is needed.")
            for number in (
                "2_7",
                "0x1",
                "1e",
                "inf",
                "-Infinity",
                "1e999",
                "0,7",
                "1 000",
                "\u0663",
                "1.0D3",
                "+-1",
                ".",
                "1j",
            )
            for end in ("\n", "\r")
        ),
        ("x,y\n0,1\n1," + "1" * 200_000 + "\n", "is no file of comma-separated values: field larger than field limit"),
        ("x,y\n0,1\n1,2\n1,3\n", "is 1 after 1; the abscissas of a table have to increase."),
    ],
)
def test_files_that_cannot_be_used(tmp_path, contents, words):
    if contents is not None:
        (tmp_path / "road.csv").write_text(contents, encoding="utf-8", newline="")
    found = problems(HEAD + "tables:\n  bump: {file: road.csv}\n", tmp_path)
    assert [line for line, _ in found] == [9] and words in found[0][1], found


@pytest.mark.parametrize(
    ("rest", "line", "words"),
    [
        ("tables: {bump: {x: [0, 1, 1], y: [0, 1, 2]}}\n", 8, "tables.bump.x[2] is 1 after 1; the abscissas"),
        ("tables: {bump: {x: [0, 1], y: [0, 1]}}\n", 8, "has 2 entries; a cubic table has 3 to 10000."),
        ("tables: {bump: {x: [0], y: [0], interpolation: linear}}\n", 8, "has 1 entries; a linear table has 2"),
        ("tables: {bump: {x: [0, 1, 2], y: [0, 1]}}\n", 8, "tables.bump.y has 2 entries and x has 3"),
        ("tables: {bump: {x: [0, 1, 2], y: w}}\n", 8, "tables.bump.y is 'w', which is no list parameter"),
        ("tables: {bump: {x: [0, 1, 2]}}\n", 8, "lacks x or y"),
        ("tables: {bump: {x: s, y: u}}\n", 8, "the name of a column, and no file"),
        ("tables: {bump: {x: [0, k, 3], y: [0, 1, 2]}}\n", 8, "only constants such as"),
        ("tables: {bump: {x: [0, 1, 2], y: [0, 1, 2], outside: stop}}\n", 8, "'error', 'hold' or 'extrapolate'"),
        ("tables: {k: {x: [0, 1, 2], y: [0, 1, 2]}}\n", 8, "has the name of a parameter"),
    ],
)
def test_tables_that_cannot_be_used(rest, line, words):
    found = problems(HEAD + rest)
    assert len(found) == 1 and found[0][0] == line and words in found[0][1], found


FORCE = "forces:\n  f: {type: force, acts_on: slide.distance, value: '%s'}\n"
DRIVER = "drivers:\n  f: {measure: slide.distance, value: '%s'}\n"
ROW = "constraints:\n  f: {type: position, value: 'slide.distance - %s'}\n"


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        (FORCE, "table(t, bumb)", "reads the unknown table 'bumb' (did you mean 'bump'?); tables: bump, kinked."),
        (FORCE, "table(t, u[0])", "takes an expression and the name of a table"),
        (FORCE, "table(t)", "takes 2 arguments, found 1"),
        (FORCE, "min(t)", "takes 2 or more arguments, found 1"),
        (FORCE, "step(slide.distance)", "'step' takes an expression in the time t; of anything else use smooth_step"),
        (FORCE, "sign(t - slide.distance)", "takes 'sign' of 'slide.distance'; it is for t and parameters"),
        (DRIVER, "abs(t - 1)", "has abs(...); what is held or driven needs two continuous derivatives"),
        (DRIVER, "step(t - 1)", "has step(...)"),
        (DRIVER, "table(t, kinked)", "has the linear table 'kinked'; what is held or driven needs two continuous"),
        (ROW, "max(t, 1)", "has max(...)"),
        (ROW, "bent*t", "uses 'abs(slide.distance)', which has abs(...)"),
    ],
)
def test_expressions_that_cannot_be_used(place, value, words):
    more = "tables: {bump: {x: [0, 1, 2], y: [0, 1, 2]}, kinked: {x: [0, 1], y: [0, 1], interpolation: linear}}\n"
    text = HEAD.replace(
        "degrees_of_freedom: {slide.distance: {position: 0}}\n", "measures: {bent: abs(slide.distance)}\n"
    )
    found = problems(text + more + place % value)
    assert len(found) == 1 and found[0][0] == 10 and words in found[0][1], found


@pytest.mark.parametrize("place", ["mass: 'table(k, bump)'", "mass: 1, com: ['table(1, bump)', 0, 0]"])
def test_numbers_do_not_read_tables(place):
    found = problems(HEAD.replace("mass: 1", place) + POINTS)
    assert "reads the table 'bump'; only parameters may be used here." in found[0][1]


def test_tables_in_parameters_are_refused():
    found = problems(HEAD.replace("k: 2", "k: 'table(1, bump)'") + POINTS)
    assert "tables serve in measures, forces, constraints, drivers and objectives" in found[0][1]


def test_names_of_functions_are_free():
    text = HEAD.replace("slide", "cross") + POINTS.replace("bump", "step")
    model = Model.from_yaml_text(text + "objectives: {max: {final: 'table(cross.distance, step) + step(t - 1)'}}\n")
    assert lower(model, "joint").objectives == {"max": "final"}
