"""Figures of a motion: panels, labels, choice of markers, and names that cannot be plotted."""

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.plots import moving_markers

MODEL = """\
kinegrad: 1
title: $ and \\\\alpha_{ are no formulas
ground: {markers: {O: [0, 0, 0], B: [1, 0, 0]}}
bodies:
  a: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [0.5, 0, 0], up: {vector: [0, 1, 0]}}}
  b: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [1, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.P], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.Q, b.P], axis: [0, 0, 1]}
constraints: {line: {type: distance, between: [ground.B, b.Q], distance: 0.7}}
degrees_of_freedom: {one.angle: {position: 0.3, velocity: 2}}
simulation: {t_end: 0.2, step: 2.0e-3}
"""


@pytest.fixture(scope="module")
def motion():
    model = kg.Model.from_yaml_text(MODEL)
    return kg.simulate(kg.joint(model))


def test_each_moving_point_once(motion):
    """a.Q and b.P coincide, a.P stays, a.up is a direction."""
    assert moving_markers(motion) == ["a.Q", "b.Q"]


def test_default_figure_has_four_panels_with_units(motion, tmp_path):
    figure = motion.plot(path=tmp_path / "m.png")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles[:2] == ["Paths (circle: start, square: end)", "Positions"]
    assert titles[2].startswith("Energy") and titles[3] == "Largest constraint violation"
    paths, positions, energy, _ = figure.axes
    assert (paths.get_xlabel(), paths.get_ylabel()) == ("x [m]", "y [m]")
    assert (positions.get_xlabel(), positions.get_ylabel()) == ("time [s]", "position [m]")
    assert [text.get_text() for text in paths.get_legend().get_texts()] == ["a.Q", "b.Q"]
    assert energy.get_ylabel() == "energy [J]"
    np.testing.assert_array_equal(positions.get_lines()[0].get_ydata(), motion.marker("a.Q").position[:, 0])
    assert (tmp_path / "m.png").read_bytes().startswith(b"\x89PNG")


def test_named_panels(motion, tmp_path):
    figure = motion.plot("two.angle", "one.angle", path=tmp_path / "m.pdf")
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["two.angle [rad]", "one.angle [rad]"]
    np.testing.assert_array_equal(axes.get_lines()[1].get_ydata(), motion.q[:, 0])
    assert len(motion.plot("b.Q", "energy").axes) == 3
    assert len(motion.plot("constraints").axes) == 1


def test_motion_in_space_is_drawn_in_space():
    model = kg.Model(
        bodies={"ball": kg.Body(mass=1.0, inertia=(1, 1, 1), markers={"c": (0, 0, 0)})},
        ground={"markers": {"o": (0, 0, 0)}},
        joints={"free": kg.Floating(between=("ground.o", "ball.c"))},
        forces={"gravity": kg.Gravity(acceleration=(0, 0, -9.81))},
        degrees_of_freedom={"free": {"position": [0, 0, 0], "velocity": [1, 2, 3], "rotation": [0, 0, 0]}},
    )
    figure = kg.simulate(kg.joint(model), t_end=0.5, step=0.01).plot("ball.c")
    assert figure.axes[0].name == "3d" and figure.axes[0].get_zlabel() == "z [m]"


def test_names_that_cannot_be_plotted(motion, tmp_path):
    with pytest.raises(kg.KinegradError, match=r"'b\.R' cannot be plotted.*b\.Q"):
        motion.plot("b.R")
    with pytest.raises(kg.KinegradError, match=r"\.png"):
        motion.plot(path=tmp_path / "m.jpeg2")
    with pytest.raises(kg.KinegradError, match="cannot be written"):
        motion.plot("energy", path=tmp_path / "missing" / "m.png")
