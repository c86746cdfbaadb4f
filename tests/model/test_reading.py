"""YAML that is wrong as YAML, or wrong in its structure: sentences with lines, never a traceback."""

import pytest
from bad_models import SOUND, assert_one_problem, problems_of, spoil

from kinegrad.errors import ModelError
from kinegrad.model.documents import MAX_CHARACTERS, load
from kinegrad.model.model import Model
from kinegrad.model.plain_style import MAX_DEPTH
from kinegrad.model.scalars import plain_scalar


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", 1, ("empty", "kinegrad: 1")),
        ("# only a comment\n", 1, ("empty",)),
        ("---\n...\n", 1, ("empty",)),
        ("- 1\n- 2\n", 1, ("[1, 2]", "mapping")),
        ("hello", 1, ("'hello'", "mapping")),
        ("42", 1, ("42", "mapping")),
        ("a: [1\n", 2, ("not YAML", "column")),
        ("kinegrad: 1\nbodies: {b: {mass: 1}}\nx\n", 4, ("not YAML",)),
        ("a: b: c\n", 1, ("not YAML", "mapping values")),
        ("a: *x\n", 1, ("alias *x", "&x")),
        ("a: &x [1, *x]\n", 1, ("alias *x",)),
        ("a\x00b", 1, ("not YAML",)),
        ("a: '\n", 2, ("not YAML",)),
        ("%FOO\n", 2, ("not YAML",)),
        ("a: 1\n---\nb: 2\n", 2, ("second document", "---")),
        ("[" * 2000, 1, ("nests deeper", str(MAX_DEPTH))),
        ("{a: " * 2000, 1, ("nests deeper",)),
        ("? " * 2000, 1, ("nests deeper",)),
        ("\n".join(" " * i + "a:" for i in range(100)), MAX_DEPTH + 1, ("nests deeper",)),
    ],
    ids=range(19),
)
def test_texts_that_are_no_model(text, line, words):
    (problem,) = problems_of(text)
    assert problem.line == line
    for word in words:
        assert word in problem.sentence


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("kinegrad: 1\n", "kinegrad: 2 #!\n"), ("kinegrad is 2", "write kinegrad: 1")),
        (("kinegrad: 1\n", "kinegrad: true #!\n"), ("kinegrad is true", "write kinegrad: 1")),
        (("  m: 2.0\n", "  m: 2.0\n  m: 3 #!\n"), ("parameters.m", "stands twice", "line 4", "remove one")),
        (("    pose:", "    com: [0, 0, 0] #!\n    pose:"), ("bodies.arm.com", "stands twice", "line 18")),
        (("  m: 2.0\n", "  m: 2.0\n  7: 3 #!\n"), ("parameters", "the key 7", "name")),
        (("  m: 2.0\n", "  m: 2.0\n  null: 3 #!\n"), ("parameters", "the key empty", "name")),
        (("  m: 2.0\n", "  m: 2.0\n  [1, 2]: 3 #!\n"), ("parameters", "the key [1, 2]", "name")),
        (("    mass: m\n", "    mass: !!float 2 #!\n"), ("bodies.arm.mass", "tag", "remove it")),
        (("    mass: m\n", "    mass: !python/name:os.system m #!\n"), ("bodies.arm.mass", "!python", "tag")),
        (("title: Test bench", "title: 5 #!"), ("title is 5", "quotes")),
        (("title: Test bench", "titel: Test bench #!"), ("'titel'", "did you mean 'title'", "Sections")),
        (("  m: 2.0\n", "  m: 2.0\n  <<: {q: 1} #!\n"), ("parameters.<<", "not a number")),
    ],
)
def test_structure_of_the_file(change, words):
    assert_one_problem(spoil(change), *words)


def test_missing_version():
    (problem,) = problems_of(SOUND.replace("kinegrad: 1\n", ""))
    assert "kinegrad: 1" in problem.sentence and problem.line == 1


def test_missing_and_empty_bodies():
    for text in ("kinegrad: 1\n", "kinegrad: 1\nbodies:\n", "kinegrad: 1\nbodies: {}\n"):
        (problem,) = problems_of(text)
        assert "bodies is empty; describe at least one body." in problem.sentence


