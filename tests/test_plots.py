"""Figures: panels, labels, choice of markers, reactions, gradients, and names that cannot be plotted."""

import os
import subprocess
import sys
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.plots import moving_markers, plot_reactions
from kinegrad.plots.gradient import relative

MODEL = """\
kinegrad: 1
title: $ and \\\\alpha_{ are no formulas
ground: {markers: {O: [0, 0, 0], B: [1, 0, 0]}}
bodies:
  a: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [0.5, 0, 0], up: {vector: [0, 1, 0]}}}
  b: {mass: m, com: [c, none, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [1, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.P], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.Q, b.P], axis: [0, 0, 1]}
constraints: {line: {type: distance, between: [ground.B, b.Q], distance: 0.7}}
degrees_of_freedom: {one.angle: {position: 0.3, velocity: 2}}
parameters: {m: 1.0, c: 0.5, none: 0.0}
design: [m, c, none]
objectives: {travel: {integral: norm2(b.Q.velocity)}, last: {final: b.Q.x}}
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
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["two.angle", "one.angle"]
    assert axes.get_ylabel() == "angle [rad]"
    np.testing.assert_array_equal(axes.get_lines()[1].get_ydata(), motion.q[:, 0])
    assert len(motion.plot("b.Q", "energy").axes) == 3
    assert len(motion.plot("constraints").axes) == 1


def test_signals_on_axes_of_one_unit(motion):
    """A comma keeps them together, a semicolon and another unit do not."""
    together, apart, speed = motion.plot("one.angle, two.angle; b.Q.x, b.Q.x.velocity").axes
    assert len(together.get_lines()) == 2 and together.get_ylabel() == "angle [rad]"
    assert apart.get_ylabel() == "b.Q.x [m]" and speed.get_ylabel() == "b.Q.x.velocity [m/s]"
    np.testing.assert_array_equal(speed.get_lines()[0].get_ydata(), motion["b.Q.x.velocity"])


def test_phase_plots_and_motions_beside_each_other(motion):
    other = kg.simulate(kg.joint(motion.system.model), t_end=0.1)
    (axes,) = motion.plot("one.angle.velocity", x="one.angle", beside=[other]).axes
    first, second = axes.get_lines()
    np.testing.assert_array_equal(first.get_xdata(), motion["one.angle"])
    np.testing.assert_array_equal(second.get_ydata(), other["one.angle.velocity"])
    assert axes.get_xlabel() == "one.angle [rad]"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["motion 1", "motion 2"]
    labels = motion.plot("one.angle", beside={"slow": other}).axes[0].get_legend().get_texts()
    assert [text.get_text() for text in labels] == ["this motion", "slow"]
    with pytest.raises(kg.KinegradError, match="x and beside go with signals, and 'energy' is named"):
        motion.plot("energy", x="t")


CHASSIS = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0]}}
bodies:
  car: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], a: [1, 0, 0], b: [2, 0, 0], c: [0, 1, 0], d: [0, 2, 0]}}
  load: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], e: [0, 1, 0]}}
  arm: {mass: 1, com: [0, -1, 0], inertia: [1, 1, 1], markers: {o: [0, 0, 0], tip: [0, -1, 0]}}
joints:
  rail: {type: prismatic, between: [ground.O, car.o], axis: [1, 0, 0]}
  weld: {type: fixed, between: [car.a, load.o]}
  hinge: {type: revolute, between: [car.b, arm.o], axis: [0, 0, 1]}
degrees_of_freedom: {rail.distance: {position: 0, velocity: 1}, hinge.angle: {position: 0.5}}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
"""


def test_what_moves_differently():
    """One point of a chassis, none of what goes along with it, and the tip of the arm."""
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(CHASSIS)), t_end=0.5, step=0.01)
    assert moving_markers(motion) == ["car.o", "arm.tip"]


def test_driver_forces_are_drawn():
    text = CHASSIS.replace(
        "degrees_of_freedom: {rail.distance: {position: 0, velocity: 1}, hinge.angle: {position: 0.5}}",
        "drivers: {push: {measure: rail.distance, value: t**2}, swing: {measure: hinge.angle, value: sin(t)}}",
    )
    motion = kg.drive(kg.joint(kg.Model.from_yaml_text(text)), t_end=0.5, step=0.01)
    force, torque = motion.plot().axes[-2:]
    assert force.get_ylabel() == "push.force [N]" and torque.get_ylabel() == "swing.force [N m]"
    np.testing.assert_array_equal(force.get_lines()[0].get_ydata(), motion.reactions().forces["push"])


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


def test_reactions_of_all_joints_are_magnitudes_and_of_named_ones_components(tmp_path):
    t = np.linspace(0, 1, 11)
    reactions = {"one": np.outer(t, [3, 4, 0, 0, 0, 2]), "two": np.outer(t, [0, 0, 0, 0, 0, 1])}
    force, moment = plot_reactions(t, reactions, path=tmp_path / "r.png").axes
    assert (force.get_ylabel(), moment.get_ylabel()) == ("force [N]", "moment [N m]")
    np.testing.assert_allclose(force.get_lines()[0].get_ydata(), 5 * t, rtol=1e-15)
    np.testing.assert_allclose(moment.get_lines()[1].get_ydata(), t, rtol=1e-15)
    force, moment = plot_reactions(t, reactions, ["one"]).axes
    assert [text.get_text() for text in force.get_legend().get_texts()] == ["one x", "one y"]
    assert [text.get_text() for text in moment.get_legend().get_texts()] == ["one z"]
    with pytest.raises(kg.KinegradError, match="no joints"):
        plot_reactions(t, {})


