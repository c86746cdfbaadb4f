"""Motions with known solutions: pendulums, tops, free bodies, a mass on a spring, a driven crank."""

import numpy as np
import pytest
from helpers import complex_step

from kinegrad.coordinates.sets import joint
from kinegrad.model.model import Model
from kinegrad.sensitivity.gradient import gradient
from kinegrad.simulate import simulate

G = 9.81
SCHEMES = {"ali3p": ("ali3p", "newmark"), "matrix-r": ("matrix-r", "newmark"), "rk4": ("matrix-r", "rk4")}


def run(text, scheme="rk4", **options):
    """The motion of a model."""
    return simulate(joint(Model.from_yaml_text("kinegrad: 1\n" + text)), *SCHEMES[scheme], **options)


def agm(a, b):
    """The arithmetic-geometric mean."""
    while abs(a - b) > 1e-15 * a:
        a, b = 0.5 * (a + b), np.sqrt(a * b)
    return a


# --- pendulums ---

PENDULUM = """
parameters: {theta: THETA, L: 0.7}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  rod: {mass: 2, com: [0, -L, 0], inertia: [0, INERTIA, INERTIA], markers: {O: [0, 0, 0], tip: [0, -L, 0]}}
joints: {hinge: {type: revolute, between: [ground.O, rod.O], axis: [0, 0, 1]}}
forces: {weight: {type: gravity, acceleration: [0, -9.81, 0]}}
degrees_of_freedom: {hinge.angle: {position: theta}}
objectives: {end: {final: hinge.angle}, speed: {final: hinge.angle.velocity}}
"""


def pendulum(theta, inertia, scheme, t_end, steps):
    text = PENDULUM.replace("THETA", str(theta)).replace("INERTIA", str(inertia))
    return run(text, scheme, t_end=t_end, step=t_end / steps)


@pytest.mark.parametrize("inertia", [0.0, 0.3])
@pytest.mark.parametrize("theta", [0.01, 1.0, 3.0])
def test_the_pendulum_returns_after_its_period(theta, inertia):
    length = (2 * 0.7**2 + inertia) / (2 * 0.7)  # of the simple pendulum that swings alike
    period = 2 * np.pi * np.sqrt(length / G) / agm(1.0, np.cos(theta / 2))
    motion = pendulum(theta, inertia, "rk4", period, 4000)
    assert motion.objectives["end"] == pytest.approx(theta, rel=1e-9)
    assert abs(motion.objectives["speed"]) < 1e-8 * theta
    half = motion.marker("rod.tip").position[2000]
    assert np.abs(half - [-0.7 * np.sin(theta), -0.7 * np.cos(theta), 0.0]).max() < 1e-8


@pytest.mark.parametrize("scheme", ["ali3p", "matrix-r"])
def test_a_small_swing_is_a_cosine(scheme):
    theta, w = 1e-4, np.sqrt(G / 0.7)
    motion = pendulum(theta, 0.0, scheme, 2.0, 2000)
    h = 1e-3
    slower = 2 / h * np.arctan(w * h / 2)  # the trapezoidal rule turns by this angle a second
    assert np.abs(motion.q[:, 0] / theta - np.cos(slower * motion.t)).max() < 1e-7


def test_the_derivative_of_the_period():
    """d(angle)/dL at a quarter of the period of a large swing, from the period by AGM."""
    theta, L = 1.0, 0.7
    period = 2 * np.pi * np.sqrt(L / G) / agm(1.0, np.cos(theta / 2))
    motion = pendulum(theta, 0.0, "rk4", period / 4, 2000)
    # the angle depends on t sqrt(g/L) alone: d(angle)/dL = -t/(2L) d(angle)/dt
    found = gradient(motion, wrt=["L"], method="discrete-adjoint")
    assert found["end", "L"] == pytest.approx(-period / 4 / (2 * L) * motion.objectives["speed"], rel=1e-9)
    assert motion.objectives["speed"] == pytest.approx(-np.sqrt(2 * G / L * (1 - np.cos(theta))), rel=1e-9)