ELEMENTS = [
    (
        ("    com: [L/2, 0, 0]\n", "    comm: [L/2, 0, 0] #!\n"),
        ("bodies.arm.comm", "unknown key", "did you mean 'com'", "Keys here: mass, com"),
    ),
    (("mass: 1\n", "mass: true #!\n"), ("bodies.ball.mass", "is true", "give a number")),
    (("mass: 1\n", "mass: .nan #!\n"), ("bodies.ball.mass", "nan", "finite")),
    (("mass: 1\n", "mass: -.inf #!\n"), ("bodies.ball.mass", "inf", "finite")),
    (("mass: 1\n", "mass: 1e999 #!\n"), ("bodies.ball.mass", "inf", "finite")),
    (("mass: 1\n", f"mass: {'9' * 600} #!\n"), ("bodies.ball.mass", "finite")),
    (("mass: 1\n", f"mass: {'9' * 390} #!\n"), ("bodies.ball.mass", "smaller")),
    (("mass: 1\n", "mass: '' #!\n"), ("bodies.ball.mass", "empty")),
    (("mass: 1\n", "mass: #!\n"), ("bodies.ball.mass", "is empty", "give a number")),
    (("mass: 1\n", "mass: __import__('os').getcwd() #!\n"), ("bodies.ball.mass", "__import__", "no strings")),
    (("mass: 1\n", "mass: open(1) #!\n"), ("bodies.ball.mass", "no function 'open'")),
    (("mass: 1\n", "mass: lambda #!\n"), ("bodies.ball.mass", "'lambda'", "reserved")),
    (("com: [L/2, 0, 0]", "com: [L/2, 0] #!"), ("bodies.arm.com", "has 2 entries", "three numbers")),
    (("com: [L/2, 0, 0]", "com: L/2 #!"), ("bodies.arm.com", "'L/2'", "three numbers")),
    (("com: [L/2, 0, 0]", "com:\n    - L/2\n    - 0\n    - [0] #!"), ("bodies.arm.com[2]", "[0]", "not a number")),
    (("inertia: [0.1, 0.1, 0.1]", "inertia: [1, 1, 1, 0] #!"), ("bodies.ball.inertia", "4 entries", "six numbers")),
    (
        ("inertia: [0.1, 0.1, 0.1]", "inertia: {axis: [1, 0, 0], along: 1} #!"),
        ("bodies.ball.inertia.across", "missing"),
    ),
    (("      A: [0, 0, 0]", "      A: 5 #!"), ("bodies.arm.markers.A.position", "is 5", "[x, y, z]")),
    (("      A: [0, 0, 0]", "      A:\n        - 0\n        - x + #!\n        - 0"), ("bodies.arm.markers.A", "'x +'")),
    (
        ("side: {vector: [0, 1, 0]}", "side: {vektor: [0, 1, 0]} #!"),
        ("bodies.arm.markers.side", "vektor", "{vector: [x, y, z]}"),
    ),
    (("pose: {origin: [0, 0, 0], x_axis: [1, 0, 0]}", "pose: globl #!"), ("bodies.arm.pose", "'globl'", "global")),
    (
        ("pose: {origin: [0, 0, 0], x_axis: [1, 0, 0]}", "pose: {origin: [m, 0, 0]} #!"),
        ("bodies.arm.pose.origin[0]", "mentions m", "constants"),
    ),
    (("{type: revolute,", "{type: revolut, #!\n "), ("joints.hinge", "'revolut'", "did you mean 'revolute'")),
    (
        ("{type: gravity, acceleration: [0, -9.81, 0]}", "{acceleration: [0, -9.81, 0]} #!"),
        ("forces.weight", "has no type", "gravity"),
    ),
    (("{type: gravity, acceleration: [0, -9.81, 0]}", "9.81 #!"), ("forces.weight", "9.81", "type")),
    (("[ground.O, arm.A]", "[ground.O] #!\n  "), ("joints.hinge.between", "1 entries", "pair")),
    (("[ground.O, arm.A]", "[ground, arm.A] #!\n  "), ("joints.hinge.between[0]", "'ground'", "body.marker")),
    (("[arm.B, ball.C]}", "[arm.B, ball.C], cut: 1} #!"), ("joints.cup.cut", "is 1", "true or false")),
    (("stiffness: 10, natural_length: 1}", "stiffness: 10} #!"), ("forces.spring", "natural_length")),
    (
        ("stiffness: 10, natural_length: 1}", "stiffness: 10, natural_length: 1, natural_value: 0} #!"),
        ("forces.spring", "natural_value"),
    ),
    (("value: -0.1*hinge.angle.velocity}", "value: [1, 2, 3]} #!"), ("forces.brake", "3 values", "one number")),
    (
        ("acts_on: hinge.angle, value: -0.1*hinge", "at: arm.B, acts_on: hinge.angle, #!\n    value: 0.1*hinge"),
        ("forces.brake", "both at and acts_on", "one of them"),
    ),
    (
        ("{integral: reach**2}", "{integral: reach**2, final: reach} #!"),
        ("objectives.effort", "both integral and final", "one of them"),
    ),
    (("{integral: reach**2}", "{} #!"), ("objectives.effort", "none of integral, final, sum, maximum, minimum")),
    (("  reach: norm(arm.B.position)", "  reach: 5 #!"), ("measures.reach", "is 5", "expression in markers")),
    (
        ("{rotation: [0, 0, 0.1]}", "{rotation: [0, 0, 0.1], euler_parameters: [1, 0, 0, 0]} #!"),
        ("degrees_of_freedom.cup", "both rotation and euler_parameters"),
    ),
    (
        ("{rotation: [0, 0, 0.1]}", "{euler_parameters: [1, 0, 0]} #!"),
        ("degrees_of_freedom.cup.euler_parameters", "3 entries", "four"),
    ),
    (("step: 1.0e-3", "stepp: 1.0e-3 #!"), ("simulation.stepp", "did you mean 'step'")),
    (("step: 1.0e-3", "coordinates: joints #!"), ("simulation.coordinates", "'joints'", "did you mean 'joint'")),
    (("step: 1.0e-3", "formulation: {type: alip} #!"), ("simulation.formulation", "'alip'", "did you mean 'ali3p'")),
    (("step: 1.0e-3", "formulation: ali3p #!"), ("simulation.formulation", "'ali3p'", "mapping with the key type")),
    (
        ("step: 1.0e-3", "formulation: {type: ali3p, projection: every_step} #!"),
        ("simulation.formulation.projection", "every-step"),
    ),
    (("step: 1.0e-3", "integrator: {type: newmark, bta: 1} #!"), ("simulation.integrator.bta", "did you mean 'beta'")),
    (("design: [m, L]", "design: m #!"), ("design is 'm'", "list")),
    (("design: [m, L]", "design: [m, 3] #!"), ("design[1]", "is 3", "name of a parameter")),
    (("  heavy: {m: 20}", "  heavy: 20 #!"), ("variants.heavy", "is 20", "mapping")),
]


