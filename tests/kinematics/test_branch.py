"""Starts are on the branch that the poses show, however far what is asked is from them (KIN-10 to KIN-13)."""

import numpy as np
import pytest
from small_models import coupler_point

import kinegrad as kg
from kinegrad.kinematics import branch

SETS = ("joint", "reference-point", "natural")
CRANK = ", pose: {origin: [0, 0, 0], x_axis: [3, 4, 0]}"
FOUR_BAR = """\
kinegrad: 1
parameters: {{u: {u}, a: {a}*u, b: 0.18*u, c: 0.12*u, d: 0.16*u}}
ground: {{markers: {{O: [0, 0, 0], D: [d, 0, 0]}}}}
bodies:
  crank: {{mass: 0.1, inertia: [1.0e-4*u**2, 1.0e-4*u**2, 1.0e-4*u**2], markers: {{O: [0, 0, 0], A: [a, 0, 0]}}{crank}}}
  rod:
    {{mass: 0.1, inertia: [1.0e-4*u**2, 1.0e-4*u**2, 1.0e-4*u**2], markers: {{A: [0, 0, 0], B: [b, 0, 0]}},
    pose: {{origin: [{u}*0.03, {u}*0.04, 0], x_axis: [1, 0.5, 0]}}}}
  rock:
    {{mass: 0.1, inertia: [1.0e-4*u**2, 1.0e-4*u**2, 1.0e-4*u**2], markers: {{D: [0, 0, 0], B: [c, 0, 0]}},
    pose: {{origin: [{u}*0.16, 0, 0], x_axis: [0, 1, 0]}}}}
joints:
  jO: {{type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}}
  jA: {{type: revolute, between: [crank.A, rod.A], axis: [0, 0, 1]}}
  jB: {{type: revolute, between: [rod.B, rock.B], axis: [0, 0, 1]}}
  jD: {{type: revolute, between: [ground.D, rock.D], axis: [0, 0, 1]}}
{start}
simulation: {{t_end: 0.01, step: 0.005}}
"""
DRIVEN = "drivers: {{turn: {{measure: {measure}, value: {angle} + t}}}}"
FREE = "degrees_of_freedom: {{{measure}: {{position: {angle}}}}}"


def four_bar(angle, start=DRIVEN, crank=CRANK, unit=1.0, a=0.05, measure="jO.angle"):
    start = start.format(angle=angle, measure=measure)
    return kg.Model.from_yaml_text(FOUR_BAR.format(start=start, crank=crank, u=repr(unit), a=a))


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("crank", [CRANK, ""], ids=["posed", "without a pose"])
@pytest.mark.parametrize("start", [DRIVEN, FREE], ids=["driven", "free"])
def test_a_four_bar_stays_on_the_branch_of_its_poses(start, crank, kind):
    for angle in (0.0, 1.0, 2.0, 3.1, -3.0, -1.0, 7.0, -20.0):
        found = kg.assemble(kg.lower(four_bar(angle, start, crank), kind))
        assert (
            np.abs(found.markers()["rod.B"].position[:2] - coupler_point(0.05, 0.18, 0.12, 0.16, angle)).max() < 1e-13
        )
        if kind == "joint":
            assert abs(found.coordinates["jO.angle"] - angle) < 1e-13  # turns are kept


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("unit", [2.0**-20, 2.0**16])
def test_the_branch_of_a_four_bar_of_any_size(unit, kind):
    """The same to the last digit in micrometres and in kilometres."""
    one, other = (
        kg.assemble(kg.lower(four_bar(2.5, unit=u), kind)).markers()["rod.B"].position / u for u in (1.0, unit)
    )
    assert np.abs(one[:2] - coupler_point(0.05, 0.18, 0.12, 0.16, 2.5)).max() < 1e-14
    assert np.abs(other - one).max() < 1e-14


@pytest.mark.parametrize("kind", SETS)
def test_every_analysis_begins_there(kind):
    expected = coupler_point(0.05, 0.18, 0.12, 0.16, 2.5)
    driven, free = kg.lower(four_bar(2.5), kind), kg.lower(four_bar(2.5, FREE), kind)
    motions = [kg.drive(driven), kg.simulate(free), kg.simulate(driven)]
    for motion in motions:
        assert np.abs(motion.marker("rod.B").position[0, :2] - expected).max() < 1e-13
    assert kg.mobility(free).problems == ()
    assert np.abs(kg.equilibrium(driven).markers()["rod.B"].position[:2] - expected).max() < 1e-12
    for _ in range(3):  # runs that are repeated too
        again = kg.simulate(free.with_parameters(free.rho))
        assert np.abs(again.marker("rod.B").position[0, :2] - expected).max() < 1e-13