# --- tops and free bodies ---

TOP = """
parameters: {spin: SPIN, drift: DRIFT, lean: 0.5}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  top: {mass: 0.8, com: [0, 0, 0.3], inertia: [0.02, 0.02, 0.03],
        markers: {O: [0, 0, 0], tip: [0, 0, 1],
                  e1: {vector: [1, 0, 0]}, e2: {vector: [0, 1, 0]}, e3: {vector: [0, 0, 1]}}}
joints: {ball: {type: spherical, between: [ground.O, top.O]}}
forces: {weight: {type: gravity, acceleration: [0, 0, -9.81]}}
degrees_of_freedom:
  ball: {rotation: [0, lean, 0], angular_velocity: [spin*sin(lean), 0, spin*cos(lean) + drift]}
"""
I1, I3 = 0.02 + 0.8 * 0.3**2, 0.03  # about the pivot


def rates(motion, body):
    """Rotation matrices (times, 3, 3) and angular velocities (times, 3) from the unit vectors e1, e2, e3 of a body."""
    axes = [motion.marker(f"{body}.{e}") for e in ("e1", "e2", "e3")]
    A = np.stack([e.position for e in axes], axis=2)
    return A, 0.5 * sum(np.cross(e.position, e.velocity) for e in axes)


def steady(scheme, t_end, step):
    """Error of the tip of a top that precesses with W = 2 rad/s: I3 w3 W - I1 W² cos(lean) = m g l."""
    W, lean = 2.0, 0.5
    w3 = (0.8 * G * 0.3 + I1 * W**2 * np.cos(lean)) / (I3 * W)
    spin = float(w3 - W * np.cos(lean))
    motion = run(TOP.replace("SPIN", str(spin)).replace("DRIFT", str(W)), scheme, t_end=t_end, step=step)
    t, r = motion.t, np.sin(lean)
    circle = np.column_stack([r * np.cos(W * t), r * np.sin(W * t), np.full_like(t, np.cos(lean))])
    return np.abs(motion.marker("top.tip").position - circle).max()


def test_steady_precession_of_a_top():
    assert steady("rk4", 0.05, 1e-3) < 1e-7  # less than half a turn
    errors = [steady("ali3p", 3.0, step) for step in (1e-3, 5e-4)]
    assert errors[1] < 1e-3
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)


def invariants(scheme, t_end):
    """Relative changes of energy, vertical and axial angular momentum of a nodding top, and how far it nods."""
    motion = run(TOP.replace("SPIN", "40").replace("DRIFT", "0.5"), scheme, t_end=t_end, step=1e-3)
    A, omega = rates(motion, "top")
    body = np.einsum("tij,ti->tj", A, omega)  # in body axes
    L = np.einsum("tij,tj->ti", A, body * [I1, I1, I3])
    constants = (L[:, 2], body[:, 2], motion.energies.kinetic + motion.energies.potential)
    return max(np.abs(c / c[0] - 1.0).max() for c in constants), np.ptp(A[:, 2, 2])


def test_invariants_of_a_nodding_top():
    change, nod = invariants("ali3p", 2.0)
    assert nod > 0.05
    assert change < 1e-3
    for scheme, tolerance in (("matrix-r", 1e-3), ("rk4", 1e-6)):
        assert invariants(scheme, 0.05)[0] < tolerance


def test_matrix_r_turns_a_spherical_joint_all_the_way():
    assert invariants("rk4", 2.0)[0] < 1e-4


FREE = """
ground: {markers: {O: [0, 0, 0]}}
bodies:
  stone: {mass: 1.5, com: [0.1, 0.2, -0.1], inertia: [0.2, 0.35, 0.5],
          markers: {O: [0, 0, 0], G: [0.1, 0.2, -0.1],
                    e1: {vector: [1, 0, 0]}, e2: {vector: [0, 1, 0]}, e3: {vector: [0, 0, 1]}}}
joints: {air: {type: floating, between: [ground.O, stone.G]}}
forces: {weight: {type: gravity, acceleration: [0, 0, -GRAVITY]}}
degrees_of_freedom:
  air: {position: [1, 2, 3], velocity: [0.5, -1, 4], rotation: [0.3, -0.2, 0.1], angular_velocity: SPIN}
"""