def test_reactions_of_a_motion(motion):
    """The mechanism is planar and its hinges turn freely: no moments, and rounding is not drawn."""
    force, moment = motion.plot("reactions").axes
    np.testing.assert_allclose(
        force.get_lines()[0].get_ydata(), np.linalg.norm(motion.reactions("one")[:, :3], axis=1), rtol=1e-12
    )
    assert {text.get_text() for text in force.get_legend().get_texts()} == set(motion.reactions())
    assert moment.texts[0].get_text() == "all moments are zero" and not moment.get_lines()
    force, moment = motion.plot("one").axes
    np.testing.assert_array_equal(force.get_lines()[1].get_ydata(), motion.reactions("one")[:, 1])
    assert force.get_title() == "Force on the second body" and not moment.get_lines()


def test_reactions_that_are_one_of_many_say_so():
    class Shared(dict):
        unique = MappingProxyType({"one": np.array([1, 0, 1, 1, 1, 1], bool)})

    t = np.linspace(0, 1, 5)
    for names, label in (((), "one (not unique)"), (["one"], "one y (not unique)")):
        force, _ = plot_reactions(t, Shared(one=np.outer(t, [0, 4, 0, 0, 0, 2])), names).axes
        assert [text.get_text() for text in force.get_legend().get_texts()] == [label]


def test_gradient_has_bars_and_its_course_in_time(motion, tmp_path):
    gradient = kg.gradient(motion, history=True)
    np.testing.assert_array_equal(gradient.history[-1], gradient.matrix)
    np.testing.assert_array_equal(gradient.matrix, kg.gradient(motion).matrix)
    assert gradient.history.shape == (len(gradient.history_t), 2, 3) and gradient.history_t[-1] == 0.2
    np.testing.assert_array_equal(gradient.history[0, 0], 0.0)
    assert np.isnan(gradient.history[:-1, 1]).all()
    figure = gradient.plot(tmp_path / "g.png")
    bars, course, last, nothing = figure.axes
    widths = [patch.get_width() for patch in bars.patches]
    at, value = np.array([1.0, 0.5, 0.0]), gradient.values["travel"]
    np.testing.assert_allclose(widths, at * gradient.matrix[0] / value, rtol=1e-14)
    assert [label.get_text() for label in bars.get_yticklabels()] == ["m", "c", "none (is 0)"]
    assert bars.get_xlabel() == "relative sensitivity [% per %]" and bars.get_title().startswith("travel = ")
    np.testing.assert_allclose(course.get_lines()[1].get_ydata(), 0.5 * gradient.history[:, 0, 1] / value, rtol=1e-14)
    assert course.get_ylabel() == "relative sensitivity [% per %]"
    assert course.get_xlabel() == "time [s]" and not nothing.axison and last.get_title().startswith("last = ")


def test_course_of_a_gradient_is_the_gradient_of_shorter_runs(motion):
    """To half a step: a state in the middle of a run has the weight of two half steps, at the end of one."""
    whole = kg.gradient(motion, history=True)
    k = len(whole.history_t) // 2
    middle = float(whole.history_t[k])
    short = kg.gradient(kg.simulate(motion.system, t_end=middle))
    scale = np.abs(whole.history[:, 0]).max()
    np.testing.assert_allclose(whole.history[k, 0], short.matrix[0], atol=2e-2 * scale)


def test_gradient_by_every_number_shows_the_largest(motion):
    gradient = kg.gradient(motion, method="discrete-adjoint", every_slot=True)
    figure = gradient.plot()
    assert len(figure.axes) == 4 and "12 largest of" in figure.axes[0].get_title()
    assert "by body and element" in figure.axes[1].get_title()


def test_relative_sensitivity_of_an_objective_that_vanishes_is_in_its_unit():
    np.testing.assert_array_equal(relative(0.0, np.array([2.0]), np.array([3.0])), [6.0])
    np.testing.assert_array_equal(relative(-4.0, np.array([2.0]), np.array([3.0])), [1.5])


def test_a_backend_that_matplotlib_does_not_know(tmp_path):
    """Figures go into files; a script is told what to change."""
    environment = os.environ | {"MPLBACKEND": "nonsense"}
    (tmp_path / "m.yaml").write_text(
        (Path(__file__).parents[1] / "examples" / "simple_pendulum" / "model.yaml").read_text()
    )
    cli = "from kinegrad.cli import main; main()"
    command = [sys.executable, "-c", cli, "run", "m.yaml", "--t-end", "0.1", "--plot", "p.png"]
    subprocess.run(command, cwd=tmp_path, env=environment, check=True)
    assert (tmp_path / "p.png").stat().st_size > 0
    script = "from kinegrad.plots.figure import draw; draw('', [])"
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert "KinegradError: matplotlib refuses MPLBACKEND=nonsense of the environment" in done.stderr
