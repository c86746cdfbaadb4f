"""Figures of sweeps: curves, maps, scatters and histograms have the numbers of their designs."""

import numpy as np
import pytest

import kinegrad as kg

MODEL = """
kinegrad: 1
parameters: {a: 1.0, b: 2.0, c: 3.0, d: 4.0, e: 5.0, f: 1.0, g: 2.0}
ground: {markers: {O: [0, 0, 0]}}
bodies: {mass: {mass: 1, inertia: [1, 1, 1], markers: {O: [0, 0, 0]}}}
joints: {slide: {type: prismatic, between: [ground.O, mass.O], axis: [1, 0, 0]}}
degrees_of_freedom: {slide.distance: {position: 0}}
simulation: {t_end: 0.1, step: 0.1}
"""


def swept(names, minimise, **keys):
    """A sweep of a study that asks for no simulation."""
    variables = keys.pop("variables", {name: {"bounds": [1, 5]} for name in names})
    return kg.Study(kg.Model.from_yaml_text(MODEL), variables=variables, minimise=minimise, **keys).sweep()


def labelled(axes, label):
    (found,) = [line for line in axes.get_lines() if line.get_label() == label]
    return found.get_xydata()


def test_one_variable_is_a_curve(tmp_path):
    found = swept(
        "a", "(a - 2)**2", sweep={"type": "grid", "points": 9}, constraints={"wide": {"value": "2*a", "at_least": 5}}
    )
    figure = found.plot(tmp_path / "a.png")
    up, held = figure.axes
    assert up.get_lines()[0].get_xydata() == pytest.approx(np.column_stack([found.values, found.goals[:, 0]]))
    assert (up.get_xlabel(), up.get_ylabel(), held.get_ylabel()) == ("a", "(a - 2)**2", "wide")
    assert labelled(up, "beyond a limit")[:, 0].tolist() == [1.0, 1.5, 2.0]
    assert labelled(up, "best of these").tolist() == [[2.5, 0.25]] and labelled(held, "best of these").tolist() == [
        [2.5, 5]
    ]
    assert labelled(held, "limit 5")[:, 1].tolist() == [5, 5] and (tmp_path / "a.png").stat().st_size > 10_000


def test_designs_that_do_not_work_are_marked():
    found = swept(
        "a", "sqrt(a - 2)", sweep={"type": "grid", "points": 5}, variables={"a": {"bounds": [1, 5], "start": 3}}
    )
    assert found.failures == 1
    (axes,) = found.plot().axes
    assert labelled(axes, "does not work")[:, 0].tolist() == [1.0]


@pytest.mark.parametrize("kind", ["grid", "sobol"])
def test_two_variables_are_a_map(kind):
    variables = {"a": {"bounds": [1, 5]}, "b": {"bounds": [1, 100], "scale": "log"}}
    limits = {"reach": {"value": "a + b", "at_most": 60}}
    found = swept(
        "ab",
        "a*b",
        sweep={"type": kind, "points": 8 if kind == "grid" else 32},
        variables=variables,
        constraints=limits,
    )
    figure = found.plot()
    map_, colours, *_ = figure.axes
    assert len(figure.axes) == 4 and colours.get_ylabel() == "a*b"
    assert (map_.get_xlabel(), map_.get_ylabel(), map_.get_yscale()) == ("a", "b", "log")
    kept = found.goals[found.goals[:, 1] <= 60]
    a, b = labelled(map_, "best of these")[0]
    assert a * b == pytest.approx(kept[:, 0].min())
    if kind == "sobol":
        points = map_.collections[0]
        np.testing.assert_allclose(points.get_offsets(), found.values)
        np.testing.assert_allclose(points.get_array(), found.goals[:, 0])
        assert len(labelled(map_, "beyond a limit")) == (found.goals[:, 1] > 60).sum() > 0
    else:
        lines = [
            one for one in map_.collections if len(one.get_edgecolor()) and np.isclose(one.get_linewidth(), 1.6).all()
        ]
        ends = np.concatenate([path.vertices for line in lines for path in line.get_paths()])
        assert len(ends) > 3 and np.abs(ends.sum(axis=1) - 60.0).max() < 2.0  # straight pieces between nodes


def test_many_variables_are_scatters_of_those_that_matter():
    found = swept("abcdefg", "100*a + 90*b + 80*c + 70*d + 60*e + 50*f + g", sweep={"type": "sobol", "points": 64})
    figure = found.plot()
    assert [axes.get_xlabel() for axes in figure.axes] == list("abcdef")
    assert "6 of 7 variables" in figure.get_suptitle()
    x, y = labelled(figure.axes[2], "design").T
    assert sorted(x) == pytest.approx(sorted(found.values[:, 2])) and sorted(y) == pytest.approx(
        sorted(found.goals[:, 0])
    )
    assert len(figure.legends) == 1


def test_tolerances_are_histograms_beside_normal_distributions():
    found = swept(
        "ab", "3*a + 4*b", sweep={"type": "monte-carlo", "points": 400, "seed": 2},
        tolerances={"a": {"sigma": 0.1}, "b": {"sigma": 0.1}}, constraints={"low": {"value": "a", "at_most": 1.1}},
    )  # fmt: skip
    assert found.nominal == {"minimise": 11.0, "low": 1.0}
    assert found.first_order == pytest.approx({"minimise": 0.5, "low": 0.1}, rel=1e-12)
    assert found.shares["minimise"] == pytest.approx({"a": 0.36, "b": 0.64}, rel=1e-12)
    assert found.shares["low"] == pytest.approx({"a": 1.0, "b": 0.0}, abs=1e-12)
    assert found.to_dict()["shares"] == found.shares
    bars, shares, held, _ = found.plot().axes
    area = sum(bar.get_width() * bar.get_height() for bar in bars.patches)
    assert area == pytest.approx(1.0)
    curve = labelled(bars, "first order,\ndeviation 0.5")
    assert curve[:, 1].max() == pytest.approx(2.0 / np.sqrt(2.0 * np.pi), rel=1e-3)
    assert np.trapezoid(curve[:, 1], curve[:, 0]) == pytest.approx(1.0, abs=1e-3)
    assert [bar.get_width() for bar in shares.patches] == pytest.approx([36, 64])
    beyond = 100.0 * (found.goals[:, 1] > 1.1).mean()
    assert f"{beyond:.3g} % beyond 1.1" in [text.get_text() for text in held.get_legend().get_texts()]


def test_first_order_is_doubted_where_a_goal_is_curved():
    """At the minimum of (a - 1)² the gradient vanishes; 3 a is straight."""
    found = swept(
        "a", "(a - 1)**2", sweep={"type": "monte-carlo", "points": 100, "seed": 2}, tolerances={"a": {"sigma": 0.1}},
        constraints={"straight": {"value": "3*a", "at_most": 9}},
    )  # fmt: skip
    (text,) = found.remarks
    assert text.startswith("First order does not describe minimise: its samples deviate by 0.01")
    assert found.to_dict()["remarks"] == [text]
    bars = found.plot().axes[0]
    assert bars.get_ylim()[1] < 3.0 * max(bar.get_height() for bar in bars.patches)
    few = swept("a", "(a - 1)**2", sweep={"type": "monte-carlo", "points": 20}, tolerances={"a": {"sigma": 0.1}})
    assert few.remarks == []
