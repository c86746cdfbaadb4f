"""Matrices of a system at a state, by complex step in every set; rows of elements are parts of them (test_at)."""

import numpy as np
import pytest
from equations.every_row import every_row
from products_by_complex_step import H, close, evaluated, uncompiled

from kinegrad.coordinates.sets import SETS
from kinegrad.kernels.products import BIAS

pytestmark = uncompiled


@pytest.fixture(scope="module", params=list(SETS))
def case(request):
    return every_row(request.param)


def test_matrices_by_complex_step(case):
    """Everything that `at` gives is what EVALUATE and BIAS compute, and its derivative."""
    system, state, m = case.system, case.state, case.system.m
    rng = np.random.default_rng(6)
    lam, qdd = rng.normal(size=m), state["a"]
    here = system.at(state["q"], state["v"], case.t, qdd=qdd, lam=lam)

    def values(**moved):
        work = evaluated(case, **moved)
        out = {"M": work["M"].copy(), "Q": -work["f"], "Phi": work["Phi"][:m].copy(), "J": work["J"][:m].copy()}
        out |= {"Phi_t": work["Phi_t"][:m].copy(), "Ma": out["M"] @ qdd, "Jlam": out["J"].T @ lam}
        work.call(BIAS)
        return out | {"gamma": -work["c"][:m]}

    def by(name, keys):
        also = ("v", "vp") if name == "v" else ("q",)
        found = [values(**dict.fromkeys(also, state[name] + H * 1j * e)) for e in np.eye(system.n)]
        return {key: np.array([x[key].imag / H for x in found]).T for key in keys}

    now, level = values(), system.levels[:m]
    for name in ("M", "Q", "Phi", "Phi_t", "gamma"):
        close(getattr(here, name).values, now[name].real, name)
    close(here.nu.values, -now["Phi_t"].real, "nu")
    by_q, by_qd = by("q", ("Q", "Phi", "gamma", "Ma", "Jlam")), by("v", ("Q", "gamma"))
    close(here.Phi_q.values[level == 0], by_q["Phi"][level == 0], "Phi_q")
    close(here.K.values, -by_q["Q"], "K")
    close(here.C.values, -by_qd["Q"], "C")
    close(here.gamma_q.values, by_q["gamma"], "gamma_q")
    close(here.gamma_qd.values, by_qd["gamma"], "gamma_qd")
    close(here.Ma_q.values, by_q["Ma"], "Ma_q")
    close(here.PhiqTlam_q.values, by_q["Jlam"], "PhiqTlam_q")
    later = values(q=state["q"] + H * 1j * state["v"], t=case.t + H * 1j)
    close(here.gamma.values, -(later["J"] @ state["v"] + later["Phi_t"]).imag / H, "gamma")
    close(np.where(level == 0, here.Phi_t.values, 0.0), values(t=case.t + H * 1j)["Phi"].imag / H, "Phi_t")
