"""Gradients of Matrix R, with every integrator and across changes of the independent coordinates, against complex step.

Run as a script with ``NUMBA_DISABLE_JIT=1`` it prints the complex-step results: see `whole_runs`.
"""

import json
import sys

import numpy as np
import pytest
from switching_models import FOUR_BAR_WRT, PENDULUM_WRT, four_bar, pendulum, point_four_bar
from uncompiled import uncompiled_results
from whole_runs import FIVE_BAR, SLIDER_CRANK, Case, by_complex_step, five_bar, slider_crank

from kinegrad.kernels.jit import JIT
from kinegrad.model.simulation import HHT, GeneralizedAlpha, MatrixR, Newmark, RungeKutta4, RungeKutta54
from kinegrad.sensitivity.gradient import gradient

INTEGRATORS = {
    "newmark": Newmark(),
    "hht": HHT(alpha=-0.2),
    "generalized-alpha": GeneralizedAlpha(rho_inf=0.5),
    "rk4": RungeKutta4(),
    "rk54": RungeKutta54(tolerance=1e-6),
}


def _cases() -> dict[str, Case]:
    eager = MatrixR(reselect_below=0.5)  # so that short runs change their coordinates
    models = {
        "four-bar": (four_bar, FOUR_BAR_WRT, 0.16),
        "four-bar by a point": (point_four_bar, FOUR_BAR_WRT, 0.16),
        "pendulum": (pendulum, PENDULUM_WRT, 0.28),
    }
    cases = {
        f"{name}, {key}": Case(model, eager, integrator, wrt, t_end, 0.02)
        for name, (model, wrt, t_end) in models.items()
        for key, integrator in INTEGRATORS.items()
        if name != "four-bar by a point" or key in ("generalized-alpha", "rk4")
    }
    crank = Case(slider_crank, MatrixR(), INTEGRATORS["hht"], SLIDER_CRANK[1::2], 0.04, 0.005, cut=("pivot",))
    five = Case(five_bar, MatrixR(), INTEGRATORS["rk54"], FIVE_BAR[1::2], 0.1, 0.02)
    return cases | {"slider-crank, hht": crank, "five-bar, rk54": five}


CASES = _cases()


@pytest.fixture(scope="module")
def expected():
    """{case: {objectives, gradient, flags}} from processes without the compiler."""
    return uncompiled_results(__file__)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")
@pytest.mark.parametrize("name", list(CASES))
def test_gradient(name, expected):
    case, expected = CASES[name], expected[name]
    motion = case.run(case.system(), 1e-16, 50)
    assert motion.flags.tolist() == expected["flags"]
    assert (motion.flags.max() > 0) == ("four-bar" in name or "pendulum" in name)
    direct = gradient(motion, wrt=case.wrt, method="direct").matrix
    adjoint = gradient(motion, wrt=case.wrt, method="discrete-adjoint").matrix
    complex_step = np.array(expected["gradient"])
    scale = np.maximum(np.abs(complex_step), 1e-3 * np.abs(complex_step).max(axis=1, keepdims=True))
    assert np.isfinite(direct).all()
    assert (np.abs(direct - complex_step) / scale).max() < 1e-10
    assert (np.abs(adjoint - direct) / scale).max() < 1e-11


def main() -> None:
    """Write the results of every n-th case, from the k-th on, as JSON; n and k are the arguments."""
    n, k = map(int, sys.argv[1:])
    json.dump({name: by_complex_step(CASES[name]) for name in list(CASES)[k::n]}, sys.stdout)


if __name__ == "__main__":
    main()
