"""Natural coordinates: counts, what is shared, merged, held or left out, and that all of it is one mechanism."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from joint_roles import KINDS, closed
from same_start import NAMES, assert_same_start, chain, started

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.coordinates.natural.lowering import Lowering
from kinegrad.errors import AssemblyError, KinegradError
from kinegrad.kernels.jit import JIT

EXAMPLES = Path(__file__).parents[2] / "examples"
LARGE = ("anchor_chain", "buggy")  # these are in tests/examples/test_vehicles.py
NAMED = sorted(path.parent.name for path in EXAMPLES.glob("*/model.yaml") if path.parent.name not in LARGE)
compiled = pytest.mark.skipif(not JIT, reason="runs need the compiler")


def example(name):
    return kg.Model.from_yaml(EXAMPLES / name / "model.yaml")


def alone(model):
    """Every body with four columns of its own, and rows for all joints."""
    return Lowering(model, None, merge=True, planar="off", sharing=False).system()


def ways(model):
    """The same model with sharing, merging and the plane switched on and off."""
    return [
        kg.natural(model),
        kg.natural(model, planar="off"),
        kg.natural(model, merge=False, planar="off"),
        alone(model),
    ]


# --- counts ---

COUNTS = {
    "five_bar": ((11, 10, 9), (8, 6, 6)),
    "slider_crank": ((13, 12, 12), None),
    "bennett": ((14, 16, 13), None),
    "bricard": ((26, 26, 25), None),
    "parallelogram": ((7, 7, 6), (5, 4, 4)),
    "gyroscope": ((35, 24, 24), None),
    "simple_pendulum": ((4, 3, 3), (3, 2, 2)),
}


@pytest.mark.parametrize("name", COUNTS)
def test_counts(name):
    """Coordinates, rows and rank in space, and in the plane where the mechanism has one."""
    space, plane = COUNTS[name]
    for options, expected in (({"planar": "off"}, space), ({}, plane or space)):
        found = kg.mobility(kg.natural(example(name), **options))
        assert (found.n, found.rows, found.rank) == expected


@pytest.mark.parametrize("links", [1, 3, 7])
def test_counts_of_a_chain(links):
    """6 N coordinates of N hinges in space: a point and an axis each, shared, and a vector of the body's own."""
    bodies = {
        f"b{i}": {"mass": 1, "com": [0.5, 0, 0], "inertia": [1, 1, 1], "markers": {"a": [0, 0, 0], "b": [1, 0, 0]}}
        for i in range(links)
    }
    joints = {
        f"j{i}": {
            "type": "revolute",
            "between": [f"b{i - 1}.b" if i else "ground.O", f"b{i}.a"],
            "axis": [0, i % 2, 1 - i % 2],
        }
        for i in range(links)
    }
    model = kg.Model.from_dict(
        {"kinegrad": 1, "ground": {"markers": {"O": [0, 0, 0]}}, "bodies": bodies, "joints": joints}
    )
    found = kg.mobility(kg.natural(model, planar="off"))
    assert (found.dof, len(found.redundant)) == (links, 0)
    assert found.n <= 6 * links


def test_check_prints_them(capsys):
    with pytest.raises(SystemExit) as exit:
        main(["check", str(EXAMPLES / "five_bar" / "model.yaml"), "--json"])
    assert exit.value.code == 0 and '"natural": {"n": 8, "m": 6, "redundant": 0}' in re.sub(
        r"\s+", " ", capsys.readouterr().out
    )


def test_names_and_units():
    system = kg.natural(example("five_bar"))
    assert (system.kind, system.n, system.m) == ("natural", 8, 6)
    assert system.coordinates == (
        "bar_A1.P1.x", "bar_A1.P1.y", "bar_23.P3.x", "bar_23.P3.y", "bar_12.P2.x", "bar_12.P2.y", "JA.angle", "J1.angle",
    )  # fmt: skip
    system = kg.natural(example("bennett"))
    units = {name.rpartition(".")[0]: name.unit for name in system.coordinates}
    assert set(units.values()) == {"m", "1", "rad"} and system.alike.shape == (0, 4)


# --- one mechanism ---


@pytest.mark.parametrize("name", NAMED)
def test_examples_start_alike(name):
    model = example(name)
    joint = kg.joint(model)
    for system in ways(model):
        assert_same_start(joint, system)


@pytest.mark.parametrize("turned", [False, True], ids=["", "reversed"])
@pytest.mark.parametrize("name", NAMES)
def test_joints_start_alike(name, turned):
    model = chain(name, turned)
    assert_same_start(kg.joint(model), kg.natural(model))


@pytest.mark.parametrize("name", [name for name in KINDS if "without" not in name])
def test_loops_through_every_joint_start_alike(name):
    model = kg.Model.from_dict(closed(name))
    assert_same_start(kg.joint(model), kg.natural(model))


