"""Models by points and vectors: which joints are found, why, and what is told where nothing can be decided."""

import json
import pickle
from pathlib import Path

import pytest

from kinegrad.cli import main
from kinegrad.errors import ModelError
from kinegrad.model.bodies import Body
from kinegrad.model.joints import JOINTS
from kinegrad.model.model import Model

EXAMPLES = Path(__file__).parents[2] / "examples"
HALF = 0.5**0.5

POINTS = {"P": [0.1, 0.2, 0.3], "Q": [0.1, 0.2, 0.8], "R": [0.5, 0.2, 0.3], "S": [0.1, 0.2, 0.3], "T": [0.4, 0.7, 0.3]}
VECTORS = {"x": [2, 0, 0], "y": [0, 1, 0], "z": [0, 0, 3], "n": [0, 0, -1], "u": [1, 1, 0], "w": [1, -1, 0]}


def drawn(one, other, points=POINTS, vectors=VECTORS, **more):
    """Two bodies with these names of points and vectors, in text: a document."""
    bodies = {}
    for name, listed in (("one", one.split()), ("other", other.split())):
        bodies[name] = {"mass": 1, "inertia": [1, 1, 1]}
        bodies[name] |= {"points": [x for x in listed if x in points], "vectors": [x for x in listed if x in vectors]}
    used = {*one.split(), *other.split()}
    return {
        "kinegrad": 1,
        "points": {k: v for k, v in points.items() if k in used},
        "vectors": {k: v for k, v in vectors.items() if k in used},
        "bodies": bodies,
        **more,
    }


def problems(document):
    with pytest.raises(ModelError) as error:
        Model.from_dict(document)
    return [(problem.where, problem.sentence) for problem in error.value.problems]


TABLE = {  # what the two bodies have: type, markers, axis
    "a point": ("P", "P", "spherical", ("P", "P"), None),
    "two at one place": ("P S", "P S", "spherical", ("P", "P"), None),
    "and a vector": ("P z", "P z", "revolute", ("P", "P"), (0, 0, 3)),
    "two points": ("P Q", "P Q", "revolute", ("P", "P"), (0, 0, 0.5)),
    "two points and their direction": ("P Q n", "Q P n", "revolute", ("P", "P"), (0, 0, -1)),
    "opposite vectors": ("P z n", "P z n", "revolute", ("P", "P"), (0, 0, 3)),
    "three points": ("P Q R", "P Q R", "fixed", ("P", "P"), None),
    "point and vectors": ("P x y", "P x y", "fixed", ("P", "P"), None),
    "two points and a vector": ("P Q x", "P Q x", "fixed", ("P", "P"), None),
    "own vectors": ("P u", "P w", "cardan", ("P", "P"), ((1, 1, 0), (1, -1, 0))),
    "own vectors askew": ("P u", "P x", "spherical", ("P", "P"), None),
    "along a vector": ("P z", "Q z", "cylindrical", ("P", "Q"), (0, 0, 3)),
    "along it, and in its plane": ("P T z", "Q z", "cylindrical", ("P", "Q"), (0, 0, 3)),
    "across a vector": ("P z", "R T z", "planar", ("P", "R"), (0, 0, 3)),
    "orientation and a line": ("P x y z", "Q x y z", "prismatic", ("P", "Q"), (0, 0, 3)),
}  # fmt: skip


@pytest.mark.parametrize("case", TABLE)
def test_decisions(case):
    one, other, kind, points, axis = TABLE[case]
    model = Model.from_dict(drawn(one, other)).check()
    (found,) = model.found_joints
    assert (found.name, found.type) == ("one_other", kind)
    assert found.between == (f"one.{points[0]}", f"other.{points[1]}")
    joint = model.joints["one_other"]
    assert (joint.axis_pair if kind == "cardan" else getattr(joint, "axis", None)) == axis
    assert "share the" in found.why
    assert model.bodies["one"].pose == "global" and not model.bodies["one"].points
    again = Model.from_yaml_text(model.to_yaml())
    assert again == model and not again.found_joints


