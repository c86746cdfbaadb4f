"""Summaries for notebooks, sketches and tables of a motion."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import numpy as np
import pytest

import kinegrad as kg
from kinegrad.sketch import sketch

MODEL = """\
kinegrad: 1
title: Two <bars>
parameters: {m: 1.0}
design: [m]
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: m, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [0.5, 0, 0], up: {vector: [0, 1, 0]}}}
  b: {mass: 1, com: [0.5, 0, 0], inertia: [0, 1, 1], markers: {P: [0, 0, 0], Q: [1, 0, 0]}}
joints:
  one: {type: revolute, between: [ground.O, a.P], axis: [0, 0, 1]}
  two: {type: revolute, between: [a.Q, b.P], axis: [0, 0, 1]}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {one.angle: {position: 0.3, velocity: 2}, two.angle: {position: 0, velocity: 0}}
objectives: {travel: {integral: norm2(b.Q.velocity)}}
simulation: {t_end: 0.1, step: 2.0e-3}
"""


@pytest.fixture(scope="module")
def motion():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))


def parse(html):
    """The elements of a piece of HTML; fails when a tag is not closed or a text not escaped."""
    return ElementTree.fromstring(html)


def test_model_tells_its_parts_and_draws_the_graph(motion):
    tree = parse(motion.system.model._repr_html_())
    text = " ".join(tree.itertext())
    assert "Two <bars>" in text and "2: a, b" in text and "2: one, two" in text
    texts = [node.text for node in tree.iter("{http://www.w3.org/2000/svg}text")]
    assert sorted(texts) == ["a", "b", "ground", "one", "two"]


def test_motion_tells_how_it_was_made_and_draws_the_end(motion):
    tree = parse(motion._repr_html_())
    text = " ".join(tree.itertext())
    assert "joint coordinates, ali3p, newmark" in text and "2 degrees of freedom, n = 2, m = 0" in text
    assert f"{motion.objectives['travel']:.8g}" in text


def test_gradient_is_a_table(motion):
    gradient = kg.gradient(motion)
    cells = [node.text for node in parse(gradient._repr_html_()).iter("td")]
    assert cells[-2:] == ["by m", f"{gradient['travel', 'm']:.8g}"]


def test_a_gradient_by_every_number_has_the_most_important(motion):
    gradient = kg.gradient(motion, wrt=[], method=kg.DiscreteAdjoint(every_slot=True))
    html, first = gradient._repr_html_(), gradient.ranked()[0]
    cells = [node.text for node in parse(html).iter("td")]
    at = cells.index(first.path)
    assert cells[at + 1 : at + 3] == [f"{first.value:.6g}", f"{first.relative['travel']:.4g}"]
    assert f"of {len(gradient.ranked())} numbers" in html


def test_sketch_keeps_proportions(motion):
    """The bar b is twice as long on the page as the part P-Q of a."""
    lines = dict(re.findall(r"<title>([ab])</title><polyline points=\"([^\"]+)\"", sketch(motion)))
    length = {}
    for name, points in lines.items():
        (x0, y0), (x1, y1) = ([float(c) for c in point.split(",")] for point in points.split())
        length[name] = np.hypot(x1 - x0, y1 - y0)
    assert length["b"] / length["a"] == pytest.approx(2.0, rel=5e-3)


def test_dataframe_has_labels_units_and_the_numbers_of_the_motion(motion):
    frame = motion.to_dataframe()
    assert frame.index.name == "time" and len(frame) == 51
    np.testing.assert_array_equal(frame["two.angle.velocity"], motion.qd[:, 1])
    np.testing.assert_array_equal(frame["b.Q.y.acceleration"], motion.marker("b.Q").acceleration[:, 1])
    np.testing.assert_array_equal(frame["kinetic_energy"], motion.energies.kinetic)
    units = frame.attrs["units"]
    assert set(units) == {"time", *frame.columns}
    assert (units["one.angle"], units["one.angle.acceleration"], units["b.Q.y.velocity"]) == ("rad", "rad/s2", "m/s")
    few = motion.to_dataframe("b.Q")
    assert "b.Q.x" in few and "a.Q.x" not in few and "one.angle" not in few
    with pytest.raises(kg.KinegradError, match=r"There is no signal 'b\.R'; the nearest are b\.Q\.z"):
        motion.to_dataframe("b.R")


def test_without_pandas_the_sentence_says_what_to_install(motion, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(kg.KinegradError, match=r"pip install 'kinegrad\[data\]'"):
        motion.to_dataframe()


def test_summaries_do_not_load_a_plotting_library():
    program = (
        "import sys, kinegrad as kg\n"
        "model = kg.Model(bodies={'b': kg.Body(mass=1)})\n"
        "assert '<svg' in model._repr_html_()\n"
        "print([name for name in ('matplotlib', 'pandas', 'numba') if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
