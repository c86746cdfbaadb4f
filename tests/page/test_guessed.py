"""Shapes that are guessed where a model gives none: plates, frames, wheels and telescopes; and the topology as a picture."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.cli import main
from kinegrad.page.geometry import hull, neighbours
from kinegrad.page.scene import scene
from kinegrad.plots.topology import topology

GROUND = {"markers": {"O": (0, 0, 0)}}


def drawn(body, **more):
    """The solids of a body that hangs in a ball joint at its marker O."""
    joints = {"ball": kg.Spherical(between=("ground.O", "b.O"))}
    model = kg.Model(ground=GROUND, bodies={"b": body}, joints=joints, **more)
    model.degrees_of_freedom["ball"] = {"rotation": [0, 0, 0]}
    return scene(kg.simulate(kg.joint(model), t_end=0.02, step=0.01))["bodies"][1]["solids"]


def size(solid):
    return np.linalg.norm(np.array(solid["matrix"]).reshape(4, 3)[:3], axis=1)


def test_points_in_a_plane_are_a_plate_and_others_a_frame():
    corners = {"O": (0, 0, 0), "A": (1, 0, 0), "B": (1, 1, 0), "C": (0, 1, 0), "M": (0.5, 0.4, 0)}
    forces = {f"pull_{name}": kg.Force(at=f"b.{name}", value=(0, 0, 0)) for name in corners}
    inertia = (0.1, 0.2, 0.25)
    sheet, *edges = drawn(kg.Body(mass=1.0, com=(0.5, 0.5, 0), inertia=inertia, markers=corners), forces=forces)
    assert sheet["kind"] == "mesh" and len(edges) == 8  # a rod and a ball for each side; M is inside
    space = corners | {"B": (1, 1, 0.6)}
    solids = drawn(kg.Body(mass=1.0, com=(0.5, 0.5, 0), inertia=inertia, markers=space), forces=forces)
    assert {solid["kind"] for solid in solids} == {"cylinder", "sphere"}


def test_a_wheel_has_the_inertia_of_its_body():
    mass, along, across = 2.0, 0.01, 0.006
    body = kg.Body(
        mass=mass, com=(0, 0, 0.1), inertia=(across, across, along), markers={"O": (0, 0, 0), "R": (0.1, 0, 0.1)}
    )
    disc, *_ = drawn(body)
    r, _, h = size(disc)
    assert disc["kind"] == "cylinder" and mass * r**2 / 2 == pytest.approx(along)
    assert mass * (3 * r**2 + h**2) / 12 == pytest.approx(across)
    np.testing.assert_allclose(disc["matrix"][9:], [0, 0, 0.1])
    off = body.model_copy(update={"com": (0.3, 0, 0.1)})  # its joint is not on the axis
    assert drawn(off)[0]["kind"] != "cylinder" or size(drawn(off)[0])[0] < r / 2


def test_bodies_that_slide_along_each_other_are_a_telescope():
    body = {"mass": 1.0, "inertia": (0.01, 0.02, 0.02)}
    model = kg.Model(
        ground=GROUND,
        bodies={
            "tube": kg.Body(**body, com=(0.1, 0, 0), markers={"O": (0, 0, 0)}),
            "rod": kg.Body(**body, com=(-0.1, 0, 0), markers={"P": (0, 0, 0)}, pose={"origin": (0.5, 0, 0)}),
        },
        joints={
            "pin": kg.Revolute(between=("ground.O", "tube.O"), axis=(0, 0, 1)),
            "slide": kg.Prismatic(between=("tube.O", "rod.P"), axis=(1, 0, 0)),
        },
        degrees_of_freedom={"pin.angle": {"position": 0}, "slide.distance": {"position": 0.5, "velocity": 1.0}},
    )
    document = scene(kg.simulate(kg.joint(model), t_end=0.2, step=0.01))
    tube, rod = (document["bodies"][k]["solids"][0] for k in (1, 2))
    assert tube["kind"] == rod["kind"] == "cylinder" and size(tube)[0] > 1.5 * size(rod)[0]
    assert size(tube)[2] == pytest.approx(0.45)  # nine tenths of the shortest
    assert size(tube)[2] + size(rod)[2] > 0.7  # they overlap when it is longest
    assert document["joints"][1]["symbols"] == [] and not document["joints"][1]["rail"]


def test_hull_and_frame_of_points(rng):
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1], [0.5, 0.5], [0.5, 0.0]])
    assert hull(square) == [0, 1, 2, 3]
    corners = [np.array(p, float) for p in [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]]
    assert neighbours(corners) == [(0, 1), (0, 3), (1, 2), (2, 3)]  # the sides, not the diagonals
    x = rng.normal(size=(12, 2))
    found = hull(x)
    for a, b in zip(found, found[1:] + found[:1], strict=True):
        left = np.cross(np.r_[x[b] - x[a], 0], np.c_[x - x[a], np.zeros(12)])[:, 2]
        assert left.min() > -1e-12


def test_the_topology_of_the_five_bar(five_bar, tmp_path, capsys):
    found = topology(five_bar.system.model)
    assert {name: depth for name, (_, depth) in found.places.items()} == {
        "ground": 0, "bar_A1": 1, "bar_12": 2, "bar_23": 2, "bar_3B": 1,
    }  # fmt: skip
    assert found.places["ground"][0] == 0.5 and len(set(found.places.values())) == 5
    kinds = {line.name: line.kind for line in found.lines}
    assert kinds == dict.fromkeys(("JA", "J1", "J3", "JB"), "tree") | {"J2": "cut"} | dict.fromkeys(
        ("spring_1", "spring_2"), "spring"
    )
    path = tmp_path / "model.yaml"
    path.write_text(five_bar.system.model.to_yaml())
    for name, code in (("a.svg", 0), ("a.txt", 2), ("model.yaml", 2)):
        with pytest.raises(SystemExit) as exit:
            main(["check", str(path), "--plot", str(tmp_path / name)])
        assert exit.value.code == code
    text = (tmp_path / "a.svg").read_text()
    assert text.startswith("<?xml") and "a.txt" in capsys.readouterr().err
