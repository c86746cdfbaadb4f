"""Reactions of joints and constraints: closed forms, balance, independence of the cut, and what is not unique."""

import numpy as np
import pytest
from body_motions import body_motions
from kinematics.small_models import FOUR_BAR, system
from whole_runs import CHAIN, DRIVEN

import kinegrad as kg
from kinegrad.coordinates.sets import joint
from kinegrad.errors import KinegradError
from kinegrad.model.model import Model

G = 9.81


def model(text):
    return Model.from_yaml_text("kinegrad: 1\n" + text)


PENDULUM = """
parameters: {m: 2.0, L: 0.5, J: 0.03, k: 3, c: 0.2}
ground: {markers: {O: [0.2, 0.1, -0.3]}}
bodies: {rod: {mass: m, com: [L, 0, 0], inertia: [0, J, J], markers: {O: [0, 0, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces:
  weight: {type: gravity, acceleration: [0, -9.81, 0]}
  coil: {type: spring, acts_on: hinge.angle, stiffness: k, damping: c}
degrees_of_freedom: {hinge.angle: {position: 0.4, velocity: 1.5}}
"""


def test_the_hinge_of_a_pendulum_carries_the_acceleration_of_its_centre():
    """F = m (a - g); the torsion spring acts on the coordinate and is no part of the reaction."""
    motion = kg.simulate(joint(model(PENDULUM)), "matrix-r", "rk4", t_end=0.5, step=0.01)
    angle, rate, second = motion.q[:, 0], motion.qd[:, 0], motion.qdd[:, 0]
    m, L = 2.0, 0.5
    ax = -L * (second * np.sin(angle) + rate**2 * np.cos(angle))
    ay = L * (second * np.cos(angle) - rate**2 * np.sin(angle))
    expected = np.stack([m * ax, m * (ay + G), *np.zeros((4, len(angle)))], axis=1)
    found = motion.reactions()
    assert np.abs(found["hinge"] - expected).max() < 1e-12
    assert np.array_equal(motion.reactions("hinge"), found["hinge"]) and list(found) == ["hinge"]
    assert found.unique["hinge"].all() and found.residual.max() < 1e-13
    assert np.array_equal(found.force("hinge"), found["hinge"][:, :3])
    assert (found.components[3], found.units[3]) == ("Mx", "N m")
    with pytest.raises(KinegradError, match="'knee' has no reaction; choose from hinge"):
        motion.reactions("knee")


def test_a_joint_named_from_the_other_side_has_the_opposite_reaction():
    turned = PENDULUM.replace("[ground.O, rod.O]", "[rod.O, ground.O]").replace(
        "position: 0.4, velocity: 1.5", "position: -0.4, velocity: -1.5"
    )
    ends = [kg.simulate(joint(model(text)), t_end=0.02, step=0.01).reactions("hinge") for text in (PENDULUM, turned)]
    assert np.abs(ends[0] + ends[1]).max() < 1e-11


@pytest.mark.parametrize("cut", ["JA", "JB", "JC", "JD"])
def test_a_four_bar_in_its_plane_is_unique_and_across_it_is_not(cut):
    """Whatever joint is cut: the sum on the bars is their rate of momentum less their weight."""
    reference = kg.simulate(system(FOUR_BAR), "index1", t_end=1e-3, step=1e-3)
    motion = kg.simulate(system(FOUR_BAR, cut=(cut,)), "index1", t_end=1e-3, step=1e-3)
    found, expected = motion.reactions(), reference.reactions()
    for name in ("JA", "JB", "JC", "JD"):
        assert found.unique[name].tolist() == [True, True, False, False, False, True]
        assert np.abs(found[name][0] - expected[name][0]).max() < 1e-11
    total = np.zeros(2)
    for first, second, mass in (("a.A", "a.B", 1.0), ("b.B", "b.C", 2.0), ("d.C", "d.D", 1.0)):
        a = 0.5 * (motion.marker(first).acceleration[0] + motion.marker(second).acceleration[0])
        total += mass * (a[:2] + [0.0, G])
    assert np.abs(found["JA"][0, :2] - found["JD"][0, :2] - total).max() < 1e-11