def free(spin, gravity, scheme, **options):
    return run(FREE.replace("SPIN", str(spin)).replace("GRAVITY", str(gravity)), scheme, **options)


@pytest.mark.parametrize(
    ("scheme", "t_end", "tolerance"), [("ali3p", 3.0, 1e-4), ("matrix-r", 0.5, 1e-4), ("rk4", 0.5, 1e-8)]
)
def test_a_free_body_keeps_its_angular_momentum(scheme, t_end, tolerance):
    """Turning about its middle axis, it tumbles in time: the momentum stays, the body turns over."""
    motion = free([0.02, 6.0, 0.01], 0.0, scheme, t_end=t_end, step=1e-3)
    A, omega = rates(motion, "stone")
    body = np.einsum("tij,ti->tj", A, omega)
    L = np.einsum("tij,tj->ti", A, body * [0.2, 0.35, 0.5])
    assert np.abs(L - L[0]).max() < tolerance * np.linalg.norm(L[0])
    assert motion.energies.drift < tolerance * motion.energies.kinetic[0]
    assert np.ptp(body[:, 1]) > (3.0 if t_end > 2.0 else 0.0)
    line = np.array([1.0, 2.0, 3.0]) + motion.t[:, None] * [0.5, -1.0, 4.0]
    assert np.abs(motion.marker("stone.G").position - line).max() < 1e-9


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_projectile_flies_a_parabola(scheme):
    """Constant accelerations are exact in every scheme, and a spin about a principal axis stays."""
    motion = free([0, 0, 0], G, scheme, t_end=1.0, step=1e-2)
    t = motion.t[:, None]
    path = np.array([1.0, 2.0, 3.0]) + t * [0.5, -1.0, 4.0] - 0.5 * G * t**2 * [0, 0, 1]
    found = motion.marker("stone.G")
    assert np.abs(found.position - path).max() < 1e-11
    assert np.abs(found.acceleration - [0, 0, -G]).max() < 1e-10
    A, omega = rates(motion, "stone")
    assert np.abs(A - A[0]).max() < 1e-11
    assert np.abs(omega).max() < 1e-11


# --- a mass on a spring ---

SPRING = """
parameters: {m: 1.7, k: 60, c: 0.9, x0: 0.25, v0: -0.4}
ground: {markers: {O: [0, 0, 0]}}
bodies: {block: {mass: m, com: [0, 0, 0], inertia: [0, 0, 0], markers: {P: [0, 0, 0]}}}
joints: {rail: {type: prismatic, between: [ground.O, block.P], axis: [0, 0, 1]}}
forces:
  weight: {type: gravity, acceleration: [0, 0, -9.81]}
  coil: {type: spring, acts_on: rail.distance, stiffness: k, damping: c}
degrees_of_freedom: {rail.distance: {position: x0, velocity: v0}}
objectives:
  x: {final: rail.distance}
  v: {final: rail.distance.velocity}
  a: {final: rail.distance.acceleration}
  area: {integral: rail.distance}
"""


