"""Gradients of recursive runs, direct and adjoint, against complex step of the simulator, all without the compiler."""

import numpy as np
import pytest
from trees import chain
from whole_runs import CHAIN_WRT, DRIVEN_WRT, FIVE_BAR, SLIDER_CRANK, Case, H, driven_crank, five_bar, open_chain
from whole_runs import slider_crank as crank

from kinegrad.kernels.jit import JIT
from kinegrad.model.simulation import Newmark, Recursive, RungeKutta4, RungeKutta54
from kinegrad.sensitivity.gradient import gradient, labels_of

FORMULATION = Recursive(frequency=15.0, damping=0.8)
RK4, RK54, NEWMARK = RungeKutta4(), RungeKutta54(tolerance=1e-7), Newmark(beta=0.3025, gamma=0.6)

SEVEN = """
parameters: {m: 1.3}
objectives: {tip: {final: "b6.q.z*m + norm2(b5.q.acceleration)"}, path: {integral: "b6.q.x*b2.q.y"}}
"""


def seven_links():
    model = chain(7, more=SEVEN)
    model.bodies["b3"] = model.bodies["b3"].with_(mass="m")
    return model


def _case(model, integrator, wrt, t_end, step, **more):
    return Case(model, FORMULATION, integrator, wrt=wrt, t_end=t_end, step=step, **more)


CASES = {
    "five-bar, rk4": _case(five_bar, RK4, FIVE_BAR[::3], 0.05, 0.0085),
    "slider-crank, rk4": _case(crank, RK4, SLIDER_CRANK[1::3], 0.02, 0.005, cut=("ball",)),
    "slider-crank, newmark": _case(crank, NEWMARK, SLIDER_CRANK[::3], 0.02, 0.005, cut=("ball",)),
    "Euler parameters, rk54": _case(open_chain, RK54, CHAIN_WRT[::4], 0.015, 0.0045),
    "Euler parameters, newmark": _case(open_chain, NEWMARK, CHAIN_WRT[1::4], 0.015, 0.0045),
    "driven, rk4": _case(driven_crank, RK4, DRIVEN_WRT[::4], 0.015, 0.0055),
    "chain, rk4": _case(seven_links, RK4, ("m",), 0.02, 0.005),
}


@pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1; .ci/run runs these so")
@pytest.mark.parametrize("name", CASES)
def test_gradient(name):
    case = CASES[name]
    system = case.system()
    columns = [
        [value.imag / H for value in case.run(system, 0.0, 25, s=system.s + 1j * H * direction).objectives.values()]
        for direction in system.directions(labels_of(system, case.wrt))
    ]
    expected = np.array(columns).T
    motion = case.run(system, 1e-15, 40)
    direct, adjoint = (
        gradient(motion, wrt=case.wrt, method=x, tighten=False).matrix for x in ("direct", "discrete-adjoint")
    )
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    assert np.isfinite(expected).all()
    assert (np.abs(direct - expected) / scale).max() < 1e-11
    assert (np.abs(adjoint - direct) / scale).max() < 1e-11
