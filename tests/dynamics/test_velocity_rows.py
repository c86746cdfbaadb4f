"""Rows of velocities: closed forms, orders, counts, and what refuses them."""

import numpy as np
import pytest
import rolling_models

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.kernels.jit import JIT

pytestmark = pytest.mark.skipif(not JIT, reason="runs need the compiler")
SCHEMES = [
    ("ali3p", "newmark"), ("ali3p", "hht"), ("ali3p", "generalized-alpha"), ("index1", "newmark"), ("index1", "rk4"),
    ("index1", "rk54"), ("penalty", "rk4"), ("recursive", "rk4"), ("recursive", "newmark"),
]  # fmt: skip


def cycloid(t, g=4.0, w=2.0, v0=0.3):
    """Where a skate that turns at the rate w is on an incline, from the speed v0 along its edge."""
    x = v0 / w * np.sin(w * t) + g / (2.0 * w**2) * np.sin(w * t) ** 2
    return x, v0 / w * (1.0 - np.cos(w * t)) + g / (2.0 * w**2) * (w * t - 0.5 * np.sin(2.0 * w * t))


def falls(errors, scheme):
    """Whether two errors, at h and h/2, fall with the order of the scheme; what a penalty lets through does not."""
    if scheme[1] == "rk54" or scheme[0] == "penalty":
        return max(errors) < (1e-6 if scheme[1] == "rk54" else 1e-8)
    order = 4 if scheme[1] == "rk4" else 2
    return errors[0] / errors[1] > 0.85 * 2**order or errors[1] < 1e-11


@pytest.mark.parametrize("scheme", SCHEMES, ids="-".join)
def test_a_skate_on_an_incline_follows_a_cycloid(scheme):
    system = kg.lower(rolling_models.skate())
    errors, drifts = [], []
    for step in (4e-3, 2e-3):
        motion = kg.simulate(system, *scheme, t_end=2.0, step=step)
        x = motion.marker("skate.C").position
        errors.append(np.abs(x[:, :2].T - cycloid(motion.t)).max())
        drifts.append(motion.energies.drift)
        assert motion.constraint_violation[:, 1].max() < (1e-9 if scheme[0] == "ali3p" else 1e-5)
    assert falls(errors, scheme) and falls(drifts, scheme), (errors, drifts)
    assert errors[1] < (1e-8 if scheme[1].startswith("rk") else 2e-5)


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("index1", "rk4"), ("recursive", "rk4")], ids="-".join)
def test_chaplygins_sleigh_ends_in_a_straight_line(scheme):
    """v = V tanh(m a V t/K), ω = V √(m/K) / cosh(...) with K = J + m a²: closed form from a turn on the spot."""
    m, J, a, w, T = 1.2, 0.3, 0.4, 1.5, 3.0
    K = J + m * a**2
    V = w * np.sqrt(K / m)
    motions = [kg.simulate(kg.lower(rolling_models.sleigh()), *scheme, t_end=T, step=h) for h in (8e-3, 4e-3)]
    errors = [
        max(
            abs(x.objectives["speed"] - V * np.tanh(m * a * V / K * T)),
            abs(x.objectives["turn"] - w / np.cosh(m * a * V / K * T)),
        )
        for x in motions
    ]
    assert falls(errors, scheme) and errors[1] < 1e-4


def steady(lean=0.3, rate=1.5, m=0.8, r=0.25, g=9.81):
    """The spin with which a disk rolls in a circle, leaning, and the place of the circle's centre before its own."""
    A, C = m * r**2 / 4.0, m * r**2 / 2.0
    about = (rate**2 * A * np.sin(lean) * np.cos(lean) - m * g * r * np.sin(lean)) / (
        rate * np.cos(lean) * (C + m * r**2)
    )
    return about - rate * np.sin(lean), np.array([0.0, r * about / rate])


