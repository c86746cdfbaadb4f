"""Udwadia and Kalaba's equation, written with pseudo-inverses, beside runs; the ball joint's rows in scalar-last quaternions.

F. E. Udwadia and R. E. Kalaba, "A new perspective on constrained motion", Proceedings of the Royal Society A 439 (1992). The
rows of a ball joint between two free bodies are those of a note on the QuIRK toolbox for spacecraft, whose quaternions have
their scalar last; its rows of the norm, mass and forces are completed as docs/theory/udwadia_kalaba.md says.
"""

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from helpers import assert_close

import kinegrad as kg
from kinegrad.coordinates.sets import SETS
from kinegrad.dynamics.schemes import scheme_for
from kinegrad.kernels.formulations.arguments import Objectives
from kinegrad.kernels.products import BIAS, EVALUATE, OBSERVE, TIME
from kinegrad.kernels.status import OK
from kinegrad.kinematics.start import start
from kinegrad.objectives import at_end

EXAMPLES = sorted(path.parent.name for path in Path(__file__).parents[2].glob("examples/*/model.yaml"))
# Too large for matrix-r, which finds the states; at rest or held against weights, where accelerations are small differences
# of large forces.
APART = ("anchor_chain", "buggy", "six_axis_arm", "slide", "stewart_platform")
EXAMPLES = [name for name in EXAMPLES if name not in APART]
STATES = 50
UNSTABILISED = {"udwadia-kalaba": kg.UdwadiaKalaba(), "index1": kg.Index1(frequency=0.0)}


@cache
def system(name, kind="joint"):
    return kg.lower(kg.Model.from_yaml(Path(__file__).parents[2] / "examples" / name / "model.yaml"), kind)


@cache
def states(name, kind):
    """(t, q, v) at 50 times in the second half of a run, with positions and velocities that hold to rounding."""
    end = {"parallelogram": 0.2, "windows": 0.5, "gyroscope": 0.05, "squeezer": 0.02, "flyball_governor": 0.01}.get(
        name, 0.5
    )
    motion = kg.simulate(system(name, kind), "matrix-r", "rk4", t_end=end, step=end / 400)
    work = system(name, kind).workspace()
    return [polished(work, motion.t[k], motion.q[k].copy(), motion.qd[k].copy()) for k in range(204, 401, 4)]


def polished(work, t, q, v):
    """The state with what is left of constraints of positions and velocities taken away."""
    m = work.system.m
    for _ in range(3):
        A = at(work, t, q, v)[2]
        inverse = pseudo_inverse(A)
        q -= inverse @ work["Phi"][:m]
        v -= inverse @ (A @ v + work["Phi_t"][:m])
    return t, q, v


def at(work, t, q, v):
    """M, Q, A and b at a state."""
    work["q"][:], work["v"][:], work["vp"][:], work["par"][TIME] = q, v, v, t
    for function in (EVALUATE, BIAS):
        work.call(function)
    m = work.system.m
    return work["M"].copy(), -work["f"], work["J"][:m].copy(), -work["c"][:m]


def root(W):
    """W^½ and W^-½."""
    values, vectors = np.linalg.eigh(W)
    return (vectors * np.sqrt(values)) @ vectors.T, (vectors / np.sqrt(values)) @ vectors.T


def pseudo_inverse(A):
    return np.linalg.pinv(A, rcond=1e-7)


def explicit(M, Q, A, b):
    """Accelerations by (UDK-2) and by (UDK-3), with coordinates in their own scales, corrected twice for rounding."""
    inertia = np.where(np.diag(M) > 1e-12 * np.diag(M).max(), np.diag(M), np.diag(M).max())
    scale = 1.0 / np.sqrt(inertia)
    M, Q, A = scale[:, None] * M * scale, scale * Q, A * scale
    D = 1.0 / np.maximum(np.square(A).sum(axis=1), 1e-300)
    W, B = M + (A.T * D) @ A, np.sqrt(D)[:, None] * A
    inverse, half = np.linalg.inv(W), root(W)[1]
    of_rows, S = half @ pseudo_inverse(A @ half), pseudo_inverse(B @ inverse @ B.T)

    def first(Q, b):
        a0 = np.linalg.solve(W, Q + A.T @ (D * b))
        return a0 + of_rows @ (b - A @ a0)

    def second(Q, b):
        a0 = np.linalg.solve(W, Q + A.T @ (D * b))
        return a0 - inverse @ B.T @ S @ (np.sqrt(D) * (A @ a0 - b))

    found = []
    for form in (first, second):
        a = np.zeros_like(Q)
        for _ in range(3):
            a = a + form(Q - M @ a, b - A @ a)
        found.append(scale * a)
    return found