def test_every_row_of_the_table_is_a_joint():
    assert {kind for _, _, kind, *_ in TABLE.values()} == set(JOINTS) - {"floating", "screw", "link"}


AMBIGUOUS = {
    "two Cardan joints": ("P u x", "P w y", "write the joint out in joints, such as one_other: {type: spherical"),
    "nearly perpendicular": ("P u", "P near", "nearly perpendicular"),
    "points at one place": ("P z", "S z", "between: [one.P, other.S], axis: [0, 0, 3]} or one_other: {type: planar"),
    "orientation, points at one place": ("P x y", "S x y", "{type: prismatic, between: [one.P, other.S], axis: [2, 0, 0]} or"),
    "orientation and two lines": ("P x y z", "Q R x y z", "have points along several of them"),
    "two lines along one vector": ("P R z", "Q V z", "on several lines along it"),
    "nearly on a line": ("P z", "N z", "lies nearly along z from P (sine 0.0002); make it exact"),
    "nearly one direction": ("P Q leaning", "P Q leaning", "whose directions are nearly one (sine 0.0001)"),
    "nothing along it": ("P x y", "T x y", "no point of one lies along them from a point of the other"),
    "nothing along or across it": ("P z", "L z", "no point of one lies along or across it from"),
    "vectors without points": ("P z", "z", "but 'other' lists no point"),
    "parallel vectors of its own": ("P u", "P w v", "axes: [[1, 1, 0], [1, -1, 0]]} or one_other: {type: cardan"),
    "one vector twice": ("P u", "P w w2", "share the point P, and several pairs of their own vectors are perpendicular"),
}  # fmt: skip


@pytest.mark.parametrize("case", AMBIGUOUS)
def test_what_is_not_clear_is_told_with_the_choices(case):
    one, other, words = AMBIGUOUS[case]
    points = POINTS | {"V": [0.5, 0.2, 0.9], "N": [0.1001, 0.2, 0.8], "L": [1, 2, 3]}
    vectors = VECTORS | {"near": [1, -1.0001, 0], "leaning": [1e-4, 0, 1], "v": [-2, 2, 0], "w2": [1, -1, 0]}
    ((where, sentence),) = problems(drawn(one, other, points, vectors))
    assert where in ("bodies.other.points", "bodies.other.vectors")
    assert sentence.startswith(f"{where}: 'one' and 'other' share the") and words in sentence and sentence.endswith(".")
    choices = sentence.rstrip(".").partition("such as ")[2].split(" or ")
    assert len(choices) == len(set(choices))


def test_a_choice_is_an_answer():
    """Any of the choices, put into the model as it is written, settles the matter."""
    document = drawn("P z", "S z")
    ((_, sentence),) = problems(document)
    for kind in ("cylindrical", "planar"):
        written = next(x for x in sentence.split("such as ")[1].rstrip(".").split(" or ") if kind in x)
        text = Model.from_dict({"kinegrad": 1, "bodies": {"b": {"mass": 1}}}).to_yaml() + f"joints:\n  {written}\n"
        import ruamel.yaml

        joints = ruamel.yaml.YAML(typ="safe").load(text)["joints"]
        model = Model.from_dict(document | {"joints": joints}).check()
        assert model.joints["one_other"].type == kind and not model.found_joints


def test_a_written_joint_overrules():
    document = drawn("P z", "P z", joints={"ball": {"type": "spherical", "between": ["other.P", "one.P"]}})
    model = Model.from_dict(document).check()
    assert list(model.joints) == ["ball"] and not model.found_joints


@pytest.mark.parametrize(
    "wrong", [{"between": ["nobody.P", "one.P"]}, {"axis": [0, 0, 0]}, {"axis": ["M", 0, 0]}], ids=str
)
def test_what_is_wrong_with_a_written_joint_is_told(wrong):
    hinge = {"type": "revolute", "between": ["other.P", "one.P"], "axis": [0, 0, 1]} | wrong
    (first, *more) = problems(drawn("P z", "P z", joints={"hinge": hinge}))
    assert first[0].startswith("joints.hinge") and not more