@pytest.mark.parametrize("kind", SETS)
def test_a_marker_may_be_what_is_asked(kind):
    """The height of the coupler's end belongs to two angles of the crank on each branch; the nearest is taken."""
    for height in (0.1175, 0.119, 0.114):
        model = four_bar(height, FREE, measure="rod.B.y")
        B = kg.assemble(kg.lower(model, kind)).markers()["rod.B"].position
        A = kg.assemble(kg.lower(model, kind)).markers()["crank.A"].position
        assert abs(B[1] - height) < 1e-13
        assert np.abs(B[:2] - coupler_point(0.05, 0.18, 0.12, 0.16, np.arctan2(A[1], A[0]))).max() < 1e-12


@pytest.mark.parametrize("kind", SETS)
def test_through_a_position_in_one_line(kind):
    """A parallelogram stays one where all its bars are in one line on the way."""
    text = FOUR_BAR.replace("b: 0.18*u, c: 0.12*u, d: 0.16*u", "b: 0.16*u, c: a, d: 0.16*u").replace(
        "[1, 0.5, 0]", "[1, 0, 0]"
    )
    text = text.replace("x_axis: [0, 1, 0]", "x_axis: [3, 4, 0]")
    for angle in (2.0, 4.0, -2.0):
        start = DRIVEN.format(angle=angle, measure="jO.angle")
        model = kg.Model.from_yaml_text(text.format(start=start, crank=CRANK, u=1, a=0.05))
        found = kg.assemble(kg.lower(model, kind)).markers()
        expected = found["crank.A"].position + [0.16, 0.0, 0.0]
        assert np.abs(found["rod.B"].position - expected).max() < 1e-12


def test_beyond_a_limit():
    """A crank that is too long to turn round: the sentence says how far it comes from the poses."""
    with pytest.raises(
        kg.AssemblyError, match=r"'jO\.angle' can be followed for \d+(\.\d+)? % of the way .* the linkage ends"
    ):
        kg.assemble(kg.joint(four_bar(3.1, a=0.2)))


TWO_CRANKS = """\
kinegrad: 1
ground: {{markers: {{O: [0, 0, 0], D: [1, 0, 0]}}}}
bodies:
  c1: {{mass: 1, inertia: [1, 1, 1], markers: {{O: [0, 0, 0], A: [0.2, 0, 0]}}, pose: {{x_axis: [0, 1, 0]}}}}
  r1:
    {{mass: 1, inertia: [1, 1, 1], markers: {{A: [0, 0, 0], B: [0.8, 0, 0]}}, pose: {{origin: [0, 0.2, 0], x_axis: [5, 6, 0]}}}}
  r2: {{mass: 1, inertia: [1, 1, 1], markers: {{C: [0, 0, 0], B: [0.8, 0, 0]}}}}
  c2: {{mass: 1, inertia: [1, 1, 1], markers: {{D: [0, 0, 0], C: [0.2, 0, 0]}}, pose: {{origin: [1, 0, 0], x_axis: [0, 1, 0]}}}}
joints:
  j1: {{type: revolute, between: [ground.O, c1.O], axis: [0, 0, 1]}}
  j2: {{type: revolute, between: [c1.A, r1.A], axis: [0, 0, 1]}}
  j3: {{type: revolute, between: [r1.B, r2.B], axis: [0, 0, 1]}}
  j4: {{type: revolute, between: [c2.C, r2.C], axis: [0, 0, 1]}}
  j5: {{type: revolute, between: [ground.D, c2.D], axis: [0, 0, 1]}}
degrees_of_freedom: {{j1.angle: {{position: {one}}}, j5.angle: {{position: {two}}}}}
"""


