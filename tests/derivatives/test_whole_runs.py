"""Gradients of whole simulations, direct and adjoint, against complex step of the simulator."""

from pathlib import Path

import numpy as np
import pytest
from uncompiled import uncompiled_results
from whole_runs import CASES

from kinegrad.kernels.jit import JIT
from kinegrad.sensitivity.gradient import gradient

pytestmark = [pytest.mark.slow, pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")]
HERE = Path(__file__).parent
TOLERANCE = 1e-8


@pytest.fixture(scope="module")
def expected():
    """{case: {objectives, gradient, flags}} from processes without the compiler."""
    return uncompiled_results(str(HERE / "whole_runs.py"))


@pytest.fixture(scope="module", params=list(CASES))
def case(request, expected):
    """A case, its compiled motion as loosely converged as users have it, and what complex step gave."""
    case = CASES[request.param]
    return case, case.run(case.system(), 1e-10, 25), expected[request.param]


def assert_same_gradient(found, expected):
    """Entries agree to TOLERANCE of max(|entry|, 1e-3 of the largest of the row)."""
    expected = np.array(expected)
    scale = np.maximum(np.abs(expected), 1e-3 * np.abs(expected).max(axis=1, keepdims=True))
    error = np.abs(found - expected) / scale
    assert np.isfinite(found).all()
    assert error.max() < TOLERANCE, f"{error.max():.1e} at {np.unravel_index(error.argmax(), error.shape)}"


@pytest.mark.parametrize("method", ["direct", "discrete-adjoint"])
def test_gradient(case, method):
    case, motion, expected = case
    found = gradient(motion, wrt=case.wrt, method=method)
    values = np.array(list(expected["objectives"].values()))
    assert np.abs(np.array(list(found.values.values())) - values).max() < 1e-10 * np.abs(values).max()
    assert found.motion.flags.tolist() == expected["flags"]
    assert_same_gradient(found.matrix, expected["gradient"])


def test_thresholds_skip_some_projections(expected):
    velocity = expected["five-bar, ali3p, some velocity projections"]["flags"]
    acceleration = expected["five-bar, ali3p, some acceleration projections"]["flags"]
    assert {2, 3} == set(velocity)
    assert {0, 2} == set(acceleration)