def test_models_travel():
    model = pickle.loads(pickle.dumps(Model.from_dict(drawn("P z", "P z"))))
    assert [joint.name for joint in model.found_joints] == ["one_other"] and model.check() is model


# --- more than two bodies ---


def linked(lists, points, vectors, **more):
    holders = {
        name: {
            "points": [x for x in names.split() if x in points],
            "vectors": [x for x in names.split() if x in vectors],
        }
        for name, names in lists.items()
    }
    ground = holders.pop("ground", {})
    bodies = {name: {"mass": 1, "inertia": [1, 1, 1]} | entry for name, entry in holders.items()}
    return Model.from_dict(
        {"kinegrad": 1, "points": points, "vectors": vectors, "ground": ground, "bodies": bodies, **more}
    ).check()


def found_in(model):
    return {joint.name: joint.type for joint in model.found_joints}


def test_a_point_of_three_bodies_makes_a_chain():
    model = linked({"a": "P", "b": "P", "c": "P"}, {"P": [0, 0, 0]}, {})
    assert found_in(model) == {"a_b": "spherical", "b_c": "spherical"}


def test_bodies_with_more_in_common_come_first():
    """a and c share two points, so b is tied to one of them, and not to both."""
    model = linked({"a": "P Q", "b": "P", "c": "P Q"}, {"P": [0, 0, 0], "Q": [1, 0, 0]}, {})
    assert found_in(model) == {"a_b": "spherical", "a_c": "revolute"}


def test_a_vector_of_all_bodies_is_held_once():
    """A planar mechanism: four hinges, and nothing between bodies that share the vector alone."""
    points = {"A": [0, 0, 0], "B": [0, 1, 0], "C": [2, 1, 0], "D": [2, 0, 0]}
    model = linked(
        {"ground": "A D z", "crank": "A B z", "coupler": "B C z", "rocker": "C D z"}, points, {"z": [0, 0, 1]}
    )
    assert set(found_in(model).values()) == {"revolute"} and len(model.joints) == 4


def test_a_disk_in_the_plane_of_a_linkage():
    """Every body would do as the plane; the first is taken, as joints keep all of them in it."""
    points = {"A": [0, 0, 0], "B": [0, 1, 0], "C": [2, 1, 0], "D": [2, 0, 0], "M": [3, 3, 0]}
    lists = {"ground": "A D z", "crank": "A B z", "coupler": "B C z", "rocker": "C D z", "disk": "M z"}
    model = linked(lists, points, {"z": [0, 0, 1]})
    assert found_in(model)["ground_disk"] == "planar" and len(model.joints) == 5


def test_a_slide_beside_another_one_is_ambiguous():
    """The shaft lies along z from a point of the ground and from one of the slider, which move apart."""
    points = {"O": [0, 0, 0], "G": [1, 0.3, -1], "S": [1, 0, 0], "H": [3, 0.5, 0], "P": [1, 0.3, 2], "Q": [3, 0.5, 2]}
    lists = {"ground": "O G x y z", "slider": "S H x y z", "shaft": "P Q z"}
    with pytest.raises(
        ModelError, match="share the vector z, and P lies on the line through G along z; so do 'slider'"
    ):
        linked(lists, points, {"x": [1, 0, 0], "y": [0, 1, 0], "z": [0, 0, 1]})


def test_what_written_joints_hold_is_not_held_again():
    joints = {"hinge": {"type": "revolute", "between": ["a.P", "b.P"], "axis": [0, 0, 2]}}
    model = linked({"a": "P z", "b": "P z", "c": "P z"}, {"P": [0, 0, 0]}, {"z": [0, 0, 1]}, joints=joints)
    assert list(model.joints) == ["hinge", "b_c"]


