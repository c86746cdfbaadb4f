"""Objectives of the five-bar, and their gradients, in CasADi, MuJoCo and Exudyn.

The objectives are integrals over time of the squares of what point 2 is away from its first place, of its velocity and of
its acceleration; the parameters are `Numbers`. The angles of the first two bars at the start are held.

CasADi has no model of mechanisms: the equations are written out here for two angles, all else in closed form, and integrated
with the objectives by the Runge-Kutta method of order 4; its own automatic differentiation gives the gradient of all steps,
forwards by five directions or backwards by three. MuJoCo and Exudyn are run six times, once as it is and once a parameter.
"""

import time
from typing import NamedTuple

import numpy as np

from kinegrad.bench.peers import (
    ANGLES,
    BARS,
    GRAVITY,
    L_3B,
    L_12,
    L_23,
    POINTS,
    STIFFNESS,
    Numbers,
    build_exudyn,
    exudyn_settings,
    import_exudyn,
    mujoco_xml,
    side,
)

FIRST = np.array(POINTS["P2"])  # from which psi1 is measured


class Found(NamedTuple):
    """CPU seconds of the calling thread, values (3,) and gradient (3, 5)."""

    cpu_s: float
    values: np.ndarray
    gradient: np.ndarray


# --- CasADi ------------------------------------------------------------------------------------------------------


def casadi_right_side():
    """CasADi's function of (angles, rates, parameters): second derivatives of the angles, and the integrands.

    Point 3 is where circles about point 2 and B meet. With c the centres and θ the angles of the bars, kinetic energy is
    ½ u̇ᵀ M u̇ of the two angles u, M = Σ m c_uᵀ c_u + J θ_uᵀ θ_u, and forces are projected on u.
    """
    import casadi as ca

    u, w, p = ca.SX.sym("u", 2), ca.SX.sym("w", 2), ca.SX.sym("p", len(Numbers._fields))
    L_s1, L_s2, m_A1, r_G, L_A1 = ca.vertsplit(p)

    def along(angle):
        return ca.vertcat(ca.cos(angle), ca.sin(angle))

    B = ca.DM(POINTS["B"])
    P1 = L_A1 * along(u[0])
    P2 = P1 + L_12 * along(u[1])
    d = B - P2
    far = ca.dot(d, d)
    x = 0.5 * (far + L_23**2 - L_3B**2)
    y = np.sign(side()) * ca.sqrt(L_23**2 * far - x * x)
    P3 = P2 + (x * d + y * ca.vertcat(d[1], -d[0])) / far
    bars = [
        (m_A1, BARS[0][3], r_G * along(u[0]), u[0]),
        (BARS[1][2], BARS[1][3], 0.5 * (P1 + P2), u[1]),
        (BARS[2][2], BARS[2][3], 0.5 * (P2 + P3), ca.atan2(P3[1] - P2[1], P3[0] - P2[0])),
        (BARS[3][2], BARS[3][3], 0.5 * (P3 + B), ca.atan2(B[1] - P3[1], B[0] - P3[0])),
    ]
    M, force = ca.SX.zeros(2, 2), ca.SX.zeros(2)
    for mass, inertia, centre, angle in bars:
        for weight, place in ((mass, centre), (inertia, angle)):
            by_u = ca.jacobian(place, u)
            M += weight * by_u.T @ by_u
            force -= weight * by_u.T @ ca.jtimes(by_u @ w, u, w)
        force -= mass * GRAVITY * ca.jacobian(centre[1], u).T
    for point, length in ((P1, L_s1), (P2, L_s2)):
        stretched = ca.norm_2(point - B)
        force -= STIFFNESS * (stretched - length) * ca.jacobian(stretched, u).T
    det = M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]
    a = ca.vertcat(M[1, 1] * force[0] - M[0, 1] * force[1], M[0, 0] * force[1] - M[1, 0] * force[0]) / det
    by_u = ca.jacobian(P2, u)
    v2 = by_u @ w
    a2 = by_u @ a + ca.jtimes(v2, u, w)
    g = ca.vertcat(ca.sumsqr(P2 - ca.DM(FIRST)), ca.sumsqr(v2), ca.sumsqr(a2))
    return ca.Function("right_side", [u, w, p], [a, g], {"cse": True})