def on_a_spring(p, t):
    """x, v, a and the integral of x at t, of parameters m, k, c, x0, v0."""
    m, k, c, x0, v0 = p
    rest = -m * G / k
    d = c / (2 * m)
    w = np.sqrt(k / m - d**2)
    A, B = x0 - rest, (v0 + d * (x0 - rest)) / w
    x = rest + np.exp(-d * t) * (A * np.cos(w * t) + B * np.sin(w * t))
    v = np.exp(-d * t) * ((B * w - d * A) * np.cos(w * t) - (A * w + d * B) * np.sin(w * t))
    a = -G - (k * x + c * v) / m
    area = (m * (v0 - v) - m * G * t + c * (x0 - x)) / k  # the equation of motion, integrated
    return np.array([x, v, a, area])


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
@pytest.mark.parametrize(("scheme", "tolerance"), [("ali3p", 1e-4), ("matrix-r", 1e-4), ("rk4", 1e-9)])
def test_a_mass_on_a_spring(scheme, tolerance, method):
    p = np.array([1.7, 60.0, 0.9, 0.25, -0.4])
    motion = run(SPRING, scheme, t_end=2.0, step=1e-3)
    exact = on_a_spring(p, 2.0)
    assert np.abs(list(motion.objectives.values()) - exact).max() < tolerance * np.abs(exact).max()
    found = gradient(motion, wrt=["m", "k", "c", "x0", "v0"], method=method).matrix
    expected = complex_step(lambda p: on_a_spring(p, 2.0), p)
    scale = np.abs(expected).max(axis=1, keepdims=True)
    assert (np.abs(found - expected) / scale).max() < tolerance


# --- a driven crank ---

CRANK = """
parameters: {r: 0.2, L: 0.7, w: 5.0}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  crank: {pose: global, mass: 1, com: [0.1, 0, 0], inertia: [0, 0.01, 0.01], markers: {O: [0, 0, 0], P: [r, 0, 0]}}
  rod: {pose: {origin: [0.2, 0, 0]}, mass: 2, com: [0.35, 0, 0], inertia: [0, 0.1, 0.1], markers: {P: [0, 0, 0], Q: [L, 0, 0]}}
  piston: {pose: {origin: [0.9, 0, 0]}, mass: 3, com: [0, 0, 0], inertia: [0.1, 0.1, 0.1], markers: {Q: [0, 0, 0]}}
joints:
  main: {type: revolute, between: [ground.O, crank.O], axis: [0, 0, 1]}
  pin: {type: revolute, between: [crank.P, rod.P], axis: [0, 0, 1]}
  wrist: {type: revolute, between: [rod.Q, piston.Q], axis: [0, 0, 1]}
  bore: {type: prismatic, between: [ground.O, piston.Q], axis: [1, 0, 0]}
drivers: {turn: {measure: main.angle, value: w*t + 0.1*sin(w*t)}}
objectives:
  x: {final: piston.Q.position.x}
  v: {final: piston.Q.velocity.x}
  a: {final: piston.Q.acceleration.x}
"""


def piston(p, t):
    """x, v, a of the piston, of parameters r, L, w."""
    r, L, w = p
    f, fd, fdd = w * t + 0.1 * np.sin(w * t), w + 0.1 * w * np.cos(w * t), -0.1 * w**2 * np.sin(w * t)
    s, c = np.sin(f), np.cos(f)
    root = np.sqrt(L**2 - r**2 * s**2)
    x_f = -r * s - r**2 * s * c / root
    x_ff = -r * c - r**2 * (c**2 - s**2) / root - r**4 * s**2 * c**2 / root**3
    return np.array([r * c + root, x_f * fd, x_ff * fd**2 + x_f * fdd])


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_driven_crank(scheme, method):
    """Nothing is left free: positions, velocities and accelerations are those of the instant, in every scheme."""
    p = np.array([0.2, 0.7, 5.0])
    motion = run(CRANK, scheme, t_end=1.0, step=1e-3)
    assert not motion.system.freedoms
    exact = np.array([piston(p, t) for t in motion.t])
    found = motion.marker("piston.Q")
    for k, values in enumerate((found.position, found.velocity, found.acceleration)):
        assert np.abs(values[:, 0] - exact[:, k]).max() < (1e-10, 1e-8, 1e-6)[k]
    result = gradient(motion, wrt=["r", "L", "w"], method=method).matrix
    expected = complex_step(lambda p: piston(p, 1.0), p)
    assert (np.abs(result - expected) / np.abs(expected).max(axis=1, keepdims=True)).max() < 1e-7
