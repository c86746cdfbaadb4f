"""Gradients of runs with rows of velocities in every formulation that takes them against complex step."""

import rolling_models
from every_formulation import cases, gradient_tests, main

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

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