def test_formulations_agree_on_reactions():
    """To the error of the step, which is of second order or better."""
    runs = {
        name: kg.simulate(system(FOUR_BAR), name, "rk4" if name != "ali3p" else "newmark", t_end=0.02, step=1e-4)
        for name in ("ali3p", "matrix-r", "index1", "penalty")
    }
    reference = runs["matrix-r"].reactions()
    for name, motion in runs.items():
        found = motion.reactions()
        worst = max(np.abs(found[joint] - reference[joint]).max() for joint in found)
        assert worst < (2e-4 if name == "ali3p" else 2e-6), name
        assert found.residual.max() < (1e-5 if name == "ali3p" else 1e-8)


def test_joints_of_all_kinds_do_not_depend_on_the_cut():
    """A loop of revolute, cylindrical, spherical and prismatic joints, driven and loaded; the same state each time."""
    description = Model.from_yaml_text(DRIVEN)
    description.objectives = {}
    found = []
    for cut in ("wrist", "slide", "pin"):
        motion = kg.simulate(joint(description, cut=(cut,)), "index1", t_end=1e-3, step=1e-3)
        found.append(motion.reactions())
        for name in ("turn", "lift"):
            row = motion.system.row_names.index(name)
            assert np.abs(found[-1].forces[name] + motion.lam[:, row]).max() < 1e-8
        assert found[-1].residual.max() < 1e-10
    for other in found[1:]:
        for name in other:
            assert other.unique[name].all()
            assert np.abs(other[name][0] - found[0][name][0]).max() < 1e-9
        assert other.powers["turn"][0] == pytest.approx(found[0].powers["turn"][0], abs=1e-9)


def test_every_body_of_a_spatial_chain_is_in_balance():
    """Spherical joints, one of them reversed, a hinge and a floating body; loads on points and bodies."""
    motion = kg.simulate(joint(Model.from_yaml_text(CHAIN)), "index1", t_end=2e-3, step=1e-3)
    found = motion.reactions()
    assert np.abs(found["air"]).max() == 0.0 and np.abs(found.moment("ball")).max() < 1e-12
    # body a: reactions of ball and hinge, weight, and nothing else
    com, mass = np.array([0.1, 0.1, -0.2]), 1.4
    J = np.array([[0.3, 0.02, -0.03], [0.02, 0.4, 0.05], [-0.03, 0.05, 0.5]])
    states = body_motions(motion)
    A, r, w, alpha = states.A[-1, 0], states.r[-1, 0], states.V[-1, 0, 3:], states.a[-1, 0, 3:]
    p, q = motion.marker("a.p"), motion.marker("a.q")
    c = r + A @ com
    acceleration = (
        p.acceleration[-1] + np.cross(alpha, c - p.position[-1]) + np.cross(w, np.cross(w, c - p.position[-1]))
    )
    F = mass * (acceleration - [0.3, -9.81, 1])
    I = A @ J @ A.T
    N = I @ alpha + np.cross(w, I @ w)
    on_a = found["ball"][-1, :3] - found["hinge"][-1, :3]
    about_c = np.cross(p.position[-1] - c, found["ball"][-1, :3]) - np.cross(q.position[-1] - c, found["hinge"][-1, :3])
    assert np.abs(on_a - F).max() < 1e-11
    assert np.abs(about_c - found["hinge"][-1, 3:] - N).max() < 1e-11


BEAM = """
ground: {markers: {A: [0, 0, 0], B: [2, 0, 0]}}
bodies: {beam: {pose: global, mass: 3, com: [0.5, 0, 0], inertia: [0.1, 1, 1], markers: {A: [0, 0, 0], B: [2, 0, 0]}}}
joints:
  left: {type: LEFT, between: [ground.A, beam.A]OPTIONS}
  right: {type: RIGHT, between: [ground.B, beam.B]OPTIONS}
forces: {weight: {type: gravity, acceleration: [0.7, -9.81, 0]}}
degrees_of_freedom: {FREE}
"""


def beam(left, right, options="", free=""):
    text = BEAM.replace("LEFT", left).replace("RIGHT", right).replace("OPTIONS", options).replace("FREE", free)
    return joint(model(text))


def test_two_balls_share_what_acts_along_their_line():
    found = kg.equilibrium(beam("spherical", "spherical")).reactions()
    assert found["left"][0, 1] == pytest.approx(3 * G * 0.75, abs=1e-12)
    assert found["right"][0, 1] == pytest.approx(3 * G * 0.25, abs=1e-12)
    for name in ("left", "right"):
        assert found.unique[name].tolist() == [False, True, True, True, True, True]
    assert found["left"][0, 0] + found["right"][0, 0] == pytest.approx(-3 * 0.7, abs=1e-12)


