"""Gradients of runs with own coordinates, angles of cut joints and actuators, in every formulation against complex step."""

import own_models
from every_formulation import cases, gradient_tests, main

ANGLES = {"wrt": ("k", "c", "a", "b", "turn", "spin"), "t_end": 0.03, "step": 0.006}
ACTUATOR = {"wrt": ("tau", "u", "y0", "k", "a", "spin"), "t_end": 0.03, "step": 0.006}
SPATIAL = {"wrt": ("m", "k", "c", "L", "tilt", "spin"), "t_end": 0.02, "step": 0.005}
CASES = cases(
    ("angles", own_models.four_bar, ANGLES),
    ("actuator", lambda: own_models.four_bar(actuator=True), ACTUATOR),
    ("spatial, cardan cut", own_models.spatial, SPATIAL | {"cut": ("knee",)}),
    ("spatial, cylindrical cut", own_models.spatial, SPATIAL | {"cut": ("tube",)}),
)

expected, test_gradient = gradient_tests(__file__, CASES)

if __name__ == "__main__":
    main(CASES)
