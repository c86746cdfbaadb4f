"""Every product of the joint set against complex step of M, f, Phi and their combinations."""

import numpy as np
import pytest
from mechanisms import CLOSED, closed, tree

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.jit import JIT
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, LINEARISE, OBJECTIVE, OBSERVE, PULLBACK, TIME, WEIGHT

pytestmark = pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")
H = 1e-30
TOLERANCE = 1e-12
STATE = ("q", "v", "a", "lam", "vp", "ap", "dv", "da", "sv", "sa")


@pytest.fixture(params=["tree", *CLOSED], scope="module")
def case(request):
    """A system, a random state, and directions that mix all parameters."""
    model = tree() if request.param == "tree" else closed(request.param)
    system = joint(model)
    rng = np.random.default_rng(7)
    n, r = system.n, system.m + len(system.freedoms)
    size = {k: (r if k in ("lam", "sv", "sa") else n) for k in STATE}
    state = {k: rng.normal(size=size[k]) for k in STATE}
    for k in ("lam", "sv", "sa"):
        state[k][system.m :] = 0.0
    ds = system.directions(system.parameters.independent)
    return system, state, ds, 0.37


def products(system, state, s, t):
    """R, Nv, Na, Phi, Phid, Phidd and g from the plain functions of the set, complex where the input is."""
    work = system.workspace(s=np.asarray(s, complex))

    def at(**values):
        for name, value in values.items():
            work[name][:] = value

    at(q=state["q"], v=state["v"])
    work["par"][TIME] = t
    work["flag"][FREEDOMS] = 1
    work.call(EVALUATE)
    M, J = work["M"].copy(), work["J"].copy()
    R = M @ state["a"] + work["f"] + J.T @ state["lam"]
    at(vp=state["vp"], ap=state["ap"])
    work.call(BIAS)
    return {
        "R": R,
        "Nv": M @ state["dv"] + J.T @ state["sv"],
        "Na": M @ state["da"] + J.T @ state["sa"],
        "Phi": work["Phi"].copy(),
        "Phid": J @ state["vp"] + work["Phi_t"],
        "Phidd": J @ state["ap"] + work["c"],
        "g": observed(work),
    }


def observed(work):
    work.call(OBSERVE)
    return work["g"].copy()


def linearised(system, state, ds, t):
    work = system.workspace(ds=ds)
    for name, value in state.items():
        work[name][:] = value
    work["par"][TIME] = t
    work["flag"][FREEDOMS] = 1
    work.call(LINEARISE)
    return work


def close(found, expected, what):
    scale = np.abs(expected).max(axis=-1, keepdims=True) if expected.ndim > 1 else np.abs(expected).max()
    scale = np.maximum(scale, 1e-3 * max(1.0, np.abs(expected).max()))
    error = np.abs(found - expected) / scale
    assert error.max() < TOLERANCE, f"{what}: {error.max():.2e} at {np.unravel_index(error.argmax(), error.shape)}"


def test_by_coordinates(case):
    system, state, ds, t = case
    work = linearised(system, state, ds, t)
    n = system.n
    by = {k: [] for k in ("R", "Nv", "Na", "Phi", "Phid", "Phidd", "g")}
    for k in range(n):
        moved = dict(state, q=state["q"] + H * 1j * np.eye(n)[k])
        for name, value in products(system, moved, system.s, t).items():
            by[name].append(value.imag / H)
    names = {"R": "R_z", "Nv": "Nv_z", "Na": "Na_z", "Phi": "Phi_z", "Phid": "Phid_z", "Phidd": "Phidd_z", "g": "g_z"}
    for name, array in names.items():
        if by[name][0].size:
            close(work[array][:, :n], np.array(by[name]).T, name)


def test_by_velocities_and_accelerations(case):
    system, state, ds, t = case
    work = linearised(system, state, ds, t)
    n = system.n
    one = np.eye(n)
    C = [products(system, dict(state, v=state["v"] + H * 1j * e), system.s, t)["R"].imag / H for e in one]
    close(work["C"], np.array(C).T, "C")
    M = [products(system, dict(state, a=state["a"] + H * 1j * e), system.s, t)["R"].imag / H for e in one]
    close(work["M"], np.array(M).T, "M")
    moved = [products(system, dict(state, vp=state["vp"] + H * 1j * e), system.s, t) for e in one]
    close(2.0 * work["Phid_z"][:, :n], np.array([x["Phidd"].imag / H for x in moved]).T, "Phidd_v")
    if system.objectives:
        close(work["g_v"], np.array([x["g"].imag / H for x in moved]).T, "g_v")
        moved = [products(system, dict(state, ap=state["ap"] + H * 1j * e), system.s, t) for e in one]
        close(work["g_a"], np.array([x["g"].imag / H for x in moved]).T, "g_a")


