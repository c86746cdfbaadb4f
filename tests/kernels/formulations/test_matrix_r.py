"""A stage of Matrix R: the state at given independent coordinates satisfies all equations, and so does its change."""

import numpy as np
import pytest
from helpers import assert_close
from products_by_complex_step import H, uncompiled
from switching_models import four_bar, pendulum, point_four_bar

from kinegrad.coordinates.sets import joint
from kinegrad.kernels.formulations.independent import MEASURED, partition
from kinegrad.kernels.formulations.matrix_r import new_stage, stage
from kinegrad.kernels.products import BIAS, EVALUATE, FREEDOMS, POSITION, TIME
from kinegrad.kernels.status import OK
from kinegrad.simulate import simulate

pytestmark = uncompiled
T = 0.1
#: and the coordinates that are independent
MODELS = {
    "four-bar": (four_bar, lambda system: [system.coordinate_of(system.freedoms[0])]),
    "four-bar by another angle": (four_bar, lambda system: [1]),
    "four-bar by a point": (point_four_bar, lambda system: [MEASURED]),
    "ball": (pendulum, lambda system: [1, 2, 3]),
}


@pytest.fixture(params=MODELS, scope="module")
def case(request):
    """A system, independent coordinates, and q, z, zd near the start."""
    model, choose = MODELS[request.param]
    system = joint(model())
    q = simulate(system, t_end=0.01, step=0.01).q[0]
    chosen = np.array(choose(system), np.int64)
    work = system.workspace()
    work["q"][:], work["flag"][FREEDOMS] = q, 1
    work.call(POSITION)
    measured = work["Phi"][system.m :] if chosen[0] == MEASURED else q[chosen]
    return system, chosen, q, measured + 0.01, np.random.default_rng(5).normal(size=len(chosen))


def staged(case, z, zd, s=None):
    """A workspace at z, zd and zdd."""
    system, chosen, q, *_ = case
    work = system.workspace(s=np.asarray(system.s if s is None else s, complex))
    work["q"][:], work["par"][TIME], work["flag"][FREEDOMS] = q, T, chosen[0] == MEASURED
    fn = work.functions(EVALUATE, BIAS, POSITION)
    S, arrays = partition(chosen, system.m, work["M"]), new_stage(system.m, len(chosen), work["M"])
    zdd = np.zeros(len(chosen), complex)
    for _ in range(4):  # so that the imaginary part converges too
        status = stage(fn, work.pointer, system.m, S, arrays, z, zd, 1e-300, zdd)
        assert status == OK
    return work, arrays.R.real, zdd


def measure(case, work):
    system, chosen = case[:2]
    return work["Phi"][system.m :] if chosen[0] == MEASURED else work["q"][chosen]


def test_state(case):
    system, chosen, _, z, zd = case
    work, R, zdd = staged(case, z.astype(complex), zd.astype(complex))
    m = system.m
    J, v, a = work["J"][:m].real, work["v"].real, work["a"].real
    B = work["J"][m:].real if chosen[0] == MEASURED else np.eye(system.n)[chosen]
    assert_close(work["Phi"][:m].real, np.zeros(m), 1e-14, 1.0)
    assert_close(measure(case, work).real, z, 1e-14)
    assert_close(np.vstack([J, B]) @ R.T, np.vstack([np.zeros((m, len(z))), np.eye(len(z))]))
    assert_close(J @ v + work["Phi_t"][:m].real, np.zeros(m), 1e-12, 1.0)
    assert_close(B @ v, zd)
    assert_close(J @ a + work["c"][:m].real, np.zeros(m), 1e-11, np.abs(a).max())
    rest = (work["M"] @ work["a"] + work["f"] + work["J"][:m].T @ work["lam"][:m]).real
    assert_close(rest, np.zeros(system.n), 1e-11, np.abs(work["f"]).max())
    if chosen[0] != MEASURED:
        assert_close(zdd.real, a[chosen])


def test_changes_by_complex_step(case, rng):
    """Along (zd, zdd) the state moves with v and a; under other changes q moves with R."""
    system, chosen, _, z, zd = case
    d = rng.normal(size=len(z))
    work, R, _ = staged(case, z + H * 1j * d, zd.astype(complex))
    assert_close(work["q"].imag / H, d @ R, 1e-11)
    _, _, zdd = staged(case, z.astype(complex), zd.astype(complex))
    work, R, _ = staged(case, z + H * 1j * zd, zd + H * 1j * zdd.real)
    if not np.any(work["Phi_t"]):
        assert_close(work["q"].imag / H, work["v"].real, 1e-11)
        assert_close(work["v"].imag / H, work["a"].real, 1e-10)