@pytest.mark.parametrize(
    ("kind", "axis", "found"),
    [("fixed", None, ["b_c", "b_d"]), ("revolute", [0, 1, 0], ["a_d", "b_c", "b_d"]), ("spherical", None, "all")],
)
def test_points_that_a_written_joint_holds_besides_its_own(kind, axis, found):
    """a and b are written to be joined at P; c is at Q and d at R, which a and b share too: Q lies on the axis."""
    points = {"P": [1, 0, 0], "Q": [1, 1, 0], "R": [1, 1, 1], "S": [2, 1, 1]}
    hinge = {"type": kind, "between": ["a.P", "b.P"]} | ({"axis": axis} if axis else {})
    model = linked({"a": "P Q R", "b": "P Q R", "c": "Q S", "d": "R"}, points, {}, joints={"w": hinge})
    assert list(found_in(model)) == (["a_c", "a_d", "b_c", "b_d"] if found == "all" else found)


def test_choices_of_other_bodies_have_their_names():
    points = {"A": [0, 0, 0], "B": [1, 0, 0], "C": [3, 0, 0]}
    with pytest.raises(ModelError, match=r"such as ground_b: {.*\[ground\.A, b\.C\].* or a_b: {.*\[a\.B, b\.C\]"):
        linked({"ground": "A x", "a": "B x", "b": "C x"}, points, {"x": [1, 0, 0]})


# --- what is wrong ---


def test_every_problem_has_its_line():
    text = """\
kinegrad: 1
parameters: {L: 1}
points:
  A: [0, 0, 0]
  B: [M, 0, 0]
  lost: [1, 1, 1]
  bad: [1, 2]
vectors:
  z: [0, 0, 0]
  A: [1, 0, 0]
ground: {points: [A, z]}
bodies:
  rod:
    mass: 1
    points: [A, BB, A]
    vectors: [z]
    markers: {z: [0, 0, 0]}
  wheel:
    mass: 1
    points: [B]
    pose: {origin: [1, 0, 0]}
"""
    with pytest.raises(ModelError) as error:
        Model.from_yaml_text(text)
    lines = {problem.line: problem.sentence for problem in error.value.problems}
    assert lines.keys() == {5, 6, 7, 10, 11, 15, 16, 21}
    assert (
        lines[5] == "points.B[0] is 'M' and names the unknown parameter or measure 'M'; define it or correct the name."
    )
    assert (
        lines[6] == "points.lost belongs to no body; list it in points of a body or of the ground, or remove the point."
    )
    assert lines[7].startswith("points.bad has 2 entries")
    assert lines[10] == "vectors.A has the name of a point; both become markers, rename the vector."
    assert lines[11] == "ground.points[1] names 'z', which is a vector; list it in vectors."
    unknown, twice = (p.sentence for p in error.value.problems if p.line == 15)
    assert "names the unknown point 'BB' (did you mean 'B'?); points: A, B" in unknown
    assert twice == "bodies.rod.points[2] names 'A', which stands before already; list it once."
    assert lines[16] == "bodies.rod.vectors[0] names 'z', and a marker has that name too; rename the marker."
    assert lines[21].startswith("bodies.wheel.pose is not global, but the coordinates of the points that it lists are")


def test_a_vector_without_length():
    document = drawn("P z", "P z", vectors={"z": [0, 0, 0]})
    assert problems(document) == [
        ("vectors.z", "vectors.z is [0, 0, 0], which has no direction; give a vector that is not zero.")
    ]


def test_a_name_that_is_taken():
    joints = {"one_other": {"type": "floating", "between": ["ground.O", "one.P"]}}
    document = drawn("P", "P", joints=joints, ground={"markers": {"O": [0, 0, 0]}})
    ((where, sentence),) = problems(document)
    assert where == "joints.one_other" and "NAME: {type: spherical, between: [one.P, other.P]}" in sentence
    ((where, sentence),) = problems(drawn("P", "P", parameters={"one_other": 1}))
    assert "has the name of a parameter; names are shared" in sentence