def test_by_directions(case):
    system, state, ds, t = case
    work = linearised(system, state, ds, t)
    n = system.n
    by = [products(system, state, system.s + H * 1j * d, t) for d in ds]
    names = {"R": "R_z", "Nv": "Nv_z", "Na": "Na_z", "Phi": "Phi_z", "Phid": "Phid_z", "Phidd": "Phidd_z", "g": "g_z"}
    for name, array in names.items():
        expected = np.array([x[name].imag / H for x in by]).T
        if expected.size:
            close(work[array][:, n:], expected, name)


def test_pullback_is_the_transpose_of_all_slots(case):
    system, state, _, t = case
    work = linearised(system, state, None, t)
    rng = np.random.default_rng(3)
    n, r = system.n, len(work["yp"])
    vectors = {
        k: rng.normal(size=n if k in ("mu", "eta_v", "eta_a") else r)
        for k in ("mu", "eta_v", "eta_a", "yp", "yv", "ya")
    }
    for name, value in vectors.items():
        work[name][:] = value
    objective = len(system.objectives) - 1
    work["flag"][OBJECTIVE] = max(objective, 0)
    work["par"][WEIGHT] = 0.7
    work["psi_s"][:] = 0.0
    work.call(PULLBACK)
    found, expected = [], []
    moving = sorted(set(range(9, len(system.s))))
    pairs = {"mu": "R", "eta_v": "Nv", "eta_a": "Na", "yp": "Phi", "yv": "Phid", "ya": "Phidd"}
    for k in moving:
        if system.slots.names[k].startswith(("axis ",)):
            continue
        s = system.s.astype(complex)
        s[k] += H * 1j
        x = products(system, state, s, t)
        total = sum(vectors[a] @ x[b] for a, b in pairs.items())
        if objective >= 0:
            total = total + 0.7 * x["g"][objective]
        expected.append(total.imag / H)
        found.append(work["psi_s"][max(objective, 0), k])
    found, expected = np.array(found), np.array(expected)
    free = unit_slots(system, moving)
    error = np.abs(found - expected) / np.maximum(np.abs(expected), 1e-2 * np.abs(expected).max())
    names = [system.slots.names[k] for k in moving if not system.slots.names[k].startswith("axis ")]
    bad = [(names[i], found[i], expected[i]) for i in np.flatnonzero(error > 1e-11) if names[i] not in free]
    assert not bad, bad


def unit_slots(system, moving):
    """Slots of unit vectors and rotations: kernels assume their length, so single components have no meaning."""
    names = system.slots.names
    return {names[k] for k in moving if "frame" in names[k] or ".axis." in names[k] or ".axes[" in names[k]}


def test_pullback_by_every_number(case):
    """The chain through normalised axes and frames: gradient by all fields against complex step."""
    system, state, ds, t = case
    work = linearised(system, state, None, t)
    rng = np.random.default_rng(4)
    pairs = {"mu": "R", "eta_v": "Nv", "eta_a": "Na", "yp": "Phi", "yv": "Phid", "ya": "Phidd"}
    for name in pairs:
        work[name][:] = rng.normal(size=len(work[name]))
    work["flag"][OBJECTIVE] = 0
    work["psi_s"][:] = 0.0
    work.call(PULLBACK)
    J = system.slots.field_jacobian(system.rho).dense()
    found = work["psi_s"][0] @ J
    expected = []
    for k in range(J.shape[1]):
        x = products(system, state, system.s + H * 1j * J[:, k], t)
        expected.append(sum(work[a] @ x[b] for a, b in pairs.items()).imag / H)
    expected = np.array(expected)
    error = np.abs(found - expected) / np.maximum(np.abs(expected), 1e-2 * np.abs(expected).max())
    bad = [(system.slots.field_paths[k], found[k], expected[k]) for k in np.flatnonzero(error > 1e-11)]
    assert not bad, bad
