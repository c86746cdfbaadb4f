"""The continuous adjoint of index 3 with projections, as the thesis cited in the page on ALI3-P has it (5.86-5.101), corrected.

A mass on a wire in the plane, in Cartesian coordinates z = (x, y): M a + Phi_z' lam = Q, Phi = (x - a)² + y² - L².  States
are those of the exact motion, where what projections change is zero.  With multipliers in the objective it is of first order,
and needs terms at both ends that are printed otherwise or are zero without them; kinegrad's adjoint (CAD-1) is of second order.
"""

import numpy as np
import pytest
from helpers import assert_close, complex_step
from scipy.integrate import solve_ivp

import kinegrad as kg

RHO = {"a": 0.2, "L": 0.9, "m": 1.3, "k": 14.0, "x0": 0.7, "u0": 0.5}
CART, GRAVITY, DAMPING, FOOT, END = 0.6, 9.81, 0.3, np.array([0.9, -1.4]), 1.0
SCALE = 1e7  # penalty of projections


def start(rho):
    """z and v, of which x and its rate are given."""
    a, L, _, _, x0, u0 = rho
    y = -np.sqrt(L * L - (x0 - a) ** 2)
    return np.array([x0, y]), np.array([u0, -(x0 - a) * u0 / y])


def mass(rho):
    return np.array([CART + rho[2], rho[2]])


def force(z, v, rho):
    return np.array([0.0, -rho[2] * GRAVITY]) - DAMPING * v - rho[3] * (z - FOOT)


def row(z, rho):
    return 2.0 * np.array([z[0] - rho[0], z[1]])


def solved(z, v, rho):
    """Accelerations and multiplier."""
    J, M, Q = row(z, rho), mass(rho), force(z, v, rho)
    lam = (J @ (Q / M) + 2.0 * v @ v) / (J @ (J / M))
    return (Q - J * lam) / M, lam


OBJECTIVES = {
    "pv": lambda z, v, lam, rho: z[0] ** 2 + 0.3 * v[1] * z[0] + rho[3] * v[0] ** 2 / 50.0,
    "lam": lambda z, v, lam, rho: lam**2 * (row(z, rho) @ row(z, rho)) / 100.0,
}


def motion_and_values(rho, times):
    """States (2 + 2) at times, and the integrals of all objectives."""

    def rates(_, y):
        z, v = y[:2], y[2:4]
        a, lam = solved(z, v, rho)
        return np.concatenate([v, a, [g(z, v, lam, rho) for g in OBJECTIVES.values()]])

    y0 = np.concatenate([*start(rho), np.zeros(len(OBJECTIVES))])
    found = solve_ivp(rates, (0.0, END), y0, "DOP853", t_eval=times, rtol=1e-13, atol=1e-13)
    return found.y[:4].T, dict(zip(OBJECTIVES, found.y[4:, -1], strict=True))


@pytest.fixture(scope="module")
def reference():
    """{objective: gradient} by differences of the exact motion, extrapolated."""
    rho, columns = np.array(list(RHO.values())), []
    for k in range(len(rho)):
        slopes = []
        for h in (2e-4, 1e-4):
            ends = [motion_and_values(rho + s * h * np.eye(len(rho))[k], [END])[1] for s in (1, -1)]
            slopes.append({o: (ends[0][o] - ends[1][o]) / (2.0 * h) for o in OBJECTIVES})
        columns.append({o: (4.0 * slopes[1][o] - slopes[0][o]) / 3.0 for o in OBJECTIVES})
    return {o: np.array([column[o] for column in columns]) for o in OBJECTIVES}


def adjoint(objective, steps, at_start=1.0, at_end=1.0):
    """(5.89) with the adjoint of (5.96) by the trapezoidal rule; `at_start`, `at_end` weigh the terms there."""
    rho, h, n = np.array(list(RHO.values())), END / steps, 2
    g, times = OBJECTIVES[objective], np.linspace(0.0, END, steps + 1)
    states, _ = motion_and_values(rho, times)

    def at(i):
        """What the equations need at a state, by complex step."""
        z, v = states[i, :2], states[i, 2:]
        a, lam = solved(z, v, rho)
        M, J, Jd = np.diag(mass(rho)), row(z, rho), 2.0 * v
        g_z, g_v, g_rho = (
            complex_step(f, x)
            for f, x in (
                (lambda x: g(x, v, lam, rho), z),
                (lambda x: g(z, x, lam, rho), v),
                (lambda x: g(z, v, lam, x), rho),
            )
        )
        g_lam = complex_step(lambda x: g(z, v, x[0], rho), np.array([lam]))[0]
        K = -complex_step(lambda x: force(x, v, rho) - row(x, rho) * lam, z)
        C = -complex_step(lambda x: force(z, x, rho), v)
        Q_rho = complex_step(lambda x: force(z, v, x) - mass(x) * a - row(z, x) * lam, rho)
        Phi_rho = complex_step(lambda x: (z[0] - x[0]) ** 2 + z[1] ** 2 - x[1] ** 2, rho)
        Phid_rho = complex_step(lambda x: row(z, x) @ v, rho)
        mud = np.linalg.solve(M + SCALE * np.outer(J, J), g_v)  # (5.90c)
        return M, J, Jd, K, C, g_z, g_lam, g_rho, Q_rho, Phi_rho, Phid_rho, mud

    def integrand(e, mu2, muPhi):
        _, J, _, _, _, _, _, g_rho, Q_rho, Phi_rho, Phid_rho, mud = e
        return g_rho + mu2 @ Q_rho - muPhi * Phi_rho - (mud @ J) * SCALE * Phid_rho

    e = at(steps)
    M, J, Jd, K, C, g_z, g_lam, *_, Phid_rho, mud = e
    W = np.block([[M, J[:, None]], [J[None, :], np.zeros((1, 1))]])
    found = np.linalg.solve(W, np.append(np.zeros(n), g_lam))
    mu2, eta = found[:n], -found[n]
    mu1 = Jd * eta
    mu1d = K.T @ mu2 + Jd * SCALE * (J @ mud) - g_z
    g_lamd = (g_lam - at(steps - 1)[6]) / h
    mu2d = np.linalg.solve(W, np.append(C.T @ mu2 - mu1 - M @ mud, g_lamd - Jd @ mu2))[:n]
    total = at_end * eta * Phid_rho + 0.5 * h * integrand(e, mu2, 0.0)
    for i in range(steps - 1, -1, -1):
        e = at(i)
        M, J, Jd, K, C, g_z, g_lam, *_, mud = e
        hat1, hat2, I = 2.0 / h * mu1 - mu1d, 2.0 / h * mu2 - mu2d, np.eye(n)
        matrix = np.block(
            [
                [-2.0 / h * I, -K.T, -J[:, None]],
                [I, -2.0 / h * M - C.T, np.zeros((n, 1))],
                [np.zeros((1, n)), J[None, :], np.zeros((1, 1))],
            ]
        )
        right = [-g_z + Jd * SCALE * (J @ mud) - hat1, -M @ mud - M @ hat2, [g_lam]]
        found = np.linalg.solve(matrix, np.concatenate(right))
        mu1, mu2, muPhi = found[:n], found[n : 2 * n], found[2 * n]
        mu1d, mu2d = -2.0 / h * mu1 + hat1, -2.0 / h * mu2 + hat2
        total = total + (0.5 if i == 0 else 1.0) * h * integrand(e, mu2, muPhi)
    z_rho, v_rho = (complex_step(lambda x, part=part: start(x)[part], rho) for part in (0, 1))
    return total + at_start * (mu1 @ z_rho + mu2 @ M @ v_rho)