@pytest.mark.parametrize(
    "scheme", [("ali3p", "newmark"), ("index1", "rk4"), ("recursive", "rk4"), ("penalty", "rk4")], ids="-".join
)
def test_a_rolling_disk_keeps_its_circle(scheme):
    spin, centre = steady()
    model = rolling_models.disk()
    model.parameters["spin"] = spin
    system = kg.lower(model)
    found = kg.mobility(system)
    assert (found.dof, found.dof_velocity) == (5, 3)
    errors = []
    for step in (2e-3, 1e-3):
        motion = kg.simulate(system, *scheme, t_end=1.0, step=step)
        x = motion.marker("disk.C").position
        off = np.abs(np.linalg.norm(x[:, :2] - centre, axis=1) - np.linalg.norm(centre)).max()
        errors.append(max(off, np.abs(motion.q[:, system.number_of["tip.angle"]] - 0.3).max()))
    assert errors[1] < (1e-7 if scheme[1] == "rk4" else 1e-4)
    assert falls(errors, scheme) or errors[1] < 1e-9, errors


def test_the_force_of_an_edge_turns_the_motion():
    """Across its edge the skate accelerates by v ω: the edge gives that and holds the weight across it."""
    motion = kg.simulate(kg.lower(rolling_models.skate()), "index1", "rk4", t_end=1.0, step=1e-3)
    found = motion.reactions()
    speed = 0.3 + 2.0 * np.sin(2.0 * motion.t)
    expected = 1.3 * (speed * 2.0 + 4.0 * np.sin(2.0 * motion.t))
    assert np.abs(np.abs(found.forces["edge"]) - np.abs(expected)).max() < 1e-5
    assert found.residual.max() < 1e-6


def test_a_driver_of_velocity():
    """A row of velocities with a number in it prescribes a speed."""
    model = rolling_models.skate()
    model.constraints["pace"] = {"type": "velocity", "value": "P.angle.velocity - 2 - sin(3*t)"}
    model.degrees_of_freedom["P.angle"] = {"position": 0}
    motion = kg.simulate(kg.lower(model), "index1", "rk4", t_end=1.0, step=1e-3)
    angle = motion.q[:, motion.system.number_of["P.angle"]]
    assert np.abs(angle - (2.0 * motion.t + (1.0 - np.cos(3.0 * motion.t)) / 3.0)).max() < 1e-9
    assert motion.energies.drift < 1e-7


def changed(**constraints):
    model = rolling_models.skate()
    for name, value in constraints.items():
        model.constraints[name] = {"type": "velocity", "value": value}
    return model


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (lambda: changed(edge="P.x.velocity**2 - 1"), "not linear in velocities"),
        (lambda: changed(edge="P.x.velocity*P.y.velocity"), "not linear in velocities"),
        (lambda: changed(other="P.angle.velocity"), "3 freedoms of position and 1 of velocity.*velocity of 2"),
        (lambda: changed(a="P.x.velocity - 1", b="P.x.velocity - 2"), "3 freedoms of position|No starting velocities"),
    ],
)
def test_bad_rows_are_told(model, words):
    with pytest.raises(kg.KinegradError, match=words):
        kg.simulate(kg.lower(model()), t_end=0.1)


def test_rows_that_contradict_each_other_are_told():
    model = changed(a="P.x.velocity - 1", b="P.x.velocity - 2")
    model.degrees_of_freedom["P.x"] = {"position": 0}
    with pytest.raises(kg.KinegradError, match="No starting velocities satisfy all constraints"):
        kg.simulate(kg.lower(model), t_end=0.1)


def test_an_acceleration_in_a_row_is_refused():
    with pytest.raises(kg.ModelError, match=r"constraints\.edge\.value"):
        kg.lower(changed(edge="P.x.acceleration"))
    model = rolling_models.skate()
    model.constraints["bad"] = {"type": "position", "value": "P.x.velocity"}
    with pytest.raises(kg.ModelError, match="a row of positions uses t, parameters and positions"):
        kg.lower(model)


