"""kg.mobility: degrees of freedom by rank, redundant rows by name, singular positions, and what the model gives."""

import pickle
from dataclasses import FrozenInstanceError
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from small_models import FOUR_BAR, system
from soak.mechanisms import generate

import kinegrad as kg
from kinegrad.coordinates.sets import SETS

EXAMPLES = Path(__file__).parents[2] / "examples"


def example(name):
    return kg.joint(kg.Model.from_yaml(EXAMPLES / name / "model.yaml"))


@pytest.mark.parametrize(
    ("name", "dof", "n", "rows", "rank", "redundant"),
    [
        ("five_bar", 2, 4, 6, 2, ["J2.z", "J2 axis.x", "J2 axis.y", "J2 axis.z"]),
        ("bennett", 1, 3, 6, 2, ["J3.z", "J3 axis.x", "J3 axis.y", "J3 axis.z"]),
        ("bricard", 1, 5, 6, 4, ["J4 axis.y", "J4 axis.z"]),
        ("slider_crank", 1, 4, 3, 3, []),
    ],
)
def test_freedoms_and_redundant_rows(name, dof, n, rows, rank, redundant):
    found = kg.mobility(example(name))
    assert (found.dof, found.nearby, found.given) == (dof, (dof, dof), dof)
    assert (found.n, found.rows, found.rank, found.nearby_ranks) == (n, rows, rank, (rank, rank))
    assert list(found.redundant) == redundant
    assert not found.singular and found.problems == ()


def parallelogram_in_line():
    """Four bars on one line, from poses on that line."""
    poses = [("x_axis: [0.2, 1, 0]", "x_axis: [1, 0, 0]"), ("x_axis: [1, 0.4, 0]", "x_axis: [1, 0, 0]")]
    poses += [
        ("[0.9, 0.6, 0], x_axis: [-0.1, -1, 0]", "[1.2, 0, 0], x_axis: [-1, 0, 0]"),
        ("[0, 0.3, 0]", "[0.3, 0, 0]"),
    ]
    return system(
        FOUR_BAR, [*poses, ("rocker: 0.6, span: 0.8", "rocker: 0.3, span: 0.9"), ("position: pi/2", "position: 0")]
    )


def test_a_parallelogram_in_line_is_singular():
    found = kg.mobility(parallelogram_in_line())
    assert (found.dof, found.nearby, found.rank, found.nearby_ranks) == (2, (1, 1), 1, (2, 2))
    (problem,) = found.problems
    assert found.singular and "it has 2 degrees of freedom, and positions next to it 1 and 1" in problem


def bars(corners, size):
    """Bars between points of a plane, hinged to each other and to the ground, from their exact poses."""
    corners, number = size * np.array(corners), len(corners) - 1
    document = {"kinegrad": 1, "ground": {"markers": {}}, "bodies": {}, "joints": {}}
    for k, (a, b) in enumerate(pairwise(corners)):
        L = float(np.linalg.norm(b - a))
        document["bodies"][f"b{k}"] = {
            "pose": {"origin": [*a.tolist(), 0], "x_axis": [*(b - a).tolist(), 0]},
            "mass": 1, "com": [L / 2, 0, 0], "inertia": [0, L**2, L**2], "markers": {"A": [0, 0, 0], "B": [L, 0, 0]},
        }  # fmt: skip
    document["ground"]["markers"] = {"A": [*corners[0].tolist(), 0], "B": [*corners[-1].tolist(), 0]}
    ends = ["ground.A", *(f"b{k}.{end}" for k in range(number) for end in "AB"), "ground.B"]
    for k in range(number + 1):
        document["joints"][f"J{k}"] = {"type": "revolute", "between": ends[2 * k : 2 * k + 2], "axis": [0, 0, 1]}
    x, y = corners[1] - corners[0]
    document["degrees_of_freedom"] = {"J0.angle": {"position": float(np.arctan2(y, x))}}
    return kg.Model.from_dict(document)


PLACES = {
    "bent": ([(0, 0), (0.1, 0.4), (1.0, 0.7), (1.2, 0)], 1, 1),
    "change point": ([(0, 0), (0.3, 0), (1.2, 0), (0.9, 0)], 2, 1),
    "stretched": ([(0, 0), (0.3, 0), (1.2, 0), (1.5, 0)], 2, 1),
    "two bars, stretched": ([(0, 0), (0.3, 0), (1.2, 0)], 1, 0),
}


@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("place", PLACES)
def test_places_at_any_size(place, kind, size):
    """Freedoms here and nearby are those of geometry, for bars of millimetres and of kilometres, in every set."""
    corners, here, nearby = PLACES[place]
    found = kg.mobility(kg.lower(bars(corners, size), kind))
    assert (found.dof, found.nearby) == (here, (nearby, nearby))


@pytest.mark.parametrize("seed", [1, 24, 27])
def test_every_set_tells_the_same_of_redundant_rows(seed):
    """Loops with redundant rows, which are independent off the assembled positions: closing them again goes not far."""
    model = kg.Model.from_dict(generate(seed).document)
    found = [kg.mobility(kg.lower(model, kind)) for kind in SETS]
    assert {(one.dof, *one.nearby) for one in found} == {(found[0].dof,) * 3}


def test_freedoms_that_do_not_suit():
    """One too few: the sentence names a coordinate to add; nothing is raised."""
    four_bar = system(FOUR_BAR, [("{JA.angle: {position: pi/2, velocity: 1}}", "{}")])
    found = kg.mobility(four_bar)
    (problem,) = found.problems
    assert (found.dof, found.given) == (1, 0) and problem == found.unsuited
    assert "gives 0" in problem and "add 1" in problem


def test_a_mechanism_that_does_not_close_is_an_error():
    with pytest.raises(kg.AssemblyError, match="cannot be assembled"):
        kg.mobility(system(FOUR_BAR).with_parameters({"span": 9.0}))


def test_what_is_shown():
    found = kg.mobility(example("five_bar"))
    assert repr(found) == "<Mobility of 'Five-bar linkage': 2 degrees of freedom, 4 of 6 rows redundant>"
    text = str(found)
    assert text.splitlines()[0] == "Five-bar linkage" and "4: J2.z, J2 axis.x, J2 axis.y, J2 axis.z" in text
    assert "<td>degrees of freedom</td><td>2</td>" in found._repr_html_()
    in_line = kg.mobility(parallelogram_in_line())
    assert repr(in_line).endswith("singular>") and "problem" in str(in_line)


def test_it_is_frozen_and_travels():
    found = kg.mobility(system(FOUR_BAR))
    with pytest.raises(FrozenInstanceError):
        found.rank = 7
    assert pickle.loads(pickle.dumps(found)) == found