def error(found, reference):
    return np.abs(found - reference).max() / np.abs(reference).max()


def test_order_with_positions_and_velocities(reference):
    errors = [error(adjoint("pv", steps), reference["pv"]) for steps in (50, 100)]
    assert 1.8 < np.log2(errors[0] / errors[1]) < 2.2


def test_first_order_with_multipliers(reference):
    """All converge; the entry by the stiffness, which only forces feel, shows the first order soonest."""
    found = np.array([adjoint("lam", steps) - reference["lam"] for steps in (50, 100, 200)])
    assert np.abs(found[-1]).max() < 2e-4 * np.abs(reference["lam"]).max()
    by_k = np.abs(found[:, list(RHO).index("k")])
    orders = np.log2(by_k[:-1] / by_k[1:])
    assert (orders > 0.85).all() and (orders < 1.25).all()


def test_terms_at_both_ends_are_necessary(reference):
    for objective in OBJECTIVES:
        printed = [error(adjoint(objective, n, at_start=-1.0), reference[objective]) for n in (50, 100)]
        assert min(printed) > 0.1  # the sign as printed in (5.89)
    without = [error(adjoint("lam", n, at_end=0.0), reference["lam"]) for n in (50, 100)]
    assert min(without) > 0.05 and without[1] > 0.9 * without[0]


MODEL = f"""
kinegrad: 1
parameters: {RHO}
design: [a, L, m, k, x0, u0]
ground: {{markers: {{O: [0, 0, 0], P: [a, 0, 0], S: [{FOOT[0]}, {FOOT[1]}, 0]}}}}
bodies:
  cart: {{mass: {CART}, com: [0, 0, 0], inertia: [0, 0, 0], markers: {{O: [0, 0, 0]}}}}
  bob: {{mass: m, com: [0, 0, 0], inertia: [0, 0, 0], pose: {{origin: [0.7, -0.75, 0]}}, markers: {{O: [0, 0, 0]}}}}
joints:
  x: {{type: prismatic, between: [ground.O, cart.O], axis: [1, 0, 0]}}
  y: {{type: prismatic, between: [cart.O, bob.O], axis: [0, 1, 0]}}
constraints: {{wire: {{type: distance, between: [ground.P, bob.O], distance: L}}}}
forces:
  gravity: {{type: gravity, acceleration: [0, -{GRAVITY}, 0]}}
  push: {{type: force, at: bob.O, frame: ground, value: [
    "-{DAMPING}*bob.O.velocity.x - k*(bob.O.x - {FOOT[0]})", "-{DAMPING}*bob.O.velocity.y - k*(bob.O.y - {FOOT[1]})", 0]}}
degrees_of_freedom: {{x.distance: {{position: x0, velocity: u0}}}}
objectives:
  pv: {{integral: bob.O.x**2 + 0.3*bob.O.y.velocity*bob.O.x + k*bob.O.x.velocity**2/50}}
  lam: {{integral: norm2(wire.reaction.force)/100}}
simulation: {{t_end: {END}}}
"""


def test_the_adjoint_at_acceleration_level_is_of_second_order(reference):
    system = kg.joint(kg.Model.from_yaml_text(MODEL))
    errors = []
    for steps in (50, 100, 200):
        motion = kg.simulate(system, "index1", "newmark", step=END / steps)
        found = kg.gradient(motion, method="continuous-adjoint")
        errors.append([error(found.matrix[k], reference[o]) for k, o in enumerate(("pv", "lam"))])
    orders = np.log2(np.array(errors[:-1]) / errors[1:])
    assert_close(orders, np.full((2, 2), 2.0), 0.05)
