"""Runs of a few steps on a four-bar linkage and a ball pendulum: their gradients against complex step, their states against
the equations of motion."""

import warnings

import numpy as np
from helpers import assert_close
from switching_models import FOUR_BAR_WRT, PENDULUM_WRT, four_bar, pendulum, point_four_bar
from whole_runs import TO_ROUNDING, Case, H

from kinegrad.errors import IterationWarning
from kinegrad.kernels.products import BIAS, EVALUATE, OBSERVE, TIME
from kinegrad.sensitivity.gradient import gradient, labels_of

MODELS = {
    "four-bar": (four_bar, FOUR_BAR_WRT),
    "four-bar by a point": (point_four_bar, FOUR_BAR_WRT),
    "ball": (pendulum, PENDULUM_WRT),
}
STEP = 0.01


def short_run(name, formulation, integrator, steps=3, step=STEP) -> Case:
    """A few steps of a model, differentiated by its parameters."""
    model, wrt = MODELS[name]
    return Case(model, formulation, integrator, wrt, steps * step, step)


def assert_gradients(case: Case, tolerance: float = 1e-11):
    """Direct and adjoint gradient of all objectives are the complex step of the same steps; the motion."""
    system, rounds = case.system(), TO_ROUNDING.get(case.formulation.type, (0.0, 25))
    columns = []
    for direction in system.directions(labels_of(system, case.wrt)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IterationWarning)  # all iterations are made, for the imaginary part
            there = case.run(system, *rounds, s=system.s + 1j * H * direction)
        columns.append([value.imag / H for value in there.objectives.values()])
    expected = np.array(columns).T
    motion = case.run(system, 1e-15, 40)
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    assert np.isfinite(expected).all()
    for method in ("direct", "discrete-adjoint"):
        found = gradient(motion, wrt=case.wrt, method=method, tighten=False).matrix
        assert (np.abs(found - expected) / scale).max() < tolerance, method
    return motion


# --- states ---


def at_state(motion, k: int, q=None, v=None):
    """A workspace after EVALUATE and BIAS at state k, or at other q, v of its time."""
    work = motion.system.workspace()
    work["q"][:], work["v"][:] = motion.q[k] if q is None else q, motion.qd[k] if v is None else v
    work["vp"][:], work["par"][TIME] = work["v"], motion.t[k]
    work.call(EVALUATE)
    work.call(BIAS)
    return work


def assert_motion(motion, a=None, lam=None, tolerance=1e-11, v=None):
    """M a + f + Phi_qᵀ lam = 0 at every state."""
    m = motion.system.m
    for k in range(1, len(motion.t)):
        work = at_state(motion, k, v=None if v is None else v[k])
        rest = work["M"] @ (motion.qdd if a is None else a)[k] + work["f"]
        rest += work["J"][:m].T @ (motion.lam if lam is None else lam)[k]
        assert_close(rest, np.zeros_like(rest), tolerance, np.abs(work["f"]).max())


def assert_constraints(motion, levels=3, tolerance=1e-12):
    """Phi, Phid and Phidd vanish at every state, as many as asked for."""
    m = motion.system.m
    for k in range(1, len(motion.t)):
        work, v, a = at_state(motion, k), motion.qd[k], motion.qdd[k]
        J = work["J"][:m]
        rest = (work["Phi"][:m], J @ v + work["Phi_t"][:m], J @ a + work["c"][:m])
        for x, size in zip(rest[:levels], (1.0, np.abs(v).max(), np.abs(a).max()), strict=False):
            assert_close(x, np.zeros(m), tolerance, size)


def assert_newmark(motion, beta, gamma, tolerance=1e-13):
    """q and v of every state from those before and both accelerations."""
    for k, h in enumerate(motion.hs):
        q, v, a, b = motion.q[k], motion.qd[k], motion.qdd[k], motion.qdd[k + 1]
        assert_close(motion.q[k + 1], q + h * v + h * h * ((0.5 - beta) * a + beta * b), tolerance)
        assert_close(motion.qd[k + 1], v + h * ((1.0 - gamma) * a + gamma * b), tolerance)


def observed(system, q, v, a, t):
    """g of all objectives."""
    work = system.workspace()
    work["q"][:], work["v"][:], work["vp"][:], work["ap"][:], work["par"][TIME] = q, v, v, a, t
    work.call(EVALUATE)
    work.call(OBSERVE)
    return work["g"].copy()


def assert_objectives(motion, integrals):
    """Those that are integrals have these values, and the others that of the end."""
    end = observed(motion.system, motion.q[-1], motion.qd[-1], motion.qdd[-1], motion.t[-1])
    is_final = [motion.system.model.objectives[name].final is not None for name in motion.objectives]
    assert 0 < sum(is_final) < len(is_final)
    assert_close(list(motion.objectives.values()), np.where(is_final, end, integrals), 1e-11)


def assert_trapezoidal_objectives(motion):
    """Integrals by the trapezoidal rule."""
    states = zip(motion.q, motion.qd, motion.qdd, motion.t, strict=True)
    g = np.array([observed(motion.system, *state) for state in states])
    assert_objectives(motion, np.sum(0.5 * motion.hs[:, None] * (g[1:] + g[:-1]), axis=0))


def runge_kutta_4(rate, y, t, h):
    """The state after one step of y' = rate(y, t)."""
    k1 = rate(y, t)
    k2 = rate(y + 0.5 * h * k1, t + 0.5 * h)
    k3 = rate(y + 0.5 * h * k2, t + 0.5 * h)
    k4 = rate(y + h * k3, t + h)
    return y + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)


def accelerations(system, q, v, t, stiffness=0.0, damping=0.0, compliance=0.0):
    """a from M, f and stabilised rows by least squares, which bears redundant rows."""
    work, n, m = system.workspace(), system.n, system.m
    work["q"][:], work["v"][:], work["vp"][:], work["par"][TIME] = q, v, v, t
    work.call(EVALUATE)
    work.call(BIAS)
    J = work["J"][:m]
    K = np.block([[work["M"], J.T], [J, -compliance * np.eye(m)]])
    rows = work["c"][:m] + damping * (J @ v + work["Phi_t"][:m]) + stiffness * work["Phi"][:m]
    return np.linalg.lstsq(K, -np.concatenate([work["f"], rows]), rcond=1e-13)[0][:n]
