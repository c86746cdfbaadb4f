"""Each kind of signal beside NumPy and the motion of the bodies, in every coordinate set."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.interpolate import CubicSpline
from scipy.spatial.transform import Rotation
from signal_models import MODEL, Bodies

import kinegrad as kg
from kinegrad.errors import KinegradError, ModelError

ROWS = np.array([0, 1, 7, 30, 59, 60])
SETS = ("joint", "reference-point", "natural")


@pytest.fixture(scope="module")
def simulated():
    return kg.simulate(kg.joint(kg.Model.from_yaml_text(MODEL)))


@pytest.fixture(scope="module", params=SETS)
def motion(request, simulated):
    """The same motion of the bodies in each set."""
    return simulated if request.param == "joint" else simulated.in_coordinates(request.param)


@pytest.fixture(scope="module")
def written(simulated):
    return expected(simulated, Bodies(simulated, ROWS))


def expected(motion, b) -> dict[str, np.ndarray]:
    """Signals at some states, written out."""
    t, out = b.t, {"t": b.t}
    number = dict(zip(motion.system.parameters.independent, motion.system.rho.tolist(), strict=True))
    model, g = motion.system.model, np.array([0.3, -9.81, 0.2])

    def put(name, vector):
        for c, axis in enumerate("xyz"):
            out[f"{name}.{axis}"] = vector[:, c]
        out[f"{name}.norm"] = np.linalg.norm(vector, axis=1)

    def put_point(name, x):
        for c, axis in enumerate("xyz"):
            for k, rate in enumerate(("", ".velocity", ".acceleration")):
                out[f"{name}.{axis}{rate}"] = x[k][:, c]
        for k, rate in ((1, "velocity"), (2, "acceleration")):
            out[f"{name}.{rate}.norm"] = np.linalg.norm(x[k], axis=1)

    def dot(x, y):
        return np.einsum("ki,ki->k", x, y)

    # bodies
    T = V = P = H = 0.0
    com = {"crank": (1.6, (1.2 * np.array([0.2, 0.03, 0.01]) + 0.4 * np.array([0.1, 0.1, 0.2])) / 1.6)}
    com |= {
        "rod": (0.8, [0.5, 0, 0.02]),
        "slider": (0.6, [0, 0, 0]),
        "ball": (0.5, [0, 0, -0.3]),
        "drum": (0.3, [0, 0, 0]),
    }
    inertia = {"rod": np.diag([0.01, 0.08, 0.08]), "slider": 0.01 * np.eye(3), "ball": np.diag([0.02, 0.03, 0.01])}
    inertia["drum"] = np.diag([0.01, 0.01, 0.02])
    own = np.array([[0.03, 0.002, 0.001], [0.002, 0.03, -0.003], [0.001, -0.003, 0.05]])
    for m, at in ((1.2, [0.2, 0.03, 0.01]), (0.4, [0.1, 0.1, 0.2])):
        d = np.array(at) - com["crank"][1]
        own = own + m * (d @ d * np.eye(3) - np.outer(d, d))
    inertia["crank"] = own
    for body, (m, at) in com.items():
        A, *_, w, wd = b.of[body]
        x = b.point(body, at)
        put_point(f"{body}.com", x)
        put(f"{body}.angular_velocity", w)
        put(f"{body}.angular_acceleration", wd)
        if body not in ("rod", "drum"):  # one has a marker of that name, the other makes several turns
            put(f"{body}.rotation", Rotation.from_matrix(A).as_rotvec())
        J = A @ inertia[body] @ A.transpose(0, 2, 1)
        L = np.einsum("kij,kj->ki", J, w)
        T = T + 0.5 * m * dot(x[1], x[1]) + 0.5 * dot(w, L)
        V = V - m * x[0] @ g
        P, H = P + m * x[1], H + m * np.cross(x[0], x[1]) + L
    put("momentum", P)
    put("angular_momentum", H)
    out["kinetic_energy"] = T
    put_point("rod.rotation", b.point("rod", [0.3, 0.2, 0.1]))
    put_point("crank.side", b.vector("crank", np.array([0, 1, 1]) / np.sqrt(2)))

    # spring between two points, and the measure that is its length
    a, e = b.point("ground", [0.2, -1, 0.4]), b.point("rod", [1.1, 0, 0])
    d, dd, ddd = (y - x for x, y in zip(a, e, strict=True))
    l = np.linalg.norm(d, axis=1)
    rate = dot(d, dd) / l
    F = number["k"] * (l - number["L"]) + number["c"] * rate
    out |= {"strut.length": l, "strut.rate": rate, "strut.force": F, "strut.power": -F * rate, "tension": F**2}
    out |= {"reach": l, "reach.velocity": rate, "reach.acceleration": (dot(dd, dd) + dot(d, ddd) - rate**2) / l}
    V = V + 0.5 * number["k"] * (l - number["L"]) ** 2

    # coordinates, and forces along them
    turn, rates = {}, {}
    for name, body, other in (("hinge", "crank", "ground"), ("knee", "rod", "crank"), ("pin", "slider", "rod")):
        R = b.of[other][0].transpose(0, 2, 1) @ b.of[body][0]
        turn[name] = np.arctan2(R[:, 1, 0], R[:, 0, 0])
        rates[name] = (b.of[body][4] - b.of[other][4])[:, 2]
        out |= {f"{name}.angle": turn[name], f"{name}.angle.velocity": rates[name]}
        out[f"{name}.angle.acceleration"] = (b.of[body][5] - b.of[other][5])[:, 2]
    x = b.point("slider", [0, 0, 0])
    for order, rate in enumerate(("", ".velocity", ".acceleration")):
        out[f"rail.distance{rate}"] = x[order][:, 0] - 1.5 * (order == 0)
    out |= {"shaft.angle": 20 * t + 4 * t**2, "shaft.angle.velocity": 20 + 8 * t, "shaft.angle.acceleration": 8 + 0 * t}
    put("drum.rotation", np.stack([0 * t, 0 * t, 20 * t + 4 * t**2], axis=1))
    F = -2 * number["k"] * (turn["hinge"] - 0.3) - 0.1 * rates["hinge"]
    out |= {"coil.force": F, "coil.power": F * rates["hinge"]}
    V = V + number["k"] * (turn["hinge"] - 0.3) ** 2
    F = number["push"] - 3 * x[1][:, 0]
    out |= {"pull.force": F, "pull.power": F * x[1][:, 0]}
    F = 0.2 * np.cos(3 * t)
    out |= {"motor.force": F, "motor.power": F * rates["knee"]}
    F = CubicSpline([0, 0.1, 0.3, 1], [number[f"u[{i}]"] for i in range(4)], bc_type="natural")(t)
    out |= {"course.force": F, "course.power": F * rates["hinge"]}
    k = motion.system.number_of["servo.impulse"]
    out |= {"servo.force": motion.qd[ROWS, k], "servo.power": motion.qd[ROWS, k] * rates["hinge"]}

    # forces on bodies
    F = np.stack([np.full_like(t, number["push"]), -e[1][:, 1], t], axis=1)
    put("wind.force", F)
    out["wind.power"] = dot(F, e[1])
    F = np.einsum("kij,kj->ki", b.of["ball"][0], np.stack([0.3 + 0 * t, 0.1 * t, 0.2 + 0 * t], axis=1))
    put("jet.force", F)
    out["jet.power"] = dot(F, b.point("ball", [0.1, 0, -0.4])[1])
    F = np.einsum("kij,kj->ki", b.of["rod"][0], np.stack([0.1 + 0 * t, 0.2 + 0 * t, np.sin(t)], axis=1))
    put("twist.force", F)
    out["twist.power"] = dot(F, b.of["rod"][4])

    # the bushing: only its force; the torque follows from the frames
    E = Rotation.from_matrix(np.array([[1, -1, 0], [1, 1, 0], [0, 0, np.sqrt(2)]]) / np.sqrt(2)).as_matrix()
    z = np.array([0.1, 0, 1.0])
    z = z - z[0] * np.array([1.0, 0, 0])
    z /= np.linalg.norm(z)
    G = b.of["crank"][0] @ np.stack([[1, 0, 0], np.cross(z, [1, 0, 0]), z], axis=1)
    far = b.point("crank", [0.3, 0.1, 0.3])
    u, ud = (far[0] - [0.3, 0.2, 0.4]) @ E, far[1] @ E
    theta = Rotation.from_matrix(E.T @ G).as_rotvec()
    put("bush.deflection", u)
    put("bush.rotation", theta)
    F = -([30, 20, 10] * (u - [0.1, 0, 0]) + [1, 2, 3] * ud)
    put("bush.force", F)
    V = V + 0.5 * ([30, 20, 10] * (u - [0.1, 0, 0]) ** 2).sum(axis=1)
    V = V + 0.5 * ([1, 2, 3] * (theta - [0, 0, 0.1]) ** 2).sum(axis=1)
    w = b.of["crank"][4] @ E  # θ̇ from ω seen from the first frame: the inverse of the left Jacobian of SO(3)
    thetad = np.empty_like(w)
    for i, (y, omega) in enumerate(zip(theta, w, strict=True)):
        phi = np.linalg.norm(y)
        S = np.array([[0, -y[2], y[1]], [y[2], 0, -y[0]], [-y[1], y[0], 0]])
        thetad[i] = (np.eye(3) - 0.5 * S + (1 / phi**2 - (1 + np.cos(phi)) / (2 * phi * np.sin(phi))) * S @ S) @ omega
    N = -([1, 2, 3] * (theta - [0, 0, 0.1]) + [0.1, 0.2, 0.3] * thetad)
    put("bush.torque", N)
    out["bush.power"] = dot(F, ud) + dot(N, thetad)
    out["potential_energy"] = V
    out["squared"] = dot(b.of["rod"][4], b.of["rod"][4])
    side = b.vector("crank", np.array([0, 1, 1]) / np.sqrt(2))
    out["camber"] = np.arctan2(side[0][:, 0], side[0][:, 1])
    assert set(model.bodies) == set(com)
    return out


def test_all_kinds(motion, written):
    found = motion.signals(*written)
    largest: dict[str, float] = {}
    for name, unit in found.units.items():
        largest[unit] = max(largest.get(unit, 1.0), np.abs(found[name]).max())
    for name, values in written.items():
        scale = largest[found.units[name]]
        assert_allclose(found[name][ROWS], values, rtol=0, atol=2e-12 * scale, err_msg=name)


def test_markers(motion):
    """Components of markers are those that the motion has of them."""
    for name in ("rod.b", "crank.side", "ground.P"):
        marker = motion.marker(name)
        for rate in ("position", "velocity", "acceleration"):
            scale = 1.0 + np.abs(getattr(marker, rate)).max()
            assert_allclose(motion[f"{name}.{rate}"], getattr(marker, rate), rtol=0, atol=1e-13 * scale)
    assert_allclose(motion["rod.b.velocity.x"], motion["rod.b.x.velocity"], rtol=0)
    assert_allclose(motion["rod.b.velocity.norm"], np.linalg.norm(motion.marker("rod.b").velocity, axis=1), rtol=1e-13)


def test_results(simulated):
    """Reactions, drivers and work are those of the motion."""
    reactions, h = (
        simulated.reactions(),
        simulated.signals("pin.reaction.force", "pin.reaction.moment.norm", "feed.power", "work"),
    )
    assert list(h) == [*(f"pin.reaction.force.{c}" for c in "xyz"), "pin.reaction.moment.norm", "feed.power", "work"]
    assert_allclose(h.values[:, :3], reactions.force("pin"), rtol=0)
    assert_allclose(h["pin.reaction.moment.norm"], np.linalg.norm(reactions.moment("pin"), axis=1), rtol=1e-14)
    assert_allclose(h["feed.power"], reactions.powers["feed"], rtol=0)
    assert_allclose(simulated["feed.force"], reactions.forces["feed"], rtol=0)
    assert_allclose(h["work"], simulated.energies.work, rtol=0)
    assert h.units["pin.reaction.moment.norm"] == "N m" and h.units["feed.power"] == "W"


def test_energies_are_those_of_the_motion(motion):
    found = motion.signals("kinetic_energy", "potential_energy")
    for name, values in (("kinetic_energy", motion.energies.kinetic), ("potential_energy", motion.energies.potential)):
        assert_allclose(found[name], values, rtol=0, atol=1e-12 * np.abs(values).max())


def test_chosen_rows(motion):
    names = ("strut.force", "pin.angle", "drum.rotation.z", "hinge.reaction.force.x", "work", "tension")
    whole, part = motion.signals(*names), motion.signals(*names, rows=ROWS)
    assert_allclose(part.t, motion.t[ROWS])
    assert_allclose(part.values, whole.values[ROWS], rtol=0)


def test_summary(simulated):
    x = simulated["strut.force"]
    expected = {"unit": "N", "final": x[-1], "min": x.min(), "max": x.max()}
    assert simulated.signals("strut.force").summary() == {"strut.force": expected}


def test_nothing_is_forgotten(simulated, written):
    """Every listed signal is written out, but for markers (their own test), rates of a measure, and what reactions give."""
    catalogue = simulated.catalogue
    left = [name for name in catalogue if name not in written and catalogue[name].group != "marker"]
    results = {name for name in left if catalogue[name].use in ("solved", "result")}
    assert {name.split(".")[-2] for name in results if "reaction" in name} == {"force", "moment"}
    assert {name for name in results if "reaction" not in name} == {"work", "feed.force", "feed.power"}
    assert set(left) - results == {"camber.velocity", "camber.acceleration"}


TURNING = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], P: [1, 0, 0]}}
bodies:
  a: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [0, 0.5, 0]}}
  b: {mass: 1, inertia: [1, 1, 1], markers: {p: [0, 0, 0], q: [1, 0, 0]}}
  c: {mass: 1, inertia: [1, 1, 1], markers: {q: [0, 0.5, 0], o: [0, 0, 0]}}
joints:
  A: {type: revolute, between: [ground.O, a.o], axis: [0, 0, 1]}
  B: {type: revolute, between: [a.p, b.p], axis: [0, 0, 1]}
  C: {type: revolute, between: [b.q, c.q], axis: [0, 0, 1]}
  D: {type: revolute, between: [ground.P, c.o], axis: [0, 0, 1]}
drivers: {turn: {measure: A.angle, value: 12*t + 3*t**2}}
simulation: {t_end: 3, step: 0.01, output_step: 0.2}
"""


