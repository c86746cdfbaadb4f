"""Gradients of runs with rows of velocities in every formulation that takes them against complex step."""

import pytest
import rolling_models
from every_formulation import assert_gradient, cases, main
from uncompiled import uncompiled_results

from kinegrad.kernels.jit import JIT

CASES = {
    name: case
    for name, case in cases(
        ("skate", rolling_models.skate, {"wrt": ("m", "J", "g", "w", "v0", "tilt"), "t_end": 0.05, "step": 0.01}),
        ("sleigh", rolling_models.sleigh, {"wrt": ("m", "J", "a", "w"), "t_end": 0.05, "step": 0.01}),
        (
            "disk",
            rolling_models.disk,
            {"wrt": ("m", "r", "lean", "rate", "spin", "push"), "t_end": 0.012, "step": 0.003},
        ),
    ).items()
    if "matrix-r" not in name
}


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
