"""A short piece of the soak in every run, and whether its own equations and checks are right."""

import copy

import numpy as np
import pytest

from soak.absolute import Instant
from soak.damage import Trials
from soak.elements import outside_tree
from soak.gradients import Count, check_gradients
from soak.jets import Jet, atan2, norm
from soak.mechanisms import COORDINATES, generate
from soak.paths import follow
from soak.roles import check_roles
from soak.rotations import turn
from soak.seeds import check_seed
from soak.starts import check_start

SEEDS = (2, 3, 4, 8, 12)
ROLES = (2, 3, 7, 12, 16, 18)
COVER = (0, 5, 6, 9, 11, 18, 30, 35)


# --- the equations of the soak against closed forms ---


PENDULUM = {
    "kinegrad": 1,
    "ground": {"markers": {"O": [0, 0, 0]}},
    "bodies": {"arm": {"mass": 2.0, "com": [0.5, 0, 0], "inertia": [0.1, 0.2, 0.3], "markers": {"A": [0, 0, 0]}}},
    "joints": {"hinge": {"type": "revolute", "between": ["ground.O", "arm.A"], "axis": [0, 0, 1]}},
    "forces": {"weight": {"type": "gravity", "acceleration": [0, -9.81, 0]}},
}  # fmt: skip


def pendulum_at(angle, omega):
    return Instant(PENDULUM, {"arm": (np.zeros(3), turn([0, 0, 1], angle))}, np.array([0, 0, 0, 0, 0, omega]))


def test_a_pendulum_in_absolute_coordinates():
    angle, omega = 0.4, 1.5
    instant = pendulum_at(angle, omega)
    J = 0.3 + 2.0 * 0.25
    alpha = -2.0 * 9.81 * 0.5 * np.cos(angle) / J
    np.testing.assert_allclose(instant.solution.acceleration, [0, 0, 0, 0, 0, alpha], atol=1e-13)
    e, n = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
    force = 2.0 * (0.5 * alpha * n - 0.5 * omega**2 * e + [0, 9.81, 0])
    wrench, more = instant.reaction("hinge")
    np.testing.assert_allclose(wrench, [*force, 0, 0, 0], atol=1e-12)
    assert more.shape[1] == 0
    assert instant.coordinate("hinge", "angle").v == pytest.approx(angle, abs=1e-15)
    assert instant.coordinate("hinge", "angle").d[-1] == pytest.approx(omega, abs=1e-14)


def test_jets_are_the_derivatives_along_a_curve():
    """Second differences of formulas along a curve, to the square of the step."""

    def curve(t):
        return np.array([np.cos(t), t**2, 1.0 + t])

    def formula(x):
        return atan2(x[0] * x[1], x[2]) + norm(x) / x[2] + x[1] ** 3

    t, h = 0.7, 1e-4
    rates = np.array([-np.sin(t), 2 * t, 1.0]), np.array([-np.cos(t), 2.0, 0.0])
    jet = formula(Jet(curve(t), rates[0][:, None], rates[1][:, None]))
    low, middle, high = (float(formula(Jet.constant(curve(t + k * h), 1)).v) for k in (-1, 0, 1))
    assert jet.d[0] == pytest.approx((high - low) / (2 * h), rel=1e-7)
    assert jet.dd[0] == pytest.approx((high - 2 * middle + low) / h**2, rel=1e-6)


def test_the_path_is_of_fourth_order():
    mechanism = generate(8)
    ends = [follow(mechanism, steps).motion for steps in (5, 10, 20)]
    first, second = np.abs(ends[0] - ends[1]).max(), np.abs(ends[1] - ends[2]).max()
    assert 10.0 < first / second < 25.0


# --- the checks find what is wrong ---


def test_a_wrong_mass_is_found():
    mechanism = generate(3)
    document = copy.deepcopy(mechanism.document)
    instant = mechanism.instant()
    document["bodies"]["b0"]["mass"] = 1.000001 * instant.number(document["bodies"]["b0"]["mass"])
    assert not check_start(mechanism)
    mechanism.document = document
    mine = mechanism.instant()
    assert np.abs(mine.solution.acceleration - instant.solution.acceleration).max() > 1e-8
    mechanism.instant = lambda _: instant
    assert any(finding.check == "start" for finding in check_start(mechanism))


def test_a_wrong_derivative_is_found(monkeypatch):
    from soak import gradients

    right = gradients.of_slots
    monkeypatch.setattr(gradients, "of_slots", lambda *a: right(*a) * (1.0 + 1e-5))
    found = check_gradients(generate(3), ("index1", "rk4"), np.random.default_rng(0), Count())
    assert any(finding.check == "differences" for finding in found)


# --- random mechanisms ---


def test_every_joint_in_every_role():
    """Joints of all kinds are in the tree, the child second or first, and close loops; the forces are of all kinds."""
    tree, closing, forces = set(), set(), set()
    for mechanism in map(generate, COVER):
        joints = mechanism.document["joints"]
        kinds = {name: joint["type"] for name, joint in joints.items()}
        out = outside_tree(joints, [name for name in joints if kinds[name] != "link"])
        closing |= {kinds[name] for name in out} | {kind for kind in kinds.values() if kind == "link"}
        tree |= {(kinds[name], joints[name]["between"][0].endswith("a")) for name in joints if name not in out}
        forces |= {(f["type"], "acts_on" in f) for f in mechanism.document.get("forces", {}).values()}
    assert {(kind, way) for kind in (*COORDINATES, "spherical", "fixed", "floating") for way in (True, False)} <= tree
    assert {*COORDINATES, "spherical", "link"} <= closing
    laws = {(kind, way) for kind in ("force", "torque", "spring") for way in (True, False)}
    assert {("gravity", False), ("spline", True), ("bushing", False)} | laws <= forces


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_formulations_gradients_and_damaged_files(seed):
    record = check_seed(seed, ("pairs", "path", "gradients", "mutations"), pairs=8, gradients=1)
    assert record["findings"] == []
    assert record["derivatives"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("seed", ROLES)
def test_trees_orders_and_reactions(seed):
    assert check_roles(generate(seed), np.random.default_rng([8, seed])) == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS[:3])
def test_other_coordinate_sets(seed):
    record = check_seed(seed, ("sets",), pairs=8)
    assert record["findings"] == []
    assert record["derivatives"] > 0


def test_damaged_logs_tables_studies_and_models(tmp_path):
    trials = Trials(tmp_path)
    assert [one for number in range(60) for one in trials.trial(number)] == []
    assert trials.outcomes["log", "refused"] and trials.outcomes["table", "accepted"]