def test_two_hinges_share_all_but_the_moment_about_their_axis():
    found = kg.equilibrium(beam("revolute", "revolute", ", axis: [1, 0, 0]")).reactions()
    for name in ("left", "right"):
        assert found.unique[name].tolist() == [False, False, False, True, False, False]
    assert np.abs((found["left"] + found["right"])[0, :3] - [-2.1, 3 * G, 0]).max() < 1e-12
    moment = (found["left"] + found["right"])[0, 3:] + np.cross([2, 0, 0], found["right"][0, :3])
    assert np.abs(moment - np.cross([0.5, 0, 0], [-2.1, 3 * G, 0])).max() < 1e-11


def test_a_bennett_linkage_has_one_state_of_stress_in_all_its_joints():
    """Two pairs of equal bars, twists by a sin β = b sin α: it moves, though counting says it cannot."""
    a, b, alpha = 1.0, 0.7, 0.9
    beta = np.arcsin(b * np.sin(alpha) / a)
    bars = [(a, alpha), (b, beta), (a, alpha), (b, beta)]
    angle = 0.8
    other = 2 * np.arctan2(np.sin((beta + alpha) / 2), np.sin((beta - alpha) / 2) * np.tan(angle / 2))
    angles = [angle, other, -angle, -other]

    def step(theta, length, twist):
        c, s, ct, st = np.cos(theta), np.sin(theta), np.cos(twist), np.sin(twist)
        return np.array(
            [[c, -s * ct, s * st, length * c], [s, c * ct, -c * st, length * s], [0, st, ct, 0], [0, 0, 0, 1]]
        )

    T, frames = np.eye(4), []
    for (length, twist), theta in zip(bars, angles, strict=True):
        frames.append(T)
        T = T @ step(theta, length, twist)
    assert np.abs(T - np.eye(4)).max() < 1e-12  # the loop closes
    text = f"ground: {{markers: {{O: [0, 0, 0], P: {frames[3][:3, 3].tolist()}}}}}\nbodies:\n"
    for i, name in enumerate("pqr"):  # global layout: every number as it is at the start
        x, y = frames[i][:3, 3].tolist(), frames[i + 1][:3, 3].tolist()
        middle = (0.5 * (frames[i][:3, 3] + frames[i + 1][:3, 3])).tolist()
        text += f"  {name}: {{pose: global, mass: 1, com: {middle}, inertia: [0.1, 0.1, 0.1], markers: {{x: {x}, y: {y}}}}}\n"
    axes = [frames[i][:3, 2].tolist() for i in range(4)]
    text += "joints:\n"
    for i, (first, second) in enumerate((("ground.O", "p.x"), ("p.y", "q.x"), ("q.y", "r.x"), ("r.y", "ground.P"))):
        text += f"  J{i}: {{type: revolute, between: [{first}, {second}], axis: {axes[i]}}}\n"
    text += "forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}\n"
    text += "degrees_of_freedom: {J0.angle: {position: 0, velocity: 1}}\n"
    sums = []
    for cut in ("J1", "J2", "J3"):
        motion = kg.simulate(joint(model(text), cut=(cut,)), "index1", t_end=1e-3, step=1e-3)
        found = motion.reactions()
        assert found.residual.max() < 1e-9
        for k in range(4):  # a wrench of stress in every joint: force and moment, across its axis
            assert not found.unique[f"J{k}"].all()
        sums.append(found["J0"][0, :3] - found["J3"][0, :3])
    assert np.abs(np.array(sums) - sums[0]).max() < 1e-10


