"""Mechanisms that are hard to simulate, beside what is known of them in closed form.

Bennett's relation: J. E. Baker, "The Bennett, Goldberg and Myard linkages - in perspective", Mechanism and Machine Theory
14 (1979); the trihedral linkage of Bricard with equal bars: Y. Chen, Z. You, T. Tarnai, "Threefold-symmetric Bricard
linkages for deployable structures", International Journal of Solids and Structures 42 (2005), with twists of 90 degrees.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kinegrad as kg

EXAMPLES = Path(__file__).parents[2] / "examples"
INDEX1 = kg.Index1(frequency=100)


@cache
def system(name):
    return kg.joint(kg.Model.from_yaml(EXAMPLES / name / "model.yaml"))


def coordinates(motion):
    return {name: motion.q[:, k] for k, name in enumerate(motion.system.coordinates)}


def differences(name, parameter, h, **options):
    """Derivatives of the objectives by central differences of simulations."""
    base = system(name)
    value = base.rho[base.parameters.independent.index(parameter)]
    ends = [
        kg.simulate(
            base.with_parameters({parameter: value + sign * h}), kg.ALI3P(tolerance=1e-15), **options
        ).objectives
        for sign in (1.0, -1.0)
    ]
    return {key: (ends[0][key] - ends[1][key]) / (2.0 * h) for key in ends[0]}


# --- mechanisms that move only because their constraints are redundant ---


@pytest.mark.parametrize(
    "name, redundant",
    [("bennett", ["J3.z", "J3 axis.x", "J3 axis.y", "J3 axis.z"]), ("bricard", ["J4 axis.y", "J4 axis.z"])],
)
def test_one_freedom_is_counted(name, redundant):
    found = kg.mobility(system(name))
    assert (found.dof, found.nearby, found.singular) == (1, (1, 1), False)
    assert list(found.redundant) == redundant


def test_a_bennett_linkage_off_its_condition_does_not_move():
    model = kg.Model.from_yaml(EXAMPLES / "bennett" / "model.yaml")
    model.parameters["b"] = 0.47  # a*sin(beta)/sin(alpha) is 0.4596
    model.degrees_of_freedom = {}
    assert kg.mobility(kg.joint(model)).dof == 0
    assert np.ptp(kg.simulate(kg.joint(model), t_end=0.05).q, axis=0).max() < 1e-9


BENNETT = np.sin(np.radians(60.0)) / np.sin(np.radians(20.0))  # sin((beta + alpha)/2)/sin((beta - alpha)/2)


@pytest.mark.parametrize(
    "scheme", [("ali3p", "newmark"), ("matrix-r", "rk4"), ("index1", kg.RungeKutta54(tolerance=1e-10))]
)
def test_bennett_relation(scheme):
    motion = kg.simulate(system("bennett"), *scheme, t_end=1.0)
    q = coordinates(motion)
    one, two = q["J1.angle"] / 2.0, q["J2.angle"] / 2.0
    assert np.abs(np.sin(one) * np.sin(two) - BENNETT * np.cos(one) * np.cos(two)).max() < 1e-9
    away = np.minimum(np.abs(np.cos(one)), np.abs(np.cos(two))) > 0.1  # from the poles of the tangents
    assert np.abs(np.tan(one) * np.tan(two) / BENNETT - 1.0)[away].max() < 1e-9 and np.count_nonzero(away) > 30
    assert np.abs(np.cos(q["J2.angle"]) - np.cos(q["J4.angle"])).max() < 1e-9  # opposite angles are alike
    assert q["J1.angle"].max() - q["J1.angle"].min() > 2.0 * np.pi  # it goes all the way round
    assert motion.constraint_violation[:, 0].max() < 1e-9
    assert motion.energies.drift < {"newmark": 2e-4, "rk4": 1e-8, "rk54": 5e-6}[motion.integrator.type]


@pytest.mark.parametrize("scheme", [("ali3p", "newmark"), ("index1", kg.RungeKutta54(tolerance=1e-10))])
def test_bricard_relation(scheme):
    motion = kg.simulate(system("bricard"), *scheme, t_end=1.0)
    q = coordinates(motion)
    a, b = np.cos(q["J1.angle"]), np.cos(q["J2.angle"])
    assert np.abs(a + b + a * b).max() < 1e-8
    for one, other in (("J1", "J3"), ("J1", "J5"), ("J2", "J6")):
        assert np.abs(q[f"{one}.angle"] - q[f"{other}.angle"]).max() < 1e-8
    assert np.ptp(q["J2.angle"]) > 2.0
    assert motion.energies.drift < (5e-4 if motion.integrator.type == "newmark" else 5e-6)


@pytest.mark.parametrize("name, t_end", [("bennett", 0.15), ("bricard", 0.15)])
def test_gradient_by_a_mass(name, t_end):
    motion = kg.simulate(system(name), t_end=t_end)
    expected = differences(name, "m", 1e-4, t_end=t_end)
    for method in ("direct", "discrete-adjoint"):
        found = kg.gradient(motion, wrt=["m"], method=method)
        for key, value in expected.items():
            assert found[key, "m"] == pytest.approx(value, rel=2e-6), (method, key)
    one, two = (kg.gradient(motion, wrt=["m"], method=m).matrix for m in ("direct", "discrete-adjoint"))
    np.testing.assert_allclose(two, one, rtol=1e-8)


# --- change points and dead points ---


@pytest.mark.parametrize(
    "scheme",
    [("ali3p", "newmark"), (INDEX1, "rk4")],
    ids=["ali3p", "index1-rk4"],
)
@pytest.mark.parametrize("step", [1e-3, 7e-4, 3e-4])
def test_change_points_are_passed_with_momentum(scheme, step):
    """Six times in line; the coupler never turns, and the crank keeps its speed."""
    formulation = system("parallelogram").model.simulation.formulation if scheme[0] == "ali3p" else scheme[0]
    motion = kg.simulate(system("parallelogram"), formulation, scheme[1], step=step)
    assert_keeps_its_speed(motion)
    assert coordinates(motion)["A.angle"][-1] > 6.0 * np.pi


@pytest.mark.parametrize("step", [1e-3, 7e-4, 3e-4])
def test_error_control_passes_change_points_or_tells_them(step):
    """Steps that error control chooses may come too near to one: then that is said, and the motion up to there is right."""
    try:
        motion = kg.simulate(system("parallelogram"), INDEX1, kg.RungeKutta54(tolerance=1e-9), step=step)
        assert coordinates(motion)["A.angle"][-1] > 6.0 * np.pi
    except kg.SimulationError as stopped:
        assert "reaches a singular position there" in str(stopped)
        motion = stopped.motion
        turns = (coordinates(motion)["A.angle"][-1] % np.pi) / np.pi
        assert min(turns, 1.0 - turns) < 0.01
    assert_keeps_its_speed(motion)


def assert_keeps_its_speed(motion):
    """A parallelogram that turns with 10 rad/s from an angle of 1, whose coupler does not."""
    angle = coordinates(motion)["A.angle"]
    assert np.abs(angle - 1.0 - 10.0 * motion.t).max() < 1e-7
    bar = motion.marker("coupler.Q").position - motion.marker("coupler.P").position
    assert np.abs(bar - [0.5, 0.0, 0.0]).max() < 1e-7
    assert motion.energies.drift < 1e-6


ROCKER = """
kinegrad: 1
ground: {markers: {A: [0, 0, 0], B: [0.5, 0, 0]}}
bodies:
  crank: {mass: 1, com: [0.05, 0, 0], inertia: [0, 0.02, 0.02], markers: {A: [0, 0, 0], P: [0.1, 0, 0]},
          pose: {origin: [0, 0, 0], x_axis: [0, 1, 0]}}
  rod: {mass: 0.5, com: [0.25, 0, 0], inertia: [0, 0.01, 0.01], markers: {P: [0, 0, 0], Q: [0.5, 0, 0]},
        pose: {origin: [0, 0.1, 0], x_axis: [0.9, 0.3, 0]}}
  rocker: {mass: 0.5, com: [0.1, 0, 0], inertia: [0, 0.004, 0.004], markers: {B: [0, 0, 0], Q: [0.25, 0, 0]},
           pose: {origin: [0.5, 0, 0], x_axis: [0, 1, 0]}}
