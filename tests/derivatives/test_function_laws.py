"""Gradients through functions of users against complex step of the simulator."""

import numpy as np
import pytest
from function_models import assert_same, by_functions

import kinegrad as kg
from kinegrad.kernels.jit import JIT


@pytest.mark.skipif(JIT, reason="complex numbers need NUMBA_DISABLE_JIT=1")
@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_gradient_is_the_complex_step(method):
    system = kg.joint(by_functions())
    tight = kg.ALI3P(tolerance=0.0, max_iterations=14)
    found = kg.gradient(kg.simulate(system, kg.ALI3P(tolerance=1e-16), t_end=4e-3), method=method)
    columns = []
    for k in range(len(found.wrt)):
        rho = system.rho.astype(complex)
        rho[k] += 1e-30j
        moved = kg.simulate(system.with_parameters(rho), tight, t_end=4e-3, throw=False)
        columns.append([value.imag / 1e-30 for value in moved.objectives.values()])
    assert_same(found.matrix, np.array(columns).T, 1e-8)