def casadi_gradient(step, t_end, backwards):
    """A function that returns what CasADi finds, by RK4."""
    import casadi as ca

    f = casadi_right_side()
    x, p = ca.SX.sym("x", 7), ca.SX.sym("p", len(Numbers._fields))

    def rate(x):
        a, g = f(x[:2], x[2:4], p)
        return ca.vertcat(x[2:4], a, g)

    k1 = rate(x)
    k2 = rate(x + 0.5 * step * k1)
    k3 = rate(x + 0.5 * step * k2)
    k4 = rate(x + step * k3)
    one = ca.Function("step", [x, p], [x + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)], {"cse": True})
    steps = round(t_end / step)
    every = one.mapaccum("run", steps)
    rho = ca.MX.sym("rho", len(Numbers._fields))
    begin = ca.DM([*ANGLES, 0, 0, 0, 0, 0])
    psi = every(begin, ca.repmat(rho, 1, steps))[4:, -1]
    seeds = ca.DM.eye(3) if backwards else ca.DM.eye(len(Numbers._fields))
    derivative = ca.jtimes(psi, rho, seeds, backwards)
    whole = ca.Function("gradient", [rho], [psi, derivative.T if backwards else derivative])

    def run():
        clock = time.thread_time()
        values, gradient = whole(ca.DM(Numbers()))
        return Found(time.thread_time() - clock, np.array(values).ravel(), np.array(gradient))

    return run


# --- differences -------------------------------------------------------------------------------------------------


def by_differences(simulate, change):
    """A function that returns what one-sided differences of ``simulate(numbers)`` find; it returns seconds and values."""

    def run():
        seconds, values = simulate(Numbers())
        columns = []
        for name, value in Numbers()._asdict().items():
            more, changed = simulate(Numbers()._replace(**{name: value + change}))
            seconds += more
            columns.append((changed - values) / change)
        return Found(seconds, values, np.transpose(columns))

    return run


def integrals(step, position, velocity, acceleration):
    """The objectives, by the trapezoidal rule over (steps + 1, 2) each."""
    g = [((position - FIRST) ** 2).sum(axis=1), (velocity**2).sum(axis=1), (acceleration**2).sum(axis=1)]
    return np.array([step * (x.sum() - 0.5 * (x[0] + x[-1])) for x in g])


def mujoco_objectives(step, t_end, integrator):
    """A function of `Numbers` that returns seconds of the steps, and the objectives, of MuJoCo."""
    import mujoco
    from mujoco import rollout

    sensors = "".join(f'<{kind} objtype="site" objname="P2"/>' for kind in ("framepos", "framelinvel", "framelinacc"))

    def simulate(numbers):
        model = mujoco.MjModel.from_xml_string(mujoco_xml(step, integrator, numbers, sensors))
        data = mujoco.MjData(model)
        begin = np.zeros((1, mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)))
        clock = time.thread_time()
        # a step senses the state that it begins with
        _, seen = rollout.rollout(model, data, begin, nstep=round(t_end / step) + 1)
        seconds = time.thread_time() - clock
        x, v, a = (seen[0, :, 3 * k : 3 * k + 2] for k in range(3))
        return seconds, integrals(step, x, v, a - np.array([0.0, GRAVITY]))  # it tells what an accelerometer sees

    return simulate


def exudyn_objectives(step, t_end):
    """A function of `Numbers` that returns seconds of the steps, and the objectives, of Exudyn."""
    exu, items = import_exudyn()

    def simulate(numbers):
        container = exu.SystemContainer()  # owns the system
        mbs = container.AddSystem()
        body, tip = build_exudyn(mbs, items, numbers)
        kinds = exu.OutputVariableType
        sensors = [
            mbs.AddSensor(
                items.SensorBody(
                    bodyNumber=body, localPosition=[tip, 0.0, 0.0], outputVariableType=kind, storeInternal=True
                )
            )
            for kind in (kinds.Position, kinds.Velocity, kinds.Acceleration)
        ]
        mbs.Assemble()
        settings = exudyn_settings(exu, step, t_end)
        settings.timeIntegration.newton.relativeTolerance = 1e-11  # or differences drown
        settings.solution.sensors.writePeriod = step
        clock = time.thread_time()
        mbs.SolveDynamic(settings, solverType=exu.DynamicSolverType.TrapezoidalIndex2)
        seconds = time.thread_time() - clock
        x, v, a = (np.array(mbs.GetSensorStoredData(sensor))[:, 1:3] for sensor in sensors)
        return seconds, integrals(step, x, v, a)

    return simulate