def test_too_few_and_too_many_velocities_are_told_with_both_counts():
    few, many = rolling_models.skate(), rolling_models.skate()
    few.degrees_of_freedom["P.x"] = {"position": 0}
    many.degrees_of_freedom["P.y"] = {"position": 0, "velocity": 0}
    for model, given, word in ((few, 1, "add 1"), (many, 3, "remove 1")):
        with pytest.raises(
            kg.AssemblyError, match=rf"3 freedoms of position and 2 of velocity.*velocity of {given} .*{word}"
        ):
            kg.simulate(kg.lower(model), t_end=0.1)


@pytest.mark.parametrize(
    ("row", "rate"),
    [
        ({"type": "velocity", "value": "skate.C.velocity.z - 0.25"}, "0.25"),
        ({"type": "position", "value": "skate.C.z - t/8"}, "0.125"),
    ],
    ids=["velocity", "position"],
)
def test_a_rate_where_nothing_moves_is_refused(row, rate):
    """The rows vanish by structure, at every position: what they ask for must not be forgotten with them."""
    model = rolling_models.skate()
    model.constraints["lift"] = row
    with pytest.raises(kg.AssemblyError, match=rf"cannot move as 'lift' asks: it wants a rate of {rate}"):
        kg.lower(model)


@pytest.mark.parametrize("analysis", [kg.equilibrium, kg.drive, kg.inverse], ids=["equilibrium", "drive", "inverse"])
def test_analyses_without_time_refuse_them_by_name(analysis):
    with pytest.raises(kg.KinegradError, match="'edge' is a row of velocities"):
        analysis(kg.lower(rolling_models.skate()))


def test_matrix_r_refuses_them_by_name():
    with pytest.raises(kg.KinegradError, match=r"'matrix-r' takes rows of positions only, and 'edge'.*ali3p"):
        kg.simulate(kg.lower(rolling_models.skate()), "matrix-r", "rk4", t_end=0.1)


def test_a_row_of_positions_is_any_expression():
    """A bead on a parabola: the same as with the coordinate itself."""
    text = """
kinegrad: 1
parameters: {c: 0.8}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  bead: {mass: 1, inertia: [1, 1, 1], markers: {P: [0, 0, 0]}}
joints:
  P: {type: planar, between: [ground.O, bead.P], axis: [0, 0, 1], x_axis: [1, 0, 0]}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
constraints: {wire: {type: position, value: "bead.P.y - c*bead.P.x**2"}, still: {type: position, value: P.angle}}
degrees_of_freedom: {P.x: {position: 0.5}}
objectives: {x: {final: bead.P.x}}
design: [c]
"""
    system = kg.lower(kg.Model.from_yaml_text(text))
    motion = kg.simulate(system, "matrix-r", "rk4", t_end=1.0, step=1e-3)
    x = motion.marker("bead.P").position
    assert np.abs(x[:, 1] - 0.8 * x[:, 0] ** 2).max() < 1e-12 and motion.energies.drift < 1e-9
    assert kg.gradient(motion).check().good


@pytest.mark.parametrize("make", [rolling_models.skate, rolling_models.sleigh, rolling_models.disk])
@pytest.mark.parametrize("coordinates", sorted(set(SETS) - {"joint"}))
def test_every_set_gives_one_motion_and_one_gradient(make, coordinates):
    found = []
    for kind in ("joint", coordinates):
        motion = kg.simulate(kg.lower(make(), kind), "index1", "rk4", t_end=0.05, step=2.5e-4)
        found.append((np.array(list(motion.objectives.values())), kg.gradient(motion, method="adjoint").matrix))
    (one, by_one), (other, by_other) = found
    assert np.abs(one - other).max() < 1e-10
    assert (np.abs(by_one - by_other) / np.abs(by_one).max(axis=1, keepdims=True)).max() < 1e-8