@pytest.mark.parametrize(("change", "words"), ELEMENTS, ids=range(len(ELEMENTS)))
def test_elements(change, words):
    assert_one_problem(spoil(change), *words)


def test_lines_of_a_file_in_block_style():
    text = "kinegrad: 1\nbodies:\n  b:\n    mass:\n      1\n    com:\n    - 0\n    - oops(\n    - 0\n"
    (problem,) = problems_of(text)
    assert (problem.line, problem.where) == (8, "bodies.b.com[1]")


def test_aliases_are_read_and_bombs_are_not():
    text = "kinegrad: 1\nbodies:\n  a: &bar {mass: 1, inertia: [1, 1, 1]}\n  b: *bar\n"
    model = Model.from_yaml_text(text)
    assert model.bodies["a"] == model.bodies["b"]
    bomb = "a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
    for i in range(1, 9):
        bomb += f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n"
    (problem,) = problems_of(bomb)
    assert "values" in problem.sentence


def test_a_problem_in_an_alias_has_the_line_of_the_alias():
    text = "kinegrad: 1\nbodies:\n  a: {mass: 1, com: &c [0, 0]}\n  b:\n    mass: 1\n    com: *c\n"
    assert [(p.line, p.where) for p in problems_of(text)] == [(3, "bodies.a.com"), (6, "bodies.b.com")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("", None),
        ("~", None),
        ("null", None),
        ("true", True),
        ("FALSE", False),
        ("yes", "yes"),
        ("on", "on"),
        ("12", 12),
        ("-0", 0),
        ("+3", 3),
        ("012", 12),
        ("0o17", 15),
        ("0x1f", 31),
        ("1_000", "1_000"),
        ("1:30", "1:30"),
        ("1e3", 1000.0),
        (".5", 0.5),
        ("5.", 5.0),
        ("1.5E-2", 0.015),
        ("-.inf", float("-inf")),
        ("2001-01-01", "2001-01-01"),
    ],
)
def test_core_schema(text, value):
    found = plain_scalar(text)
    assert found == value and type(found) is type(value)