@pytest.mark.parametrize("seed", range(6))
def test_random_mechanisms_start_alike(seed):
    """In every way, by the sizes of length and time of the mechanism; the soak goes on with further seeds."""
    from soak.mechanisms import generate

    mechanism = generate(seed)
    model = kg.Model.from_dict(mechanism.document)
    x, xd, xdd, *_ = started(kg.joint(model))
    L, T = mechanism.size, mechanism.time
    for system in ways(model):
        for found, expected, scale in zip(started(system), (x, xd, xdd), (L, L / T, L / T**2), strict=False):
            assert np.abs(found - expected).max() < 1e-9 * max(scale, np.abs(expected).max())


# --- what is merged, held, left out ---


def test_what_is_merged_is_held():
    """The parallel axes of the five-bar are one, as no parameter can part them; heights over the plane are hidden too."""
    system = kg.natural(example("five_bar"))
    assert {f"joints.{name}.axis.{c}" for name in ("JA", "J1", "J2", "J3", "JB") for c in "xyz"} <= set(system.held)
    assert {"ground.markers.B.z", "bodies.bar_3B.markers.B.z", "bodies.bar_12.markers.P2.z"} <= set(system.held)
    assert not any(path.endswith((".x", ".y")) and "axis" not in path for path in system.held)
    space = kg.natural(example("five_bar"), planar="off").held
    assert set(space) < set(system.held) and all("axis" in path for path in space)
    assert kg.natural(example("five_bar"), merge=False).held == ()


def test_an_axis_with_a_parameter_is_not_merged():
    data = example("five_bar").to_dict()
    data["parameters"]["tilt"] = 0.0
    data["joints"]["J2"]["axis"] = [0, "tilt", 1]
    system = kg.natural(kg.Model.from_dict(data))
    assert not any("J2.axis" in path for path in system.held)
    assert {"J2 axis.x", "J2 axis.y"} <= set(system.row_names)
    assert_same_start(kg.joint(kg.Model.from_dict(data)), system)


def test_opposite_axes_are_one():
    data = example("parallelogram").to_dict()
    name = next(reversed(data["joints"]))
    data["joints"][name]["axis"] = [0, 0, -1]
    model = kg.Model.from_dict(data)
    system = kg.natural(model)
    assert system.n == kg.natural(example("parallelogram")).n
    assert_same_start(kg.joint(model), system)


