"""Every product of a coordinate set against complex step of what EVALUATE, BIAS, OBSERVE and ENERGY compute.

A test makes a `Case` of a model and runs `PRODUCTS` on it, and `ROWS` or `ENERGIES` where there are rows or potentials.
"""

from typing import NamedTuple

import numpy as np
import pytest
from helpers import assert_close

from kinegrad.coordinates.sets import joint
from kinegrad.coordinates.system import System
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import (
    BIAS,
    ENERGY,
    EVALUATE,
    FREEDOMS,
    LINEARISE,
    OBJECTIVE,
    OBSERVE,
    PULLBACK,
    STATUS,
    TIME,
    WC,
    WEIGHT,
    WK,
)
from kinegrad.kernels.status import OK

uncompiled = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")
H = 1e-30
TOLERANCE = 1e-12
VECTORS = ("q", "v", "a", "vp", "ap", "dv", "da")
ROW_VECTORS = ("lam", "sv", "sa")
NAMES = {"R": "R_z", "Nv": "Nv_z", "Na": "Na_z", "Phi": "Phi_z", "Phid": "Phid_z", "Phidd": "Phidd_z", "g": "g_z"}
ADJOINTS = {"mu": "R", "eta_v": "Nv", "eta_a": "Na", "yp": "Phi", "yv": "Phid", "ya": "Phidd"}


class Case(NamedTuple):
    """A system, values of its slots, a state, directions in the slots, and a time."""

    system: System
    s: np.ndarray
    state: dict[str, np.ndarray]
    ds: np.ndarray
    t: float


def random_case(model, seed=7, near_start=False, lower=joint, **options) -> Case:
    """The model at random values, or near the poses of its bodies, with a direction for each independent parameter."""
    system = lower(model, **options)
    rng = np.random.default_rng(seed)
    n, r = system.n, system.m + len(system.freedoms)
    state = {name: rng.normal(size=n) for name in VECTORS} | {name: rng.normal(size=r) for name in ROW_VECTORS}
    if near_start:
        guess = system.set.guess(system, system.s)  # without what elements own
        state["q"] = np.append(guess, np.zeros(n - len(guess))) + 0.3 * rng.normal(size=n)
    for name in ROW_VECTORS:
        state[name][system.m :] = 0.0
    return Case(system, system.s, state, system.directions(system.parameters.independent), 0.37)


# --- what is differentiated, and what claims to be the derivative ---


def evaluated(case: Case, s=None, t=None, **moved):
    """A workspace after EVALUATE with all rows, of complex numbers; `moved` are other values of the state."""
    work = case.system.workspace(s=np.asarray(case.s if s is None else s, complex))
    state = case.state | moved
    for name in ("q", "v", "vp", "ap"):
        work[name][:] = state[name]
    work["par"][TIME] = case.t if t is None else t
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    assert work["flag"][STATUS] == OK
    return work


def products(case: Case, s=None, **moved) -> dict[str, np.ndarray]:
    """R, Nv, Na, Phi, Phid, Phidd and g from the plain functions of the set, complex where the input is."""
    work, state = evaluated(case, s, **moved), case.state | moved
    M, J = work["M"].copy(), work["J"].copy()
    R = M @ state["a"] + work["f"] + J.T @ state["lam"]
    work.call(BIAS)
    phi = {"Phi": work["Phi"].copy(), "Phid": J @ state["vp"] + work["Phi_t"], "Phidd": J @ state["ap"] + work["c"]}
    work.call(OBSERVE)
    return {
        "R": R,
        "Nv": M @ state["dv"] + J.T @ state["sv"],
        "Na": M @ state["da"] + J.T @ state["sa"],
        **phi,
        "g": work["g"].copy(),
    }


def linearised(case: Case, directions=True):
    """A workspace after LINEARISE."""
    work = case.system.workspace(ds=case.ds if directions else None)
    for name, value in case.state.items():
        work[name][:] = value
    work["par"][TIME] = case.t
    work["flag"][FREEDOMS] = 1
    work.call(LINEARISE)
    return work


def by(case: Case, name: str) -> dict[str, np.ndarray]:
    """Derivatives (rows, n) of all products by a vector of the state."""
    found = [products(case, **{name: case.state[name] + H * 1j * e}) for e in np.eye(case.system.n)]
    return {key: np.array([x[key].imag / H for x in found]).T for key in found[0]}


def close(found, expected, what):
    """Agreement to 1e-12 of the largest entry of each row, small rows counting as a thousandth of the largest."""
    if expected.size == 0:
        return
    scale = np.abs(expected).max(axis=-1, keepdims=True) if expected.ndim > 1 else np.abs(expected).max()
    scale = np.maximum(scale, 1e-3 * max(1.0, np.abs(expected).max()))
    error = np.abs(found - expected) / scale
    assert error.max() < TOLERANCE, f"{what}: {error.max():.2e} at {np.unravel_index(error.argmax(), error.shape)}"


# --- LINEARISE and PULLBACK ---


def by_coordinates(case: Case):
    work, n = linearised(case), case.system.n
    expected = by(case, "q")
    for name, array in NAMES.items():
        close(work[array][:, :n], expected[name], name)


def by_velocities_and_accelerations(case: Case):
    work, n = linearised(case), case.system.n
    close(work["C"], by(case, "v")["R"], "C")
    close(work["M"], by(case, "a")["R"], "M")
    moved = by(case, "vp")
    close(2.0 * work["Phid_z"][:, :n], moved["Phidd"], "Phidd_v")
    close(work["g_v"], moved["g"], "g_v")
    if case.system.objectives:
        close(work["g_a"], by(case, "ap")["g"], "g_a")