def test_quoted_numbers_are_numbers_and_quoted_words_are_texts():
    document, _, problems, _ = load("a: '1.5'\nb: \"true\"\nc: 'null'\n")
    assert document == {"a": "1.5", "b": "true", "c": "null"} and not problems
    assert Model.from_yaml_text("kinegrad: 1\nbodies: {b: {mass: '1.5'}}").bodies["b"].mass == 1.5


def test_files_that_cannot_be_read(tmp_path):
    (tmp_path / "binary.yaml").write_bytes(bytes(range(256)))
    (tmp_path / "latin.yaml").write_bytes("title: é".encode("latin-1"))
    (tmp_path / "mark.yaml").write_bytes(b"\xef\xbb\xbfkinegrad: 1\nbodies: {b: {mass: 1}}\n")
    for name, word in {
        "missing.yaml": "No such file",
        "binary.yaml": "UTF-8",
        "latin.yaml": "0xe9",
        ".": "director",
    }.items():
        with pytest.raises(ModelError) as error:
            Model.from_yaml(tmp_path / name)
        assert word in str(error.value)
    with pytest.raises(ModelError):
        Model.from_yaml("a\0b")
    assert Model.from_yaml(tmp_path / "mark.yaml").bodies["b"].mass == 1.0


def test_size_is_bounded():
    with pytest.raises(ModelError, match="characters"):
        Model.from_yaml_text("#" * (MAX_CHARACTERS + 1))


@pytest.mark.parametrize(
    "document", [None, 3, [], "x", {1: 2}, {"kinegrad": 1, "bodies": {3: {"mass": 1}}}, {"kinegrad": 1, "bodies": [1]}]
)
def test_documents_from_python(document):
    with pytest.raises(ModelError):
        Model.from_dict(document)
    with pytest.raises(ModelError):
        Model.from_yaml_text(document)


@pytest.mark.parametrize(
    ("force", "line", "words"),
    [
        (
            "{type: force, acts_on: J.angle, value: max(1, t)}",
            2,
            "forces.f.value is 'max(1': within brackets or braces YAML ends",
        ),
        ("{type: force, at: b.P, value: [atan2(1, t), 0, 0]}", 2, "forces.f.value[0] is 'atan2(1': within"),
        (
            "{type: force, at: b.P,\n    value: [0, dot(vec(1, 2, t), vec(1, t, 2)), 0]}",
            3,
            "put the expression in quotes",
        ),
        (
            "{type: force, acts_on: J.angle, value: u[0]}",
            2,
            "or put quotes around an expression with a bracket or a comma.",
        ),
    ],
)
def test_expressions_that_yaml_splits_need_quotes(force, line, words):
    text = f"forces:\n  f: {force}\nkinegrad: 1\nbodies: {{b: {{mass: 1, markers: {{P: [0, 0, 0]}}}}}}\n"
    with pytest.raises(ModelError) as error:
        Model.from_yaml_text(text)
    found = [problem for problem in error.value.problems if "quotes" in problem.sentence]
    assert found and words in found[0].sentence and found[0].line == line
    assert len(error.value.problems) == len(found)