joints:
  A: {type: revolute, between: [ground.A, crank.A], axis: [0, 0, 1]}
  P: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  Q: {type: revolute, between: [rod.Q, rocker.Q], axis: [0, 0, 1]}
  B: {type: revolute, between: [ground.B, rocker.B], axis: [0, 0, 1]}
forces: {gravity: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {START}
simulation: {t_end: 0.6}
"""


def test_dead_points_of_the_freedom():
    """The crank goes round and drives the rocker; with the rocker as freedom Matrix R goes over to other coordinates."""
    crank = kg.joint(kg.Model.from_yaml_text(ROCKER.replace("START", "A.angle: {position: 1.5, velocity: 20}")))
    exact = kg.simulate(crank, "matrix-r", "rk4", step=2.5e-4, output_step=1e-3)
    rocker = coordinates(exact)["B.angle"]
    start = f"B.angle: {{position: {rocker[0]:.17g}, velocity: {exact.qd[0, crank.coordinates.index('B.angle')]:.17g}}}"
    other = kg.joint(kg.Model.from_yaml_text(ROCKER.replace("START", start)))
    turns = np.diff(np.sign(np.diff(rocker)))
    assert np.count_nonzero(turns) >= 3
    assert coordinates(exact)["A.angle"][-1] > 1.5 + 2.0 * np.pi
    for scheme, tolerance in ((("ali3p", "newmark"), 2e-3), (("index1", "rk4"), 1e-7), (("matrix-r", "rk4"), 1e-7)):
        motion = kg.simulate(other, *scheme, step=1e-3)
        assert np.abs(coordinates(motion)["B.angle"] - rocker).max() < tolerance
        assert motion.energies.drift < 1e-2
    with pytest.raises(kg.SimulationError, match="other degrees_of_freedom"):
        kg.simulate(other, kg.MatrixR(reselect_below=0.0), "rk4")


# --- wheels at 300 rad/s ---

TILT, SPIN, WOBBLE = np.pi / 6.0, 300.0, 20.0


def precession():
    """Omega of the steady precession of the top."""
    J, I, weight = 0.01, 0.006 + 2.0 * 0.08**2, 2.0 * 9.81 * 0.08
    roots = np.roots([(J - I) * np.cos(TILT), J * SPIN, -weight])
    return float(roots[np.argmin(np.abs(roots))])


def errors_of_wheels(scheme, step, t_end=0.5):
    """Largest errors of the axes of the top and of the free wheel, of the hub's angle, and of the norms of the parameters."""
    motion = kg.simulate(system("gyroscope"), *scheme, step=step, t_end=t_end)
    t = motion.t
    turn = precession() * t
    top = np.stack([np.sin(TILT) * np.sin(turn), -np.sin(TILT) * np.cos(turn), np.full_like(t, np.cos(TILT))], axis=1)
    L = np.array([0.004 * WOBBLE, 0.0, 0.007 * SPIN])
    about, rate, axis = L / np.linalg.norm(L), np.linalg.norm(L) / 0.004, np.array([0.0, 0.0, 1.0])
    c, s = np.cos(rate * t)[:, None], np.sin(rate * t)[:, None]
    free = c * axis + s * np.cross(about, axis) + (1.0 - c) * (about @ axis) * about
    q = coordinates(motion)
    norms = [sum(q[f"{joint}.e{i}"] ** 2 for i in range(4)) for joint in ("ball", "air")]
    free_axis = (motion.marker("free.T").position - motion.marker("free.C").position) / 0.1
    found = {
        "top": np.abs(motion.marker("top.T").position / 0.2 - top).max(),
        "free": np.abs(free_axis - free).max(),
        "hub": np.abs(q["hub.angle"] - SPIN * t).max(),
        "arm": np.abs(q["turn.angle"] - 4.0 * t).max(),
        "norm": np.abs(np.array(norms) - 1.0).max(),
    }
    return found, motion


def test_wheels_by_ali3p():
    found, motion = errors_of_wheels(("ali3p", "newmark"), 1e-4)
    assert found["top"] < 1e-5 and found["free"] < 1.2e-3  # (spin h)**2/12 of the angle the wheel has turned
    assert found["hub"] < 1e-9 and found["arm"] < 1e-9
    assert found["norm"] < 1e-14  # projected in every step, so it neither drifts nor needs a smaller step
    assert motion.energies.drift < 1e-5
    coarse, _ = errors_of_wheels(("ali3p", "newmark"), 2e-4)
    for key in ("top", "free"):
        assert np.log2(coarse[key] / found[key]) == pytest.approx(2.0, abs=0.05)


def test_wheels_by_index1():
    found, motion = errors_of_wheels(("index1", "rk4"), 1e-4)
    assert found["top"] < 1e-9 and found["free"] < 2e-7
    assert found["hub"] < 1e-9 and found["arm"] < 1e-9
    assert found["norm"] < 5e-9  # it drifts at acceleration level, and the rotation does not see it: A is for any norm
    assert motion.energies.drift < 1e-9
    coarse, _ = errors_of_wheels(("index1", "rk4"), 2e-4)
    for key in ("top", "free"):
        assert np.log2(coarse[key] / found[key]) == pytest.approx(4.0, abs=0.1)