def by_directions(case: Case):
    work, n = linearised(case), case.system.n
    found = [products(case, case.s + H * 1j * d) for d in case.ds]
    for name, array in NAMES.items():
        close(work[array][:, n:], np.array([x[name].imag / H for x in found]).T, name)


def pulled_back(case: Case, seed: int, weight: float, objective: int):
    """A workspace after PULLBACK with random adjoints."""
    work, rng = linearised(case, directions=False), np.random.default_rng(seed)
    for name in ADJOINTS:
        work[name][:] = rng.normal(size=len(work[name]))
    work["flag"][OBJECTIVE], work["par"][WEIGHT] = objective, weight
    work["psi_s"][:] = 0.0
    work.call(PULLBACK)
    return work


def weighed(work, values: dict[str, np.ndarray], objective: int):
    """What PULLBACK differentiates: the products of adjoints and values, and the objective, if there is one, by its weight."""
    total = sum(work[a] @ values[b] for a, b in ADJOINTS.items())
    return total if objective < 0 else total + work["par"][WEIGHT] * values["g"][objective]


def by_slots(case: Case):
    """psi_s of PULLBACK, except for single components of unit vectors and rotations, whose length kernels take as given."""
    system, objective = case.system, len(case.system.objectives) - 1
    work = pulled_back(case, 3, 0.7, max(objective, 0))
    names, found, expected = system.slots.names, {}, {}
    for k in range(9, len(case.s)):
        if names[k].startswith("axis ") or "frame" in names[k] or ".axis." in names[k] or ".axes[" in names[k]:
            continue
        s = case.s.astype(complex)
        s[k] += H * 1j
        found[names[k]] = work["psi_s"][max(objective, 0), k]
        expected[names[k]] = weighed(work, products(case, s), objective).imag / H
    assert_each(found, expected)


def by_every_number(case: Case):
    """psi_s chained through normalised axes and frames: the gradient by all fields of the model."""
    system, objective = case.system, len(case.system.objectives) - 1
    work = pulled_back(case, 4, 0.7, max(objective, 0))
    J = system.slots.field_jacobian(system.rho).dense()
    found, expected = work["psi_s"][max(objective, 0)] @ J, np.empty(J.shape[1])
    for k in range(J.shape[1]):
        expected[k] = weighed(work, products(case, case.s + H * 1j * J[:, k]), objective).imag / H
    paths = system.slots.field_paths
    assert_each(dict(zip(paths, found, strict=True)), dict(zip(paths, expected, strict=True)))


def assert_each(found: dict, expected: dict):
    """Agreement to 1e-11 of each number, small ones counting as a hundredth of the largest."""
    x, y = np.array(list(found.values())), np.array(list(expected.values()))
    error = np.abs(x - y) / np.maximum(np.abs(y), 1e-2 * np.abs(y).max())
    bad = [(name, x[i], y[i]) for i, name in enumerate(found) if not error[i] < 1e-11]
    assert not bad, bad


# --- rows ---


def rows_are_derivatives(case: Case):
    """Phi_q, Phi_t and c from Phi(q, t) and its rate along the motion of velocities vp."""
    q, vp = case.state["q"], case.state["vp"]
    work = evaluated(case)
    J, Phi_t = work["J"].real.copy(), work["Phi_t"].real.copy()
    work.call(BIAS)
    moved = [evaluated(case, q=q + H * 1j * e)["Phi"].imag / H for e in np.eye(case.system.n)]
    close(J, np.array(moved).T, "Phi_q")
    close(Phi_t, evaluated(case, t=case.t + H * 1j)["Phi"].imag / H, "Phi_t")
    later = evaluated(case, t=case.t + H * 1j, q=q + H * 1j * vp)
    close(J @ vp + Phi_t, later["Phi"].imag / H, "Phid")
    close(work["c"].real, (later["J"] @ vp + later["Phi_t"]).imag / H, "c")


# --- energies ---


def energies(case: Case, **moved) -> np.ndarray:
    """Kinetic and potential energy, and power."""
    work = evaluated(case, **moved)
    work["lam"][:] = 0.0
    work.call(ENERGY)
    return work["energy"].copy()


def forces_are_of_the_potential(case: Case):
    """f at rest is the gradient of the potential, where dampers alone have none."""
    still = np.zeros(case.system.n)
    moved = [
        energies(case, q=case.state["q"] + H * 1j * e, v=still)[1].imag / H for e in np.eye(case.system.n)
    ]  # fmt: skip
    close(evaluated(case, v=still)["f"].real, np.array(moved), "f")


def energy_changes_by_power(case: Case):
    """Along M a + f = 0 of a tree without rows, (T + V)˙ is the power of what has no potential."""
    q, v = case.state["q"], case.state["v"]
    assert case.system.m == 0
    work = evaluated(case)
    a = np.linalg.solve(work["M"].real, -work["f"].real)
    along = energies(case, q=q + H * 1j * v, v=v + H * 1j * a)
    assert along[2].real != 0.0
    assert_close((along[0] + along[1]).imag / H, along[2].real, TOLERANCE, np.abs(v * work["f"].real).max())


# --- the tangent ---


def tangent(case: Case, wk=0.7, wc=0.4) -> np.ndarray:
    """K of EVALUATE, mirrored."""
    work = case.system.workspace()
    for name in ("q", "v"):
        work[name][:] = case.state[name]
    work["par"][[TIME, WK, WC]] = case.t, wk, wc
    work.call(EVALUATE)
    K = np.tril(work["K"])
    return K + np.tril(K, -1).T


PRODUCTS = (by_coordinates, by_velocities_and_accelerations, by_directions, by_every_number)
ROWS = (*PRODUCTS, rows_are_derivatives)
ENERGIES = (forces_are_of_the_potential, energy_changes_by_power)


def name_of(check) -> str:
    """Of a check, for the name of a test."""
    return check.__name__