@compiled
def test_gradient_by_every_number_tells_what_is_held(capsys):
    model = str(EXAMPLES / "five_bar" / "model.yaml")
    arguments = ["gradient", model, "--t-end", "0.01", "--coordinates", "natural", "--all"]
    with pytest.raises(SystemExit) as exit:
        main([*arguments, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert exit.value.code == 0 and "joints.J2.axis.x" in found["held"]
    for row in found["gradient"].values():
        assert all(row[path] is None for path in found["held"])
        assert all(value is not None for path, value in row.items() if path not in found["held"])
    with pytest.raises(SystemExit):
        main(arguments)
    assert " held" in capsys.readouterr().out


def test_a_mechanism_that_leaves_its_plane(tmp_path, capsys):
    with pytest.raises(
        KinegradError, match=r"does not stay in a plane.*no axis that is fixed in the ground\. Use planar: auto"
    ):
        kg.natural(example("bennett"), planar="on")
    data = example("simple_pendulum").to_dict()
    joint = next(iter(data["joints"].values()))
    joint["type"] = "cylindrical"
    data["simulation"] = {"t_end": 0.01, "coordinates": {"type": "natural", "planar": "on"}}
    data["degrees_of_freedom"] = {}
    path = tmp_path / "leaves.yaml"
    path.write_text(kg.Model.from_dict(data).to_yaml())
    with pytest.raises(SystemExit) as exit:
        main(["run", str(path)])
    told = capsys.readouterr().err
    assert exit.value.code == 2 and told.count("\n") == 1 and "can move across it" in told


def test_a_height_with_a_parameter_keeps_space():
    data = example("parallelogram").to_dict()
    data["parameters"]["up"] = 0.0
    marker = data["bodies"]["crank"]["markers"]["P"]
    data["bodies"]["crank"]["markers"]["P"] = [marker[0], marker[1], "up"]
    model = kg.Model.from_dict(data)
    assert kg.natural(model).set.plane is None
    with pytest.raises(KinegradError, match=r"parameter 'up' changes the height of 'crank\.P'"):
        kg.natural(model, planar="on")


# --- groups ---

SLIDES = """
kinegrad: 1
parameters: {tilt: TILT}
ground: {markers: {O: [0, 0, 0], Q: [1, 0, 0]}}
bodies:
  a: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [0, 1, 0]}}
  b: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [0, 0, 1]}}
joints:
  j1: {type: prismatic, between: [ground.O, a.o], axis: [1, 0, 0]}
  j2: {type: prismatic, between: [a.p, b.o], axis: [0, 1, 0]}
  j3: {type: prismatic, between: [b.p, ground.Q], axis: [[0, 0, 1], [0, AXIS, 1]], zero: [[1, 0, 0], [1, 0, 0]]}
"""


def test_a_loop_of_slides():
    """Nothing turns, so the last joint has to fit; where it does not, it is an error by name."""
    fits = kg.natural(kg.Model.from_yaml_text(SLIDES.replace("TILT", "0").replace("AXIS", "0")))
    assert fits.n == 6 and not any("axis" in row.name for row in fits.rows)
    with pytest.raises(AssemblyError, match=r"joint 'j3' closes a loop of slides whose directions are off by 0\.196"):
        kg.natural(kg.Model.from_yaml_text(SLIDES.replace("TILT", "0").replace("AXIS", "0.2")))


def test_bodies_welded_to_the_ground_have_no_coordinates():
    data = kg.Model.from_yaml_text(SLIDES.replace("TILT", "0").replace("AXIS", "0")).to_dict()
    data["joints"] |= {"j1": {"type": "fixed", "between": ["ground.O", "a.o"]}}
    data["joints"].pop("j3")
    model = kg.Model.from_dict(data)
    system = kg.natural(model)
    assert system.coordinates == ("b.o.x", "b.o.y", "b.o.z")
    assert kg.mobility(system).dof == kg.mobility(kg.joint(model)).dof == 1


# --- what goes wrong ---

TRIPOD = """
kinegrad: 1
parameters: {h: 0.3}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [1, 0, 0], q: [0.5, h, 0]}}
  b: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0]}}
  c: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0]}}
joints:
  j: {type: spherical, between: [ground.O, a.o]}
  k: {type: spherical, between: [a.p, b.o]}
  l: {type: spherical, between: [a.q, c.o]}
"""


def test_points_that_become_collinear_are_named():
    model = kg.Model.from_yaml_text(TRIPOD)
    system = kg.natural(model)
    assert "a.q.x" in system.coordinates
    with pytest.raises(
        KinegradError, match=r"body 'a': a\.o, a\.p, a\.q.*have become dependent.*build the system again"
    ):
        kg.mobility(system.with_parameters({"h": 1e-6}))
    with pytest.raises(KinegradError, match="body 'a'"):
        kg.mobility(kg.natural(model, values={"h": 0.0}))
    model.parameters["h"] = 1e-6
    again = kg.natural(model)  # chooses others
    assert kg.mobility(again).dof == 9 and np.isfinite(started_position(again)).all()


def started_position(system):
    work = system.workspace()
    work["q"][: system.n] = system.set.guess(system, system.s)
    return work["q"]


def test_a_mirror_image_is_no_assembly():
    """A body whose vectors are exchanged keeps its lengths and angles, and is refused."""
    system = kg.natural(chain("revolute"))
    from kinegrad.kinematics.start import close_position, place

    work = system.workspace()
    place(system, work)
    names = [name.rpartition(".")[0] for name in system.coordinates]
    own = next(name for name in names if name.startswith("b axis"))
    for k, name in enumerate(names):
        if name == own:
            work["q"][k] *= -1.0
    with pytest.raises(AssemblyError, match="only the mirror image of body 'b' was found to fit"):
        close_position(system, work, "here")


def test_options_are_checked():
    model = example("simple_pendulum")
    with pytest.raises(KinegradError, match="planar is 'yes'; choose one of auto, on, off"):
        kg.natural(model, planar="yes")
    with pytest.raises(KinegradError, match="merge is 'no'; choose true or false"):
        kg.natural(model, merge="no")
    with pytest.raises(KinegradError, match=r"^Natural coordinates have no option 'cut'.*; they have merge, planar\.$"):
        kg.lower(model, "natural", cut=["pin"])
    with pytest.raises(KinegradError, match="needs joint coordinates, not natural"):
        kg.simulate(kg.natural(model), "recursive", "rk4", t_end=0.01)


def test_files_choose_it():
    data = example("five_bar").to_dict()
    for chosen, n in (
        ("natural", 8),
        ({"type": "natural", "planar": "off"}, 11),
        ({"type": "natural", "merge": False}, 23),
    ):
        model = kg.Model.from_dict(data | {"simulation": {"coordinates": chosen, "t_end": 1}})
        assert kg.lower(model).n == n and kg.lower(kg.Model.from_yaml_text(model.to_yaml())).n == n


def test_it_travels():
    system = kg.natural(example("five_bar"), planar="off")
    again = pickle.loads(pickle.dumps(system.with_parameters(system.rho * 1.01)))
    assert again.coordinates == system.coordinates and again.held == system.held
    assert np.array_equal(again.rho, system.rho * 1.01)
