"""Gradients of runs with bushings in every formulation against complex step."""

import bushing_models
import pytest
from every_formulation import assert_gradient, cases, main
from uncompiled import uncompiled_results

from kinegrad.kernels.jit import JIT

OPEN = {"wrt": ("k", "c", "kt", "ct", "tilt", "off", "L", "turn", "spin"), "t_end": 0.03, "step": 0.006}
LOOP = {"wrt": ("k", "c", "kt", "ct", "skew", "off", "L", "spin"), "t_end": 0.03, "step": 0.006}
CASES = cases(("open", bushing_models.open_tree, OPEN), ("loop", bushing_models.loop, LOOP))


@pytest.fixture(scope="module")
def expected():
    """{case: {objectives, gradient}} from processes without the compiler."""
    return uncompiled_results(__file__)


@pytest.mark.slow
@pytest.mark.skipif(not JIT, reason="compares compiled code with uncompiled runs")
@pytest.mark.parametrize("name", list(CASES))
def test_gradient(name, expected):
    assert_gradient(CASES[name], expected[name])


if __name__ == "__main__":
    main(CASES)