def test_points_that_are_put_in_later():
    model = Model(bodies={"one": {"mass": 1}})
    model.bodies["two"] = Body(mass=1, points=("P",))
    assert [p.where for p in model.problems()] == ["bodies.two.points"]
    with pytest.raises(AttributeError, match="no section 'points'"):
        model.points = {}


# --- parameters ---

MOVED = {"parameters": {"a": 0.0, "L": 0.5}, "variants": {"longer": {"L": 0.7}}}


def test_parameters_stay_parameters():
    """Two points on a line: the axis follows them, as do the markers of both bodies."""
    points = {"P": ["L", 0, 0], "Q": ["L + 1", "2*L", 0]}
    model = Model.from_dict(drawn("P Q", "P Q", points, {}, **MOVED)).check()
    assert [str(x) for x in model.joints["one_other"].axis] == ["L + 1 - L", "2*L", "0.0"]
    assert (
        str(model.bodies["one"].markers["Q"].position[0])
        == "L + 1"
        == str(model.bodies["other"].markers["Q"].position[0])
    )
    assert model.with_values(L=2).check().found_joints == model.found_joints


def test_values_with_which_it_would_be_another_joint():
    points = {"P": [0, 0, 0], "Q": ["a", 0, "L"]}
    document = drawn("P z", "Q z", points, {"z": [0, 0, 1]}, **MOVED)
    model = Model.from_dict(document).check()
    assert found_in(model) == {"one_other": "cylindrical"}
    assert found_in(model.with_values(L=0).check()) == {"one_other": "cylindrical"}  # where the points meet
    with pytest.raises(ModelError, match=r"made 'one_other' a cylindrical joint, but with these values .* no joint"):
        model.with_values(a=0.3).check()
    line = {"P": [0, 0, 0], "Q": [1, 0, 0], "R": [0.5, "L", 0]}
    weld = Model.from_dict(drawn("P Q R", "P Q R", line, {}, **MOVED)).check()
    with pytest.raises(
        ModelError, match=r"fixed joint, but .* a revolute joint, since they share .* one direction; write"
    ):
        weld.with_values(L=0).check()
    with pytest.raises(ModelError, match=r"in variant 'aside': bodies\.other.points made"):
        Model.from_dict(document | {"variants": {"aside": {"a": 0.3}}})


# --- the command line ---


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(list(map(str, arguments)))
    return exit.value.code, capsys.readouterr()


def test_check_tells_the_joints_and_why(capsys):
    code, said = run(capsys, "check", EXAMPLES / "slider_crank" / "points.yaml", "--json")
    found = {joint["name"]: joint for joint in json.loads(said.out)["found_joints"]}
    assert code == 0 and {name: joint["type"] for name, joint in found.items()} == {
        "ground_crank": "revolute", "ground_slider": "prismatic", "crank_rod": "spherical", "rod_slider": "cardan",
    }  # fmt: skip
    assert found["ground_crank"]["between"] == ["ground.A", "crank.A"]
    assert found["ground_crank"]["why"] == "share the point A and the vector x"
    code, said = run(capsys, "check", EXAMPLES / "slider_crank" / "points.yaml")
    assert code == 0 and "joint found" in said.out and "since they" in said.out


def test_a_point_of_no_body_on_the_command_line(capsys, tmp_path):
    text = (
        (EXAMPLES / "five_bar" / "points.yaml")
        .read_text()
        .replace("  B: [1, 0, 0]\n", "  B: [1, 0, 0]\n  E: [9, 9, 9]\n")
    )
    path = tmp_path / "model.yaml"
    path.write_text(text)
    code, said = run(capsys, "check", path)
    line = text.splitlines().index("  E: [9, 9, 9]") + 1
    assert code == 2 and said.err.count("\n") <= 2
    assert " ".join(said.err.split()).startswith(
        f"line {line}: points.E belongs to no body; list it in points of a body"
    )