def test_links_and_constraints_have_reactions_too():
    """A ball on a massless link, and the same by a distance constraint and by points and vectors that are held."""
    text = """
ground: {markers: {O: [0, 0, 0], up: {vector: [0, 1, 0]}, e: {vector: [1, 0, 0]}}}
bodies:
  ball: {pose: {origin: [0.3, -0.4, 0], x_axis: [1, 0.2, 0]}, mass: 2, inertia: [1, 1, 1],
         markers: {C: [0, 0, 0], n: {vector: [0, 1, 0]}}}
joints: {free: {type: planar, between: [ground.O, ball.C], axis: [0, 0, 1], x_axis: [1, 0, 0]}HOW
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}, twist: {type: torque, acts_on: free.angle, value: 0.6}}
"""
    link = text.replace(
        "HOW",
        ", bar: {type: link, between: [ground.O, ball.C], length: 0.5}}\n"
        "constraints: {hold: {type: dot, between: [ground.e, ball.n]}}",
    )
    found = kg.equilibrium(joint(model(link))).reactions()
    assert np.abs(found["bar"][0] - [0, 2 * G, 0, 0, 0, 0]).max() < 1e-10
    assert np.abs(found["hold"][0] - [0, 0, 0, 0, 0, -0.6]).max() < 1e-12
    tie = text.replace(
        "HOW",
        "}\nconstraints: {tie: {type: distance, between: [ground.O, ball.C], distance: 0.5},"
        " tilt: {type: angle, between: [ground.up, ball.n], value: 0.3}}",
    )
    found = kg.equilibrium(joint(model(tie))).reactions()
    assert np.abs(found["tie"][0] - [0, 2 * G, 0, 0, 0, 0]).max() < 1e-10
    assert np.abs(found["tilt"][0] - [0, 0, 0, 0, 0, -0.6]).max() < 1e-12
    path = text.replace(
        "HOW",
        "}\nconstraints: {path: {type: guidance, marker: ball.C, value: [0.3, -0.4, 0]},"
        " mix: {type: linear, terms: {free.angle: 2}, value: 0.2}}",
    )
    found = kg.equilibrium(joint(model(path))).reactions()
    assert np.abs(found["path"][0, :2] - [0, 2 * G]).max() < 1e-12
    assert not found.unique["path"][2] and not found.unique["free"][2]  # the plane and the guidance share it
    assert found.forces["mix"][0] == pytest.approx(-0.3, abs=1e-13)
    pin = text.replace(
        "HOW",
        "}\nconstraints: {pin: {type: coincidence, between: [ground.O, ball.C]},"
        " hold: {type: dot, between: [ground.e, ball.n]}}",
    )
    found = kg.equilibrium(joint(model(pin))).reactions()
    assert np.abs(found["pin"][0, [0, 1, 3, 4, 5]] - [0, 2 * G, 0, 0, 0]).max() < 1e-12


def test_saved_with_the_motion(tmp_path):
    xr = pytest.importorskip("xarray")
    motion = kg.simulate(system(FOUR_BAR), t_end=0.01, step=1e-3)
    motion.save(tmp_path / "m.nc", reactions=True)
    with xr.open_dataset(tmp_path / "m.nc", engine="h5netcdf") as data:
        force = data.reaction_force.sel(joint="JB")
        assert force.attrs["units"] == "N" and data.reaction_moment.attrs["units"] == "N m"
        assert np.array_equal(force.values, motion.reactions("JB")[:, :3])
        assert data.reaction_force_unique.sel(joint="JB").values.tolist() == [1, 1, 0]
    assert np.array_equal(kg.load(tmp_path / "m.nc").reactions("JC"), motion.reactions("JC"))


@pytest.mark.parametrize("at", [(0.2, 0.2, 2.1, -1.1), (0.9, 0.0, -1.2, -0.3), (-0.3, -1.5, -0.1, -0.4)])
def test_two_balls_at_one_point_share_everything(at):
    """Nothing that is free feels their forces, so only rounding is left in the balance: it must not decide."""
    text = f"""
kinegrad: 1
ground: {{markers: {{A: [{at[0]}, {at[1]}, {at[2]}]}}}}
bodies: {{b: {{mass: 2, com: [0.1, 0.2, -0.3], inertia: [0.1, 0.2, 0.25], markers: {{A: [0.7, 0.11, -0.13]}}}}}}
joints: {{one: {{type: spherical, between: [b.A, ground.A]}}, two: {{type: spherical, between: [ground.A, b.A]}}}}
forces: {{g: {{type: gravity, acceleration: [0, 0, -9.81]}}}}
degrees_of_freedom: {{one: {{rotation: [{at[3]}, 0.1, 0.2], angular_velocity: [0, 0, 0]}}}}
"""
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), "index1", "rk4", t_end=1e-3, step=1e-3)
    reactions = motion.reactions()
    for name in ("one", "two"):
        assert not reactions.unique[name][:3].any()
        assert np.abs(reactions[name][:, :3]).max() < 2.0 * 9.81
