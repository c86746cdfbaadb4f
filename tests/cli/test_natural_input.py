"""Natural coordinates on the command line: what changed numbers do to the choice of points, and what is refused."""

import json
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.kernels.jit import JIT

EXAMPLES = Path(__file__).parents[2] / "examples"
compiled = pytest.mark.skipif(not JIT, reason="runs need the compiler")
#: A plate on whose three corners bodies hang; with w = 0 the corners lie on a line.
PLATE = """\
kinegrad: 1
parameters: {w: 0.3}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  plate: {mass: 1, com: [0.5, 0.1, 0], inertia: [0.1, 0.1, 0.1], markers: {A: [0, 0, 0], B: [1, 0, 0], C: [0.5, w, 0]}}
  a: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1], markers: {A: [0, 0, 0]}}
  b: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1], markers: {B: [0, 0, 0]}}
  c: {mass: 1, com: [0, 0, -0.5], inertia: [0.1, 0.1, 0.1], markers: {C: [0, 0, 0], E: [0.3, 0, -1]}}
joints:
  base: {type: floating, between: [ground.O, plate.A]}
  ja: {type: spherical, between: [plate.A, a.A]}
  jb: {type: spherical, between: [plate.B, b.B]}
  jc: {type: spherical, between: [plate.C, c.C]}
forces: {gravity: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom:
  base: {position: [0, 0, 0], rotation: [0, 0, 0], angular_velocity: [0.1, 0.5, 0]}
  ja: {rotation: [0, 0, 0], angular_velocity: [1, 0, 0]}
  jb: {rotation: [0, 0, 0], angular_velocity: [0, 1, 0]}
  jc: {rotation: [0, 0, 0], angular_velocity: [0, 1, 1]}
"""


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as exit:
        main(list(map(str, arguments)))
    return exit.value.code, capsys.readouterr()


@pytest.fixture
def file(tmp_path):
    def write(text):
        path = tmp_path / "model.yaml"
        path.write_text(text)
        return path

    return write


@compiled
def test_points_that_come_to_lie_on_a_line(capsys, file):
    """A run with --set chooses other points and is right; a system that keeps its tables names the body."""
    path, ends = file(PLATE), {}
    for kind in ("joint", "natural"):
        options = ("--formulation", "index1", "--integrator", "rk4", "--t-end", 0.01, "--step", 1e-3, "--json")
        code, said = run(capsys, "run", path, "--coordinates", kind, "--set", "w=0", *options)
        assert code == 0
        ends[kind] = json.loads(said.out)["markers"]["c.E"]["position"]
    assert ends["natural"] == pytest.approx(ends["joint"], abs=1e-12)
    system = kg.natural(kg.Model.from_yaml(path))
    words = r"^body 'plate': plate\.A, plate\.B, plate\.C.*have become dependent .*build the system again with them"
    with pytest.raises(kg.KinegradError, match=words):
        kg.simulate(system.with_parameters({"w": 0.0}), t_end=0.01)
    with pytest.raises(kg.KinegradError, match=words):
        kg.Stepper(system, step=1e-3).set(w=1e-6)


def test_a_mechanism_that_leaves_its_plane(capsys, file):
    text = (EXAMPLES / "slider_crank" / "model.yaml").read_text()
    code, said = run(
        capsys, "check", file(text.replace("coordinates: joint", "coordinates: {type: natural, planar: on}"))
    )
    sentence = " ".join(said.err.split())
    assert code == 2 and not said.out
    assert sentence.endswith("body 'rod' has no axis that is fixed in the ground. Use planar: auto.")


def test_slides_that_contradict_each_other(capsys, file):
    """Nothing in a loop of slides can turn, so its axes close it or nothing does."""
    text = """\
kinegrad: 1
ground: {markers: {O: [0, 0, 0], P: [1, 0, 0]}}
bodies:
  a: {mass: 1, inertia: [1, 1, 1], markers: {A: [0, 0, 0], B: [0, 1, 0]}}
  b: {mass: 1, inertia: [1, 1, 1], markers: {A: [0, 0, 0], B: [0, 1, 0]}}
joints:
  one: {type: prismatic, between: [ground.O, a.A], axis: [1, 0, 0]}
  two: {type: prismatic, between: [a.B, b.A], axis: [0, 1, 0]}
  three: {type: prismatic, between: [b.B, ground.P], axis: [[1, 0, 0], [0, 1, 0]], zero: [[0, 0, 1], [1, 0, 1]]}
"""
    code, said = run(capsys, "run", file(text), "--coordinates", "natural", "--t-end", 0.01)
    sentence = " ".join(said.err.split())
    assert code == 2 and sentence.startswith("The mechanism cannot be assembled: joint 'three' closes a loop of slides")


def test_vectors_that_make_no_joint(capsys, file):
    """Points and vectors that no joint expresses: the bodies, and what to do."""
    text = """\
kinegrad: 1
points: {P: [0, 0, 0], Q: [1, 2, 3]}
vectors: {x: [1, 0, 0], y: [0, 1, 0]}
ground: {points: [P], vectors: [x, y]}
bodies:
  block: {mass: 1, inertia: [1, 1, 1], points: [Q], vectors: [x, y]}
"""
    code, said = run(capsys, "check", file(text))
    assert code == 2 and not said.out
    assert " ".join(said.err.split()) == (
        "line 6: bodies.block.vectors: 'ground' and 'block' share the vectors x, y, but no point of one lies along them from a "
        "point of the other; give one of the bodies a vector of its own, or write a joint between them."
    )


def test_the_start_is_one(file):
    """Whatever points carry the plate, it starts alike."""
    model = kg.Model.from_yaml(file(PLATE)).with_values(w=0)
    names = kg.natural(model).set.names
    assert "plate axis y" in names and "plate axis z" in names
    assert np.all([name in names for name in ("plate.A", "plate.B", "plate.C")])