def compiled(name, kind, formulation):
    """(50, n) accelerations of a formulation at the states."""
    model, found = system(name, kind), []
    scheme, work, none = (
        scheme_for(model, formulation, kg.RungeKutta4()),
        model.workspace(),
        np.zeros(len(model.objectives)),
    )
    start(model, work)
    scheme.begin(work)
    scheme.allow_changes(work, work.functions(*scheme.needs, OBSERVE), Objectives(at_end(len(none)), none, none))
    for t, q, v in states(name, kind):
        at(work, t, q, v)  # rows are chosen by J at the state
        assert scheme.settle(work, t) == OK
        found.append(work["a"].copy())
    return np.array(found)


@pytest.mark.parametrize("kind", SETS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_accelerations_of_every_example(name, kind):
    """udwadia-kalaba = index1 without stabilisation = the equation with pseudo-inverses, in two forms, at 50 states."""
    work = system(name, kind).workspace()
    both = np.array([explicit(*at(work, *state)) for state in states(name, kind)])
    assert len(both) == STATES
    for formulation in UNSTABILISED.values():
        found = compiled(name, kind, formulation)
        size = np.array(
            [np.abs(a).max() + np.abs(v).max() ** 2 for a, (_, _, v) in zip(found, states(name, kind), strict=True)]
        )
        for k in range(2):
            assert (np.abs(found - both[:, k]).max(axis=1) / size).max() < 1e-10


# --- redundant rows, coordinates without inertia ---


@pytest.mark.parametrize("name", ["bennett", "bricard", "bricard_cube"])
def test_multipliers_are_those_of_least_norm(name):
    """What is shown of redundant rows is S⁺(A a0 - b) of (UDK-3), of rows in units of the model, with one weight for all."""
    motion = kg.simulate(system(name), "udwadia-kalaba", "rk4", t_end=2e-3, step=1e-3)
    work = system(name).workspace()
    M, Q, A, b = at(work, *polished(work, motion.t[-1], motion.q[-1].copy(), motion.qd[-1].copy()))
    per_row = work["per_row"][: len(A)]
    assert (per_row > 0.0).all()
    A, b = per_row[:, None] * A, per_row * b
    W = M + A.T @ A * np.trace(M) / np.square(A).sum()
    a0 = np.linalg.solve(W, Q + A.T @ b * np.trace(M) / np.square(A).sum())
    lam = pseudo_inverse(A @ np.linalg.solve(W, A.T)) @ (A @ a0 - b)
    assert np.linalg.matrix_rank(A, tol=1e-9) < len(A)
    assert_close(motion.lam[-1], per_row * lam, 1e-9)


NO_INERTIA = """
kinegrad: 1
parameters: {L: 0.5, m: 1.5, k: 3.0}
ground: {markers: {O: [0, 0, 0]}}
bodies:
  a: {mass: m, com: [L/2, 0, 0], inertia: [0, 0.04, 0.04], markers: {p: [0, 0, 0], q: [L, 0, 0]}}
  b: {mass: 0, com: [0, 0, 0], inertia: [0, 0, 0], markers: {p: [0, 0, 0], q: [0.6, 0, 0]}, pose: {origin: [0.2, 0.4, 0]}}
joints:
  A: {type: revolute, between: [ground.O, a.p], axis: [0, 0, 1]}
  B: {type: revolute, between: [a.q, b.p], axis: [0, 0, 1]}
constraints:
  rail: {type: position, value: b.q.y}
forces:
  gravity: {type: gravity, acceleration: [0, -9.81, 0]}
degrees_of_freedom: {A.angle: {position: 1.2, velocity: 2}}
objectives: {end: {final: a.q.x}, path: {integral: A.angle.velocity**2}}
"""


def test_a_mass_matrix_that_is_singular():
    """A rod without mass on a rail: M has a zero, W has none; the motion is that of the bar alone, a pendulum."""
    model = kg.joint(kg.Model.from_yaml_text(NO_INERTIA))
    run = {"integrator": "rk4", "t_end": 0.1, "step": 1e-3}
    found = kg.simulate(model, "udwadia-kalaba", **run)
    work = model.workspace()
    assert np.linalg.matrix_rank(at(work, 0.0, found.q[0], found.qd[0])[0]) < model.n
    alone = kg.Model.from_yaml_text(NO_INERTIA)
    del alone.constraints["rail"], alone.joints["B"], alone.bodies["b"]
    expected = kg.simulate(kg.joint(alone), "index1", **run)
    assert_close(found.q[:, 0], expected.q[:, 0], 1e-9)
    direct, adjoint = (kg.gradient(found, wrt=["L", "m"], method=method).matrix for method in ("direct", "adjoint"))
    assert_close(direct, adjoint, 1e-11)
    assert_close(direct, kg.gradient(expected, wrt=["L", "m"]).matrix, 1e-8)


# --- the ball joint of two free bodies ---


def cross(v):
    """v^× with v^× u = v × u."""
    x, y, z = v
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def turned(p):
    """(body to inertial directions, T) of a quaternion with its scalar last; ω' = T ṗ."""
    e, s = p[:3], p[3]
    rotation = (s * s - e @ e) * np.eye(3) + 2.0 * np.outer(e, e) + 2.0 * s * cross(e)
    return rotation, 2.0 * np.hstack([s * np.eye(3) - cross(e), -e[:, None]])


def two_bodies(r, p, rd, pd, points, masses, inertias):
    """M, Q, A, b in (r_B, r_C, p_B, p_C): three rows of the joint, then those of the norms."""
    Q_B, T_B = turned(p[0])
    Q_C, T_C = turned(p[1])
    x_B, x_C = cross(Q_B @ points[0]), cross(Q_C @ points[1])
    A = np.zeros((5, 14))
    A[:3] = np.hstack([np.eye(3), -np.eye(3), -x_B @ Q_B @ T_B, x_C @ Q_C @ T_C])
    A[3, 6:10], A[4, 10:] = p
    w_B, w_C = (cross(Q @ T @ d) for Q, T, d in ((Q_B, T_B, pd[0]), (Q_C, T_C, pd[1])))
    b = np.concatenate([-w_B @ w_B @ Q_B @ points[0] + w_C @ w_C @ Q_C @ points[1], [-pd[0] @ pd[0], -pd[1] @ pd[1]]])
    M, force = np.zeros((14, 14)), np.zeros(14)
    for k, T in enumerate((T_B, T_C)):
        J, w = np.diag(inertias[k]), T @ pd[k]
        M[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = masses[k] * np.eye(3)
        place = slice(6 + 4 * k, 10 + 4 * k)
        M[place, place] = T.T @ J @ T + np.outer(p[k], p[k])  # regular; the rows of the norms see nothing of it
        force[place] = -T.T @ np.cross(w, J @ w)
    return M, force, A, b


LAST = [1, 2, 3, 0]  # Euler parameters with their scalar last


def of_note(x):
    """Coordinates of the example as (r_B, r_C), (p_B, p_C)."""
    return x[[0, 1, 2, 7, 8, 9]], np.array([x[3:7][LAST], x[10:14][LAST]])


@cache
def ball_joint():
    return kg.simulate(system("ball_joint"), t_end=2.0)


@pytest.mark.parametrize("k", [0, 100, 250, 400])
def test_rows_of_the_ball_joint_and_accelerations(k, rng):
    """Rows on accelerations that the rows of the norms allow, and accelerations and multipliers, beside those of the note."""
    motion, model = ball_joint(), system("ball_joint").model
    work = system("ball_joint").workspace()
    t, q, v = polished(work, motion.t[k], motion.q[k].copy(), motion.qd[k].copy())
    _, _, rows, bias = at(work, t, q, v)
    joint = [i for i, name in enumerate(system("ball_joint").row_names) if name.startswith("ball")]
    values = {name: float(value) for name, value in model.parameters.items()}
    points = np.array([[values["p_B"], 0.05, 0.0], [-values["p_C"], 0.0, 0.1]])
    inertias = [[0.02, 0.03, 0.045], [0.012, 0.05, 0.055]]
    (r, p), (rd, pd) = of_note(q), of_note(v)
    M, force, A, b = two_bodies(r, p, rd, pd, points, [values["m_B"], values["m_C"]], inertias)

    a = rng.uniform(-1.0, 1.0, 14)
    for place in (slice(3, 7), slice(10, 14)):  # p·p̈ = -ṗ·ṗ
        a[place] -= q[place] * (q[place] @ a[place] + v[place] @ v[place])
    rdd, pdd = of_note(a)
    there, here = A[:3] @ np.concatenate([rdd, *pdd]) - b[:3], rows[joint] @ a - bias[joint]
    assert_close(np.abs(here), np.abs(there), 1e-12, 1.0)
    assert_close(abs(here @ there), here @ here, 1e-12)

    half = root(M)[1]
    a0 = np.linalg.solve(M, force)
    expected = a0 + half @ pseudo_inverse(A @ half) @ (b - A @ a0)
    work["q"][:] = q
    found, _ = explicit(*at(work, t, q, v))
    rdd, pdd = of_note(found)
    assert_close(np.concatenate([rdd, *pdd]), expected, 1e-12)
    rdd, pdd = of_note(motion.qdd[k])  # at a state that has drifted a little
    assert_close(np.concatenate([rdd, *pdd]), expected, 1e-6)


def test_two_bodies_keep_their_momentum():
    """The centre of mass moves on a line to rounding; angular momentum and energy to the order of the method."""
    motion = ball_joint()
    masses = [float(motion.system.model.parameters[name]) for name in ("m_B", "m_C")]
    centre = (masses[0] * motion.q[:, :3] + masses[1] * motion.q[:, 7:10]) / sum(masses)
    line = centre[0] + motion.t[:, None] * (masses[0] * motion.qd[0, :3] + masses[1] * motion.qd[0, 7:10]) / sum(masses)
    assert np.abs(centre - line).max() < 1e-13
    spins = [angular_momentum(motion, k, masses) for k in range(0, len(motion.t), 40)]
    assert np.abs(spins[0]).max() > 0.1
    assert_close(spins, np.broadcast_to(spins[0], (len(spins), 3)), 1e-6)
    assert motion.energies.drift < 1e-6


def angular_momentum(motion, k, masses):
    (r, p), (rd, pd) = of_note(motion.q[k]), of_note(motion.qd[k])
    total = np.zeros(3)
    for i, J in enumerate(([0.02, 0.03, 0.045], [0.012, 0.05, 0.055])):
        rotation, T = turned(p[i])
        place = slice(3 * i, 3 * i + 3)
        total += masses[i] * np.cross(r[place], rd[place]) + rotation @ (J * (T @ pd[i]))
    return total


def test_gradients_in_the_set_of_reference_points():
    """Objectives and gradients are those of the joint set, to what drift leaves; direct and adjoint agree to rounding."""
    run = {"t_end": 0.3, "step": 1e-3}
    there, here = (kg.simulate(system("ball_joint", kind), **run) for kind in ("joint", "reference-point"))
    assert_close(list(here.objectives.values()), list(there.objectives.values()), 1e-10)
    assert_close(kg.gradient(here).matrix, kg.gradient(there).matrix, 1e-9)
    damped = kg.simulate(
        system("ball_joint", "reference-point"), "udwadia-kalaba", "generalized-alpha", t_end=0.1, step=5e-3
    )
    for motion in (here, damped):
        assert_close(kg.gradient(motion, method="adjoint").matrix, kg.gradient(motion).matrix, 1e-11)


# --- drift ---


def test_drift_grows_and_is_told():
    """Nothing pulls it back: it falls with the fourth power of the step of rk4; a coarse run is told, with a remedy."""
    run = {"formulation": "udwadia-kalaba", "integrator": "rk4", "t_end": 5.0}
    drifts = [kg.simulate(system("five_bar"), step=step, **run).constraint_violation[-1, 0] for step in (0.01, 0.005)]
    assert drifts[0] / drifts[1] == pytest.approx(16.0, abs=1.0) and drifts[0] < 1e-7
    with pytest.warns(kg.AccuracyWarning, match="have drifted: .* is off by .* nothing pulls it back"):
        kg.simulate(system("ball_joint"), "udwadia-kalaba", "newmark", t_end=5.0, step=0.01)
    held = kg.simulate(system("five_bar"), kg.UdwadiaKalaba(frequency=10.0), "rk4", t_end=2.0, step=0.01)
    same = kg.simulate(system("five_bar"), kg.Index1(), "rk4", t_end=2.0, step=0.01)
    assert np.array_equal(held.q, same.q)