@pytest.mark.parametrize("kind", SETS)
def test_two_freedoms_at_once(kind):
    """A five-bar with its point above the cranks, and above or below their ends as small steps lead there."""
    rng = np.random.default_rng(3)
    for one, two in rng.uniform(-3.0, 3.0, (6, 2)) + np.pi / 2:
        system = kg.lower(kg.Model.from_yaml_text(TWO_CRANKS.format(one=one, two=two)), kind)
        B = kg.assemble(system).markers()["r1.B"].position[:2]
        A, C = (
            foot + 0.2 * np.array([np.cos(x), np.sin(x)])
            for foot, x in ((np.zeros(2), one), (np.array([1.0, 0.0]), two))
        )
        D = np.linalg.norm(C - A)
        e = (C - A) / D
        expected = 0.5 * (A + C) + np.sqrt(0.64 - 0.25 * D * D) * np.array([-e[1], e[0]])  # A and C never meet
        assert np.abs(B - expected).max() < 1e-12


@pytest.mark.parametrize("kind", SETS)
def test_derivatives_are_those_of_the_branch(kind):
    """By differences of starts that are each found from the poses."""
    model = four_bar(2.5, FREE)
    model.objectives = {"x": {"final": "rod.B.x"}, "y": {"final": "rod.B.y"}}
    system = kg.lower(model, kind)
    found = kg.assemble(system).gradient(wrt=["u"])
    h = 1e-6
    k = system.parameters.independent.index("u")
    step = h * (np.arange(len(system.rho)) == k)
    more, less = (kg.assemble(system.with_parameters(system.rho + sign * step)).objectives for sign in (1, -1))
    for name in ("x", "y"):
        assert abs(found[name, "u"] - (more[name] - less[name]) / (2 * h)) < 1e-9


def test_poses_that_show_the_start_cost_nothing(monkeypatch):
    """Nothing is followed where the poses are near."""
    monkeypatch.setattr(branch, "reach", None)
    model = four_bar(0.95)
    model.bodies["rock"] = model.bodies["rock"].with_(pose={"origin": [0.16, 0, 0], "x_axis": [0.034, 0.115, 0]})
    B = kg.assemble(kg.joint(model)).markers()["rod.B"].position[:2]
    assert np.abs(B - coupler_point(0.05, 0.18, 0.12, 0.16, 0.95)).max() < 1e-13


@pytest.mark.parametrize("kind", SETS)
def test_distances_from_poses_are_told(kind):
    """Bodies in metres and radians from their poses; what is asked, from its value in the poses."""
    found = kg.assemble(kg.lower(four_bar(2.5, FREE), kind))
    way, turn = found.distances.bodies["crank"]
    posed = np.arctan2(4.0, 3.0)
    assert way < 1e-15 and abs(turn - (2.5 - posed)) < 1e-12
    assert found.distances.measures["jO.angle"] == pytest.approx((2.5 - posed, 0.0), abs=1e-12)
    assert "crank 0 m, 90.1°" in found.distances.far.replace(f"{way:.3g} m", "0 m")
    assert "jO.angle by 1.573" in found.distances.far
    others = (
        kg.mobility(kg.lower(four_bar(2.5, FREE), kind)).distances,
        kg.simulate(kg.lower(four_bar(2.5, FREE), kind)).from_poses,
    )
    for other in others:
        for name, pair in found.distances.bodies.items():
            assert other.bodies[name] == pytest.approx(pair, abs=1e-12)
        assert other.measures["jO.angle"] == pytest.approx(found.distances.measures["jO.angle"], abs=1e-12)


def test_models_without_poses_have_no_distances():
    model = four_bar(1.0)
    for name in model.bodies:
        model.bodies[name] = model.bodies[name].with_(pose=None)
    found = kg.assemble(kg.joint(model)).distances
    assert str(found) == found.far == "" and found.bodies == {}


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("verb", [kg.assemble, kg.simulate, kg.mobility, kg.drive])
def test_another_branch_than_the_poses_show_is_told(verb, kind):
    """The rocker has a pose that is turned over: on no branch is it there with the coupler where its pose is."""
    model = four_bar(1.0, DRIVEN if verb is kg.drive else FREE)
    pose = {"origin": [0.16, 0, 0], "x_axis": [0.1, -1, 0]}
    model.bodies["rock"] = model.bodies["rock"].with_(pose=pose)
    with pytest.warns(kg.ModelWarning, match=r"another branch .* body 'ro(ck|d)' by 1?\d\d degrees"):
        verb(kg.lower(model, kind))


@pytest.mark.parametrize("kind", SETS)
def test_starts_on_the_branch_are_told_nothing_of(kind, recwarn):
    for angle in (-2.0, 0.9, 3.0):
        kg.simulate(kg.lower(four_bar(angle, FREE), kind))
    assert not [w for w in recwarn if w.category is kg.ModelWarning]
