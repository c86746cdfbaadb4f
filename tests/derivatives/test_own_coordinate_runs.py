"""Gradients of runs with own coordinates, angles of cut joints and actuators, in every formulation against complex step."""

import own_models
import pytest
from every_formulation import assert_gradient, cases, main
from uncompiled import uncompiled_results

from kinegrad.kernels.jit import JIT

ANGLES = {"wrt": ("k", "c", "a", "b", "turn", "spin"), "t_end": 0.03, "step": 0.006}
ACTUATOR = {"wrt": ("tau", "u", "y0", "k", "a", "spin"), "t_end": 0.03, "step": 0.006}
SPATIAL = {"wrt": ("m", "k", "c", "L", "tilt", "spin"), "t_end": 0.02, "step": 0.005}
CASES = cases(
    ("angles", own_models.four_bar, ANGLES),
    ("actuator", lambda: own_models.four_bar(actuator=True), ACTUATOR),
    ("spatial, cardan cut", own_models.spatial, SPATIAL | {"cut": ("knee",)}),
    ("spatial, cylindrical cut", own_models.spatial, SPATIAL | {"cut": ("tube",)}),
)


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