@pytest.mark.parametrize("kind", SETS)
def test_turns(kind):
    """A parallelogram: angles that no element uses have all their turns in every set, though states are far apart."""
    motion = kg.drive(kg.lower(kg.Model.from_yaml_text(TURNING), kind))
    angle = 12 * motion.t + 3 * motion.t**2
    for name, sign in (("A", 1), ("B", -1), ("C", 1), ("D", 1)):
        assert_allclose(motion[f"{name}.angle"], sign * angle, rtol=1e-12, atol=1e-11)
        assert_allclose(motion[f"{name}.angle.acceleration"], 6.0 * sign, rtol=1e-9)
    assert_allclose(motion["c.rotation.z"][:1], angle[:1], atol=1e-12)


def test_names_that_do_not_exist(simulated):
    with pytest.raises(ModelError, match=r"There is no signal 'strut\.forc'; the nearest are strut\.force"):
        simulated.signals("strut.forc")
    with pytest.raises(ModelError, match=r"'wind\.force' is a vector; name one of wind\.force\.x, wind\.force\.y"):
        simulated.catalogue.canonical("wind.force")
    with pytest.raises(KinegradError, match="There is no signal 'zzz'; `kinegrad signals` lists all"):
        simulated["zzz"]


SMALL = """
kinegrad: 1
ground: {markers: {O: [0, 0, 0], Q: [1, 0, 0]}}
bodies: {a: {mass: 1, inertia: [1, 1, 1], markers: {o: [0, 0, 0], p: [0, 1, 0]}}}
joints: {hinge: {type: revolute, between: [ground.O, a.o], axis: [0, 0, 1]}}
degrees_of_freedom: {hinge.angle: {position: 0}}
forces:
  strut: {type: spring, between: [ground.Q, a.p], stiffness: 1, natural_length: 1}
  motor: {type: torque, acts_on: hinge.angle, value: 0}
"""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("measures: {m: strut.rate}", "measures.m is 'strut.rate' and uses 'strut.rate', a velocity; a measure uses"),
        (
            "measures: {m: strut.force}",
            "uses 'strut.force', which is for objectives and results; a measure uses parameters, positions",
        ),
        (
            "measures: {o: hinge.reaction.force.x}",
            "'hinge.reaction.force.x', which is for objectives and results; a measure uses",
        ),
        (
            "objectives: {o: {final: work}}",
            "uses 'work', an integral over a whole motion; integrate the power of a force",
        ),
        ("objectives: {o: {final: strut.forces}}", "strut.force"),
        ("objectives: {o: {final: a.angular_velocity}}", "vector"),
    ],
)
def test_places_that_cannot_use_it(text, words):
    with pytest.raises(ModelError) as error:
        kg.Model.from_yaml_text(f"{SMALL}{text}\n").check()
    assert words in error.value.problems[0].sentence
    assert error.value.problems[0].line == len(SMALL.splitlines()) + 1


