"""Derivatives of steps next to a singular position, direct and adjoint, against complex step of the simulator (ALI-8)."""

from pathlib import Path

import numpy as np
import pytest
from singular_steps import CASES, WRT, run, system_of
from uncompiled import uncompiled_results

import kinegrad as kg
from kinegrad.kernels.jit import JIT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")]


@pytest.fixture(scope="module")
def expected():
    return uncompiled_results(str(Path(__file__).parent / "singular_steps.py"))


@pytest.mark.parametrize("name", list(CASES))
@pytest.mark.filterwarnings(
    "ignore::kinegrad.DerivativeWarning"
)  # told of the joint set, so near to the line at the start
def test_by_complex_step(name, expected):
    which, integrator, off = CASES[name]
    motion = run(system_of(which, off), integrator, 1e-10, 25)
    found = {
        method: kg.gradient(motion, wrt=list(WRT), method=method).matrix for method in ("direct", "discrete-adjoint")
    }
    gradient = np.array(expected[name]["gradient"])
    size = np.abs(gradient).max(axis=1, keepdims=True)
    rounding = (
        1e-8 * (1e-3 / off) ** 2
    )  # of positions makes accelerations of its quotient by the square of the distance
    for matrix in found.values():
        assert (np.abs(matrix - gradient) / size).max() < rounding
    assert (np.abs(found["direct"] - found["discrete-adjoint"]) / size).max() < 1e-9
