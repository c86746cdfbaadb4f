"""The file of a page: its numbers are those of the motion, and it needs nothing else."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from reading import course, scene_of, unpacked

import kinegrad as kg
from kinegrad.page import html, replay
from kinegrad.page.html import SCRIPTS
from kinegrad.page.replay import chosen_rows
from kinegrad.page.scene import scene
from kinegrad.signals import histories
from kinegrad.signals.orientations import quaternions


def test_poses_give_every_marker(five_bar, tmp_path):
    """In single precision: 2 m are known to 2e-7."""
    scene = scene_of(five_bar.to_html(tmp_path / "a.html", frames=11))
    times = unpacked(scene["times"])
    assert scene["count"] == 11 and np.abs(times - np.linspace(0, 0.5, 11)).max() < 1e-7
    for name in ("bar_A1.P1", "bar_12.P2", "bar_23.P2", "bar_3B.B", "ground.B"):
        expected = five_bar.marker(name).position[::50]
        assert np.abs(course(scene, name) - expected).max() < 1e-6, name
    assert scene["bodies"][2]["com"] == pytest.approx([13**0.5 / 4, 0, 0])


def test_spatial_frames_and_turns(tmp_path):
    """A ball that spins about a tilted axis at constant speed: its frame is known at every time."""
    spin = np.array([3.0, -4.0, 12.0])
    model = kg.Model(
        bodies={"ball": kg.Body(mass=1.0, inertia=(1, 1, 1), markers={"c": (0, 0, 0), "p": (0.3, 0.1, -0.2)})},
        ground={"markers": {"o": (0, 0, 0)}},
        joints={"free": kg.Floating(between=("ground.o", "ball.c"))},
        degrees_of_freedom={
            "free": {
                "position": [0, 1, 0],
                "velocity": [1, 0, 2],
                "rotation": [0, 0, 0],
                "angular_velocity": list(spin),
            }
        },
    )
    motion = kg.simulate(kg.joint(model), t_end=1.0, step=1e-3)
    scene = scene_of(motion.to_html(tmp_path / "a.html", frames=51))
    assert np.abs(course(scene, "ball.p") - motion.marker("ball.p").position[::20]).max() < 1e-6
    p = unpacked(scene["poses"]).reshape(51, 7)[:, 3:]
    assert (np.sum(p[1:] * p[:-1], axis=1) > 0.9).all()  # neighbours on one side, so that the page may interpolate
    half = 0.5 * 13.0 * np.linspace(0, 1, 51)
    assert np.abs(np.abs(p[:, 0]) - np.abs(np.cos(half))).max() < 2e-4


def test_quaternions_of_every_kind(rng):
    p = rng.normal(size=(40, 3, 4))
    p[:4] = np.eye(4)[:, None]  # half turns about x, y, z have no scalar part
    p /= np.linalg.norm(p, axis=2, keepdims=True)
    A = np.array([[kg.rotations.A_orthogonal_of(x) for x in row] for row in p])
    found = quaternions(A)
    assert np.abs(np.abs(np.sum(found * p, axis=2)) - 1).max() < 1e-14
    assert (np.sum(found[1:] * found[:-1], axis=2) >= 0).all()


def test_chosen_rows_meet_both_ends():
    t = np.cumsum(np.r_[0.0, np.full(500, 1e-3), np.full(50, 1e-2)])
    rows = chosen_rows(t, 101)
    assert rows[0] == 0 and rows[-1] == 550 and len(rows) <= 101 and (np.diff(rows) > 0).all()
    assert np.diff(t[rows]).max() < 0.0201
    assert chosen_rows(t[:5], 10).tolist() == [0, 1, 2, 3, 4]


def test_curves_are_those_of_the_motion(five_bar, tmp_path):
    scene = scene_of(five_bar.to_html(tmp_path / "a.html", frames=26))
    series = {one["name"]: one for one in scene["series"]}
    panels = {panel["title"]: panel["names"] for panel in scene["panels"]}
    assert list(panels) == ["Marker", "Forces", "Joints", "Energy", "Objectives", "Constraint violation"]
    assert panels["Forces"] == ["spring_1.force", "spring_2.force"] and series["spring_1.force"]["unit"] == "N"
    kinetic = unpacked(series["change of kinetic energy"]["y"])
    np.testing.assert_allclose(kinetic, five_bar.energies.kinetic[::20], rtol=1e-6)
    np.testing.assert_allclose(unpacked(series["J1.angle"]["y"]), five_bar.q[::20, 1], rtol=1e-6)
    speed = np.sum(five_bar.marker("bar_12.P2").velocity[::20] ** 2, axis=1)
    np.testing.assert_allclose(unpacked(series["psi2"]["y"]), speed, rtol=1e-5, atol=1e-12)
    assert series["psi2"]["total"] == pytest.approx(five_bar.objectives["psi2"])
    reaction = np.linalg.norm(five_bar.reactions("J2")[::20, :3], axis=1)
    np.testing.assert_allclose(unpacked(series["J2.reaction.force.norm"]["y"]), reaction, rtol=1e-6)
    assert len(series) < 60 < scene["signals"] == len(five_bar.catalogue)


def test_signals_that_are_asked_for_are_in_the_panels(five_bar, tmp_path):
    asked = "bar_12.P2.velocity; J1.reaction.force.x, work"
    scene = scene_of(five_bar.to_html(tmp_path / "a.html", frames=11, signals=asked))
    velocity = [f"bar_12.P2.{axis}.velocity" for axis in "xyz"]
    assert [panel["names"] for panel in scene["panels"][:2]] == [velocity, ["J1.reaction.force.x", "work"]]
    series = {one["name"]: unpacked(one["y"]) for one in scene["series"]}
    expected = five_bar.marker("bar_12.P2").velocity[::50]
    np.testing.assert_allclose(np.stack([series[name] for name in velocity], 1), expected, rtol=1e-6, atol=1e-12)
    everything = scene_of(five_bar.to_html(tmp_path / "a.html", frames=3, signals="all"))
    assert {one["name"] for one in everything["series"]} > set(five_bar.catalogue)
    assert everything["panels"] == scene_of(five_bar.to_html(tmp_path / "a.html", frames=3))["panels"]
    with pytest.raises(kg.KinegradError, match=r"spring_1\.forse.*spring_1\.force"):
        five_bar.to_html(tmp_path / "a.html", signals="spring_1.forse")


def test_gradient_is_in_the_page(five_bar, five_bar_page, tmp_path):
    _, gradient = five_bar_page
    found = scene_of(five_bar.to_html(tmp_path / "a.html", gradient=gradient))["gradient"]
    assert found["parameters"] == list(gradient.wrt) and found["objectives"] == list(gradient.values)
    np.testing.assert_allclose(found["matrix"], gradient.matrix)
    np.testing.assert_allclose(found["rho"], [5**0.5, 17**0.5 / 2, 1, 2**0.5 / 2, 2**0.5])


def test_the_file_needs_nothing_else_and_is_closed_to_scripts_in_names(tmp_path):
    model = kg.Model(
        title="</script><script>alert(1)</script> & <b>",
        bodies={"b": kg.Body(mass=1.0, markers={"p": (0, 0, 0), "q": (1, 0, 0)}, inertia=(0, 1, 1))},
        ground={"markers": {"o": (0, 0, 0)}},
        joints={"j": kg.Revolute(between=("ground.o", "b.p"), axis=(0, 0, 1))},
        degrees_of_freedom={"j.angle": {"position": 0, "velocity": 1}},
    )
    path = kg.simulate(kg.joint(model), t_end=0.1, step=0.01).to_html(tmp_path / "a.html")
    text = path.read_text()
    assert "<script>alert" not in text and scene_of(path)["title"] == model.title
    assert text.count("<script") == text.count("</script>") == 2
    program = re.sub(r'<script type="application/json".*?</script>', "", text, flags=re.DOTALL)
    assert not re.search(r"https?://|\bimport\b|@import|src=|url\(", program)
    assert "default-src 'none'" in text
    web = Path(kg.__file__).parent / "page" / "web"
    assert sorted(SCRIPTS) == sorted(path.name for path in web.glob("*.js"))  # each is in the page, once


def test_sixty_four_bodies(tmp_path):
    model = kg.Model(ground={"markers": {"O": (0, 0, 0)}})
    for i in range(64):
        model.bodies[f"b{i}"] = kg.Body(
            mass=1.1,
            com=(0.05, 0.01, 0.02),
            inertia=(0.01, 0.02, 0.015),
            markers={"p": (0, 0, 0), "q": (0.1, 0.02, 0.03)},
        )
        ends = (f"b{i - 1}.q" if i else "ground.O", f"b{i}.p")
        model.joints[f"j{i}"] = kg.Revolute(between=ends, axis=np.eye(3)[i % 3])
        model.degrees_of_freedom[f"j{i}.angle"] = {"position": 0.1}
    model.forces["gravity"] = kg.Gravity(acceleration=(0, 0, -9.81))
    motion = kg.simulate(kg.joint(model), t_end=0.599, step=1e-3)
    assert len(motion.t) == 600
    path = motion.to_html(tmp_path / "chain.html")
    scene = scene_of(path)
    assert scene["count"] == 600 and len(scene["bodies"]) == 65
    assert np.abs(course(scene, "b63.q") - motion.marker("b63.q").position).max() < 1e-5
    assert path.stat().st_size < 3.5e6


def test_refused_by_name(five_bar, tmp_path):
    with pytest.raises(kg.KinegradError, match=r"a\.txt.*\.html"):
        five_bar.to_html(tmp_path / "a.txt")
    with pytest.raises(kg.KinegradError, match=r"frames is 1"):
        five_bar.to_html(tmp_path / "a.html", frames=1)
    with pytest.raises(kg.KinegradError, match=r"cannot be written"):
        five_bar.to_html(tmp_path / "missing" / "a.html")
    assert list(tmp_path.iterdir()) == []


def test_signals_of_a_system_that_is_solved_by_fronts(five_bar):
    """Which sees the columns that markers of signals do not have."""
    by_fronts = replace(five_bar, system=five_bar.system.with_solver("fronts"))
    rows = [0, 100, 500]
    names = ("spring_1.force", "J2.angle", "bar_12.P2.x.velocity")
    expected = five_bar.signals(*names, rows=np.array(rows)).values
    np.testing.assert_allclose(by_fronts.signals(*names, rows=np.array(rows)).values, expected, rtol=1e-13, atol=1e-13)


def test_an_objective_may_be_called_work(tmp_path):
    """One with the force of a driver is no signal; one that is a signal is none of the system."""
    text = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies: {arm: {mass: 1, inertia: [1, 1, 1], markers: {A: [0, 0, 0], B: [1, 0, 0]}}}
joints: {J: {type: revolute, between: [ground.O, arm.A], axis: [0, 0, 1]}}
drivers: {motor: {measure: J.angle, value: t}}
objectives: {work: {integral: "WHAT"}}
simulation: {t_end: 1, step: 0.1}
"""
    for what, listed in (("motor.force**2", False), ("arm.B.x**2", True)):
        motion = kg.drive(kg.joint(kg.Model.from_yaml_text(text.replace("WHAT", what))))
        scene = scene_of(motion.to_html(tmp_path / "a.html", frames=3))
        (energy,) = (panel["names"] for panel in scene["panels"] if panel.get("title") == "Energy")
        assert ("work" in motion.catalogue) == listed and "work" not in energy


def test_large_models_are_looked_at_in_parts(five_bar, monkeypatch, tmp_path):
    """States in blocks, the document in pieces, and energies without formulas that go through all bodies."""
    motion, whole = five_bar, scene(five_bar)
    formulas, made = [], histories._formulas
    monkeypatch.setattr(histories, "_formulas", lambda m, names, rows: formulas.extend(names) or made(m, names, rows))
    monkeypatch.setattr(replay, "BLOCK", 40)
    document = scene(motion)
    assert document == whole and len(document["times"]) > 100
    assert formulas and not {"kinetic_energy", "potential_energy"} & set(formulas)
    texts = list(html.pieces(document))
    assert len(texts) > len(document) and "".join(texts) == html.page(document)
    assert motion.to_html(tmp_path / "a.html").read_text(encoding="utf-8") == html.page(document)