def test_force_laws_take_positions_and_velocities():
    """A torque that brakes a body by its angular velocity, and by the length of a spring."""
    text = SMALL.replace("value: 0}", 'value: "-a.angular_velocity.z*strut.length - hinge.angle"}').replace(
        "position: 0}", "position: 0.4}"
    )
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), t_end=0.1)
    h = motion.signals("motor.force", "hinge.angle", "hinge.angle.velocity", "strut.length")
    assert_allclose(h["motor.force"], -h["hinge.angle.velocity"] * h["strut.length"] - h["hinge.angle"], rtol=1e-13)
    with pytest.raises(ModelError, match=r"'a\.angular_acceleration\.z', an acceleration; a force uses t"):
        kg.Model.from_yaml_text(text.replace("angular_velocity", "angular_acceleration")).check()


def test_a_name_of_the_user_comes_first():
    text = SMALL + "measures: {work: a.p.x}\n"
    text = text.replace("p: [0, 1, 0]", "p: [0, 1, 0], com: [0, 2, 0]")
    motion = kg.simulate(kg.joint(kg.Model.from_yaml_text(text)), t_end=0.01)
    assert_allclose(motion["work"], motion.marker("a.p").position[:, 0], rtol=0)
    assert_allclose(motion["a.com"], motion.marker("a.com").position, rtol=0)
    assert motion.catalogue["work"].group == "measure" and motion.catalogue["work"].unit == "m"
